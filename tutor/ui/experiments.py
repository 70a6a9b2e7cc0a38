"""Experiments: from the leaf to a fix that is tried, a fork, the playbook, or a step taken again."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from tutor.run.recovery import ACTIONS
from tutor.ui import trials
from tutor.ui.screens.change import ChangeScreen
from tutor.ui.screens.pick import PickScreen
from tutor.ui.screens.report import ReportScreen
from tutor.ui.screens.trial import TrialScreen
from tutor.ui.trials import FORK, OWN, RECOVER, REPLAY, SMALLEST, Kind
from tutor.walk import AtLeaf
from tutor.words import say

if TYPE_CHECKING:
    from tutor.ui.app import TutorApp

MARGIN = 6  # columns that the frame of a report takes


class Experiments:
    """What can be tried on the run of a walk at its leaf.

    Args:
        app: on which the screens are opened.
        walk: at its leaf.
        fixes: of the leaf, by their settings, in words.
    """

    def __init__(self, app: "TutorApp", walk: AtLeaf, fixes: Sequence[tuple[str, str]]) -> None:
        self._app, self._walk, self._fixes = app, walk, fixes

    def go_on(self) -> None:
        """Back to the fix that is at work, or was tried last; else a list to choose from."""
        trial = trials.latest(self._walk.run.path)
        if trial is None:
            self._choose()
        else:
            self._watch(trial)

    def _watch(self, trial: trials.Trial) -> None:
        walk, app = self._walk, self._app
        if trial.kind in ("verify", "fork"):
            app.push_screen(TrialScreen(walk.run, trial, walk.focus), self._left)
        else:
            called = app.called(walk.run.path, walk.run.name)
            app.push_screen(ReportScreen(called, trial), self._left)

    def _left(self, another: bool | None) -> None:
        if another:
            self._choose()

    def _choose(self) -> None:
        """What shall be tried?"""
        app, run = self._app, self._walk.run
        if not run.manifest.tutor or not trials.can_train():
            app.complain(say("trial.no_lab" if run.manifest.tutor else "trial.not_ours", app.lang))
            return
        rows = list(self._fixes) or [(SMALLEST, say("trial.code", app.lang))]
        rows.append((OWN, say("trial.own", app.lang)))
        rows.append((FORK, say("trial.what_if", app.lang)))
        if self._walk.focus is not None:
            rows.append((RECOVER, say("trial.recover", app.lang)))
        if run.has("loss") and not run["loss"].is_finite().all():
            rows.append((REPLAY, say("trial.replay", app.lang)))
        app.push_screen(PickScreen("trial.pick", rows), self._chosen)

    def _chosen(self, wish: str | None) -> None:
        app, path = self._app, self._walk.run.path
        if wish == OWN:
            app.push_screen(ChangeScreen("change", trials.as_fix), self._typed)
        elif wish in (FORK, RECOVER) and (trial := trials.latest(path, wish)) and trial.alive:
            self._watch(trial)
        elif wish == FORK:
            options = partial(trials.as_fork, last=len(self._walk.run))
            app.push_screen(ChangeScreen("fork", options, f"at={self._before()} "), self._forked)
        elif wish == RECOVER:
            rows = [(one, f"{one}  {say(f'replay.recover.{one}', app.lang)}") for one in ACTIONS]
            app.push_screen(PickScreen("trial.predict", rows), self._predicted)
        elif wish == REPLAY:
            half = self._walk.run.manifest.precision == "fp16"
            self._begin(["--fp32"] if half else [], "replay")
        elif wish is not None:
            self._begin([] if wish == SMALLEST else trials.as_options(wish.split()))

    def _before(self) -> int:
        """The last checkpoint before the step under discussion: it begins at once there. Or that step."""
        run, focus = self._walk.run, self._walk.focus or 0
        kept = (one.resumes_at for one in run.checkpoints or () if one.path)
        return max((step for step in kept if step <= focus), default=focus)

    def _typed(self, options: list[str] | None) -> None:
        if options:
            self._begin(options)

    def _forked(self, options: list[str] | None) -> None:
        if options:
            self._begin(options, "fork")

    def _predicted(self, letter: str | None) -> None:
        if letter:
            self._begin(["--all", "--predict", letter], "recover")

    def _begin(self, options: Sequence[str], kind: Kind = "verify") -> None:
        app, run = self._app, self._walk.run
        how = {"learner": app.learner, "lang": app.lang}
        try:
            trial = trials.begin(run.path, options, **how, kind=kind, columns=app.size.width - MARGIN)
        except OSError as error:
            app.complain(str(error))
        else:
            self._watch(trial)
