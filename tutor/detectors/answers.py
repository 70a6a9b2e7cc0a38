"""Scores that say that every input gets the same answer, and the columns that count right answers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

from tutor import signals
from tutor.detectors import Finding, Smoothed
from tutor.detectors.grouped import Guess
from tutor.detectors.scores import KEPT, LENGTH, Score, answer_scores, in_last, share_of
from tutor.detectors.standstill import DIGITS, digits_of, exact
from tutor.detectors.trends import ordered, share_fallen
from tutor.detectors.windows import FEWEST, finite
from tutor.run import Run, names, scoring, to_float
from tutor.words import plain

_BEST = (1.0, 100.0)
"""What a score is at best, which one that stays there may well deserve; for an error it is the worst."""
_DIGITS = 3
"""Digits from which on the same score twice is no matter of rounding: a constant of the method."""
_SAME = 1e-6
"""Two shares of as many right answers differ by less, as they are printed: a constant of the method."""


def same_answer(run: Run, guess: Guess, gain: float, *, few: bool = False) -> Finding | None:
    """A score that is the same at every row of the last share `guess.often`, while the loss gains less than
    `gain`; than `guess.unmoved`, where it says that fewer than half of the answers are right.

    Its name as `score`, its `value`, at how many rows (`count`) of how many (`scored`), and the step since.
    One of 0 was perhaps never measured, and the best one may be deserved. In a log of `few` rows it has to be
    a held-out one that says so, and meanwhile no training loss may have fallen further, nor a score risen.
    """
    for score in _scores(run, guess.often):
        low = scoring.is_accuracy(score.name) and share_of(score) < 1 / 2
        if few and not (low and names.says_held_out(score.name) and _learns_nothing(run, score.row, guess)):
            continue
        most, fell = guess.unmoved if low else gain, _gained(run, score.row)
        if not score.moves and _tells(score.name, score.value) and fell < most:
            return score.found(run, "same-answer", fell=100 * fell, most=100 * most)
    return None


def never_moves(run: Run, guess: Guess, least: int) -> Finding | None:
    """A held-out score that is one number at every evaluation, `least` of them or more, from the first on.

    However few digits were logged: what learns to tell classes apart moves it. The loss may gain less than
    `guess.unmoved`, as how frequent the classes are is learned. One of `guess.deserved` or more may be
    deserved from the first on. Of an accuracy `guess.least` evaluations tell, `FEWEST` where fewer than half
    of the answers are right, if each costs more than to say how frequent two classes are.
    """
    for name, known in answer_scores(run):
        rows = known.is_not_null().arg_true()
        if not len(rows) or known.drop_nulls().n_unique() > 1 or not names.says_held_out(name):
            continue
        score = in_last(name, known, rows, len(rows))
        share = share_of(score)
        few, enough = len(rows) < least, guess.least if share >= 1 / 2 else FEWEST
        if few and not (scoring.is_accuracy(name) and len(rows) >= enough and _costs_more(run, share)):
            continue
        fell = _gained(run, score.row, guess.least if few else FEWEST)
        if 0 < share < guess.deserved and fell < guess.unmoved and not scoring.is_error(name):
            return score.found(run, "never-moves", fell=100 * fell, most=100 * guess.unmoved)
    return None


def stands_with_its_loss(run: Run, guess: Guess) -> Finding | None:
    """A score that is one number at every row, as the training loss is, `FEWEST` times each: "never-moves".

    Few digits may agree by chance in one of them, hardly in both. One of `guess.deserved` or more may be
    deserved.
    """
    loss = finite(run["loss"]).drop_nulls()
    if len(loss) < FEWEST or loss.n_unique() > 1:
        return None
    for name, known in answer_scores(run):
        rows = known.is_not_null().arg_true()
        if len(rows) < FEWEST or known.drop_nulls().n_unique() > 1 or scoring.is_error(name):
            continue
        score = in_last(name, known, rows, len(rows))
        share = share_of(score)
        told = digits_of(float(loss[0])) + digits_of(score.value)
        if 0 < share < guess.deserved and told > DIGITS:
            return score.found(run, "never-moves", fell=0.0, most=100 * guess.unmoved)
    return None


def finds_nothing(run: Run, least: int) -> Finding | None:
    """A score that is exactly 0 at each of its last rows, `least` of them or more, and was above 0 before.

    However the loss falls: nothing is found any more, and what was above 0 is measured.
    """
    for name, known in answer_scores(run):
        rows = known.is_not_null().arg_true()
        zeros = int((known.gather(rows).reverse() != 0).arg_max() or 0)
        if scoring.is_of_finds(name) and zeros >= least and to_float(known.max()) > 0:
            return in_last(name, known, rows, zeros).found(run, "finds-nothing")
    return None


def one_class(run: Run, guess: Guess) -> Finding | None:
    """A held-out accuracy that is the share of one of two classes at nearly each evaluation, now of this one,
    now of the other: every input gets the same answer, and only which one it is changes.

    Its name as `score`, the share it has most often as `value` (at `count` of `scored` evaluations), the
    `other`, and at how many it is one of the two (`both`): `FEWEST` at least, and the share `guess.often`.
    """
    for name, curve in held_out_accuracies(run):
        shares, beside = curve.values, curve.values.mode()
        value = to_float(beside.max())
        this, other = ((shares - share).abs() < _SAME for share in (value, 1 - value))
        both = int((this | other).sum())
        if not this.any() or not other.any() or abs(2 * value - 1) < _SAME:
            continue
        if both >= max(FEWEST, guess.often * len(shares)):
            seen = (int(curve.steps[0]), int(curve.steps[-1]))
            facts = {"score": name, "value": value, "count": int(this.sum()), "scored": len(shares)}
            facts |= {"since": int(curve.steps[this.arg_max() or 0]), "other": 1 - value, "both": both}
            return Finding("one-class", None, facts, None, seen, curve=curve)
    return None


_COUNTED = ("tp", "fp", "fn", "tn")


def one_answer(run: Run, guess: Guess) -> Finding | None:
    """The finding that by the counts of right and wrong answers all inputs are called the same.

    In the share `guess.often` of the later half of the rows that have them, `FEWEST` at least, and in the
    last one.
    """
    columns = {name.lower(): name for name in run.frame.columns if run.frame[name].dtype.is_numeric()}
    if not all(one in columns for one in _COUNTED):
        return None
    rows = run.frame.select("step", *(columns[one] for one in _COUNTED)).drop_nulls()
    later = rows[len(rows) // 2 :]
    tp, fp, fn, tn = (later[columns[one]].cast(float) for one in _COUNTED)
    alike = (tp + fp == 0) | (fn + tn == 0)
    # Of one set, with both kinds in it: a count of what was found counts no right "no" at all.
    one_set = all(kind.n_unique() == 1 and to_float(kind.min()) > 0 for kind in (tp + fn, fp + tn))
    if len(later) < FEWEST or not one_set or not alike[-1] or alike.sum() < guess.often * len(later):
        return None
    positive, negative = int(tp[-1] + fp[-1]), int(fn[-1] + tn[-1])
    since, none = int(later["step"][0]), ("fn", "tn") if negative == 0 else ("tp", "fp")
    facts = {"score": plain(" + ".join(columns[one] for one in none))[:LENGTH], "value": 0.0}
    facts |= {"count": int(alike.sum()), "scored": len(later), "since": since}
    facts |= {"positive": positive, "negative": negative}
    return Finding("one-answer", None, facts, None, (since, int(run.steps[-1])))


def nearly_same_answer(run: Run, guess: Guess, gain: float, *, few: bool = False) -> Finding | None:
    """As `same_answer`, of the accuracy in training and of the held-out one (`held_out`, `beside`).

    Each moves by less than its share `guess.within`, which training over new batches does, and so near they
    are to each other: as frequent as one class is in both. Where weights learn, the accuracy in training goes
    on, and further than up to the held-out one. In a log of `few` rows it may rest; there they tell where
    they are what chance gives.
    """
    counted = (score for score in _scores(run, guess.often) if scoring.is_accuracy(score.name))
    scores = [
        one for one in counted if _of_chance(one.value, guess) or (not few and _tells(one.name, one.value))
    ]
    held_out = [one for one in scores if names.says_held_out(one.name)]
    for score, other in product(scores, held_out):
        near = guess.within * score.value
        if score in held_out or other.moves > near or abs(score.value - other.value) > near:
            continue
        if score.moves > near and to_float(finite(run.frame[score.name]).max()) > other.value + near:
            continue
        fell = _gained(run, max(score.row, other.row))
        if fell < gain:
            moves = 100 * max(score.moves, other.moves) / score.value
            about = {"held_out": plain(other.name)[:LENGTH], "beside": other.value, "moves": moves}
            return score.found(run, "scores-alike", **about, fell=100 * fell, most=100 * gain)
    return None


def score_stands(run: Run, guess: Guess) -> Finding | None:
    """A score of `_DIGITS` or more that is one number at each of `2 * FEWEST` rows or more, over
    `guess.skill` and under `guess.deserved`: of answers that change, as many are never right every time,
    whatever the loss does.

    Half as many rows tell of one with a digit more, where the loss gains less than `guess.unmoved`.
    """
    for name, known in answer_scores(run):
        rows = known.is_not_null().arg_true()
        if len(rows) < FEWEST or known.drop_nulls().n_unique() > 1 or scoring.is_error(name):
            continue
        score, few = in_last(name, known, rows, len(rows)), len(rows) < 2 * FEWEST
        told = exact(score.value, _DIGITS + few) and not (few and _gained(run, score.row) >= guess.unmoved)
        if guess.skill < share_of(score) < guess.deserved and told:
            return score.found(run, "score-stands")
    return None


def scores_stay(run: Run, guess: Guess) -> Finding | None:
    """The accuracy in training, of `_DIGITS` or more, and a held-out one (`held_out`, `beside`) that are one
    number each in the later half of their rows, `FEWEST` at least, and under `guess.deserved`.

    While weights learn, the one in training moves, whatever its loss does.
    """
    counted = [one for one in _scores(run, 1 / 2) if scoring.is_accuracy(one.name) and not one.moves]
    counted = [one for one in counted if 0 < share_of(one) < guess.deserved]
    held_out = [one for one in counted if names.says_held_out(one.name)]
    for score, other in product(counted, held_out):
        if score not in held_out and exact(score.value, _DIGITS):
            about = {"held_out": plain(other.name)[:LENGTH], "beside": other.value}
            return score.found(run, "scores-stay", **about)
    return None


def accuracies(run: Run) -> Iterator[tuple[str, Smoothed]]:
    """The share of right answers in each row, and what its column is called; percents as shares."""
    for name in run.frame.columns:
        counted = scoring.is_accuracy(name) and not KEPT.search(names.spelled(name))
        if not counted or signals.find(name) or not run.frame[name].dtype.is_numeric():
            continue
        known = finite(run.frame[name])
        there = known.is_not_null()
        values = known.filter(there)
        if len(values):
            shares = values / scoring.whole(to_float(values.max()))
            yield plain(name)[:LENGTH], Smoothed(name, run.steps.filter(there), shares)


def held_out_accuracies(run: Run) -> Iterator[tuple[str, Smoothed]]:
    """Those of held-out data: at each evaluation."""
    return ((name, curve) for name, curve in accuracies(run) if names.says_held_out(curve.signal))


def counts_answers(run: Run) -> bool:
    """Whether the log has a share of right answers, or of wrong ones: what is trained tells classes apart."""
    return any(scoring.counts_answers(name) and not signals.find(name) for name in run.frame.columns)


def finds(run: Run) -> bool:
    """Whether the log scores what is found in inputs, as of objects in images."""
    return any(scoring.is_of_finds(name) and not signals.find(name) for name in run.frame.columns)


def _scores(run: Run, often: float) -> Iterator[Score]:
    """Every column that scores answers, over its last share `often`; `FEWEST` rows at least."""
    for name, known in answer_scores(run):
        rows = known.is_not_null().arg_true()
        later = len(rows) - int((1 - often) * len(rows))
        if later >= FEWEST:
            yield in_last(name, known, rows, later)


def _tells(name: str, value: float) -> bool:
    """Whether a score that stays at this value is one that learning would move."""
    if not value:
        return False
    if value in _BEST:
        return bool(scoring.is_error(name))
    return exact(value, _DIGITS)


def _of_chance(value: float, guess: Guess) -> bool:
    """Whether one answer in so many is right, as the same answer gives to classes of one frequency."""
    return any(abs(value * classes - 1) < guess.centre for classes in range(2, guess.classes + 1))


def _costs_more(run: Run, share: float) -> bool:
    """Whether each evaluation costs more than to give every input the frequencies of two classes.

    One of them has that `share`. Among more classes, frequencies cost more than that.
    """
    known = finite(run["val_loss"]).drop_nulls() if run.has("val_loss") else None
    if known is None or not len(known) or not 0 < share < 1:
        return False
    rest = 1 - share
    return to_float(known.min()) > -share * math.log(share) - rest * math.log(rest)


def _learns_nothing(run: Run, row: int, guess: Guess) -> bool:
    """Whether from a row on training falls by less than `guess.unmoved`, and no score rises in order."""
    known = finite(run["loss"])[row:].drop_nulls() if run.has("loss") else None
    if known is None or not len(known):
        return False
    high, low = to_float(known.max()), to_float(known.min())
    rises = any(ordered(values[row:]) > guess.order for _, values in answer_scores(run))
    return not rises and high > 0 and high - low < guess.unmoved * high


def _gained(run: Run, row: int, least: int = FEWEST) -> float:
    """The share that the held-out loss, or else that of training, gains from a row on; inf for few rows."""
    signal = "val_loss" if run.has("val_loss") else "loss"
    known = finite(run[signal])[row:].drop_nulls() if run.has(signal) else None
    if known is None or len(known) < least:
        return math.inf
    return max(0.0, share_fallen(known))
