"""Megatron: ` iteration 3/ 1000 | ... | lm loss: 4.4E+01 | loss scale: 12.0 | grad norm: 77.5 |`.

The loss is the mean, since the row before, of the steps that weren't skipped. Where it isn't finite or every
step was skipped, the field is missing, and so it is here: a NaN norm, or the count of skipped iterations,
tells which. The norm is that of the last step before clipping. GPT-NeoX prints the same rows and calls the
loss `lm_loss`. Both print their arguments above the first row, `clip_grad ....... 1.0`.
Sources: Megatron-LM's megatron/training/training.py (`training_log`, `evaluate_and_print_results`) and
megatron/training/arguments.py (`_print_args`, `_vocab_size_with_padding`), GPT-NeoX's megatron/logging.py
(`training_log`) and megatron/training.py (`evaluate_and_print_results`)
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tutor.readers.common import not_finite
from tutor.readers.common.lines import NUMBER, Line, Lines, either, has
from tutor.readers.common.textlog import TextLog
from tutor.readers.source import Source
from tutor.run import Aggregation, names

if TYPE_CHECKING:
    import polars as pl

AGGREGATIONS = {"loss": Aggregation("window", shows_nan=False)}

_LINE = r"\biteration\s+(?P<step>[0-9]+)/\s*(?P<total_steps>[0-9]+) \|"
_FIELD = (
    r"\|\s*(?P<name>lm[ _-]loss|loss|learning rate|loss scale|grad norm|number of skipped iterations)"
    rf":\s*(?P<value>{NUMBER})\s"
)
_SKIPS = "number of skipped iterations"
_VALIDATED = (
    r"validation (?:loss|results) at iteration (?P<step>[0-9]+) .*?"
    rf"(?:lm[ _-])?loss value:\s*(?P<val_loss>{NUMBER})"
)
_END = r"\bnumber of (?:skipped|nan) iterations:\s*[0-9]+ *\|"
_ARGUMENT = re.compile(
    r"^[ 0-9:]{0,8} (?P<name>[a-z][a-z0-9_]{1,60}) \.{2,80} ?(?P<value>[^\s.]{1,80}(?:\.[^\s.]{1,80})*)",
    re.MULTILINE,
)
_VOCABULARY = re.compile(r"> padded vocab \(size: [0-9]+\) with [0-9]+ dummy tokens \(new size: ([0-9]+)\)")
_WRAPPED = 8  # lines that one row is broken into at most
LINE = either(_LINE)
_OWN = either(
    _LINE + r".*\b(?:elapsed time|consumed (?:samples|tokens)|samples/sec|lm[ _-]loss|learning rate:)"
)
_WHOLE = either(_END)
_OTHER = either(_LINE, r"^time \(ms\)", r"^\[Rank [0-9]+\]", "validation (?:loss|results) at")


def _unwrapped(lines: Iterable[str]) -> Iterator[str]:
    """The lines; a row that a terminal has broken into several is one of them again."""
    held: list[str] = []
    for line in lines:
        if held:
            follows = "|" in line and len(held) < _WRAPPED and not _OTHER.search(line)
            if follows:
                held.append(line)
            if not follows or _WHOLE.search(line):
                yield "".join(held)
                held = []
            if follows:
                continue
        if LINE.search(line) and not _WHOLE.search(line):
            held = [line]
        else:
            yield line
    if held:
        yield "".join(held)


def _tidy(rows: "pl.DataFrame") -> "pl.DataFrame":
    """The skipped steps counted from the beginning; no norm where it wasn't computed, which prints 0.000."""
    import polars as pl  # only who reads a log pays for it

    rows, messages = not_finite.parted(rows)
    loss = next((column for column, signal in names.known(rows.columns).items() if signal == "loss"), "")
    rows = not_finite.told(rows, messages, loss)
    if _SKIPS in rows.columns:
        rows = rows.rename({_SKIPS: "skipped_steps"}).with_columns(pl.col("skipped_steps").cum_sum())
    if "grad norm" in rows.columns:
        rows = rows.with_columns(pl.when(pl.col("grad norm") != 0).then(pl.col("grad norm")))
    return rows


def _settings(text: str) -> Iterator[tuple[str, str]]:
    """The arguments, each once: some are printed by every rank. The vocabulary is that of the logits."""
    yield from {one["name"]: one["value"] for one in _ARGUMENT.finditer(text)}.items()
    if padded := _VOCABULARY.search(text):
        yield "padded_vocab_size", padded[1]


_LINES = Lines(
    (Line(_VALIDATED), Line(_LINE, _FIELD), Line(not_finite.PAIR)),
    phrases=(not_finite.PHRASE,),
    tidy=_tidy,
    remarks=not_finite.remarks,
    begun=_LINE,
    ended=_END,
    joined=_unwrapped,
)


def sources(path: Path) -> list[Source]:
    """A file with such a line, and a field in it that no other tool has."""
    known = has(path, _OWN)
    return [TextLog(path, "Megatron's output", _LINES, AGGREGATIONS, _settings)] if known else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
