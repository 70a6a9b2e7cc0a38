"""What the leaf of a sealed run tells: what was put in, whether the walk found it, and the next case."""

from textual.content import Content

from tutor.card import Card, fix_command, measured
from tutor.seal import Seal
from tutor.ui.cases import Cases, Opened
from tutor.words import plain, say

Parts = list[tuple[str, str]]


def title(opened: Opened, lang: str) -> str:
    """What to call the pane."""
    return say("seal.closed" if opened.holds or opened.wrong else "seal.opened", lang)


def told(opened: Opened, lang: str) -> Content:
    """The seal's content, or why it stays closed."""
    parts: Parts = []
    if opened.wrong:
        parts.append((f"✗ {plain(opened.wrong.says(lang))}", "bold $accent"))
    elif opened.holds:
        parts.append(
            (say(f"seal.{'go_on' if opened.onward else 'walk_there'}", lang, tree=plain(opened.holds)), "")
        )
    elif opened.seal:
        parts += [*_held_against(opened, lang), *_put_in(opened.seal, lang)]
    return Content.assemble(*parts, *_onward(opened.cases, lang))


def first_fix(opened: Opened | None) -> str | None:
    """The smallest fix of the break that was put in, as a command; None while the seal holds."""
    if opened is None or opened.holds or not opened.seal or not opened.seal.card or not opened.seal.broken:
        return None
    card = opened.seal.card
    return next((command for fix in card.fixes.values() if (command := fix_command(card, fix))), None)


def _held_against(opened: Opened, lang: str) -> Parts:
    """What was to be reached against what was."""
    expect = opened.seal.expect if opened.seal else None
    if expect is None:
        return [(say("seal.unpromised", lang), "$foreground-muted")]
    if opened.found and opened.led_at:
        return [(f"→ {say('seal.led_there', lang, question=opened.led_at)}", "bold")]
    if opened.found:
        return [(f"✓ {say('seal.found', lang)}", "bold $success")]
    leaf = opened.leaf.name(lang) if opened.leaf else plain(expect.leaf[0])
    return [(f"✗ {say('seal.not_found', lang, tree=plain(expect.tree), leaf=leaf)}", "bold $accent")]


def _put_in(seal: Seal, lang: str) -> Parts:
    card = seal.card
    if card is None:
        return [(f"\n{say('seal.nothing', lang)}", ""), *_again(seal, lang)]
    named = f"{card.title(lang)} ({plain(card.name)})"
    if not seal.broken:
        spared: Parts = [(f"\n{say('seal.spared', lang)} ", ""), (named, "bold")]
        return [*spared, (f"\n{card.control(lang)}", ""), *_again(seal, lang)]
    parts: Parts = [(f"\n{say('seal.put_in', lang)} ", "$foreground-muted"), (named, "bold")]
    parts += [(f"\n  {plain(line)}", "$foreground-muted") for line in card.diff()]
    parts.append((f"\n{card.diagnosis(lang)}", ""))
    return [*parts, *_fixes(card, lang), *_again(seal, lang)]


def _fixes(card: Card, lang: str) -> Parts:
    parts: Parts = []
    for name, fix in card.fixes.items():
        parts.append((f"\n· {fix.title(lang)}", ""))
        if command := fix_command(card, fix):
            parts.append((f"\n   $ {plain(command)}", "$primary"))
        if said := measured(card, name, lang):
            parts.append((f"\n   {said}", "$foreground-muted"))
    return parts


def _again(seal: Seal, lang: str) -> Parts:
    return [(f"\n{say('seal.again', lang)} ", "$foreground-muted"), (plain(seal.command), "$primary")]


def _onward(cases: Cases, lang: str) -> Parts:
    """How many cases were solved, and which is next."""
    if not cases.entries:
        return []
    ahead = cases.next
    onward = say("seal.next", lang, case=plain(ahead.name)) if ahead else say("seal.no_more", lang)
    return [(f"\n{say('seal.tally', lang, **cases.tally)} ", "$foreground-muted"), (onward, "bold")]
