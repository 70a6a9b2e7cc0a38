"""Card: one break, one YAML file in `trees/breaks/`, every word in English and Spanish.

A card names what the break and its control share (`settings`, `trigger`), what the break alone has
(`change`, `faults`), the leaf at which a walk of it should end (`expect`), and what a learner sees, checks
and tries. Users' own cards load from `./trees/breaks/` or from any path.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PrivateAttr
from rich.console import Group, RenderableType
from rich.text import Text

from tutor import calibration, parts
from tutor.parts import Part
from tutor.paths import folders, named_by
from tutor.settings import Settings, assignments, build
from tutor.words import BadFileError, Document, Strict, Words, say
from tutor.words.document import validate


def _values(changes: Any) -> Any:
    """`none` and `off` mean None, as they do after `--set`."""
    if not isinstance(changes, dict):
        return changes
    return {key: None if value in ("none", "off") else value for key, value in changes.items()}


Changes = Annotated[dict[str, float | int | str | None], BeforeValidator(_values)]
Parts = tuple[Annotated[Part, BeforeValidator(parts.read)], ...]
Role = Literal["plain", "control", "break", "fix"]

RUN_SETTINGS = {"seed", "steps", "device", "dtype", "threads", "checkpoint_every", "val_every"}
"""Settings that say how to run a break, and mend nothing."""


@dataclass(frozen=True)
class Plan:
    """What a run is to be, in plain data.

    Attributes:
        settings: every number.
        trigger: what befalls a break and its control alike.
        faults: what is wrong with the break.
        role: "plain", "control", "break", or "fix" where changes mend a break.
    """

    settings: Settings
    trigger: tuple[Part, ...] = ()
    faults: tuple[Part, ...] = ()
    role: Role = "plain"


class Check(Strict):
    """One rung of the diagnostic ladder: the panel to look at (1 to 9) and what to look for."""

    panel: int = Field(ge=1, le=9)
    check: Words


class Hints(Strict):
    """Three hints, revealed one at a time."""

    mild: Words
    medium: Words
    direct: Words


class Fix(Strict):
    """A change that can be run and mends the break; `price` is what it costs."""

    title: Words
    change: Changes = Field(min_length=1)
    price: Words | None = None
    deeper: bool = False


class LookAlike(Strict):
    """What this break is not, and what tells them apart."""

    name: Words
    why: Words


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


class Expect(Strict):
    """Where walks of the break should end: in which tree, at one of which leaves, and how often."""

    tree: str = "phase-19"
    leaf: Annotated[tuple[str, ...], BeforeValidator(_leaves)] = Field(min_length=1)
    at_least: Annotated[tuple[int, int], BeforeValidator(_share)] = (1, 1)

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
        ladder: the checks in order, ending in the diagnosis.
        hints: mild, medium, direct.
        fixes: changes that mend it.
        not_this: the look-alikes.
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
    ladder: tuple[Check, ...] = Field(min_length=1)
    diagnosis: Words
    hints: Hints
    fixes: tuple[Fix, ...] = Field(min_length=1)
    not_this: tuple[LookAlike, ...] = ()
    sources: tuple[str, ...] = Field(min_length=1)
    calibration: Calibration | None = None
    _path: Path | None = PrivateAttr(default=None)

    @property
    def asked_as(self) -> str:
        """What `--break` calls it: its name where that finds it, else its file."""
        known = available().get(self.name)
        return self.name if self._path is None or known == self._path else str(self._path)

    @cached_property
    def figures(self) -> dict[str, Any]:
        """What the break did over seeds, from the table beside the card; empty where there is none."""
        table = self._path and calibration.path_of(self._path)
        if not table or not table.is_file():
            return {}
        return calibration.figures(calibration.read(table), self.expect.leaf if self.expect else ())

    def diff(self) -> list[str]:
        """The break against its control as a diff: `- grad_clip: 1.0`, `+ grad_clip: none`, `+ frozen`."""
        control = resolve(self, control=True).settings
        lines = []
        for name, value in self.change.items():
            lines += [f"- {name}: {_shown(getattr(control, name))}", f"+ {name}: {_shown(value)}"]
        return lines + [f"+ {fault}" for fault in self.faults]


def load(path: Path) -> Card:
    """The card at `path`.

    Raises:
        BadFileError: with every problem found, file and line.
    """
    document = Document(path)
    named = document.data.get("name", path.stem)
    if named != path.stem:
        raise BadFileError([document.problem(("name",), f"name: {named!r} isn't the file's, {path.stem!r}")])
    document.data["name"] = path.stem
    card = validate(Card, document.data, document.problem)
    places: list[tuple[tuple[str | int, ...], Mapping]] = [
        (("settings",), card.settings),
        (("change",), card.change),
    ]
    places += [(("fixes", i, "change"), fix.change) for i, fix in enumerate(card.fixes)]
    problems = []
    for where, changes in places:
        for name, value in changes.items():
            try:
                build({name: value})
            except ValueError as error:
                problems.append(document.problem((*where, name), f"{where[0]}: {error}"))
    if not card.change and not card.faults:
        problems.append(document.problem(("change",), "change: a break changes a setting or names a fault"))
    if problems:
        raise BadFileError(problems)
    card._path = path
    return card


def find(name_or_file: str) -> Card:
    """The card called so, in `./trees/breaks` or among the shipped ones, or the one in that file.

    Raises:
        ValueError: there is none; the nearest is offered.
        BadFileError: it can't be used.
    """
    path = named_by(name_or_file)
    if path.suffix in {".yaml", ".yml"} or len(path.parts) > 1:
        return load(path)
    known = available()
    if name_or_file in known:
        return load(known[name_or_file])
    near = get_close_matches(name_or_file, known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"they are: {', '.join(sorted(known))}"
    raise ValueError(f"there is no break {name_or_file!r}; {hint}")


def all_cards() -> list[Card]:
    """Every card to be found, by name; a user's own hides a shipped one of the same name."""
    return [load(path) for _, path in sorted(available().items())]


