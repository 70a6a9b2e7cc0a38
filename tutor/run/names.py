"""What trainers call the signals: their columns to tutor's, by the words of `vocabulary`."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from tutor import signals
from tutor.run.called import names_for
from tutor.run.run import Counts
from tutor.run.vocabulary import ABROAD, ALIKE, KNOWN, OF

HEADINGS = "headings above"
"""How many times the names of a table's columns stand again above a row: a column of readers, no signal."""

OPPOSED = re.compile(
    r"(?<![a-z])(rew|return|advantage|policy|actor|critic|disc|value_?loss|(?<!cross_)entropy)", re.IGNORECASE
)
"""Columns of a run that is after a reward, or has an opponent: a loss below 0 needn't fall there."""

_SIDE = re.compile(r"(?<![a-z0-9])([dg]|disc|discriminator|gen|generator)(?![a-z0-9])")
"""Whose loss a column of a generative adversarial network holds."""
_ADVERSARIAL = re.compile(r"(?<![a-z])adv(ersarial)?(?![a-z])")

_EPOCHS = {"epoch", "epochs", "ep"}
_ROWS = {"row", "episode", "episodes", "round", "rounds", "cycle", "cycles", "generation", "generations"}

_HELD_OUT = re.compile(r"val|eval|test|(?<![a-z])h(?:eld|old)[_ -]?out(?![a-z])", re.IGNORECASE)
_HELD_OUT_WORDS = {"val", "valid", "validate", "validation", "eval", "evaluation", "test", "dev", "holdout"}
_IN_TWO_WORDS = re.compile(r"(?<![a-z])h(?:eld|old)_?out(?![a-z])")
_BESIDE_THEM = {
    *("loss", "main", "set", "data", "avg", "average", "mean", "total", "epoch"),
    *("with", "at", "nats", "per", "byte", "token", "batch", "sample"),
}
"""Words of a name of the held-out loss, `Validation set: average loss`, and of none of its parts."""
LOSS = re.compile(r"(^|[^a-z])[a-z]{0,2}loss([^a-z]|$)", re.IGNORECASE)
"""A name that says loss; a letter or two before the word say which, as in `closs`."""
_BLANKS = re.compile(r"(?:\.\s)?[\s_-]+|\.\s")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LOADER = re.compile(r"/dataloader_idx_[0-9]+$")
"""What Lightning adds to a name where there are several: `val_loss/dataloader_idx_0`."""
_OF_A_SET = re.compile(r"(eval|val|valid)_(?!loss$)\w+_loss$")
"""What Hugging Face's Trainer calls the loss of one set of several, `eval_squad_loss`, and others do."""
_RATE = re.compile(r"^lr-\w+")  # Lightning's LearningRateMonitor names the optimizer
_WEIGHTED = re.compile(
    r"weight|coef|ratio|(?<![a-z])(?:fn|func|function|type|name|scaler?)(?![a-z])"
    r"|loss[_ ](?:rate|count|pct|percent)(?![a-z])|(?<![a-z])(?:n|num)[_ ]loss",  # of matches that were lost
    re.IGNORECASE,
)
"""Words of a name that is about a loss, or about other losses, and none."""

