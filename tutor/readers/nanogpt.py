"""nanoGPT's standard output: `iter 110: loss 2.3, time 98ms, mfu 15%`.

The loss is that of the last micro-batch of its step on one rank, noisier than the step's; NaN shows. The loss
of validation is a mean over `eval_iters` batches, and so is that of training beside it, which is the loss
where nothing else prints one, as in the short gpt.py. Others print `10 | loss 9.375 | lr 3e-04` between.
`saving checkpoint to out` follows the evaluation of the weights that it saves, over the one before.
Sources: nanoGPT's train.py, karpathy/ng-video-lecture's gpt.py
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tutor import packed
from tutor.readers.common import not_finite
from tutor.readers.common.lines import NUMBER, Line, Lines, either, has
from tutor.readers.common.textlog import TextLog
from tutor.readers.source import Source
from tutor.run import Checkpoint, Run, limits

_TRAINED = rf"\biter (?P<step>[0-9]+): loss (?P<loss>{NUMBER})"
_EVALUATED = rf"\bstep (?P<step>[0-9]+): train loss (?P<train_loss>{NUMBER}), val loss (?P<val_loss>{NUMBER})"
_BETWEEN = rf"^\s*(?P<step>[0-9]+) \| loss (?P<loss>{NUMBER})"
_FIELD = rf"\| (?P<name>lr|norm) (?P<value>{NUMBER})"
_LINES = Lines(
    (Line(_TRAINED), Line(_EVALUATED), Line(_BETWEEN, _FIELD), Line(not_finite.PAIR)),
    phrases=(not_finite.PHRASE,),
    tidy=lambda rows: not_finite.told(*not_finite.parted(rows)),
    remarks=not_finite.remarks,
)
_EITHER = either(_TRAINED, _EVALUATED)
_MORE = either(_TRAINED + r"[^0-9\n][^\n]*\b(?:lr|learning[ _]rate|(?:grad[_ ]?|g)?norm)\b")
"""A line that says more than nanoGPT does, of a loop of somebody's own: its fields are found by name."""
_VOCABULARY = re.compile(
    r"^(?:found vocab_size = |defaulting to vocab_size of GPT-2 to )([0-9]{1,9})\b", re.M
)
_SAVING = b"saving checkpoint to"
_AT = re.compile(rb"\bstep ([0-9]{1,15}): train loss")
_PIECE = 1_000_000
_BEHIND = 4096
"""Bytes before the line that tells of a checkpoint in which its evaluation stands: it is the line before."""


@dataclass(frozen=True)
class Output(TextLog):
    """What nanoGPT printed."""

    def read(self, since: Run | None = None) -> Run:
        """The run, read whole, with the checkpoint that was saved last."""
        run = super().read(since)
        saved = _last_saved(self.path)
        return run if saved is None else replace(run, checkpoints=(Checkpoint(saved),))


def _last_saved(path: Path) -> int | None:
    """The step whose weights the last checkpoint holds; None where no line tells of one."""
    saved, seen = None, b""
    with packed.Stream(path, limits.STREAMED) as log:
        while piece := log.read(_PIECE):
            seen = seen[-_BEHIND:] + piece
            place = seen.rfind(_SAVING)
            if place > 0 and (evaluated := _AT.findall(seen[max(0, place - _BEHIND) : place])):
                saved = int(evaluated[-1])
    return saved


def _settings(text: str) -> Iterator[tuple[str, str]]:
    """What the lines above the first say of the configuration: the size of the vocabulary."""
    if said := _VOCABULARY.search(text):
        yield "vocab_size", said[1]


def sources(path: Path) -> list[Source]:
    """A file with such a line, and no field in it that nanoGPT doesn't print."""
    known = has(path, _EITHER) and not has(path, _MORE)
    return [Output(path, "nanoGPT's output", _LINES, settings=_settings)] if known else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
