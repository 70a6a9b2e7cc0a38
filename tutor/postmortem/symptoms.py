"""Section 1: its rows, filled from the log."""

from collections.abc import Iterator
from dataclasses import replace
from math import inf

from tutor.detectors.courses import Course, course_of
from tutor.detectors.windows import cadence, rows
from tutor.postmortem.form import Kind, Symptom
from tutor.postmortem.incident import Incident, spans_decades
from tutor.postmortem.thresholds import EMA_STEPS, LEVEL_SHARE, SPARSE
from tutor.run import Run
from tutor.run.scoring import rises
from tutor.words import number, plain, say


def at_a_step(incident: Incident, lang: str) -> Iterator[Symptom]:
    """The rows of an incident: where it began, how high it rose, and what met it there."""
    run, row, peak = incident.run, incident.row, incident.peak_row
    yield began_of(incident)
    yield before_of(incident)
    yield row_of("peak", "number", incident.at("loss", peak), incident.unit)
    yield row_of("peak_step", "step", int(run.steps[peak]) if peak is not None and run.has("loss") else None)
    after = row_of("after", "after", later(incident, EMA_STEPS), incident.unit)
    yield after.model_copy(update={"rows": in_rows(run, EMA_STEPS)})
    yield row_of("recovered", "after", _recovered(incident, lang), run.counts, bound=_within(incident))
    yield row_of("gradient", "number", incident.worst("grad_norm"), panel="gradient")
    baseline = incident.baseline("grad_norm")
    usual = row_of("gradient_usual", "number", baseline.mean if baseline else None, panel="gradient")
    yield usual.model_copy(update={"rows": incident.span if incident.spans_rows else None})
    yield from defences(incident)
    yield row_of("lr", "number", incident.at("lr", row), panel="lr")
    yield row_of("dtype", "text", run.manifest.dtype, panel="")
    hashed = incident.at("batch_hash", incident.row) is not None
    yield row_of("batch" if hashed else "batch_index", "text", _batch(incident), panel="batch")
    if run.of_tokens:
        yield row_of("tokens", "text", _tokens(incident, lang), panel="batch")


def row_of(
    key: str, kind: Kind, value: object, unit: str = "", panel: str = "loss", bound: str = ""
) -> Symptom:
    """A row of section 1; one whose value is None was not recorded, and may stay empty."""
    recorded = value is not None
    return Symptom(
        key=key,
        kind=kind,
        value=plain(number(value)) if recorded else "",
        unit=unit,
        panel=panel,
        recorded=recorded,
        bound=bound,
    )


def began_of(incident: Incident) -> Symptom:
    """The row of the step where it began: in a sparse log, of those since the last row."""
    return row_of("began", "steps", _steps(incident))


def _steps(incident: Incident) -> str | None:
    """The steps in one of which it began."""
    if incident.began is None:
        return None
    first, last = incident.run.span_of(incident.began)
    return str(last) if first == last else f"{first}..{last}"


def before_of(incident: Incident) -> Symptom:
    """The row of the loss before: which of the two EMAs it is, and over what."""
    decades = incident.row and incident.run.has("loss") and spans_decades(incident.before("loss"))
    key = "before_decades" if decades else "before"
    found = row_of(key, "number", incident.ema_before(), incident.unit)
    return found.model_copy(update={"rows": in_rows(incident.run, EMA_STEPS, 2)})


def in_rows(run: Run, steps: int, least: int = 1) -> int | None:
    """How many rows were taken for so many steps, where these are more steps than that; else None.

    In a log of epochs each row is one, so that rows are counted there too.
    """
    count = rows(run, steps, least)
    return count if run.by_row or count * cadence(run) > SPARSE * steps else None


def later(incident: Incident, steps: int) -> float | None:
    """The loss so many steps after the peak, NaN where the loss was NaN or Inf before that."""
    if incident.peak_row is None or not incident.run.has("loss"):
        return None
    row = incident.peak_row + rows(incident.run, steps)
    if incident.bad_row is not None and (incident.bad_row <= row or row >= len(incident.run)):
        return float("nan")
    return incident.run["loss"][row] if row < len(incident.run) else None


