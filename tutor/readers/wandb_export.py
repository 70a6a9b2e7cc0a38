"""A panel exported from Weights & Biases: `Step`, and `<run> - <metric>` with `__MIN` and `__MAX`."""

from dataclasses import dataclass
from pathlib import Path

from tutor.readers.common.rows import run_of_table
from tutor.readers.common.tables import cells, header
from tutor.readers.source import Source
from tutor.run import BadRunError, Run
from tutor.words import quoted

_BETWEEN = " - "
_LOWEST = "__MIN"


@dataclass(frozen=True)
class Export:
    """A run in such a file."""

    path: Path
    format: str = "a CSV exported from Weights & Biases"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """It names its metric and nothing that the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole. Raises BadRunError where it holds several, or none that can be read."""
        import polars as pl  # only who reads a log pays for it

        given = header(self.path)
        kept = [name for name in given if _BETWEEN in name and not name.endswith((_LOWEST, "__MAX"))]
        runs = list(dict.fromkeys(name.rpartition(_BETWEEN)[0] for name in kept))
        if len(runs) > 1:
            raise BadRunError(
                f"{self.path} holds {len(runs)} runs side by side, export one of them: {quoted(runs)}"
            )
        rows = cells(self.path)
        named = {name: name.rpartition(_BETWEEN)[2] for name in kept if name in rows.columns}
        rows = rows.select(pl.col(given[0]), *(pl.col(old).alias(new) for old, new in named.items()))
        return run_of_table(rows, self.path, name=runs[0] if runs else None)


def sources(path: Path) -> list[Source]:
    """A CSV of `Step` and columns that come with their lowest value."""
    given = header(path)
    exported = given[:1] == ["Step"] and any(name.endswith(_LOWEST) for name in given)
    return [Export(path)] if exported else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
