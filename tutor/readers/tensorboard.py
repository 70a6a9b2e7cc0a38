"""TensorBoard's event files: scalars by tag, at the step of their event.

A file is records, each its length, a checksum, an `Event` message and a checksum. The values are float32.
What one stands for, the tags tell: see `common/trainers.py`.

The files in one folder are one run, as they are to TensorBoard: each start of a training writes one of its
own. In the order of the times in their names, a tag that a later one logs from a step on replaces what an
earlier one had logged of it from that step on; a start that says at which step it is replaces every tag.
Folders that hold a set of data each, `train` and `validation`, are one run, too.
Sources: TensorFlow's tensorflow/core/util/event.proto, summary.proto and lib/io/record_writer.h;
TensorBoard's data/server/reservoir.rs (preemption) and backend/event_processing/plugin_event_accumulator.py
(`_CheckForRestartAndMaybePurge`)
"""

import math
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from pathlib import Path

from tutor import packed
from tutor.packed import Stream
from tutor.readers.common import byset
from tutor.readers.common.protobuf import fields
from tutor.readers.common.rows import run_of
from tutor.readers.source import Source
from tutor.run import Remark, Run, limits
from tutor.run.remark import packed_torn

_MARK = "tfevents"
_VERSION = b"brain.Event:"
_FIRST = 64  # bytes in which the first record lies
_STEP, _SUMMARY, _SESSION = 2, 5, 7  # of an Event
_STATUS, _BEGINS = 1, 1  # of a SessionLog, and its value
_VALUE = 1  # of a Summary
_TAG, _SIMPLE, _TENSOR = 1, 2, 8  # of a Value
_CONTENT, _FLOATS, _DOUBLES = 4, 5, 6  # of a TensorProto
_MOST = 2**28  # bytes of one record


Scalars = Mapping[str, float]


@dataclass(frozen=True)
class Events:
    """A run in an event file or, where `path` is a folder, in those that lie in it."""

    path: Path
    format: str = "a TensorBoard event file"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """An event file says nothing of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole; a remark says where a file is torn."""
        remarks: list[Remark] = []
        files = self._files
        events = _merged([_start(file, remarks) for file in files], remarks)
        rows = ({"step": step, **scalars} for step, scalars in events)
        return run_of(rows, self.path, name=self.path.resolve().name, remarks=remarks, file=files[-1])

    @property
    def _files(self) -> list[Path]:
        """In the order of the times in their names."""
        if self.path.is_file():
            return [self.path]
        return sorted((one for one in self.path.iterdir() if _is_named_so(one)), key=_begun)


@dataclass(frozen=True)
class _Start:
    """What one start of a training logged.

    Attributes:
        events: the scalars of each with its step; those of one step come together.
        at: the step at which it says that it begins; None where it doesn't.
    """

    events: Sequence[tuple[int, Scalars]]
    at: int | None

    @property
    def first(self) -> Mapping[str, int]:
        """By tag, the first step of which it logs it."""
        found: dict[str, int] = {}
        for step, scalars in self.events:
            found |= {tag: min(step, found.get(tag, step)) for tag in scalars}
        return found


def _start(path: Path, remarks: list[Remark]) -> _Start:
    events: list[tuple[int, Scalars]] = []
    at = None
    for record in _records(path, remarks):
        step, scalars, begins = 0, dict[str, float](), False
        try:
            for number, value in fields(record):
                if number == _STEP and isinstance(value, int):
                    step = value
                elif number == _SUMMARY and isinstance(value, bytes):
                    scalars.update(_scalars(value))
                elif number == _SESSION and isinstance(value, bytes):
                    begins = dict(fields(value)).get(_STATUS) == _BEGINS
        except ValueError:
            continue  # one event that isn't as it should be hides no other
        at = step if begins and at is None else at
        if scalars:
            events.append((step, scalars))
    return _Start(events, at)


