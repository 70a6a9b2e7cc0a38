"""What keeps a post-mortem from being saved: an empty section, a word where a number belongs ..."""

import re
from collections.abc import Iterator, Mapping
from math import isnan
from typing import Any, NamedTuple

from tutor.postmortem.change import RATES, NotAChangeError, changes, remarks
from tutor.postmortem.form import COMPARISONS, DESTRUCTIVE, Bound, PostMortem, Symptom, Verification
from tutor.postmortem.parsing import at_end, number, sentences, total, whole, window
from tutor.postmortem.thresholds import KEPT_IN_CASE
from tutor.words import LANGUAGES, plain, say

SUM_TOLERANCE = 0.005
"""How far from 1 the probabilities may sum: people write two decimals."""

SAID = ("did_not_recover", "not_recorded", "none_flagged", "unknown")
"""Phrases that may stand in a row of section 1, or for the seed, in tutor/words under `postmortem.said`."""


class Problem(NamedTuple):
    """What is wrong, and in which section (from 1)."""

    section: int
    sentence: str


def problems(pm: PostMortem, lang: str) -> list[Problem]:
    """Everything that keeps `pm` from being saved, in the order of the sections; [] when it may be."""
    checks = (_symptoms, _hypotheses, _evidence, _cause, _remediation, _verification, _lesson)
    return [Problem(n, plain(s)) for n, check in enumerate(checks, 1) for s in check(pm, lang)]


def is_one(value: float) -> bool:
    """Whether probabilities that sum to `value` sum to 1."""
    return abs(value - 1) <= SUM_TOLERANCE


def is_empty(pm: PostMortem, section: str) -> bool:
    """Whether the learner has put nothing into `section` (one of SECTIONS) yet."""
    filled = {
        "symptoms": lambda: any(s.value.strip() for s in pm.symptoms),
        "hypotheses": lambda: any(h.probability.strip() or h.support.strip() for h in pm.hypotheses),
        "evidence": lambda: any(pm.evidence.values()),
        "cause": lambda: sentences(pm.cause) > 0,
        "remediation": lambda: bool(pm.remediation.strip()),
        "verification": lambda: any(b.value.strip() for b in pm.verification.bounds),
        "lesson": lambda: bool(pm.lesson.strip()),
    }
    return not filled[section]()


def is_said(text: str, phrase: str) -> bool:
    """Whether `text` is one of SAID, in either language."""
    return text.strip().casefold() in {
        say(f"postmortem.said.{phrase}", lang).casefold() for lang in LANGUAGES
    }


def seedless(form: Verification) -> bool:
    """Whether section 6 says that nobody knows the seed: nothing, or "unknown"."""
    return not form.seed.strip() or is_said(form.seed, "unknown")


def unrecorded(symptom: Symptom) -> bool:
    """Whether a row of section 1 holds nothing because the log doesn't."""
    value = symptom.value.strip()
    return (not value and not symptom.recorded) or is_said(value, "not_recorded")


def symptom_problem(symptom: Symptom, lang: str) -> str | None:
    """What is wrong with one row of section 1, in one sentence."""
    value, label = symptom.value.strip(), symptom.label(lang)
    if not value:
        return _say("no_value", lang, label=label) if symptom.recorded else None
    if symptom.kind == "text" or is_said(value, "not_recorded"):
        return None
    if symptom.kind == "after" and is_said(value, "did_not_recover"):
        return None
    read = {"step": whole, "steps": window}.get(symptom.kind, number)
    if read(value) is not None:
        return None
    wants = {"step": "needs_step", "steps": "needs_steps", "after": "needs_after"}.get(
        symptom.kind, "needs_number"
    )
    return _say(wants, lang, label=label, value=value)


def bound_problem(bound: Bound, pm: PostMortem, lang: str) -> str | None:
    """What is wrong with one bound of section 6, in one sentence."""
    signals, through = pm.about.signals, whole(pm.verification.through)
    name = bound.signal.strip()
    if not name or (signals and name not in signals):
        key = "bound_signal" if name else "bound_no_signal"
        return _say(key, lang, signal=name, signals=", ".join(signals))
    if bound.comparison.strip() not in COMPARISONS:
        return _say("bound_comparison", lang, given=bound.comparison, known=" ".join(COMPARISONS))
    value = number(bound.value)
    if value is None or isnan(value):
        key = "bound_value" if bound.value.strip() else "bound_no_value"
        return _say(key, lang, signal=name, value=bound.value.strip())
    steps = window(bound.window)
    if steps is None and not at_end(bound.window):
        key = "bound_window" if bound.window.strip() else "bound_no_window"
        return _say(key, lang, signal=name, window=bound.window.strip())
    if steps and through is not None and steps[1] > through:
        return _say("bound_beyond", lang, signal=name, last=steps[1], through=through)
    return None


def _say(key: str, lang: str, **facts: Any) -> str:
    return say(f"postmortem.problems.{key}", lang, **facts)


def _symptoms(pm: PostMortem, lang: str) -> Iterator[str]:
    if is_empty(pm, "symptoms"):
        yield _say("empty_symptoms", lang)
        return
    for symptom in pm.symptoms:
        if found := symptom_problem(symptom, lang):
            yield found
    back = next((s.value for s in pm.symptoms if s.key in ("recovered", "resumed")), "")
    if pm.about.nan and back and not is_said(back, "did_not_recover"):
        yield _say("nan_recovered", lang)


