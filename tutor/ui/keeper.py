"""Keeper: keeps the learner's walk in the notebook, and says once when it can't."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tutor.walk import Look, Walk, to_state

if TYPE_CHECKING:
    pass

KIND = "walk"


class Keeper:
    """Between a walk screen and a notebook that may be read-only: the walk goes on all the same.

    Args:
        learner: whose notebook.
        complain: told, once, why nothing can be kept (a NotebookError).
    """

    def __init__(self, learner: str, complain: Callable[[Exception], None]):
        from tutor.notebook import Notebook

        self.notebook: Notebook = Notebook(learner)
        self._complain = complain
        self._complained = False

    def kept(self, walk: Walk) -> dict[str, Any] | None:
        """The state in which a walk over this run and tree was left; not one over another of its name."""
        state = self.notebook.draft(KIND, self._key(walk))
        left = Path(str((state or {}).get("run", "")))
        return None if left.exists() and left.resolve() != walk.run.path.resolve() else state

    def keep(self, walk: Walk) -> None:
        """Keep where the walk stands."""
        where = str(walk.run.path.resolve())
        state = to_state(walk) | {"name": walk.run.name, "run": where, "done": walk.leaf is not None}
        self._try(lambda: self.notebook.save_draft(KIND, self._key(walk), state))

    def record(self, walk: Walk, seen: Look) -> None:
        """Record the prediction beside what the log said."""
        said = walk.prediction
        self._try(
            lambda: self.notebook.record_prediction(
                run=walk.run.name,
                tree=walk.tree.tree,
                question=walk.at,
                predicted=said.outcome,
                confidence=said.confidence,
                found=seen.outcome,
                hints=walk.hints,
            )
        )

    def _key(self, walk: Walk) -> str:
        from tutor.notebook import draft_key

        return draft_key(walk.run.name, walk.tree.tree)

    def _try(self, save: Callable[[], Any]) -> None:
        from tutor.notebook import NotebookError

        try:
            save()
        except NotebookError as error:
            if not self._complained:
                self._complained = True
                self._complain(error)
