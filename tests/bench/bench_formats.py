"""`tutor check` on long logs of each text format, against polars reading the same columns.

JSON lines and CSV polars reads by itself; of other text it reads the lines and finds each column by a
regular expression. TensorBoard's files are read beside TensorBoard's own loader, where it is installed. All
are whole processes, in turn, by the clock: polars' with its own start and import, and what it reads is thrown
away; ours with two trees walked over it too.
"""

import gzip
import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.bench.start import installed
from tests.bench.table import Read
from tests.bench.texts import TEXTS, Text

LENGTH = 1_000_000
LONG = 500_000_000  # bytes
EVENTS = 100_000
BOUND = 2.5
PAIRS = 3
UNDECIDED = 3
"""The exit code of a healthy log without a validation loss, however long it is."""

_LOADING = """
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
loader = EventAccumulator({path!r}, size_guidance={{"scalars": 0, "tensors": 0}})
loader.Reload()
for tag in loader.Tags()["scalars"]:
    loader.Scalars(tag)
"""


def process(*words: str, code: int = 0) -> tuple[float, int]:
    """Seconds and the most memory, in bytes, of a whole process, which has to end with this code."""
    begun = time.perf_counter()
    command = [sys.executable, *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=installed()) as started:
        _, status, used = os.wait4(started.pid, 0)
        seconds = time.perf_counter() - begun
        started.returncode = os.waitstatus_to_exitcode(status)
    if started.returncode != code:
        raise RuntimeError(f"{words} ended with {started.returncode}")
    return seconds, used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def read(
    what: str, path: Path, length: int, reading: str, *, at_most: float = BOUND, pairs: int = PAIRS
) -> Read:
    """The log at `path` checked, and read by the program `reading`."""
    taken = [
        (process("-m", "tutor", "check", str(path), code=UNDECIDED), process("-c", reading))
        for _ in range(pairs)
    ]
    return Read(
        what,
        length,
        path.stat().st_size,
        ours=tuple(ours for (ours, _), _ in taken),
        theirs=tuple(theirs for _, (theirs, _) in taken),
        memory=max(memory for (_, memory), _ in taken),
        at_most=at_most,
    )


def text(folder: Path, name: str, length: int = LENGTH, pairs: int = PAIRS) -> Read:
    """A log of that format."""
    path = TEXTS[name].write(folder, length)
    try:
        return read(name, path, length, TEXTS[name].reading(path), pairs=pairs)
    finally:
        path.unlink()


def packed(folder: Path, name: str) -> Read:
    """A log of that format, packed; polars reads it unpacked."""
    path = TEXTS[name].write(folder, LENGTH)
    small = path.with_name(f"{path.name}.gz")
    with path.open("rb") as plain, gzip.open(small, "wb", compresslevel=6) as file:
        shutil.copyfileobj(plain, file)
    return read(f"{name}, packed", small, LENGTH, TEXTS[name].reading(path), at_most=2 * BOUND)


def length_of(made: Text, size: int) -> int:
    """How many rows of a format take so many bytes."""
    return size // (len(made.line(LENGTH, 2 + 1 / 7, 1 / 7)) + 1)


def events(folder: Path) -> list[Read]:
    """TensorBoard's file, written by its own writer; nothing where it isn't installed."""
    if importlib.util.find_spec("tensorboard") is None:
        print("TensorBoard isn't installed: its files are left out", file=sys.stderr)
        return []
    module: Callable[[str], Any] = importlib.import_module  # untyped, and not always there
    message = module("tensorboard.compat.proto.event_pb2").Event
    summary = module("tensorboard.compat.proto.summary_pb2").Summary
    writer = module("tensorboard.summary.writer.event_file_writer").EventFileWriter(str(folder / "events"))
    for step in range(EVENTS):
        values = {"train/loss": 2.0 + 8.0 / (1 + step / 1000), "train/grad_norm": 0.5, "train/lr": 3e-4}
        held = [summary.Value(tag=tag, simple_value=value) for tag, value in values.items()]
        writer.add_event(message(wall_time=step, step=step, summary=summary(value=held)))
    writer.close()
    (path,) = (folder / "events").iterdir()
    return [read("TensorBoard", path, EVENTS, _LOADING.format(path=str(path)), at_most=1.0)]


def rows() -> list[Read]:
    """The benchmark's rows."""
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept)
        short = [text(folder, name) for name in TEXTS]
        long = [
            text(folder, name, length_of(TEXTS[name], LONG), pairs=1)
            for name in ("nanoGPT", "Megatron-LM", "CSV")
        ]
        return [*short, *long, packed(folder, "nanoGPT"), *events(folder)]
