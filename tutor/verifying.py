"""Verifying: a run that was trained again with a fix, checked against what the post-mortem asks of it.

The bounds are those of section 6: of the learner's lesson where there is one, else those that the log of the
broken run suggests. And the walk of the fixed run has to end healthy, with every section looked at.
"""

import math
import re
import shlex
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import takewhile
from pathlib import Path

import polars as pl

from tutor import tree as trees
from tutor.begun import begun, promised
from tutor.detectors import NOT_YET
from tutor.detectors.objective import earnings, is_objective
from tutor.lesson import Lesson
from tutor.notebook import Notebook
from tutor.opening import FIRST
from tutor.postmortem import Bound, worst
from tutor.postmortem.form import SECTIONS
from tutor.postmortem.parsing import ENDS, window
from tutor.postmortem.weighing import limit
from tutor.run import Run, known_float
from tutor.run.scoring import rises
from tutor.run.verification import WORSE, Beside, Checked, Verification, no_worse
from tutor.runfolder import VERIFICATION
from tutor.runfolder.kept import keep
from tutor.saying import verdict_of, verified
from tutor.walk import AtQuestion, Stage, Walk, chain, deciding, look, named, unanswered, waiting
from tutor.words import BadFileError, plain, say

AT_THE_END = 50
"""Rows whose mean is where a signal ends,"""
A_QUARTER = 4
"""but of few, no more than the last fourth: a log of ten evaluations ends with two."""

LOSSES = ("loss", "val_loss")
"""The signals by which one end is better than another, beside scores and rewards."""

_BOUND = re.compile(
    r"^- (?P<signal>\S.*?) (?P<comparison>[<>]=?) (?P<value>\S+) "
    r"(?:[^;\d]*(?P<window>\d+(?:\.\.\d+)?)|[^;\d]+)(?:;|$)"
)
"""Without steps it is on the end of the run."""
_STAMPED = re.compile(r"\*\*.+\*\* \([0-9]{4}-")
"""The heading of what a trial of the fix found, bounds as they held, and no new ones."""
# After an unknown seed the line goes on.
_NUMBERS = re.compile(r"^- [^:]+: (?P<value>[^\s:]+)(?:$|: )")


def walked(run: Run) -> Sequence[Stage]:
    """The run walked from the first tree on, with nobody watching."""
    return chain(run, trees.find(FIRST, checked=False), partial(trees.find, checked=False))


def looked_at(broken: Run, fixed: Run) -> Sequence[Stage]:
    """`fixed` walked from the first tree on and, by itself, over each other tree that finds a flaw in
    `broken`: what was wrong there has to be mended too.
    """
    stages = list(walked(fixed))
    known = {stage.walk.tree.tree for stage in (*stages, *walked(broken))}
    for name in sorted(trees.available().keys() - known):
        with suppress(BadFileError):  # a tree of somebody else's in the folder
            tree = trees.find(name, checked=False)
            if verdict_of(chain(broken, tree)) == "flaw":
                stages += chain(fixed, tree)
    return stages


def suggested(broken: Walk) -> tuple[tuple[Bound, ...], str]:
    """The bounds that the log of a walked run suggests, and their tolerance."""
    form = begun(broken, "en").verification
    return tuple(
        bound.model_copy(update={"value": bound.offered}) for bound in form.bounds if bound.offered
    ), form.tolerance


def asked_in(lesson: Lesson) -> tuple[tuple[Bound, ...], str] | None:
    """The bounds of a lesson's section 6, and their tolerance; None where none can be read there."""
    number_of = SECTIONS.index("verification")
    sections = lesson.sections
    whole = sections[number_of][1].splitlines() if len(sections) > number_of else []
    lines = list(takewhile(lambda line: not _STAMPED.match(line), whole))
    bounds = tuple(Bound(**found.groupdict(ENDS[0])) for line in lines if (found := _BOUND.match(line)))
    plain_numbers = [found["value"] for line in lines if (found := _NUMBERS.match(line))]
    if not bounds or len(plain_numbers) < 2:
        return None
    return bounds, plain_numbers[1]  # seed, tolerance, through


