"""What a training loop of somebody's own prints: lines with a counter and a loss, in whatever words.

`Epoch 3, Loss: 0.4, ValLoss: 0.5`, `Step 40: grad_norm=1.2, loss=3.1`, Keras's progress bar below its
heading `Epoch 3/10`, `| epoch 1 | 200/2983 batches | loss 7.6`, `(epoch: 1, iters: 100) G_GAN: 1.3`. This
reader is asked where none of a tool's own format knows a file. A pair is a name of a few words and the number
behind it. What a pair means has to be read from its name: a remark says what was taken for what, and --map
corrects it. Whether a value is that of its step or a mean isn't known, except for epochs: loops print a mean
over each.
Sources: keras/src/utils/progbar.py, pytorch/examples (`word_language_model`, `mnist`, `dcgan`),
mlx_lm/tuner/trainer.py, caffe's solver.cpp, mmcv's text logger hook, OpenNMT-py's statistics.py, tf-slim's
learning.py, apex/amp/handle.py, pix2pix's visualizer.py, MAE's util/misc.py
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tutor import packed
from tutor.readers.common import not_finite
from tutor.readers.common.counters import PLACE, role
from tutor.readers.common.guessed import by_errors, in_words, is_error, of_perplexity, renamed
from tutor.readers.common.lines import COLOURS, LONGEST, LOOKED_AT, MARK, Line, Lines, either, has
from tutor.readers.common.overflows import after_the_last
from tutor.readers.common.phrases import (
    ANY_FOREIGN,
    DECIMAL_COMMA,
    EVALUATED,
    EVALUATING,
    FOREIGN,
    PHRASES,
    TRANSLATED,
    WITH_POINTS,
    WORDLESS,
    in_pairs,
)
from tutor.readers.common.rows import number, run_of_frame, zeros_last
from tutor.readers.common.trainers import RUNNING, WINDOW
from tutor.readers.source import Source
from tutor.run import Remark, Run, called, names, scoring
from tutor.words import quoted

if TYPE_CHECKING:
    import polars as pl

_NUMBER = (
    r"[-+]?(?:[0-9]+(?:,[0-9]{3})*(?:\.[0-9]*)?(?:e[-+]?[0-9]+)?|\.[0-9]+(?:e[-+]?[0-9]+)?|nan|inf(?:inity)?)"
)
# A name's words, what may stand between two, between a name and its value, and the pair as a whole.
_WORD = r"[a-z][a-z0-9_/.@]{0,40}(?:-[a-z0-9_/.@]{1,40}){0,4}"
_BETWEEN = r"[^0-9a-z_/.@-][^0-9a-z_/.@]{0,3}"
_ARROW = r"(?:\s{1,20}[0-9]{1,9})?\s{0,20}-{1,2}>"  # `Loss after cycle 2 -> 3.1`: the first counts
_IS = (
    rf"[\"'*]{{0,2}}(?:{_ARROW}|"
    r"(?:\s{0,20}[:=]{1,2}\s{0,20}|\s{1,20}(?:is\s{1,4})?)(?:tensor|array|(?:np\.)?float[0-9]{2})?[\[(#]?|[\[(#])"
    r"\s{0,20}[\"'*]{0,2}"
)
_PAIR = (
    rf"\b(?P<name>{_WORD}(?:{_BETWEEN}{_WORD}){{0,3}}?){_IS}(?P<value>{_NUMBER})"
    r"(?:[ \t\r,;|()\]}>*/'\"%±]|[:.]\s|[:.]?$)"
)
# What each line that may be a row has in it.
_COUNTS = (
    r"(?:loss|ppl|perplexity|xent|entropy|rewards?\b|returns?\b|rew\b|accuracy|\bacc\b"
    r"|epoch|\bep\b|step|iter|\bit\b|episode|update|batch|\bround|cycle|generation|\[[0-9]+/[0-9]+\]\[)"
)

_HELD_OUT = (
    r"\b(?:val|valid|validate|validation|eval|evaluate|evaluation|test|testing|dev|h(?:eld|old)[_ -]?out)\b"
)
# Where in its epoch a line says it is: behind a bar in percent, behind the epoch, or in brackets.
_PLACED = (
    rf"(?P<{MARK}>)"
    r"(?:%\|[^|]*\|\s*|\bep(?:och)?[^0-9a-z]{0,4}[0-9]+(?:/ *[0-9]+)?[^0-9a-z]{1,12}"
    r"|(?:\[(?P<lead>[0-9]+)/[0-9]+\] *)?\[ *)(?P<at>[0-9]+) */ *(?P<of>[0-9]+)(?:[^0-9/.]|$)"
)
# The same of a progress bar as Keras draws it.
_BAR = r"\b(?P<bar>[0-9]+)/(?P<of>[0-9]+) +(?:\[[=>.]+\]|━)"
_TIMED = r"[0-9]+%\|[^|]*\| *[0-9]+/[0-9]+ \[[0-9:<>?, .]*(?:it/s|s/it)"
_TOOK = r"(?:time|data|acc(?:uracy)?):? +[0-9.]+[s%]?(?: +\( *[0-9.]+[s%]?\))?"
# Numbers that may stand between the word for held-out data and its loss: counters, bars and durations.
_COUNTER = (
    r"(?:(?:epoch|step|iter(?:ation)?)s?[^0-9a-z]*[0-9]+(?:[ /]+[0-9]+)?[^0-9a-z.]"
    rf"|\[[0-9/]+\]|[0-9]+ */ *[0-9]+[^0-9.]|[0-9]+:[0-9:]+[^0-9.]|{_TIMED}|{_TOOK})"
)
# Any text without `los`, spelled out: the patterns that polars reads have no look-ahead.
_NO_LOSS_YET = r"(?:[^l]|l+[^lo]|l+o[^ls])*?"
# A line that is about held-out data: it says so before its first loss.
_VALIDATED = rf"^(?P<{MARK}>){_NO_LOSS_YET}{_HELD_OUT}[^0-9]*(?:{_COUNTER}[^0-9]*){{0,3}}loss\b"
# The same of a loss by another name; it begins with counters alone.
_VALIDATED_SO = (
    rf"^(?P<{MARK}>)\W{{0,9}}(?:(?:ep(?:och)?|step|iter(?:ation)?)\W{{0,9}}[0-9/ ]{{1,20}}\W{{1,9}}){{0,2}}"
    rf"{_HELD_OUT}\W{{1,9}}(?:[a-z_]{{1,20}}\W{{1,9}}){{0,2}}(?:nll|b?ce)\b"
)
# Any other line.
_ROW = rf"^(?P<{MARK}>)"
_REDUCED = "reduced"
_APEX = rf"Gradient overflow\..*reducing loss scale to (?P<{_REDUCED}>{_NUMBER})"

_LEVEL = re.compile(r"^(?:(?:info|debug|warning|train(?:er|ing)? info)\s+)+", re.IGNORECASE)
_LOGGER = re.compile(r"^[\w.]+\s(?:INFO|DEBUG|WARNING)\s")  # who logs, and how urgent it is
_NO_NAME = re.compile(r"^\w[0-9]{3,}$|\.(?:py|c|cc|cpp|cu|h|go|rs|jl|lua|txt|json|md)$", re.IGNORECASE)
_PUNCTUATION = re.compile(r"\s+-+\s+|[^\w\s/.@-]+")
_SAID_HELD_OUT, _PAIRS, _COUNTED = (re.compile(one, re.IGNORECASE) for one in (_HELD_OUT, _PAIR, _COUNTS))
_MESSAGE = re.compile(_APEX, re.IGNORECASE)
_AT, _STATE, _COLOUR = re.compile(_PLACED, re.IGNORECASE), re.compile(_BAR), re.compile(COLOURS)
_HEADING = re.compile(rb"^#{1,6} \S", re.MULTILINE)
_LISTED = re.compile(rb"#{1,6} [^0-9]{0,40}[0-9]+\s*$|[-*] [^:=]{1,40}[:=]\s{0,9}[-+0-9.e]+%?\s*$")
_JSON = ('{"', "{\n", '"')
_INLINE, _HEADED, _BARE, _EPISODES = 2, 3, 5, 20
"""So many rows that differ make a file a log, and no prose that quotes one: rows with a counter each, below
headings, or with neither; and rows of a reward with neither."""
_FIRST_SCALE, _HALVINGS = 2**16, 16
"""The scale at which torch's and apex's scaler begin, and the halvings that take it down to 1."""
_BARE_LOSSES = {"train", "val", "valid"}  # `step 10 | train 3.1 | val 3.3`: the loss, as a remark tells
_OTHERS = 2  # numbers beside a counter in a row that has neither a loss nor a score
_OWN = {*PLACE, MARK, _REDUCED, "of"}  # the names of this reader's own columns


def _called(given: str) -> str | None:
    """The column of a printed name; None where it is none.

    Without what stands before the name in its line, but for the word for held-out data before a loss.
    """
    *before, name = (part.strip() for part in _PUNCTUATION.split(given))
    name = _LEVEL.sub("", _LOGGER.sub("", name))
    if name.lower() in _OWN or _NO_NAME.search(name):
        return None
    words = name.split()
    if role(name) in ("per_step", "per_epoch"):
        whole = len(words) > 1 and words[-2].lower() in ("global", "total")
        return " ".join(words[-2:] if whole else words[-1:])
    if given.lower() in _BARE_LOSSES:
        return f"{name} loss"
    if role(name) != "loss" or names.says_held_out(name):
        return name
    said = next((found[0] for part in before if (found := _SAID_HELD_OUT.search(part))), None)
    return f"{said} {name}" if said else name


def _held_out(given: str) -> str | None:
    """As `_called`, in a line that says before its first loss that it is about held-out data."""
    name = _called(given)
    measured = name is not None and (role(name) == "loss" or scoring.rises(name))
    return f"val {name}" if name and measured and not names.says_held_out(name) else name


def _of_its_set(name: str, before: Sequence[str]) -> str:
    """What a pair is called whose name comes again in its line: with the held-out data named in between.

    In `Train Loss: 0.5 | Acc: 0.8 | Val Loss: 0.6 | Acc: 0.7` each accuracy is of the data of the loss before
    it.
    """
    between = before[before.index(name) + 1 :]
    said = [found[0] for one in between if (found := _SAID_HELD_OUT.search(one))]
    measured = role(name) is None and not names.says_held_out(name)
    return f"{said[-1].lower()} {name}" if measured and said else name


_LINES = Lines(
    (
        Line(_APEX, sign="reducing loss scale"),
        Line(_BAR, _PAIR, _called, _of_its_set, sign="/"),
        Line(_VALIDATED, _PAIR, _held_out),
        Line(_VALIDATED_SO, _PAIR, _held_out),
        Line(_PLACED, _PAIR, _called, _of_its_set, sign="/"),
        Line(_ROW, _PAIR, _called, _of_its_set),
    ),
    phrases=PHRASES,
    only=_COUNTS,
)


_MEANT = {"step": "step", "loss": "loss", "val_loss": "val loss"}
"""By signal a word that this reader knows, to be put in place of the word that the user says the log has."""


@dataclass(frozen=True)
class Printed:
    """A run in what was printed.

    Attributes:
        path: the file.
        format: what `check` calls it.
        own: by words that this reader knows, the log's own in their place, where it has none of these.
    """

    path: Path
    format: str = "printed lines"
    own: Mapping[str, str] = field(default_factory=dict)

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """What was printed says nothing that can be relied on of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole."""
        from tutor.readers.common.counters import counted
        from tutor.readers.common.extract import frame_of  # polars: only who reads a log pays for it

        remarks: list[Remark] = []
        lines = _lines_in(self.path)
        lines = replace(lines, phrases=(*_phrases(self.own), *lines.phrases))
        frame, last = _with_scale(not_finite.uncounted(frame_of(self.path, lines, remarks)))
        found = counted(frame)
        found = replace(found, rows=found.rows.rename(self.own, strict=False))
        said = [*called.names_for(self.path).values()]
        remarks += not_finite.remarks(found.rows)
        rows, messages = not_finite.parted(found.rows)
        rows = rows.drop(_twice(rows, said))
        rows = rows.drop(_again(rows, said))
        rows = rows.drop(_sparser(rows, said))
        rows, by_perplexity = _with_losses(zeros_last(rows, self.path), self.path)
        remarks += by_perplexity
        taken = {signal: column for column, signal in names.mapping(rows.columns, self.path).items()}
        errors = by_errors(rows.columns) if "loss" not in taken else {}
        errors = {signal: column for signal, column in errors.items() if signal not in taken}
        rows, taken = renamed(rows, errors), taken | errors
        rows = not_finite.told(rows, messages, "loss" if "loss" in errors else taken.get("loss", "loss"))
        rows = after_the_last(rows, last) if found.counts == "steps" else rows
        if taken["step"] == "step":
            taken["step"] = "` + `".join(found.by)
        if any(taken.values()):
            remarks.append(Remark("printed", {"taken": in_words(taken)}))
        if not taken["step"]:
            remarks.append(Remark("printed_unnumbered"))
        # An epoch's perplexity is that of all its words so far.
        running = found.states or any(one.facts["signal"] == "loss" for one in by_perplexity)
        over = RUNNING if running else WINDOW if found.counts == "epochs" else None
        return run_of_frame(
            rows,
            self.path,
            name=self.path.name,
            aggregations={"loss": over} if over else {},
            counts=found.counts,
            remarks=remarks,
        )


def _with_losses(rows: "pl.DataFrame", path: Path) -> tuple["pl.DataFrame", list[Remark]]:
    """The rows, with the logarithm of a perplexity as the loss of each set of data without a printed loss."""
    known = set(names.mapping(rows.columns, path).values())
    found = {signal: name for signal, name in of_perplexity(rows.columns).items() if signal not in known}
    for signal, name in found.items():
        rows = rows.with_columns(rows[name].log().alias(signal))
    remarks = [
        Remark("perplexity", {"signal": signal, "column": quoted([name])}) for signal, name in found.items()
    ]
    return rows, remarks


def _with_scale(rows: "pl.DataFrame") -> "tuple[pl.DataFrame, pl.Series]":
    """The rows, each with the loss scale after the messages before it, the last row after all of them; and
    the scales of the messages after the last.

    Where there are messages alone, each is a row, but for those that another process repeats.
    """
    import polars as pl  # only who reads a log pays for it

    if _REDUCED not in rows.columns:
        return rows, pl.Series(dtype=pl.Float64)
    message = rows[_REDUCED].is_not_null()
    if all(column.null_count() == len(column) for column in rows.filter(~message)):
        rows, message = rows.filter(message), message.filter(message)
    scale = rows[_REDUCED].forward_fill()
    if message.all():
        again = (scale != scale.shift()).fill_null(True)
        return rows.filter(again).rename({_REDUCED: "loss_scale"}), scale.clear()
    last = int((~message).arg_true()[-1])
    below, scale = scale[last + 1 :], scale.scatter(last, scale[-1])
    told = rows if "loss_scale" in rows.columns else rows.with_columns(scale.alias("loss_scale"))
    return told.drop(_REDUCED).filter(~message), below


def _twice(rows: "pl.DataFrame", said: Collection[str]) -> list[str]:
    """The counters that say the same as the steps, but for those that the user `said`."""
    counters = [name for name in rows.columns if role(name) == "per_step" and name not in ("step", *said)]
    return [name for name in counters if rows[name].equals(rows["step"].cast(rows[name].dtype))]


def _again(rows: "pl.DataFrame", said: Collection[str]) -> list[str]:
    """The columns whose names differ from another's in spelling alone, and which fewer rows have.

    `new best model saved (val_loss: 5.05)` says a few of the values of `Validation loss` once more.
    """
    values = [name for name in rows.columns if role(name) in (None, "loss")]
    fullest: dict[str, str] = {}
    for name in sorted(values, key=lambda one: rows[one].null_count()):
        fullest.setdefault(names.plainly(name), name)
    return [name for name in values if name not in (*fullest.values(), *said)]


def _sparser(rows: "pl.DataFrame", said: Collection[str]) -> list[str]:
    """The column taken for the loss, where another that is one as well has more than twice as many values.

    The line of progress in which a log was cut off may say `loss` once, where six epochs say `Training Loss`.
    """
    taken = next((name for name, signal in names.known(rows.columns).items() if signal == "loss"), None)
    others = (name for name in rows.columns if name != taken and names.known([name]).get(name) == "loss")
    fullest = max((rows[name].count() for name in others), default=0)
    return [taken] if taken and taken not in said and fullest > 2 * rows[taken].count() else []


def _lines_in(path: Path) -> Lines:
    """What the lines of that file look like, with the phrases of other languages and notations it has."""
    phrases, comma = TRANSLATED if has(path, either(ANY_FOREIGN)) else (), either(DECIMAL_COMMA)
    phrases = (*EVALUATED, *phrases) if has(path, either(EVALUATING)) else phrases
    # Most logs have no comma in a number at all, which `has` sees far sooner.
    if has(path, comma) and comma.search(packed.head(path, LOOKED_AT).decode("utf-8", "replace")):
        phrases = (*WITH_POINTS, *phrases)
    return replace(_LINES, phrases=(*phrases, *PHRASES)) if phrases else _LINES


@cache  # not at import: few files come so far
def _tells() -> re.Pattern[str]:
    """What each line that may be a row has in it, before its phrases are replaced."""
    return either(_COUNTS, *WORDLESS, FOREIGN)


def sources(path: Path) -> list[Source]:
    """The file, where lines with the same names come again in it, with a loss and a counter that goes on.

    Where none of its words is known, the words that the user names are taken for known ones.
    """
    if _returns(path):
        return [Printed(path)]
    said = called.names_for(path)
    own = {_MEANT[signal]: column for signal, column in said.items() if signal in _MEANT}
    return [Printed(path, own=own)] if own and path.is_file() and _returns(path, own) else []


def _phrases(own: Mapping[str, str]) -> list[tuple[str, str]]:
    """The log's own words as phrases, to be replaced by those that are known."""
    return [(rf"\b{re.escape(word)}\b", known) for known, word in own.items()]