def _recovered(incident: Incident, lang: str) -> float | str | None:
    if incident.row is None or not incident.run.has("loss"):
        return None
    found = incident.recovered_in()
    return say("postmortem.said.did_not_recover", lang) if found == inf else found


def _within(incident: Incident) -> str:
    """In how many steps the loss has to be back by the tree's rule; "" where the tree has none."""
    recovery, run = incident.numbers.get("recovery"), incident.run
    if not recovery:
        return ""
    run = run.logged("loss") if run.has("loss") else run  # as the rule counts its rows
    return number(recovery["within"].of(run).reach(run))


def _batch(incident: Incident) -> str | None:
    digest = incident.at("batch_hash", incident.row)
    return f"{incident.began} · {str(digest)[:12]}" if digest else _steps(incident)


def _tokens(incident: Incident, lang: str) -> str | None:
    """The rare tokens of the batch with their counts, the most frequent first."""
    tokens, counts = incident.at("rare_tokens", incident.row), incident.at("rare_counts", incident.row)
    if tokens is None:
        return None
    pairs = zip(tokens, counts if counts is not None else [None] * len(tokens), strict=False)
    shown = sorted((p for p in pairs if p[1] != 0), key=lambda pair: -(pair[1] or 0))[:5]
    if not shown:
        return say("postmortem.said.none_flagged", lang)
    return ", ".join(
        f"{plain(str(token))!r}" + (f" ×{number(count)}" if count else "") for token, count in shown
    )


def defences(incident: Incident) -> Iterator[Symptom]:
    """What should have held: the clip and the memory of v. Only what the log or the manifest has."""
    settings = incident.run.manifest.settings
    clipped = incident.worst("grad_norm_clipped")
    if clipped is not None:
        yield row_of("gradient_clipped", "number", clipped, panel="gradient")
    if "grad_clip" in settings:
        clip = settings["grad_clip"]
        yield row_of("clip", "text", "none" if clip is None else clip, panel="")
    if "beta2" in settings:
        yield row_of("beta2", "number", settings["beta2"], panel="")


def of_the_whole_run(incident: Incident) -> Iterator[Symptom]:
    """The rows of a run that went wrong without an incident: where it turned, began, was best and ended.

    A run that never learned has turned nowhere: it went wrong before its first step. Nor has one of which the
    walk found no step.
    """
    run, row = incident.run, incident.row
    loss = course(incident, "loss")
    learned = "learned" not in incident.numbers or incident.found("learned").outcome != "no"
    if learned and incident.began is not None:
        yield row_of("turned", "step", incident.began)
    yield row_of("first", "number", loss.start if loss else None, incident.unit)
    yield row_of("best", "number", loss.best if loss else None, incident.unit)
    yield row_of("best_step", "step", int(run.steps[loss.best_row]) if loss else None)
    yield row_of("end", "number", loss.end if loss else None, incident.unit)
    yield row_of("last_step", "step", int(run.steps[-1]) if len(run) else None)
    if validation := course(incident, "val_loss"):
        yield row_of("val_best", "number", validation.best, incident.unit)
        yield row_of("val_end", "number", validation.end, incident.unit)
    norm = course(incident, "grad_norm")
    yield row_of("gradient_first", "number", norm.start if norm else None, panel="gradient")
    yield row_of("gradient_end", "number", norm.end if norm else None, panel="gradient")
    if "update_size" in incident.numbers and "moved" in (size := incident.found("update_size")).facts:
        yield row_of("moved", "number", size.facts["moved"], panel="optimizer")
    yield row_of("lr", "number", incident.at("lr", row if row is not None else len(run) - 1), panel="lr")
    yield row_of("dtype", "text", run.manifest.dtype, panel="")


def course(incident: Incident, signal: str) -> Course | None:
    """Where a signal began, was best and ended, in the levels that the walk used; a score's upside down."""
    run, share = incident.run, incident.numbers.get("ends_high", {}).get("share", LEVEL_SHARE)
    if not len(run) or not run.has(signal):
        return None
    known = run.logged(signal)
    values = known[signal]
    found = course_of(-values.cast(float) if rises(signal) else values, share)
    if found is None:
        return None
    # Rows of the log, not of what was logged of this signal.
    return replace(found, best_row=run.row_at(int(known.steps[found.best_row])))
