"""Section 1, and what else the log can fill before the learner begins."""

import uuid
from collections.abc import Iterator, Sequence
from math import inf

from tutor.detectors.windows import rows
from tutor.postmortem.evidence import readings
from tutor.postmortem.form import (
    DESTRUCTIVE,
    About,
    Bound,
    Hypothesis,
    Kind,
    Offer,
    PostMortem,
    Symptom,
    Verification,
)
from tutor.postmortem.incident import Incident, Numbers, survey
from tutor.postmortem.thresholds import EMA_STEPS, SETTLED
from tutor.run import Run
from tutor.words import LANGUAGES, number, plain, say


def begin(
    run: Run,
    focus: int | None,
    *,
    tree: str,
    numbers: Numbers,
    hypotheses: Sequence[Offer],
    leaf: str,
    path: Sequence[str],
    command: str | None = None,
    lang: str = "en",
) -> PostMortem:
    """A post-mortem half filled from the log.

    Args:
        focus: the step under discussion; None: the first NaN or Inf of the loss.
        numbers: the tree's numbers of each detector of `incident.JUDGED_BY` that it uses.
        hypotheses: those that the tree offers. A run that ended in NaN gets the destructive update besides.
        tree: the tree's name; `leaf` the leaf's name in words; `path` the answers, as they are to be shown.
        command: the leaf's smallest fix as a command that can be run, or in words.
    """
    incident = survey(run, focus, numbers)
    settings = run.manifest.settings
    about = About(
        run=plain(run.name),
        tree=tree,
        folder=str(run.path.resolve()),
        leaf=leaf,
        path=" → ".join((*path, leaf)) if leaf else " → ".join(path),
        nan=incident.bad_row is not None,
        last_finite=_last_finite(incident),
        lr=_rate(settings.get("lr")) or _rate(run.manifest.schedule.lr_max),
        ours=run.knows("tutor"),
        signals=tuple(
            name for name in run.frame.columns if name != "step" and run.frame[name].dtype.is_numeric()
        ),
    )
    offers = list(hypotheses)
    if about.nan and DESTRUCTIVE not in {offer.key for offer in offers}:
        offers.append(_destructive())
    seed = settings.get("seed") if run.manifest.seed is None else run.manifest.seed
    return PostMortem(
        id=uuid.uuid4().hex,
        about=about,
        symptoms=tuple(_symptoms(incident, lang)),
        hypotheses=tuple(Hypothesis(key=offer.key, offered=offer.words) for offer in offers),
        log=readings(incident, offers),
        remediation=_remedy(about, command, lang),
        verification=Verification(
            seed="" if seed is None else str(seed),
            through=_through(incident),
            bounds=_bounds(incident),
        ),
    )


def _last_finite(incident: Incident) -> int | None:
    """Where the last checkpoint before the first NaN or Inf resumes; None where there is none."""
    if incident.bad_row is None:
        return None
    known = incident.run["loss"][: incident.bad_row].is_not_null().arg_true()
    sound = incident.run.checkpoint_by(int(incident.run.steps[int(known[-1])])) if len(known) else None
    return sound.resumes_at if sound else None


def _destructive() -> Offer:
    """What every run that ended in NaN has to consider; panels of tokens and batches say nothing of it."""
    words = {lang: say("postmortem.destructive", lang) for lang in LANGUAGES}
    return Offer(DESTRUCTIVE, words, frozenset(("tokens", "batch")))


def _remedy(about: About, command: str | None, lang: str) -> str:
    lines = [command or ""]
    if about.nan and about.last_finite is not None:
        lines.insert(0, say("postmortem.go_back", lang, step=about.last_finite))
    return "\n".join(line for line in lines if line)


def _through(incident: Incident) -> str:
    if incident.began is None:
        return ""
    ahead = incident.began + 2 * EMA_STEPS
    # A log that ends in NaN ends early: the run with the fix has to get past there.
    return str(ahead if incident.bad_row is not None else min(ahead, int(incident.run.steps[-1])))


def _rate(value: object) -> float | None:
    """A learning rate as a manifest may give it; the name of a schedule is none."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _bounds(incident: Incident) -> tuple[Bound, ...]:
    """Bounds to fill in, on what comes after: a bad batch's own loss is measured before its update."""
    if incident.began is None:
        return ()
    last = _through(incident)
    first = min(incident.began + SETTLED, int(last))
    names = [name for name in ("loss", "probe_loss") if incident.run.has(name)]
    return tuple(Bound(signal=name, window=f"{first}..{last}") for name in names)


def _symptoms(incident: Incident, lang: str) -> Iterator[Symptom]:
    run, row, peak = incident.run, incident.row, incident.peak_row
    yield _row("began", "step", incident.began)
    yield _row("before", "number", incident.ema_before(), "nats")
    yield _row("peak", "number", incident.at("loss", peak), "nats")
    yield _row("peak_step", "step", int(run.steps[peak]) if peak is not None and run.has("loss") else None)
    yield _row("after", "after", _after(incident), "nats")
    yield _row("recovered", "after", _recovered(incident, lang), "steps", bound=_within(incident))
    yield _row("gradient", "number", incident.worst("grad_norm"), panel="gradient")
    baseline = incident.baseline("grad_norm")
    yield _row("gradient_usual", "number", baseline.mean if baseline else None, panel="gradient")
    yield _row("lr", "number", incident.at("lr", row), panel="lr")
    yield _row("dtype", "text", run.manifest.dtype, panel="throughput")
    yield _row("batch", "text", _batch(incident), panel="batch")
    yield _row("tokens", "text", _tokens(incident, lang), panel="batch")


def _row(
    key: str, kind: Kind, value: object, unit: str = "", panel: str = "loss", bound: str = ""
) -> Symptom:
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


def _after(incident: Incident) -> float | None:
    """The loss 50 steps after the peak, NaN where the loss was NaN or Inf before that."""
    if incident.peak_row is None or not incident.run.has("loss"):
        return None
    row = incident.peak_row + rows(incident.run, EMA_STEPS)
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
    recovery = incident.numbers.get("recovery")
    return number(recovery["within"].steps) if recovery else ""


def _batch(incident: Incident) -> str | None:
    if incident.began is None:
        return None
    digest = incident.at("batch_hash", incident.row)
    return f"{incident.began} · {str(digest)[:12]}" if digest else str(incident.began)


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
