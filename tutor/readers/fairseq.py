"""fairseq and metaseq: `train_inner | {"loss": "16.475", "num_updates": "1", ...}`, numbers as text.

The plain format says the same: `train_inner | epoch 001: 10 / 100 loss=16.475, num_updates=10, ...`. Loss and
norm are means since the row before. A NaN under fp16 is taken for an overflow: the step is skipped, which a
note tells, and its loss never shows.

Most criteria divide the loss by ln 2, which makes it bits, and log a perplexity of 2 to it: where the log has
one, it tells, and the loss is read in nats. No other line says in which of the two the loss is.
Sources: fairseq_cli/train.py (`train`), fairseq/trainer.py (`train_step`), fairseq/logging/progress_bar.py,
fairseq/criterions/cross_entropy.py (`reduce_metrics`), fairseq/utils.py (`get_perplexity`)
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tutor.readers.common.lines import NUMBER, Line, Lines, either, has
from tutor.readers.common.overflows import after_the_last
from tutor.readers.common.textlog import TextLog
from tutor.readers.source import Source
from tutor.run import Aggregation, Remark

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
_KEPT = r"(?P<name>num_updates|loss|nll_loss|ppl|lr|gnorm|loss_scale)"
_KEPT_OUT = r"(?P<name>(?:valid_)?(?:num_updates|loss|nll_loss|ppl))"
_JSON = rf'"\s*:\s*"?(?P<value>{NUMBER})"?\s*[,}}]'
_PLAIN = rf"[= ](?P<value>{NUMBER})(?:,| \||\s*$)"
_WHOLE = r"\b(?:train_inner|valid) \| \{[^{}]*\"(?:valid_)?num_updates\"[^{}]*\}"
_LOSSES = ("loss", "val_loss")
_LEAST_PPL = 1.5  # it is printed with two decimals: one nearer to 1 says little of its logarithm
_ALIKE = 0.05  # by so much logarithm and loss may differ; to the base e they differ by 0.44
_ANY = either(_WHOLE, _TRAINED_PLAIN, _HELD_OUT_PLAIN)


def _trained(name: str) -> str:
    return name.replace("num_updates", "step")


def _held_out(name: str) -> str:
    bare = name.removeprefix("valid_")
    return {"loss": "val_loss", "num_updates": "held_out"}.get(bare, bare)


def _in_bits(rows: "pl.DataFrame") -> bool:
    """Whether the perplexities are 2 to the loss, not e to it; False where the rows can't tell."""
    import polars as pl  # only who reads a log pays for it

    losses = [name for name in ("nll_loss", *_LOSSES) if name in rows.columns]
    if "ppl" not in rows.columns or not losses:
        return False
    telling = rows.filter(pl.col("ppl").is_between(_LEAST_PPL, math.inf, closed="none"))
    bits = telling.select(pl.col("ppl").log(2) / pl.coalesce(losses)).to_series()
    ratio = bits.filter(bits.is_finite()).median()
    return isinstance(ratio, float) and abs(ratio - 1) < _ALIKE


def _remarks(rows: "pl.DataFrame") -> Iterator[Remark]:
    if _in_bits(rows):
        yield Remark("in_bits")


def _tidy(rows: "pl.DataFrame") -> "pl.DataFrame":
    """The rows with a step, and the overflows after the last; those of training with those that came before,
    each a step skipped.
    """
    import polars as pl  # only who reads a log pays for it

    if _in_bits(rows):
        rows = rows.with_columns(pl.col(name) * math.log(2) for name in _LOSSES if name in rows.columns)
    rows = rows.drop("nll_loss", "ppl", strict=False)
    missing = {"step", "held_out", "overflow"} - {*rows.columns}
    rows = rows.with_columns(pl.lit(None, pl.Float64).alias(name) for name in missing)
    overflow = rows["overflow"]
    skipped = pl.col("overflow").is_not_null().cum_sum()
    told = pl.col("step").is_not_null() & (skipped > 0)
    rows = rows.with_columns(
        pl.coalesce("step", "held_out").alias("step"), pl.when(told).then(skipped).alias("skipped_steps")
    )
    numbered = rows["step"].is_not_null().arg_true()
    last = overflow[int(numbered[-1]) + 1 :].drop_nulls() if len(numbered) else overflow.clear()
    rows = rows.drop_nulls("step").drop("held_out", "overflow").cast(pl.Float64)
    return after_the_last(rows, last, overflow.count() - len(last))


_LINES = Lines(
    (
        Line(_OVERFLOW),
        Line(_TRAINED, f'"{_KEPT}{_JSON}', _trained),
        Line(_HELD_OUT, f'"{_KEPT_OUT}{_JSON}', _held_out),
        Line(_TRAINED_PLAIN, rf"\b{_KEPT}{_PLAIN}", _trained),
        Line(_HELD_OUT_PLAIN, rf"\b{_KEPT_OUT}{_PLAIN}", _held_out),
    ),
    tidy=_tidy,
    remarks=_remarks,
)


def sources(path: Path) -> list[Source]:
    """A file with such a line."""
    return [TextLog(path, "fairseq's log", _LINES, AGGREGATIONS)] if has(path, _ANY) else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
