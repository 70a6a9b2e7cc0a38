"""Gradient norms and loss scales."""

from dataclasses import dataclass
from typing import ClassVar

from tutor.detectors.grouped.base import Grouped


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
