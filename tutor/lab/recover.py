"""Recover: the playbook for a run that spiked, each action tried for real as a fork of it.

A carry on · B skip the batches of the spike · C restart earlier, past the data since · D a lower learning
rate · E swap the subset of the data that is to blame.
"""

import math
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from tutor import readers, tree
from tutor.detectors.episodes import episodes, one_spike
from tutor.detectors.windows import Window
from tutor.lab.assembly import plan_of
from tutor.lab.faults.swap_documents import SEPARATOR
from tutor.lab.fork import Change, fork
from tutor.lab.replay import first_not_finite
from tutor.lab.rewind import nearest
from tutor.parts import Part
from tutor.run import Run
from tutor.run.cost import cost_of
from tutor.run.recovery import Outcome
from tutor.settings import scaled

SOON, LATE = 100, 300  # steps after the spike at which losses are compared
NOTICED = 50  # steps after the spike until somebody acts, where nobody says
SKIP = 5  # batches; the playbook for long runs has 5 to 20
MEAN_OF = 20  # steps: a loss is that of one batch, and batches differ
AGAIN = 0.5
"""A spike that rises half as far above its bound as the first one did is the same trouble again."""

CALM = 4.0
"""A step whose gradient is no more than so many times the median one is ordinary."""

CHECKPOINTS = 100  # steps between those of a run that kept none and has to be trained again


class NotPossibleError(ValueError):
    """An action that can't be tried on this run, and why, in one line."""


@dataclass(frozen=True)
class Incident:
    """A spike, and what is to be known of it before anything is done.

    Attributes:
        run: as its log has it.
        spike: the step where it begins.
        excess: how far its peak stands above the bound, in nats.
        window: of the rule that found it.
        sigmas: its bound, in standard deviations.
        seen: the step at which somebody acts.
    """

    run: Run
    spike: int
    excess: float
    window: Window
    sigmas: float
    seen: int

    @property
    def end(self) -> int:
        """The step up to which every action is trained."""
        return self.spike + LATE + MEAN_OF


def incident_of(folder: Path, at: int | None = None, seen: int | None = None) -> Incident:
    """The spike of the run in `folder` that begins at `at`, or the tallest.

    Raises:
        BadRunError: the log can't be read.
        ValueError: there is none.
    """
    run, begun, window, sigmas = _spikes(folder)
    if at is None:
        at = max(begun, key=lambda step: begun[step])
    elif at not in begun:
        near = min(begun, key=lambda step: abs(step - at))
        raise ValueError(f"no spike of {run.name} begins at step {at}; the nearest does at {near}")
    return Incident(run, at, begun[at], window, sigmas, at + NOTICED if seen is None else seen)


def found_again(incident: Incident, folder: Path) -> Incident:
    """The same spike in the run that was trained again: another machine may see it begin a step off.

    Raises:
        ValueError: that run doesn't spike.
    """
    run, begun, window, sigmas = _spikes(folder)
    spike = min(begun, key=lambda step: abs(step - incident.spike))
    return Incident(run, spike, begun[spike], window, sigmas, incident.seen)


def _spikes(folder: Path) -> tuple[Run, Mapping[int, float], Window, float]:
    """The run in `folder`, the excess of each of its spikes by the step where it begins, and by what rule."""
    run = readers.read(folder)
    numbers = tree.numbers("spike", tree.find("phase-19", checked=False))
    assert numbers, "the tree of what goes wrong in flight asks for a spike"
    window, sigmas = numbers["window"], numbers["sigmas"]
    assert isinstance(window, Window)
    assert isinstance(sigmas, int | float)
    logged = run.logged("loss")
    begun = {int(logged.steps[one.row]): one.excess for one in episodes(logged, window, sigmas)}
    if (lost := first_not_finite(run)) is not None:
        begun[lost] = math.inf  # no spike is taller than a loss that is no number any more
    if not begun:
        raise ValueError(
            f"{run.name} has no spike to recover from: no loss stands {sigmas:g} std above its window"
        )
    return run, begun, window, sigmas


