"""Quantities: what is measured of a training step, one measure a file.

A quantity is a function of one `Observation`. It states which parts of it it needs and which columns it
gives, and knows nothing of our model, recipe or loop: the same code measures one group of parameters or
five, flat or not, under any optimizer of torch. To add one, write one file here:

    @quantity(needs=("losses",), columns=("loss",))
    def loss(seen: Observation) -> Columns:
        \"\"\"Mean loss over the tokens, in nats.\"\"\"
        return {"loss": seen.losses.mean()}

A tensor without dimensions is a number in the log, one with a dimension a list; bool and integer tensors
are written as such. Everything stays on the device: `Instruments` copies it out, many steps at once.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from torch import Tensor

from tutor.lab.quantities.observation import Observation

Columns = Mapping[str, Tensor]
Measure = Callable[[Observation], Columns]
Joined = Literal["norm", "mean", "sum", "first", "worst"]


@dataclass(frozen=True)
class Quantity:
    """A measure with what it declares.

    Attributes:
        needs: attributes of the observation without which its columns are null at that step.
        columns: the columns it gives; `{group}` stands for the name of each group of parameters.
        joined: how the columns of several processes, each of its part of the step, make those of the whole:
            "norm" (the root of the sum of squares), "mean", "sum", "first" (the first process's) or "worst"
            (the largest of all lists, and what goes with them in the other columns).
    """

    name: str
    measure: Measure
    needs: tuple[str, ...]
    columns: tuple[str, ...]
    joined: Joined

    @property
    def doc(self) -> str:
        """The first line of the function's docstring."""
        return (inspect.getdoc(self.measure) or "").partition("\n")[0]

    def columns_of(self, seen: Observation) -> list[str]:
        """The columns for the groups that `seen` has."""
        groups = [group.name for group in seen.groups]
        each = ([column.format(group=name) for name in groups] for column in self.columns)
        return [column for columns in each for column in dict.fromkeys(columns)]

    def possible(self, seen: Observation) -> bool:
        """Whether everything it needs was observed."""
        parts = (getattr(seen, need) for need in self.needs)
        return all(part is not None and (isinstance(part, Tensor) or len(part) > 0) for part in parts)


_REGISTRY: dict[str, Quantity] = {}


def quantity(
    *, needs: tuple[str, ...], columns: tuple[str, ...], joined: Joined = "norm"
) -> Callable[[Measure], Measure]:
    """Register the function under its own name; the arguments are those of `Quantity`."""

    def register(measure: Measure) -> Measure:
        _REGISTRY[measure.__name__] = Quantity(measure.__name__, measure, needs, columns, joined)
        return measure

    return register


@cache
def quantities() -> tuple[Quantity, ...]:
    """Every quantity of this package, by the name of its file."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return tuple(_REGISTRY.values())


def joined(column: str) -> Joined:
    """How the column's values of several processes make one; "first" for a column that is no quantity's."""
    for one in quantities():
        if any(_names(template, column) for template in one.columns):
            return one.joined
    return "first"


def _names(template: str, column: str) -> bool:
    """Whether a quantity's column, with the name of a group in it or not, is that one."""
    start, group, _ = template.partition("{group}")
    return column.startswith(start) if group else column == template
