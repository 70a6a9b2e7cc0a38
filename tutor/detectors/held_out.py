"""Detectors of the held-out loss: whether it follows training, isn't finite, or is too low."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from tutor.detectors import NO_DATA, NOT_YET, Finding, detector
from tutor.detectors.answers import counts_answers, finds
from tutor.detectors.beginning import begins_late
from tutor.detectors.elsewhere import sees_nothing
from tutor.detectors.grouped import Apart, Beyond, Evaluation, Leak
from tutor.detectors.scores import scores_and_rewards
from tutor.detectors.windows import FEWEST, finite, noise_of, rows
from tutor.run import Run, known_float, to_float


def evaluations(run: Run) -> list[int]:
    """The rows with a validation loss that come after the warm-up, and after the very first row."""
    return (finite(run["val_loss"]).is_not_null() & (run.steps >= _warm(run))).arg_true().to_list()


def _warm(run: Run) -> int:
    """The step from which on evaluations count: the end of the warm-up, and not the very first row."""
    return max(math.ceil(run.manifest.schedule.warmup_steps or 0), int(run.steps[0]) + 1)


@dataclass(frozen=True)
class Beside:
    """An evaluation beside the training loss there.

    Attributes:
        step: of the evaluation.
        val: the validation loss.
        train: the training loss.
        around: of how many rows that is the median.
    """

    step: int
    val: float
    train: float
    around: int

    @property
    def gap(self) -> float:
        """How far validation lies above training."""
        return self.val - self.train


def _beside_training(run: Run, until: Evaluation) -> Iterator[Beside]:
    """The evaluations that have training rows on either side, as a falling loss needs, oldest first.

    The training loss there is a median of rows up to `until.around` steps away, of as many before as after,
    and of none that lies nearer to another evaluation. Where a row is the loss of its batch, the evaluation's
    own stands in the middle; where it is the mean since the row before, as an epoch's, the middle is half a
    row earlier, and the next one belongs to it. Few logs say which, so the nearer to validation is taken.
    """
    steps, known = run.steps, finite(run["loss"]).is_not_null()
    loss, at = run["loss"].filter(known).cast(float).to_list(), steps.filter(known).to_list()
    reach = rows(run.logged("loss"), until.around, until.at_least)
    values = finite(run["val_loss"])
    evaluated = steps.filter(values.is_not_null()).to_list()
    for place, (step, val) in enumerate(zip(evaluated, values.drop_nulls(), strict=True)):
        beside = evaluated[max(0, place - 1) : place] + evaluated[place + 1 : place + 2]
        half = min((abs(other - step) for other in beside), default=math.inf) / 2
        end = bisect_right(at, step)  # of the rows up to the evaluation
        before, after = end - bisect_left(at, step - half), bisect_right(at, step + half) - end
        if not 0 < end < len(at):
            continue
        each = max(1, min(reach, before, after))
        readings = [loss[end - each : end + each]]
        if at[end - 1] == step:
            each = min(reach, before - 1, after)
            readings.append(loss[end - 1 - each : end + each])
        trained = [(median(some), len(some)) for some in readings]
        yield Beside(step, val, *min(trained, key=lambda one: abs(val - one[0])))


_LAST = 3
"""Evaluations whose median tells where validation ends: the fewest that an odd one doesn't move."""

_GAP = ("val", "train", "around", "gap", "bound", "step", "leak", "above")


