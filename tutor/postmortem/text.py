"""The Markdown of a completed post-mortem: what stands in each section of its entry in lessons.md."""

from collections.abc import Iterator
from datetime import datetime
from math import isfinite

from tutor import lesson
from tutor.postmortem.form import SECTIONS, PostMortem, Symptom
from tutor.postmortem.parsing import number
from tutor.run import PANELS
from tutor.words import say

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""What the hypotheses are called in the grid, in their order."""


def to_markdown(pm: PostMortem, lang: str, when: datetime) -> str:
    """The entry for lessons.md; the same post-mortem has the same id whenever it is saved."""
    about = pm.about
    contents = (
        _symptoms(pm, lang),
        _hypotheses(pm, lang),
        _evidence(pm, lang),
        lesson.prose(pm.cause),
        lesson.code(pm.remediation),
        _verification(pm, lang),
        lesson.prose(lesson.line(pm.lesson)),
    )
    return lesson.write(
        pm.lesson,
        when=when,
        run=about.run,
        path=f"{about.tree}: {about.path}" if about.path else about.tree,
        sections=[
            (say(f"postmortem.sections.{name}", lang), content)
            for name, content in zip(SECTIONS, contents, strict=True)
        ],
        id=lesson.digest(pm.model_dump_json()),
    )


def _heads(lang: str, *names: str) -> list[str]:
    return [say(f"postmortem.heads.{name}", lang) for name in names]


def _symptoms(pm: PostMortem, lang: str) -> list[str]:
    return lesson.table(
        _heads(lang, "symptom", "value", "panel"),
        (
            (
                say(f"postmortem.symptoms.{s.key}", lang),
                " ".join(filter(None, (s.value, _unit(s.unit, s.value, lang)))),
                source(s, lang),
            )
            for s in pm.symptoms
        ),
    )


def _unit(unit: str, value: str, lang: str) -> str:
    given = number(value)
    return say(f"postmortem.units.{unit}", lang) if unit and given is not None and isfinite(given) else ""


def source(symptom: Symptom, lang: str) -> str:
    """The panel that a row of section 1 came from, and what the tree's rule allows for it."""
    panel = panel_name(symptom.panel, lang)
    return f"{panel} · ≤ {symptom.bound}" if symptom.bound else panel


def panel_name(panel: str, lang: str) -> str:
    """A panel's number and name."""
    return f"{PANELS.index(panel) + 1} {say(f'postmortem.panels.{panel}', lang)}"


def _hypotheses(pm: PostMortem, lang: str) -> list[str]:
    lettered = zip(LETTERS, pm.hypotheses, strict=False)
    ranked = sorted(lettered, key=lambda pair: -(number(pair[1].probability) or 0.0))
    return lesson.table(
        ("", *_heads(lang, "probability", "hypothesis", "support")),
        ((letter, h.probability, h.words(lang), h.support) for letter, h in ranked),
    )


def _evidence(pm: PostMortem, lang: str) -> list[str]:
    """The learner's grid, where the log says otherwise with its word in brackets; then what was proven."""
    grid = lesson.table(
        (*_heads(lang, "panel"), *LETTERS[: len(pm.hypotheses)]),
        (
            (panel_name(panel, lang), *(_cell(pm, panel, h.key, lang) for h in pm.hypotheses))
            for panel in PANELS
        ),
    )
    proven = [lesson.line(f"- {panel_name(one.panel, lang)}: {one.text}") for one in pm.proven]
    return [*grid, "", *proven] if proven else grid


def _cell(pm: PostMortem, panel: str, key: str, lang: str) -> str:
    verdict, reading = pm.cell(panel, key), pm.reading(panel, key)
    if not verdict:
        return "–"
    word = say(f"postmortem.verdicts.{verdict}", lang)
    if reading is None or reading.verdict == verdict:
        return word
    return say("postmortem.differs", lang, word=word, log=say(f"postmortem.verdicts.{reading.verdict}", lang))


def _verification(pm: PostMortem, lang: str) -> Iterator[str]:
    form = pm.verification
    for name in ("seed", "tolerance", "through"):
        yield f"- {say(f'postmortem.verification.{name}', lang)}: {lesson.line(getattr(form, name))}"
    for bound in form.bounds:
        if not bound.blank:
            facts = {name: value.strip() for name, value in bound.model_dump().items()}
            yield f"- {lesson.line(say('postmortem.verification.bound', lang, **facts))}"
    yield ""
    yield say("postmortem.verification.not_run", lang)
