"""The Markdown of a completed post-mortem: what stands in each section of its entry in lessons.md."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from math import isfinite

from tutor import lesson
from tutor.postmortem.change import not_taken
from tutor.postmortem.form import SECTIONS, Bound, Cell, Hypothesis, PostMortem, Reading, Symptom
from tutor.postmortem.parsing import at_end, number
from tutor.postmortem.problems import seedless, unrecorded
from tutor.postmortem.weighing import Tension, limit, tensions
from tutor.run import PANELS
from tutor.words import number as figure
from tutor.words import plain, say

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
        _remediation(pm, lang),
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
        of=about.mark,
    )


def _heads(lang: str, *names: str) -> list[str]:
    return [say(f"postmortem.heads.{name}", lang) for name in names]


def _symptoms(pm: PostMortem, lang: str) -> list[str]:
    table = lesson.table(
        _heads(lang, "symptom", "value", "panel"),
        (
            (
                s.label(lang),
                " ".join(filter(None, (s.value, _unit(s.unit, s.value, lang)))),
                source(s, lang),
            )
            for s in pm.symptoms
            if not unrecorded(s)
        ),
    )
    silent = [s.label(lang) for s in pm.symptoms if unrecorded(s)]
    return [*table, "", say("postmortem.unrecorded", lang, rows=silent)] if silent else table


def _unit(unit: str, value: str, lang: str) -> str:
    given = number(value)
    return say(f"postmortem.units.{unit}", lang) if unit and given is not None and isfinite(given) else ""


def source(symptom: Symptom, lang: str) -> str:
    """Where a row of section 1 came from, and what the tree's rule allows for it."""
    panel = panel_name(symptom.panel, lang) if symptom.panel else say("postmortem.configured", lang)
    return f"{panel} · ≤ {symptom.bound}" if symptom.bound else panel


def panel_name(panel: str, lang: str) -> str:
    """A panel's number and name."""
    return f"{PANELS.index(panel) + 1} {say(f'postmortem.panels.{panel}', lang)}"


def _hypotheses(pm: PostMortem, lang: str) -> list[str]:
    lettered = zip(LETTERS, pm.hypotheses, strict=False)
    ranked = sorted(lettered, key=lambda pair: -(number(pair[1].probability) or 0.0))
    contradicted = [f"- ≠ {lesson.line(tension(found, lang))}" for found in tensions(pm)]
    table = lesson.table(
        ("", *_heads(lang, "probability", "hypothesis", "support")),
        ((letter, h.probability, h.words(lang), supported_by(pm, h, lang)) for letter, h in ranked),
    )
    return [*table, "", *contradicted] if contradicted else table


def supported_by(pm: PostMortem, hypothesis: Hypothesis, lang: str) -> str:
    """What supports a hypothesis: the learner's words, else the panels that they say favour it."""
    favouring = (panel_name(panel, lang) for panel in pm.favouring(hypothesis.key))
    return hypothesis.support.strip() or ", ".join(favouring)


def tension(found: Tension, lang: str) -> str:
    """A probability that the evidence contradicts, in one sentence."""
    return say(
        f"postmortem.tension.{found.verdict}",
        lang,
        words=plain(found.hypothesis.words(lang)),
        p=found.hypothesis.probability.strip(),
        panel=panel_name(found.panel, lang),
    )


def _evidence(pm: PostMortem, lang: str) -> list[str]:
    """The learner's grid, the log's word in brackets where it differs; then what was observed and proven."""
    table = lesson.table(
        (*_heads(lang, "panel"), *LETTERS[: len(pm.hypotheses)]),
        (
            (panel_name(panel, lang), *(_cell(pm, panel, h.key, lang) for h in pm.hypotheses))
            for panel in pm.panels
        ),
    )
    absent = [panel_name(panel, lang) for panel in PANELS if panel not in pm.panels]
    table += ["", say("postmortem.absent", lang, panels=absent)] if absent else []
    proven = [lesson.line(f"- {panel_name(one.panel, lang)}: {one.text}") for one in pm.proven]
    seen = list(_observations(pm, lang))
    observed = ["", say("postmortem.observations", lang), "", *seen] if seen else []
    shown = ["", say("postmortem.proven_head", lang), "", *proven] if proven else []
    return [*table, *observed, *shown]


