"""Losses that guessing gives: the logarithm of a number of classes, that of one answer for every input."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tutor.detectors import Finding
from tutor.detectors.answers import accuracies, counts_answers, held_out_accuracies
from tutor.detectors.courses import Course
from tutor.detectors.grouped import Guess
from tutor.detectors.standstill import DIGITS, digits_of
from tutor.detectors.trends import ordered
from tutor.detectors.windows import FEWEST, finite, noise_of
from tutor.run import Run, known_float, to_float

if TYPE_CHECKING:
    import polars as pl


def guesses(run: Run, loss: pl.Series, course: Course, guess: Guess) -> Finding | None:
    """The finding that the loss stands at the logarithm of a number of classes; None where it doesn't.

    That is what the same answer to every input costs, where the classes are equally frequent. Who is sure of
    some answers, and wrong, pays a little more. Where as many answers are right as guesses are, it may lie
    `guess.sure` to either side. A validation loss that lies lower says that the training loss only seems to
    stand there, as dropout or label smoothing make it.
    """
    known = loss.drop_nulls()
    later = known[len(known) // 2 :]
    level = to_float(later.median())
    for classes in _classes(run, guess):
        expected = math.log(classes)
        off = level / expected - 1
        by_chance = abs(off) <= guess.sure and _right_by_chance(run, known, classes, guess)
        if not (by_chance or -guess.centre <= off <= guess.above):
            continue
        share = to_float(_near(later, expected, guess).mean())
        stands = off <= guess.centre and share >= guess.often
        calm = noise_of(later) <= guess.above * expected  # one answer costs batches alike
        if not (stands or by_chance) and not (calm and _gained_little(course, expected, guess)):
            continue
        if _lower(run, expected * (1 - guess.within)):
            continue
        facts = _guessed(later, classes)
        seen = (int(run.steps[len(loss) // 2]), int(run.steps[-1]))
        if not stands:
            level, most = facts["level"], expected * (1 + (guess.sure if by_chance else guess.above))
            return Finding("guesses", None, facts, expected, seen, measured=level, bound=most)
        return Finding("guesses", None, facts, expected, seen, measured=share, bound=guess.often)
    return None


def _right_by_chance(run: Run, known: pl.Series, classes: int, guess: Guess) -> bool:
    """Whether each answer of the later half is right as often as a guess among so many classes is.

    At `2 * FEWEST` rows or more, none of which costs less than a guess by more than `guess.sure`. An accuracy
    that rises in order, beyond `2 * guess.order`, is on its way.
    """
    if len(known) < 2 * FEWEST or to_float(known.min()) < (1 - guess.sure) * math.log(classes):
        return False
    shares = [curve.values for _, curve in accuracies(run) if len(curve.values) >= 2 * FEWEST]
    if any(ordered(values) > 2 * guess.order for values in shares):
        return False
    later = [values[len(values) // 2 :] for values in shares]
    return bool(later) and all(((one * classes - 1).abs() <= guess.right).all() for one in later)


THE_MEAN = 1.0
"""What the mean as an answer to all costs, in squares of targets that were scaled to a variance of 1; and one
answer to all in a hinge or a triplet loss with a margin of 1, or where an overlap is taken from 1."""


A_HALF = 0.25
"""What a half as the answer to all costs, in squares of targets of which as many are 0 as are 1: XOR's."""


def rests_where_one_answer_leaves_it(
    run: Run, loss: pl.Series, guess: Guess, *, few: bool = False
) -> Finding | None:
    """The finding that the loss comes down to what one answer to all costs, and stays there; None elsewhere.

    That is 1, where in the later half of the rows it lies within the share `guess.within` of it; or 1/4,
    where it does in the last fourth of them, and ends within `guess.centre`. Validation has to lie there,
    too, and neither lower before. Of `few` rows all lie at 1, `guess.least` or more, and validation among
    them. Where answers are counted, or tokens predicted, these are cross-entropies like any other.
    """
    if run.knows("vocab_size") or run.of_tokens or counts_answers(run):
        return None
    trained = loss.drop_nulls()
    held_out = finite(run["val_loss"]).drop_nulls() if run.has("val_loss") else trained[:0]
    both = (trained, held_out)
    if few:
        rests = min(map(len, both)) >= guess.least and _rest_at(THE_MEAN, both, 1.0, guess)
        return _at_the_mean(run, THE_MEAN, trained, guess) if rests else None
    if _rest_at(THE_MEAN, both, 1 / 2, guess) and _told(later := _last(trained, 1 / 2)):
        return _at_the_mean(run, THE_MEAN, later, guess)
    last = _last(trained, 1 / 4)
    ends = len(last) >= FEWEST and abs(float(last[-1]) - A_HALF) <= guess.centre * A_HALF and _told(last)
    return _at_the_mean(run, A_HALF, last, guess) if ends and _rest_at(A_HALF, both, 1 / 4, guess) else None


