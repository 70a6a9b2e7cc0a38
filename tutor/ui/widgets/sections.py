"""The seven sections of the post-mortem, each a form. Each posts its edits up, and is told what they made."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Button, Input, Static, TextArea

from tutor.postmortem import (
    SECTIONS,
    PostMortem,
    Problem,
    Symptom,
    is_one,
    not_taken,
    symptom_problem,
    tensions,
    total,
    with_cause,
    with_option,
    with_symptom,
)
from tutor.postmortem.change import changes
from tutor.postmortem.text import LETTERS, source, supported_by, tension
from tutor.run import PANELS, Run
from tutor.ui import bindings
from tutor.words import plain, say

Edit = Callable[[PostMortem], PostMortem]


class Section(VerticalScroll, can_focus=False, inherit_bindings=False):
    """One section: its lead, its fields, and a line that says how it stands.

    Args:
        pm: the post-mortem as it is now.
        lang: the language of the labels.
        run: whose panels and rows can be looked at; None where it isn't at hand.
    """

    @dataclass
    class Edited(Message):
        """The learner changed something: `change` makes the new post-mortem.

        With `again` the section is to be drawn anew, with the field of the id `focus` at hand.
        """

        change: Edit
        again: bool = False
        focus: str = ""

    BINDINGS = bindings.FIELDS

    part: str = ""

    def __init__(self, pm: PostMortem, lang: str, run: Run | None = None) -> None:
        super().__init__(classes="section")
        self.pm, self.lang, self.run = pm, lang, run

    def compose(self) -> ComposeResult:
        """Lead, fields, standing."""
        yield Static(Content(self.words(f"lead.{self.part}")), classes="lead")
        yield from self.fields()
        yield Static(classes="standing")

    def fields(self) -> ComposeResult:
        """The section's own widgets; none unless it says otherwise."""
        return ()

    @property
    def entry(self) -> Widget:
        """The field to begin at."""
        return (self.query("Input, TextArea, Cells") or self.query("Button")).first()

    def action_field(self, rows: int) -> None:
        """The field below the one at hand, or above; past the last, what is written there is shown.

        Textual's own keys would scroll the field that takes what is typed out of sight.
        """
        held = self.screen.focused
        if held not in (fields := [field for field in self.query("*") if field.focusable]):
            return
        here, way = held.region.offset, 1 if rows > 0 else -1
        ahead = {field: (field.region.y - here.y) * way for field in fields}
        near = max((by for by in ahead.values() if 0 < by <= abs(rows)), default=0)
        near = near or min((by for by in ahead.values() if by > 0), default=0)
        if near:
            row = [field for field in fields if ahead[field] == near]
            min(row, key=lambda field: abs(field.region.x - here.x)).focus()
        else:
            self.scroll_to(y=self.max_scroll_y if way > 0 else 0, animate=False)

    def action_field_page(self, pages: int) -> None:
        """The farthest field that is within a page."""
        self.action_field(pages * max(1, self.size.height - 1))

    def words(self, key: str, **facts: Any) -> str:
        """The post-mortem's words."""
        return say(f"postmortem.{key}", self.lang, **facts)

    def show(self, pm: PostMortem, problems: list[Problem]) -> None:
        """Take the new post-mortem and say how this section stands."""
        self.pm = pm
        mine = [f.sentence for f in problems if SECTIONS[f.section - 1] == self.part]
        standing = self.query_one(".standing", Static)
        standing.set_class(bool(mine), "open")
        if mine:
            more = f"  {self.words('state.more', count=len(mine) - 1)}" if len(mine) > 1 else ""
            standing.update(Content(f"✗ {mine[0]}{more}"))
        else:
            standing.update(Content(self.fine()))

    def fine(self) -> str:
        """What to say when nothing is missing."""
        return self.words(f"live.{self.part}")


def field(id: str, value: str, placeholder: str = "", classes: str = "") -> Input:
    """A field of one line. A learner's own control characters are drawn as signs."""
    return Input(
        plain(value),
        placeholder=placeholder,
        id=id,
        compact=True,
        select_on_focus=False,
        classes=f"field {classes}",
    )


