"""Validation beside training, and which evaluation is looked at."""

from dataclasses import dataclass
from typing import ClassVar

from tutor.detectors.grouped.base import Grouped


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
class Apart(Grouped):
    """When validation that lies above training is learned by heart:
    `{over: 1.0, of_gain: 0.3, risen: 0.05, heart: 0.05, stands: 0.02, ...}`.

    Attributes:
        over: it lies so far above.
        of_gain: and by more than this share of what the run has gained.
        risen: unless validation ends no more than this share of its lowest level above that.
        heart: of a log that begins mid-way only unless training costs less than this share of validation.
        stands: nor where no evaluation ever came under what an untrained model costs by this share,
        falls: or each is one number while training falls by this share,
        halves: and it had more than this share of its way down ahead of it at the first evaluation.
    """

    a_kind: ClassVar[str] = "a gap"
    over: float
    of_gain: float
    risen: float
    heart: float
    stands: float
    falls: float
    halves: float


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
