"""The sections of the post-mortem that are plain forms: all but the grid and the verification."""

from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Button, Input, Static, TextArea

from tutor.postmortem import (
    PostMortem,
    Problem,
    Symptom,
    is_one,
    not_taken,
    number,
    symptom_problem,
    tensions,
    total,
    with_cause,
    with_option,
    with_symptom,
)
from tutor.postmortem.change import changes
from tutor.postmortem.text import LETTERS, source, supported_by, tension
from tutor.run import PANELS
from tutor.ui.widgets.section import Section, field
from tutor.words import plain


class Symptoms(Section):
    """Section 1: a row for each number, filled by the log where it could."""

    part = "symptoms"

    def fields(self) -> ComposeResult:
        """Label, value, panel."""
        for symptom in self.pm.symptoms:
            with Horizontal(classes="row"):
                yield Static(Content(symptom.label(self.lang)), classes="label")
                holder = "" if symptom.recorded else self.words("said.not_recorded")
                yield field(symptom.key, symptom.value, holder, "value")
                in_words = symptom.value and number(symptom.value) is None  # it did not recover
                unit = self.words(f"units.{symptom.unit}") if symptom.unit and not in_words else ""
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
        """Enter goes down the column: probabilities are weighed against each other.

        From the words of an own hypothesis it goes to its probability.
        """
        kind, _, key = (event.input.id or "").partition("-")
        keys = [h.key for h in self.pm.hypotheses]
        after = key if kind == "text" else keys[(keys.index(key) + 1) % len(keys)]
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
            key, before = pressed.removeprefix("drop-"), self.pm
            back = partial(PostMortem.with_again, key=key, before=before)
            self.post_message(self.Edited(lambda pm: pm.without(key), again=True, back=back))

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
            placeholder=Content(self.hint),
        )

    @property
    def hint(self) -> str:
        """What stands in the box while it is empty."""
        return ""

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

    @property
    def hint(self) -> str:
        """What to write where the leaf has nothing that can be run."""
        options = self.pm.about.options
        silent = not self.pm.cause.strip() or any(option.command for option in options)
        return "" if silent else self.words("in_words")

    def fields(self) -> ComposeResult:
        """The box, then the leaf's fixes."""
        yield from super().fields()
        if not (self.pm.cause.strip() and self.pm.about.options):
            return
        yield Static(Content(self.words("fixes")), classes="note")
        others = not_taken(self.pm)
        for place, option in enumerate(self.pm.about.options):
            with Horizontal(classes="row words"):
                if option in others:
                    yield Button(Content(self.words("take")), id=f"take-{place}", compact=True)
                else:
                    yield Static(Content(self.words("taken")), classes="taken")
                yield Static(Content(plain(option.words(self.lang))), classes="wide")

    def fine(self) -> str:
        """That it can be run."""
        if not self.pm.about.ours:
            return self.words("live.foreign")
        return self.words("live.fine" if changes(self.pm.remediation, self.pm.about) else "live.remarks")

    @on(Button.Pressed)
    def _take(self, event: Button.Pressed) -> None:
        event.stop()
        place = int((event.button.id or "").removeprefix("take-"))
        edit = self.Edited(lambda pm: with_option(pm, place, self.lang), again=True, focus="remediation")
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
