"""LessonsScreen: the learner's lessons, the latest first, with one of them open to read."""

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Markdown, OptionList, Static
from textual.widgets.option_list import Option

from tutor.notebook import Lesson, Notebook
from tutor.ui import bindings
from tutor.ui.screens.page import Page
from tutor.ui.widgets.options import Paged
from tutor.ui.widgets.title import Title
from tutor.words import plain


class LessonList(Paged):
    """The lessons to pick from, whose keys the footer knows."""

    BINDINGS = bindings.LESSON_LIST


class LessonsScreen(Page):
    """The lessons of a notebook, the oldest first as they are given."""

    AUTO_FOCUS = "#list"
    HELP_NOTES = ("lessons",)
    BINDINGS = bindings.LESSONS
    CSS_PATH = "lessons.tcss"

    def __init__(self, notebook: Notebook, lessons: Sequence[Lesson]):
        super().__init__()
        self.notebook = notebook
        self.lessons = lessons[::-1]

    def body(self) -> ComposeResult:
        """The list on the left, the lesson on the right; of an empty notebook, that it is."""
        yield Title(middle=str(self.notebook.lessons_path))
        with Horizontal(id="lessons"):
            if self.lessons:  # a hidden list would take the focus all the same
                rows = (Option(self._row(lesson)) for lesson in self.lessons)
                yield LessonList(*rows, id="list", markup=False)
            with VerticalScroll(id="reading"):
                yield Markdown(open_links=False) if self.lessons else Static(id="none")

    def _row(self, lesson: Lesson) -> Content:
        where = " · ".join(part for part in (lesson.date, lesson.run) if part)
        return Content.assemble((plain(lesson.lesson), "bold"), f"\n{plain(where)}" if where else "")

    def relabel(self) -> None:
        """The words for an empty notebook."""
        place = plain(str(self.notebook.lessons_path))
        for note in self.query("#none").results(Static):
            note.update(Content(self.say("notebook.none", name=self.notebook.learner, path=place)))

    @on(OptionList.OptionHighlighted)
    async def _open(self, event: OptionList.OptionHighlighted) -> None:
        await self.query_one(Markdown).update(plain(self.lessons[event.option_index].body, lines=True))
        self.query_one("#reading").scroll_home(animate=False)

    @on(OptionList.OptionSelected)
    def _read(self) -> None:
        """To the reading pane, to scroll it."""
        self.query_one("#reading").focus()

    def action_leave(self) -> None:
        """Back."""
        self.app.leave(self)
