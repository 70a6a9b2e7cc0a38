"""Detectors of the batch: what was trained on at a step."""

from tutor.detectors import Finding, detector
from tutor.run import Run


@detector(
    signals=("batch_hash",),
    outcomes=("loader", "no"),
    facts={"loader": ("hash", "twin", "looked_back"), "no": ("hash", "looked_back")},
    every_row=True,
)
def repeated_batch(run: Run, at: int | None, *, look_back: int) -> Finding:
    """Whether the batch at `at` has the same hash as one of the `look_back` rows before it.

    The flaw: a data loader that gives a batch twice. Source: the tree.
    """
    row = run.row_at(at) if at is not None else len(run) - 1
    here = run["batch_hash"][row]
    facts = {"hash": here, "looked_back": min(look_back, row)}
    for other in range(row - 1, max(-1, row - 1 - look_back), -1):
        if here is not None and run["batch_hash"][other] == here:
            return Finding("loader", at, facts | {"twin": int(run.steps[other])})
    return Finding("no", at, facts)