def _hypotheses(pm: PostMortem, lang: str) -> Iterator[str]:
    if is_empty(pm, "hypotheses"):
        yield _say("empty_hypotheses", lang)
        return
    readable = True
    for hypothesis in pm.hypotheses:
        words, p = hypothesis.words(lang).strip(), number(hypothesis.probability)
        if not words:
            yield _say("own_without_words", lang)
        if not hypothesis.probability.strip():
            yield _say("no_probability", lang, words=words)
        elif p is None or not 0 <= p <= 1:
            yield _say("probability", lang, words=words, value=hypothesis.probability)
        elif p > KEPT_IN_CASE and not (hypothesis.support.strip() or pm.favouring(hypothesis.key)):
            yield _say("no_support", lang, words=words)
        readable = readable and p is not None and 0 <= p <= 1
    if readable and not is_one(total(pm)):
        yield _say("sum", lang, total=round(total(pm), 4))
    if pm.about.nan and DESTRUCTIVE not in {h.key for h in pm.hypotheses}:
        yield _say("nan_destructive", lang)


def _evidence(pm: PostMortem, lang: str) -> Iterator[str]:
    if is_empty(pm, "evidence"):
        yield _say("empty_evidence", lang)
        return
    filled = {cell: verdict for cell, verdict in pm.evidence.items() if verdict}
    seen = {cell.partition("/")[2] for cell in filled}
    for hypothesis in pm.hypotheses:
        if hypothesis.key not in seen:
            yield _say("no_cell", lang, words=hypothesis.words(lang))
    if set(filled.values()) == {"silent"}:
        yield _say("all_silent", lang)


def _cause(pm: PostMortem, lang: str) -> Iterator[str]:
    count = sentences(pm.cause)
    if count == 0:
        yield _say("empty_cause", lang)
    elif count > 1:
        yield _say("cause_sentences", lang, count=count)


def _remediation(pm: PostMortem, lang: str) -> Iterator[str]:
    text = pm.remediation.strip()
    in_words = bool(pm.about.options) and not any(option.command for option in pm.about.options)
    if not text:
        empty = "write_it" if in_words else "empty_remediation"
        yield _say(empty if sentences(pm.cause) else "cause_first", lang)
        return
    if in_words and remarks(text) == text:  # a change of the script itself, which no setting is
        return
    goes_back = pm.about.nan and _names_checkpoint(pm)
    changed = {}
    try:
        changed = changes(text, pm.about)
    except NotAChangeError as error:
        yield _say(error.key, lang, **error.facts)
    else:
        if not (changed or goes_back):
            yield _say("no_change", lang, line=text.splitlines()[0])
    if pm.about.nan and not goes_back and (lost := _lost(pm, changed)):
        yield _say(lost, lang, step=pm.about.last_finite, sound=pm.about.sound, lr=pm.about.lr)


def _lost(pm: PostMortem, changed: Mapping[str, str | None]) -> str | None:
    """What a fix has to begin with whose weights are NaN: the sentence's key; None where it does."""
    about = pm.about
    if about.last_finite is not None:
        return "nan_go_back"
    if _lowers_lr(changed, about.lr):
        return None
    if not about.keeps and about.sound is not None:
        return "nan_from_where"
    return "nan_lower_lr" if about.lr is not None else "nan_lower_unknown_lr"


def _names_checkpoint(pm: PostMortem) -> bool:
    """Whether section 5 names the last sound checkpoint or, where nobody knows which were kept, any of a step
    at which the weights were still finite.
    """
    about = pm.about
    if about.last_finite is not None:
        return re.search(rf"\b0*{about.last_finite}\b", pm.remediation) is not None
    if about.keeps or about.sound is None:
        return False
    lines = (line for line in pm.remediation.splitlines() if "checkpoint" in line.casefold())
    named = (int(found) for line in lines for found in re.findall(r"\b[0-9]{1,15}\b", line))
    return any(step <= about.sound for step in named)


def _lowers_lr(changed: Mapping[str, str | None], lr: float | None) -> bool:
    given = [number(value or "") for name, value in changed.items() if name in RATES]
    return any(value is not None and value > 0 and (lr is None or value < lr) for value in given)


def _verification(pm: PostMortem, lang: str) -> Iterator[str]:
    form = pm.verification
    bounds = [bound for bound in form.bounds if not bound.blank]
    if is_empty(pm, "verification"):
        yield _say("empty_verification", lang)
        return
    tolerance = number(form.tolerance)
    sound = {
        "seed": whole(form.seed) is not None or (seedless(form) and not pm.about.ours),
        "tolerance": tolerance is not None and 0 <= tolerance < 1,
        "through": whole(form.through) is not None,
    }
    for name in (name for name, holds in sound.items() if not holds):
        value, label = getattr(form, name).strip(), say(f"postmortem.verification.{name}", lang)
        yield _say(name, lang, value=value) if value else _say("no_value", lang, label=label)
    if not bounds:
        yield _say("no_bounds", lang)
    for bound in bounds:
        if found := bound_problem(bound, pm, lang):
            yield found


def _lesson(pm: PostMortem, lang: str) -> Iterator[str]:
    text = pm.lesson.strip()
    if not text:
        yield _say("empty_lesson", lang)
    elif "\n" in text:
        yield _say("lesson_lines", lang)
