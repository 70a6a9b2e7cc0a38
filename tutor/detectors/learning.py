"""Detectors of learning: whether the loss ever came down, and further than guessing gets."""

from __future__ import annotations

from tutor.detectors import NO_DATA, NOT_YET, Finding, any_of, detector
from tutor.detectors.answers import nearly_same_answer
from tutor.detectors.beginning import begins_late, on_its_last_data, warming_up
from tutor.detectors.completions import COMPLETIONS, of_completions
from tutor.detectors.fall import fall_of
from tutor.detectors.grouped import Enough, Guess
from tutor.detectors.guessing import answers_by_chance, learned_by_heart
from tutor.detectors.objective import after_reward, in_balance, plays_on, scores_rise
from tutor.detectors.plateau import few_right, stops_early, stops_high
from tutor.detectors.rewards import earns, never_earns, one_reward, too_few_rewards
from tutor.detectors.unlearned import beside
from tutor.detectors.windows import FEWEST, finite
from tutor.run import Run

_GAINED = ("top", "best", "gain", "rows")
_LEARNED = (*_GAINED, "bound")
_SCORED = ("score", "value", "count", "scored", "since")
_GUESSED = (*_LEARNED, "classes", "expected", "level", "later")


@detector(
    signals=(any_of("loss", "val_loss", "step"),),  # a reward alone is enough
    outcomes=(
        *(
            "yes",
            "no",
            "no-rate",
            "rate-died",
            "zero",
            "won",
            "collapsed",
            "repeats",
            "guesses",
            "by-chance",
            "by-heart",
            "at-the-mean",
        ),
        *("held-out-flat", "held-out-still", "held-out-alone", "both-still", "only-at-first"),
        *("same-answer", "finds-nothing", "never-moves", "one-class", "one-answer"),
        *("scores-alike", "scores-stay", "score-stands", "scores-nothing", "errs"),
        *("explains-nothing", "ranks-by-chance", "stops-high", "stops-early", "few-right"),
        *("earns", "earns-nothing", "one-reward", "no-contrast", "cut-off"),
    ),
    facts={
        "yes": (*_LEARNED, "best_step"),
        "no": _LEARNED,
        "no-rate": (*_LEARNED, "zeros"),
        "rate-died": (*_LEARNED, "zeros", "best_step"),
        **dict.fromkeys(("earns-nothing", "one-reward"), (*_LEARNED, "reward", "end", "rose", "hides")),
        "earns": (*_LEARNED, "reward", "end", "rose", "hides"),
        "stops-high": (*_LEARNED, "since", "spread", "high"),
        **dict.fromkeys(("no-contrast", "cut-off"), COMPLETIONS),
        "stops-early": (*_LEARNED, "since", "spread", "before"),
        "few-right": (*_LEARNED, "since", "spread", "score", "value", "first"),
        "guesses": _GUESSED,
        "same-answer": (*_GAINED, *_SCORED, "fell", "most"),
        "finds-nothing": (*_GAINED, *_SCORED),
        "never-moves": (*_GAINED, *_SCORED, "fell", "most"),
        "one-class": (*_GAINED, *_SCORED, "other", "both"),
        "one-answer": (*_GAINED, *_SCORED, "positive", "negative"),
        "scores-alike": (*_GAINED, *_SCORED, "held_out", "beside", "moves", "fell", "most"),
        "scores-stay": (*_GAINED, *_SCORED, "held_out", "beside"),
        "score-stands": (*_GAINED, *_SCORED),
        "held-out-flat": _LEARNED,
        "repeats": (*_LEARNED, "period", "again"),
        "only-at-first": (*_LEARNED, "first", "first_step", "later", "evaluations", "since"),
        "zero": ("step", "count", *_LEARNED),
        "collapsed": (*_LEARNED, "term", "highest", "level", "later", "under"),
        "won": (*_LEARNED, "judge", "level", "under", "maker", "first", "last"),
        "held-out-still": _LEARNED,
        "held-out-alone": _LEARNED,
        "both-still": (*_GAINED, "count", "value", "held_out"),
        "by-chance": (*_GUESSED, "score", "lowest", "highest"),
        "at-the-mean": (*_GAINED, *_SCORED, "expected"),
        **dict.fromkeys(("explains-nothing", "scores-nothing"), (*_GAINED, *_SCORED, "highest")),
        "ranks-by-chance": (*_GAINED, *_SCORED, "lowest", "highest"),
        "errs": (*_GAINED, *_SCORED, "lowest"),
        "by-heart": (*_GAINED, "score", "value", "scored", "classes", "expected", "lowest"),
    },
    every_row=True,
    scores=True,
)
def learned(
    run: Run, at: int | None, *, share: float, gain: float, sigmas: float, least: Enough, guess: Guess
) -> Finding:
    """Whether the loss ever came down from where it began, and further than guessing gets.

    The flaw: the run trains nothing. It has learned, "yes", where its best level lies under the highest one
    before by more than `gain` of it, and by more than `sigmas` times the noise. What else is found, in the
    order in which it is looked for:

    - "zero": the loss is exactly 0 to the end, so there is nothing to learn from.
    - "won": a discriminator costs next to nothing, while its generator pays ever more.
    - "collapsed": the divergence of an autoencoder's latents from their prior has come down to nothing.
    - "held-out-still", "held-out-alone": without a training loss, validation is one number, or gains nothing.
    - "both-still": few rows, in which both losses are one number each.
    - "repeats": each loss is one before, digit by digit: the weights don't move, however the batches differ.
    - "by-chance", "guesses": losses, and answers, are what guessing among a number of classes gives.
    - "at-the-mean": a loss of squares rests where the mean, or a half, as the answer to all leaves it.
    - "explains-nothing", "ranks-by-chance": an R² never above 0, an area under the ROC curve at half.
    - "by-heart": an accuracy stays a guess's, and no evaluation costs less than a guess.
    - "scores-nothing", "errs": a score next to 0, or words of which next to none is right.
    - "same-answer", "finds-nothing", "never-moves", "one-class", "one-answer", "scores-stay", "score-stands",
      "scores-alike": a score says that every input gets the same answer.
    - "held-out-flat", "only-at-first": validation gains nothing, or nothing after its first row.
    - "no", "no-rate": the loss gained too little; the learning rate is 0 in most rows, to the last.
    - "no-contrast", "cut-off": a group's answers all earn the same, or are cut off.
    - "one-reward", "earns-nothing", "earns": a reward is one number, stays where it began, or rises.
    - "stops-high", "stops-early": it learned little, or nothing after its first rows.
    - "few-right": few answers in training are right, and hardly more than at first.

    Where noise hides a gain of that size, the order of the levels tells, beyond `sigmas` of chance where they
    fall and `least.sure` where they rise, or longer levels do, up to half of the log. Too short to tell is a
    log under `least` rows (little more than half as many of a run that is over, `least.over`), unless one
    number fills it; one that ends while the learning rate warms up; one whose noise hides a gain still; and
    one whose loss falls on as fast as at first, if a log `least.longer` times as long would show the gain.
    A log that begins later doesn't show where the loss came from. Of a run that was resumed on other data,
    the rows since then are looked at. Source: ours.
    """
    run = on_its_last_data(run)
    found = fall_of(run, share, gain, sigmas, least, guess)
    if found.outcome in ("no", "held-out-alone") and _learns_elsewhere(run, found, gain, sigmas, least):
        found = _answers_of(run, found, guess, gain)
    if found.outcome in ("yes", "no", NOT_YET, NO_DATA):
        found = _by_rewards(run, found, sigmas, least)
    if found.outcome in ("yes", NOT_YET) and not warming_up(run):
        stops = stops_early(run, least, sigmas) if found.outcome == "yes" else None
        return stops_high(run, least, sigmas) or stops or few_right(run, least, guess) or found
    return found


