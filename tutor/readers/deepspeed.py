"""DeepSpeed's output: `step=10, skipped=6, lr=[...]`, messages of overflow, and what two trainers print.

The engine itself prints no loss: a loop may do so below its line, as in DeepSpeed's tutorial. That of its
pipelines, `steps: 10 loss: 2.5 iter time (s): ...`, is the mean over the micro-batches of the step, and so is
DeepSpeed-Chat's `act_loss` over the step's inner ones.
Sources: deepspeed/runtime/engine.py (`_report_progress`), deepspeed/runtime/fp16/loss_scaler.py,
deepspeed/runtime/pipe/engine.py (`train_batch`), DeepSpeedExamples' HelloDeepSpeed
"""

from pathlib import Path
from typing import TYPE_CHECKING

from tutor.readers import printed
from tutor.readers.common.lines import NUMBER, Line, Lines, either, has
from tutor.readers.common.overflows import after_the_last
from tutor.readers.common.textlog import TextLog
from tutor.readers.megatron import LINE as MEGATRON
from tutor.readers.source import Source

if TYPE_CHECKING:
    import polars as pl

_STEP = rf"\bstep=(?P<step>[0-9]+), skipped=(?P<skipped_steps>[0-9]+), lr=\[?(?P<lr>{NUMBER})"
SCALE = rf"Attempted loss scale: {NUMBER}, reducing to (?P<loss_scale>{NUMBER})"
_STAYS = rf"Attempted loss scale: (?P<loss_scale>{NUMBER}), but hysteresis"
_PIPE = rf"\bsteps: (?P<step>[0-9]+) loss: (?P<loss>{NUMBER}) iter time \(s\):"
_CHAT = rf"^epoch: [0-9]+\|step: (?P<step>[0-9]+)\|.*?\bact_loss: (?P<loss>{NUMBER})"
_BELOW = rf"(?:^|\] |- |\| )loss: (?P<loss>{NUMBER})\s*$"  # a word before it would say which other one it is
_WITH_LOSS, _WITHOUT = either(_CHAT, _PIPE), either(_STEP)
_PRINTED = either(rf"\b(?:epoch|step|iter(?:ation)?)\b[^\n]{{0,200}}\bloss\b[\"']?\s*[:=]\s*{NUMBER}")


def _tidy(rows: "pl.DataFrame") -> "pl.DataFrame":
    """The rows with a step, with the loss right below them, and the overflows after the last of them; the
    scale is that of the last message before.
    """
    import polars as pl  # only who reads a log pays for it

    scale = rows["loss_scale"] if "loss_scale" in rows.columns else pl.Series(dtype=pl.Float64)
    if "loss" in rows.columns and "step" in rows.columns:
        below = pl.when(pl.col("step").shift(-1).is_null()).then(pl.col("loss").shift(-1))
        rows = rows.with_columns(pl.coalesce("loss", below))

    if "loss_scale" in rows.columns and "skipped_steps" in rows.columns:
        stepped = pl.col("skipped_steps").is_not_null()
        rows = rows.with_columns(pl.when(stepped).then(pl.col("loss_scale").forward_fill()))
    if "step" not in rows.columns:
        return rows.clear()
    numbered = rows["step"].is_not_null().arg_true()
    last = scale[int(numbered[-1]) + 1 :].drop_nulls() if len(numbered) else scale.clear()
    return after_the_last(rows.drop_nulls("step"), last)


_KINDS = (_STAYS, SCALE, _CHAT, _PIPE, _STEP, _BELOW)
_LINES = Lines(tuple(Line(kind) for kind in _KINDS), tidy=_tidy)


def sources(path: Path) -> list[Source]:
    """A file with such a line, unless Megatron's rows or those of a loop that prints a loss say more."""
    if has(path, MEGATRON):
        return []
    mine = has(path, _WITH_LOSS) or (
        has(path, _WITHOUT) and not (has(path, _PRINTED) and printed.sources(path))
    )
    return [TextLog(path, "DeepSpeed's output", _LINES)] if mine else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
