"""Recovery: what each action of the playbook made of a run that spiked, as `tutor recover` keeps it."""

import math
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

ACTIONS = ("A", "B", "C", "D", "E")
"""The playbook: carry on, skip batches, restart earlier, lower the learning rate, swap some of the data."""

CLOSE = 0.05
"""Losses that differ by no more than this share are as good as each other: then the cheaper action wins.
Ours: means over 20 steps of one recipe differ by up to that where only the order of the batches does."""


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, ser_json_inf_nan="strings", defer_build=True)


class Outcome(_Data):
    """What one action came to.

    Attributes:
        action: its letter.
        change: what was done, in a few words.
        run: the folder of the run that shows it.
        begins: the step at which it took the run up.
        steps: that were lost, at least 0.
        tokens: that they had been trained on; None where that isn't known.
        hours: that they took; None where that isn't known.
        price: of these, in the currency of the price of an hour; None where that isn't known.
        soon, late: mean loss about `Recovery.soon` and `Recovery.late` steps after the spike; None where the
            run doesn't get there or its loss isn't finite.
        again: the step at which it spiked again, None where it didn't.
    """

    action: str
    change: str
    run: str
    begins: int
    steps: int
    tokens: int | None = None
    hours: float | None = None
    price: float | None = None
    soon: float | None = None
    late: float | None = None
    again: int | None = None


class Recovery(_Data):
    """The actions side by side.

    Attributes:
        of: the folder of the run that spiked.
        spike: where it did.
        seen: the step at which somebody acts: what lies between is lost by going back.
        per_hour: price of an hour.
        soon, late: steps after the spike at which losses are compared.
        outcomes: by the order of the playbook.
        left_out: by letter, why an action couldn't be tried.
    """

    of: str
    spike: int
    seen: int
    per_hour: float
    soon: int
    late: int
    outcomes: tuple[Outcome, ...] = ()
    left_out: dict[str, str] = {}

    @property
    def best(self) -> Outcome | None:
        """The lowest loss in the end; of those as good as it, the one that lost the fewest steps."""
        return best(self.outcomes)


def best(outcomes: Sequence[Outcome]) -> Outcome | None:
    """The outcome with the lowest late loss, of those as good as it the one that lost the fewest steps."""
    ends = {one.action: one.late for one in outcomes if one.late is not None and math.isfinite(one.late)}
    if not ends:
        return None
    least = min(ends.values())
    good = [one for one in outcomes if ends.get(one.action, math.inf) <= least * (1 + CLOSE)]
    return min(good, key=lambda one: (one.steps, ends[one.action]))
