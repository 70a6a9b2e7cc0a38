"""The cases: sealed runs that ship, one for each row of `trees/cases.csv`. The table tells what was put into
each: who wants to practise doesn't read it.

    python -m tutor.lab.cases                those that are missing, into runs/
    python -m tutor.lab.cases case-03        that one
"""

import argparse
import csv
import gzip
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from tutor import card as cards
from tutor import paths, plainfile, readers, terminal, tree, walk
from tutor.card import Card, Expect, Plan, Role, resolve
from tutor.lab.assembly import assemble
from tutor.lab.command import look_for
from tutor.lab.loop import train
from tutor.lab.manifest import Purpose
from tutor.opening import FIRST
from tutor.run import BadRunError
from tutor.runfolder import CHECKPOINTS, METRICS, PACKED, PACKED_SENTENCES, SENTENCES
from tutor.saying import verdict_of

Cast = Literal["break", "control", "plain"]


@dataclass(frozen=True)
class Case:
    """A row of the table.

    Attributes:
        name: the run's, neutral.
        break_name: of its card, "" for a plain run.
        role: its part beside the other runs of that break.
        seed: of its weights and batches.
        steps: so many.
        tree: in which its walk ends; `leaf` the id of the leaf.
    """

    name: str
    break_name: str
    role: Cast
    seed: int
    steps: int
    tree: str
    leaf: str

    @property
    def opens(self) -> str:
        """The tree in which a walk over it begins."""
        return self.tree if self.tree == tree.BY_HAND else FIRST


def table() -> Path:
    """Where the table lies."""
    return paths.shipped() / "trees" / "cases.csv"


def cases(path: Path) -> Iterator[Case]:
    """The rows of the table at `path`."""
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            role: Any = row["role"]
            assert role in get_args(Cast), f"{path}: {role!r} is no role"
            numbers = int(row["seed"]), int(row["steps"])
            yield Case(row["case"], row["break"], role, *numbers, row["tree"], row["leaf"])


def _card(case: Case) -> Card | None:
    return cards.find(case.break_name) if case.break_name else None


def _changes(case: Case) -> dict[str, Any]:
    return {"seed": case.seed, "steps": case.steps, "device": "cpu", "threads": 1}


def planned(case: Case) -> Plan:
    """What the run of the case is to be, as its card is now."""
    return resolve(_card(case), control=case.role == "control", changes=_changes(case))


def record(case: Case, folder: Path) -> None:
    """Train the case into `folder`, which mustn't exist, and pack its log and its sentences.

    Raises:
        ValueError: `folder` exists, or a fault can't be applied.
    """
    card, changes, plan = _card(case), _changes(case), planned(case)
    role: Role = case.role
    purpose = Purpose(
        command=f"python -m tutor.lab.cases {case.name}",
        break_name=card.asked_as if card else None,
        role=role,
        changes=changes,
        sealed=look_for(card, Expect(tree=case.tree, leaf=(case.leaf,))),
        opens=case.opens,
    )
    train(assemble(plan.settings, plan.trigger, plan.faults), out=folder, name=case.name, purpose=purpose)
    shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)  # the log says at which steps there were some
    for plain, packed in ((METRICS, PACKED), (SENTENCES, PACKED_SENTENCES)):
        plainfile.replace(folder / packed, gzip.compress((folder / plain).read_bytes(), mtime=0))
        (folder / plain).unlink()


def ends(case: Case, folder: Path) -> tuple[str, str, str]:
    """Where a walk over the recorded case with nobody watching ends: the tree, the leaf and the verdict."""
    stages = walk.chain(readers.read(folder), tree.find(case.opens), tree.find)
    if case.opens == tree.BY_HAND:
        stages = stages[:1]
    end = walk.first_found(stages).walk
    return end.tree.tree, end.at, verdict_of(stages)


def main(names: list[str], table: Path, runs: Path) -> int:
    """Record the cases named, or all that are missing; 1 where a walk ends elsewhere than the table says."""
    wanted = [case for case in cases(table) if case.name in names or not names]
    failed = len(names) > len(wanted)
    if failed:
        terminal.refuse(f"{table} has no such case: {', '.join(set(names) - {one.name for one in wanted})}")
    for case in wanted:
        folder = runs / case.name
        try:
            if not folder.exists():
                record(case, folder)
            reached = ends(case, folder)
        except (ValueError, OSError, BadRunError) as error:
            terminal.refuse(f"{case.name}: {error}")
            failed = True
            continue
        if reached[:2] == (case.tree, case.leaf) and reached[2] != "undecided":
            terminal.tell(f"{case.name}: its walk ends where it should")
        else:
            terminal.refuse(f"{case.name}: its walk ends at {reached[1]} of {reached[0]}, {reached[2]}")
            failed = True
    return int(failed)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tutor.lab.cases", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a case; without one all that are missing")
    parser.add_argument("--runs", type=Path, default=paths.shipped() / "runs", help="where to record them")
    given = parser.parse_args()
    sys.exit(main(given.names, table(), given.runs))
