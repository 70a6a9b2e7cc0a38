"""Comma-separated values with a header: a column of losses, one of steps or none, whatever else there is."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from tutor.readers import (
    across,
    deepxde,
    keras,
    lightning,
    long_csv,
    monitor,
    stable_baselines3,
    ultralytics,
    wandb_export,
)
from tutor.readers.common import byset
from tutor.readers.common.guessed import FEW, by_names, held_out_error, may_be_loss, says_losses
from tutor.readers.common.placing import held_out
from tutor.readers.common.rows import number
from tutor.readers.common.tables import Table, beginning, names_in, separator
from tutor.readers.common.wholejson import in_sections
from tutor.readers.source import Source
from tutor.run import called, names, scoring, vocabulary
from tutor.words import quoted

_OTHERS = (deepxde, keras, lightning, long_csv, stable_baselines3, ultralytics, wandb_export)
"""Those that know a CSV of one tool, and what is odd about it."""
_LOSSES = {"loss", "val_loss"}
_DOWNLOADED = ["wall time", "step", "value"]
_SERIES = ["", "0"]
_NEEDED = {"step": "a column of steps", "loss": "one of losses"}
_PAIR = re.compile(r"[:=]\s*(?!0$)[-+]?[0-9.]+(?:e[-+]?[0-9]+)?$", re.IGNORECASE)
"""A name with its value, as in printed lines; TensorFlow's tensors are called `loss:0`."""

joined = byset.joined  # of files in one folder, in any format, that hold a set of data each


def sources(path: Path) -> list[Source]:
    """A file whose first line names a column of losses, where no other reader knows it.

    Without a column of steps its rows are numbered, where values stand below each name. With one, a score or
    a reward is enough.
    """
    named = names_in(path)
    if (
        not named
        or (len(named) == 1 and named[0].endswith(":") and in_sections(beginning(path)))
        or _values(named, len(named))
        or _printed(named)
        or any(other.knows(named) for other in _OTHERS)
        or monitor.sources(path)
        or across.sources(path)
    ):
        return []
    signals = {signal: column for column, signal in names.mapping(named, path).items()}
    known = signals.keys()
    guessed = dict[str, str]()
    if not known & _LOSSES:
        words = path.name.partition(".")[0]
        guessed = (
            by_names(_beginning(path, named), words)
            or _of_tensorboard(path, named)
            or _of_series(path, named, words)
        )
    elif "val_loss" not in known:
        guessed = held_out_error(_beginning(path, named), signals["loss"])
    index = _index(path, named) if "step" not in known else []
    if any(later - one != 1 for one, later in pairwise(index)) or not (known & _LOSSES or guessed):
        guessed |= {"step": "index"} if index else {}
    second = _second(path)
    if not named[-1] and second[-1:] == [""]:  # a separator ends each line
        named, second = named[:-1], second[:-1]
    scored = any(map(scoring.rises if "step" in known else scoring.is_reward, named)) and (
        "step" in known or index
    )
    if not (known & _LOSSES or guessed.keys() & _LOSSES or scored) or (
        "step" not in known and not _values(second, len(named))
    ):
        return []
    kind = "a CSV with a column of steps" if "step" in known else "a CSV without steps"
    return [Table(path, kind, guessed=guessed)]


def lacks(path: Path) -> str | None:
    """A CSV whose header names no loss."""
    named = names_in(path)
    if not path.is_file() or (len(named) < 2 and path.suffix != ".csv"):
        return None
    if _values(named, len(named)) or _printed(named) or _said(path, named):
        return None
    if absent := [column for column in called.names_for(path).values() if column not in named]:
        return f"as a CSV it has no column {quoted(absent)}, as was said of it; it has {quoted(named)}"
    return _missing(named, set(names.mapping(named, path).values()))


