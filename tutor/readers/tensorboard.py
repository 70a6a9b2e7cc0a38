"""TensorBoard's event files: scalars by tag, at the step of their event.

A file is records, each its length, a checksum, an `Event` message and a checksum. The values are float32.
What one stands for, the tags tell: see `common/trainers.py`.
Source: TensorFlow's tensorflow/core/util/event.proto, summary.proto and lib/io/record_writer.h.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tutor import packed
from tutor.packed import Stream
from tutor.readers.common.protobuf import fields
from tutor.readers.common.rows import Row, run_of
from tutor.readers.source import Source
from tutor.run import Remark, Run, limits
from tutor.run.remark import packed_torn

_MARK = "tfevents"
_VERSION = b"brain.Event:"
_FIRST = 64  # bytes in which the first record lies
_STEP, _SUMMARY = 2, 5  # of an Event
_VALUE = 1  # of a Summary
_TAG, _SIMPLE, _TENSOR = 1, 2, 8  # of a Value
_CONTENT, _FLOATS, _DOUBLES = 4, 5, 6  # of a TensorProto
_MOST = 2**28  # bytes of one record


@dataclass(frozen=True)
class Events:
    """A run in an event file."""

    path: Path
    format: str = "a TensorBoard event file"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """An event file says nothing of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole; a remark says where the file is torn."""
        remarks: list[Remark] = []
        rows = list(_rows(self.path, remarks))
        return run_of(rows, self.path, name=self.path.name, remarks=remarks)


def _rows(path: Path, remarks: list[Remark]) -> Iterator[Row]:
    """Each event's scalars; those of one step come together."""
    for record in _records(path, remarks):
        step, scalars = 0, dict[str, float]()
        try:
            for number, value in fields(record):
                if number == _STEP and isinstance(value, int):
                    step = value
                elif number == _SUMMARY and isinstance(value, bytes):
                    scalars.update(_scalars(value))
        except ValueError:
            continue  # one event that isn't as it should be hides no other
        if scalars:
            yield {"step": step, **scalars}


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
    return [Events(path)] if path.is_file() and (_MARK in path.name or _begins(path)) else []


def _begins(path: Path) -> bool:
    """Whether the first record says of what version the file is."""
    return _VERSION in packed.head(path, _FIRST)


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
