"""What was written on the screens that keep drafts, and whether it is in the notebook."""

import json

from tests.monkey.broken import BrokenError
from tutor.notebook import Notebook, draft_key
from tutor.postmortem import PostMortem
from tutor.postmortem import from_state as read_postmortem
from tutor.ui.app import TutorApp
from tutor.ui.formkeeper import KIND
from tutor.ui.screens.postmortem import PostMortemScreen
from tutor.ui.screens.walk import WalkScreen
from tutor.walk import Walk, to_state

Keeping = PostMortemScreen | WalkScreen


class Kept:
    """The drafts of the screens that were seen since the last look."""

    def __init__(self) -> None:
        self._seen: dict[Keeping, PostMortem | Walk] = {}

    def see(self, app: TutorApp) -> None:
        """Take note of the screens that keep drafts, and of how they began."""
        for screen in app.screen_stack:
            if isinstance(screen, PostMortemScreen | WalkScreen) and (work := _work(screen)):
                self._seen.setdefault(screen, work)

    def look_up(self) -> None:
        """What was written on each screen is in the notebook, unless a later one took its place."""
        last = {(type(screen), _key(screen)): screen for screen in self._seen}
        for screen in last.values():
            work = _work(screen)
            if work is None or work in (self._seen[screen], getattr(screen, "_lesson", None)):
                continue
            notebook, kind = _notebook(screen), type(screen).__name__
            draft = notebook.draft("walk" if isinstance(screen, WalkScreen) else KIND, _key(screen))
            if draft is None:
                raise BrokenError(f"what was written on {kind} isn't in the notebook")
            if isinstance(work, PostMortem):
                same = read_postmortem(draft).with_log_of(work) == work
            else:
                state = json.loads(json.dumps(to_state(work)))
                same = {name: draft.get(name) for name in state} == state
            if not same:
                raise BrokenError(f"the draft of {kind} isn't as it was left")
        self._seen.clear()


def _work(screen: Keeping) -> PostMortem | Walk | None:
    return screen.pm if isinstance(screen, PostMortemScreen) else screen._walk


def _key(screen: Keeping) -> str:
    if isinstance(screen, PostMortemScreen):
        return screen.keeper.key
    walk = screen._walk
    return draft_key(walk.run.name, walk.tree.tree, walk.run.path) if walk else ""


def _notebook(screen: Keeping) -> Notebook:
    return screen.notebook if isinstance(screen, PostMortemScreen) else screen.keeper.notebook
