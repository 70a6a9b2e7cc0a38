"""What trying a fix found: whether it is verified, line by line, and stamped in the lesson."""

import shlex
from collections.abc import Iterator

from tutor import signals
from tutor.lesson import Lesson
from tutor.postmortem.form import SECTIONS
from tutor.postmortem.parsing import at_end
from tutor.postmortem.text import bound_in_words
from tutor.run.verification import Verification
from tutor.words import LANGUAGES, number, plain, say


def lines_of(found: Verification, lang: str) -> Iterator[tuple[bool | None, str]]:
    """What a verification found, line by line: whether it speaks for the fix (None: neither), and words."""
    for bound in found.bounds:
        facts = {name: plain(getattr(bound, name)) for name in ("signal", "comparison", "value", "window")}
        words = bound_in_words(facts, lang)
        if bound.step is None or bound.worst is None:
            yield False, say("verify.unseen", lang, bound=words)
        else:
            where = "_at_end" if at_end(bound.window) else "_there" if bound.stopped else ""
            key = f"verify.{'held' if bound.holds else 'broken'}{where}"
            yield bound.holds, say(key, lang, bound=words, value=number(bound.worst), step=bound.step)
    if found.beside:
        beside = found.beside
        key = "verify.beside" if beside.holds else "verify.above"
        yield (
            beside.holds,
            say(
                key,
                lang,
                ours=number(beside.ours),
                theirs=number(beside.theirs),
                step=beside.step,
                share=round(100 * beside.share),
                signal=_measured_in(found, lang),
            ),
        )
    facts = {
        "leaf": plain(found.leaf),
        "question": found.at,
        "tree": found.tree,
        "fixed": shlex.quote(plain(found.fixed)),
        "count": found.open,
    }
    if found.as_far_as_before:
        yield None, say(f"verify.walk.as_before{'_stopped' if found.stopped else ''}", lang, **facts)
    else:
        end = "unnamed" if found.verdict == "flaw" and not found.leaf else found.verdict
        yield end == "healthy", say(f"verify.walk.{end}", lang, **facts)
    if found.worse:
        ends = [
            say("verify.not_finite", lang) if x is None else number(x) for x in (found.before, found.after)
        ]
        facts = {"before": ends[0], "after": ends[1], "signal": _measured_in(found, lang)}
        yield False, say("verify.worse", lang, **facts)


def _measured_in(found: Verification, lang: str) -> str:
    """What the ends were compared by: a signal's name in words, or a column's as it stands in the log."""
    known = signals.find(found.signal)
    return say(f"signals.{known.name}.name", lang) if known else plain(found.signal)


def heading(found: Verification, lang: str) -> str:
    """Whether the fix is verified, in one line."""
    return say(
        "verify.verified" if found.verified else "verify.not_verified", lang, change=plain(found.change)
    )


def section(found: Verification, lang: str) -> list[str]:
    """What stands in section 6 of a lesson once the fix was tried."""
    lines = [f"**{heading(found, lang)}** ({found.when[:16].replace('T', ' ')}, {plain(found.fixed)})"]
    signs = {True: "✓", False: "≠", None: "·"}
    return [*lines, "", *(f"- {signs[good]} {words}" for good, words in lines_of(found, lang))]


def stamped(lesson: Lesson, found: Verification, lang: str) -> str:
    """The lesson's Markdown with what was found in its section 6, in place of the word that it wasn't run.

    A lesson that was verified before keeps what was found then; one without such a section is left as it is.
    """
    new = "\n".join(section(found, lang))
    for one in LANGUAGES:
        not_run = say("postmortem.verification.not_run", one)
        if not_run in lesson.body:
            return lesson.body.replace(not_run, new, 1)
    number_of = SECTIONS.index("verification")
    if len(lesson.sections) <= number_of:
        return lesson.body
    _, text = lesson.sections[number_of]
    return lesson.body.replace(text, f"{text}\n\n{new}", 1) if text else lesson.body
