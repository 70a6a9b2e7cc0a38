"""Keeper: keeps the learner's walk in the notebook, and says once when it can't."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from tutor.notebook import Notebook, NotebookError, draft_key
from tutor.ui.files import Files
from tutor.walk import AtLeaf, AtQuestion, Look, Walk, excuse, flawed, from_state, score, to_state, verdict
from tutor.words import SaidError

KIND, FINISHED = "walk", "finished"

T = TypeVar("T")


class Keeper:
    """Between a walk screen and a notebook that may be read-only: the walk goes on all the same.

    Args:
        learner: whose notebook.
        files: writes it, beside the screen.
        complain: told, once, why nothing can be kept.
    """

    def __init__(self, learner: str, files: Files, complain: Callable[[SaidError], None]):
        self.notebook = Notebook(learner)
        self._files = files
        self._complain: Callable[[SaidError], None] | None = complain

    async def kept(self, walk: Walk) -> Walk | None:
        """The walk over this run and tree as it was left. A draft that can't be read is set aside."""
        return await self.resume(KIND, _key(walk), partial(from_state, walk.run, walk.tree))

    async def resume(self, kind: str, key: str, parse: Callable[[Mapping[str, Any]], T]) -> T | None:
        """What `parse` makes of a draft. One that can't be read is set aside."""
        try:
            return await self._files.notes(partial(self.notebook.resume, kind, key, parse))
        except NotebookError as error:
            self._refused(error)
            return None

    def save(self, act: Callable[[], object]) -> None:
        """Let `act` write the notebook beside the screen."""
        self._files.save(act, self._refused)

    def keep(self, walk: Walk) -> None:
        """Keep where the walk stands; `owed`: it ended where a post-mortem is to be written.

        A walk at its leaf is kept a second time: that one stays when the walk is begun again.
        """

        def save() -> None:
            state = to_state(walk) | {"name": walk.run.name, "run": str(walk.run.path.resolve())}
            state |= {"done": False, "owed": False}
            if isinstance(walk, AtLeaf):
                state |= {"done": True, "owed": walk.leaf.post_mortem and flawed(walk)}
                state |= {"score": score(walk.answers), "verdict": verdict(walk)}
                self.notebook.save_draft(FINISHED, _key(walk), state)
            self.notebook.save_draft(KIND, _key(walk), state)

        self.save(save)

    def record(self, walk: AtQuestion, seen: Look) -> None:
        """Record the prediction beside what the log said."""
        said = walk.prediction
        assert said, "nothing was predicted"

        def save() -> None:
            self.notebook.record_prediction(
                run=walk.run.name,
                tree=walk.tree.tree,
                question=walk.at,
                predicted=said.outcome,
                confidence=said.confidence,
                found=walk.question.offered_as(seen.outcome),
                hints=walk.hints,
                attempt=walk.id,
                seen_before=said.seen_before,
                close=excuse(walk.question, said, seen) is not None,
            )

        self.save(save)

    def _refused(self, error: SaidError) -> None:
        if self._complain:
            self._complain(error)
            self._complain = None


def _key(walk: Walk) -> str:
    return draft_key(walk.run.name, walk.tree.tree, walk.run.path)
