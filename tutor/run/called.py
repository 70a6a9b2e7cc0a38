"""Called: what the user says that a log calls the signals, where tutor can't know: this time, or for good.

What is said for good lies beside the log, in `tutor-names.json`, and holds for every log of that folder, but
for those of which something else was said.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tutor import catalog, plainfile, signals
from tutor.run.remark import Remark
from tutor.run.run import BadRunError
from tutor.words import plain, quoted

BESIDE = "tutor-names.json"
LARGEST = 65_536  # bytes of that file

_said: ContextVar[Mapping[str, str]] = ContextVar("said", default={})  # noqa: B039 - nobody writes into it
_NUMBERS = ("step", *(one.name for one in signals.SIGNALS if one.kind == "number"))
_NEXT = re.compile(r",(?=\s*\w+=)")  # a comma in a column's name doesn't end it


def parsed(given: Iterable[str]) -> dict[str, str]:
    """`loss=train/ce,step=iter`, given once or more often: the log's column by signal.

    Raises:
        ValueError: a signal that there isn't, one or a column that is named twice, or no name at all.
    """
    found: dict[str, str] = {}
    for pair in (one for text in given for one in _NEXT.split(text)):
        signal, sign, column = (part.strip() for part in pair.partition("="))
        if not (signal and sign and column):
            raise ValueError(f"{plain(pair)!r} isn't SIGNAL=COLUMN, as in --map loss=train/ce,step=iter")
        _add(found, signal, column)
    return found


def _add(found: dict[str, str], signal: str, column: str) -> None:
    if signal not in _NUMBERS:
        raise ValueError(catalog.unknown("signal", signal, _NUMBERS))
    if found.get(signal, column) != column:
        raise ValueError(f"{signal} is named twice: {plain(found[signal])} and {plain(column)}")
    if column in found.values() and found.get(signal) != column:
        raise ValueError(f"the column {plain(column)} can't be two signals")
    found[signal] = column


@contextmanager
def called(said: Mapping[str, str]) -> Iterator[None]:
    """While it lasts, each signal in `said` is read from the column named there, in every log."""
    token = _said.set(said)
    try:
        yield
    finally:
        _said.reset(token)


def call(said: Mapping[str, str]) -> None:
    """From now on, each signal in `said` is read from the column named there, in every log."""
    _said.set(said)


def names_for(log: Path) -> Mapping[str, str]:
    """What was said of `log`, this time or for good: its columns by signal.

    Raises:
        BadRunError: the file beside it can't be read.
    """
    return _over(_kept(log), _said.get())


def _over(kept: Mapping[str, str], said: Mapping[str, str]) -> Mapping[str, str]:
    """What was kept with what is said now: a column that was another signal's is that no more."""
    return {signal: column for signal, column in kept.items() if column not in said.values()} | dict(said)


def place_of(log: Path) -> Path:
    """Where names are kept for the log or the folder at `log`, or the file that it is one of."""
    return beside(log, BESIDE)


def beside(log: Path, name: str) -> Path:
    """The file of that name in the folder at `log`, beside the log, or beside the file that it is one of."""
    return next(one for one in (log, *log.parents) if one.is_dir()) / name


@dataclass(frozen=True)
class _Names:
    """What a file of names holds: for every log of its folder and, over it, for some of them."""

    every: dict[str, str] = field(default_factory=dict)
    own: dict[str, dict[str, str]] = field(default_factory=dict)

    def of(self, log: str) -> Mapping[str, str]:
        """The names for the log that is called so in that folder."""
        return _over(self.every, self.own.get(log, {}))

    def also(self, log: str, said: Mapping[str, str]) -> "_Names":
        """The names with those that were said of a log: for every one, unless that would change another's."""
        others = self.every and any(
            self.every.get(signal, column) != column for signal, column in said.items()
        )
        if log in self.own or others:
            return _Names(self.every, {**self.own, log: dict(_over(self.own.get(log, {}), said))})
        return _Names(dict(_over(self.every, said)), self.own)


def _kept(log: Path) -> Mapping[str, str]:
    return _names_at(place_of(log)).of(_named_in(place_of(log), log))


def _named_in(place: Path, log: Path) -> str:
    """What the log is called in the folder of the file of names."""
    return str(log.relative_to(place.parent))


def _names_at(place: Path) -> _Names:
    """Raises BadRunError where the file can't be read."""
    if not place.exists():
        return _Names()
    try:
        data = json.loads(plainfile.read(place, LARGEST))
        if not isinstance(data, dict):
            raise ValueError("it isn't an object of names")
        own = {log: _columns(names) for log, names in data.items() if isinstance(names, dict)}
        return _Names(_columns({signal: one for signal, one in data.items() if signal not in own}), own)
    except (OSError, ValueError, RecursionError) as error:
        why = " ".join(str(error).split())[:120]
        raise BadRunError(f"{place} can't be understood ({why}); mend it, or delete it") from None


def _columns(data: Mapping[str, Any]) -> dict[str, str]:
    """The columns by signal. Raises ValueError where it isn't that."""
    if not all(isinstance(column, str) for column in data.values()):
        raise ValueError("it isn't an object of names")
    found: dict[str, str] = {}
    for signal, column in data.items():
        _add(found, signal, column)
    return found


def keep(log: Path, said: Mapping[str, str]) -> Path:
    """Keep what was said beside the log; the file's place.

    It holds for every log of that folder. Where other columns were named for these before, it is kept for
    this log alone, so that those that were named first are read on as they were.

    Raises:
        BadRunError: what is there can't be read.
        OSError: it can't be written.
    """
    place = place_of(log)
    known = _names_at(place).also(_named_in(place, log), said)
    text = json.dumps({**known.every, **known.own}, indent=1, ensure_ascii=False)
    plainfile.replace(place, (text + "\n").encode())
    return place


def checked(log: Path, columns: Iterable[str]) -> list[Remark]:
    """A remark for each signal that is read from the column that was named for it.

    What was named for good holds for every log of the folder, of which some may have other columns.

    Raises:
        BadRunError: a column that was named just now isn't in the log.
    """
    has, remarks = list(columns), list[Remark]()
    for signal, column in names_for(log).items():
        if column not in has and _said.get().get(signal) == column:
            raise BadRunError(
                f"{log} has no column `{plain(column)}` to read {signal} from; it has {quoted(has)}"
            )
        about = {"signal": signal, "column": column}
        remarks.append(
            Remark("called", about) if column in has else Remark("called_else", about | {"file": BESIDE})
        )
    return remarks
