"""Calibration: what a break does over many seeds, beside its control, and where a walk of each run ends.

    python -m tutor.lab.calibrate no-clip --seeds 20 --runs build/calibrate --table no-clip.calibration.csv

trains a control and a break for each seed, several at once with one thread each, walks every run with
nobody watching, and writes one row a seed. Runs that are whole are not trained again, so it can be stopped
and started. The exit code is 1 where fewer walks end at the card's leaf than it promises (`expect`), 2 where
it was asked for something that can't be, and 130 where it was stopped.
`--healthy` trains plain runs.
"""

import argparse
import os
import signal
import statistics
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from tutor import calibration, readers, tree, walk
from tutor.calibration import BACK_SOON, Row
from tutor.card import Card, find, resolve
from tutor.lab import faults as registry
from tutor.lab import workers
from tutor.lab.campaign import STOPPED, Job, run_once
from tutor.lab.progress import INTERRUPTED
from tutor.parts import Part
from tutor.runfolder import METRICS
from tutor.settings import Settings

STEPS = 450  # of a run whose card says nothing of it
WINDOW = 100  # steps before the trigger that say how the run was
BACK = 5  # steps averaged to say that it is back
TREE = "phase-19"  # walked over runs of no card


def aftermath(metrics: pl.DataFrame, settings: Settings, start: int, end: int) -> dict[str, Any]:
    """How one run took a trigger that lasted from step `start` to before step `end`.

    Returns:
        `spike`: largest gradient norm while the trigger lasts, in multiples of its mean before;
        `peak`: largest loss then; `worst` and `mean`: of the next 50 steps; `back`: the steps until a
        5-step mean is within mean + 0.5 std of the 100 steps before, None if it never is; `clipped`: the
        share of the steps clipped between warm-up and trigger.
    """
    loss, norm = metrics["loss"].to_list(), metrics["grad_norm"].to_list()
    before = loss[start - WINDOW : start]
    bound = statistics.fmean(before) + 0.5 * statistics.pstdev(before)
    means = (statistics.fmean(loss[i : i + BACK]) for i in range(end, len(loss) - BACK + 1))
    return {
        "spike": max(norm[start:end]) / statistics.fmean(norm[start - WINDOW : start]),
        "peak": max(loss[start:end]),
        "worst": max(loss[end : end + BACK_SOON]),
        "mean": statistics.fmean(loss[end : end + BACK_SOON]),
        "back": next((i for i, mean in enumerate(means) if mean <= bound), None),
        "clipped": statistics.fmean(metrics["clipped"].to_list()[settings.warmup_steps : start]),
    }


def measure(job: Job, tree_name: str) -> Row:
    """Train the run unless it is whole already, walk it over the tree, and say how it took its trigger."""
    run_once(job)
    found: Row = {"leaf": walk.unattended(readers.read(job.out), tree.find(tree_name))[0].at}
    metrics = pl.read_ndjson(job.out / METRICS, infer_schema_length=None)
    if span := span_of(job.plan.trigger):
        found |= aftermath(metrics, job.plan.settings, *span)
    return found


def compare(control: Row, broken: Row) -> Row:
    """What a control and a break measured as one row of the table, its figures to four decimals."""
    row: Row = {"excess": broken["mean"] - control["mean"]} if "mean" in broken else {}
    row |= {f"control_{key}": value for key, value in control.items()}
    row |= {f"break_{key}": value for key, value in broken.items()}
    return {key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()}


def jobs_of(card: Card | None, seed: int, steps: int, runs: Path) -> list[Job]:
    """The runs of one seed: control and break of `card`, or one plain run."""
    changes = {"seed": seed, "steps": steps, "device": "cpu", "threads": 1}
    if card is None:
        return [Job(resolve(None, changes=changes), None, runs / str(seed))]
    plans = [resolve(card, control=control, changes=changes) for control in (True, False)]
    return [Job(plan, card.asked_as, runs / str(seed) / plan.role) for plan in plans]