@detector(
    signals=("val_loss",),
    outcomes=(
        "tracks",
        "wide",
        "ahead",
        "kept",
        "climbs",
        "elsewhere",
        "below",
        "eased",
        "overfits",
        "leaks",
    ),
    facts={
        **dict.fromkeys(("tracks", "wide", "eased", "overfits", "leaks"), _GAP),
        "climbs": (*_GAP, "trained", "trained_step"),
        "ahead": (*_GAP, "lowest", "lowest_step"),
        "kept": (*_GAP, "lowest", "lowest_step", "end"),
        "elsewhere": (*_GAP, "lowest", "highest"),
        "below": (*_GAP, "earlier", "earlier_step"),
    },
    every_row=True,
)
def validation_gap(
    run: Run, at: int | None, *, until: Evaluation, over: Apart, wide: float, under: Leak, of_gain: Beyond
) -> Finding:
    """How far the validation loss lies from the training loss, at the last evaluation up to step `until`.

    The flaw: more than `over` above it, and by more than its share of the gain, the model learns its data by
    heart, unless validation comes down by as much later: training is only "ahead" then. Nor where it has
    "kept" what it gained, if that is anything, within `over.risen` of its lowest: what training learns by
    heart has cost it nothing. Where the training loss "climbs" by as much, too, nothing is learned at all;
    where no evaluation sees anything of what is learned, it is of something "elsewhere".
    More than `under` below it, there and at every later evaluation, the validation set holds training items.
    Both beyond the share `of_gain` of what the run has gained and beyond the noise of a row, so that they
    hold for losses in other units. Where the training loss has risen by as much above its lowest
    evaluation, it is the training data that changed, and no leak; a running average of it lies above
    validation by itself. Nor is it one, but "below", where the gap was there before there was anything to
    leak: items have to be learned first, while dropout, or a loss that is summed or weighted otherwise, is
    there at once. Where answers are counted, or what is found, the inputs are mostly such as training
    augments or mixes: it is "eased" then, for that makes the gap grow with what is learned.
    Fewer than `until.least` evaluations after the warm-up tell nothing, nor do those without training rows on
    either side. Source: the tree; ours: the run's own yardsticks.
    """
    if not run.has("loss"):
        return Finding(NO_DATA, facts={"missing": ["loss"]})
    known, loss = list(_beside_training(run, until)), finite(run["loss"]).drop_nulls()
    due = [one for one in known if one.step >= _warm(run)]
    if (loss < 0).any():  # it has no floor, so a gap is no sign of what was seen before
        return Finding(NO_DATA, facts={"missing": []})
    if not due or len(evaluations(run)) < until.least:
        return Finding(NOT_YET, facts={"rows": len(due), "needed": until.least})
    here = max((one for one in due if one.step <= until.until), key=lambda one: one.step, default=due[0])
    gained = max(0.0, to_float(loss[:3].median()) - here.train)
    own = max(of_gain.bound * gained, of_gain.sigmas * noise_of(loss))
    little = over.risen * abs(here.train)  # of its level: in other units a nat may be nothing
    above, leak = max(over.over, over.of_gain * gained, little, own), -max(under.under, own)
    facts = {
        "val": here.val,
        "train": here.train,
        "around": here.around,
        "gap": here.gap,
        "bound": wide,
        "step": here.step,
        "leak": leak,
        "above": above,
    }
    best = min((one for one in known if one.step <= here.step), key=lambda one: one.train)
    risen = here.train - min(one.train for one in due if one.step <= here.step) > own
    outcome = "overfits" if here.gap > above else "wide" if here.gap > wide else "tracks"
    lowest = min((one for one in known if one.step >= here.step), key=lambda one: one.val)
    if outcome == "overfits" and here.val - lowest.val > above:
        outcome = "ahead"
        facts |= {"lowest": lowest.val, "lowest_step": lowest.step}
    if outcome == "overfits" and (kept := _kept(run, here, over, of_gain.sigmas)):
        outcome, facts = "kept", facts | kept
    if outcome == "overfits" and sees_nothing(run, over.stands, over.falls, over.halves):
        outcome, facts = "elsewhere", facts | _extremes(known)
    if outcome == "overfits" and here.train - best.train > above:
        outcome = "climbs"
        facts |= {"trained": best.train, "trained_step": best.step}
    averaged = run.aggregation("loss").over == "running"  # it remembers when the loss was higher
    if not risen and not averaged and all(one.gap < leak for one in due if one.step >= here.step):
        earlier, widest = _while_learning(known, here.step, to_float(loss[:3].median()))
        grown = "eased" if counts_answers(run) or finds(run) else "leaks"
        outcome = grown if earlier.gap > under.before * widest.gap else "below"
        facts |= {"earlier": earlier.gap, "earlier_step": earlier.step} if outcome == "below" else {}
    nearest = min((above, leak, wide), key=lambda bound: abs(here.gap - bound))
    seen = (int(run.steps[0]), here.step)
    return Finding(outcome, here.step, facts, None, seen, measured=here.gap, bound=nearest)


def _extremes(known: Sequence[Beside]) -> dict[str, float]:
    """The lowest evaluation and the highest."""
    values = [one.val for one in known]
    return {"lowest": min(values), "highest": max(values)}