def lesson_about(broken: Run, lessons: Sequence[Lesson]) -> Lesson | None:
    """The latest lesson about the run; None where there is none. One of another log of that name isn't.

    A lesson that says of no log how it begins may be about any of that name.
    """
    of_that_name = [lesson for lesson in reversed(lessons) if lesson.run == plain(broken.name)]
    by_mark = (lesson for mark in (broken.mark, "") for lesson in of_that_name if lesson.of == mark)
    return next(by_mark, None)


def by_hand(run: Path) -> str:
    """How to go on with a run that tutor can't train again."""
    return f"train it again with the fix yourself, then: tutor verify {run} FIXED"


class NothingToVerifyError(ValueError):
    """There is nothing that the run with the fix could be checked against; its text says why, for people."""


def check_there_is_something(broken: Run, fixed: Run, notebook: Notebook, lang: str) -> None:
    """Raise NothingToVerifyError where both are the same log, or neither a lesson nor a walk says what was
    wrong with `broken`; and NotebookError where the notebook can't be read.
    """
    facts = {"broken": shlex.quote(plain(str(broken.path))), "fixed": shlex.quote(plain(str(fixed.path)))}
    if broken.path.resolve() == fixed.path.resolve() or broken.frame.equals(fixed.frame):
        raise NothingToVerifyError(say("verify.same_log", lang, **facts))
    lesson = lesson_about(broken, notebook.lessons())
    if not (lesson and asked_in(lesson)) and verdict_of(walked(broken)) != "flaw":
        raise NothingToVerifyError(say("verify.nothing_wrong", lang, **facts))


def conclude(
    broken: Run, fixed: Run, change: str, *, control: Run | None, notebook: Notebook, lang: str
) -> tuple[Verification, bool]:
    """Verify, keep what was found beside the fixed run, and write it into the learner's lesson.

    Args:
        broken: the run that the fix is for.
        fixed: trained again with the fix, by whomever.
        change: the fix, in a few words.
        control: the run without the fault; none where it isn't at hand.
        notebook: whose latest lesson about the run gives the bounds, where there is one.
        lang: of what is written into it.

    Returns:
        What was found, and whether there was a lesson to write it into.

    Raises:
        NotebookError: the notebook can't be read or written.
    """
    lesson = lesson_about(broken, notebook.lessons())
    bounds, tolerance = (asked_in(lesson) if lesson else None) or suggested(deciding(walked(broken)).walk)
    found = verify(broken, fixed, change=change, bounds=bounds, tolerance=tolerance, control=control)
    if fixed.path.is_dir():
        keep(fixed.path / VERIFICATION, found.data())
    if lesson:
        notebook.amend(lesson, verified.stamped(lesson, found, lang))
    return found, lesson is not None


def verify(
    broken: Run,
    fixed: Run,
    *,
    change: str,
    bounds: Sequence[Bound],
    tolerance: str,
    control: Run | None = None,
) -> Verification:
    """Hold `fixed` against the bounds, walk it, and lay it beside the run that was never broken.

    Args:
        broken: the run that the fix is for.
        fixed: trained again with the fix, by whomever.
        change: the fix, in a few words.
        bounds: that must hold.
        tolerance: of the bounds, a share of their value.
        control: the run without the fault, where one is at hand.
    """
    stages, found = looked_at(broken, fixed), deciding(walked(broken)).walk
    end, signal = deciding(stages).walk, measure(found, fixed, control)
    stops = found.leaf.may_stop if found.leaf else False
    stopped = stops and len(fixed) > 0 and int(fixed.steps[-1]) < int(broken.steps[-1])
    left = [(stage, one) for stage in stages for one in unanswered(stage.walk)]
    return Verification(
        of=str(broken.path),
        fixed=str(fixed.path),
        change=change,
        when=datetime.now().astimezone().isoformat(timespec="seconds"),
        bounds=tuple(_checked(bound, tolerance, fixed, stops) for bound in bounds),
        beside=_beside(fixed, control, signal) if control else None,
        tree=end.tree.tree,
        leaf=leaf.name("en") if (leaf := named(end)) else "",
        at=end.at,
        verdict=verdict_of(stages),
        open=len(left),
        open_before=_open_before(left, broken, fixed, stopped),
        stopped=stopped,
        stops=stops,
        signal=signal,
        before=ending(broken, signal),
        after=ending(fixed, signal),
    )


