"""FormKeeper: keeps a post-mortem, as a draft while it is written and then as a lesson."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from tutor.notebook import Notebook, NotebookError, draft_key, rescue
from tutor.postmortem import PostMortem, from_state, to_state
from tutor.run import Run
from tutor.ui.files import Files
from tutor.words import SaidError, plain

KIND = "postmortem"
SAVED = "lesson"
"""Drafts that hold a post-mortem as it was saved, to be opened again; the lesson itself is in lessons.md."""


def saved_lesson(notebook: Notebook, run: Run, tree: str) -> PostMortem | None:
    """The post-mortem of a walk over the run in that tree as it was last saved; None where none was."""
    state = notebook.draft(SAVED, draft_key(plain(run.name), tree, run.path))
    with suppress(ValueError):
        return from_state(state) if state else None
    return None


class FormKeeper:
    """Between a post-mortem's screen and the notebook. It writes beside the screen, in the order asked for.

    Args:
        notebook: where drafts are kept and lessons saved.
        pm: as it was begun: no draft is worth keeping of that.
    """

    def __init__(self, notebook: Notebook, pm: PostMortem) -> None:
        self.notebook = notebook
        about = pm.about
        self.key = draft_key(about.run, about.tree, about.folder)
        self._kept: PostMortem | None = pm  # as the last draft has it
        self._lesson: PostMortem | None = None  # as it was last saved

    async def draft(self, files: Files) -> PostMortem | None:
        """The draft that was left; raises NotebookError where it can't be read."""
        return await files.notes(partial(self.notebook.resume, KIND, self.key, from_state))

    async def lesson(self, files: Files) -> PostMortem | None:
        """The post-mortem as it was last saved; raises NotebookError where it can't be read."""
        return await files.notes(partial(self.notebook.resume, SAVED, self.key, from_state))

    def take_up(self, pm: PostMortem, *, saved: bool = False) -> None:
        """`pm` is what the draft holds, or the lesson that was `saved`."""
        self._kept = pm
        if saved:
            self._lesson = pm

    def keep(self, pm: PostMortem, files: Files, refused: Callable[[SaidError], None]) -> None:
        """Keep a draft of what has changed since the last one; `refused` is told why it can't be kept."""
        if pm == self._kept:
            return
        self._kept = pm

        def save() -> None:
            if pm != self._lesson:  # a lesson saved in the meantime leaves no draft behind
                self.notebook.save_draft(KIND, self.key, to_state(pm))

        def forget(error: SaidError) -> None:
            self._kept = None
            refused(error)

        files.save(save, forget)

    def saved(self, pm: PostMortem) -> bool:
        """Whether `pm` is the lesson that was saved last."""
        return pm == self._lesson

    async def append(self, pm: PostMortem, text: str, files: Files) -> tuple[Path, NotebookError | None]:
        """Append the lesson `text` and drop the draft, to its end even when the screen is left meanwhile.

        What was saved can be opened again.

        Returns:
            Where the lessons are, and why the draft could not be dropped.

        Raises:
            NotebookError: the lesson can't be saved; it says where the text is safe instead.
        """
        done = await files.notes(partial(self._append, pm, text))
        self._kept = pm
        return done

    def _append(self, pm: PostMortem, text: str) -> tuple[Path, NotebookError | None]:
        try:
            path = self.notebook.append_lesson(text)
        except NotebookError as error:
            with suppress(NotebookError):  # no room anywhere: the first reason is the one to show
                error.rescued = rescue(text)
            raise
        self._lesson = pm
        try:
            self.notebook.save_draft(SAVED, self.key, to_state(pm))
            self.notebook.drop_draft(KIND, self.key)
        except NotebookError as error:
            return path, error
        return path, None
