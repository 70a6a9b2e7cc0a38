"""Whether a run learns: what counts as a gain, and what guessing gives."""

from dataclasses import dataclass
from typing import ClassVar

from tutor.detectors.grouped.base import Grouped


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
        over: one more than half as many do, where the learning rate has come down to this share of its top.
        longer: or it would have to be so many times as long to tell, which nobody waits for.
        still: or has a few means, of epochs or of windows, that lie within this share of the highest.
        sure: what was gained is known to within so many standard deviations of two levels; and where the
            order of the levels falls by more than as many of chance, it may be an early gain.
        high: what a language model pays that knows next to nothing; a loss that lies still above it tells.
        flat: it lies still where its later values differ by less than this share of the last.
        gained: and where it gained less than this share of its first value.
        scored: a score that rises by no more than this share of itself has learned next to nothing either.
        early: a loss that stands still but for this share of its rows, the first ones, has stopped;
        stands: where all others lie within this share of their level,
        costly: which is as high as this, or higher.
        alike: groups of answers teach nothing of which this share earns the same within each,
        cut: and neither do answers of which this share is cut off.
        dead: nothing is learned at a learning rate under this share of its top.
        epochs: so many epochs whose levels don't fall in order have taught nothing,
        hides: if their noise hides no more than this share of the highest level.
    """

    a_kind: ClassVar[str] = "a length of the log"
    rows: int
    over: float
    longer: float
    still: float
    sure: float
    high: float
    flat: float
    gained: float
    scored: float
    early: float
    stands: float
    costly: float
    alike: float
    cut: float
    dead: float
    epochs: int
    hides: float


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
        few: few answers are right where it is less than this share of them.
        won: a discriminator has won that costs less than this share of what guessing costs,
        pays: while its generator pays so many times what it paid at first.
        gone: a divergence of less than this, and than this share of its highest, is gone.
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
    few: float
    won: float
    pays: float
    gone: float


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
class Twice(Grouped):
    """A softmax before a loss that has its own: `{rows: 20, fell: 0.05, right: 0.8, within: 0.015, ...}`.

    Attributes:
        rows: in so many no token costs more than one that is wrong beyond doubt,
        fell: while the loss has come down from a guess's by so many nats.
        least: or so many rows have a loss and a share of right answers,
        right: which is this one or more,
        apart: and differs by so much between them,
        within: where the loss lies on a line, and that begins as near above the floor, in nats,
        times: and costs between 1 nat over so much and 1 nat times so much for each answer that is wrong.
        most: among more classes than this the floors lie too close together to be told apart.
    """

    a_kind: ClassVar[str] = "a softmax of a softmax"
    rows: int
    fell: float
    least: int
    right: float
    apart: float
    within: float
    times: float
    most: int


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
