"""The atlas's matrix: where a walk of each break, each control and each healthy run ended, seed by seed.

It lies in `trees/atlas.csv`, a row a run, written by `tutor atlas`; nothing in it is typed by hand.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

HEALTHY = "healthy"
"""What the rows of plain runs are called: they belong to no break."""

SHARE = 0.95
"""Of all runs of breaks, so many end at the leaf that their card promises."""

LEAST = 0.8
"""And of every break's runs at least so many: 4 of 5."""

Ran = Literal["break", "control", "plain"]
Promises = Mapping[tuple[str, str], tuple[str, Sequence[str]]]
"""By break, and the tree that is walked by itself ("" for a walk from the first tree on): the tree and the
leaves, one of which its card promises.
"""


@dataclass(frozen=True, order=True)
class Ended:
    """Where the walk over one run ended.

    Attributes:
        name: the break's, or HEALTHY.
        role: its part beside the other runs of that break.
        seed: of its weights and batches.
        steps: how many were trained.
        tree: the one that decided, "" where the run couldn't be made.
        leaf: the id of its leaf, or of the question at which it stood still.
        verdict: "healthy", "flaw" or "undecided".
        failed: why it couldn't be trained or walked, in one line; "" where it could.
        alone: the tree that was walked by itself; "" where the walk began in the first tree.
    """

    name: str
    role: Ran
    seed: int
    steps: int
    tree: str = ""
    leaf: str = ""
    verdict: str = ""
    failed: str = ""
    alone: str = ""

    def kept(self, promises: Promises) -> bool:
        """Whether it ended where it should: a break at its leaf, any other run not called sick."""
        if self.failed:
            return False
        if self.role != "break":
            return self.verdict != "flaw"
        tree, leaves = promises[self.name, self.alone]
        return self.tree == tree and self.leaf in leaves


def read(path: Path) -> list[Ended]:
    """The rows of the table at `path`; none where there is no table.

    Raises:
        ValueError: it isn't such a table; in one line.
    """
    if not path.is_file():
        return []
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return TypeAdapter(list[Ended]).validate_python(list(csv.DictReader(file)))
    except (ValidationError, UnicodeDecodeError, csv.Error):
        raise ValueError(f"{path} is no table of the atlas: move it away, and it is made anew") from None


def write(path: Path, rows: Iterable[Ended]) -> None:
    """Write the rows over those of the same runs at `path`; the others stay, all in order."""
    known = {(row.name, row.role, row.seed, row.alone): row for row in (*read(path), *rows)}
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.new")
    with beside.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, [field.name for field in fields(Ended)], lineterminator="\n")
        table.writeheader()
        table.writerows(asdict(row) for row in sorted(known.values()))
    beside.replace(path)


@dataclass(frozen=True)
class Line:
    """One break, its controls or the healthy runs, over all seeds.

    Attributes:
        name, role, alone: as in `Ended`.
        promise: what it should come to: a tree and its leaf, or "" for runs that aren't to be called sick.
        runs: by seed.
        right: how many ended where they should.
    """

    name: str
    role: Ran
    alone: str
    promise: str
    runs: Sequence[Ended]
    right: int


def lines(rows: Iterable[Ended], promises: Promises) -> list[Line]:
    """The rows as lines of a matrix, by name and role; those of breaks that are gone are left out."""
    groups: dict[tuple[str, Ran, str], list[Ended]] = {}
    for row in sorted(rows):
        if row.name == HEALTHY or (row.name, row.alone) in promises:
            groups.setdefault((row.name, row.role, row.alone), []).append(row)
    found = []
    for (name, role, alone), runs in groups.items():
        tree, leaves = promises.get((name, alone), ("", ()))
        promise = f"{tree} {' or '.join(leaves)}" if role == "break" else ""
        found.append(Line(name, role, alone, promise, runs, sum(run.kept(promises) for run in runs)))
    return found


def below(found: Sequence[Line]) -> list[str]:
    """The bars that a matrix doesn't reach, a sentence each; none where it reaches all."""
    breaks = [line for line in found if line.role == "break"]
    said = [
        f"{line.name}: {line.right} of {len(line.runs)} runs end at {line.promise}; at least "
        f"{LEAST:.0%} should: {_elsewhere(line)}"
        for line in breaks
        if line.right < LEAST * len(line.runs)
    ]
    right, count = sum(line.right for line in breaks), sum(len(line.runs) for line in breaks)
    if right < SHARE * count:
        said.append(f"{right} of {count} runs of breaks end at their leaf; at least {SHARE:.0%} should")
    said += [
        f"{line.name}, {line.role}: {len(line.runs) - line.right} of {len(line.runs)} are called sick"
        f" or failed: {_elsewhere(line)}"
        for line in found
        if line.role != "break" and line.right < len(line.runs)
    ]
    return said


def _elsewhere(line: Line) -> str:
    """Where the runs of a line ended, each place once."""
    places = [run.failed or f"{run.tree} {run.leaf}" for run in line.runs]
    return ", ".join(dict.fromkeys(places))


def markdown(found: Sequence[Line]) -> str:
    """The matrix as a table of Markdown: a row a break, with its control."""
    controls = {(line.name, line.alone): line for line in found if line.role == "control"}
    out = ["| break | its leaf | reached | controls not sick |", "| --- | --- | --- | --- |"]
    for line in (line for line in found if line.role == "break"):
        control = controls.get((line.name, line.alone))
        beside = f"{control.right} of {len(control.runs)}" if control else ""
        out.append(f"| `{line.name}` | {line.promise} | {line.right} of {len(line.runs)} | {beside} |")
    for line in (line for line in found if line.name == HEALTHY):
        out.append(f"| none, healthy | | | {line.right} of {len(line.runs)} |")
    return "\n".join(out) + "\n"
