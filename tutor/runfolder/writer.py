"""The record: a run folder as it is written.

`manifest.json` comes first and at once; `metrics.jsonl` then grows by whole rows. Whatever ends the run,
what is there can be read: after kill -9 at most the last row is torn, after a full disk none is.
"""

import json
import math
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from tutor import plainfile
from tutor.runfolder import COMMAND, MANIFEST, METRICS, SENTENCES, TRUTH
from tutor.runfolder.truth import digest


class RunExistsError(ValueError):
    """The folder is taken: a run is never overwritten."""


class DiskFullError(Exception):
    """No room, or no right, to write on; `str()` is one line for the user."""


class Record:
    """The writing end of a run folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._rows = rows_in(folder)
        self._file = os.open(folder / METRICS, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    @staticmethod
    def refuse_taken(folder: Path, way_out: str = "") -> None:
        """Raise RunExistsError, which names the `way_out`, where there is something at `folder`."""
        if folder.exists() and not is_empty(folder):
            raise RunExistsError(f"{_taken(folder)}{way_out}")

    @classmethod
    def create(
        cls,
        folder: Path,
        manifest: Mapping[str, Any],
        sentences: Iterable[str] | None = None,
        truth: Mapping[str, Any] | None = None,
    ) -> "Record":
        """A new run folder.

        Args:
            folder: where; nothing may be there.
            manifest: with the `command` that began the run, where that is known.
            sentences: those it is trained on; None where they aren't known.
            truth: what a sealed run's manifest keeps to itself.

        Raises:
            RunExistsError: there is something at `folder`.
            DiskFullError: it can't be written.
        """
        try:
            folder.mkdir(parents=True, exist_ok=is_empty(folder))
        except FileExistsError:
            raise _taken(folder) from None
        except OSError as error:
            raise DiskFullError(f"{folder} can't be made: {error.strerror}") from None
        try:
            if truth is not None:
                told = _json(truth)
                _write(folder / TRUTH, told)
                manifest = {**manifest, "seal": digest(told.encode())}
            _write(folder / MANIFEST, _json(manifest))
            if "command" in manifest:
                _write(folder / COMMAND, f"{manifest['command']}\n")
            if sentences is not None:
                _write(folder / SENTENCES, "".join(f"{sentence}\n" for sentence in sentences))
            return cls(folder)
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)  # made here, and there is no run in it
            raise DiskFullError(f"{folder} can't be written: {error.strerror}") from None

    @classmethod
    def reopen(cls, folder: Path, rows: int) -> "Record":
        """An interrupted run, cut back to its first `rows` rows."""
        kept = first_lines(folder, rows)
        try:
            plainfile.replace(folder / METRICS, b"".join(kept))
        except OSError as error:
            raise DiskFullError(f"{folder} can't be written: {error.strerror}") from None
        return cls(folder)

    def append(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write the rows, each whole.

        Raises:
            DiskFullError: there is no room; the part that went in is taken back.
        """
        self.copy([encode(row) for row in rows])

    def copy(self, lines: Sequence[bytes]) -> None:
        """Write rows that were encoded before, each whole.

        Raises:
            DiskFullError: there is no room; the part that went in is taken back.
        """
        text = b"".join(lines)
        end = os.fstat(self._file).st_size
        try:
            while text:
                text = text[os.write(self._file, text) :]
        except OSError as error:
            os.ftruncate(self._file, end)
            raise DiskFullError(self.stopped(error)) from None
        self._rows += len(lines)

    def stopped(self, error: OSError) -> str:
        """What to tell when nothing more can be written."""
        reason = (error.strerror or str(error)).lower()
        readable = f"the run is readable up to step {self._rows - 1}" if self._rows else "no step was written"
        return f"{reason} at step {self._rows}: {readable} ({self.folder})"

    def close(self) -> None:
        """Write no more."""
        os.close(self._file)


def rows_in(folder: Path) -> int:
    """How many whole rows the log of the run in `folder` has; 0 where there is no log."""
    return sum(1 for _ in _lines(folder))


def first_lines(folder: Path, rows: int) -> list[bytes]:
    """The first `rows` rows of the log of the run in `folder`, as they stand there."""
    return list(islice(_lines(folder), rows))


def encode(row: Mapping[str, Any]) -> bytes:
    """One line of strict JSON; NaN and Inf as the strings of proto3 JSON, since bare NaN isn't JSON."""
    return (
        json.dumps(_plain(row), separators=(",", ":"), allow_nan=False, ensure_ascii=False).encode() + b"\n"
    )


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        if math.isfinite(value):
            return float(f"{value:.9g}")  # nine digits hold any fp32 exactly; float() keeps the point
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return {key: _plain(item) for key, item in value.items()} if isinstance(value, dict) else value


def is_empty(folder: Path) -> bool:
    """Whether it is a folder with nothing in it; one that can't be looked into is none."""
    try:
        return folder.is_dir() and not any(folder.iterdir())
    except OSError:
        return False


def _taken(folder: Path) -> RunExistsError:
    return RunExistsError(f"{folder} exists, and a run is never overwritten: choose another folder")


def _lines(folder: Path) -> Iterable[bytes]:
    """The whole rows written so far."""
    path = folder / METRICS
    if path.is_file():
        with path.open("rb") as file:
            yield from (line for line in file if line.endswith(b"\n"))


def _json(data: Mapping[str, Any]) -> str:
    return json.dumps(_keyed(data), indent=1, ensure_ascii=False, default=_in_words) + "\n"


def _keyed(value: Any, around: frozenset[int] = frozenset()) -> Any:
    """The value with its keys as words, as JSON has them, whatever its owner took for keys.

    What holds itself ends there: training goes on, whatever a setting is.
    """
    if not isinstance(value, Mapping | list | tuple):
        return value
    if id(value) in around:
        return "..."
    around |= {id(value)}
    if isinstance(value, Mapping):
        return {str(key): _keyed(held, around) for key, held in value.items()}
    return [_keyed(held, around) for held in value]


def _in_words(value: Any) -> Any:
    """A setting that JSON has no form for, as a path or a dtype: its numbers, or what it prints as."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _write(path: Path, text: str) -> None:
    """All of the file or nothing."""
    plainfile.replace(path, text.encode())
