"""Verification: whether a fix did what it was to do, as `tutor verify` keeps it beside the re-trained run."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from tutor.run.scoring import rises

WORSE = 0.1
"""An end that is worse by more than this share of the other is worse. Ours: the ends of healthy runs of one
recipe differ by less than that."""


def no_worse(signal: str, end: float, other: float) -> bool:
    """Whether a run whose signal comes to `end` is within `WORSE` of one that comes to `other`, or better.

    A score is the better the higher, any other signal the lower.
    """
    slack = WORSE * abs(other)
    return end >= other - slack if rises(signal) else end <= other + slack


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, ser_json_inf_nan="strings", defer_build=True)


class Checked(_Data):
    """A bound, checked against the re-trained run.

    Attributes:
        signal, comparison, value, window: the bound, as typed.
        reach: how far it reaches with its tolerance.
        step: where the run comes closest to it, or breaks it; None where the run has no row in the window.
        worst: the value there.
        holds: at every step of the window.
        stopped: whether `step` is the run's last, before the window: the fix was to stop.
    """

    signal: str
    comparison: str
    value: str
    window: str
    reach: float | None = None
    step: int | None = None
    worst: float | None = None
    holds: bool = False
    stopped: bool = False


class Beside(_Data):
    """The end beside that of the run that was never broken.

    Attributes:
        control: its name.
        step: through which both are read.
        ours, theirs: the mean of the rows before, in the unit of what is compared.
        share: by how much of theirs ours may be worse.
        holds: whether it is within that.
    """

    control: str
    step: int
    ours: float
    theirs: float
    share: float
    holds: bool


class Verification(_Data):
    """What the run with the fix showed.

    Attributes:
        of: the folder, or the log, of the run that is broken.
        fixed: of the run with the fix.
        change: what was changed, in a few words.
        when: ISO time with offset.
        bounds: each, checked.
        beside: the control; None where none is at hand.
        tree, leaf: where a walk of the run with the fix ends, with nobody watching; "" on no leaf.
        at: the id of the question or leaf at which it ends.
        verdict: "healthy", "flaw" or "undecided".
        open: of a walk that is undecided, how many questions the log leaves open.
        open_before: whether the broken run's log could answer none of them either.
        stops: whether the fix may end the run earlier.
        stopped: and whether it did.
        signal: what tells which of the two ends better: the loss or, where the flaw is about another, that.
        before, after: its mean at the end of either run, in its unit; None where it isn't finite.
    """

    of: str
    fixed: str
    change: str
    when: str
    bounds: tuple[Checked, ...] = ()
    beside: Beside | None = None
    tree: str
    leaf: str
    at: str = ""
    verdict: str
    open: int = 0
    open_before: bool = False
    stops: bool = False
    stopped: bool = False
    signal: str = "loss"
    before: float | None = None
    after: float | None = None

    @property
    def verified(self) -> bool:
        """Whether all bounds hold, and a walk finds nothing that looks everywhere, or wherever the broken
        run's log let anyone look.
        """
        held = all(bound.holds for bound in self.bounds) and (self.beside is None or self.beside.holds)
        return held and (self.verdict == "healthy" or self.as_far_as_before)

    @property
    def as_far_as_before(self) -> bool:
        """Whether a walk finds nothing, and what it leaves open was open before the fix too."""
        return self.verdict == "undecided" and self.open_before

    @property
    def worse(self) -> bool:
        """Whether the run ends worse with the fix than without."""
        if self.after is None:
            return self.before is not None
        return self.before is not None and not no_worse(self.signal, self.after, self.before)

    def data(self) -> Mapping[str, Any]:
        """As JSON holds it."""
        return self.model_dump(mode="json") | {"verified": self.verified, "worse": self.worse}
