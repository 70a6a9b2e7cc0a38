"""Lists of numbers, one a metric, as rows: as Keras's history and any document of JSON keep a training."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tutor.readers.common.rows import Row, number
from tutor.run import names

Value = float | None
Steps = Sequence[Value]

_COUNTER = re.compile(
    r"(?:(?P<set>train|val|eval|test)[_/])?(?P<by>epoch|global_step|step|iteration|iter|episode)$"
)
_CLOCK = 1e9  # seconds since 1970, of this century: what TensorBoard puts before each step
_TIME = re.compile(r"time|wall|date", re.IGNORECASE)
_NULLS = 5  # rows, at least, that tell that a null isn't a value that wasn't measured yet
_PAIR, _TIMED = 2, 3  # numbers of a step and its value, and of these with a time before them


@dataclass(frozen=True)
class Listed:
    """A metric's values and, where it brings them along, the step of each, and what these count."""

    values: Sequence[Value]
    steps: Steps | None = None
    by: str = "step"


def listed(given: object, *, cut: bool = False) -> Listed | None:
    """A metric's values as a document has them; None where it is no list of numbers.

    That is a list; an object by the rows' numbers, as pandas dumps a column; pairs of a step and a value, or
    of a time, a step and a value, as TensorBoard's page downloads them; objects of these; or an object with a
    list of each, as Sacred keeps them.

    Args:
        given: what stands under the metric's name.
        cut: whether the document ends early: the last pair may then be half a one.
    """
    if isinstance(given, dict):
        return _by_lists(given) or _by_number(given)
    if not isinstance(given, list) or not given:
        return None
    if isinstance(given[0], list):
        return _pairs(given, cut=cut)
    if isinstance(given[0], dict):
        return _points(given)
    values = _numbers(given)
    return None if values is None else Listed(values)


def ends_in_null(values: Sequence[object]) -> int:
    """How many nulls end a loss that was a number until then, `_NULLS` or more; 0 where they say nothing.

    JSON has no NaN: JavaScript, pandas and others write null for it. Where nulls lie between numbers, they
    are rows at which the loss wasn't measured.
    """
    last = next((at for at, one in enumerate(reversed(values)) if one is not None), len(values))
    between = any(one is None for one in values[: len(values) - last])
    return 0 if between or last < _NULLS else last


def _numbers(given: Sequence[object]) -> list[Value] | None:
    """The values of a list, None where none was recorded; None where it holds no number, or anything else."""
    values: list[Value] = []
    for one in given:
        value = number(one)
        if value is None and one is not None:
            return None
        values.append(value)
    return values if any(value is not None for value in values) else None


def _by_number(given: Mapping[str, object]) -> Listed | None:
    values = _numbers([*given.values()]) if all(name.isdecimal() for name in given) else None
    if values is None:
        return None
    places = [number(name) for name in given]
    return Listed(values, None if places == [*range(len(places))] else places)


def _by_lists(given: Mapping[str, object]) -> Listed | None:
    """A list of values beside one of their steps, and nothing else but times."""
    if not {"steps", "values"} <= given.keys() or any(
        not _TIME.search(name) for name in given.keys() - {"steps", "values"}
    ):
        return None
    steps, values = given["steps"], given["values"]
    return _placed(steps, values) if isinstance(steps, list) and isinstance(values, list) else None


def _placed(steps: Sequence[object], values: Sequence[object], by: str = "step") -> Listed | None:
    if (at := _numbers(steps)) is None or (own := _numbers(values)) is None or len(at) != len(own):
        return None
    return Listed(own, at, by)


def _pairs(given: Sequence[object], *, cut: bool) -> Listed | None:
    pairs = [one for one in given if isinstance(one, list)]
    width = len(pairs[0])
    if cut and len(pairs[-1]) < width:
        del pairs[-1]
    whole = len(pairs) >= len(given) - cut and all(len(one) == width for one in pairs)
    if not whole or width not in (_PAIR, _TIMED):
        return None
    if width == _TIMED and any((number(one[0]) or 0) < _CLOCK for one in pairs):
        return None
    found = _placed([one[-2] for one in pairs], [one[-1] for one in pairs])
    return found if found and found.steps and _counts(found.steps) else None


def _points(given: Sequence[object]) -> Listed | None:
    """Objects of a step and a value each, and nothing else but times."""
    points = [one for one in given if isinstance(one, dict)]
    by, unit = counted_by(points[0])
    if by is None or len(points) < len(given) or "value" not in points[0]:
        return None
    if any(name not in (by, "value") and not _TIME.search(name) for name in points[0]):
        return None
    return _placed([one.get(by) for one in points], [one.get("value") for one in points], unit)


def _counts(steps: Steps) -> bool:
    """Whether these are steps: whole numbers from 0 on that never go back."""
    known = [one for one in steps if one is not None and one >= 0 and one == one // 1]
    return len(known) == len(steps) and all(one <= after for one, after in pairwise(known))


def counter(name: str) -> re.Match[str] | None:
    """The `set` and the unit (`by`) that a name counts, as in `val_steps`; None where it counts none."""
    return _COUNTER.match(names.plainly(name))


def counted_by(named: Iterable[str]) -> tuple[str | None, str]:
    """The first of the names that counts, and its unit; None, and steps, where none does."""
    return next(((name, found["by"]) for name in named if (found := counter(name))), (None, "step"))


def by_row(
    columns: Mapping[str, Sequence[Value]], count: int, *, short: Collection[str] = ()
) -> list[dict[str, Value]]:
    """The lists side by side as `count` rows. What was measured less often is spread evenly, to the end.

    Args:
        columns: the lists by name, none longer than `count`.
        count: of the rows.
        short: the lists whose end is missing: they have their values from the first row on.
    """
    rows: list[dict[str, Value]] = [{} for _ in range(count)]
    for name, values in columns.items():
        every = count // len(values) if values and name not in short else 1
        for measured, value in enumerate(values, 1):
            rows[measured * every - 1][name] = value
    return rows


def by_step(columns: Mapping[str, tuple[Steps, Sequence[Value]]], step: str) -> Iterator[Row]:
    """The metrics as rows in the order of their steps; of two values of one at one step, the later.

    Args:
        columns: by name the steps, and as many values.
        step: what the rows' steps are to be called.
    """
    rows: dict[float, dict[str, Value]] = {}
    for name, (steps, values) in columns.items():
        for at, value in zip(steps, values, strict=True):
            if at is not None and at == at // 1:
                rows.setdefault(at, {})[name] = value
    for at in sorted(rows):
        yield {**rows[at], step: at}
