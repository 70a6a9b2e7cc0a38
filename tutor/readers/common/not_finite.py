"""Messages that the loss is NaN or Inf, which a training loop prints where it stops or passes over a batch.

`Loss is nan, stopping training`, `[WARNING] NaN loss detected! Skipping batch.`, `Batch 30: Invalid loss,
terminating training`, and what PyTorch's detect_anomaly raises: such a loop ends, or goes on, without a row
that has the NaN.
Sources: torchvision's references/detection/engine.py, DETR's engine.py, detectron2's train_loop.py,
keras/src/callbacks/terminate_on_nan.py, lightning/pytorch/loops/utilities.py, TensorFlow's
basic_session_run_hooks.py, loops of people's own
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tutor.run import Remark

if TYPE_CHECKING:
    import polars as pl

SAID = "nan_loss"
"""The column of the pair that stands for such a message."""

_NOT_FINITE = r"(?:nans?|inf|infinit[ey]|non-?finite|not finite)"
_VALUE = rf"{_NOT_FINITE}(?:\s?(?:or|/)\s?{_NOT_FINITE})?"
_BEGUN = r"(^|[^a-z \t]\s{0,9}|\b(?:info|warn|warning|error|critical)\s)(?:the\s)?"
"""What a message begins behind: `if loss is nan` and `no NaN loss detected` don't say that it is."""
_A_LOSS = r"(?:[a-z][a-z_-]{0,19}\s){0,2}loss(?:\svalue)?"
_MET = r"(?:detected|encountered|found|hit)"
_LEFT = r"(?:stop|skip|abort|terminat|exit|halt|break|end)[a-z]{0,4}"

PHRASE = (
    rf"{_BEGUN}(?:"
    rf"{_A_LOSS}\s(?:is|was|became|has become|went to|turned)\s{_VALUE}\b(?:[^:=0-9]|$)"
    rf"|{_VALUE}\s{_A_LOSS}(?:\s(?:was|is))?(?:\s(?:{_MET}|during)\b|\W{{1,3}}{_LEFT}\b)"
    rf"|(?:non-?|not )finite\s{_A_LOSS}:\s{_NOT_FINITE}\b"
    rf"|{_VALUE}\s{_A_LOSS}(\s(?:at|in)\s(?:step|iter|batch|epoch|update))"
    rf"|{_VALUE}\s(?:was\s|were\s)?{_MET}\sin\s(?:the\s)?{_A_LOSS}\b"
    rf"|{_MET}\s(?:an?\s)?{_VALUE}\s(?:in\s(?:the\s)?)?{_A_LOSS}\b"
    r"|invalid loss, terminating training"
    r"|model diverged with loss = nan"
    rf"|loss returned in `training_step` is {_VALUE}\b"
    r"|function '[a-z]{1,40}backward0' returned nan values in its [0-9]{1,2}th output"
    ")",
    rf"{{1}}; {SAID}: nan; {{2}}",
)
"""What says so, and a pair that stands for it, as `phrases.PHRASES` has them."""
PAIR = rf"; {SAID}: (?P<{SAID}>nan);"
"""The pair, as the pattern of a line."""


def parted(rows: "pl.DataFrame") -> tuple["pl.DataFrame", "pl.Series"]:
    """The rows without the column of messages, and by row whether it is one."""
    import polars as pl  # only who reads a log pays for it

    if SAID not in rows.columns:
        return rows, pl.repeat(False, len(rows), eager=True)
    return rows.drop(SAID), rows[SAID].is_not_null()


def remarks(rows: "pl.DataFrame") -> Iterator[Remark]:
    """How many rows are messages."""
    if SAID in rows.columns:
        yield Remark("nan_told", {"count": rows[SAID].count()})


def told(rows: "pl.DataFrame", messages: "pl.Series", loss: str = "loss") -> "pl.DataFrame":
    """The rows with NaN as the loss where a message says so, and without the messages.

    A message belongs to the step after the row above it, unless it counts its own. Where another row is of
    that step, the first such message alone makes its loss NaN: the others would hide the course of the loss.
    One above the first loss may be about a setting, and is passed over.

    Args:
        rows: with their `step`, in the order of the log.
        messages: by row whether it is one.
        loss: the column that is read as the loss.
    """
    import polars as pl  # only who reads a log pays for it

    if loss not in rows.columns or not messages.any():
        return rows.filter(~messages)
    counts = messages & rows[loss].is_not_null().cum_max() & rows[loss].is_null()
    step = rows["step"].forward_fill()
    step += (counts & (step == step.shift())).cast(step.dtype)
    taken = counts & step.is_in(step.filter(~messages).implode())
    nan = counts & ~taken | ~messages & step.is_in(step.filter(taken).head(1).implode())
    nans = pl.repeat(float("nan"), len(rows), eager=True)
    rows = rows.with_columns(
        step.zip_with(messages, rows["step"]), nans.zip_with(nan, rows[loss]).alias(loss)
    )
    return rows.filter(~messages | counts & ~taken)
