"""MapScreen: the tree, every question and where its answers lead, and where we are."""

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tutor.ui import bindings
from tutor.ui.screens.page import Page
from tutor.ui.widgets.path import HERE, mark, mark_style
from tutor.ui.widgets.title import Title, placed
from tutor.walk import Walk


class MapScreen(Page):
    """The tree of `walk` as an outline, in reading order."""

    BINDINGS = bindings.CLOSE
    HELP_NOTES = ("map",)
    AUTO_FOCUS = "VerticalScroll"

    def __init__(self, walk: Walk):
        super().__init__()
        self.walk = walk

    def body(self) -> ComposeResult:
        """The outline."""
        tree = self.walk.tree
        yield Title(self.app.called(self.walk.run.path, self.walk.run.name), "", placed(tree, self.app.lang))
        with VerticalScroll(classes="pane", id="map"):
            yield Static(id="about", markup=False)
            for number, _ in enumerate(tree.questions):
                yield Static(id=f"question-{number}")

    def relabel(self) -> None:
        """Draw in the app's language; bring the question at hand into sight."""
        lang, tree = self.app.lang, self.walk.tree
        self.query_one("#map").border_title = Content(self.say("map.title"))
        self.query_one("#about", Static).update(tree.about(lang))
        section = ""
        for number, id in enumerate(tree.questions):
            said = tree.questions[id].section(lang)
            heading = said if said != section else ""
            section = said
            block = self.query_one(f"#question-{number}", Static)
            block.update(self._block(id, heading, lang))
            if id == self.walk.at:
                self.call_after_refresh(block.scroll_visible, animate=False)

    def _block(self, id: str, heading: str, lang: str) -> Content:
        tree = self.walk.tree
        question = tree.questions[id]
        answer = next((a for a in self.walk.answers if a.question == id), None)
        here = id == self.walk.at
        sign = HERE if here else mark(answer) if answer else " "
        style = "bold $accent" if here else mark_style(sign) if answer else ""
        lines = [Content.assemble(("\n" + heading, "bold $primary"))] if heading else []
        lines.append(
            Content.assemble(
                (f"{sign} ", style),
                (f"{id}  ", "bold $accent" if here else "$foreground-muted"),
                (question.title(lang), "bold" if here or answer else ""),
                (f"   {self.say('map.here')}" if here else "", "$accent"),
            )
        )
        exits = list(tree.nexts(id))
        for number, (name, goal) in enumerate(exits):
            taken = answer is not None and answer.outcome == name
            bar = "└" if number == len(exits) - 1 else "├"
            where = f"◆ {tree.leaves[goal].name(lang)}" if goal in tree.leaves else goal
            if goal == self.walk.at and taken:
                where += f"   {self.say('map.here')}" if goal in tree.leaves else ""
            lines.append(
                Content.assemble(
                    (f"     {bar} ", "$foreground-muted"),
                    (question.outcomes[name].label(lang), "bold" if taken else "$foreground-muted"),
                    (f" → {where}", "bold" if taken else "$foreground-muted"),
                    (f"   {self.say('map.taken')}" if taken else "", "$success"),
                )
            )
        return Content("\n").join(lines)
