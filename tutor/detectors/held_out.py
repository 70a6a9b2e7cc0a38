"""Detector of a held-out loss so low that the model must have been shown what it predicts."""

import math

from tutor.detectors import NO_DATA, Finding, detector
from tutor.detectors.windows import finite
from tutor.run import Run, known_float

_HELD = ("val", "step", "low", "vocab", "expected")


@detector(
    signals=("val_loss",),
    manifest=("vocab_size",),
    outcomes=("no", "tuned", "sees"),
    facts={"no": _HELD, "tuned": _HELD, "sees": (*_HELD, "first")},
    every_row=True,
    configured=("vocab_size",),
)
def sees_the_answer(run: Run, at: int | None, *, share: float, untrained: float) -> Finding:
    """Whether the validation loss of a run that began untrained falls under a `share` of ln V.

    The flaw: the model is shown what it has to predict, by targets that aren't shifted or by a mask that lets
    it look ahead; validation is made by the same code, and agrees. Held out, no language is so predictable. A
    run whose first loss isn't above the share `untrained` of ln V began with a trained model, whose task may
    be as easy as that: a remark. Source: ours.
    """
    vocab, values = run.manifest.vocab_size, finite(run["val_loss"])
    row = values.arg_min()
    if not vocab or vocab < 2 or row is None:
        return Finding(NO_DATA, facts={"missing": ["val_loss" if vocab else "vocab_size"]})
    expected = math.log(vocab)
    bound, lowest = share * expected, float(values[row])
    facts = {"val": lowest, "step": int(run.steps[row]), "low": bound, "vocab": vocab, "expected": expected}
    seen = (int(run.steps[0]), facts["step"])
    if lowest >= bound:
        return Finding("no", facts["step"], facts, bound, seen, measured=lowest, bound=bound)
    under = int((values < bound).fill_null(False).arg_true()[0])
    facts |= {"val": float(values[under]), "step": int(run.steps[under])}
    first = known_float(run["loss"][0]) if run.has("loss") and int(run.steps[0]) <= 1 else None
    outcome = "sees" if first is not None and first > untrained * expected else "tuned"
    facts |= {"first": first} if outcome == "sees" else {}
    return Finding(outcome, facts["step"], facts, bound, seen, measured=lowest, bound=bound)
