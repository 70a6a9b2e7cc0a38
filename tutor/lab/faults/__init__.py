"""Faults, triggers and actions: functions Recipe -> Recipe, one a file, each replacing a part of the recipe.

A fault is what is wrong with a break; a trigger befalls a break and its control alike; an action is what
somebody does about a run when it is forked, after all the others. Their parameters are the function's
keyword-only arguments, checked against their annotations before anything is trained. To add
one, write one function in a file of its own here; see `empty_mask.py`. A card or
`tutor train --fault empty-mask:step=300` names it, with dashes for underscores.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, get_type_hints

from pydantic import TypeAdapter, ValidationError

from tutor import catalog
from tutor.lab.recipe import Recipe
from tutor.parts import Part

Kind = Literal["fault", "trigger", "action"]
Function = Callable[..., Recipe]


@dataclass(frozen=True)
class Entry:
    """A registered fault, trigger or action.

    Attributes:
        name: what cards and the command line call it.
        kind: "fault", "trigger" or "action".
        function: the recipe and keyword-only parameters to the recipe that has it.
        types: the annotation of each parameter.
        defaults: the value of each parameter that need not be given.
    """

    name: str
    kind: Kind
    function: Function
    types: Mapping[str, Any]
    defaults: Mapping[str, Any]

    @property
    def doc(self) -> str:
        """The first line of the function's docstring."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]


_REGISTRY: dict[tuple[Kind, str], Entry] = {}


def fault(function: Function) -> Function:
    """Register the function as a fault, under its own name."""
    return _register("fault", function)


def trigger(function: Function) -> Function:
    """Register the function as a trigger, under its own name."""
    return _register("trigger", function)


def action(function: Function) -> Function:
    """Register the function as an action, under its own name."""
    return _register("action", function)


def registry(kind: Kind) -> dict[str, Entry]:
    """Every fault, every trigger or every action, by name."""
    _load()
    return {name: entry for (other, name), entry in sorted(_REGISTRY.items()) if other == kind}


def apply(
    recipe: Recipe, triggers: Sequence[Part], faults: Sequence[Part], actions: Sequence[Part] = ()
) -> Recipe:
    """`recipe` with the triggers, the faults and then the actions applied in order, and named in it.

    Raises:
        ValueError: see `checked`.
    """
    given: dict[Kind, Sequence[Part]] = {"trigger": triggers, "fault": faults, "action": actions}
    parts: dict[Kind, tuple[Part, ...]] = {kind: checked(kind, asked) for kind, asked in given.items()}
    for kind, asked in parts.items():
        for part in asked:
            recipe = registry(kind)[part.name].function(recipe, **part.parameters)
    return replace(recipe, trigger=parts["trigger"], faults=parts["fault"], actions=parts["action"])


def checked(kind: Kind, parts: Iterable[Part]) -> tuple[Part, ...]:
    """The parts with every parameter filled in and of its type.

    Raises:
        ValueError: a name that isn't registered (the nearest is offered), a parameter that is unknown,
            missing, or doesn't fit; in one line.
    """
    return tuple(_checked(kind, part) for part in parts)


def _checked(kind: Kind, part: Part) -> Part:
    known = registry(kind)
    if part.name not in known:
        raise ValueError(catalog.unknown(kind, part.name, known))
    entry = known[part.name]
    for name in part.parameters:
        if name not in entry.types:
            hint = catalog.way_on(name, entry.types) if entry.types else "it has none"
            raise ValueError(f"{part.name} has no parameter {catalog.cut(name)!r}; {hint}")
    given = {**entry.defaults, **part.parameters}
    for name in entry.types:
        if name not in given:
            raise ValueError(f"{part.name} needs {name}: {part.name}:{name}=...")
    fitting = {name: _fit(part.name, name, kind, given[name]) for name, kind in entry.types.items()}
    return Part(part.name, fitting)


def _fit(part: str, name: str, kind: Any, value: Any) -> Any:
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        raise ValueError(
            f"{part}:{name}={catalog.cut(str(value))}: {error.errors()[0]['msg'].lower()}"
        ) from None


def _register(kind: Kind, function: Function) -> Function:
    name = function.__name__.replace("_", "-")
    parameters = inspect.signature(function).parameters.values()
    named = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    hints = get_type_hints(function, include_extras=True)
    _REGISTRY[kind, name] = Entry(
        name,
        kind,
        function,
        {p.name: hints[p.name] for p in named},
        {p.name: p.default for p in named if p.default is not p.empty},
    )
    return function


@cache
def _load() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
