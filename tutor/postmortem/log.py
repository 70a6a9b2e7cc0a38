"""What the log can fill before the learner begins."""

import math
import uuid
from collections.abc import Sequence

import polars as pl

from tutor.detectors.courses import Course
from tutor.detectors.windows import cadence, finite, rows
from tutor.parts import as_typed
from tutor.postmortem.about import About, Option
from tutor.postmortem.cells import drawn
from tutor.postmortem.evidence import readings
from tutor.postmortem.form import (
    DESTRUCTIVE,
    Bound,
    Hypothesis,
    Offer,
    PostMortem,
    Verification,
)
from tutor.postmortem.incident import Incident, Numbers, above, level_of, spans_decades, survey
from tutor.postmortem.incident_rows import of_a_long_run
from tutor.postmortem.parsing import ENDS
from tutor.postmortem.symptoms import at_a_step, course, of_the_whole_run
from tutor.postmortem.thresholds import AS_BEFORE, EMA_STEPS, FEWEST_ROWS, PROBE_RISE, SETTLED, TOLERANCE
from tutor.run import Run, as_number, known_float
from tutor.run.scoring import rises
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
    options: Sequence[Option] = (),
    breaks: Sequence[str] = (),
    whole: bool = False,
    long_run: bool = False,
    promises: Sequence[str] = ("loss", "val_loss"),
    stops: bool = False,
    calm: int | None = None,
    lang: str = "en",
) -> PostMortem:
    """A post-mortem half filled from the log.

    Args:
        focus: the step under discussion; None: the first NaN or Inf of the loss.
        whole: whether it is the course of the whole run that went wrong, not an incident at a step.
        promises: of a whole run, the signals that a fix has to bring back.
        stops: whether the leaf's fix may end the run earlier.
        calm: the last step before a loss that ended in NaN began to climb there.
        long_run: whether it is an incident in a long run, with its type and its cost.
        numbers: the tree's numbers of each detector of `incident.JUDGED_BY` that it uses.
        hypotheses: those that the tree offers. A run that ended in NaN gets the destructive update besides.
        tree: the tree's name; `leaf` the leaf's name in words; `path` the answers, as they are to be shown.
        options: the fixes that the leaf names, the smallest first.
        breaks: the cards that a command may name.
    """
    incident = survey(run, focus, numbers)
    if whole:
        symptoms = of_the_whole_run(incident)
    else:
        symptoms = (of_a_long_run if long_run else at_a_step)(incident, lang)
    settings = run.manifest.settings
    about = About(
        run=plain(run.name),
        tree=tree,
        folder=str(run.path.resolve()),
        mark=run.mark,
        leaf=leaf,
        path=" → ".join((*path, leaf)) if leaf else " → ".join(path),
        nan=incident.bad_row is not None,
        last_finite=_last_finite(incident),
        keeps=run.checkpoints is not None,
        sound=_sound(incident),
        calm=calm,
        lr=as_number(settings.get("lr")) or as_number(run.manifest.schedule.lr_max) or _highest_rate(run),
        ours=run.knows("tutor"),
        signals=tuple(
            name for name in run.frame.columns if name != "step" and run.frame[name].dtype.is_numeric()
        ),
        panels=drawn(run),
        stops=stops,
        whole=whole,
        settings={name: as_typed(value) for name, value in settings.items()},
        options=tuple(options),
        breaks=tuple(breaks),
    )
    offers = list(hypotheses)
    if about.nan and DESTRUCTIVE not in {offer.key for offer in offers}:
        offers.append(_destructive())
    seed = settings.get("seed") if run.manifest.seed is None else run.manifest.seed
    return PostMortem(
        id=uuid.uuid4().hex,
        about=about,
        symptoms=tuple(symptoms),
        hypotheses=tuple(
            Hypothesis(key=offer.key, offered=offer.words, fingerprint=offer.fingerprint) for offer in offers
        ),
        log=readings(incident, offers),
        verification=Verification(
            seed="" if seed is None else str(seed),
            tolerance=str(TOLERANCE),
            through=_last_step(run) if whole else _through(incident),
            bounds=_end_bounds(incident, promises) if whole else _bounds(incident),
        ),
    )


def _last_finite(incident: Incident) -> int | None:
    """Where the last checkpoint before the first NaN or Inf resumes; None where there is none."""
    if incident.bad_row is None:
        return None
    known = incident.run["loss"][: incident.bad_row].is_not_null().arg_true()
    sound = incident.run.checkpoint_by(int(incident.run.steps[int(known[-1])])) if len(known) else None
    return sound.resumes_at if sound else None


