"""Logs in a folder that are known by their words or numbers alone, beside those that a tool wrote there."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from tutor.readers.common.beside import read_source
from tutor.readers.source import Source
from tutor.run import BadRunError, Run

MEANT = {".csv", ".tsv", ".jsonl", ".log", ".out"}
"""How the names of files end that are hardly anything but logs; they may be packed."""
_UNLIKE = 0.2
"""The share by which two logs of one run hardly differ, in their last step or in their last losses."""
_LAST = 3
"""Rows whose median is a log's last loss."""
_QUICK = 20_000_000
"""Bytes of a log that is read to see whether it is of the same run as another."""


def meant(path: Path) -> bool:
    """Whether a file is meant as a log, by its name."""
    return path.with_suffix("").suffix in MEANT if path.suffix == ".gz" else path.suffix in MEANT


def holding(found: Sequence[Source]) -> set[Path]:
    """Where these runs lie: their own places, and the files that hold several."""
    return {
        place
        for one in found
        for place in (one.path, one.path.parent)
        if place == one.path or place.is_file()
    }


def others(
    path: Path,
    found: Sequence[Source],
    *,
    alone: bool,
    inside: Callable[[Path], Sequence[Path]],
    claimed: Callable[[Path], Sequence[Source]],
) -> list[Source]:
    """The runs in a folder and in those in it that no tool's own reader knows, beside those `found` there.

    Args:
        path: of the folder.
        found: what other readers know in it.
        alone: take those that are of the one other run of their folder, as it seems, or else the rest.
        inside: gives what lies in a folder.
        claimed: gives the runs in a file, if it may be a log.
    """
    known = holding(found)
    if not path.is_dir() or path in known:
        return []
    counted = Counter(folder for source in found for folder in source.path.parents)
    return [
        source
        for folder in (path, *(inner for inner in inside(path) if inner not in known))
        for file in inside(folder)
        if file.is_file() and file not in known
        for source in claimed(file)
        if ((counted[folder] or counted[path]) == 1 and _one_run(source, found[0])) is alone
    ]


def _one_run(one: Source, other: Source) -> bool:
    """Whether two logs may be of one run: their last steps or their last losses aren't far apart.

    Long ones aren't read for that; and one that can't be read stands for no other.
    """
    if any(log.path.is_file() and log.path.stat().st_size > _QUICK for log in (one, other)):
        return True
    try:
        pairs = zip(_end(read_source(one)), _end(read_source(other)), strict=True)
    except BadRunError:
        return False
    return not all(_apart(a, b) for a, b in pairs)


def _apart(one: float | None, other: float | None) -> bool:
    """Whether two values are there and far apart; what isn't finite is far from all that is."""
    if one is None or other is None:
        return False
    if not (math.isfinite(one) and math.isfinite(other)):
        return math.isfinite(one) is not math.isfinite(other)
    return abs(one - other) > _UNLIKE * max(abs(one), abs(other))


def _end(run: Run) -> tuple[float, float | None]:
    """The last step of a run, and its last loss; None where none was logged."""
    last = run["loss"].drop_nulls().tail(_LAST).median() if run.has("loss") else None
    return float(run.steps[-1]), float(last) if isinstance(last, float) else None
