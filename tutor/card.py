"""Card: one break, one YAML file in `trees/breaks/`, every word in English and Spanish.

A card names what changes (`change`), what both the break and its control share (`trigger`), and what a
learner sees, checks and tries. Users' own cards load from `./trees/breaks/` or from any path.
"""

import shlex
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PrivateAttr
from rich.console import Group, RenderableType
from rich.text import Text

from tutor import settings as knobs
from tutor.paths import folders, named_by
from tutor.settings import Settings
from tutor.words import BadFileError, Document, Strict, Words, say


def _values(changes: Any) -> Any:
    """`none` and `off` mean None, as they do after `--set`."""
    if not isinstance(changes, dict):
        return changes
    return {key: None if value in ("none", "off") else value for key, value in changes.items()}


Changes = Annotated[dict[str, float | int | str | None], BeforeValidator(_values)]


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


class Calibration(Strict):
    """What the break did over seeds, counted by `command`, and what remains to be said about it.

    Attributes:
        seeds: pairs of control and break that were trained.
        control_back: controls back within 10 steps of the trigger's end.
        excess: breaks whose mean loss over the next 50 steps is 0.2 nats or more above their control's.
        spike: breaks whose gradient norm at the spike is 30 or more times its mean over 100 steps before.
        recovered: breaks back within 50 steps.
        lingered: breaks back later than that.
        diverged: breaks not back when the run ended, or no longer finite.
    """

    command: str
    seeds: int = Field(ge=1)
    control_back: int = Field(ge=0)
    excess: int = Field(ge=0)
    spike: int = Field(ge=0)
    recovered: int = Field(ge=0)
    lingered: int = Field(ge=0)
    diverged: int = Field(ge=0)
    note: Words | None = None


class Card(Strict):
    """A break's card.

    Attributes:
        name: the file's name without its ending.
        title: what to call the break.
        symptom: what the learner will see.
        trigger: settings of the control and of the break alike.
        change: settings of the break alone: at least one.
        why: the mechanism.
        ladder: the checks in order, ending in the diagnosis.
        hints: mild, medium, direct.
        fixes: changes that mend it.
        not_this: the look-alikes.
        sources: where the facts come from.
        calibration: what it did over seeds.
    """

    name: str = ""
    title: Words
    symptom: Words
    trigger: Changes = Field(default_factory=dict)
    change: Changes = Field(min_length=1)
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

    def diff(self) -> list[str]:
        """The change as lines of a diff: `- grad_clip: 1.0`, `+ grad_clip: none`."""
        control, _ = resolve(self, control=True)
        lines = []
        for name, value in self.change.items():
            lines += [f"- {name}: {_shown(getattr(control, name))}", f"+ {name}: {_shown(value)}"]
        return lines


def load(path: Path) -> Card:
    """The card at `path`.

    Raises:
        BadFileError: with every fault found, file and line.
    """
    document = Document(path)
    named = document.data.get("name", path.stem)
    if named != path.stem:
        raise BadFileError(
            path, [(document.line("name"), f"name: {named!r} isn't the file's, {path.stem!r}")]
        )
    document.data["name"] = path.stem
    card = document.parse(Card)
    places: list[tuple[tuple[str | int, ...], Mapping]] = [
        (("trigger",), card.trigger),
        (("change",), card.change),
    ]
    places += [(("fixes", i, "change"), fix.change) for i, fix in enumerate(card.fixes)]
    faults = []
    for where, changes in places:
        for name, value in changes.items():
            try:
                knobs.build({name: value})
            except ValueError as error:
                faults.append((document.line(*where, name), f"{where[0]}: {error}"))
    if faults:
        raise BadFileError(path, faults)
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


def resolve(
    card: Card | None, *, control: bool = False, changes: Mapping[str, Any] | None = None
) -> tuple[Settings, str]:
    """The settings of a run, and its role: "plain", "control", "break", or "fix" where changes mend a break.

    Raises:
        ValueError: a control of nothing, an unknown setting, a value out of bounds.
    """
    changes = changes or {}
    if card is None:
        if control:
            raise ValueError("--control needs --break: it is the control of that break")
        return knobs.build(changes), "plain"
    if control:
        return knobs.build({**card.trigger, **changes}), "control"
    settings = knobs.build({**card.trigger, **card.change, **changes})
    kept = {"seed", "steps", "device", "dtype", "checkpoint_every", "val_every"}  # not about the flaw
    return settings, "fix" if set(changes) - kept else "break"


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
    for assignment in knobs.assignments(fix.change):
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
    if card.calibration and card.calibration.note:
        section("calibration", [card.calibration.note(lang), card.calibration.command])
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
