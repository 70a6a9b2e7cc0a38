"""`tutor atlas`: every break and its control trained for real, walked with nobody watching, and compared with
the leaf that its card promises."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from tutor import matrix, opening, readers, terminal, tree, walk
from tutor.card import Card, promises, resolve
from tutor.lab import workers
from tutor.lab.campaign import STOPPED, Job, run_once
from tutor.lab.progress import INTERRUPTED
from tutor.matrix import HEALTHY, Ended, Promises, Ran
from tutor.run import BadRunError, Run
from tutor.runfolder.writer import DiskFullError
from tutor.saying import verdict_of
from tutor.walk import Stage

UNDER_BAR = 1


@dataclass(frozen=True)
class Entry:
    """One run, to be trained, and its rows of the matrix: one for each walk over it."""

    job: Job
    rows: tuple[Ended, ...]


def entries_of(card: Card | None, seed: int, steps: int | None, runs: Path) -> list[Entry]:
    """Control and break of `card` at one seed, or one plain run; as long as the card says without `steps`."""
    changes: dict[str, Any] = {"seed": seed, "device": "cpu", "threads": 1}
    if steps is not None:
        changes["steps"] = steps
    plans = (
        [resolve(None, changes=changes)]
        if card is None
        else [resolve(card, control=control, changes=changes) for control in (True, False)]
    )
    name = card.name if card else HEALTHY
    walks = [alone for _, alone in promises([card])] if card else [""]
    found = []
    for plan in plans:
        role: Ran = "plain" if card is None else "control" if plan.role == "control" else "break"
        job = Job(plan, card.asked_as if card else None, runs / name / str(seed) / role)
        rows = tuple(Ended(name, role, seed, plan.settings.steps, alone=alone) for alone in walks)
        found.append(Entry(job, rows))
    return found


def survey(entry: Entry) -> list[Ended]:
    """Train the run of `entry` unless it is whole already, and walk it: its rows, filled in.

    What goes wrong with one run is told in its rows: it doesn't end the others.
    """
    try:
        run_once(entry.job)
        run = readers.read(entry.job.out)
        return [_ended(row, walked(run, row.alone)) for row in entry.rows]
    except (BadRunError, DiskFullError, ValueError, OSError, RuntimeError, MemoryError) as error:
        return failed(entry, f"{type(error).__name__}: {error}")


def walked(run: Run, alone: str = "") -> list[Stage]:
    """A walk with nobody watching: over the tree `alone` by itself or, without, from the first tree on."""
    found = partial(tree.find, checked=False)
    return walk.chain(run, found(alone)) if alone else walk.chain(run, found(opening.FIRST), found)


def _ended(row: Ended, stages: Sequence[Stage]) -> Ended:
    end = walk.deciding(stages).walk
    return replace(row, tree=end.tree.tree, leaf=end.at, verdict=verdict_of(stages))


def failed(entry: Entry, why: str) -> list[Ended]:
    """The rows of a run that couldn't be made."""
    return [replace(row, failed=" ".join(why.split())[:200]) for row in entry.rows]


def run_atlas(
    cards: Sequence[Card],
    seeds: Sequence[int],
    *,
    steps: int | None,
    jobs: int,
    runs: Path,
    table: Path,
    cluster: str | None = None,
    healthy: bool = True,
) -> int:
    """Train and walk what is missing, write the table, print the matrix; the exit code of the command.

    0 every bar is reached, 1 not, 130 stopped by Ctrl-C.

    Args:
        cards: the breaks.
        seeds: each run is trained at each of them.
        steps: so many each, None for as many as its card says.
        jobs: so many at once, with one thread each.
        runs: the folder of their run folders.
        table: the file of the matrix, see `tutor.matrix`.
        cluster: where submitit is to run them ("slurm", "local"); None runs them in processes of this one.
        healthy: whether a plain run is trained at each seed too.
    """
    promised = promises(cards)
    asked: list[Card | None] = [card for card in cards if card.expect]
    entries = [
        entry
        for seed in seeds
        for card in [*asked, *([None] if healthy else [])]
        for entry in entries_of(card, seed, steps, runs)
    ]
    console, rows = terminal.console(), []
    with ExitStack() as stack:
        try:
            show = stack.enter_context(_progress(console, len(entries)))
            for entry, found in _each(entries, jobs, runs, cluster):
                ended = failed(entry, found) if isinstance(found, str) else found
                rows += ended
                matrix.write(table, ended)
                show(ended, promised)
        except KeyboardInterrupt:
            stack.close()
            terminal.warn(STOPPED)
            return INTERRUPTED
    drawn = matrix.lines(rows, promised)
    console.print(_drawn(drawn, promised))
    missed = matrix.below(drawn)
    for sentence in missed:
        terminal.warn(sentence)
    return UNDER_BAR if missed else 0


def _each(
    entries: Sequence[Entry], jobs: int, runs: Path, cluster: str | None
) -> Iterator[tuple[Entry, list[Ended] | str]]:
    """Each entry with its rows, or with why its process ended without one, as they get done."""
    if cluster is None:
        yield from workers.outcomes(survey, entries, jobs)
    else:
        from tutor.lab import cluster as clusters

        yield from clusters.outcomes(survey, entries, jobs, cluster, runs / ".jobs")


@contextmanager
def _progress(console: Console, total: int) -> Iterator[Any]:
    """A bar with the time left, above it a line for each run that is done."""
    columns = (BarColumn(bar_width=None), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"))
    begun = time.monotonic()
    with Progress(*columns, TimeRemainingColumn(), console=console, expand=True) as bar:
        task = bar.add_task("atlas", total=total, rate="")

        def show(rows: Sequence[Ended], promised: Promises) -> None:
            for row in rows:
                sign = "ok" if row.kept(promised) else "--"
                where = row.failed or f"{row.tree} {row.leaf} ({row.verdict})"
                line = f"{sign}  {row.name:<24} {row.role:<8} seed {row.seed:<4} {where}"
                console.print(line, markup=False, highlight=False, soft_wrap=True)
            bar.advance(task)
            rate = (time.monotonic() - begun) / max(1, bar.tasks[0].completed)
            bar.update(task, rate=f"{rate:.0f} s a run")

        yield show


def _drawn(found: Sequence[matrix.Line], promised: Promises) -> Table:
    """The matrix for people: a line a break, with each run that didn't end as promised, by its seed."""
    table = Table("break", "", "promised", "right", "elsewhere", box=box.SIMPLE)
    for line in found:
        elsewhere = [f"{run.seed}: {_where(run)}" for run in line.runs if not run.kept(promised)]
        right = f"{line.right} of {len(line.runs)}"
        table.add_row(line.name, line.role, line.promise or "not sick", right, ", ".join(elsewhere))
    return table


def _where(run: Ended) -> str:
    return "failed" if run.failed else f"{run.tree} {run.leaf}"


def cores() -> int:
    """How many runs at once a machine bears, with one thread each."""
    return os.cpu_count() or 1
