"""Weights & Biases' `.wandb` files: what a run logged, as its client writes it to disk.

Blocks of 32 KiB hold records, whole or in pieces, as LevelDB's log does; a record is a protobuf message, of
which `history` holds one call of `wandb.log`, and `config` what the run was meant to be: keys, and values as
JSON. What a value stands for, the names of the columns tell: see `common/trainers.py`.
Sources: https://github.com/google/leveldb/blob/main/doc/log_format.md, and wandb_internal.proto.
"""

import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tutor import packed
from tutor.readers.common.beside import flat
from tutor.readers.common.protobuf import fields
from tutor.readers.common.rows import Row, configured, run_of
from tutor.readers.source import Source
from tutor.run import Remark, Run, limits
from tutor.run.remark import packed_torn

_MARK = b":W&B"
_HEADER = 7  # bytes of the file's header, and of a record's
_BLOCK = 32_768
_SPOILT, _FULL, _FIRST, _MIDDLE, _LAST = 0, 1, 2, 3, 4
_HISTORY, _CONFIG, _RUN = 2, 5, 17  # of a Record
_RUN_CONFIG = 4  # of a RunRecord
_ITEM, _CALL = 1, 2  # of a HistoryRecord; a ConfigRecord has its items at the same place
_KEY, _NESTED, _VALUE = 1, 2, 16  # of a HistoryItem, and of a ConfigItem


@dataclass(frozen=True)
class Log:
    """A run in a `.wandb` file."""

    path: Path
    format: str = "a .wandb file"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """What the run was meant to be lies among its records: it is read with them."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole; a remark says where the file is torn."""
        data, torn = packed.read(self.path, limits.PACKED)
        remarks: list[Remark] = []
        config: dict[str, object] = {}
        rows = list(_rows(data, config, remarks))
        if torn:
            remarks.append(packed_torn())
        manifest = configured(flat(config).items())
        return run_of(rows, self.path, name=self.path.stem, remarks=remarks, manifest=manifest)


def _rows(data: bytes, config: dict[str, object], remarks: list[Remark]) -> Iterator[Row]:
    """The rows; what the run is configured to be goes into `config`."""
    for record in _records(data, remarks):
        try:
            for number, value in fields(record):
                if not isinstance(value, bytes):
                    continue
                if number == _HISTORY:
                    yield dict(_items(value))
                elif number == _CONFIG:
                    config |= _items(value)
                elif number == _RUN:
                    for part, given in fields(value):
                        if part == _RUN_CONFIG and isinstance(given, bytes):
                            config |= _items(given)
        except ValueError:
            remarks[:] = [Remark("spoilt", unseen=True)]


def _items(history: bytes) -> Iterator[tuple[str, object]]:
    """The keys and values of a call, or of a configuration."""
    for number, item in fields(history):
        if not isinstance(item, bytes):
            continue
        if number == _CALL:
            yield "_step", next((n for f, n in fields(item) if f == 1 and isinstance(n, int)), 0)
        elif number == _ITEM:
            parts = [
                (f, part.decode("utf-8", "replace")) for f, part in fields(item) if isinstance(part, bytes)
            ]
            name = ".".join(part for field, part in parts if field in (_KEY, _NESTED) and part)
            given = next((part for field, part in parts if field == _VALUE), "")
            try:
                yield name, json.loads(given)
            except (ValueError, RecursionError):
                continue


def _records(data: bytes, remarks: list[Remark]) -> Iterator[bytes]:
    """The records; one of which a piece is cut off or spoilt is passed over, and what follows it read."""
    held: bytes | None = None  # None: no record has begun
    lost = 0
    for kind, piece in _pieces(data):
        if kind == _SPOILT:
            held, lost = None, lost + 1
            continue
        held = piece if kind in (_FULL, _FIRST) else held + piece if held is not None else None
        if kind in (_FULL, _LAST) and held is not None:
            if lost:
                remarks[:] = [Remark("spoilt", unseen=True)]
            yield held
            held = None
    if lost and not remarks:
        remarks.append(Remark("torn_line"))


def _pieces(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Kind and bytes of each piece of a record; one whose size or checksum can't be right is spoilt."""
    at = _HEADER
    while at + _HEADER <= len(data):
        left = _BLOCK - at % _BLOCK
        if left < _HEADER:
            at += left
            continue
        checksum, size, kind = struct.unpack("<IHB", data[at : at + _HEADER])
        if size == 0 and kind == 0:  # the rest of a block that was made ahead
            at += left
            continue
        end = at + _HEADER + size
        if kind not in (_FULL, _FIRST, _MIDDLE, _LAST) or size > left - _HEADER or end > len(data):
            yield _SPOILT, b""
            at += left
            continue
        whole = zlib.crc32(data[at + _HEADER - 1 : end]) == checksum  # of the kind and the piece
        yield (kind, data[at + _HEADER : end]) if whole else (_SPOILT, b"")
        at = end


def sources(path: Path) -> list[Source]:
    """A file that begins as such, or the folder of a run with one in it."""
    if path.is_dir():
        return [Log(file) for file in sorted(path.glob("run-*.wandb"))]
    if not path.is_file():
        return []
    return [Log(path)] if packed.head(path, len(_MARK)) == _MARK else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