class Symptoms(Section):
    """Section 1: a row for each number, filled by the log where it could."""

    part = "symptoms"

    def fields(self) -> ComposeResult:
        """Label, value, panel."""
        for symptom in self.pm.symptoms:
            with Horizontal(classes="row"):
                yield Static(Content(self.words(f"symptoms.{symptom.key}")), classes="label")
                yield field(symptom.key, symptom.value, self.words("said.not_recorded"), "value")
                unit = self.words(f"units.{symptom.unit}") if symptom.unit else ""
                yield Static(Content(unit), classes="unit")
                yield Static(self._source(symptom), id=f"source-{symptom.key}", classes="source")

    def _source(self, symptom: Symptom) -> Content:
        """Where its value came from, marked where it can't be one."""
        problem = symptom_problem(symptom, self.lang)
        return Content(f"{'✗ ' if problem else ''}{source(symptom, self.lang)}")

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        key, value = event.input.id or "", event.value
        self.post_message(self.Edited(lambda pm: with_symptom(pm, key, value)))

    def show(self, pm: PostMortem, problems: list[Problem]) -> None:
        """Mark the rows too, and show what is worked out from others."""
        super().show(pm, problems)
        for symptom in pm.symptoms:
            self.query_one(f"#source-{symptom.key}", Static).update(self._source(symptom))
            value = self.query_one(f"#{symptom.key}", Input)
            if not value.has_focus and value.value != plain(symptom.value):
                with value.prevent(Input.Changed):
                    value.value = plain(symptom.value)


class Hypotheses(Section):
    """Section 2: probabilities with their sum, and what supports each."""

    class MadeOne(Message):
        """The probabilities are to be made to sum to 1."""

    part = "hypotheses"

    def fields(self) -> ComposeResult:
        """Two lines for each hypothesis, then the sum."""
        for letter, hypothesis in zip(LETTERS, self.pm.hypotheses, strict=False):
            with Horizontal(classes="row words"):
                yield Static(f"{letter} ", classes="letter")
                if hypothesis.own:
                    yield field(f"text-{hypothesis.key}", hypothesis.text, self.words("own"), "wide")
                    yield Button("[✕]", id=f"drop-{hypothesis.key}", compact=True)
                else:
                    known_by = hypothesis.known_by(self.lang)
                    yield Static(
                        Content.assemble(
                            hypothesis.words(self.lang),
                            (f" · {known_by}" if known_by else "", "$foreground-muted"),
                        ),
                        classes="wide",
                    )
            with Horizontal(classes="row spaced"):
                yield field(
                    f"p-{hypothesis.key}", hypothesis.probability, self.words("probability"), "number"
                )
                yield field(f"s-{hypothesis.key}", hypothesis.support, self.words("support"), "wide")
        with Horizontal(classes="row"):
            yield Static(id="sum")
            yield Button(Content(self.words("make_one")), id="make-one", compact=True)
            yield Button(Content(self.words("add_own")), id="add-own", compact=True)
        yield Static(classes="tension")

    def show(self, pm: PostMortem, problems: list[Problem]) -> None:
        """The live sum, and the probabilities that the evidence contradicts."""
        super().show(pm, problems)
        self.query_one(".tension", Static).update(
            Content("\n".join(f"≠ {tension(found, self.lang)}" for found in tensions(pm)))
        )
        for hypothesis in pm.hypotheses:
            found = supported_by(pm, hypothesis, self.lang)
            self.query_one(f"#s-{hypothesis.key}", Input).placeholder = found or self.words("support")
        verdict = self.words("sum_one" if is_one(total(pm)) else "sum_other")
        self.query_one("#sum", Static).update(
            Content(f"{self.words('sum', total=round(total(pm), 4))}  {verdict}")
        )

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        kind, _, key = (event.input.id or "").partition("-")
        attribute = {"p": "probability", "s": "support", "text": "text"}[kind]
        value = event.value
        self.post_message(self.Edited(lambda pm: pm.with_hypothesis(key, **{attribute: value})))

    @on(Input.Submitted)
    def _to_the_next(self, event: Input.Submitted) -> None:
        """Enter goes down the column: probabilities are weighed against each other."""
        kind, _, key = (event.input.id or "").partition("-")
        keys = [h.key for h in self.pm.hypotheses]
        after = keys[(keys.index(key) + 1) % len(keys)]
        self.query_one(f"#{'s' if kind == 's' else 'p'}-{after}", Input).focus()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        pressed = event.button.id or ""
        if pressed == "make-one":
            self.post_message(self.MadeOne())
        elif pressed == "add-own":
            new = self.pm.with_own().hypotheses[-1].key
            self.post_message(self.Edited(lambda pm: pm.with_own(), again=True, focus=f"text-{new}"))
        else:
            key = pressed.removeprefix("drop-")
            self.post_message(self.Edited(lambda pm: pm.without(key), again=True))

    def take(self, pm: PostMortem) -> None:
        """Show probabilities that the app has worked out."""
        for hypothesis in pm.hypotheses:
            self.query_one(f"#p-{hypothesis.key}", Input).value = hypothesis.probability