def _rest_at(cost: float, losses: Iterable[pl.Series], share: float, guess: Guess) -> bool:
    """Whether losses lie at a cost in the last share of their rows, and none lower before."""
    return all(
        not (known < cost * (1 - guess.within)).any() and _near(_last(known, share), cost, guess).all()
        for known in losses
    )


def _last(known: pl.Series, share: float) -> pl.Series:
    """The last share of the values: one at least, if there is any."""
    return known[len(known) - math.ceil(share * len(known)) :]


def _told(later: pl.Series) -> bool:
    """Whether losses near a round number have digits enough to tell that they lie nowhere else."""
    return any(digits_of(one) >= DIGITS for one in later.unique().head(FEWEST))


def _at_the_mean(run: Run, cost: float, later: pl.Series, guess: Guess) -> Finding:
    """The finding that the last losses, `later`, lie at that cost."""
    rows = run.logged("loss").steps
    since, bound = int(rows[len(rows) - len(later)]), cost * guess.within
    facts = {"score": "loss", "value": to_float(later.median()), "count": len(later), "since": since}
    facts |= {"scored": run["loss"].count(), "expected": cost}
    off = to_float((later - cost).abs().max())
    return Finding("at-the-mean", None, facts, cost, (since, int(run.steps[-1])), measured=off, bound=bound)


