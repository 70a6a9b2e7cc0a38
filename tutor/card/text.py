"""A card as text, and the commands it names."""

import shlex

from rich.console import Group, RenderableType
from rich.text import Text

from tutor.card.prices import price
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


def fix_command(card: Card, fix: Fix) -> str | None:
    """The command line that trains the break with `fix`.

    Where the code is to be mended, that of the control; None for a deeper fix of the code, which no run has.
    """
    if not fix.change and fix.deeper:
        return None
    mended = command_words(fix.change) if fix.change else ["--control"]
    return shlex.join(["tutor", "train", "--break", card.asked_as, *mended])


def measured(card: Card, fix: str, lang: str) -> str | None:
    """What a fix was measured to cost, in a sentence; None where it wasn't trained."""
    found = price(card, fix)
    if found is None:
        return None
    return say("card.price", lang, end=found.end, control=found.control, count=found.seeds)


def render(card: Card, lang: str, *, whole: bool = True) -> RenderableType:
    """The card as text for a terminal, to be printed with `crop=False`; the hints are for the walk.

    Unless `whole`, only what doesn't give its walk away: what one will see, and how to train it.
    """
    parts: list[Text] = [Text(f"{card.name}: {card.title(lang)}", style="bold")]

    def section(key: str, lines: list[str]) -> None:
        parts.extend([Text(""), Text(say(f"card.{key}", lang), style="bold")])
        for line in lines:  # a command stays on one line, to be copied
            command = line.startswith(("tutor ", "python "))
            parts.append(Text(line, no_wrap=command, overflow="ignore" if command else None))

    section("symptom", [card.symptom(lang)])
    if not whole:
        section("commands", list(commands(card).values()))
        section("after", [f"tutor breaks {shlex.quote(card.asked_as)} --whole"])
        return Group(*parts)
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
    for name, fix in card.fixes.items():
        fixes += [f"· {fix.title(lang)}"]
        fixes += [command] if (command := fix_command(card, fix)) else []
        fixes += [said for said in (measured(card, name, lang), fix.price and fix.price(lang)) if said]
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
