"""What a rung is answered with, and what the log says to it."""

from typing import Any

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.widgets import Input, Static

from tutor import proof as proofs
from tutor.card.ladder import NameToken, PickShare, PointAtStep
from tutor.proof import Given, Proof
from tutor.saying import how_to_log, to_record
from tutor.ui.widgets.answer import Answer, Option
from tutor.ui.widgets.path import RIGHT, WRONG, mark_style
from tutor.words import plain, say

MUTED = "$foreground-muted"


def label(proof: Proof, rung: str, said: str, lang: str) -> str:
    """What the learner says, in a word or two: a step, a token or one of the choices."""
    asked = proof.card.ladder[rung].answer
    if isinstance(asked, PointAtStep):
        return say("prove.step", lang, step=said)
    if isinstance(asked, NameToken):
        return plain(said.strip())
    return _choice(asked, said, lang)


def _choice(asked: Any, outcome: str, lang: str) -> str:
    shares = {"few": 100 * asked.few, "most": 100 * asked.most} if isinstance(asked, PickShare) else {}
    try:
        return say(f"prove.choices.{outcome}", lang, **shares)
    except KeyError:
        return say(f"signals.{outcome}.name", lang)


class Control(Vertical):
    """How the rung at hand is answered: a pointer's reading, choices, or a field to write in.

    Attributes:
        text: what stands in the field.
    """

    def compose(self) -> ComposeResult:
        """All three; one of them is shown."""
        yield Static(id="pointer", classes="pane")
        yield Answer()
        yield Input(id="field", classes="pane", compact=True)

    @property
    def text(self) -> str:
        """What stands in the field."""
        return self.query_one(Input).value

    @property
    def chosen(self) -> str | None:
        """The choice at hand."""
        return self.query_one(Answer).chosen

    def clear(self) -> None:
        """As for a new rung."""
        self.query_one(Answer).forget()
        self.query_one(Input).value = ""

    def ask(self, proof: Proof, lang: str) -> None:
        """Ask for the answer to the rung at hand or, past the last, for the root cause."""
        rung = proof.rung if proof.id else None
        pointed = rung is not None and isinstance(rung.answer, PointAtStep)
        chosen = rung is not None and bool(rung.answer.choices)
        written = not pointed and not chosen and not proof.finished
        for id, shown in (("#pointer", pointed), ("Answer", chosen), ("#field", written)):
            self.query_one(id).display = shown and not proof.told
        self.display = not proof.told and not proof.finished
        if rung and chosen:
            found = [Option(one, _choice(rung.answer, one, lang), "") for one in rung.answer.choices]
            self.query_one(Answer).offer(found, lang)
        self.query_one("#pointer").border_title = say("prove.point", lang)
        field = self.query_one(Input)
        field.border_title = say("prove.token" if rung else "prove.your_sentence", lang)
        if written and not proof.told:
            field.focus()
        else:
            self.screen.set_focus(None)

    def point(self, text: str) -> None:
        """What the curve reads where the learner points."""
        self.query_one("#pointer", Static).update(Content(text))

    def remind(self, proof: Proof, lang: str) -> None:
        """Say that an answer is due first."""
        if proof.id and proof.rung.answer.choices:
            self.query_one(Answer).remind()
            return
        key = "token_first" if proof.id else "sentence_first"
        field = self.query_one(Input)
        lead = say("prove.token" if proof.id else "prove.your_sentence", lang)
        field.border_title = f"{lead}  {say(f'prove.{key}', lang)}"


class Told(VerticalScroll):
    """What the log says to an answer; at the end, the learner's cause beside the card's."""

    can_focus = False

    def compose(self) -> ComposeResult:
        """The text, which scrolls when it is long."""
        yield Static()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """All that is said."""
        return self.query_one(Static).get_content_height(container, viewport, width)

    def show(self, proof: Proof, lang: str) -> None:
        """Draw it; nothing before the learner has committed."""
        self.display = proof.told or proof.finished
        if proof.last:
            told = proof.last.outcome is not None
            self.border_title = say("walk.log_says" if told else "walk.log_cant_tell", lang)
            self.query_one(Static).update(_evidence(proof, proof.last, lang))
        elif proof.finished:
            self.border_title = say("prove.proven", lang)
            self.query_one(Static).update(_ending(proof, lang))
        self.scroll_home(animate=False)


def _evidence(proof: Proof, given: Given, lang: str) -> Content:
    said = say("prove.said", lang, said=label(proof, given.rung, given.said, lang))
    text = proofs.says(proof, given, lang)
    if text is None:
        lacking = [to_record(one, lang) for one in given.missing]
        lines = [said, say("prove.not_recorded", lang, signals=lacking)]
        lines += [say("walk.to_have_it", lang, how=how_to_log(one, lang)) for one in given.missing]
        return Content("\n").join(Content(line) for line in lines)
    sign = RIGHT if given.right else WRONG
    verdict = say("walk.right" if given.right else "walk.wrong", lang)
    cited = dict.fromkeys(source(lang) for source in proof.card.ladder[given.rung].sources.values())
    sources = f"\n{say('walk.source', lang)}: {' · '.join(cited)}" if cited else ""
    return Content.assemble(
        (f"{sign} {verdict}  ", mark_style(sign)), (said, MUTED), (f"\n{text}", "bold"), (sources, MUTED)
    )


def scored(proof: Proof, lang: str) -> str:
    """How much was proven, with how many hints."""
    right, count = proof.score
    return say("prove.scored", lang, right=right, count=count, hints=proof.hints_used)


def _ending(proof: Proof, lang: str) -> Content:
    score = scored(proof, lang)
    return Content.assemble(
        (f"{say('prove.yours', lang)} ", MUTED),
        (plain(proof.cause), "bold"),
        (f"\n{say('prove.cards', lang)} ", MUTED),
        (proof.mechanism(lang), "bold"),
        (f"\n{score}\n{say('prove.next', lang)}", MUTED),
    )
