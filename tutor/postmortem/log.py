"""Section 1, and what else the log can fill before the learner begins."""

import uuid
from collections.abc import Iterator, Sequence

from tutor.detectors.windows import rows
from tutor.postmortem.evidence import readings
from tutor.postmortem.form import (
    DESTRUCTIVE,
    PATTERNS,
    About,
    Bound,
    Hypothesis,
    PostMortem,
    Symptom,
    Verification,
)
from tutor.postmortem.scene import EMA_STEPS, Rules, Scene, survey
from tutor.run import Run
from tutor.words import number, plain, say

SETTLED = 10
"""Steps after the beginning from which a cured run is expected back (a contained spike takes no more)."""


def begin(
    run: Run,
    focus: int | None,
    *,
    tree: str,
    rules: Rules,
    leaf: str,
    path: Sequence[str],
    command: str | None = None,
    lang: str = "en",
) -> PostMortem:
    """A post-mortem half filled from the log.

    Args:
        focus: the step under discussion; None: the first NaN or Inf of the loss.
        rules: the tree's numbers of each detector of `scene.RULES`.
        tree: the tree's name; `leaf` the leaf's name in words; `path` the answers, as they are to be shown.
        command: the leaf's smallest fix as a command that can be run, or in words.
    """
    scene = survey(run, focus, rules)
    settings = run.manifest.settings
    last_finite = None
    if scene.bad_row is not None:
        finite = run["loss"][: scene.bad_row].is_not_null().arg_true()
        sound = run.checkpoint_by(int(run.steps[int(finite[-1])])) if len(finite) else None
        last_finite = sound.resumes_at if sound else None
    about = About(
        run=plain(run.name),
        tree=tree,
        folder=str(run.path.resolve()),
        leaf=leaf,
        path=" → ".join((*path, leaf)) if leaf else " → ".join(path),
        nan=scene.bad_row is not None,
        last_finite=last_finite,
        lr=_rate(settings.get("lr")) or _rate(run.manifest.schedule.lr_max),
        ours=run.knows("tutor"),
        signals=tuple(
            name for name in run.frame.columns if name != "step" and run.frame[name].dtype.is_numeric()
        ),
    )
    keys = (*PATTERNS, DESTRUCTIVE) if about.nan else PATTERNS
    seed = settings.get("seed") if run.manifest.seed is None else run.manifest.seed
    return PostMortem(
        id=uuid.uuid4().hex,
        about=about,
        symptoms=tuple(_symptoms(scene, lang)),
        hypotheses=tuple(Hypothesis(key=key) for key in keys),
        log=readings(scene, keys),
        remediation=_remedy(about, command, lang),
        verification=Verification(
            seed="" if seed is None else str(seed),
            through=_through(scene),
            bounds=_bounds(scene),
        ),
    )


def _remedy(about: About, command: str | None, lang: str) -> str:
    lines = [command or ""]
    if about.nan and about.last_finite is not None:
        lines.insert(0, say("postmortem.go_back", lang, step=about.last_finite))
    return "\n".join(line for line in lines if line)


def _through(scene: Scene) -> str:
    if scene.began is None:
        return ""
    ahead = scene.began + 2 * EMA_STEPS
    # A log that ends in NaN ends early: the cured run has to get past there.
    return str(ahead if scene.bad_row is not None else min(ahead, int(scene.run.steps[-1])))


def _rate(value: object) -> float | None:
    """A learning rate as a manifest may give it; the name of a schedule is none."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _bounds(scene: Scene) -> tuple[Bound, ...]:
    """Bounds to fill in, on what comes after: a bad batch's own loss is measured before its update."""
    if scene.began is None:
        return ()
    last = _through(scene)
    first = min(scene.began + SETTLED, int(last))
    names = [name for name in ("loss", "probe_loss") if scene.run.has(name)]
    return tuple(Bound(signal=name, window=f"{first}..{last}") for name in names)


def _symptoms(scene: Scene, lang: str) -> Iterator[Symptom]:
    run, row, peak = scene.run, scene.row, scene.peak_row
    spike = row is not None
    yield _row("began", "step", scene.began)
    yield _row("before", "number", scene.ema_before(), "nats")
    yield _row("peak", "number", scene.at("loss", peak), "nats")
    yield _row("peak_step", "step", int(run.steps[peak]) if spike and run.has("loss") else None)
    yield _row("after", "after", _after(scene), "nats")
    within = number(scene.rules["recovery"]["within"].steps)
    yield _row("recovered", "after", _recovered(scene, lang), "steps", bound=within)
    yield _row("gradient", "number", scene.worst("grad_norm"), panel="gradient")
    usual = scene.usual("grad_norm")
    yield _row("gradient_usual", "number", usual.mean if usual else None, panel="gradient")
    yield _row("lr", "number", scene.at("lr", row), panel="lr")
    yield _row("dtype", "text", run.manifest.dtype, panel="throughput")
    yield _row("batch", "text", _batch(scene, lang), panel="batch")
    yield _row("tokens", "text", _tokens(scene, lang), panel="batch")


def _row(key: str, kind: str, value: object, unit: str = "", panel: str = "loss", bound: str = "") -> Symptom:
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


def _after(scene: Scene) -> float | None:
    """The loss 50 steps after the peak, NaN for a run that died before."""
    if scene.row is None or not scene.run.has("loss"):
        return None
    row = scene.peak_row + rows(scene.run, EMA_STEPS)
    if scene.bad_row is not None and (scene.bad_row <= row or row >= len(scene.run)):
        return float("nan")
    return scene.run["loss"][row] if row < len(scene.run) else None


def _recovered(scene: Scene, lang: str) -> int | str | None:
    if scene.row is None or not scene.run.has("loss"):
        return None
    found = scene.recovered_in()
    return say("postmortem.said.did_not_recover", lang) if found is None else (found if found != "" else None)


def _batch(scene: Scene, lang: str) -> str | None:
    if scene.began is None:
        return None
    digest = scene.at("batch_hash", scene.row)
    return f"{scene.began} · {str(digest)[:12]}" if digest else str(scene.began)


def _tokens(scene: Scene, lang: str) -> str | None:
    """The rare tokens of the batch with their counts, the most frequent first."""
    tokens, counts = scene.at("rare_tokens", scene.row), scene.at("rare_counts", scene.row)
    if tokens is None:
        return None
    pairs = zip(tokens, counts if counts is not None else [None] * len(tokens), strict=False)
    shown = sorted((p for p in pairs if p[1] != 0), key=lambda pair: -(pair[1] or 0))[:5]
    if not shown:
        return say("postmortem.said.none_flagged", lang)
    return ", ".join(
        f"{plain(str(token))!r}" + (f" ×{number(count)}" if count else "") for token, count in shown
    )
