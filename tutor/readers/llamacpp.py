"""llama.cpp's finetune: `train: [===> ] data=0000064/0001024 loss=2.5±0.1 acc=...`, on the error output.

Its progress bar is drawn anew after a carriage return, once a batch. Steps count what was trained on since
the beginning. The loss is the mean of its epoch so far, and begins anew with each: a spike hardly shows, and
after a NaN it is NaN to the epoch's end. Validation follows each epoch, and only its last line says all.
Source: ggml/src/ggml-opt.cpp (ggml_opt_epoch_callback_progress_bar)
"""

from pathlib import Path
from typing import TYPE_CHECKING

from tutor.readers.common.lines import NUMBER, Line, Lines, either, has
from tutor.readers.common.textlog import TextLog
from tutor.readers.common.trainers import RUNNING
from tutor.readers.source import Source

if TYPE_CHECKING:
    import polars as pl

_BAR = r": +\[[^\]]*\] data=0*(?P<seen>[0-9]{1,15})/0*(?P<of>[0-9]{1,15}) loss="
_TRAINED = rf"\btrain{_BAR}(?P<loss>{NUMBER})"
_VALIDATED = rf"\bval{_BAR}(?P<val_loss>{NUMBER})"
_ANY = either(_TRAINED, _VALIDATED)


def _tidy(rows: "pl.DataFrame") -> "pl.DataFrame":
    """The rows by what was trained on: that of the epochs that have ended, and of the one under way."""
    import polars as pl  # only who reads a log pays for it

    if "loss" not in rows.columns:
        rows = rows.with_columns(loss=pl.lit(None, pl.Float64))
    if "val_loss" not in rows.columns:
        rows = rows.with_columns(val_loss=pl.lit(None, pl.Float64))
    trained = pl.col("val_loss").is_null()
    at = pl.when(trained).then("seen").forward_fill().fill_null(0)
    last = at.shift().fill_null(0)
    before = pl.when(at < last).then(last).otherwise(0).cum_sum()
    whole = trained | (pl.col("seen") == pl.col("of"))
    return rows.with_columns(step=before + at).filter(whole).select("step", "loss", "val_loss")


_LINES = Lines((Line(_TRAINED), Line(_VALIDATED)), tidy=_tidy)


def sources(path: Path) -> list[Source]:
    """A file with such a line."""
    return [TextLog(path, "llama.cpp's output", _LINES, {"loss": RUNNING})] if has(path, _ANY) else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
