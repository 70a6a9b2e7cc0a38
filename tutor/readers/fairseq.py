"""fairseq and metaseq: `train_inner | {"loss": "16.475", "num_updates": "1", ...}`, numbers as text.

The plain format says the same: `train_inner | epoch 001: 10 / 100 loss=16.475, num_updates=10, ...`. Loss and
norm are means since the row before. Of most criteria they are in bits, not nats. A NaN under fp16 is taken
for an overflow: the step is skipped, which a note tells, and its loss never shows.
Sources: fairseq_cli/train.py (`train`), fairseq/trainer.py (`train_step`), fairseq/logging/progress_bar.py
"""

from pathlib import Path
from typing import TYPE_CHECKING

from tutor.readers.common.lines import NUMBER, Line, Lines, TextLog, either, has
from tutor.readers.source import Source
from tutor.run import Aggregation

if TYPE_CHECKING:
    import polars as pl

AGGREGATIONS = {
    "loss": Aggregation("window", shows_nan=False),
    "grad_norm": Aggregation("window", shows_nan=False),
}

_OVERFLOW = rf"gradient overflow detected.* setting loss scale to: (?P<overflow>{NUMBER})"
_TRAINED = r"\b(?P<row>train_inner) \| \{"
_HELD_OUT = r"\b(?P<row>valid) \| \{"
_TRAINED_PLAIN = r"\b(?P<row>train_inner) \| epoch [0-9]+: .*\bnum_updates=[0-9]"
_HELD_OUT_PLAIN = r"\b(?P<row>valid) \| .*\| num_updates [0-9]"
_KEPT = r"(?P<name>num_updates|loss|lr|gnorm|loss_scale)"
_KEPT_OUT = r"(?P<name>(?:valid_)?(?:num_updates|loss))"
_JSON = rf'"\s*:\s*"?(?P<value>{NUMBER})"?\s*[,}}]'
_PLAIN = rf"[= ](?P<value>{NUMBER})(?:,| \||\s*$)"
_WHOLE = r"\b(?:train_inner|valid) \| \{[^{}]*\"(?:valid_)?num_updates\"[^{}]*\}"
_ANY = either(_WHOLE, _TRAINED_PLAIN, _HELD_OUT_PLAIN)


def _trained(name: str) -> str:
    return name.replace("num_updates", "step")


def _held_out(name: str) -> str:
    return {"loss": "val_loss", "num_updates": "held_out"}[name.removeprefix("valid_")]


def _tidy(rows: "pl.DataFrame") -> "pl.DataFrame":
    """The rows with a step; those of training with the overflows that came before, each a step skipped."""
    import polars as pl  # only who reads a log pays for it

    missing = {"step", "held_out", "overflow"} - {*rows.columns}
    rows = rows.with_columns(pl.lit(None, pl.Float64).alias(name) for name in missing)
    skipped = pl.col("overflow").is_not_null().cum_sum()
    told = pl.col("step").is_not_null() & (skipped > 0)
    rows = rows.with_columns(
        pl.coalesce("step", "held_out").alias("step"), pl.when(told).then(skipped).alias("skipped_steps")
    )
    return rows.drop_nulls("step").drop("held_out", "overflow").cast(pl.Float64)


_LINES = Lines(
    (
        Line(_OVERFLOW),
        Line(_TRAINED, f'"{_KEPT}{_JSON}', _trained),
        Line(_HELD_OUT, f'"{_KEPT_OUT}{_JSON}', _held_out),
        Line(_TRAINED_PLAIN, rf"\b{_KEPT}{_PLAIN}", _trained),
        Line(_HELD_OUT_PLAIN, rf"\b{_KEPT_OUT}{_PLAIN}", _held_out),
    ),
    tidy=_tidy,
)


def sources(path: Path) -> list[Source]:
    """A file with such a line."""
    return [TextLog(path, "fairseq's log", _LINES, AGGREGATIONS)] if has(path, _ANY) else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
