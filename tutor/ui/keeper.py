"""Keeper: keeps the learner's walk in the notebook, and says once when it can't."""

from collections.abc import Callable
from typing import Any

from tutor.walk import Look, Walk, from_state, to_state

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

    def kept(self, walk: Walk) -> Walk | None:
        """The walk over this run and tree as it was left. A draft that can't be read is set aside."""
        key = self._key(walk)
        state = self.notebook.draft(KIND, key)
        try:
            if state is not None:
                return from_state(walk.run, walk.tree, state)
        except ValueError:
            pass
        self._try(lambda: self.notebook.set_aside(KIND, key))
        return None

    def keep(self, walk: Walk) -> None:
        """Keep where the walk stands; `owed`: it ended where a post-mortem is to be written."""
        leaf = walk.leaf
        state = to_state(walk) | {"name": walk.run.name, "run": str(walk.run.path.resolve())}
        state |= {"done": leaf is not None, "owed": leaf is not None and leaf.post_mortem}
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

        return draft_key(walk.run.name, walk.tree.tree, walk.run.path)

    def _try(self, save: Callable[[], Any]) -> None:
        from tutor.notebook import NotebookError

        try:
            save()
        except NotebookError as error:
            if not self._complained:
                self._complained = True
                self._complain(error)