_WEIGHT = re.compile(
    r"^((train|loss)[_/])?(beta|lam(b?da)?|lmbda|anneal(ing)?)(_(kld?|vae|adv|reg|coef|factor|weight))?$"
    r"|^((train|loss)[_/])?kld?_?(weight|beta|anneal(ing)?|coeff?|factor)$"
)
"""Columns of how much a part of the loss weighs, as the KL divergence of a variational autoencoder."""
_TERMS = re.compile(
    r"loss_num$|num_loss|(?<![a-z])(non_?zero|active|hard|valid|positive)_(triplets|pairs|terms)|fraction_positive_triplets"
)
"""Columns of how many triplets, or pairs, still cost something: a loss that is their mean needn't fall."""
_DIVERGENCE = re.compile(r"(?<![a-z])(approx_?)?kld?(?![a-z])")
_KEPT = re.compile(
    r"(?<![a-z])(best|lowest|least|min|max|previous|prev|last|old|from|to|target|threshold|limit|std|var|grad|norm"
    r"|time|delta|change|diff|gap|improve[a-z]*|initial|init|smooth[a-z]*|pct|percent|ood|early|stop)(?![a-z])"
)
"""Words of a name of a value that was kept, or is held against a loss, and is none."""
_BOOKS = re.compile(
    r"(?<![a-z])(epsilon|speed|time|runtime|seconds|elapsed|eta|memory|mem|fps|length|len|steps?|samples?|size|batch)"
    r"(?![a-z])"
)
_MEASURED = re.compile(r"[a-z0-9@]+")
_WORD = re.compile(r"[a-z]+")
_OF_A_LIST = re.compile(r"(?:(?<=[a-z0-9])_|^)(?:history|hist|list|values|curve|per)(?=_|/|$)_?")
"""Words that say how values were kept, and not what they are."""


def counts(mapping: Mapping[str, str]) -> Counts:
    """What the steps of a log are whose columns are called so, by tutor's names: rows where it has none."""
    column = next((column for column, signal in mapping.items() if signal == "step"), "row")
    words = set(spelled(column).split("_"))
    return "epochs" if words & _EPOCHS else "rows" if words & _ROWS else "steps"


def counters(columns: Iterable[str]) -> list[str]:
    """The columns that are called as counters of steps are, the usual ones first."""
    by_name = {spelled(column): column for column in reversed([*columns])}
    return [by_name[name] for name in map(spelled, KNOWN["step"]) if name in by_name]


def is_counter(column: str) -> bool:
    """Whether the column counts epochs, episodes or rows."""
    return spelled(column) in _EPOCHS | _ROWS


def mapping(columns: Iterable[str], log: Path) -> dict[str, str]:
    """The log's columns to tutor's signals, one each; what else a log has keeps its name.

    What the user said of this log comes first. A log without any known name of a loss, but with a column
    that says `loss`, is taken at its word.

    Raises:
        BadRunError: the file beside the log that names its columns can't be read.
    """
    columns = list(columns)
    said = {column: signal for signal, column in names_for(log).items() if column in columns}
    found = {
        column: signal
        for column, signal in known([one for one in columns if one not in said]).items()
        if signal not in said.values()
    }
    if "val_loss" not in {*said.values(), *found.values()} and not losses_of_sets(columns):
        loss = next((column for column, signal in {**said, **found}.items() if signal == "loss"), "")
        found |= {column: "val_loss" for column in _held_out_beside(loss, columns) if column not in said}
    # A column of the log's own that bears the signal's name makes room.
    ousted = {one: free(one, columns) for one in said.values() if one in columns and one not in said}
    return {**found, **ousted, **said}


def _held_out_beside(loss: str, columns: Iterable[str]) -> Iterable[str]:
    """The one column that is called so but for the set of data: `val/ce` for `train/ce`, `Val CTC loss` for
    `CTC loss`; none of several.
    """
    words = _WORD.findall(plainly(loss))
    wanted = [[other if word == "train" else word for word in words] for other in sorted(_HELD_OUT_WORDS)]
    if "train" not in words:
        wanted = [["val", *words]] if words else []
    alike = [column for column in columns if _WORD.findall(plainly(column)) in wanted]
    return alike if len(alike) == 1 else ()


def free(name: str, columns: Iterable[str]) -> str:
    """The name, where none of the columns has it; else one like it for a column that has to make room."""
    taken, new = set(columns), name
    if name in taken:
        new = f"{name} (as logged)"
    while new in taken:
        new += "'"
    return new


