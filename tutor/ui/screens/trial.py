"""TrialScreen: a fix trains over the broken run, and its bounds are checked then; or a fork of it does."""

import shlex
from functools import partial

from textual import work
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tutor import verifying
from tutor.run import Run
from tutor.saying import verified
from tutor.ui import bindings
from tutor.ui.screens.page import PlotPage
from tutor.ui.screens.watching import Watching
from tutor.ui.trials import LAST_LINES, Trial
from tutor.ui.widgets.plot import Plot
from tutor.ui.widgets.tabs import PanelTabs
from tutor.ui.widgets.title import Title
from tutor.words import number, plain, say

EVERY = 1.0  # seconds between looks at how far it has come
SIGNS = {True: ("✓ ", "$success"), False: ("≠ ", "$error"), None: ("· ", "")}


class TrialScreen(Watching, PlotPage):
    """The run with a fix, laid over the broken one, while it trains and after. Gives whether to try another.

    Args:
        run: the broken run.
        trial: what is being tried.
        mark: the step under discussion.
    """

    BINDINGS = bindings.TRIAL
    HELP_NOTES = ("trial",)
    AUTO_FOCUS = "#trial"

    def __init__(self, run: Run, trial: Trial, mark: int | None):
        super().__init__()
        self.subject, self.trial = run, trial
        self._mark = mark
        self._fixed: Run | None = None

    @property
    def mark(self) -> int | None:
        """The step under discussion."""
        return self._mark

    def body(self) -> ComposeResult:
        """The panel, and what is known so far under it."""
        yield Title(self.app.called(self.subject.path, self.subject.name))
        yield PanelTabs()
        yield Plot(self.subject)
        with VerticalScroll(id="trial", classes="pane"):
            yield Static()

    def on_mount(self) -> None:
        """Look at once, then again and again until it has ended."""
        self._timer = self.set_interval(EVERY, self._look)
        self._look()

    def relabel(self) -> None:
        """Draw in the app's language."""
        from tutor import plots

        plot = self.query_one(Plot)
        self.draw(plot.panel, plot.view or plots.whole(self.subject))
        change = self.trial.change or self.say("trial.smallest")
        title = "trial.forked" if self.trial.kind == "fork" else "trial.title"
        self.query_one("#trial").border_title = Content(self.say(title, change=plain(change)))
        self._tell()

    @work(exclusive=True, group="trial")
    async def _look(self) -> None:
        """Read what has come, beside the screen."""
        fixed = await self.app.files.read(partial(self.trial.fixed, self._fixed))
        if not self.stands:
            return
        if fixed is not None:
            self._fixed = fixed
            self.query_one(Plot).others = [fixed]
            self.query_one(Plot).refresh()
        self._tell()
        if not self.trial.alive:
            self._timer.stop()
        self.refresh_bindings()

    def _tell(self) -> None:
        self.query_one("#trial Static", Static).update(self._told(self.app.lang))

    def _told(self, lang: str) -> Content:
        """How far it has come or, at its end, what was found."""
        found = self.trial.found
        if found is not None:
            style = "bold $success" if found.verified else "bold $error"
            lines = [Content.assemble((verified.heading(found, lang), style))]
            for good, words in verified.lines_of(found, lang):
                sign, colour = SIGNS[good]
                lines.append(Content.assemble((sign, colour), words))
            lines.append(
                Content.assemble((say("trial.kept", lang, path=plain(found.fixed)), "$foreground-muted"))
            )
            return Content("\n").join(lines)
        if self.trial.alive:
            return Content("\n").join([Content(self._progress(lang)), Content(say("trial.leave", lang))])
        if self.trial.kind == "fork" and self._fixed is not None:
            return self._forked(self._fixed, lang)
        return Content.assemble(
            (say("trial.ended", lang), "bold $error"), f"\n{plain(self.trial.said(LAST_LINES), lines=True)}"
        )

    def _forked(self, fork: Run, lang: str) -> Content:
        """Where the fork ended, beside the run, and commands to go on with; where it was cut short, what its
        process said.
        """
        ends = (verifying.ending(one) for one in (fork, self.subject))
        loss, own = ("NaN" if end is None else number(end) for end in ends)
        told = say("trial.fork_ended", lang, steps=len(fork), loss=loss, own=own)
        if len(fork) < (fork.manifest.settings.get("steps") or 0):
            said = plain(self.trial.said(LAST_LINES), lines=True)
            return Content.assemble((told, "bold"), f"\n{said}")
        run, path = shlex.quote(self.trial.run), shlex.quote(self.trial.out)
        after = [f"$ tutor walk {path}", f"$ tutor compare {run} {path}"]
        return Content.assemble((told, "bold"), *((f"\n{plain(one)}", "$primary") for one in after))

    def _progress(self, lang: str) -> str:
        fixed = self._fixed
        if fixed is None:
            return say("trial.starting", lang)
        loss = fixed["loss"].drop_nulls().to_list() if fixed.has("loss") else []
        steps = fixed.manifest.settings.get("steps")
        if len(fixed) == steps and self.trial.kind == "verify":
            return say("trial.checking", lang)
        facts = {"done": len(fixed), "steps": steps, "loss": number(loss[-1]) if loss else "–"}
        return say("trial.training", lang, **facts)