def resolve(card: Card | None, *, control: bool = False, changes: Mapping[str, Any] | None = None) -> Plan:
    """What the run of `card` is to be, with `changes` (settings) laid over it.

    Raises:
        ValueError: a control of nothing, an unknown setting, a value out of bounds.
    """
    changes = changes or {}
    if card is None:
        if control:
            raise ValueError("--control needs --break: it is the control of that break")
        return Plan(build(changes))
    if control:
        return Plan(build({**card.settings, **changes}), card.trigger, role="control")
    role = "fix" if set(changes) - RUN_SETTINGS else "break"
    return Plan(build({**card.settings, **card.change, **changes}), card.trigger, card.faults, role)


def commands(card: Card) -> dict[str, str]:
    """Command lines of the control, the break and their comparison."""
    name = shlex.quote(card.asked_as)
    runs = {role: shlex.quote(f"runs/my-{card.name}-{role}") for role in ("control", "break")}
    return {
        "control": f"tutor train --break {name} --control --out {runs['control']}",
        "break": f"tutor train --break {name} --out {runs['break']}",
        "compare": f"tutor compare {runs['control']} {runs['break']}",
    }


def fix_command(card: Card, fix: Fix) -> str:
    """The command line that trains the break with `fix`."""
    words = ["tutor", "train", "--break", card.asked_as]
    for assignment in assignments(fix.change):
        words += ["--set", assignment]
    return shlex.join(words)


def render(card: Card, lang: str) -> RenderableType:
    """The card as text for a terminal, to be printed with `crop=False`; the hints are for the walk."""
    parts: list[Text] = [Text(f"{card.name}: {card.title(lang)}", style="bold")]

    def section(key: str, lines: list[str]) -> None:
        parts.extend([Text(""), Text(say(f"card.{key}", lang), style="bold")])
        for line in lines:  # a command stays on one line, to be copied
            command = line.startswith(("tutor ", "python "))
            parts.append(Text(line, no_wrap=command, overflow="ignore" if command else None))

    section("symptom", [card.symptom(lang)])
    section("change", card.diff())
    section("why", [card.why(lang)])
    section("ladder", [f"{n}. [{rung.panel}] {rung.check(lang)}" for n, rung in enumerate(card.ladder, 1)])
    section("diagnosis", [card.diagnosis(lang)])
    section("commands", list(commands(card).values()))
    fixes = []
    for fix in card.fixes:
        fixes += [f"· {fix.title(lang)}", fix_command(card, fix)]
        fixes += [fix.price(lang)] if fix.price else []
    section("fixes", fixes)
    if card.not_this:
        section("not_this", [f"{other.name(lang)}: {other.why(lang)}" for other in card.not_this])
    if card.calibration:
        note = card.calibration.note if card.figures else None
        said = [note(lang, card.figures)] if note else []
        section("calibration", [*said, card.calibration.command])
    section("sources", list(card.sources))
    return Group(*parts)


def _shown(value: Any) -> str:
    return "none" if value is None else str(value)


def available() -> dict[str, Path]:
    """Every card's file by name; a user's own hides a shipped one of the same name."""
    found: dict[str, Path] = {}
    for folder in folders("trees"):
        for path in sorted((folder / "breaks").glob("*.yaml")):
            found.setdefault(path.stem, path)
    return found
