"""`monitor.csv` of stable-baselines3 and OpenAI's baselines: a row for each episode of an environment.

Below a line of JSON, `#{"t_start": ..., "env_id": ...}`, stand the episode's reward, its length in steps and
the seconds since the start: `r,l,t`, and whatever else was asked for. Where training goes on, rows are
appended. A step of the run is one of the environment: that at which the episode ended. The length is in it,
then, and the seconds answer nothing.
Sources: stable_baselines3/common/monitor.py (ResultsWriter), baselines/bench/monitor.py
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from tutor import packed
from tutor.readers.common.rows import Row, number, run_of
from tutor.readers.source import Source, head
from tutor.run import Run, limits

_REWARD, _LENGTH, _SECONDS = "r", "l", "t"


@dataclass(frozen=True)
class Monitor:
    """The episodes of one environment."""

    path: Path
    format: str = "stable-baselines3's monitor.csv"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """Its rewards say nothing of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole."""
        lines = packed.read(self.path, limits.PACKED)[0].decode("utf-8", "replace").splitlines()
        episodes = [*_episodes(lines)]
        ends = accumulate(episode.pop(_LENGTH) for episode in episodes)
        rows = [_row(end, episode) for end, episode in zip(ends, episodes, strict=True)]
        return run_of(rows, self.path, name=self.path.name)


def _row(end: float, episode: dict[str, float]) -> Row:
    rest = {name: value for name, value in episode.items() if name not in (_REWARD, _SECONDS)}
    return {"step": end, "episode_reward": episode.get(_REWARD), **rest}


def _episodes(lines: list[str]) -> Iterator[dict[str, float]]:
    """What each whole line holds below the heading, as far as it is a number."""
    columns = _columns(lines[1])
    for line in lines[2:]:
        cells = line.split(",")
        given = {
            column: value
            for column, cell in zip(columns, cells, strict=False)
            if (value := number(cell)) is not None
        }
        if len(cells) == len(columns) and 0 < given.get(_LENGTH, 0) < math.inf:
            yield given


def _columns(heading: str) -> list[str]:
    return [cell.strip() for cell in heading.split(",")]


def sources(path: Path) -> list[Source]:
    """A file that begins with a line of JSON behind `#`, and that heading."""
    if not path.is_file():
        return []
    first, _, rest = head(path).decode("utf-8", "replace").lstrip("\ufeff").partition("\n")
    columns = _columns(rest.partition("\n")[0])
    known = first.startswith("#{") and {_REWARD, _LENGTH, _SECONDS}.issubset(columns)
    return [Monitor(path)] if known else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
