"""Doses: the headline break at each memory of v and each clip, over seeds, as a page of the docs.

    python -m tutor.lab.doses --seeds 20 --runs build/doses --page docs/doses.md

Runs that are whole are not trained again, so it can be stopped and started. The exit code is 130 where it was
stopped.
"""

import argparse
import math
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

import polars as pl

from tutor import terminal
from tutor.calibration import BACK_SOON
from tutor.card import find, resolve
from tutor.lab import workers
from tutor.lab.calibrate import aftermath, span_of
from tutor.lab.campaign import STOPPED, Job, run_once
from tutor.lab.progress import INTERRUPTED
from tutor.runfolder import METRICS
from tutor.words import number

CARD = "no-clip"
BETA2 = (0.95, 0.99, 0.999)
CLIP = (None, 1.0, 0.5)
STEPS = 450
RISE = 1.5  # times what it was, from which v's norm has risen
LAST = 50  # steps at the end of a run over which its updates are averaged


@dataclass(frozen=True)
class Dose:
    """How fast v forgets, and what clips the gradient (None: nothing)."""

    beta2: float
    clip: float | None


@dataclass(frozen=True)
class Taken:
    """How one run took the three batches of boilerplate.

    Attributes:
        back: steps until the loss is back; None where it isn't when the run ends.
        clipped: share of the steps that were clipped before.
        fade: steps until v's norm has lost 1 - 1/e of what the batches added; None where it hasn't by then.
        update: mean norm of the last updates.
    """

    dose: Dose
    seed: int
    back: int | None
    clipped: float
    fade: int | None
    update: float


DOSES = tuple(Dose(beta2, clip) for beta2 in BETA2 for clip in CLIP)

HEAD = """# What clipping and beta2 are worth

Break `no-clip` meets three batches of boilerplate at step 312. Here it is trained at each memory of Adam's v
and with each clip, {seeds} seeds each, {count} runs of {steps} steps, by `make doses`. A run is back when a
mean of 5 steps is within mean + 0.5 std of the 100 steps before. One that isn't back when it ends, {after}
steps later, is counted as diverged.

The story often told is that without a clip 60 % of spikes recover and 40 % diverge. There is no such share:
it is set by beta2, by the clip and by the learning rate. Nor is a clip free: one that is said to leave most
steps alone clips them, as the table shows. Nor does a spike in v fade in 20 steps: at beta2 .95 it does.

"""
COLUMNS = (
    "beta2",
    "clip",
    f"back within {BACK_SOON} steps",
    "later",
    "diverged",
    "steps until back: median (range)",
    "clipped before",
    "v's rise fades in",
    f"norm of the updates, last {LAST} steps",
)


def job_of(dose: Dose, seed: int, runs: Path) -> Job:
    """One run, one thread, on the CPU."""
    changes = {"beta2": dose.beta2, "grad_clip": dose.clip, "seed": seed, "steps": STEPS}
    plan = resolve(find(CARD), changes={**changes, "device": "cpu", "threads": 1})
    return Job(plan, CARD, runs / f"beta2-{dose.beta2}-clip-{dose.clip or 'none'}" / str(seed))


def taken(one: tuple[Dose, int, Path]) -> Taken:
    """Train the run of a dose and a seed, and say how it took the batches."""
    dose, seed, runs = one
    job = job_of(dose, seed, runs)
    run_once(job)
    metrics = pl.read_ndjson(job.out / METRICS, infer_schema_length=None)
    start, end = span_of(job.plan.trigger) or (0, 0)
    found = aftermath(metrics, job.plan.settings, start, end)
    fade = fading(metrics["adam_v_norm"].to_list(), start, end)
    return Taken(dose, seed, found["back"], found["clipped"], fade, fmean(metrics["update_norm"][-LAST:]))


def fading(v: Sequence[float], start: int, end: int) -> int | None:
    """Steps from `end` until `v` has lost 1 - 1/e of what it rose by since before `start`; 0 where it hardly
    rose, None where it hasn't when the run ends.
    """
    before, after = v[start - 1], v[end - 1]
    if after < RISE * before:
        return 0
    bound = before + (after - before) / math.e
    return next((step for step, value in enumerate(v[end:], 1) if value <= bound), None)


def page(rows: Sequence[Taken]) -> str:
    """The page, in Markdown."""
    _, end = span_of(find(CARD).trigger) or (0, 0)
    seeds = len({row.seed for row in rows})
    head = HEAD.format(seeds=seeds, count=len(rows), steps=STEPS, after=STEPS - end)
    lines = [_cells(dose, [row for row in rows if row.dose == dose]) for dose in DOSES]
    return head + "".join(f"| {' | '.join(line)} |\n" for line in [COLUMNS, ["---"] * len(COLUMNS), *lines])


def _cells(dose: Dose, rows: Sequence[Taken]) -> list[str]:
    backs = sorted(row.back for row in rows if row.back is not None)
    soon = sum(back <= BACK_SOON for back in backs)
    fades = [math.inf if row.fade is None else row.fade for row in rows]
    return [
        str(dose.beta2),
        str(dose.clip or "none"),
        f"{soon} of {len(rows)}",
        str(len(backs) - soon),
        str(len(rows) - len(backs)),
        f"{number(median(backs))} ({backs[0]} to {backs[-1]})" if backs else "–",
        f"{100 * fmean(row.clipped for row in rows):.0f} %",
        _faded(median(fades)),
        number(fmean(row.update for row in rows)),
    ]


def _faded(steps: float) -> str:
    if not steps:
        return "it hardly rose"
    return f"{number(steps)} steps" if steps < math.inf else "more steps than the run has"


def trained(seeds: Sequence[int], runs: Path, jobs: int) -> Iterator[Taken]:
    """Every dose at every seed, each when it and those before it are done."""
    asked = [(dose, seed, runs) for seed in seeds for dose in DOSES]
    with workers.results(taken, asked, jobs) as done:
        yield from done


def main(given: Sequence[str] | None = None) -> int:
    """The command; its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20, help="so many, from 0 on")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs at once, one thread each")
    parser.add_argument("--runs", type=Path, default=Path("build/doses"))
    parser.add_argument("--page", type=Path, default=Path("docs/doses.md"))
    asked = parser.parse_args(given)
    rows: list[Taken] = []
    try:
        for row in trained(range(asked.seeds), asked.runs, asked.jobs):
            rows.append(row)
            back = "not back" if row.back is None else f"back after {row.back}"
            terminal.tell(
                f"{len(rows)}/{asked.seeds * len(DOSES)}  beta2 {row.dose.beta2}, clip "
                f"{row.dose.clip or 'none'}, seed {row.seed}: {back}"
            )
    except KeyboardInterrupt:
        terminal.warn(STOPPED)
        return INTERRUPTED
    asked.page.write_text(page(rows), encoding="utf-8")
    terminal.tell(f"written: {asked.page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
