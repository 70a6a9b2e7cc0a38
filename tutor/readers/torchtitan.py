"""torchtitan's output: `step: 10  loss: 7.03  grad_norm: 1.49  memory: ...`; other ranks print -1.

The loss is the mean over all ranks at its step, the norm that before clipping; both show NaN. Versions of
2024 logged the mean over the steps since the row before: that is what is declared, for no line says the
version. Validation has lines of its own, `validate step: 10  loss: 7.1  memory: ...`.
Source: torchtitan/train.py, torchtitan/components/metrics.py (`log`, `log_validation`)
"""

from pathlib import Path
from typing import TYPE_CHECKING

from tutor.readers.common.lines import NUMBER, Line, Lines, either, has
from tutor.readers.common.textlog import TextLog
from tutor.readers.common.trainers import WINDOW
from tutor.readers.source import Source

if TYPE_CHECKING:
    import polars as pl

_LINE = rf"\bstep:\s+(?P<step>[0-9]+)\s+loss:\s+(?P<loss>{NUMBER})\s"
_VALIDATED = rf"\bvalidate step:\s+(?P<step>[0-9]+)\s+loss:\s+(?P<val_loss>{NUMBER})\s"
_OWN = either(_LINE + r"[^\n]*\b(?:grad_norm|memory|tps|tflops|mfu):")
_FIELD = rf"\b(?P<name>grad_norm|tps|lr):\s+(?P<value>{NUMBER})"
_NAMES = {"grad_norm": "grad_norm", "tps": "tokens_per_second", "lr": "lr"}


def _tidy(rows: "pl.DataFrame") -> "pl.DataFrame":
    """The rows of the rank that knows the loss."""
    import polars as pl  # only who reads a log pays for it

    losses = [name for name in ("loss", "val_loss") if name in rows.columns]
    return rows.filter(~pl.any_horizontal(pl.col(losses).fill_null(0) < 0))


_LINES = Lines(
    (
        Line(_VALIDATED, sign="validate"),
        Line(_LINE, _FIELD, _NAMES.get),
    ),
    tidy=_tidy,
)


def sources(path: Path) -> list[Source]:
    """A file with such a line, and a field in it that no loop of somebody's own is likely to print."""
    return [TextLog(path, "torchtitan's output", _LINES, {"loss": WINDOW})] if has(path, _OWN) else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
