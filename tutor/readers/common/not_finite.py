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
_BEGUN = r"(^|[^a-z \t'\"`#(]\s{0,9}|\b(?:info|warn|warning|error|critical)\s)(?:the\s)?"
"""What a message begins behind: `if loss is nan`, `no NaN loss detected`, a comment and what a program quotes
don't say that it is so.
"""
_A_LOSS = (
    r"(?:(?:train(?:ing)?|total|(?:mini-?)?batch|mean|avg|average|step|local|forward|overall|current|agent)\s){0,2}"
    r"loss(?:\svalue)?"
)
"""The loss that a run minimises: the best one, that of validation or a part may be Inf in a sound run."""
_MET = r"(?:detected|encountered|found|hit)"
_LEFT = r"(?:stopp|skipp|abort|terminat|exit|halt|break|end)(?:ing|ed)"
_DONE = r"(?:\s{0,3}[!.,;]|\s{0,3}$|\s-|\s(?:at|in|on|during|after|for)\s[a-z])"
"""What follows a message: neither a value, as in `NaN loss detected: 0`, nor a question mark."""

PHRASE = (
    rf"{_BEGUN}(?:"
    rf"{_A_LOSS}\s(?:is|became|has become|went to|turned)\s{_VALUE}{_DONE}"
    rf"|{_VALUE}\s{_A_LOSS}(?:\s(?:was|is))?(?:\s{_MET}{_DONE}|\sduring\s[a-z]|\W{{1,3}}{_LEFT}\b)"
    rf"|(?:non-?|not )finite\s{_A_LOSS}:\s{_NOT_FINITE}\b"
    rf"|{_VALUE}\s{_A_LOSS}\s(?:at|in)\s(?:step|iter|batch|epoch|update)"
    rf"|{_VALUE}\s(?:was\s|were\s)?{_MET}\sin\s(?:the\s)?{_A_LOSS}(?:{_DONE}|\s(?:calculation|computation|function|term))"
    rf"|{_MET}\s(?:an?\s)?{_VALUE}\s(?:in\s(?:the\s)?)?{_A_LOSS}(?:{_DONE}|\s(?:calculation|computation|function|term))"
    r"|invalid loss, terminating training"
    r"|model diverged with loss = nan"
    rf"|loss returned in `training_step` is {_VALUE}\b"
    r"|function '[a-z]{1,40}backward0' returned nan values in its [0-9]{1,2}th output"
    ")",
    rf"{{1}}; {SAID}: nan; ",
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


def uncounted(rows: "pl.DataFrame") -> "pl.DataFrame":
    """The rows, those that are messages with nothing beside that: a counter in one may count anything."""
    import polars as pl  # only who reads a log pays for it

    if SAID not in rows.columns:
        return rows
    return rows.with_columns(pl.when(pl.col(SAID).is_null()).then(pl.exclude(SAID)))


def remarks(rows: "pl.DataFrame") -> Iterator[Remark]:
    """How many rows are messages."""
    if SAID in rows.columns:
        yield Remark("nan_told", {"count": rows[SAID].count()})


def told(rows: "pl.DataFrame", messages: "pl.Series", loss: str = "loss") -> "pl.DataFrame":
    """The rows with NaN as the loss where a message says so, and without the messages.

    A message belongs to the step after the row above it. Where the next row is of that step, the first such
    message alone makes its loss NaN: the others would hide the course of the loss. One above the first loss
    may be about a setting, and is passed over.

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
    step += counts.cast(step.dtype)
    places = pl.int_range(len(rows), eager=True)
    below = places.set(messages, None).backward_fill()  # the row below a message
    taken = counts & (step == step[below.fill_null(0)]) & below.is_not_null()
    nan = counts & ~taken | places.is_in(below.filter(taken).head(1).implode())
    nans = pl.repeat(float("nan"), len(rows), eager=True)
    rows = rows.with_columns(
        step.zip_with(messages, rows["step"]), nans.zip_with(nan, rows[loss]).alias(loss)
    )
    return rows.filter(~messages | counts & ~taken)
