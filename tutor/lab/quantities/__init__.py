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

from torch import Tensor

from tutor.lab.quantities.observation import Observation

Columns = Mapping[str, Tensor]


@dataclass(frozen=True)
class Quantity:
    """A measure with what it declares.

    Attributes:
        needs: attributes of the observation without which its columns are null at that step.
        columns: the columns it gives; `{group}` stands for the name of each group of parameters.
    """

    name: str
    measure: Callable[[Observation], Columns]
    needs: tuple[str, ...]
    columns: tuple[str, ...]

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
    *, needs: tuple[str, ...], columns: tuple[str, ...]
) -> Callable[[Callable[[Observation], Columns]], Callable[[Observation], Columns]]:
    """Register the function under its own name; the arguments are those of `Quantity`."""

    def register(measure: Callable[[Observation], Columns]) -> Callable[[Observation], Columns]:
        _REGISTRY[measure.__name__] = Quantity(measure.__name__, measure, needs, columns)
        return measure

    return register


@cache
def quantities() -> tuple[Quantity, ...]:
    """Every quantity of this package, by the name of its file."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return tuple(_REGISTRY.values())