def held_out_guesses(run: Run, loss: pl.Series, guess: Guess) -> Finding | None:
    """As `guesses`, of a validation loss that never left that place, with the training loss beside it.

    Of many evaluations those of the later half count: they may have come down to it. Evaluated without
    dropout and over the same items, it lies there to a thousandth, so that few tell: fewer still,
    `guess.least`, where each row of training lies there, too.
    """
    values, trained = finite(run["val_loss"]).drop_nulls() if run.has("val_loss") else None, loss.drop_nulls()
    if values is None or min(len(values), len(trained)) < guess.least:
        return None
    lowest, many = to_float(values.min()), len(values) >= 2 * FEWEST
    values = values[len(values) // 2 :] if many else values
    for classes in _classes(run, guess):
        expected = math.log(classes)
        beside = trained[len(trained) // 2 :].median()
        if abs(to_float(beside) - expected) > guess.within * expected:
            continue
        if abs(to_float(values.median()) - expected) > guess.centre * expected:
            continue
        whole = len(values) == run["val_loss"].count()  # NaN among few is another matter
        both = len(values) >= FEWEST or (whole and _near(trained, expected, guess).all())
        came_lower = lowest < expected * (1 - guess.sure)
        still = to_float(_near(trained[len(trained) // 2 :], expected, guess).mean()) >= guess.often
        if came_lower or (many and not still) or not (both and _near(values, expected, guess).all()):
            continue
        seen = (int(run.steps[0]), int(run.steps[-1]))
        off = to_float((values - expected).abs().max())
        bound = guess.within * expected
        return Finding("guesses", None, _guessed(values, classes), expected, seen, measured=off, bound=bound)
    return None


def answers_by_chance(run: Run, guess: Guess) -> Finding | None:
    """The finding that each evaluation costs what guessing does, and answers as often right.

    Either alone is a coincidence now and then; together few evaluations tell, `guess.least` of them. A model
    that is sure of wrong answers pays up to `guess.sure` more; as much as it likes where `FEWEST` evaluations
    or more answer exactly one in so many right, which one answer to every input does, or where training pays
    no more than that at each row, or never less than a guess and hardly less than at first; but what lies
    nearer to guessing among one class more, for which the answers are right too often, is no guess.
    """
    values = finite(run["val_loss"]).drop_nulls() if run.has("val_loss") else None
    if values is None or len(values) < guess.least:
        return None
    low, high = to_float(values.min()), to_float(values.max())
    trained = _highest(run, low, guess)
    for name, curve in held_out_accuracies(run):
        scores = curve.values
        worst, best = to_float(scores.min()), to_float(scores.max())
        costly = to_float(values.median())
        among = (*_classes(run, guess), *_many_classes(run, values, guess))
        for classes in sorted(among, key=lambda one: abs(math.log(one) - costly)):  # the likeliest first
            levels = (worst, best) if classes <= guess.classes else _halves(scores)
            expected, off = math.log(classes), max(abs(one * classes - 1) for one in levels)
            same = worst == best and len(scores) >= FEWEST and off < guess.centre
            most = expected * (1 + guess.sure)
            many = len(scores) >= 2 * FEWEST and costly >= expected * (1 - guess.within)
            lucky = guess.sure if ordered(scores) <= guess.order else guess.above  # the lowest of many is
            least = expected * (1 - (lucky if many else guess.within))
            never_less = low < _one_more(classes) and _never_less(run, least, guess, many=many)
            costs = least <= low and (same or min(high, trained) <= most or never_less)
            if len(scores) < guess.least or not costs or off > guess.right:
                continue
            seen = (int(run.steps[0]), int(run.steps[-1]))
            about = {"score": name, "lowest": worst, "highest": best}
            facts = _guessed(values, classes) | about
            return Finding(
                "by-chance", None, facts, expected, seen, measured=off, bound=guess.right, curve=curve
            )
    return None


def learned_by_heart(run: Run, guess: Guess) -> Finding | None:
    """The finding that nothing of what was learned holds for held-out data, at `2 * FEWEST` evaluations.

    None costs less than guessing does, and in the later half as many answers are right as guesses are: of
    those that guesses get wrong, the share `guess.skill` at most. The lowest lies nearer to that cost than to
    that of guessing among one class more. The accuracy as `score`, its `value`, how many there are
    (`scored`), among how many `classes`, what guessing costs (`expected`), and the `lowest` cost.
    """
    costs = finite(run["val_loss"]).drop_nulls() if run.has("val_loss") else None
    if costs is None or len(costs) < 2 * FEWEST:
        return None
    lowest = to_float(costs.min())
    for name, curve in held_out_accuracies(run):
        later = curve.values[len(curve.values) // 2 :]
        if len(curve.values) < 2 * FEWEST:
            continue
        value = to_float(later.median())
        for classes in _classes(run, guess):
            expected, chance = math.log(classes), 1 / classes
            skill = (value - chance) / (1 - chance)
            if abs(skill) > guess.skill or not expected * (1 - guess.within) <= lowest < _one_more(classes):
                continue
            facts = {"score": name, "value": value, "scored": len(curve.values), "classes": classes}
            facts |= {"expected": expected, "lowest": lowest}
            seen = (int(run.steps[0]), int(run.steps[-1]))
            return Finding(
                "by-heart", None, facts, expected, seen, measured=skill, bound=guess.skill, curve=curve
            )
    return None


def _one_more(classes: int) -> float:
    """What lies between the costs of guessing among so many classes, and among one more."""
    return (math.log(classes) + math.log(classes + 1)) / 2


def _many_classes(run: Run, costs: pl.Series, guess: Guess) -> Iterable[int]:
    """Among how many classes evaluations may guess, by what they cost; none where few tell, or it is said.

    So many numbers have a logarithm near any cost that the answers have to say the same.
    """
    said = bool(run.manifest.vocab_size) or len(costs) < 2 * FEWEST
    level = to_float(costs.median())
    told = not said and math.log(guess.classes) < level <= math.log(guess.among)
    return [round(math.exp(level))] if told else []


def _halves(scores: pl.Series) -> tuple[float, float]:
    """The means of the first half and of the second: of rare right answers one evaluation counts few."""
    middle = len(scores) // 2
    return to_float(scores[:middle].mean() or 0.0), to_float(scores[middle:].mean() or 0.0)


def _highest(run: Run, low: float, guess: Guess) -> float:
    """The highest training loss of a run that never came under its validation loss, or hardly; else inf."""
    loss = finite(run["loss"]).drop_nulls() if run.has("loss") else None
    if loss is None or len(loss) < guess.least or to_float(loss.min()) < low * (1 - guess.sure):
        return math.inf
    return to_float(loss.max())


def _never_less(run: Run, least: float, guess: Guess, *, many: bool) -> bool:
    """Whether the training loss stays where it is, and above `least`, at `FEWEST` rows or more.

    Of a run with `many` evaluations it may come down meanwhile: it had the time to come further.
    """
    loss = finite(run["loss"]).drop_nulls() if run.has("loss") else None
    if loss is None or len(loss) < FEWEST:
        return False
    low, high = to_float(loss.min()), to_float(loss.max())
    return low >= least and (many or high - low < guess.little * high)


def _classes(run: Run, guess: Guess) -> Iterable[int]:
    """Among how many classes the run may guess: the vocabulary, where it is known."""
    vocab = run.manifest.vocab_size
    return [one for one in ([vocab] if vocab else range(2, guess.classes + 1)) if one > 1]


def _near(values: pl.Series, expected: float, guess: Guess) -> pl.Series:
    return (values - expected).abs() <= guess.within * expected


APART = 0.1
"""The share of the way to one class more that "a little above" may take: more is a coincidence too often."""


def _gained_little(course: Course, expected: float, guess: Guess) -> bool:
    """Whether the run gained little, and never came below what guessing costs."""
    little = course.top - course.best < guess.little * abs(course.top)
    coincidence = guess.above * expected > APART * math.log1p(math.exp(-expected))
    return little and not coincidence and course.best > expected * (1 - guess.within)


def _guessed(values: pl.Series, classes: int) -> dict[str, float]:
    """What is said of values that guessing among so many classes gives."""
    level = to_float(values.median())
    return {"classes": classes, "expected": math.log(classes), "level": level, "later": len(values)}


def _lower(run: Run, bound: float) -> bool:
    """Whether the validation loss, where there is one, ever lay under the bound."""
    lowest = known_float(finite(run["val_loss"]).min()) if run.has("val_loss") else None
    return lowest is not None and lowest < bound
