"""Section 1 for an incident in a long run: symptoms, evidence, type, outcome, and what it cost."""

from collections import Counter
from collections.abc import Iterator

from tutor import detectors
from tutor.detectors import Finding
from tutor.detectors.windows import finite
from tutor.postmortem.form import PostMortem, Symptom
from tutor.postmortem.incident import Incident
from tutor.postmortem.parsing import number, whole
from tutor.postmortem.problems import is_said
from tutor.postmortem.symptoms import before_of, began_of, defences, in_rows, later, row_of
from tutor.postmortem.thresholds import LATER_STEPS
from tutor.run import Cost, cost_of
from tutor.words import number as figure
from tutor.words import plain, say

INPUTS = ("lost", "tokens_per_step", "speed", "price")
"""The rows from which the row `cost` is worked out."""

COURSES = ("broken_after", "oscillates", "comes_back", "settles")
"""The detectors of the course after a jump, in the order in which they are asked."""

TYPES = ("recoverable", "lingering", "divergent")
"""What they call it: types 1, 2 and 3."""

MOST_TOKENS = 5
"""As many of the batches' rare tokens are named."""


def of_a_long_run(incident: Incident, lang: str) -> Iterator[Symptom]:
    """The rows of an incident in a long run. The price of an hour is the learner's to give."""
    run, peak = incident.run, incident.peak_row
    course = _course(incident)
    yield began_of(incident)
    yield before_of(incident)
    yield row_of("peak", "number", incident.at("loss", peak), incident.unit)
    yield row_of("peak_step", "step", int(run.steps[peak]) if peak is not None and run.has("loss") else None)
    after = row_of("later", "after", later(incident, LATER_STEPS), incident.unit)
    yield after.model_copy(update={"rows": in_rows(run, LATER_STEPS)})
    yield row_of("gradient", "number", incident.worst("grad_norm"), panel="gradient")
    bad = _bad_rows(incident)
    yield row_of("batches", "text", _range(incident, bad), panel="batch")
    if run.of_tokens:
        yield row_of("tokens", "text", _tokens(incident, bad, lang), panel="batch")
    yield row_of("activations", "text", _activations(incident), panel="activations")
    yield from defences(incident)
    yield row_of("lr", "number", incident.at("lr", incident.row), panel="lr")
    type_of = say(f"postmortem.said.{course.outcome}", lang) if course else None
    yield row_of("type", "text", type_of)
    back = course.facts["step"] if course and course.outcome == "recoverable" else None
    lost = say("postmortem.said.did_not_recover", lang) if course and back is None else None
    yield row_of("resumed", "after", back if back is not None else lost)
    yield from _cost(incident, course)


def _course(incident: Incident) -> Finding | None:
    """The course after the jump, by the first of the tree's rules that finds one; None where none does."""
    run, facts = incident.run, {}
    if incident.began is None or not run.has("loss"):
        return None
    for rule in COURSES:
        if rule in incident.numbers:
            found = detectors.apply(rule, run, incident.numbers[rule], incident.began, facts)
            if found.outcome in TYPES:
                return found
            facts |= found.facts
    return None


def _bad_rows(incident: Incident) -> range | None:
    """The rows of the batches to blame, by the tree's rule; None where none is."""
    rule, run = incident.numbers.get("bad_batch"), incident.run
    if rule is None or incident.row is None or not (run.has("loss") and run.has("grad_norm")):
        return None
    found = detectors.apply("bad_batch", run, rule, incident.began)
    if found.outcome != "batch":
        return None
    last = run.row_at(found.facts["last_bad"])
    return range(max(0, last - found.facts["bad_rows"] + 1), last + 1)


def _range(incident: Incident, bad: range | None) -> str | None:
    if bad is None:
        return None if incident.began is None else str(incident.began)
    first, last = int(incident.run.steps[bad.start]), int(incident.run.steps[bad.stop - 1])
    return str(first) if first == last else f"{first}..{last}"


def _tokens(incident: Incident, bad: range | None, lang: str) -> str | None:
    """The rare tokens of the batches to blame, over all of them, the most frequent first."""
    run = incident.run
    if incident.row is None or not (run.has("rare_tokens") and run.has("rare_counts")):
        return None
    counted: Counter[str] = Counter()
    for row in bad or range(incident.row, incident.row + 1):
        tokens, counts = run["rare_tokens"][row], run["rare_counts"][row]
        if tokens is not None and counts is not None:
            counted.update({str(t): int(c) for t, c in zip(tokens, counts, strict=False) if c})
    shown = [f"{plain(token)!r} ×{count}" for token, count in counted.most_common(MOST_TOKENS)]
    return ", ".join(shown) or say("postmortem.said.none_flagged", lang)


def _activations(incident: Incident) -> str | None:
    """The largest layer's norm from where it began to the peak, and how many times its usual that is."""
    run = incident.run
    if incident.rows is None or not run.has("activation_norms"):
        return None
    norms = finite(run["activation_norms"].list.max())
    usual = norms[max(0, incident.rows.start - incident.span) : incident.rows.start].drop_nulls().median()
    worst = norms[incident.rows.start : incident.rows.stop].drop_nulls().max()
    if not isinstance(usual, float) or not isinstance(worst, float) or not usual:
        return None
    return f"{figure(worst)} ({figure(worst / usual)}×)"


def _cost(incident: Incident, course: Finding | None) -> Iterator[Symptom]:
    """Steps lost, and what makes money of them. Where the loss came back, the steps until then are lost;
    else all since the checkpoint before the spike, or since step 0."""
    run, lost = incident.run, None
    if course and course.outcome == "recoverable":
        lost = course.facts["after"]
    elif incident.began is not None and len(run):
        sound = run.checkpoint_by(incident.began - 1)
        lost = int(run.steps[-1]) + 1 - (sound.resumes_at if sound else 0)
    cost = cost_of(run, lost or 0, incident.began)
    yield row_of("lost", "step", lost, "steps")
    yield row_of("tokens_per_step", "step", cost.tokens_per_step, "tokens", panel="batch")
    yield row_of("speed", "number", cost.tokens_per_second, panel="throughput")
    known = lost is not None and bool(cost.tokens_per_step and cost.tokens_per_second)
    yield row_of("price", "number", None, panel="throughput").model_copy(update={"recorded": known})
    yield row_of("cost", "number", None, panel="throughput").model_copy(update={"recorded": known})


def with_symptom(pm: PostMortem, key: str, value: str) -> PostMortem:
    """The post-mortem with another value in a row of section 1, and its cost worked out anew.

    cost = steps lost x tokens per step / (tokens per second) / 3600 x price per hour
    """
    edited = pm.with_symptom(key, value)
    if key not in INPUTS:
        return edited
    typed = {row.key: row.value for row in edited.symptoms}
    if "cost" not in typed:
        return edited
    return edited.with_symptom("cost", _worked_out(typed))


def _worked_out(typed: dict[str, str]) -> str:
    """The cost in figures; "" while what it takes isn't there, and not recorded where that isn't."""
    if missing := [typed.get(key, "") for key in INPUTS if is_said(typed.get(key, ""), "not_recorded")]:
        return missing[0]
    steps, tokens = whole(typed.get("lost", "")), whole(typed.get("tokens_per_step", ""))
    speed, price = number(typed.get("speed", "")), number(typed.get("price", ""))
    if steps is None or tokens is None or speed is None or price is None:
        return ""
    cost = Cost(steps, tokens, speed).price(price)
    return "" if cost is None else figure(cost)
