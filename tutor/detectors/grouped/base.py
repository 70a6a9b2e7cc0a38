"""What all groups of numbers share: their names, their sources and how a sentence calls them."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import ClassVar, Self

from tutor.run import Run


class Grouped:
    """Several numbers as one. Each kind has keys of its own, by which a tree's YAML is told what it is."""

    a_kind: ClassVar[str]
    """The kind in words, as a problem in a tree's file calls it."""
    __pydantic_config__: ClassVar = {"extra": "forbid"}  # a key too many in a tree is an error

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of its numbers, in order."""
        return tuple(field.name for field in fields(cls))  # type: ignore[arg-type]  # each kind is a dataclass

    @property
    def values(self) -> Mapping[str, float]:
        """Its numbers by name, in order."""
        return {name: getattr(self, name) for name in self.names()}

    def of(self, run: Run) -> Self:  # noqa: ARG002  # which run it is matters to some kinds alone
        """The numbers as they hold for that run."""
        return self

    def named(self, name: str) -> Iterator[tuple[str, float]]:
        """Its numbers by the placeholders that they fill, where the group itself is called `name`."""
        first, *others = self.values.items()
        yield name, first[1]
        yield from ((f"{name}_{field}", one) for field, one in others)

    def cited(self, name: str) -> tuple[str, ...]:
        """Under what the sources of its numbers are named, where the group itself is called `name`."""
        return (name, *(f"{name}.{field}" for field in self.names()[1:]))