def lacks(path: Path) -> str | None:
    """What a file lacks that has such a line, but too few of them; None of any other file."""
    if not (has(path, _tells()) and any(_rows(path))):
        return None
    return (
        "of printed lines it needs two or more with the same names in them, a loss and a counter that goes "
        "on, as in `step 40, loss 3.1`"
    )


def _returns(path: Path, own: Mapping[str, str] | None = None) -> bool:
    """Whether the file's beginning has more such lines than prose that quotes a log."""
    if not own and not has(path, _tells()):
        return False
    marks = defaultdict[object, set[object]](set)
    for row in _rows(path, own or {}):
        seen = marks[row.shape]
        seen.add(row.mark)
        if len(seen) >= row.needed:
            return True
    return False


@dataclass(frozen=True)
class _Seen:
    """A line that may be a row.

    Attributes:
        shape: what the lines of its kind share: the names in them.
        mark: where in the run it is, or the line itself: lines with the same mark count as one.
        needed: how many lines of the shape have to differ.
    """

    shape: object
    mark: object
    needed: int


def _rows(path: Path, own: Mapping[str, str] | None = None) -> Iterator[_Seen]:
    """The lines of the file's beginning that hold a loss, or a counter and several other numbers."""
    heading: object = None
    phrases = [(re.compile(word, re.IGNORECASE), known) for word, known in _phrases(own or {})]
    for given in _lines(path):
        said = given
        for word, known in phrases:
            said = word.sub(known, said)
        if not _tells().search(said) or said.lstrip().startswith(_JSON):
            continue
        line = in_pairs(said)
        if not _COUNTED.search(line):
            continue
        if reduced := _MESSAGE.search(line):
            scale = number(reduced[_REDUCED]) or 0
            if scale < 1:  # above, they may be those of a sound run's first steps
                yield _Seen(_REDUCED, reduced[_REDUCED], _BARE)
            if scale < _FIRST_SCALE:
                yield _Seen((_REDUCED, "on and on"), reduced[_REDUCED], _HALVINGS)
            continue
        pairs = [
            (name, found["value"]) for found in _PAIRS.finditer(line) if (name := _called(found["name"]))
        ]
        counts = [pair for pair in pairs if role(pair[0]) in ("per_step", "per_epoch")]
        placed, state = _AT.search(line), _STATE.search(line)
        place = (placed and placed.group("lead", "at"), state and state["bar"])
        losses = [pair for pair in pairs if role(pair[0]) == "loss"]
        ended = losses if placed and placed["at"] == placed["of"] else ()
        inline = bool(counts) or any(place[0] or ()) or place[1] is not None
        shape = tuple(name for name, _ in (*losses, *counts))
        if losses and inline:
            yield _Seen(shape, (heading, *counts, place, *ended), _INLINE)
            yield _Seen((shape, "below one count"), line, _BARE)
        elif losses:
            mark, needed = ((heading, *losses), _HEADED) if heading else (line, _BARE)
            yield _Seen(losses[0][0], mark, needed)
        elif len(pairs) == 1 and scoring.is_reward(pairs[0][0]):
            yield _Seen(pairs[0][0], line, _EPISODES)
        elif inline and (
            len(pairs) - len(counts) >= _OTHERS
            or any(scoring.rises(name) or is_error(name) for name, _ in pairs)
        ):
            yield _Seen(tuple(name for name, _ in pairs), (*counts, place), _BARE)
        elif counts:
            heading = tuple(counts)


def _lines(path: Path) -> Iterator[str]:
    """The lines of the file's beginning; of a page of Markdown what it quotes or lists: the rest is prose."""
    data = packed.head(path, LOOKED_AT).replace(b"\r", b"\n")
    page = path.suffix == ".md" and _HEADING.search(data)
    quoted_now = False
    for line in data.splitlines():
        if page and line.lstrip().startswith((b"```", b"~~~")):
            quoted_now = not quoted_now
        elif not page or quoted_now or line.startswith((b"    ", b"\t")) or _LISTED.match(line):
            yield _COLOUR.sub("", line[: 4 * LONGEST].decode("utf-8", "replace")[:LONGEST])
