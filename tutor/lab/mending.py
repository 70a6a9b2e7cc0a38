"""Mending: every fix that a card names, trained on its break and walked, beside the break and its control.

    python -m tutor.lab.mending --seeds 42 --runs build/fixes --table trees/fixes.csv

A fix mends where a walk of the run with it finds no flaw. Its price is what the run ends with, against its
control. Fixes without a change of settings mend the code: their run is the control, which the atlas walks.
Runs that are whole are not trained again. The exit code is 1 where a fix doesn't mend, 130 where it was
stopped.
"""

import argparse
import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from tutor import readers, terminal, verifying
from tutor.card import Card, all_cards, find, promises, resolve
from tutor.lab import workers
from tutor.lab.atlas import walked
from tutor.lab.campaign import STOPPED, Job, run_once
from tutor.lab.progress import INTERRUPTED
from tutor.saying import verdict_of
from tutor.walk import deciding


@dataclass(frozen=True)
class Trial:
    """A run that is to be trained: a break with a fix, or its control (`fix` is then "").

    Attributes:
        walks: the trees that are walked by themselves over it; "" for a walk from the first tree on.
    """

    job: Job
    card: str
    fix: str
    seed: int
    walks: tuple[str, ...] = ("",)


@dataclass(frozen=True)
class Mended:
    """What came of a fix; a run that couldn't be trained has the reason in `verdict`.

    Attributes:
        card, fix: the card's name, and the fix's on it; "" for the control.
        seed: of the run.
        verdict: of a walk with nobody watching: "healthy", "flaw" or "undecided".
        leaf: where that walk ends.
        end: mean loss of the last 50 steps, in nats; "" where it isn't finite.
    """

    card: str
    fix: str
    seed: int
    verdict: str
    leaf: str
    end: float | str

    @property
    def mends(self) -> bool:
        """Whether nothing is found wrong any more."""
        return self.verdict in ("healthy", "undecided")


def trials_of(card: Card, seed: int, runs: Path) -> Iterator[Trial]:
    """The control and every fix of a card that changes settings."""
    common = {"seed": seed, "device": "cpu", "threads": 1}
    changes = {name: fix.change for name, fix in card.fixes.items() if fix.change}
    if not changes:
        return
    walks = ("", *(alone for _, alone in promises([card]) if alone))
    control = resolve(card, control=True, changes=common)
    folder = runs / card.name / str(seed)
    yield Trial(Job(control, card.asked_as, folder / "control"), card.name, "", seed, walks)
    for name, change in changes.items():
        plan = resolve(card, changes={**change, **common})
        yield Trial(Job(plan, card.asked_as, folder / name), card.name, name, seed, walks)


def tried(trial: Trial) -> Mended:
    """Train and walk it."""
    run_once(trial.job)
    run = readers.read(trial.job.out)
    walks = [walked(run, alone) for alone in trial.walks]
    stages = next((stages for stages in walks if verdict_of(stages) == "flaw"), walks[0])
    end = verifying.ending(run)
    verdict, leaf = verdict_of(stages), deciding(stages).walk.at
    return Mended(trial.card, trial.fix, trial.seed, verdict, leaf, "" if end is None else round(end, 4))


def write(table: Path, rows: Sequence[Mended]) -> None:
    """The table, by card, fix and seed; rows of other runs stay."""
    known: dict[tuple[str, str, int], Mapping[str, Any]] = {}
    if table.is_file():
        with table.open(newline="", encoding="utf-8") as file:
            known = {(row["card"], row["fix"], int(row["seed"])): row for row in csv.DictReader(file)}
    known |= {(row.card, row.fix, row.seed): asdict(row) for row in rows}
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [one.name for one in fields(Mended)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(known[key] for key in sorted(known))


def drawn(rows: Sequence[Mended]) -> Table:
    """For people: each fix, where its walk ends, and its price."""
    controls = {(row.card, row.seed): row.end for row in rows if not row.fix}
    table = Table("break", "fix", "seed", "", "ends at", "loss", "control's", box=box.SIMPLE)
    for row in sorted(rows, key=lambda row: (row.card, row.fix, row.seed)):
        if row.fix:
            sign = "✓" if row.mends else "≠"
            control = controls.get((row.card, row.seed), "")
            table.add_row(row.card, row.fix, str(row.seed), sign, row.leaf, str(row.end), str(control))
    return table


def main(given: Sequence[str] | None = None) -> int:
    """The command; its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("cards", nargs="*", help="cards by name; all by default")
    parser.add_argument("--seeds", default="42", help="with commas between")
    parser.add_argument("--jobs", type=int, default=2, help="so many at once, one thread each")
    parser.add_argument("--runs", type=Path, default=Path("build/fixes"))
    parser.add_argument("--table", type=Path, default=Path("trees/fixes.csv"))
    asked = parser.parse_args(given)
    cards = [find(name) for name in asked.cards] or all_cards()
    seeds = [int(seed) for seed in asked.seeds.split(",")]
    trials = [trial for card in cards for seed in seeds for trial in trials_of(card, seed, asked.runs)]
    rows: list[Mended] = []
    try:
        for trial, found in workers.outcomes(tried, trials, asked.jobs):
            failed = Mended(trial.card, trial.fix, trial.seed, str(found), "", "")
            rows.append(found if isinstance(found, Mended) else failed)
            terminal.tell(
                f"{len(rows)}/{len(trials)}  {trial.card} {trial.fix or 'control'}: {rows[-1].leaf}"
            )
    except KeyboardInterrupt:
        terminal.warn(STOPPED)
        return INTERRUPTED
    write(asked.table, rows)
    terminal.console().print(drawn(rows))
    return 0 if all(row.mends for row in rows if row.fix) else 1


if __name__ == "__main__":
    sys.exit(main())
