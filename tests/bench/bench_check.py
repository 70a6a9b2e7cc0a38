"""`tutor check` on a log of a million rows, against the time polars takes to read the file.

Both are whole processes, in turn, so that the interpreter's start and the imports count too.
"""

import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.start import installed
from tests.bench.table import Row, paired

LENGTH = 1_000_000
BOUND = 2.5


def write_log(folder: Path, length: int) -> Path:
    """A healthy run of `length` rows, as a user's own trainer may log it."""
    draw = random.Random(0)
    folder.mkdir(exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps({"format": 1, "name": "long", "dtype": "bf16"}))
    with (folder / "metrics.jsonl").open("w") as log:
        for step in range(length):
            row = {
                "step": step,
                "loss": 2.0 + 8.0 / (1 + step / 1000) + draw.gauss(0, 0.05),
                "grad_norm": 0.5 + draw.random() / 5,
                "lr": 3e-4,
                "param_norm": 40.0 + step / length,
                "batch_hash": f"{draw.getrandbits(48):012x}",
                "tokens_per_second": 1e5 + draw.random(),
            }
            log.write(json.dumps(row) + "\n")
    return folder


UNDECIDED = 2
"""The exit code of a healthy log that has no validation loss."""


def seconds(*command: str, code: int = 0) -> float:
    """Wall-clock seconds of a whole process, which has to end with this exit code."""
    begun = time.perf_counter()
    ended = subprocess.run(command, stdout=subprocess.DEVNULL, check=False, env=installed())
    if ended.returncode != code:
        raise RuntimeError(f"{command} ended with {ended.returncode}")
    return time.perf_counter() - begun


def rows() -> list[Row]:
    """The benchmark's row."""
    with tempfile.TemporaryDirectory() as kept:
        folder = write_log(Path(kept), LENGTH)
        read = f"import polars; polars.read_ndjson({str(folder / 'metrics.jsonl')!r})"
        return [
            paired(
                "tutor check on a million rows, against polars reading them",
                lambda: seconds(sys.executable, "-m", "tutor", "check", str(folder), code=UNDECIDED),
                lambda: seconds(sys.executable, "-c", read),
                runs=7,
                at_most=BOUND,
            )
        ]
