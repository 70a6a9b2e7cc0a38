"""The trainings in a document of JSON: lists of numbers by name, or rows, at its top or below it.

{"train_losses": [...], "val_losses": [...]}             a list a metric
{"epochs": [...], "metrics": {"loss": [...]}}            the same in groups
{"config": {...}, "history": [{"epoch": 1, ...}, ...]}   rows
{"fold_1": {...}, "fold_2": {...}}                       several of these, a run each
"""

import codecs
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import cast

from tutor.plainfile import OddFileError
from tutor.readers.common.groups import SETS, gathered, in_row, inner, of_a_set, settings, telling
from tutor.readers.common.guessed import BOTH, a_loss, both_losses, by_names, says_loss, says_losses
from tutor.readers.common.lists import Listed, counter, ends_in_null, listed
from tutor.readers.common.rows import Row, number
from tutor.readers.common.wholejson import as_json, load
from tutor.readers.source import head
from tutor.run import called, limits, names, scoring

LOSSES = {"loss", "val_loss"}
_LEVELS = 4  # keys that lead to a run
_CALLED = ("name", "run_name", "run", "run_id", "fold", "model", "experiment", "id", "seed")
"""What a run in a list of several has for a name."""

_ROW = re.compile(r"(?:(?P<by>epoch|step|iteration|iter)[ _-]?)?(?P<at>[0-9]{1,15})$", re.IGNORECASE)
_EPISODE = re.compile(r"(?<![a-z])ep(isode)?s?(?![a-z])")
_TIME = re.compile(r"time|date|elapsed|duration", re.IGNORECASE)
_TAG = re.compile(r"(?:run-)?(?P<run>.*?)[-_.]?tag-(?P<tag>.+)$")  # as TensorBoard's page calls its downloads
_AGAIN = re.compile(r" [0-9]+$")  # which of several lists of one name it is
_FEW = 5  # values of a list that may be meant as a loss's, where no name says so

_BEGINS = re.compile(rb"\s*(?:\{\s*\"|\[\s*[\[{])")
_TELLS = re.compile(
    rb'"[^"\\]*(?:loss|train|val|epoch|step|iter|metric|history|log|fold|run|result)[^"\\]*"\s*:'
    rb"|[\[,:]\s*\[\s*-?[0-9.NI]"
    rb'|\[\s*\{\s*"0"\s*:\s*-?[0-9.NI]',
    re.IGNORECASE,
)
_LOSS = re.compile(rb'"[^"\\]*loss(?:es)?"\s*:\s*[\[{]')
"""What the beginning of a document has that may hold a log: a name of one, or a list of numbers."""


@dataclass(frozen=True)
class Found:
    """A run in a document.

    Attributes:
        way: the keys that lead to it.
        columns: its lists by name, where it is kept so; else {}.
        objects: its rows as they stand, where it is kept so.
        guessed: by signal the columns that are taken for it, though their own names don't say so.
        settings: the scalars that stand beside it, by their dotted names.
        short: the list whose end is missing, if any.
        flat: whether its object holds its lists, and nothing else.
    """

    way: tuple[str, ...] = ()
    columns: Mapping[str, Listed] = field(default_factory=dict)
    objects: Sequence[Mapping[str, object]] = ()
    guessed: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, object] = field(default_factory=dict)
    short: str | None = None
    flat: bool = False

    def rows(self) -> Iterator[Row]:
        """Its objects as rows."""
        return map(in_row, self.objects)


@dataclass(frozen=True)
class Looked:
    """What a document holds.

    Attributes:
        runs: those in it.
        lists: the names of its lists of numbers, where there is no run.
        cut: whether its end is missing.
        broken: whether it is no JSON, or nothing of it is whole.
    """

    runs: Sequence[Found] = ()
    lists: Sequence[str] = ()
    cut: bool = False
    broken: bool = False


def begins(path: Path) -> bool:
    """Whether a file begins as a document does. Raises OSError where it can't be opened."""
    return bool(_BEGINS.match(_head(path)))


def tells_loss(path: Path) -> bool:
    """Whether a name that says loss stands in the beginning of a document, before a list or an object."""
    return bool(_LOSS.search(_head(path)))


def _head(path: Path) -> bytes:
    return as_json(head(path).removeprefix(codecs.BOM_UTF8))


def look(path: Path) -> Looked | None:
    """What the document at `path` holds; None where it is none, or too large.

    Raises:
        OSError: it can't be opened.
        BadRunError: the file beside it that names columns can't be read.
    """
    if not path.is_file() or path.stat().st_size > limits.DOCUMENT:
        return None
    begin = _head(path)
    if not (_BEGINS.match(begin) and _TELLS.search(begin)):
        return None
    about = path.stat()
    said = frozenset(column for signal, column in called.names_for(path).items() if signal in LOSSES)
    return _looked(path, said, (about.st_ino, about.st_size, about.st_mtime_ns))