def _learns_elsewhere(run: Run, found: Finding, gain: float, sigmas: float, least: Enough) -> bool:
    """Whether something is learned, whatever this loss is of; or the loss needn't fall as a run learns."""
    return (
        scores_rise(run, sigmas, least.scored)
        or after_reward(run)
        or in_balance(run)
        or plays_on(run)
        or _both_gain(run, found, gain / 2)
    )


def _answers_of(run: Run, found: Finding, guess: Guess, gain: float) -> Finding:
    """What the answers say in the place of a loss that says nothing: they are guesses, or can't be told."""
    chance = (
        answers_by_chance(run, guess)
        or learned_by_heart(run, guess)  # of the training data alone
        or nearly_same_answer(run, guess, gain)  # training came to where validation stays
    )
    return beside(chance, found.facts) if chance else Finding(NO_DATA, facts={"missing": []})


def _by_rewards(run: Run, found: Finding, sigmas: float, least: Enough) -> Finding:
    """What rewards say of a run whose loss found nothing, or isn't what it is after."""
    if useless := of_completions(run, least):
        return useless
    if not (warming_up(run) or begins_late(run)):
        unmoved = one_reward(run, 3 * least.rows)
        still = None if found.outcome == "yes" else never_earns(run, 3 * least.rows, sigmas)
        found = unmoved or still or found
    if found.outcome in (NOT_YET, NO_DATA) and (earned := earns(run, sigmas)):
        return earned
    if found.outcome == NO_DATA:
        return too_few_rewards(run, 3 * least.rows) or found
    return found


def _both_gain(run: Run, found: Finding, gain: float) -> bool:
    """Whether validation of `FEWEST` rows or more ends at its lowest, the share `gain` under its first one.

    Half of that it gained in its later half, and the training loss has come down by as much in all: a trained
    model that is trained on gains little, but goes on to, and it shows in both. What settles doesn't count.
    """
    if not (run.has("loss") and run.has("val_loss")) or found.facts["gain"] < 100 * gain:
        return False
    known = finite(run["val_loss"]).drop_nulls()
    if len(known) < FEWEST or known[-1] != known.min():
        return False
    first, half, last = (float(known[row]) for row in (0, len(known) // 2, -1))
    return min(first - last, 2 * (half - last)) > gain * abs(first)
