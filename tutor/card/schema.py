"""What a card's files hold: the graph of a break, and every sentence about it in the prose files."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PrivateAttr, WithJsonSchema

from tutor import calibration, catalog, parts
from tutor.card.ladder import LookAlike, Rung
from tutor.parts import Part, as_typed
from tutor.settings import build
from tutor.words import Problem, Strict, Words
from tutor.words.document import Where
from tutor.words.prose import Joined, named_graphs


def _values(changes: Any) -> Any:
    """`none` and `off` mean None, as they do after `--set`."""
    if not isinstance(changes, dict):
        return changes
    return {key: None if value in ("none", "off") else value for key, value in changes.items()}


Changes = Annotated[dict[str, float | int | str | None], BeforeValidator(_values)]
_PART = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
_SHARE = {"type": "string", "pattern": r"^\d+ of \d+$"}
_IDS = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}

Parts = tuple[Annotated[Part, BeforeValidator(parts.read), WithJsonSchema(_PART)], ...]


class Fix(Strict):
    """A change that can be run and mends the break; `price` is what it costs.

    Without a `change` of settings the code is what has to be mended: the control has it as it should be.
    """

    title: Words
    change: Changes = Field(default_factory=dict)
    price: Words | None = None
    deeper: bool = False


def _share(text: Any) -> Any:
    """`19 of 20` as the two numbers."""
    if not isinstance(text, str):
        return text
    count, _, total = text.partition(" of ")
    if not (count.strip().isdigit() and total.strip().isdigit() and 0 < int(count) <= int(total)):
        raise ValueError(f"{text!r} is no share, such as 19 of 20")
    return int(count), int(total)


def _leaves(leaf: Any) -> Any:
    return (leaf,) if isinstance(leaf, str) else leaf


Leaves = Annotated[tuple[str, ...], BeforeValidator(_leaves), WithJsonSchema(_IDS), Field(min_length=1)]


class Expect(Strict):
    """Where walks of the break should end: in which tree, at one of which leaves, and how often.

    Attributes:
        also: the same for other trees, each walked by itself over the same run: its leaves, by tree.
    """

    tree: str = "phase-19"
    leaf: Leaves
    at_least: Annotated[tuple[int, int], BeforeValidator(_share), WithJsonSchema(_SHARE)] = (1, 1)
    also: Mapping[str, Leaves] = Field(default_factory=dict)

    @property
    def leaves(self) -> Mapping[str, tuple[str, ...]]:
        """The promised leaves by tree, that of the break first."""
        return {self.tree: self.leaf, **self.also}

    def kept(self, count: int, total: int) -> bool:
        """Whether `count` walks of `total` that ended there are enough."""
        enough, of = self.at_least
        return count * of >= enough * total


class Calibration(Strict):
    """The command that trains the break over seeds, and what its table shows.

    The note's placeholders are `tutor.calibration.figures` of the table beside the card.
    """

    command: str
    note: Words | None = None


class Card(Strict):
    """A break's card.

    Attributes:
        name: the file's name without its ending.
        title: what to call the break.
        symptom: what the learner will see.
        settings: settings of the control and of the break alike.
        trigger: what befalls the control and the break alike.
        change: settings of the break alone.
        faults: faults of the break alone; a break has a change or a fault.
        expect: the leaf at which a walk of the break should end.
        why: the mechanism.
        ladder: the panel questions in order, by id, ending in the diagnosis.
        diagnosis: the mechanism in one sentence.
        control: what is so where nothing is broken, in one sentence.
        fixes: changes that mend it, by id.
        not_this: the look-alikes, by id.
        sources: where the facts come from.
        calibration: how it was trained over seeds, and what is to be said of it.
    """

    name: str = ""
    title: Words
    symptom: Words
    settings: Changes = Field(default_factory=dict)
    trigger: Parts = ()
    change: Changes = Field(default_factory=dict)
    faults: Parts = ()
    expect: Expect | None = None
    why: Words
    ladder: Mapping[str, Rung] = Field(min_length=1)
    diagnosis: Words
    control: Words
    fixes: Mapping[str, Fix] = Field(min_length=1)
    not_this: Mapping[str, LookAlike] = Field(default_factory=dict)
    sources: tuple[str, ...] = Field(min_length=1)
    calibration: Calibration | None = None
    _files: Joined | None = PrivateAttr(default=None)  # know the lines

    @property
    def path(self) -> Path | None:
        """Where its graph lies."""
        return self._files.graph.path if self._files else None

    def problem(self, where: Where, what: str) -> Problem:
        """What is wrong at `where` in the card, with its file and line."""
        assert self._files, "a card is checked as it lies in its files"
        return self._files.problem(where, what)

    @property
    def asked_as(self) -> str:
        """What `--break` calls it: its name where that finds it, else its file."""
        known = available().get(self.name)
        return self.name if self.path is None or known == self.path else str(self.path)

    @property
    def tree(self) -> str:
        """The tree whose questions and numbers its ladder and its look-alikes name."""
        return self.expect.tree if self.expect else Expect.model_fields["tree"].default

    @property
    def mending(self) -> frozenset[str]:
        """The settings that mend the break: those that it changes, and those that a fix does."""
        return frozenset(self.change).union(*(fix.change for fix in self.fixes.values()))

    @cached_property
    def figures(self) -> dict[str, Any]:
        """What the break did over seeds, from the table beside the card; empty where there is none.

        Raises:
            ValueError: what lies there is no such table.
        """
        table = self.path and calibration.path_of(self.path)
        if not table or not table.exists():
            return {}
        return calibration.figures_of(table, self.expect.leaf if self.expect else ())

    def diff(self) -> list[str]:
        """The break against its control as a diff: `- grad_clip: 1.0`, `+ grad_clip: none`, `+ frozen`."""
        control = build(self.settings)
        lines = []
        for name, value in self.change.items():
            lines += [f"- {name}: {as_typed(getattr(control, name))}", f"+ {name}: {as_typed(value)}"]
        return lines + [f"+ {fault}" for fault in self.faults]


def available() -> dict[str, Path]:
    """Every card's graph by name; a user's own hides a shipped one of the same name."""
    return catalog.listing("trees", lambda folder: named_graphs(folder / "breaks"))
