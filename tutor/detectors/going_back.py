"""Detectors of going back: a checkpoint from well before a spike, what that costs, and whether it helped."""

from itertools import pairwise
from typing import Any

from tutor.detectors import NO_DATA, Finding, detector
from tutor.run import Run, as_number, cost_of

REWIND = ("resumes_at", "lost", "tokens", "minutes", "speed")
"""What going back costs: the step that it resumes at, the steps and tokens lost, and the time they take."""


def rewind(run: Run, at: int | None, margin: int = 0) -> dict[str, Any]:
    """What going back costs, to the last checkpoint that resumes `margin` steps or more before `at`."""
    spike = at if at is not None else int(run.steps[-1])
    sound = run.checkpoint_by(spike - margin)
    if sound is None:
        return dict.fromkeys(REWIND)
    cost = cost_of(run, spike - sound.resumes_at, spike)
    figures = (sound.resumes_at, cost.steps, cost.tokens, cost.minutes, cost.tokens_per_second)
    return dict(zip(REWIND, figures, strict=True))


@detector(
    outcomes=("yes", "no"),
    facts={"yes": ("margin", "cadence", "count", *REWIND), "no": ("margin", "cadence", "count", "spike")},
)
def earlier_checkpoint(run: Run, at: int | None, *, far: int, least: int) -> Finding:
    """Whether a checkpoint lies well before the jump at `at`: `far` steps, or one interval between two.

    No flaw of itself: a state shortly before a spike may hold its beginning, so one goes back farther. The
    interval is the configured one, else the median distance of those saved; where the run is too young for
    that, one from `least` steps before will do. Source: the playbook for long runs, with 1,000 steps at
    scale; PaLM went back about 100 (https://arxiv.org/abs/2204.02311, 5.1).
    """
    if run.checkpoints is None:
        return Finding(NO_DATA, at, {"missing": ["checkpoint"]})
    spike = at if at is not None else int(run.steps[-1])
    cadence = checkpoint_interval(run)
    margins = [far if cadence is None else min(far, round(cadence)), least]
    sound = next((margin for margin in margins if run.checkpoint_by(spike - margin)), None)
    facts = {
        "margin": min(margins) if sound is None else sound,
        "cadence": cadence,
        "count": len(run.checkpoints),
    }
    if sound is None:
        return Finding("no", at, facts | {"spike": spike})
    back = rewind(run, spike, sound)
    return Finding("yes", back["resumes_at"], facts | back)


def checkpoint_interval(run: Run) -> float | None:
    """Steps between checkpoints: as configured, else the median distance of those saved; None: not known."""
    configured = as_number(run.manifest.settings.get("checkpoint_every"))
    if configured is not None:
        return configured
    saved = [0, *(one.resumes_at for one in run.checkpoints or ())]
    gaps = sorted(later - earlier for earlier, later in pairwise(saved))
    return float(gaps[len(gaps) // 2]) if gaps else None
