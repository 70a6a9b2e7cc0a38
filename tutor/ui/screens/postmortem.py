"""PostMortemScreen: the seven sections as a form, saved to the learner's lessons when all of them are filled.

The post-mortem at hand is `pm`, always as the learner left it: each section posts its edits, the screen
applies them and tells the section what came of it. A draft is kept at each change of section and on leaving.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from textual import on, work
from textual.containers import Container, Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static, TextArea

from tutor.notebook import Notebook, NotebookError
from tutor.postmortem import (
    SECTIONS,
    PostMortem,
    began_at,
    is_empty,
    normalise,
    problems,
    to_markdown,
)
from tutor.run import PANELS, Run
from tutor.ui import bindings
from tutor.ui.formkeeper import FormKeeper
from tutor.ui.heard import heard
from tutor.ui.screens.page import Page
from tutor.ui.screens.pick import PickScreen
from tutor.ui.widgets.contents import Contents
from tutor.ui.widgets.grid import Cells, EvidenceGrid
from tutor.ui.widgets.section import Edit, Section
from tutor.ui.widgets.sections import (
    Cause,
    Hypotheses,
    Lesson,
    Remediation,
    Symptoms,
)
from tutor.ui.widgets.title import Title
from tutor.ui.widgets.verification import Verification
from tutor.words import SaidError, plain

S = TypeVar("S", bound=Section)

FORMS = (Symptoms, Hypotheses, EvidenceGrid, Cause, Remediation, Verification, Lesson)


class PostMortemScreen(Page):
    """The post-mortem as a form.

    Args:
        postmortem: as `begun` gives it, or a draft.
        notebook: where drafts are kept and lessons saved.
        run: whose panels can be looked at; None where it isn't at hand.
    """

    @dataclass
    class Saved(Message):
        """The post-mortem was appended to the lessons at `path`."""

        path: Path

    HELP_NOTES = ("postmortem",)
    BINDINGS = bindings.POSTMORTEM

    CSS_PATH = "postmortem.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide"), (116, "-roomy")]  # noqa: RUF012

    def __init__(self, postmortem: PostMortem, notebook: Notebook, run: Run | None = None) -> None:
        super().__init__()
        self._run = run
        self.pm, self.notebook = postmortem, notebook
        self.number = 1
        self.keeper = FormKeeper(notebook, postmortem)
        self._putting = asyncio.Lock()
        self._back: tuple[int, Edit] | None = None  # what puts back in what was taken out last, and where

    def body(self) -> Iterator[Widget]:
        """The sections on the left, the one at hand on the right."""
        about = self.pm.about
        yield Title(about.run, "", f"{self.say('postmortem.title')} · {about.tree}")
        with Horizontal(id="postmortem"):
            with Vertical(id="contents"):
                yield Contents()
                yield Static(Content(plain(about.path.replace(" → ", "\n→ "), lines=True)), id="about")
            yield Container(id="form")
        yield Static(id="message")

    def on_mount(self) -> None:
        """Offer the draft that was left, or the lesson that was saved."""
        self._offer()

    def relabel(self) -> None:
        """Draw the section at hand anew; the cursor stays where it was."""
        held = self.focused
        at = getattr(held, "cursor_location", getattr(held, "cursor_position", None))
        self._open_beside(focus=(held.id if held else None) or "", at=at)

    # Drafts

    @work
    async def _offer(self) -> None:
        try:
            left = await self.keeper.draft(self.app.files)
            saved = None if left else await self.keeper.lesson(self.app.files)
        except NotebookError as error:
            self._refused(error)
            return
        draft = left or saved
        if draft is None or draft.id == self.pm.id:
            return
        done = len(SECTIONS) - len({problem.section for problem in problems(draft, self.app.lang)})
        saved_as = self.say("postmortem.draft.open", lesson=draft.lesson)
        go_on = self.say("postmortem.draft.go_on", done=done) if left else saved_as
        rows = [("draft", go_on), ("new", self.say("postmortem.draft.anew"))]
        offer = "postmortem.draft.offer" if left else "postmortem.draft.offer_saved"
        picked = await self.app.push_screen_wait(PickScreen(offer, rows))
        if picked == "new" and left:  # what was written would be gone
            sure = [("draft", go_on), ("new", self.say("postmortem.draft.erase"))]
            picked = await self.app.push_screen_wait(PickScreen("postmortem.draft.sure", sure))
        if picked != "new":
            self.pm = draft.with_log_of(self.pm)
            self.keeper.take_up(self.pm, saved=draft is saved)
            if draft is left:  # on where something is still to do
                to_do = (problem.section for problem in problems(self.pm, self.app.lang))
                self.number = min(to_do, default=1)
            await self._open()
            if draft is saved:
                self._tell(self.say("postmortem.draft.as_saved"), "✓")

    def _keep(self) -> None:
        self.keeper.keep(self.pm, self.app.files, self._refused)

    def _refused(self, error: SaidError) -> None:
        if self.stands:
            self._tell(error.says(self.app.lang), "✗")
        else:
            self.app.complain(error.says(self.app.lang))

    # The section at hand

    @work(group="open")
    async def _open_beside(self, **how: Any) -> None:
        """Draw the section at hand, for who can't wait for it."""
        await self._open(**how)

    async def _open(
        self, *, stay: bool = False, focus: str = "", at: int | tuple[int, int] | None = None
    ) -> None:
        section = FORMS[self.number - 1](self.pm, self.app.lang, self._run)
        enter = None if stay else partial(_enter, section, focus, at)
        await asyncio.shield(self._put(section, enter))
        if section.is_attached:  # no other was opened meanwhile, nor is the screen left
            self._show()

    async def _put(self, section: Section, enter: Callable[[], object] | None) -> None:
        """Put `section` in the place of the one before, and `enter` it before the next may take its place.

        It isn't cancelled, whatever is opened next and even when the screen is left: widgets whose removal is
        cut short would hold up the app for good.
        """
        async with self._putting:
            if self in self.app.screen_stack:
                form = self.query_one("#form", Container)
                async with self.batch():
                    await form.remove_children()
                    await form.mount(section)
                if enter and section.is_attached and section.display:  # else it is being taken away
                    enter()

    def _drawn(self, kind: type[S]) -> Iterable[S]:
        """The section at hand, if it is of that kind; none while it is being drawn and lacks its fields."""
        return () if self._putting.locked() else self.query(kind)

    def _show(self) -> None:
        lang = self.app.lang
        found = problems(self.pm, lang)
        states = []
        for number, name in enumerate(SECTIONS, 1):
            count = sum(problem.section == number for problem in found)
            if not count:
                states.append(self.say("postmortem.state.done"))
            elif is_empty(self.pm, name):
                states.append(self.say("postmortem.state.empty"))
            else:
                states.append(self.say("postmortem.state.left", count=count))
        self.query_one(Contents).show(states, self.number, lang)
        for section in self._drawn(Section):
            section.show(self.pm, found)

    @on(Section.Edited)
    def _edited(self, event: Section.Edited) -> None:
        before, self.pm = self.pm, event.change(self.pm)
        if self.pm == before:
            return
        self.query_one("#message").remove_class("said")
        if event.back:
            self._back = self.number, event.back
            self._tell(self.say("postmortem.taken_out"), "·")
        self.refresh_bindings()
        if event.again:
            self._open_beside(focus=event.focus)
        else:
            self._show()

    @on(Contents.Chosen)
    @work(group="open")
    async def _chosen(self, event: Contents.Chosen) -> None:
        await self._go(event.number, stay=event.stay)

    async def _go(self, number: int, *, stay: bool = False) -> None:
        self._keep()
        self.number = number
        self.set_class(FORMS[number - 1] is EvidenceGrid and self._run is not None, "-beside")
        self.refresh_bindings()
        await self._open(stay=stay)

    async def action_section(self, by: int) -> None:
        """The next section or the one before, around the end. The next key waits until it stands."""
        await heard(self.focused)
        await self._go((self.number - 1 + by) % len(SECTIONS) + 1)

    @on(Hypotheses.MadeOne)
    def action_make_one(self) -> None:
        """Make the probabilities sum to 1."""
        self.pm = normalise(self.pm)
        for section in self._drawn(Hypotheses):
            section.take(self.pm)
        self._show()

    def check_action(self, action: str, parameters: tuple) -> bool | None:
        """The sum belongs to section 2; once all is saved no draft is left behind."""
        if action == "look":
            return self._run is not None
        if action == "put_back":
            return self._back is not None
        if action == "leave":
            return parameters[0] != self.keeper.saved(self.pm)
        return self.number == 2 if action == "make_one" else True

    def action_look(self) -> None:
        """A panel of the run, the one of the cell at hand, in full size."""
        from tutor import plots
        from tutor.ui.screens.panel import PanelScreen

        cells = self.query(Cells)
        panel = cells.first().panel if cells else PANELS[0]
        began = began_at(self.pm)
        assert self._run, "the key works only where there is a run"
        view = plots.whole(self._run) if self.pm.about.whole else None
        self.app.push_screen(PanelScreen(self._run, panel, began, view=view))

    async def action_put_back(self) -> None:
        """What was taken out last, a bound or a hypothesis, in again."""
        assert self._back, "the key works only where something was taken out"
        (number, edit), self._back = self._back, None
        self.pm = edit(self.pm)
        await self._go(number)

    def action_example(self) -> None:
        """A worked example, beside a run of the same fault."""
        from tutor.ui.screens.example import ExampleScreen

        self.app.push_screen(ExampleScreen())

    # Saving and leaving

    async def action_save(self) -> None:
        """Append to the lessons, or say which sections are missing."""
        await heard(self.focused)
        self._save()

    @work
    async def _save(self) -> None:
        lang = self.app.lang
        if missing := sorted({problem.section for problem in problems(self.pm, lang)}):
            names = ", ".join(f"{n} {self.say(f'postmortem.short.{SECTIONS[n - 1]}')}" for n in missing)
            self._tell(self.say("postmortem.unsaved", count=len(missing), sections=names), "✗")
            self._keep()
            return
        if self._run:
            await self._hold_against_own_bounds(self._run)
        pm = self.pm
        text = to_markdown(pm, lang, datetime.now())
        try:
            path, stale = await self.keeper.append(pm, text, self.app.files)
        except NotebookError as error:
            why = error.says(lang)
            if error.rescued:
                why = self.say("postmortem.rescued", why=why, path=str(error.rescued))
            self._tell(why, "✗")
            return
        self.refresh_bindings()
        self._tell(self.say("postmortem.saved", path=str(path)), "✓")
        self.post_message(self.Saved(path))
        if stale:
            self._tell(stale.says(lang), "✗")
        if self.is_current and self.pm == pm:
            await self._show_kept(path)

    async def _hold_against_own_bounds(self, run: Run) -> None:
        """Let section 6 say what the run with the fix makes of the bounds as they were typed."""
        from tutor.ui.tried import with_tried

        known = await self.app.files.read(partial(with_tried, self.pm, run, self.app.lang))
        form = self.pm.verification  # it may have been edited meanwhile
        self.pm = self.pm.but(verification=form.model_copy(update={"tried": known.verification.tried}))

    async def _show_kept(self, path: Path) -> None:
        """The lesson as the notebook has it now, read back from its file."""
        from tutor.ui.screens.kept import KeptScreen

        try:
            lessons = await self.app.files.notes(self.notebook.lessons)
        except NotebookError as error:
            self._tell(error.says(self.app.lang), "✗")
            return
        if lessons and self.is_current:
            self.app.push_screen(KeptScreen(lessons[-1], path), self._read)

    def _read(self, done: bool | None) -> None:
        """Back from the lesson: where the learner is `done` with it, on to where the post-mortem began."""
        if done:
            self.app.leave(self)

    def _tell(self, words: str, sign: str) -> None:
        for message in self.query("#message").results(Static):  # none once the screen is gone
            message.update(Content(plain(f"{sign} {words}")))
            message.add_class("said")

    async def action_leave(self, draft: bool) -> None:
        """Leave; with `draft`, what was written is kept as one."""
        await heard(self.focused)
        async with self._putting:  # a section that is half drawn would be left without its fields
            if draft:
                self._keep()
            self.app.leave(self)

    def on_unmount(self) -> None:
        """However the screen ends, what was written is kept."""
        self._keep()


def _enter(section: Section, focus: str, at: int | tuple[int, int] | None) -> None:
    """The cursor into the field called `focus`, or into the first, to the place `at` in it."""
    field = next(iter(section.query(f"#{focus}") if focus else ()), section.entry)
    section.screen.set_focus(field)  # at once: `field.focus()` would wait behind the keys typed since
    if at is not None:
        setattr(field, "cursor_location" if isinstance(field, TextArea) else "cursor_position", at)
    elif isinstance(field, TextArea):
        if field.text.rpartition("\n")[2].startswith("#"):  # what is typed behind a remark would be one
            field.insert("\n", field.document.end)
        field.move_cursor(field.document.end)