def table_of(card: Card | None, seeds: Sequence[int], steps: int, runs: Path, at_once: int) -> Iterator[Row]:
    """One row a seed, in order, each when it and those before it are done."""
    jobs = [job for seed in seeds for job in jobs_of(card, seed, steps, runs)]
    walked = partial(measure, tree_name=card.tree if card else TREE)
    with workers.results(walked, jobs, at_once) as done:
        for seed in seeds:
            taken = [next(done) for _ in jobs_of(card, seed, steps, runs)]
            yield {"seed": seed} | (compare(*taken) if card else taken[0])


def check(card: Card | None, steps: int) -> None:
    """Refuse, before anything is trained, what couldn't be trained or measured in runs of so many steps.

    Raises:
        ValueError: a trigger or a fault that isn't registered, a trigger that comes before `WINDOW` steps,
            or one with fewer than `BACK_SOON` steps after it; in one line.
    """
    if card is None:
        return
    registry.checked("fault", card.faults)
    if not (span := span_of(card.trigger)):
        return
    start, end = span
    if start < WINDOW:
        raise ValueError(
            f"{card.name} can't be measured: its trigger is at step {start}, and the {WINDOW} steps before "
            "it are measured too"
        )
    if steps < end + BACK_SOON:
        raise ValueError(
            f"--steps {steps} is too few for {card.name}: its trigger ends at step {end}, and the "
            f"{BACK_SOON} steps after it are measured too: give {end + BACK_SOON} or more"
        )


def verdict(card: Card, rows: Sequence[Row]) -> tuple[bool, str]:
    """Whether enough walks of the break ended where the card says, and the line that tells."""
    if card.expect is None:
        return True, f"{card.name} promises no leaf"
    count = sum(row["break_leaf"] in card.expect.leaf for row in rows)
    promised = " of ".join(str(number) for number in card.expect.at_least)
    kept = card.expect.kept(count, len(rows))
    leaves = " or ".join(card.expect.leaf)
    sign = "kept" if kept else "not kept"
    return kept, f"{card.name}: {count} of {len(rows)} walks end at {leaves}; promised {promised}: {sign}"


def main(words: list[str] | None = None) -> int:
    """Train what is missing, write the table, print the counts; 1 where the card's promise isn't kept."""
    parser = argparse.ArgumentParser(
        prog="python -m tutor.lab.calibrate", description="A break over many seeds."
    )
    parser.add_argument("card", nargs="?", help="a break's name or file")
    parser.add_argument("--healthy", action="store_true", help="train plain runs in place of a break")
    parser.add_argument("--seeds", type=_positive, default=20)
    parser.add_argument("--steps", type=_positive, help=f"the card's own, or {STEPS}, by default")
    parser.add_argument("--jobs", type=_positive, default=os.cpu_count() or 1, help="runs at once")
    parser.add_argument("--runs", type=Path, required=True, help="where the runs are kept")
    parser.add_argument("--table", type=Path, help="the table to write")
    given = parser.parse_args(words)
    if not given.card and not given.healthy:
        parser.error("name a break, or ask for --healthy")
    try:
        card = None if given.healthy else find(given.card)
        steps = given.steps or (int(card.settings.get("steps") or STEPS) if card else STEPS)
        check(card, steps)
    except ValueError as error:
        parser.error(str(error))
    rows = []
    try:
        for row in table_of(card, range(given.seeds), steps, given.runs, given.jobs):
            rows.append(row)
            print(row, flush=True)
    except KeyboardInterrupt:
        print(STOPPED, file=sys.stderr)
        return INTERRUPTED
    for column in (name for name in rows[0] if name.endswith("leaf")):
        print(column, dict(Counter(row[column] for row in rows).most_common()))
    if given.table:
        calibration.write(given.table, rows)
    if card is None:
        return 0
    kept, line = verdict(card, rows)
    print(line)
    return 0 if kept else 1


def span_of(trigger: Sequence[Part]) -> tuple[int, int] | None:
    """The first step of the trigger and the one after its last; None where there is none."""
    for part in registry.checked("trigger", trigger):
        if {"step", "batches"} <= set(part.parameters):
            return part.parameters["step"], part.parameters["step"] + part.parameters["batches"]
    return None


def _positive(word: str) -> int:
    """A count from the command line."""
    if not word.isdecimal() or not int(word):
        raise argparse.ArgumentTypeError(f"{word!r} is no count: give a whole number from 1 on")
    return int(word)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does
    sys.exit(main())
