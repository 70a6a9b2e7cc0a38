"""Numbers that belong together, which a tree gives as one: `{steps: 100, rows: 20}`.

The first field is what the number's name stands for in a tree's sentences and among its sources; a further
one is called `name_field` in a sentence and `name.field` among the sources. A detector takes at most five
numbers, a group among them counting as one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import ClassVar, Self

from tutor.run import Run


class Grouped:
    """Several numbers as one. Each kind has keys of its own, by which a tree's YAML is told what it is."""

    a_kind: ClassVar[str]
    """The kind in words, as a problem in a tree's file calls it."""
    __pydantic_config__: ClassVar = {"extra": "forbid"}  # a key too many in a tree is an error

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of its numbers, in order."""
        return tuple(field.name for field in fields(cls))  # type: ignore[arg-type]  # each kind is a dataclass

    @property
    def values(self) -> Mapping[str, float]:
        """Its numbers by name, in order."""
        return {name: getattr(self, name) for name in self.names()}

    def of(self, run: Run) -> Self:  # noqa: ARG002  # which run it is matters to some kinds alone
        """The numbers as they hold for that run."""
        return self

    def named(self, name: str) -> Iterator[tuple[str, float]]:
        """Its numbers by the placeholders that they fill, where the group itself is called `name`."""
        first, *others = self.values.items()
        yield name, first[1]
        yield from ((f"{name}_{field}", one) for field, one in others)

    def cited(self, name: str) -> tuple[str, ...]:
        """Under what the sources of its numbers are named, where the group itself is called `name`."""
        return (name, *(f"{name}.{field}" for field in self.names()[1:]))


@dataclass(frozen=True)
class Beyond(Grouped):
    """A bound that chance mustn't explain either: `{bound: 0.05, sigmas: 3.0}`.

    Attributes:
        bound: in the unit of what is measured.
        sigmas: so many standard deviations of it aren't chance.
    """

    a_kind: ClassVar[str] = "a bound with its noise"
    bound: float
    sigmas: float


@dataclass(frozen=True)
class Motion(Grouped):
    """When what ought to move stands still: `{moves: 0.1, still: 0.000001}`.

    Attributes:
        moves: the plan moves by more than this share of its peak.
        still: and what was logged by no more than this one.
    """

    a_kind: ClassVar[str] = "a motion"
    moves: float
    still: float


@dataclass(frozen=True)
class Gain(Grouped):
    """What counts as having learned: `{gain: 0.03, level: 0.05, sigmas: 3.0}`.

    Attributes:
        gain: the share of its first level by which the loss falls.
        level: the share of the rows whose median is a level.
        sigmas: so many standard deviations of a level aren't chance.
    """

    a_kind: ClassVar[str] = "a gain"
    gain: float
    level: float
    sigmas: float


@dataclass(frozen=True)
class Enough(Grouped):
    """When a log is long enough to tell: `{rows: 10, longer: 10.0, still: 0.001, ...}`.

    Attributes:
        rows: it has so many.
        over: half as many do, where the learning rate has come down to this share of its highest.
        longer: or it would have to be so many times as long to tell, which nobody waits for.
        still: or has a few means, of epochs or of windows, that lie within this share of the highest.
        sure: what was gained is known to within so many standard deviations of two levels; and where the
            order of the levels falls by more than as many of chance, it may be an early gain.
        shows: twice as many rows tell where, in no order, a fall by this share from half to half would show.
        high: what a language model pays that knows next to nothing; a loss that lies still above it tells.
        flat: it lies still where its later values differ by less than this share of the last.
        gained: and where it gained less than this share of its first value.
        scored: a score that rises by no more than this share of itself has learned next to nothing either.
        early: a loss that stands still but for this share of its rows, the first ones, has stopped;
        stands: where all others lie within this share of their level,
        costly: which is as high as this, or higher.
        alike: groups of answers teach nothing of which this share earns the same within each,
        cut: and neither do answers of which this share is cut off.
    """

    a_kind: ClassVar[str] = "a length of the log"
    rows: int
    over: float
    longer: float
    still: float
    sure: float
    shows: float
    high: float
    flat: float
    gained: float
    scored: float
    early: float
    stands: float
    costly: float
    alike: float
    cut: float


@dataclass(frozen=True)
class Guess(Grouped):
    """A loss that guessing gives: `{classes: 10, often: 0.8, within: 0.005, centre: 0.001, ...}`.

    Attributes:
        classes: so many may be guessed among, at most, where the run doesn't say how many there are.
        often: the share of the later half of the rows that lie near the logarithm of that number.
        within: near, as a share of it.
        centre: and so near lies their median.
        above: or so far above at most, where the run gained less than the share `little`.
        little: of its highest level.
        least: so many evaluations tell by themselves, where the answers are right as often as guesses are.
        among: and among so many classes, at most, where twice as many as are usual do.
        right: as often, as a share of what guessing gives.
        sure: so far above at most they cost, for who is sure of wrong answers pays more.
        unmoved: where a score stands still and fewer than half of the answers are right, the loss may gain so
            much, as a share, while they do.
        at_once: where the loss falls to exactly 0 in one row, the share of the rows, to the last, that it
            stays there.
        deserved: a score that never moves may be what is deserved from this one on.
        order: a score doesn't stay where guessing leaves it that rises in order, beyond so many standard
            deviations of chance.
        skill: an accuracy is no better than a guess's that has this share, at most, of what that gets wrong.
        nothing: a score that is lower at every evaluation says that next to no answer is right.
    """

    a_kind: ClassVar[str] = "a guess"
    classes: int
    often: float
    within: float
    centre: float
    above: float
    little: float
    least: int
    among: int
    right: float
    sure: float
    unmoved: float
    at_once: float
    deserved: float
    order: float
    skill: float
    nothing: float


@dataclass(frozen=True)
class BelowZero(Grouped):
    """A loss below 0 that can't be there: `{negative: 0.9, rows: 5, alike: 1.0, ...}`.

    Attributes:
        negative: the share of the rows of a cross-entropy that lie below 0.
        rows: so many at least.
        alike: of classes, so far below at least: minus the similarity of two vectors may lie up to there.
        times: or, whatever the loss is, so many times further below 0 at its end than it began from 0,
        beyond: and at least so far below.
        settled: beside an accuracy, a loss that gains no more than this share of its fall in its later half
            has a floor, and is another.
    """

    a_kind: ClassVar[str] = "a loss below 0"
    negative: float
    rows: int
    alike: float
    times: float
    beyond: float
    settled: float


@dataclass(frozen=True)
class NormBound(Grouped):
    """A bound of the gradient norm, and what explains a norm beyond it: `{norm: 100.0, of_loss: 2.0}`.

    Attributes:
        norm: the bound.
        of_loss: what is trained on, in multiples of the mean loss, from which the reduction is at fault.
    """

    a_kind: ClassVar[str] = "a bound of the norm"
    norm: float
    of_loss: float


@dataclass(frozen=True)
class Sustained(Grouped):
    """How often is for good: `{share: 0.5, after: 0.2}`.

    Attributes:
        share: of the rows.
        after: the share of the log that is left out at its beginning, where no warm-up is configured.
    """

    a_kind: ClassVar[str] = "a share of the rows"
    share: float
    after: float


@dataclass(frozen=True)
class Evaluation(Grouped):
    """The evaluation that is looked at: `{until: 500, least: 2, around: 10, at_least: 2}`.

    Attributes:
        until: the last one up to this step.
        least: so many after the warm-up say how validation goes.
        around: the training loss there is the median of so many steps on either side: one batch is noise.
        at_least: and of so many rows, in a log that leaves steps out. Neither reaches beyond half the way to
            the evaluations beside it.
    """

    a_kind: ClassVar[str] = "an evaluation"
    until: int
    least: int
    around: int
    at_least: int


@dataclass(frozen=True)
class Lasting(Grouped):
    """How many rows in a row aren't chance: `{rows: 3, to_the_end: 5, given_back: 0.5, of_wild: 0.005, ...}`.

    Attributes:
        rows: wherever they stand.
        to_the_end: and up to the last row of the log.
        given_back: the share of what the run had gained, or of its level, that the latter still lack.
        of_wild: the least share of a gain from a wild beginning that a spike far below it has to be.
        long: so many after a jump are no spike of a batch or two, however far the run had come:
        of_level: then it is enough that it jumps by this share of the level before.
    """

    a_kind: ClassVar[str] = "rows in a row"
    rows: int
    to_the_end: int
    given_back: float
    of_wild: float
    long: int
    of_level: float


@dataclass(frozen=True)
class Foremost(Grouped):
    """Which of several spikes is the one to explain: `{rows: 3, times: 3.0, alone: 100.0}`.

    Attributes:
        rows: so many in a row above the bound, rather than a taller one of fewer.
        times: one that rises while an earlier one lasts is a part of it, unless so many times as tall.
        alone: so many times the level of a log's first rows, one row among them needs no window before it.
    """

    a_kind: ClassVar[str] = "the spike to explain"
    rows: int
    times: float
    alone: float


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
class Scaler(Grouped):
    """Where a loss scale tells something: `{floor: 1.0, fallen: 1000.0, begins: 65536.0}`.

    Attributes:
        floor: a scale there or under it protects no gradient,
        fallen: where it was so many times as high before.
        begins: at this scale or above a scaler may still be looking for one.
    """

    a_kind: ClassVar[str] = "a loss scale"
    floor: float
    fallen: float
    begins: float


@dataclass(frozen=True)
class Apart(Grouped):
    """When validation that lies above training is learned by heart:
    `{over: 1.0, of_gain: 0.3, risen: 0.05, heart: 0.05}`.

    Attributes:
        over: it lies so far above.
        of_gain: and by more than this share of what the run has gained.
        risen: unless validation ends no more than this share of its lowest level above that.
        heart: of a log that begins mid-way only unless training costs less than this share of validation.
    """

    a_kind: ClassVar[str] = "a gap"
    over: float
    of_gain: float
    risen: float
    heart: float


@dataclass(frozen=True)
class Leak(Grouped):
    """When validation that lies below training is a leak: `{under: 0.3, before: 0.8}`.

    Attributes:
        under: it lies so far below.
        before: no more than this share of that was there before half of the learning was done.
    """

    a_kind: ClassVar[str] = "a leak"
    under: float
    before: float


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
        costlier: one that goes on to rise outweighs a validation loss that rises by less than this share.
    """

    a_kind: ClassVar[str] = "a course of scores"
    lost: float
    of_best: float
    apart: float
    since: float
    near: float
    gap: float
    costlier: float
