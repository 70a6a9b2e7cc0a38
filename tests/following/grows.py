"""A log that grows row by row in a test, and a clock that goes when it is told to."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

NOW = 1_700_000_000.0


class Clock:
    """Seconds since the epoch."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


class Log:
    """A run folder whose rows come when a test wants them; its files are written at the clock's time."""

    def __init__(self, folder: Path, clock: Clock, manifest: Mapping[str, Any] | None = None) -> None:
        self.folder, self.path, self.clock, self.rows = folder, folder / "metrics.jsonl", clock, 0
        folder.mkdir(parents=True)
        if manifest is not None:
            (folder / "manifest.json").write_text(json.dumps(manifest))

    def add(self, count: int, **values: Any) -> None:
        """So many rows of a healthy run; `values` stand in each in place of what it would have."""
        with self.path.open("a") as file:
            for step in range(self.rows, self.rows + count):
                row = {"step": step, "loss": 2.0 - step / 1000 + (0.02 if step % 2 else -0.02)} | values
                file.write(json.dumps(row) + "\n")
        self.rows += count
        self._touch()

    def write_anew(self, count: int, **values: Any) -> None:
        """The log from its beginning, in place of what it held."""
        self.path.unlink()
        self.rows = 0
        self.add(count, **values)

    def _touch(self) -> None:
        os.utime(self.path, (self.clock.now, self.clock.now))
