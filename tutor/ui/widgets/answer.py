"""Answer: the outcomes to choose from and how sure the learner is; then what was committed."""

from collections.abc import Mapping
from dataclasses import dataclass

from textual.content import Content
from textual.message import Message
from textual.reactive import reactive

from tutor.tree import Outcome
from tutor.ui.widgets.fitted import Fitted
from tutor.walk import UNSURE, Prediction
from tutor.words import say

LETTERS = ("yes", "no")
"""What has a letter of its own in each language: an outcome that says so, alone or before a comma."""

CONFIDENCES = range(1, 6)
DEFAULT_CONFIDENCE = 3
GAP = "   "


@dataclass(frozen=True)
class Option:
    """One outcome to choose: its id, label and letter ("" where it has none)."""

    id: str
    label: str
    letter: str


def options(offered: Mapping[str, Outcome], lang: str, unsure: str) -> list[Option]:
    """The outcomes that are offered, and `unsure` (a key of tutor/words): for who can't say which."""
    labels = {id: outcome.label(lang) for id, outcome in offered.items()}
    letters = {_says(word, labels, lang): say(f"walk.letters.{word}", lang) for word in LETTERS}
    found = [Option(id, label, letters.get(id, "")) for id, label in labels.items()]
    return [*found, Option(UNSURE, say(unsure, lang), "u")]


def _says(word: str, labels: Mapping[str, str], lang: str) -> str | None:
    """The one outcome that says yes, or no: it says nothing else, or is alone in beginning so.

    "No, it was contained" does, where there is no plain "no"; a letter of two would choose neither.
    """
    spoken = say(f"walk.spoken.{word}", lang)
    plain = [id for id, label in labels.items() if label == spoken]
    begin = [id for id, label in labels.items() if label.partition(",")[0] == spoken]
    return next((found[0] for found in (plain, begin) if len(found) == 1), None)


class Answer(Fitted):
    """What the learner says. A click chooses, as the keys do.

    Attributes:
        chosen: the outcome chosen so far, or None.
        confidence: from 1 to 5.
    """

    auto_links = reactive(False)  # the options keep their own colours

    class Chosen(Message):
        """The learner chose an outcome or a confidence; nothing is committed yet."""

    def __init__(self) -> None:
        super().__init__()
        self.chosen: str | None = None
        self.confidence = DEFAULT_CONFIDENCE
        self._options: list[Option] = []
        self._lang, self._title = "en", "walk.your_answer"
        self._asks_confidence, self._by_hand = True, False

    @property
    def ids(self) -> list[str]:
        """The ids of what can be chosen now."""
        return [option.id for option in self._options]

    def letters(self) -> dict[str, str]:
        """Outcomes by letter."""
        return {option.letter: option.id for option in self._options if option.letter}

    def ask(self, offered: Mapping[str, Outcome], lang: str) -> None:
        """Ask for a prediction."""
        self._begin(options(offered, lang, "walk.cant_tell"), lang, "walk.your_answer")
        self._asks_confidence, self._by_hand = True, False
        self._draw()

    def ask_by_hand(self, offered: Mapping[str, Outcome], lang: str, committed: Prediction) -> None:
        """Ask for the answer that the log can't give: what was predicted unless another is chosen."""
        if not self._by_hand:
            self.chosen = committed.outcome if committed.outcome in offered else None
        self._begin(options(offered, lang, "walk.dont_know"), lang, "walk.answer_by_hand")
        self._asks_confidence, self._by_hand = False, True
        self._draw()

    def offer(self, found: list[Option], lang: str) -> None:
        """Ask for one of `found`; how sure the learner is isn't asked."""
        self._begin(found, lang, "walk.your_answer")
        self._asks_confidence = False
        self._draw()

    def forget(self) -> None:
        """Choose nothing, as for a new question."""
        self.chosen, self.confidence, self._by_hand = None, DEFAULT_CONFIDENCE, False

    def remind(self) -> None:
        """Say that an outcome is to be chosen first."""
        first = (f"  {say('walk.choose_first', self._lang)}", "bold $accent")
        self.border_title = Content.assemble(say(self._title, self._lang), first)

    def choose(self, id: str) -> None:
        """Choose an outcome."""
        self.chosen = id
        self.border_title = Content(say(self._title, self._lang))
        self._draw()
        self.post_message(self.Chosen())

    def move(self, by: int) -> None:
        """Choose the next outcome, or the one before."""
        ids = self.ids
        at = ids.index(self.chosen) + by if self.chosen in ids else (0 if by > 0 else -1)
        self.choose(ids[at % len(ids)])

    def action_surer(self, by: int) -> None:
        """Be surer, or less so."""
        self.action_sure(min(max(self.confidence + by, CONFIDENCES[0]), CONFIDENCES[-1]))

    def action_choose(self, id: str) -> None:
        """A click on an outcome."""
        self.choose(id)

    def action_sure(self, confidence: int) -> None:
        """A click on a confidence."""
        self.confidence = confidence
        self._draw()
        self.post_message(self.Chosen())

    def _begin(self, found: list[Option], lang: str, title: str) -> None:
        self._options, self._lang, self._title = found, lang, title
        self.border_title = Content(say(title, lang))
        if self.chosen not in self.ids:
            self.chosen = None

    def _draw(self) -> None:
        self.fit(self._lines)

    def _lines(self, width: int) -> Content:
        cells = [self._cell(option) for option in self._options]
        rows: list[Content] = [Content()]
        for cell in cells:
            if rows[-1].cell_length and rows[-1].cell_length + len(GAP) + cell.cell_length > width:
                rows.append(Content())
            rows[-1] = rows[-1] + (GAP if rows[-1].cell_length else "") + cell
        if self._asks_confidence:
            sure = self._sureness()
            if rows[-1].cell_length + sure.cell_length + 2 <= width:
                rows[-1] = rows[-1] + " " * (width - rows[-1].cell_length - sure.cell_length) + sure
            else:
                rows.append(sure)
        return Content("\n").join(rows)

    def _cell(self, option: Option) -> Content:
        click = f"@click=choose({option.id!r})"
        chosen = option.id == self.chosen
        letter = f"[{option.letter}] " if option.letter else ""
        style = "bold $accent" if chosen else ""
        return Content.assemble(
            (f"{'●' if chosen else '○'} ", f"{style} {click}"),
            (letter, f"$foreground-muted {click}"),
            (option.label, f"{style} {click}"),
        )

    def _sureness(self) -> Content:
        """The scale, of squares: numbers would look like keys, and those are the panels'."""
        muted, ink = "$foreground-muted", "bold $accent" if self.chosen else "$foreground-muted"
        squares = [
            ("■" if level <= self.confidence else "□", f"{ink} @click=sure({level})") for level in CONFIDENCES
        ]
        return Content.assemble(
            (f"{say('walk.how_sure', self._lang)}  ", "" if self.chosen else muted),
            ("← ", f"{muted} @click=surer(-1)"),
            *squares,
            (" → ", f"{muted} @click=surer(1)"),
            (say("home.sure_level", self._lang, sure=self.confidence), muted),
        )