def _of_tensorboard(path: Path, named: Sequence[str]) -> dict[str, str]:
    """By signal the values of a scalar that TensorBoard's page downloaded, in a file called after a loss.

    Or those of one that somebody kept without the times.
    """
    known = [name.lower() for name in named] in (_DOWNLOADED, _DOWNLOADED[1:])
    if not known or not says_losses(path.name.partition(".")[0]):
        return {}
    return {"val_loss" if held_out(path.name) else "loss": named[-1]}


def _of_series(path: Path, named: Sequence[str], words: str) -> dict[str, str]:
    """By signal the values of a list without a name, as pandas writes it, if they may be losses."""
    if [*named] != _SERIES:
        return {}
    values = [value for one in _beginning(path, named)[named[-1]] if (value := number(one)) is not None]
    if len(values) < FEW or not may_be_loss(words, values):
        return {}
    return {"val_loss" if held_out(path.name) else "loss": named[-1]}


def _index(path: Path, named: Sequence[str]) -> list[float]:
    """What the first column counts that has no name, as pandas numbers its rows; [] where none does."""
    if len(named) < 2 or named[0]:
        return []
    counts = [value for one in _beginning(path, named)[""] if (value := number(one)) is not None]
    rises = all(later > one for one, later in pairwise(counts))
    return counts if len(counts) >= FEW and rises and all(one.is_integer() for one in counts) else []


def _missing(named: Sequence[str], known: Collection[str]) -> str:
    """What the columns lack, beside what was said of them already."""
    lacking = [signal for signal in _NEEDED if signal not in known]
    columns = " and ".join(f"{_NEEDED[signal]} ({_some(signal)})" for signal in lacking)
    said = ",".join(f"{signal}=COLUMN" for signal in sorted(lacking))
    return f"as a CSV it needs {columns}; it has {quoted(named)}; name what is missing with --map {said}"


_DAY = r"(?:[0-9]{4}[-/][0-9]{1,2}[-/][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{4})"
_TIME = re.compile(
    rf"[\"']?(?:{_DAY}|(?:{_DAY}[ T])?[0-9]{{1,2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:\.[0-9]+)?)?"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?)[\"']?$"
)
"""A cell that says when its row was written."""


def _values(cells: Sequence[str], count: int) -> bool:
    """Whether the cells of a line are so many values, some of them times, maybe."""
    timed = [cell for cell in cells if not _TIME.match(cell.strip())]
    return len(cells) == count and len(timed) > 0 and all(number(cell) is not None for cell in timed)


def _second(path: Path) -> list[str]:
    """The cells of the line below the header, without the blanks around them."""
    return [cell.strip() for cell in next(_rows(path), [])]


def _beginning(path: Path, named: Sequence[str]) -> dict[str, list[str]]:
    """The cells of the file's beginning, by column."""
    rows = [row for row in _rows(path) if len(row) == len(named)]
    return {name: [row[place] for row in rows] for place, name in enumerate(named)}


def _rows(path: Path) -> Iterator[list[str]]:
    """The cells of the lines below the header, of those in the file's beginning."""
    lines = [line for line in beginning(path).decode("utf-8", "replace").splitlines() if line.strip()]
    return (line.split(separator(lines[0])) for line in lines[1:])


def _printed(named: Sequence[str]) -> bool:
    """Whether the first line is no header but a printed line with commas in it: `Epoch=1,Loss:0.68`."""
    return 2 * sum(bool(_PAIR.search(name)) for name in named) >= len(named)


def _said(path: Path, named: Sequence[str]) -> bool:
    """Whether the first line of a file that isn't called a CSV is hardly a header: what a program says.

    Its cells are cut within brackets, `loss: tensor(8.4, grad_fn=<NegBackward>)`, or long.
    """
    if path.suffix.lower() in (".csv", ".tsv"):
        return False
    cut = sum(one.count("(") != one.count(")") or one.count("[") != one.count("]") for one in named)
    return 2 * max(cut, sum(len(one) > _LONGEST for one in named)) >= len(named)


_LONGEST = 80
"""Characters of a column's name, at most."""


def _some(signal: str) -> str:
    return ", ".join(vocabulary.KNOWN[signal][:3])