@cache
def spelled(name: str) -> str:
    """The name as the others are spelled: `Train Loss`, `train-loss` and `TrainLoss` are `train_loss`.

    So is `Pérdida de entrenamiento`, but for the order: `loss_train`.
    """
    name = name.strip().replace("IoU", "IOU")  # the hump of which parts no words
    words = _BLANKS.sub("_", _HUMP.sub("_", name)).lower().split("_")
    if not ABROAD.keys() & words:
        return "_".join(words)
    return "_".join(ABROAD.get(word, word) for word in words if word not in OF)


@cache
def plainly(name: str) -> str:
    """The name in the words that most use: `validation_losses` and `val_loss_history` are `val_loss`."""
    name = _IN_TWO_WORDS.sub("holdout", spelled(name).replace(".", "/"))
    words = _WORD.sub(lambda word: ALIKE.get(word[0], word[0]), name)
    return _OF_A_LIST.sub(_kept_apart, words).strip("_") or words


def _kept_apart(found: re.Match[str]) -> str:
    return "_" if found[0].startswith("_") and found[0].endswith("_") else ""


def known(columns: Iterable[str]) -> dict[str, str]:
    """As `mapping`, of a log of which the user says nothing.

    A word before all of its names, as in `finetuning/train_loss` and `finetuning/val_loss`, says nothing.
    """
    columns = [*columns]
    shared = _shared(columns)
    shortened = {column.removeprefix(shared): column for column in columns}
    if not shared or len(shortened) < len(columns):
        return _known(columns)
    return {shortened[name]: signal for name, signal in _known(shortened).items()}


def _shared(columns: Sequence[str]) -> str:
    """What stands before each name that has a `/` in it, with it; "" where that says something, or is not."""
    first = {column.partition("/")[0] for column in columns if "/" in column}
    word = first.pop() if len(first) == 1 else ""
    said = {*_WORD.findall(plainly(word))}
    says = said & {TRAINED_ON, "loss", *_HELD_OUT_WORDS}
    parted = sum("/" in column for column in columns)
    return f"{word}/" if word and not says and parted >= _SEVERAL else ""


_SEVERAL = 3
"""Names that have a word in common by no chance: a constant of the method."""


def _known(columns: Iterable[str]) -> dict[str, str]:
    by_name: dict[str, str] = {}
    by_words: dict[str, str] = {}
    for column in columns:
        name = spelled(column)
        if column == name or name not in by_name:  # beside `Loss`, `loss` is the one that is meant
            by_name[name] = column
        if len(_WORD.findall(name)) > 1:  # a table of matches won and lost has `losses`, too
            by_words.setdefault(plainly(column), column)
    found: dict[str, str] = {}
    for signal, called in KNOWN.items():
        given = [by_name[name] for name in map(spelled, called) if name in by_name]
        if signal != "step":  # `num_epochs` is no counter
            given += [by_words[name] for name in map(spelled, called) if name in by_words]
        if first := next((one for one in given if one not in found), None):
            found[first] = signal
    taken = set(found.values())
    free = [c for c in by_name.values() if c not in found and not signals.find(c)]
    if "loss" not in taken and (first := next(filter(_says_loss, free), None)):
        found[first] = "loss"
    if "val_loss" not in taken and (first := next(filter(_held_out, free), None)):
        found[first] = "val_loss"
    if "lr" not in taken and (rate := next((c for c in by_name.values() if _RATE.match(c)), None)):
        found[rate] = "lr"
    return found


def _says_loss(column: str) -> bool:
    """Whether a word of the name says that it is a loss, and none that it is held out, or about one."""
    says = LOSS.search(spelled(column).replace("_", " ")) and not _WEIGHTED.search(column)
    return bool(says) and not _HELD_OUT.search(column)


@cache
def _losses() -> set[str]:
    """What the loss is called by trainers that are known, as it is spelled here."""
    return {spelled(name) for name in KNOWN["loss"]}


