"""Detectors of the batch: what was trained on at a step."""

from tutor.detectors import Finding, detector
from tutor.run import Run


@detector(
    signals=("batch_hash",),
    outcomes=("loader", "no"),
    facts={"loader": ("hash", "twin", "again", "looked_back"), "no": ("hash", "looked_back")},
    every_row=True,
)
def repeated_batch(run: Run, at: int | None, *, look_back: int) -> Finding:
    """Whether the batch at `at`, or one of the `look_back` rows before it, is one of those rows' once more.

    The flaw: a data loader that gives a batch twice. A batch that comes back is easy; the spike is the first
    new one, by then unlike what the model was fitted to. Source: the tree; ours: the rows before `at`.
    """
    row = run.row_at(at) if at is not None else len(run) - 1
    first = max(0, row - look_back)
    hashes = run["batch_hash"][first : row + 1].to_list()
    facts = {"hash": hashes[-1], "looked_back": row - first}
    seen: dict[str | None, int] = {}
    repeated: tuple[int, int] | None = None
    for place, found in enumerate(hashes):
        if found in seen and found is not None:
            repeated = seen[found], place
        seen[found] = place
    if repeated is None:
        return Finding("no", at, facts)
    twin, again = (int(run.steps[first + place]) for place in repeated)
    return Finding("loader", at, facts | {"hash": hashes[repeated[1]], "twin": twin, "again": again})