def measure(walk: Walk, *others: Run | None) -> str:
    """The signal that tells whether runs end better than a walked one: what the leaf's fix has to bring back,
    where that is a loss or a score, the reward that the run was after, or the loss.
    """
    broken, asked = walk.run, promised(walk)
    earned = () if not broken.has("loss") or is_objective(broken) else (earnings(broken) or ("",))[:1]
    known = (name for name in (*asked, *earned) if name in LOSSES or rises(name))
    there = (name for name in known if all(run.has(name) for run in (broken, *others) if run))
    return next(there, "loss")


def held_against(found: Verification, fixed: Run, bounds: Sequence[Bound], tolerance: str) -> Verification:
    """What was found, with other bounds checked against the run with the fix."""
    held = tuple(_checked(bound, tolerance, fixed, found.stops) for bound in bounds)
    return found.model_copy(update={"bounds": held})


def _open_before(left: Sequence[tuple[Stage, str]], broken: Run, fixed: Run, stopped: bool) -> bool:
    """Whether the log of `broken` answers none of the questions that a walk of `fixed` leaves open.

    What is only too short may be where the fix was to stop, and the run has `stopped`.
    """
    if fixed.unseen or not left or any(waiting(stage.walk) for stage, _ in left):
        return False
    for stage, id in left:
        walk = stage.walk
        if stopped and any(seen.question == id and seen.outcome == NOT_YET for seen in stage.looks):
            continue
        if look(AtQuestion(broken, walk.tree, id, walk.start)).answers:
            return False
    return True


def _checked(bound: Bound, tolerance: str, run: Run, stops: bool) -> Checked:
    """A bound checked against the run. One that begins after the run's end is checked against its last value,
    where the fix was to stop.
    """
    told = {name: getattr(bound, name).strip() for name in ("signal", "comparison", "value", "window")}
    found, stopped = worst(bound, tolerance, run), False
    if found is None and stops and run.has(told["signal"]):
        asked, end = window(bound.window), run.logged(told["signal"]).steps[-1]
        if stopped := asked is not None and int(run.steps[-1]) < asked[0]:
            found = worst(bound.model_copy(update={"window": str(end)}), tolerance, run)
    if found is None:
        return Checked(**told, reach=limit(bound, tolerance))
    return Checked(
        **told,
        reach=limit(bound, tolerance),
        step=found.step,
        worst=found.value,
        holds=found.holds,
        stopped=stopped,
    )


def _beside(fixed: Run, control: Run, signal: str) -> Beside | None:
    step = min(int(fixed.steps[-1]), int(control.steps[-1]))
    ours, theirs = ending(fixed, signal, step), ending(control, signal, step)
    if ours is None or theirs is None:
        return None
    return Beside(
        control=control.name,
        step=step,
        ours=ours,
        theirs=theirs,
        share=WORSE,
        holds=no_worse(signal, ours, theirs),
    )


def ending(run: Run, signal: str = "loss", through: int | None = None) -> float | None:
    """The mean of a signal's last rows up to a step; None where one isn't finite, or there is none."""
    if not run.has(signal):
        return None
    rows = run.frame if through is None else run.frame.filter(pl.col("step") <= through)
    known = rows[signal].drop_nulls()
    last = known.tail(min(AT_THE_END, math.ceil(len(known) / A_QUARTER))).cast(float)
    return known_float(last.mean()) if len(last) and last.is_finite().all() else None
