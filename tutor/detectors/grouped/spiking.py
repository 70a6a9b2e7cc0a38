"""Spikes: what chance explains, what lasts, and which one is to explain."""

from dataclasses import dataclass
from typing import ClassVar

from tutor.detectors.grouped.base import Grouped


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
class Lasting(Grouped):
    """How many rows in a row aren't chance: `{rows: 3, to_the_end: 5, given_back: 0.5, of_wild: 0.005, ...}`.

    Attributes:
        rows: wherever they stand.
        to_the_end: and up to the last row of the log.
        given_back: the share of what the run had gained, or of its level, that the latter still lack.
        of_wild: the least share of a gain from a wild beginning that a spike far below it has to be.
        long: so many after a jump are no spike of a batch or two, however far the run had come:
        of_level: then it is enough that it jumps by this share of the level before.
        alone: one row that rises by so many times its level is more than a hard batch,
        beyond: if it rises by more than this, too, which the cross-entropy of a guess doesn't reach, in nats.
    """

    a_kind: ClassVar[str] = "rows in a row"
    rows: int
    to_the_end: int
    given_back: float
    of_wild: float
    long: int
    of_level: float
    alone: float
    beyond: float


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