def _sound(incident: Incident) -> int | None:
    """The last step before the first NaN or Inf whose loss, of training or of validation, is finite."""
    if incident.bad_row is None:
        return None
    before = incident.run.frame[: incident.bad_row]
    known = [
        int(before["step"][int(rows_of[-1])])
        for name in ("loss", "val_loss")
        if incident.run.has(name) and len(rows_of := finite(before[name]).is_not_null().arg_true())
    ]
    return max(known, default=None)


def _highest_rate(run: Run) -> float | None:
    """The highest learning rate that was logged; None where none above 0 was."""
    return (known_float(finite(run["lr"]).max()) or None) if run.has("lr") else None


def _destructive() -> Offer:
    """What every run that ended in NaN has to consider; panels of tokens and batches say nothing of it."""
    words = {lang: say("postmortem.destructive", lang) for lang in LANGUAGES}
    return Offer(DESTRUCTIVE, words, frozenset(("tokens", "batch")))


def _through(incident: Incident) -> str:
    if incident.began is None:
        return ""
    ahead = incident.began + max(2 * EMA_STEPS, round(FEWEST_ROWS * cadence(incident.run)))
    # A log that ends in NaN ends early: the run with the fix has to get past there.
    return str(ahead if incident.bad_row is not None else min(ahead, int(incident.run.steps[-1])))


def _bounds(incident: Incident) -> tuple[Bound, ...]:
    """Bounds to fill in, on what comes after: a bad batch's own loss is measured before its update."""
    if incident.began is None:
        return ()
    last = _through(incident)
    first = min(incident.began + max(SETTLED, round(cadence(incident.run))), int(last))
    names = [name for name in ("loss", "probe_loss") if incident.run.has(name)]
    return tuple(
        Bound(signal=name, window=f"{first}..{last}", offered=_as_before(incident, name, (first, int(last))))
        for name in names
    )


def _as_before(incident: Incident, signal: str, window: tuple[int, int]) -> str:
    """The bound under which a signal is back where it was in the steps of `window`, or ""."""
    before, values = incident.baseline(signal), incident.before(signal)
    if not before:
        return ""
    if spans_decades(values):
        return plain(number(above(level_of(values, rows(incident.run, EMA_STEPS, 2)), values)))
    slack = AS_BEFORE * before.std
    if signal == "probe_loss":
        # It is smooth, and drifts in health farther than three of its deviations: so half the way to where
        # this run stands, but no farther than it rises without harm.
        inside = pl.col("step").is_between(*window)
        worst = known_float(incident.run.frame.filter(inside)[signal].max())
        rise = math.inf if worst is None else worst - before.mean
        slack = max(slack, min(PROBE_RISE, rise / 2))
    return plain(number(before.mean + slack))


def _last_step(run: Run) -> str:
    return str(int(run.steps[-1])) if len(run) else ""


def _end_bounds(incident: Incident, promises: Sequence[str]) -> tuple[Bound, ...]:
    """Bounds on what a fix has to bring back: on the level at the end of the run, whether it stops earlier or
    learns more slowly; on all evaluations where some weren't finite.
    """
    run = incident.run
    if not len(run):
        return ()
    bounds = []
    for name in (name for name in promises if run.has(name)):
        first, comparison, value = _promised(incident, name)
        window = ENDS[0] if first is None else f"{first}..{_last_step(run)}"
        bounds.append(Bound(signal=name, comparison=comparison, window=window, offered=plain(value)))
    return tuple(bound for bound in bounds if bound.offered)


def _promised(incident: Incident, name: str) -> tuple[int | None, str, str]:
    """What a signal has to be once it is mended: from which step on, if not at the end alone, above or below
    which figure, or "".

    It is its best level so far, and no lower than that level's own noise lets it, unless the run as it is
    would hold such a bound. Evaluations that aren't finite have to be that, and a gradient of 0 more.
    """
    run, found = incident.run, course(incident, name)
    bad = (~run[name].cast(pl.Float64).is_finite()).fill_null(False).arg_true()
    if name == "val_loss" and len(bad):
        return int(run.steps[int(bad[0])]), "<", "Inf"
    if found is None:
        return None, "<", ""
    if name == "grad_norm" and found.best == 0:
        return None, ">", "0"
    known = finite(run[name]).drop_nulls().cast(float)
    if rises(name):
        return None, ">", number(-_as_best(-known, found))
    return None, "<", number(_as_best(known, found))


def _as_best(known: pl.Series, found: Course) -> float:
    """The bound under which a signal is at its best level; the level itself where the run ends below it."""
    noisy = above(found.best, known)
    return noisy if noisy < found.end else found.best