def _observations(pm: PostMortem, lang: str) -> Iterator[str]:
    """What stands behind each filled cell that isn't silent, or that a rule judged."""
    for letter, hypothesis in zip(LETTERS, pm.hypotheses, strict=False):
        for panel in PANELS:
            verdict, reading = pm.cell(panel, hypothesis.key), pm.reading(panel, hypothesis.key)
            judged = reading is not None and reading.judged
            if not verdict or (verdict == "silent" and not judged):
                continue
            facts = {"letter": letter, "panel": panel_name(panel, lang)}
            if reading and judged:
                word = _marked(verdict, reading, lang)
                said = say("postmortem.observation", lang, word=word, why=reading.because(lang), **facts)
            else:
                word = say(f"postmortem.verdicts.{verdict}", lang)
                said = say("postmortem.judged", lang, word=word, **facts)
            yield f"- {lesson.line(said)}"


def _remediation(pm: PostMortem, lang: str) -> list[str]:
    """The change, and the leaf's other fixes: what wasn't taken is worth knowing the next time."""
    others = []
    for option in not_taken(pm):
        others.append(f"- {lesson.line(say('postmortem.not_taken', lang, words=option.words(lang)))}")
        others += ["", *lesson.code(option.command), ""] if option.command else []
    change = lesson.code(pm.remediation)
    return [*change, "", *others] if others else change


def _cell(pm: PostMortem, panel: str, key: str, lang: str) -> str:
    verdict, reading = pm.cell(panel, key), pm.reading(panel, key)
    if not verdict:
        return "–"
    return _marked(verdict, reading, lang)


def _marked(verdict: Cell, reading: Reading | None, lang: str) -> str:
    """The learner's word for a cell, and the log's where that contradicts it."""
    word = say(f"postmortem.verdicts.{verdict}", lang)
    if reading is None or reading.agrees(verdict) is not False:
        return word
    return say("postmortem.differs", lang, word=word, log=say(f"postmortem.verdicts.{reading.verdict}", lang))


def _verification(pm: PostMortem, lang: str) -> Iterator[str]:
    form = pm.verification
    for name in ("seed", "tolerance", "through"):
        value = lesson.line(getattr(form, name))
        if name == "seed" and seedless(form):
            value = say("postmortem.verification.no_seed", lang)
        yield f"- {say(f'postmortem.verification.{name}', lang)}: {value}"
    for bound in form.bounds:
        if not bound.blank:
            yield f"- {lesson.line(reach(bound, form.tolerance, lang))}"
    yield ""
    yield from form.tried or (not_run(pm, lang),)


def not_run(pm: PostMortem, lang: str) -> str:
    """What is to be done with the bounds, for want of a run that was checked against them."""
    key = "not_run_seedless" if seedless(pm.verification) else "not_run"
    return say(f"postmortem.verification.{key}", lang)


def bound_in_words(facts: Mapping[str, str], lang: str) -> str:
    """A bound in words, given its `signal`, `comparison`, `value` and `window`."""
    key = "bound_at_end" if at_end(facts["window"]) else "bound"
    return say(f"postmortem.verification.{key}", lang, **facts)


def reach(bound: Bound, tolerance: str, lang: str) -> str:
    """A bound in words, with how far it reaches by the tolerance."""
    facts = {name: value.strip() for name, value in bound.model_dump().items()}
    words, reaches = bound_in_words(facts, lang), limit(bound, tolerance)
    if reaches is None:
        return words
    return say("postmortem.verification.reach", lang, bound=words, limit=figure(reaches))