@dataclass(frozen=True)
class Playbook:
    """How the actions are tried.

    Attributes:
        incident: the spike.
        source: the folder of the run that is forked: with a checkpoint, where there is one.
        folder: where the forks go, by letter.
        per_hour: price of an hour.
        skip: batches that are skipped.
        divisor: of the learning rate.
        on_row: called with each row that is trained.
    """

    incident: Incident
    source: Path
    folder: Path
    per_hour: float = 2.0
    skip: int = SKIP
    divisor: float = 2.0
    on_row: Callable[[dict], None] | None = None

    @property
    def last(self) -> int:
        """The last checkpoint at or before the spike; 0, the beginning, where there is none."""
        return nearest(self.source, self.incident.spike)

    def change(self, letter: str) -> tuple[int, Change]:
        """Where an action takes the run up, and what it changes.

        Raises:
            NotPossibleError: it can't be tried on this run.
        """
        made = {"A": self._carry_on, "B": self._skip, "C": self._earlier, "D": self._slower, "E": self._swap}
        begins, change = made[letter]()
        longer = {"steps": self.incident.end + 1}
        return begins, replace(change, settings={**change.settings, **longer})

    def _carry_on(self) -> tuple[int, Change]:
        return nearest(self.source, len(self.incident.run)), Change()

    def _skip(self) -> tuple[int, Change]:
        skipped = {"step": self.incident.spike, "batches": self.skip}
        return self.last, Change(actions=(Part("skip-batches", skipped),))

    def _earlier(self) -> tuple[int, Change]:
        begins = nearest(self.source, max(0, self.last - 1))
        batches = self.incident.spike + self.skip - begins
        return begins, Change(actions=(Part("skip-batches", {"step": begins, "batches": batches}),))

    def _slower(self) -> tuple[int, Change]:
        lr = plan_of(self.source).settings.lr
        return self.last, Change(settings={"lr": scaled(lr, 1 / self.divisor)})

    def _swap(self) -> tuple[int, Change]:
        subset = blamed(self.incident.run, self.incident.spike, self.skip)
        documents = SEPARATOR.join(map(str, sorted(subset)))
        return self.last, Change(
            actions=(Part("swap-documents", {"step": self.last, "documents": documents}),)
        )

    def attempt(self, letter: str) -> Outcome:
        """Train the action, unless the log shows already what it comes to, and measure it.

        Raises:
            NotPossibleError: it can't be tried on this run.
            DiskFullError: the disk is full.
        """
        begins, change = self.change(letter)
        incident = self.incident
        if letter == "A" and int(incident.run.steps[-1]) >= incident.end:
            return self._outcome("A", incident.run.path, int(incident.run.steps[-1]), change)
        out = self.folder / letter
        words = f"tutor recover {incident.run.path} --action {letter}"
        if fork(self.source, begins, change, out, command=words, on_row=self.on_row) <= incident.end:
            raise KeyboardInterrupt
        return self._outcome(letter, out, begins, change)

    def _outcome(self, letter: str, folder: Path, begins: int, change: Change) -> Outcome:
        incident, run = self.incident, readers.read(folder)
        lost = 0 if letter == "A" else max(0, incident.seen - begins)
        cost = cost_of(incident.run, lost, incident.spike)
        told = replace(change, settings={k: v for k, v in change.settings.items() if k != "steps"})
        return Outcome(
            action=letter,
            change=str(told),
            run=str(folder),
            begins=begins if letter != "A" else incident.seen,
            steps=lost,
            tokens=cost.tokens,
            hours=cost.hours,
            price=cost.price(self.per_hour),
            soon=_mean(run, incident.spike + SOON),
            late=_mean(run, incident.spike + LATE),
            again=self._again(run, incident.spike + one_spike(incident.window) if letter == "A" else begins),
        )

    def _again(self, run: Run, since: int) -> int | None:
        """Where the run spikes from the step `since` on, or its loss is no number any more."""
        incident, logged = self.incident, run.logged("loss")
        bad = logged.frame.filter((pl.col("step") >= since) & ~pl.col("loss").is_finite())["step"]
        steps = [int(bad[0])] if len(bad) else []
        for one in episodes(logged, incident.window, incident.sigmas):
            step = int(logged.steps[one.row])
            if step >= since and one.excess >= AGAIN * incident.excess:
                steps.append(step)
        return min(steps, default=None)


def _mean(run: Run, at: int) -> float | None:
    """The mean loss of the rows up to the step `at`; None where the run ends before it."""
    if int(run.steps[-1]) < at:
        return None
    rows = run.frame.filter(pl.col("step").is_between(at - MEAN_OF + 1, at))["loss"].drop_nulls()
    return statistics.fmean(rows) if len(rows) else None


def blamed(run: Run, spike: int, batches: int) -> frozenset[int]:
    """The documents that the batches of the spike hold and no ordinary batch does.

    Raises:
        NotPossibleError: the log doesn't say what the batches held, or no document stands out.
    """
    if not (run.has("sentence_ids") and run.has("grad_norm")):
        raise NotPossibleError("the log doesn't say which documents a batch held: no subset can be told")
    usual = run["grad_norm"].filter(run["grad_norm"].is_finite()).median()
    at_spike = pl.col("step").is_between(spike, spike + batches - 1)
    # A document that the edge of a batch cuts goes on in the next one.
    near = pl.col("step").is_between(spike - 1, spike + batches)
    calm = (pl.col("grad_norm") <= CALM * float(str(usual))) & ~near
    held, ordinary = (
        {int(one) for one in run.frame.filter(rows)["sentence_ids"].explode().drop_nulls()}
        for rows in (at_spike, calm)
    )
    if not (subset := frozenset(held - ordinary)):
        raise NotPossibleError("every document of the batches at the spike is in ordinary batches too")
    return subset


def source_of(incident: Incident, folder: Path, on_row: Callable[[dict], None] | None = None) -> Path:
    """The run to be forked: itself where it kept a checkpoint before the spike, else one trained again.

    Args:
        incident: the spike.
        folder: where the run goes that is trained again.
        on_row: called with each of its rows.
    """
    run = incident.run.path
    if nearest(run, incident.spike) or incident.spike < CHECKPOINTS:
        return run
    again = folder / "A"
    every: Mapping[str, Any] = {}
    kept = plan_of(run).settings.checkpoint_every
    if kept is None or kept > incident.spike:
        every = {"checkpoint_every": CHECKPOINTS}
    change = Change(settings={"steps": incident.end + 1, **every})
    if fork(run, 0, change, again, command=f"tutor recover {run} --action A", on_row=on_row) <= incident.end:
        raise KeyboardInterrupt
    return again
