"""Section 6 of the post-mortem: the bounds, each with its tolerance and what the run at hand says of it."""

from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, Input, Static

from tutor.postmortem import Bound, PostMortem, Problem, bound_problem, worst
from tutor.postmortem.parsing import at_end
from tutor.postmortem.problems import seedless
from tutor.postmortem.text import not_run, reach
from tutor.ui.widgets.section import Section, field


class Verification(Section):
    """Section 6: seed, tolerance, last step, and the bounds."""

    part = "verification"

    def fields(self) -> ComposeResult:
        """Three fields, then a row for each bound."""
        form = self.pm.verification
        holders = {"tolerance": self.words("for_instance", value="0.01")}
        if not self.pm.about.ours:
            holders["seed"] = self.words("said.unknown")
        for name in ("seed", "tolerance", "through"):
            with Horizontal(classes="row"):
                yield Static(Content(self.words(f"verification.{name}")), classes="label")
                yield field(name, getattr(form, name), holders.get(name, ""), "value")
        if not self.pm.about.ours and seedless(form):
            yield Static(Content(self.words("verification.seed_note")), classes="note")
        with Horizontal(classes="row heads"):
            for name in ("signal", "", "bound", "window"):
                yield Static(
                    Content(self.words(f"heads.{name}") if name else ""), classes=f"b-{name or 'sign'}"
                )
        for index, bound in enumerate(form.bounds):
            with Horizontal(classes="row"):
                yield field(f"signal-{index}", bound.signal, "loss", "b-signal")
                yield field(f"comparison-{index}", bound.comparison, "<", "b-sign")
                yield field(
                    f"value-{index}",
                    bound.value,
                    self.words("offered", value=bound.offered)
                    if bound.offered
                    else self.words("for_instance", value="2.5"),
                    "b-bound",
                )
                yield field(f"window-{index}", bound.window, self.words("verification.window"), "b-window")
                yield Button("[✕]", id=f"drop-{index}", compact=True)
        with Horizontal(classes="row"):
            yield Button(Content(self.words("add_bound")), id="add-bound", compact=True)
        yield Static(classes="reach")
        if self.pm.about.stops:
            yield Static(Content(self.words("verification.stops")), classes="note")
        yield Static(id="tried", classes="note")

    @property
    def entry(self) -> Widget:
        """The first bound without a value."""
        empty = (one for one in self.query(".b-bound").results(Input) if not one.value)
        return next(empty, super().entry)

    def show(self, pm: PostMortem, problems: list[Problem]) -> None:
        """Each bound with its tolerance, and what the run at hand says of it."""
        super().show(pm, problems)
        sound = [b for b in pm.verification.bounds if not bound_problem(b, pm, self.lang)]
        self.query_one(".reach", Static).update(Content("\n").join(self._reach(bound) for bound in sound))
        tried = "\n".join(pm.verification.tried) or not_run(pm, self.lang)
        self.query_one("#tried", Static).update(Content(tried))

    def _reach(self, bound: Bound) -> Content:
        tolerance = self.pm.verification.tolerance
        words = reach(bound, tolerance, self.lang)
        if self.run is None:
            return Content(f"· {words}")
        found = worst(bound, tolerance, self.run)
        if found is None:
            return Content(f"· {words}; {self.words('verification.unseen')}")
        if found.holds:
            return Content.assemble(f"· {words}; ", (f"≠ {self.words('verification.holds')}", "$error"))
        key = "verification.breaks_at_end" if at_end(bound.window) else "verification.breaks"
        broken = self.words(key, value=found.value, step=found.step)
        return Content.assemble(f"· {words}; ", (broken, "$success"))

    @on(Input.Submitted)
    def _take(self, event: Input.Submitted) -> None:
        """Enter takes the bound that is offered, and goes on to the next without a value."""
        name, _, index = (event.input.id or "").partition("-")
        if name == "value" and not event.value:
            event.input.value = self.pm.verification.bounds[int(index)].offered
        self.entry.focus()

    def fine(self) -> str:
        """How many bounds can be checked."""
        bounds = [b for b in self.pm.verification.bounds if not bound_problem(b, self.pm, self.lang)]
        return self.words("live.bounds", count=len(bounds))

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        name, _, index = (event.input.id or "").partition("-")
        value = event.value

        def change(pm: PostMortem) -> PostMortem:
            form = pm.verification
            if not index:
                return pm.but(verification=form.model_copy(update={name: value}))
            bounds = list(form.bounds)
            bounds[int(index)] = bounds[int(index)].model_copy(update={name: value})
            return pm.but(verification=form.model_copy(update={"bounds": tuple(bounds)}))

        self.post_message(self.Edited(change))

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        if event.button.id == "add-bound":
            self._add()
        else:
            self._drop(int((event.button.id or "").removeprefix("drop-")))

    def _drop(self, index: int) -> None:
        back = partial(_with_bound, index, self.pm.verification.bounds[index])
        self.post_message(self.Edited(partial(_without_bound, index), again=True, back=back))

    def _add(self) -> None:
        last = len(self.pm.verification.bounds)
        edit = self.Edited(partial(_with_bound, last, Bound()), again=True, focus=f"signal-{last}")
        self.post_message(edit)


def _with_bound(index: int, bound: Bound, pm: PostMortem) -> PostMortem:
    """The post-mortem with one bound more, at that place or at the end."""
    bounds = pm.verification.bounds
    return pm.but(
        verification=pm.verification.model_copy(update={"bounds": (*bounds[:index], bound, *bounds[index:])})
    )


def _without_bound(index: int, pm: PostMortem) -> PostMortem:
    """The post-mortem with one bound less."""
    bounds = pm.verification.bounds
    return pm.but(
        verification=pm.verification.model_copy(update={"bounds": bounds[:index] + bounds[index + 1 :]})
    )