def _merged(starts: Sequence[_Start], remarks: list[Remark]) -> list[tuple[int, Scalars]]:
    """The events of all in the order of their steps, without what a later start has replaced."""
    kept: list[tuple[int, Scalars]] = []
    replaced, restarted = set[int](), False
    for start in starts:
        first, at = start.first, start.at if restarted and start.at is not None else math.inf
        restarted |= start.at is not None  # the first that says so is no restart
        for row, (step, scalars) in enumerate(kept):
            lasting = {
                tag: value for tag, value in scalars.items() if step < min(at, first.get(tag, math.inf))
            }
            if len(lasting) < len(scalars):
                replaced.add(step)
            kept[row] = step, lasting
        # What went back within one file is left to those who read any log that did.
        kept = sorted([*kept, *start.events], key=itemgetter(0)) if kept else [*start.events]
    if replaced:
        remarks.append(Remark("resumed", {"count": len(replaced)}))
    return [(step, scalars) for step, scalars in kept if scalars]


def _records(path: Path, remarks: list[Remark]) -> Iterator[bytes]:
    with Stream(path, limits.STREAMED) as file:
        while head := file.read(12):
            size = struct.unpack("<Q", head[:8])[0] if len(head) == 12 else _MOST + 1
            record = file.read(size + 4) if size <= _MOST else b""
            if len(record) != size + 4:
                remarks.append(Remark("torn_line"))
                return
            yield record[:-4]
        if file.torn:
            remarks.append(packed_torn())


def _scalars(summary: bytes) -> Iterator[tuple[str, float]]:
    for number, value in fields(summary):
        if number == _VALUE and isinstance(value, bytes):
            known = dict(fields(value))
            tag, simple, tensor = known.get(_TAG), known.get(_SIMPLE), known.get(_TENSOR)
            if not isinstance(tag, bytes):
                continue
            if isinstance(simple, bytes) and len(simple) == 4:
                yield tag.decode("utf-8", "replace"), struct.unpack("<f", simple)[0]
            elif isinstance(tensor, bytes) and (scalar := _scalar(tensor)) is not None:
                yield tag.decode("utf-8", "replace"), scalar


def _scalar(tensor: bytes) -> float | None:
    """The number of a tensor of one; None for any other tensor."""
    known = dict(fields(tensor))
    for number, shapes in ((_FLOATS, "f"), (_DOUBLES, "d"), (_CONTENT, "fd")):
        held = known.get(number)
        for shape in shapes:
            if isinstance(held, bytes) and len(held) == struct.calcsize(shape):
                return struct.unpack(f"<{shape}", held)[0]
    return None


def sources(path: Path) -> list[Source]:
    """A file that begins as such or, where it is empty as yet, is named so, as TensorBoard itself goes by."""
    return [Events(path)] if _is_named_so(path) or (path.is_file() and _begins(path)) else []


def joined(found: list[Source]) -> list[Source]:
    """The runs, where the event files of a folder are one, and folders that hold a set of data each."""
    above = {folder for one in found for folder in one.path.parent.parents}
    runs = (
        Events(one.path.parent) if _is_named_so(one.path) else one
        for one in found
        if not (one.path.parent in above and _is_named_so(one.path) and _is_bare(one.path))
    )
    return byset.joined(list({run.path: run for run in runs}.values()))


def _is_bare(file: Path) -> bool:
    """Whether a file has nothing but its version: `add_scalars` logs to folders below that of its own."""
    first = list(islice(_records(file, []), 2))
    return len(first) < 2 and not any(_VERSION not in one for one in first)


def _is_named_so(path: Path) -> bool:
    return _MARK in path.name and path.is_file()


def _begun(file: Path) -> tuple[int, str]:
    """When its writer began, in seconds since the epoch: it stands in the name, behind the mark."""
    digits = re.match(r"\.([0-9]{1,15})", file.name.partition(_MARK)[2])
    return int(digits[1]) if digits else 0, file.name


def _begins(path: Path) -> bool:
    """Whether the first record says of what version the file is."""
    return _VERSION in packed.head(path, _FIRST)


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