def _kept(run: Run, here: Beside, over: Apart, sigmas: float) -> dict[str, float]:
    """The lowest evaluation and the end, where that is near it: the last, or the median of the last ones.

    The lowest of many is a lucky one: of these the levels count, and `sigmas` times their noise. Empty also
    where validation has gained no more than such a distance: it had nothing to keep. A log that begins
    mid-way doesn't show what was gained before; there it is empty where training costs, at the evaluation
    `here`, less than its share `over.heart` of validation.
    """
    unseen = begins_late(run) and here.train >= over.heart * here.val
    run = run.logged("val_loss")
    values = finite(run["val_loss"]).cast(float)
    row = values.arg_min() or 0
    known = values.drop_nulls()
    lowest, end = float(values[row]), min(float(known[-1]), to_float(known[-_LAST:].median()))
    near, later = over.risen * abs(lowest), known[len(known) // 2 :]
    gained = unseen or float(known[0]) - lowest > near
    levels = known.rolling_median(_LAST).drop_nulls()
    noise = sigmas * noise_of(later) if len(later) >= FEWEST else 0.0
    risen = float(levels[-1]) - to_float(levels.min()) if noise else 0.0
    if not gained or end - lowest > near + noise or risen > near + noise / math.sqrt(_LAST):
        return {}
    return {"lowest": lowest, "lowest_step": int(run.steps[row]), "end": end}


def _while_learning(known: Sequence[Beside], step: int, start: float) -> tuple[Beside, Beside]:
    """The last evaluation with no more than half learned, else the first, and the lowest from `step` on.

    Where that is one of a model which has hardly begun to learn, the next one before the lowest stands for
    it: an untrained model costs the same however its loss is computed.

    Args:
        known: the evaluations, oldest first, those of the warm-up too.
        step: of the evaluation that is judged.
        start: the training loss where the run began.
    """
    widest = min((one for one in known if one.step >= step), key=lambda one: one.gap)
    half = (start + widest.train) / 2
    before = [one for one in known if one.step <= widest.step]
    found = max(place for place, one in enumerate(before) if one.train >= half or one is before[0])
    begun = start - before[found].train > _BEGUN * (start - widest.train)
    return before[found if begun or found + 2 >= len(before) else found + 1], widest


_BEGUN = 0.1
"""The share of what is learned, by which a model has begun to: a constant of the method."""


def broken_evaluation(run: Run, share: float) -> dict[str, Any]:
    """The evaluations that are NaN or Inf: the first one's `step`, their `count`, of `rows`.

    Empty where neither `share` of them are nor the last one is: a few may be a matter of a batch.
    """
    run = run.logged("val_loss")
    bad = ~run["val_loss"].cast(float).is_finite()
    count = int(bad.sum())
    if not count or (count < share * len(run) and not bool(bad[-1])):
        return {}
    return {"step": int(run.steps[int(bad.arg_true()[0])]), "count": count, "rows": len(run)}


def costs_nothing(run: Run, least: int) -> dict[str, Any]:
    """The evaluations, `least` or more, that are all exactly 0: the first one's `step` and how many (`rows`).

    With the lowest training loss (`train`). Empty for any other, where training costs nothing either, and
    where a score of the answers moves: the data are there, and their loss alone isn't computed, as by YOLO.
    """
    if any(scores.n_unique() > 1 for _, scores in scores_and_rewards(run)):
        return {}
    known = run.logged("val_loss")
    values = finite(known["val_loss"])
    lowest = known_float(finite(run["loss"]).min()) if run.has("loss") else None
    if len(values) < least or not (values == 0).all() or lowest is None or lowest <= 0:
        return {}
    return {"step": int(known.steps[0]), "rows": len(values), "train": lowest}


_HELD = ("val", "step", "low", "vocab", "expected")


@detector(
    signals=("val_loss",),
    manifest=("vocab_size",),
    outcomes=("no", "tuned", "sees"),
    facts={"no": _HELD, "tuned": _HELD, "sees": (*_HELD, "first")},
    every_row=True,
    configured=("vocab_size",),
)
def sees_the_answer(run: Run, at: int | None, *, share: float, untrained: float) -> Finding:
    """Whether the validation loss of a run that began untrained falls under a `share` of ln V.

    The flaw: the model is shown what it has to predict, by targets that aren't shifted or by a mask that lets
    it look ahead; validation is made by the same code, and agrees. Held out, no language is so predictable. A
    run whose first loss isn't above the share `untrained` of ln V began with a trained model, whose task may
    be as easy as that: a remark. Of evaluations that are all exactly 0 nothing was evaluated. Source: ours.
    """
    vocab, values = run.manifest.vocab_size, finite(run["val_loss"])
    row = values.arg_min()
    if costs_nothing(run, 1):
        return Finding(NO_DATA, facts={"missing": []})
    if not vocab or vocab < 2 or row is None:
        return Finding(NO_DATA, facts={"missing": ["val_loss" if vocab else "vocab_size"]})
    expected = math.log(vocab)
    bound, lowest = share * expected, float(values[row])
    facts = {"val": lowest, "step": int(run.steps[row]), "low": bound, "vocab": vocab, "expected": expected}
    seen = (int(run.steps[0]), facts["step"])
    if lowest >= bound:
        return Finding("no", facts["step"], facts, bound, seen, measured=lowest, bound=bound)
    under = int((values < bound).fill_null(False).arg_true()[0])
    facts |= {"val": float(values[under]), "step": int(run.steps[under])}
    first = known_float(run["loss"][0]) if run.has("loss") and int(run.steps[0]) <= 1 else None
    outcome = "sees" if first is not None and first > untrained * expected else "tuned"
    facts |= {"first": first} if outcome == "sees" else {}
    return Finding(outcome, facts["step"], facts, bound, seen, measured=lowest, bound=bound)
