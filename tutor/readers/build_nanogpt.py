"""build-nanogpt: its output, `step 20 | loss: 7.66 | lr 6e-04 | norm: 0.43 | ...`, and its `log.txt`.

torchtune prints the same shape, `Step 20 | loss:2.1 lr:1e-4 grad_norm:0.5`. The loss of either is the mean
over the micro-batches of its step, the norm that before clipping.
Sources: train_gpt2.py (`loss_accum`), torchtune's recipes/full_finetune_single_device.py (`running_loss`)
"""

from pathlib import Path
from typing import TYPE_CHECKING

from tutor.readers.common import not_finite
from tutor.readers.common.lines import NUMBER, Line, Lines, either, has
from tutor.readers.common.textlog import TextLog
from tutor.readers.source import Source

if TYPE_CHECKING:
    import polars as pl

_STEP = r"^\s*step\s+(?P<step>[0-9]+)\s*\|"
_PRINTED = either(rf"^\s*step\s+[0-9]+\s*\|\s*loss:?\s*{NUMBER}")
_FIELD = rf"(?P<name>[a-z_/]+):?\s*(?P<value>{NUMBER})"
_VALIDATED = rf"^validation loss:\s*(?P<val_loss>{NUMBER})"
_TRAINED = rf"^\s*(?P<step>[0-9]+) train (?P<loss>{NUMBER})\s*$"
_HELD_OUT = rf"^\s*(?P<step>[0-9]+) val (?P<val_loss>{NUMBER})\s*$"
_FILE = either(_TRAINED, _HELD_OUT)


def _tidy(rows: "pl.DataFrame") -> "pl.DataFrame":
    """The rows with a loss; a validation is printed before the row of its step."""
    import polars as pl  # only who reads a log pays for it

    rows = not_finite.told(*not_finite.parted(rows))
    if "loss" not in rows.columns:
        return rows.clear()
    if "val_loss" in rows.columns:
        loss, held_out, row = pl.col("loss").is_not_null(), pl.col("val_loss"), pl.int_range(pl.len())
        last, before = (pl.when(one).then(row).forward_fill() for one in (held_out.is_not_null(), loss))
        fresh = last > before.shift().fill_null(-1)
        rows = rows.with_columns(pl.when(fresh).then(held_out.forward_fill()))
    return rows.drop_nulls("loss")


_OUTPUT = Lines(
    (Line(_VALIDATED), Line(_STEP, _FIELD), Line(not_finite.PAIR)),
    phrases=(not_finite.PHRASE,),
    tidy=_tidy,
    remarks=not_finite.remarks,
)
_FILED = Lines((Line(_TRAINED), Line(_HELD_OUT)))


def sources(path: Path) -> list[Source]:
    """A file with such lines."""
    if has(path, _PRINTED):
        return [TextLog(path, "build-nanogpt's or torchtune's output", _OUTPUT)]
    if has(path, _FILE):
        return [TextLog(path, "build-nanogpt's log.txt", _FILED)]
    return []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
