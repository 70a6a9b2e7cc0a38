"""What follows of a row's numbers once they were copied out: whether the gradient was clipped, from what."""

import math

from tutor.lab.recorder.digest import spelled
from tutor.runfolder.buffer import Row

_ROUNDING = 1e-4  # two sums of the same squares, in fp32, differ by less


def finished(row: Row, bound: float | None) -> Row:
    """The row with what follows of its numbers, and without the columns of what couldn't be had.

    Args:
        row: as it was measured. `grad_norm` is what the loop gave, before clipping; `grad_norm_clipped` and
            `grad_norm_rest` are of the gradient that the optimizer was given.
        bound: on the gradient's norm, by the settings; None where they name none.
    """
    row = row | _gradient(row.get("grad_norm"), row["grad_norm_clipped"], row["grad_norm_rest"], bound)
    if row.get("worst_tokens"):
        row["worst_tokens"] = [str(token) for token in row["worst_tokens"]]
    if row.get("batch_hash"):
        row["batch_hash"] = spelled(row["batch_hash"])
    return {name: value for name, value in row.items() if value is not None}


def _gradient(before: float | None, after: float, rest: float | None, bound: float | None) -> Row:
    """The norm before clipping, whether there was any, and the norm before it of all but the embedding."""
    if before is None and (bound is None or after < bound * (1 - _ROUNDING)):
        return {"grad_norm": after, "clipped": False, "grad_norm_rest": rest}
    if before is None:  # it was brought down to the bound, from nobody knows where
        return {"grad_norm": None, "clipped": True, "grad_norm_rest": None}
    clipped = after < before * (1 - _ROUNDING) or not math.isclose(after, before, rel_tol=_ROUNDING)
    if not clipped or rest is None:
        return {"clipped": clipped, "grad_norm_rest": rest}
    times = before / after if after else math.nan
    # Clipping Inf leaves 0 of what is finite and NaN of the rest, and clipping NaN leaves NaN of all.
    known = math.isfinite(times) or (math.isinf(before) and not math.isfinite(rest))
    return {
        "clipped": True,
        "grad_norm_rest": (rest * times if math.isfinite(times) else rest) if known else None,
    }
