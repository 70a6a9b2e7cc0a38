"""The worked example that the method came with, its figures beside those of a run of the same fault."""

from typing import NamedTuple

from tutor.postmortem.form import PostMortem, began_at
from tutor.run import Run
from tutor.words import number, plain, say

THEIRS = {
    "began": "312",
    "before": "2.31",
    "peak": "5.84",
    "peak_step": "313",
    "after": "3.40",
    "gradient": "47.2",
    "gradient_usual": "0.6",
    "lr": "2.94e-4",
    "dtype": "fp32",
}
"""Section 1 of the example, in its own figures. Its `after` is read at step 360."""

ACTIVATION, MODE = "3.2", "12"
"""What the example reads of panels 4 and 7: times the usual value, nats."""


class Row(NamedTuple):
    """One figure: what it is, in the example, and in our run."""

    label: str
    theirs: str
    ours: str


def rows(pm: PostMortem, run: Run, lang: str) -> list[Row]:
    """The example's figures beside those of `run`, whose post-mortem as the log fills it is `pm`.

    A figure that our run did not record is "–".
    """
    ours = {symptom.key: symptom.value for symptom in pm.symptoms}
    found = [
        Row(say(f"postmortem.symptoms.{key}", lang), theirs, ours.get(key) or "–")
        for key, theirs in THEIRS.items()
    ]
    row = run.row_at(began) if (began := began_at(pm)) is not None else None
    return [
        *found,
        Row(_label("tokens", lang), _label("their_tokens", lang), ours.get("tokens") or "–"),
        Row(_label("activation", lang), ACTIVATION, _activation(pm)),
        Row(_label("mode", lang), MODE, _mode(run, row)),
        Row(_label("hashes", lang), _label("different", lang), _hashes(run, row, lang)),
    ]


def _label(key: str, lang: str) -> str:
    return say(f"postmortem.example.rows.{key}", lang)


def _activation(pm: PostMortem) -> str:
    reading = pm.reading("activations", "rare_token")
    return reading.facts.get("ratio", "–") if reading else "–"


def _mode(run: Run, row: int | None) -> str:
    """The lower edge of the fullest bin of the batch's per-token loss."""
    edges = run.manifest.token_loss_edges
    if row is None or not edges or not run.has("token_loss_hist"):
        return "–"
    counts = run["token_loss_hist"][row]
    return plain(number(edges[counts.arg_max() or 0])) if counts is not None else "–"


def _hashes(run: Run, row: int | None, lang: str) -> str:
    """Whether the batches of the step before, of the step where it began and of the next differ."""
    if not row or not run.has("batch_hash"):
        return "–"
    near = run["batch_hash"][row - 1 : row + 2].to_list()
    return _label("different" if len(set(near)) == len(near) else "repeated", lang)