class Prose(Section):
    """A section of text: the root cause, the remediation."""

    def fields(self) -> ComposeResult:
        """One box."""
        yield TextArea(
            plain(getattr(self.pm, self.part), lines=True),
            compact=True,
            id=self.part,
            classes="prose",
        )

    @on(TextArea.Changed)
    def _changed(self, event: TextArea.Changed) -> None:
        value = event.text_area.text
        self.post_message(self.Edited(lambda pm: self.typed(pm, value)))

    def typed(self, pm: PostMortem, text: str) -> PostMortem:
        """The post-mortem with that text in the box."""
        return pm.but(**{self.part: text})


class Cause(Prose):
    """Section 4. Below it stands a root cause of another run: a fault that this log doesn't show."""

    part = "cause"

    def fields(self) -> ComposeResult:
        """The box, then the example."""
        yield from super().fields()
        other = next((key for key in ("state", "schedule") if not self._favoured(key)), "state")
        example = {name: self.words(f"example.{other}.{name}") for name in ("symptom", "cause")}
        yield Static(
            Content.assemble(
                (f"{self.words('example.cause')}\n", "$foreground-muted"),
                (f"✗ {self.words('example.not_yet')}  ", "$error"),
                (f"{example['symptom']}\n", "$foreground-muted"),
                (f"✓ {self.words('example.better')}  ", "$success"),
                (example["cause"], "$foreground-muted"),
            ),
            classes="note",
        )

    def _favoured(self, key: str) -> bool:
        readings = (self.pm.reading(panel, key) for panel in PANELS)
        return any(said is not None and said.verdict == "favours" for said in readings)

    def fine(self) -> str:
        """That it is one sentence."""
        return self.words("live.cause_one")

    def typed(self, pm: PostMortem, text: str) -> PostMortem:
        """With a cause, section 5 is offered the leaf's fix."""
        return with_cause(pm, text, self.lang)


class Remediation(Prose):
    """Section 5: what can be run. Once there is a cause, the leaf's fixes stand below to be taken."""

    part = "remediation"

    def fields(self) -> ComposeResult:
        """The box, then the leaf's fixes."""
        yield from super().fields()
        if not (self.pm.cause.strip() and self.pm.about.options):
            return
        yield Static(Content(self.words("fixes")), classes="note")
        others = not_taken(self.pm)
        for number, option in enumerate(self.pm.about.options):
            with Horizontal(classes="row words"):
                if option.command and option in others:
                    yield Button(Content(self.words("take")), id=f"take-{number}", compact=True)
                else:
                    yield Static(Content("" if option in others else self.words("taken")), classes="taken")
                yield Static(Content(plain(option.words(self.lang))), classes="wide")

    def fine(self) -> str:
        """That it can be run."""
        if not self.pm.about.ours:
            return self.words("live.foreign")
        return self.words("live.fine" if changes(self.pm.remediation, self.pm.about) else "live.remarks")

    @on(Button.Pressed)
    def _take(self, event: Button.Pressed) -> None:
        event.stop()
        number = int((event.button.id or "").removeprefix("take-"))
        edit = self.Edited(lambda pm: with_option(pm, number), again=True, focus="remediation")
        self.post_message(edit)


class Lesson(Section):
    """Section 7: one line."""

    part = "lesson"

    def fields(self) -> ComposeResult:
        """The line."""
        yield field("lesson-line", self.pm.lesson, classes="line")

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        value = event.value
        self.post_message(self.Edited(lambda pm: pm.but(lesson=value)))
