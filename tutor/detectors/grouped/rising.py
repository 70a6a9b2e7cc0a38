"""What rises, stays up or is lost: losses, validation and scores."""

from dataclasses import dataclass
from typing import ClassVar

from tutor.detectors.grouped.base import Grouped


@dataclass(frozen=True)
class Runaway(Grouped):
    """What the last rows of a loss that stays up look like: `{rows: 3, straight: 3.0, order: 2.5, ...}`.

    Attributes:
        rows: so many that stand above a bound.
        straight: or so many that rise from row to row, by so many deviations in all,
        order: or of a log of few whose order lies so many deviations from no trend.
        over: or so many that each stand so many times as high as all before them.
        tall: or so many, where they tower over all before
        times: by so many times.
        leap: or all but the first, where it rose so many times at each of the next two rows, and none comes
            back to so many times the first.
        gone: or so many, each above twice as many before them, and above the first loss in the median.
        better: none of it counts beside a score that rises by more than this share of its highest level.
        worse: what only rises does so by more than this share of its first value.
    """

    a_kind: ClassVar[str] = "an end that stays up"
    rows: int
    straight: float
    order: float
    over: float
    tall: int
    times: float
    leap: float
    gone: int
    better: float
    worse: float


@dataclass(frozen=True)
class Rise(Grouped):
    """When validation rises: `{share: 0.01, deviations: 5.0, evaluations: 10, few: 2.1, ...}`.

    Attributes:
        share: the last level stands above the lowest by more than this share of it.
        deviations: so many standard deviations of a level aren't chance.
        evaluations: fewer than these don't tell how large a deviation is.
        few: so many deviations lies the order of fewer from no trend, counted from the lowest one on.
        many: and that of as many or more after the lowest one.
        straight: so many deviations above the lowest ends one of few that rises at each evaluation.
        dive: where the training loss has fallen by more than this share of its level since the lowest one,
        dived: so many deviations from no trend are enough, counted as `few`,
        times: or that each evaluation since stands so many times as high; alone, that the last does.
        beside: the share of the rise by which the training loss rises, where both do.
        learns: where the training loss has fallen by more than this share since the lowest one,
        onset: a share of the lowest is enough, if the order of the few after it is beyond `few`,
        lost: or this share of what was gained, if it is beyond noise.
        halves: where it has fallen by more than this share since the lowest one,
        above: it is enough that each of the few evaluations since stands above it by this share of it, or of
            what was gained where they are more than the very fewest.
        jumps: so many times as high as those before and after it, one evaluation is another matter.
        worst: the last one stands so many times as high as the first, and `times` as high as the lowest.
        stands: one that never comes under the first by this share holds nothing of what training gained.
        high: whatever was gained, more than this share above the best level is no slight rise,
        lifted: and no more than this one where the training loss has fallen by more than `learns`.
        heart: where training costs less than this share of the last evaluation,
        clear: that one alone tells, this share above the lowest.
        broken: NaN and Inf count where they fill this share of the evaluations.
    """

    a_kind: ClassVar[str] = "a rise"
    share: float
    deviations: float
    evaluations: int
    few: float
    many: float
    straight: float
    dive: float
    dived: float
    times: float
    beside: float
    learns: float
    onset: float
    lost: float
    halves: float
    above: float
    jumps: float
    worst: float
    stands: float
    high: float
    lifted: float
    heart: float
    clear: float
    broken: float


@dataclass(frozen=True)
class Scores(Grouped):
    """When a score is lost, or left behind: `{lost: 0.5, of_best: 0.1, apart: 0.25, since: 0.05, ...}`.

    Attributes:
        lost: it gives back more than this share of what it had gained,
        of_best: and more than this one of its best level.
        apart: a held-out score this far below that of training, in parts of the whole score, is left behind,
        since: where that one has risen by so much
        near: since the held-out one came so near to its best level.
        gap: one that never rises is left behind by so much, in the same parts.
        costlier: one that gets better outweighs a validation loss that rises by less than this share.
    """

    a_kind: ClassVar[str] = "a course of scores"
    lost: float
    of_best: float
    apart: float
    since: float
    near: float
    gap: float
    costlier: float
