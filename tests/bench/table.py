"""Paired timings: two things in turn, A B A B ..., and the median of the ratios pair by pair.

A machine's speed drifts; a ratio of neighbours hardly does.
"""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from rich.table import Table


@dataclass(frozen=True)
class Row:
    """One comparison.

    Attributes:
        ours, theirs: medians, in seconds (or another unit that both share).
        ratios: ours / theirs, pair by pair.
        at_most, at_least: the bound that the median ratio has to keep.
    """

    what: str
    ours: float
    theirs: float
    ratios: tuple[float, ...]
    at_most: float | None = None
    at_least: float | None = None

    @property
    def ratio(self) -> float:
        """The median ratio."""
        return median(self.ratios)

    @property
    def kept(self) -> bool:
        """Whether the bound is kept."""
        return (self.at_most is None or self.ratio <= self.at_most) and (
            self.at_least is None or self.ratio >= self.at_least
        )


def paired(
    what: str,
    ours: Callable[[], float],
    theirs: Callable[[], float],
    *,
    runs: int,
    at_most: float | None = None,
    at_least: float | None = None,
) -> Row:
    """Time both in turn, `runs` times after one warm-up; each callable returns what it measured."""
    ours(), theirs()
    pairs = [(ours(), theirs()) for _ in range(runs)]
    return Row(
        what,
        median(a for a, _ in pairs),
        median(b for _, b in pairs),
        tuple(a / b for a, b in pairs),
        at_most,
        at_least,
    )


def render(rows: list[Row]) -> Table:
    """The table that `make bench` prints."""
    table = Table("benchmark", "ours", "theirs", "ratio", "min..max", "bound", "kept")
    for row in rows:
        bound = f"≤ {row.at_most:g}" if row.at_most is not None else f"≥ {row.at_least:g}"
        table.add_row(
            row.what,
            f"{row.ours:.3g}",
            f"{row.theirs:.3g}",
            f"{row.ratio:.2f}",
            f"{min(row.ratios):.2f}..{max(row.ratios):.2f}",
            bound,
            "yes" if row.kept else "NO",
        )
    return table
