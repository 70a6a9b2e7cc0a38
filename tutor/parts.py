"""Part: a fault or a trigger as plain data, its name and its parameters.

A card lists parts, `tutor train --fault` names them, and a run's manifest keeps them, so that resuming
applies them again. What they do is in `tutor/lab/faults/`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tutor.catalog import cut


@dataclass(frozen=True)
class Part:
    """One fault or trigger: the name it is registered under and the parameters it is given."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """As `--fault` takes it: `empty-mask:step=300`."""
        given = ",".join(f"{key}={as_typed(value)}" for key, value in self.parameters.items())
        return f"{self.name}:{given}" if given else self.name

    def data(self) -> dict[str, Any]:
        """As a card and a manifest hold it: `{"name": "empty-mask", "step": 300}`."""
        return {"name": self.name, **self.parameters}


def read(data: Any) -> Part:
    """The part that `Part.data` gave.

    Raises:
        ValueError: it isn't a mapping with a name, or a parameter isn't a plain value.
    """
    if isinstance(data, Part):
        return data
    if not isinstance(data, Mapping) or not isinstance(data.get("name"), str):
        raise ValueError("is no mapping with a name: {name: boilerplate, step: 312}")
    parameters = {str(key): _value(value) for key, value in data.items() if key != "name"}
    for key, value in parameters.items():
        if value is not None and not isinstance(value, bool | int | float | str):
            raise ValueError(f"{key}: is no plain value")
    return Part(data["name"], parameters)


def parse(text: str) -> Part:
    """The part that `str(part)` gave: `name` or `name:key=value,key=value`.

    Raises:
        ValueError: a parameter without `=`.
    """
    name, _, given = text.partition(":")
    parameters: dict[str, Any] = {}
    for assignment in filter(None, given.split(",")):
        key, equals, value = assignment.partition("=")
        if not equals or not key.strip():
            raise ValueError(f"a fault is name or name:key=value,key=value, not {cut(text)!r}")
        parameters[key.strip()] = _value(value.strip())
    return Part(name.strip(), parameters)


def _value(value: Any) -> Any:
    """`none` and `off` mean None, as they do after `--set`."""
    return None if isinstance(value, str) and value.lower() in ("none", "off") else value


def as_typed(value: Any) -> str:
    """A value as a person types it after `--fault` or `--set`."""
    return "none" if value is None else str(value)