@lru_cache(maxsize=1)  # a document of several runs is asked for each of them
def _looked(path: Path, said: frozenset[str], changed: Hashable) -> Looked | None:  # noqa: ARG001 (read anew)
    try:
        given, cut = load(path, limits.DOCUMENT)
    except OddFileError:  # too large, unpacked
        return None
    except (ValueError, RecursionError):
        return Looked(broken=True)
    search = _Search(path.name.partition(".")[0], said, cut)
    runs = search.runs(given)[: limits.RUNS]
    named = gathered(cast(Mapping[str, object], given), cut=cut)[0] if isinstance(given, dict) else {}
    lists = [name for name, column in named.items() if len(column.values) >= _FEW]
    return Looked(runs, [] if runs else lists, cut)


def _scored(lists: Mapping[str, Listed]) -> bool:
    """Whether lists count steps or epochs, and hold scores or rewards of as many; or a score on two sets; or
    the rewards of episodes, one each.
    """
    count = next((lists[name] for name, signal in names.known(lists).items() if signal == "step"), None)
    scores = {name: len(one.values) for name, one in lists.items() if scoring.rises(name)}
    if count is not None:
        return any(rows == len(count.values) >= _FEW for rows in scores.values())
    measured = [names.measured(name) for name, rows in scores.items() if rows >= _FEW]
    by_episode = (name for name, rows in scores.items() if rows >= _FEW and scoring.is_reward(name))
    return len(set(measured)) < len(measured) or any(
        _EPISODE.search(names.spelled(one)) for one in by_episode
    )


