"""A card as text, and the commands it names."""

import shlex

from rich.console import Group, RenderableType
from rich.text import Text

from tutor.card.schema import Card, Expect, Fix
from tutor.settings import command_words
from tutor.words import say


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
    return shlex.join(["tutor", "train", "--break", card.asked_as, *command_words(fix.change)])


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
    section(
        "ladder",
        [f"{n}. [{rung.panel}] {rung.check(lang)}" for n, rung in enumerate(card.ladder.values(), 1)],
    )
    section("diagnosis", [card.diagnosis(lang)])
    if card.expect:
        section("expect", [_promise(card.expect, lang)])
    section("commands", list(commands(card).values()))
    fixes = []
    for fix in card.fixes.values():
        fixes += [f"· {fix.title(lang)}", fix_command(card, fix)]
        fixes += [fix.price(lang)] if fix.price else []
    section("fixes", fixes)
    if card.not_this:
        section("not_this", [f"{other.name(lang)}: {other.why(lang)}" for other in card.not_this.values()])
    if card.calibration:
        note = card.calibration.note if card.figures else None
        said = [note(lang, card.figures)] if note else []
        if card.expect and "kept" in card.figures:
            leaves = _leaves(card.expect, lang)
            said.append(say("card.kept", lang, leaves=leaves, **card.figures))
        section("calibration", [*said, card.calibration.command])
    section("sources", list(card.sources))
    return Group(*parts)


def _promise(expect: Expect, lang: str) -> str:
    """Where walks of the break end, and how often."""
    count, total = expect.at_least
    leaves = _leaves(expect, lang)
    return say("card.promise", lang, tree=expect.tree, leaves=leaves, count=count, total=total)


def _leaves(expect: Expect, lang: str) -> str:
    """`long-tail-token or persistent`."""
    return f" {say('card.or', lang)} ".join(expect.leaf)
