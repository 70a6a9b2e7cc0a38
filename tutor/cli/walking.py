"""What `tutor walk` asks of a path before the app opens, and of the notebook after it."""

from contextlib import suppress
from pathlib import Path


def holds_several(path: Path, *, follow: bool) -> bool:
    """Whether there are several runs at `path`, to pick one from.

    Who follows a log to which several were written means the last: it alone can still train.
    """
    from tutor import readers
    from tutor.run import BadRunError
    from tutor.runfolder import MANIFEST

    if (path / MANIFEST).is_file():  # a run of ours: its first question is quicker without the readers
        return False
    with suppress(OSError, BadRunError):  # the app says what is wrong
        return len(readers.sources(path) if follow else readers.listed(path)) > 1
    return False


def left_open(learner: str, path: Path, tree: str | None) -> bool:
    """Whether a walk over a run at `path` (its own, or that of one in it) was left before its end.

    With `tree`, a walk in the tree of that name.
    """
    from tutor import readers
    from tutor.notebook import Notebook  # the first question is quicker without it
    from tutor.run import BadRunError

    walks = [draft.data for draft in Notebook(learner).drafts() if draft.kind == "walk"]
    places: set[str] = set()
    with suppress(OSError, BadRunError):  # the run may be gone by now
        places.update(str(source.path.resolve()) for source in readers.listed(path))
    return any(
        walk.get("run") in places and tree in (None, walk.get("tree")) and not walk.get("done")
        for walk in walks
    )
