"""Ends of a loss that no noise explains: it climbs in order, or towers over all that came before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tutor.detectors.beginning import begins_late, warming_up
from tutor.detectors.courses import Course
from tutor.detectors.grouped import Runaway
from tutor.detectors.objective import ends_at_its_lowest, errors_fall, scores_rise
from tutor.detectors.trends import lasting_trend, ordered, rises_straight
from tutor.detectors.windows import FEWEST, finite
from tutor.run import Run, known_float, to_float

if TYPE_CHECKING:
    import polars as pl


def unexplained(run: Run, known: pl.Series, lasting: Runaway) -> float | None:
    """The height over which the last rows of a loss lie that no noise explains; None where it may.

    They tower over all before them, alone, with validation or with the gradient; the loss climbed over it in
    its first rows and stayed; all that was gained is lost; or training and validation only rise.
    """
    return (
        _towers(known, lasting)
        or _both_tower(run, known, lasting)
        or _gradients_tower(run, lasting)
        or _leaps(known, lasting)
        or _all_gone(known, lasting)
        or _only_rise(run, known, lasting)
    )


def climbs(run: Run, known: pl.Series, course: Course, lost: float, lasting: Runaway) -> bool:
    """Whether the order of few rows says that they rise for good, whatever their noise.

    That of all, or of those since the lowest; but of a log that begins mid-way the lowest may be a lucky one.
    Not where validation ends at its lowest.
    """
    if ends_at_its_lowest(run):
        return False
    if course.span == 1 and rises_straight(known, lasting.rows, lasting.straight):
        return True
    if course.span >= lasting.rows or to_float(known[-lasting.rows :].min()) <= course.best + lost:
        return False
    order = lasting_trend(known)
    if not begins_late(run):
        order = max(order, lasting_trend(known[known.arg_min() or 0 :]))
    return course.improvement > 0 and order > lasting.order


def _towers(known: pl.Series, lasting: Runaway) -> float | None:
    """The height over which the last rows tower above all before them; None where they don't."""
    if len(known) <= lasting.tall or to_float(known.min()) <= 0:
        return None
    last = known[-min(lasting.rows, lasting.tall) :]
    if to_float(last.min()) <= min(lasting.over, lasting.times) * known[0]:
        return None  # as in most logs, and seen at once
    before, since = known.cum_max().shift(1), known.cum_min(reverse=True)
    for rows, times in ((lasting.rows, lasting.over), (lasting.tall, lasting.times)):
        begins = (since > times * before).fill_null(False).arg_true()
        if len(begins) and begins[0] <= len(known) - rows:
            return times * to_float(before[int(begins[0])])
    return None


def _both_tower(run: Run, known: pl.Series, lasting: Runaway) -> float | None:
    """As `_towers`, of the last row alone, where validation ends as high: it is no hard batch then."""
    held_out = finite(run["val_loss"]).drop_nulls() if run.has("val_loss") else known[:0]
    if (
        min(len(known), len(held_out)) <= lasting.tall
        or min(to_float(known.min()), to_float(held_out.min())) <= 0
    ):
        return None
    trained, validated = (lasting.over * to_float(one[:-1].max()) for one in (known, held_out))
    return trained if known[-1] > trained and held_out[-1] > validated else None


def _gradients_tower(run: Run, lasting: Runaway) -> float | None:
    """The height above which the last `lasting.tall` rows stand, where the gradient norm towers in them.

    It stands `lasting.over` times as high there as ever before, and the loss `lasting.better` of all before
    above that.
    """
    if not run.has("grad_norm"):
        return None
    rows = run.logged("loss")
    loss, norms = finite(rows["loss"]), finite(rows["grad_norm"])
    if len(loss) < 2 * lasting.tall or None in (*loss[-lasting.tall :], *norms[-lasting.tall :]):
        return None
    usual, tallest = (known_float(one[: -lasting.tall].max()) for one in (loss, norms))
    high, norm = (to_float(one[-lasting.tall :].min()) for one in (loss, norms))
    if not usual or not tallest or usual < 0 or norm <= lasting.over * tallest:
        return None
    return usual if high > (1 + lasting.better) * usual else None


def _leaps(known: pl.Series, lasting: Runaway) -> float | None:
    """The height that a loss climbed over in its first rows and stayed above; None where it didn't.

    Twice in a row: where the first row is of another kind, such as one batch before the means of many, the
    loss leaps once.
    """
    if len(known) < 2 * FEWEST or to_float(known.min()) <= 0:
        return None
    first, second, third = known[:3]
    climbed = second > lasting.leap * first and third > lasting.leap * second
    height = lasting.leap * first
    return height if climbed and to_float(known[1:].min()) > height else None


def _all_gone(known: pl.Series, lasting: Runaway) -> float | None:
    """The height over which the last rows lie that lost all that the loss had gained; None where they don't.

    Each of them stands above the twice as many before them; their median stands above that height as much as
    a leap does, and above the first losses, too.
    """
    begun = to_float(known[:FEWEST].max()) if len(known) else 0.0
    for count in range(lasting.gone, min(len(known) // 3, 4 * lasting.gone) + 1):
        last, before = known[-count:], known[-3 * count : -count]
        height, level = to_float(before.max()), to_float(last.median())
        if to_float(last.min()) > height > 0 and level > max(lasting.leap * height, begun):
            return height
    return None


def _only_rise(run: Run, known: pl.Series, lasting: Runaway) -> float | None:
    """The height over which a run ends that has only become worse, in training and in validation, if it has.

    That is the first loss, and the share `lasting.worse` of it. Both have `lasting.gone` rows or more, were
    lowest at first and highest at last, by more than that share, and rise from row to row, or in order beyond
    chance: one of them does so by chance now and then, both together hardly. Without validation the means of
    epochs tell, where they rise from one to the next, by more than their noise. No score gets better
    meanwhile, and no learning rate warms up.
    """
    both = (known, finite(run["val_loss"]).drop_nulls()) if run.has("val_loss") else (known,)
    if not all(_rises(one, lasting) for one in both) or warming_up(run):
        return None
    if scores_rise(run, 0.0) or errors_fall(run):
        return None
    straight = run.counts == "epochs" and rises_straight(known, lasting.gone - 1, lasting.straight)
    if not run.has("val_loss") and not straight:
        return None
    return float(known[0]) + lasting.worse * abs(float(known[0]))


def _rises(known: pl.Series, lasting: Runaway) -> bool:
    """Whether a loss rises from its first row to its last by enough, and in order."""
    if len(known) < lasting.gone or known[0] != known.min() or known[-1] != known.max():
        return False
    rise = float(known[-1]) - float(known[0])
    in_order = to_float(known.diff().min()) > 0 or ordered(known) > lasting.order
    return in_order and rise > lasting.worse * abs(float(known[0]))