@dataclass
class _Search:
    """A search for the runs of one document.

    Attributes:
        named: what the file is called.
        said: the columns that the user calls losses.
        cut: whether the document's end is missing.
        left: how many more places are looked at: a file may be nothing but keys.
    """

    named: str
    said: frozenset[str]
    cut: bool
    left: int = limits.RUNS

    def runs(self, given: object, way: tuple[str, ...] = ()) -> list[Found]:
        """The runs in what stands at the end of the keys `way`."""
        self.left -= 1
        if len(way) > _LEVELS or self.left < 0:
            return []
        if isinstance(given, dict):
            return self._in_object(given, way)
        return self._in_list(given, way) if isinstance(given, list) else []

    def _in_list(self, given: Sequence[object], way: tuple[str, ...]) -> list[Found]:
        objects = [one for one in given if isinstance(one, dict)]
        only = given[0] if objects and len(given) == 1 else given  # as pandas dumps a frame of one column
        if not way and (own := listed(only, cut=self.cut)) and (own.steps or objects):
            return self._alone(own)
        if not way and (found := self._without_names(given)):
            return [found]
        if found := self._table(objects, way):
            return [found]
        several = islice(enumerate(objects, 1), limits.RUNS)
        return [run for at, one in several for run in self.runs(one, (*way, _called(one, at)))]

    def _in_object(self, given: Mapping[str, object], way: tuple[str, ...]) -> list[Found]:
        own = {name: found for name, one in inner(given) if (found := listed(one, cut=self.cut))}
        if self._known(own):
            return [self._whole(given, way)]
        if found := self._table(_numbered(given), way):
            return [found]
        below = {name: self.runs(one, (*way, name)) for name, one in inner(given) if name not in own}
        apart = [run for name, runs in below.items() if not of_a_set(name) for run in runs if not run.guessed]
        whole = self._whole(given, way)
        if len(apart) < 2 and self._known(whole.columns) and not _alike(whole, apart):
            return [whole]
        runs = [run for inside in below.values() for run in inside]
        if len(runs) > 1:  # of two metrics of one run, each by its sets, neither is a run
            runs = [one for one in runs if not one.guessed or says_loss(self._words(one.way))]
        if runs:
            beside = settings(given, runs={name for name, inside in below.items() if inside})
            return [replace(run, settings={**beside, **run.settings}) for run in runs]
        guessed = by_names({name: one.values for name, one in own.items()}, self._words(way))
        if guessed or _scored(own):
            return [replace(whole, guessed=guessed)]
        return self._a_run_each(own, way)

    def _a_run_each(self, own: Mapping[str, Listed], way: tuple[str, ...]) -> list[Found]:
        """The runs of lists that all have one name, `LSTM` and `LSTM 2`, in a file called after its losses.

        Lists of several names may be parts of one loss.
        """
        long = {name: one for name, one in own.items() if len(one.values) >= _FEW}
        several = len(long) > 1 and len({_AGAIN.sub("", name) for name in long}) == 1
        if not (several and says_losses(self._words(way))):
            return []
        return [Found((*way, name), {name: one}, guessed={"loss": name}) for name, one in long.items()]

    def _whole(self, given: Mapping[str, object], way: tuple[str, ...]) -> Found:
        """All lists of an object and of the groups in it, as one run."""
        columns, holding = gathered(given, cut=self.cut)
        torn = self.cut and [*given][-1:] == holding[-1:]
        last = [*columns][-1] if torn and columns else None
        others = [one for name, one in columns.items() if name != last and self._known({name: one})]
        whole = last is not None and len(columns[last].values) in [len(one.values) for one in others]
        short = None if whole else last  # as long as a loss, what is missing came after it
        flat = [*given] == [*columns]
        return Found(way, columns, settings=settings(given, holding), short=short, flat=flat)

    def _alone(self, own: Listed) -> list[Found]:
        """The run in a list of pairs, which the file's name tells what they are."""
        tag = _TAG.match(self.named)
        column = tag["tag"] if tag else self.named
        if tag and (of := next((word for word in telling(tag["run"]) if word in SETS), None)):
            column = f"{of}/{column}"
        if self._known({column: own}):
            return [Found(columns={column: own})]
        guessed = {"loss": column} if a_loss(own.values, self._words(())) else {}
        return [Found(columns={column: own}, guessed=guessed)] if guessed else []

    def _without_names(self, given: Sequence[object]) -> Found | None:
        """Rows of a step, a loss and one of validation, in a file that is called after its losses."""
        rows = [one for one in given if isinstance(one, list) and len(one) == 1 + len(BOTH)]
        if len(rows) < max(_FEW, len(given) - self.cut):
            return None
        columns = {str(at + 1): listed([[row[0], row[at]] for row in rows]) for at in range(1, 1 + len(BOTH))}
        known = {place: column for place, column in columns.items() if column}
        if len(known) < len(BOTH) or not both_losses(self.named, *(one.values for one in known.values())):
            return None
        return Found(columns=known, guessed=dict(zip(BOTH, known, strict=True)))

    def _table(self, objects: Sequence[Mapping[str, object]], way: tuple[str, ...]) -> Found | None:
        """Objects as rows, where one of their columns is a loss, and something counts or all are numbers."""
        written: dict[str, list[object]] = {}
        worded = False
        for row in map(in_row, objects):
            for name, one in row.items():
                if one is not None and number(one) is None:
                    worded = worded or (isinstance(one, str) and not _TIME.search(name))
                elif name in written or len(written) < limits.COLUMNS:
                    written.setdefault(name, []).append(one)
        numbers = {name: [one for one in column if one is not None] for name, column in written.items()}
        columns = {
            name: one
            for name, one in numbers.items()
            if one or (ends_in_null(written[name]) and not names.says_held_out(name))
        }
        if not any(map(counter, columns)) and (worded or len(objects) < 2):
            return None  # a table of models, say
        if self._known(columns):
            return Found(way, objects=objects)
        guessed = by_names(columns, self._words(way))
        return Found(way, objects=objects, guessed=guessed) if guessed else None

    def _known(self, columns: Mapping[str, object]) -> bool:
        """Whether one of the columns is a loss, by its name or as the user says."""
        known = names.known([names.plainly(name) for name in columns]) if columns else {}
        return bool(self.said & columns.keys() or LOSSES & {*known.values()})

    def _words(self, way: tuple[str, ...]) -> str:
        return " ".join(word for name in (*way, self.named) for word in telling(name))


def _alike(whole: Found, apart: Sequence[Found]) -> bool:
    """Whether the only run below has all of the columns, by shorter names."""
    return len(apart) == 1 and len(apart[0].columns) == len(whole.columns)


def _called(run: Mapping[str, object], at: int) -> str:
    """What to call the run at that place of a list: by a name or number of its own."""
    named = next((name for name in _CALLED if isinstance(run.get(name), str | int)), None)
    if named is None:
        return str(at)
    return str(run[named]) if isinstance(run[named], str) else f"{named}-{run[named]}"


def _numbered(given: Mapping[str, object]) -> list[Mapping[str, object]]:
    """The objects under numbers as rows that count, `{"1": {"loss": ...}, "2": ...}`; [] where it is none."""
    rows: list[Mapping[str, object]] = []
    keys = [_ROW.match(name) for name in given]
    if not all(keys) or not all(isinstance(one, dict) for one in given.values()):
        return []
    places = [int(key["at"]) for key in keys if key]
    one_by_one = [*range(places[0], places[0] + len(places))] == places if places else False
    for key, one in zip(keys, given.values(), strict=True):
        row = cast(Mapping[str, object], one)
        if key and not any(map(counter, row)):
            by = (key["by"] or ("epoch" if one_by_one else "step")).lower()
            row = {by: int(key["at"]), **row}
        rows.append(row)
    return rows
