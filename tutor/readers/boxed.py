"""Boxes of a name and a value a line: stable-baselines3 and Spinning Up print one for each rollout or epoch.

    ---------------------------------
    | rollout/           |          |
    |    ep_rew_mean     | 21.5     |
    | train/             |          |
    |    loss            | 12.1     |
    ---------------------------------

A name under a section has that in front, as in `progress.csv`: `rollout/ep_rew_mean`. Boxes in a row about
the same step, of a rollout and of its evaluation, are one row; what stands between boxes is passed over.
Sources: stable_baselines3/common/logger.py (HumanOutputFormat), spinup/utils/logx.py (`dump_tabular`),
openai/baselines' logger.py
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tutor import packed
from tutor.readers import stable_baselines3
from tutor.readers.common.lines import COLOURS, LONGEST, LOOKED_AT, has
from tutor.readers.common.rows import Row, number, run_of
from tutor.readers.common.trainers import WINDOW
from tutor.readers.source import Source
from tutor.run import Run, limits, names, scoring

_NAMED = re.compile(r"^\s*\|\s*(?P<name>[^\s|][^|]*?)\s*\|\s*(?P<value>[^|]*?)\s*\|\s*$")
_EDGE = re.compile(r"\s*[-=]{5,}\s*")
_ANY = re.compile(_NAMED.pattern, re.MULTILINE)
_COLOUR = re.compile(COLOURS)
_FEW = 2
"""Boxes with a loss or a reward, at least."""


@dataclass(frozen=True)
class Boxes:
    """A run in such boxes."""

    path: Path
    format: str = "boxes of names and values"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """Its values say nothing of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole."""
        rows = list(_rows(packed.read(self.path, limits.PACKED)[0]))
        ours = any(stable_baselines3.knows(tuple(row)) for row in rows)
        means = ours and not any("train/clip_range" in row for row in rows)
        return run_of(rows, self.path, name=self.path.name, aggregations={"loss": WINDOW} if means else {})


def sources(path: Path) -> list[Source]:
    """A file with boxes that have a counter and a loss, or a reward."""
    if not has(path, _ANY):
        return []
    found = sum(_tells(row, path) for row in _rows(packed.head(path, LOOKED_AT)))
    return [Boxes(path)] if found >= _FEW else []


def _tells(row: Row, path: Path) -> bool:
    signals = set(names.mapping(row, path).values())
    return "step" in signals and ("loss" in signals or any(map(scoring.is_reward, row)))


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Boxes without a loss are no log that lacks something: a table of settings looks like one."""
    return None


def _rows(data: bytes) -> Iterator[Row]:
    """A row for each box, or for those in a row about the same step.

    A first one that has no counter is cut off above, its sections, too: it is left out.
    """
    row: dict[str, float] = {}
    for place, box in enumerate(_boxes(data)):
        counter = next((name for name, signal in names.known(box).items() if signal == "step"), None)
        if counter is None and not place:
            continue
        if row and (counter is None or row.get(counter) != box[counter]):
            yield row
            row = {}
        row |= box
    if row:
        yield row


def _boxes(data: bytes) -> Iterator[dict[str, float]]:
    """The numbers of each box by their names; the last may be cut off."""
    box: dict[str, float] = {}
    section = ""
    lines = data.replace(b"\r", b"\n").decode("utf-8", "replace").splitlines()
    for line in (_COLOUR.sub("", one[:LONGEST]) for one in lines):
        if found := _NAMED.match(line):
            name = found["name"]
            if name.endswith("/") and not found["value"]:
                section = name
            elif (value := number(found["value"])) is not None:
                box[section + name] = value
        elif _EDGE.fullmatch(line):
            if box:
                yield box
            box, section = {}, ""
    if box:
        yield box
