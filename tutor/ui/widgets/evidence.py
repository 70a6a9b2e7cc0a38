"""Evidence: what the log says, once the learner has committed; or that it can't tell, and how to log it."""

from collections.abc import Sequence
from functools import partial

from textual.app import ComposeResult
from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Static

from tutor.saying import Line, after_prediction, of_sources
from tutor.saying.later import since_prediction
from tutor.ui.widgets.fitted import Fitted
from tutor.ui.widgets.path import CHANGED, CLOSE, RIGHT, SEEN_BEFORE, WRONG, mark_style
from tutor.ui.widgets.settled import Scrolling, Words
from tutor.walk import Look, Walk
from tutor.words import say

SIGNS = {
    **{"right": RIGHT, "wrong": WRONG, "seen_before": SEEN_BEFORE},
    **dict.fromkeys(("close", "also", "open", "in_part"), CLOSE),
}
MUTED = "$foreground-muted"


class Sources(Fitted):
    """Where the numbers come from, in a line."""

    auto_links = reactive(False)  # the key keeps its own colours


class Evidence(Scrolling):
    """The measured value, bound and step; why a wrong prediction looked right; where the bound comes from."""

    can_focus = False

    def compose(self) -> ComposeResult:
        """The text, which scrolls when it is long, and a line with the sources under it."""
        yield Words(id="said")
        yield Sources(id="sources")

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Rows that what is said takes, and the sources."""
        shown = (one for one in self.query(Static) if one.display)
        return sum(one.get_content_height(container, viewport, width) for one in shown)

    def show(
        self, walk: Walk, seen: Look, lang: str, then: Look | None = None, given: Sequence[str] = ()
    ) -> None:
        """Draw what the log says of the question at hand, which has been predicted.

        Args:
            walk: at that question.
            seen: what the log says.
            lang: of the words.
            then: what it said when the prediction was made, where that was something else: by it the
                prediction is judged.
            given: the facts that the learner gave since then.
        """
        assert walk.question, "a leaf asks nothing"
        assert walk.prediction, "the learner commits before the log speaks"
        self.border_title = Content(say("walk.log_says" if seen.answers else "walk.log_cant_tell", lang))
        asked, said = walk.question, walk.prediction
        if then is None:
            lines = after_prediction(asked, said, seen, lang)
        else:
            lines = since_prediction(asked, said, then, seen, lang, given)
        self.query_one("#said", Static).update(Content("\n").join(drawn(line) for line in lines))
        sources, cited = self.query_one(Sources), of_sources(asked, seen, lang)
        sources.fit(partial(drawn_sources, cited, lang))
        sources.display = bool(cited)
        self._foresee_bar()
        self.scroll_home(animate=False)

    def _foresee_bar(self) -> None:
        """Show the scroll bar or hide it before what is said is laid out. Textual would find out afterwards,
        and lay out and paint everything twice more.
        """
        beside, tallest = self.parent, self.styles.max_height
        if not (isinstance(beside, Widget) and tallest):
            return
        room, screen = beside.content_size, self.app.size
        width = room.width - self.gutter.width
        seen = int(tallest.resolve(room, screen)) - self.gutter.height
        told = self.get_content_height(room, screen, width)
        self.show_vertical_scrollbar = self.vertical_scrollbar.display = told > seen


def drawn(line: Line) -> Content:
    """One line as it stands on the screen: its sense is in signs and words, not in colour alone."""
    match line.role:
        case "prediction":
            sign = SIGNS.get(line.verdict)
            lead = (f"{sign} {line.label}  ", mark_style(sign)) if sign else ""
            return Content.assemble(lead, (line.text, MUTED))
        case "finding":
            return Content.assemble((line.text, "bold"), (f" {line.note}" if line.note else "", MUTED))
        case "check":
            lead = (f"{'▸' if line.decides else '·'} {line.label} ", "bold" if line.decides else "")
        case "changed":
            return Content.assemble((f"{CHANGED} {line.text}", "bold $accent"))
        case "look":
            lead = (f"{line.label} ", "bold")
        case _:
            lead = (f"{line.label} ", MUTED) if line.label else ""
    return Content.assemble(lead, line.text, (f" {line.note}" if line.note else "", MUTED))


def drawn_sources(cited: Sequence[str], lang: str, width: int) -> Content:
    """Where the numbers of what was found come from, as far as a line holds it, and the key to the rest."""
    text = Content.styled(f"{say('walk.source', lang)}: {' · '.join(cited)}", MUTED)
    if text.cell_length <= width:
        return text
    click = "@click=screen.remarks"
    more = Content.assemble(
        (" i ", f"bold $accent {click}"), (say("walk.sources_key", lang), f"{MUTED} {click}")
    )
    return text.truncate(width - more.cell_length, ellipsis=True) + more
