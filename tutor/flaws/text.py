"""The catalogue as text: a list, one flaw whole, what a search found, and the page in the repository."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from string import Formatter
from typing import Any

from tutor.flaws.catalogue import Flaw, own_walk
from tutor.flaws.search import Hit
from tutor.plots.spark import LEVELS, spark
from tutor.saying import cited, safe
from tutor.signals import of_panel
from tutor.tree import Remedy, Times
from tutor.walk import Walk
from tutor.words import Words, plain, say

WIDTH = 76
"""Cells of a picture with the names of its signals: a terminal of 80 holds it."""

SHOWN = 5
"""As many of those that a search found are shown."""

FEW = 4
"""As many sources of one flaw are shown unasked."""

UNKNOWN = "…"
"""Where a sentence names a figure that only a run has."""


def _say(key: str, lang: str, **facts: Any) -> str:
    return say(f"flaws.{key}", lang, **facts)


def sees(flaw: Flaw, lang: str) -> str:
    """What one sees of a flaw: in its leaf's words, else in those of the answers that lead to it."""
    if flaw.leaf.sees:
        return flaw.leaf.sees(lang)
    answers = dict.fromkeys(_open(outcome.says, lang) for _, outcome in flaw.answers)
    return " · ".join(answers)


def _open(sentence: Words, lang: str, facts: Mapping[str, Any] | None = None) -> str:
    """A sentence with the figures of `facts`, and an ellipsis for those that no run gives."""
    names = {name for _, name, _, _ in Formatter().parse(sentence(lang)) if name}
    return sentence(lang, {name: (facts or {}).get(name, UNKNOWN) for name in names})


def sections(flaw: Flaw, lang: str, *, every_source: bool) -> Iterator[tuple[str, list[str]]]:
    """Heading and lines of each section of one flaw. A line that begins with `$ ` is a command.

    Args:
        every_source: or, of more than a `FEW`, how to see them.
    """
    walk = own_walk(flaw)
    yield _say("sees", lang), [sees(flaw, lang), *(card.symptom(lang) for card in flaw.cards)]
    if walk:
        yield picture(flaw, walk, lang)
    yield _say("is", lang), [_open(flaw.leaf.means, lang, safe(walk.facts) if walk else None)]
    if look_alikes := list(_look_alikes(flaw, lang)):
        yield _say("look_alikes", lang), look_alikes
    yield _say("fix", lang), [line for remedy in flaw.leaf.fixes for line in _remedy(remedy, lang)]
    if flaw.cards:
        yield _say("see_it", lang), [f"$ tutor train --break {card.name}" for card in flaw.cards]
    rules = [rule for question, _ in flaw.answers for rule in question.rules]
    sources = dict.fromkeys(
        [*cited(rules, lang), *(source for card in flaw.cards for source in card.sources)]
    )
    if every_source or len(sources) <= FEW:
        told = [*sources]
    else:
        told = [_say("sources", lang, count=len(sources)), f"$ tutor flaws {flaw.called} --sources"]
    if told:
        yield _say("source", lang), told


def picture(flaw: Flaw, walk: Walk, lang: str) -> tuple[str, list[str]]:
    """The loss and what the deciding question's panel draws, over the flaw's own run, a line each."""
    run = walk.run
    names = ["loss", *(signal.name for signal in of_panel(flaw.question.panel))]
    shown = [name for name in dict.fromkeys(names) if _drawable(walk, name)]
    width = max(map(len, shown))
    drawn = {name: spark(run, name, WIDTH - width - 2) for name in shown}
    steps = {"first": int(run.steps[0]), "last": int(run.steps[-1])}
    title = _say("picture", lang, run=plain(run.name), **steps)
    return title, [f"{name:<{width}}  {line}" for name, line in drawn.items()]


def _drawable(walk: Walk, signal: str) -> bool:
    return walk.run.has(signal) and walk.run[signal].dtype.is_numeric()


def _look_alikes(flaw: Flaw, lang: str) -> Iterator[str]:
    told = {other.name(lang): other for card in flaw.cards for other in card.not_this.values()}
    yield from (f"{name}: {other.why(lang)}" for name, other in told.items())
    ids = {id(question): name for name, question in flaw.tree.questions.items()}
    for question, others in groupby(flaw.look_alikes(), key=itemgetter(0)):
        yield _say("asked", lang, question=ids[id(question)], ask=question.ask(lang, question.numbers))
        for answer, found in groupby(others, key=lambda other: other[1].label(lang)):
            yield _say("tell", lang, answer=answer, names=", ".join(leaf.name(lang) for _, _, leaf in found))


def _remedy(remedy: Remedy, lang: str) -> Iterator[str]:
    yield remedy.words(lang)
    for name, value in remedy.change.items():
        yield f"{name} × {value.times:g}" if isinstance(value, Times) else f"{name} = {value}"


def asked_at(flaw: Flaw, lang: str) -> str:
    """The tree and the questions that end at the flaw."""
    questions = dict.fromkeys(question for question, _ in flaw.ways)
    return _say("asked_at", lang, tree=flaw.tree.tree, questions=", ".join(questions))


def page(flaws: Iterable[Flaw], lang: str) -> str:
    """The catalogue as Markdown: a list by tree, then each flaw whole."""
    flaws = list(flaws)
    lines = [f"# {_say('title', lang)}", "", _say("about", lang)]
    for tree in dict.fromkeys(flaw.tree.tree for flaw in flaws):
        mine = [flaw for flaw in flaws if flaw.tree.tree == tree]
        lines += ["", f"## {tree}: {mine[0].tree.title(lang)}", ""]
        lines += [f"- [{flaw.leaf.name(lang)}](#{_anchor(flaw)}): {sees(flaw, lang)}" for flaw in mine]
        for flaw in mine:
            lines += ["", f'<a id="{_anchor(flaw)}"></a>', f"### {flaw.leaf.name(lang)}"]
            lines += ["", f"`{flaw.called}` · {asked_at(flaw, lang)}"]
            for title, content in sections(flaw, lang, every_source=True):
                lines += ["", f"**{title}**", "", *_paragraphs(content)]
    return "\n".join(lines) + "\n"


def _anchor(flaw: Flaw) -> str:
    return flaw.name.replace("/", "-")


def whole(line: str) -> bool:
    """Whether a line must stay one: a command, to be copied, or a picture."""
    return line.startswith("$ ") or _drawn(line)


def _drawn(line: str) -> bool:
    return bool(set(LEVELS) & set(line))


def _paragraphs(content: Sequence[str]) -> list[str]:
    """Lines as a list, and those of a picture or a command as they are."""
    if any(map(_drawn, content)):
        return ["```text", *content, "```"]
    mark = "- " if len(content) > 1 else ""
    return [f"{mark}`{line[2:]}`" if line.startswith("$ ") else f"{mark}{line}" for line in content]


def hits(found: Sequence[Hit], asked: str, lang: str) -> list[str]:
    """What a search found, the best first."""
    if not found:
        return [_say("none", lang, words=plain(asked))]
    lines = [_say("hits", lang, count=len(found), words=f'"{plain(asked)}"')]
    for hit in found:
        lines += ["", f"  {hit.flaw.called}  ·  {hit.flaw.leaf.name(lang)}", f"    {sees(hit.flaw, lang)}"]
    return [*lines, "", _say("whole", lang, name=found[0].flaw.called)]
