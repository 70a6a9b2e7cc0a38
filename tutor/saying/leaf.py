"""What is said at a leaf: what it means as far as that is known, and its fixes."""

from collections.abc import Mapping
from typing import Any

from tutor import detectors
from tutor.saying.began import of_began
from tutor.saying.bests import of_bests
from tutor.saying.question import safe
from tutor.tree import Leaf, Remedy
from tutor.walk import Walk, remarked
from tutor.words import LANGUAGES, clauses, known, say


def of_meaning(walk: Walk, lang: str) -> str:
    """What the walk's leaf means for its run.

    A walk that was answered by hand has measured little: a sentence that names what nobody knows is left
    out. Where that is the first one, what one sees of the flaw in any log stands for all.
    """
    assert walk.leaf is not None, "a question means nothing yet"
    return meaning(walk.leaf, safe(_measured(walk)), lang)


def _measured(walk: Walk) -> dict[str, Any]:
    """The walk's facts without those that an answer by hand or by assumption leaves behind: what an earlier
    question measured under the same names is about something else.
    """
    registry, facts = detectors.registry(), dict(walk.facts)
    for number, answer in enumerate(walk.answers):
        later = {name for one in walk.answers[number + 1 :] for name in one.facts}
        rules = () if answer.by == "log" else walk.tree.questions[answer.question].rules
        for rule in (registry[rule.detector] for rule in rules if rule.detector in registry):
            names = rule.facts_of(answer.outcome) if answer.outcome in rule.outcomes else ()
            facts = {name: value for name, value in facts.items() if name in later or name not in names}
    return facts


def meaning(leaf: Leaf, facts: Mapping[str, Any], lang: str) -> str:
    """As `of_meaning`, of a leaf and what was measured on the way to it."""
    if known(clauses(leaf.means(lang))[0], facts):
        return leaf.means(lang, facts)
    return leaf.sees(lang) if leaf.sees else leaf.name(lang)


def of_onset(walk: Walk, lang: str) -> str:
    """Between which steps began what the walk discusses; "" where the log has a row for the very step.

    Also where a question about the whole run decided: that didn't begin at the step discussed before.
    """
    if walk.focus is None or len(set(walk.run.span_of(walk.focus))) == 1:
        return ""
    decided = walk.answers[-1].question if walk.answers else None
    if decided and walk.start[1] is None and walk.tree.questions[decided].view == "whole":
        return ""
    return say("leaf.onset", lang, where=of_began(walk.run, walk.focus, lang))


def of_noticed(walk: Walk, lang: str, *, harmless: bool) -> str:
    """What the log answered on the way of the step under discussion that is worth a look; "" for nothing.

    That it is no flaw is said where it is known to be `harmless`, as of a healthy run.
    """
    questions = walk.tree.questions
    answers = [
        f"{questions[id].title(lang)} {outcome.label(lang)} ({id})"
        for id, outcome in remarked(walk)
        if questions[id].view != "whole"
    ]
    if not answers or walk.focus is None:
        return ""
    return say(
        "leaf.harmless_on_the_way" if harmless else "leaf.noticed", lang, answers=answers, step=walk.focus
    )


def of_absent(walk: Walk, lang: str) -> str:
    """The signals that checks on the way would have needed where none of them decided; "" for none.

    "Nothing shows why" says little of what was never recorded.
    """
    registry, absent = detectors.registry(), dict[str, None]()
    for answer in walk.answers:
        question = walk.tree.questions[answer.question]
        if answer.by != "log" or answer.outcome != question.otherwise:
            continue
        for rule in (registry[rule.detector] for rule in question.rules if rule.detector in registry):
            for needed in rule.signals:
                names = (needed,) if isinstance(needed, str) else needed
                if not any(map(walk.run.has, names)):
                    absent[names[0]] = None
    return say("leaf.absent", lang, signals=[*absent]) if absent else ""


def of_fix(walk: Walk, fix: Remedy, lang: str) -> str:
    """A fix of the walk's leaf in words; one that picks a checkpoint with all that the log calls best."""
    found = of_bests(walk.run, lang) if fix.by_evaluation else ""
    return f"{fix.words(lang)} {found}" if found else fix.words(lang)


def fix_in_words(walk: Walk, fix: Remedy) -> dict[str, str]:
    """As `of_fix`, by language."""
    return {lang: of_fix(walk, fix, lang) for lang in LANGUAGES}


def lead_of(fix: Remedy, lang: str) -> str:
    """What leads in the first fix: that it is the smallest or, where it only looks, that none is known."""
    return say("leaf.only_looks" if fix.only_looks else "leaf.smallest", lang)