def losses_of_sets(columns: Iterable[str]) -> list[str]:
    """The losses of held-out sets: `val_loss/dataloader_idx_0`, `eval_squad_loss`, `val_squad/loss`."""
    held_out = [name for name in columns if says_held_out(name)]
    loaders = [name for name in held_out if _LOADER.search(name) and _is_its_loss(_LOADER.sub("", name))]
    trained = {measured(name) for name in columns if not says_held_out(name)}
    named = [name for name in held_out if _OF_A_SET.match(spelled(name)) and measured(name) not in trained]
    return (
        loaders or named or [name for name in held_out if name.endswith("/loss") and not _is_its_loss(name)]
    )


def _is_its_loss(name: str) -> bool:
    """Whether it is what a known trainer calls the validation loss."""
    return known([name]).get(name) == "val_loss"


def rivals(columns: Iterable[str], mapping: Mapping[str, str], log: Path) -> list[str]:
    """The columns that may be the loss as well as the one that was taken at its word; none where it is known.

    Such a log has parts of a loss, or the losses of several models, and no name says which is meant.
    """
    loss = next((column for column, signal in mapping.items() if signal == "loss"), None)
    if loss is None or names_for(log).get("loss") == loss or {spelled(loss), plainly(loss)} & _losses():
        return []
    return other_losses(columns, mapping)


def other_losses(columns: Iterable[str], mapping: Mapping[str, str]) -> list[str]:
    """The columns that say they are losses of training, beside the one that was taken."""
    return [one for one in columns if one not in mapping and not signals.find(one) and _says_loss(one)]


def is_of_a_side(column: str) -> bool:
    """Whether the column is the loss of a generator or a discriminator: what one gains the other loses."""
    name = spelled(column)
    return bool(LOSS.search(name) and _SIDE.search(name))


def is_of_a_generator(column: str) -> bool:
    """Whether the column is a generator's loss: by its name, or an adversarial one of no discriminator."""
    name = spelled(column)
    found = _SIDE.search(name)
    generates = found[1].startswith("g") if found else bool(_ADVERSARIAL.search(name))
    return bool(LOSS.search(name)) and generates


def is_term(column: str) -> bool:
    """Whether the column is another loss of training, or a divergence: no best one, and no weight."""
    divides = _DIVERGENCE.search(spelled(column)) and not _HELD_OUT.search(column)
    about_one = is_weight(column) or _KEPT.search(spelled(column)) or signals.find(column)
    return bool(_says_loss(column) or divides) and not about_one


def is_divergence(column: str) -> bool:
    """Whether the column is a divergence of training, as of latents from their prior: no weight of one."""
    return is_term(column) and bool(_DIVERGENCE.search(spelled(column)))


def keeps_books(column: str) -> bool:
    """Whether the column is of time, sizes, or how a run explores: of nothing that it is trained on."""
    return bool(_BOOKS.search(spelled(column)))


def is_weight(column: str) -> bool:
    """Whether the column says how much a part of the loss weighs in it."""
    return bool(_WEIGHT.search(spelled(column)))


def counts_terms(column: str) -> bool:
    """Whether the column says how many terms a loss is the mean of, those of 0 left out."""
    return bool(_TERMS.search(spelled(column)))


def measured(column: str) -> frozenset[str]:
    """What a column measures, on whatever data: `train_acc` and `val_acc` the same."""
    return frozenset(_MEASURED.findall(plainly(column))) - {"train", *_HELD_OUT_WORDS}


TRAINED_ON = "train"
"""The word for the set that is trained on, as `set_of` has it."""


def set_of(word: str) -> str | None:
    """The set of data that a word says, as most call it: "train", "val", "test"; None for any other."""
    plain = plainly(word)
    return plain if plain in {TRAINED_ON, "val", "eval", "test", "dev", "holdout"} else None


def says_held_out(column: str) -> bool:
    """Whether a word of the name says that it is of held-out data."""
    return bool({*_WORD.findall(plainly(column))} & _HELD_OUT_WORDS)


def _held_out(column: str) -> bool:
    """Whether each word of the name says that it is the loss of held-out data."""
    words = {*_WORD.findall(plainly(column))}
    return "loss" in words and says_held_out(column) and words <= _HELD_OUT_WORDS | _BESIDE_THEM
