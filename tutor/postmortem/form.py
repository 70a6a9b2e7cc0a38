"""The form: what a post-mortem holds, and how it is edited. Frozen: each edit gives a new one.

Everything in it is text as the learner typed it, so that a draft holds half-written numbers too; reading
them is the business of `problems`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, Field, ValidationError

from tutor.postmortem.about import About
from tutor.run import PANELS
from tutor.words import Strict, say

SECTIONS = ("symptoms", "hypotheses", "evidence", "cause", "remediation", "verification", "lesson")
"""The seven sections, numbered from 1 in this order."""

DESTRUCTIVE = "destructive"
"""The hypothesis that a run that ends in NaN must consider, whatever its tree: an update that wrote NaN into
a parameter."""

Verdict = Literal["favours", "rules_out", "silent"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
"""What a panel can say of a hypothesis."""

Cell = Verdict | Literal[""]
"""A cell of the grid, "" while it is empty."""

UNREAD = ("no_bearing", "not_recorded", "missing")
"""Reasons of a silence for which no rule looked at the run."""

COMPARISONS = ("<", "<=", ">", ">=")

Kind = Literal["step", "steps", "number", "after", "text"]


def _known(panel: str) -> str:
    if panel and panel not in PANELS:
        raise ValueError(f"there is no panel {panel!r}")
    return panel


Panel = Annotated[str, AfterValidator(_known)]


@dataclass(frozen=True)
class Offer:
    """A hypothesis that a tree offers.

    Attributes:
        key: its id, by which the rules of evidence.py know it.
        words: by language.
        no_bearing: panels that have nothing to say of it, whatever they show.
        fingerprint: by what it is known in a log, by language; none where the tree gives none.
    """

    key: str
    words: Mapping[str, str]
    no_bearing: frozenset[str] = frozenset()
    fingerprint: Mapping[str, str] = field(default_factory=dict)


class Symptom(Strict):
    """One row of section 1.

    Attributes:
        key: names the row in tutor/words.
        kind: what may stand in it: a step, steps such as 3001..3010, a number, a number or "did not recover",
            or any text.
        value: as the learner left it; "" is empty.
        unit: a key of tutor/words, or "".
        panel: the panel it came from; "" where it is a matter of the configuration, which no panel draws.
        recorded: whether the log had it.
        bound: what the tree's rule allows for it, or "".
        rows: over how many rows it is taken, where the log is too sparse for the steps it is named after.
    """

    key: str
    kind: Kind
    value: str = ""
    unit: str = ""
    panel: Panel = "loss"
    recorded: bool = True
    bound: str = ""
    rows: int | None = None

    def label(self, lang: str) -> str:
        """What the row asks for."""
        kind = "symptoms" if self.rows is None else "symptoms_in_rows"
        return say(f"postmortem.{kind}.{self.key}", lang, rows=self.rows)


class Hypothesis(Strict):
    """One hypothesis.

    Attributes:
        key: the id of one that the tree offers, or "own-1", "own-2" ...
        text: the learner's own words; "" for one that was offered.
        offered: the tree's words by language; none for the learner's own.
        fingerprint: by what it is known in a log, by language; none for the learner's own.
        probability: as typed, from 0 to 1.
        support: the panel or the observation that speaks for it.
    """

    key: str
    text: str = ""
    offered: Mapping[str, str] = Field(default_factory=dict)
    fingerprint: Mapping[str, str] = Field(default_factory=dict)
    probability: str = ""
    support: str = ""

    def words(self, lang: str) -> str:
        """The hypothesis in `lang`, the learner's own as they wrote it."""
        return self.text if self.own else self.offered.get(lang) or self.offered.get("en") or self.key

    def known_by(self, lang: str) -> str:
        """Its fingerprint in `lang`, or ""."""
        return self.fingerprint.get(lang) or self.fingerprint.get("en") or ""

    @property
    def own(self) -> bool:
        """Whether the learner wrote it."""
        return self.key.startswith("own-") and not self.offered


class Reading(Strict):
    """What the log says of one cell of the grid: a verdict, and why: a key of tutor/words and its facts."""

    verdict: Verdict
    why: str
    facts: Mapping[str, str] = Field(default_factory=dict)

    @property
    def judged(self) -> bool:
        """Whether a rule looked at the run: a panel without bearing or without data is silent unread."""
        return self.why not in UNREAD

    def agrees(self, cell: Cell) -> bool | None:
        """Whether the log says what the learner says; None where it can't tell.

        What only fails to show speaks against the hypothesis too, so that "rules out" agrees with it.
        """
        if cell == self.verdict:
            return True
        return self.verdict == "silent" and cell == "rules_out" if self.judged else None

    def because(self, lang: str) -> str:
        """The reason in `lang`."""
        return say(f"postmortem.because.{self.why}", lang, **self.facts)


class Bound(Strict):
    """`signal` `comparison` `value`, to hold at every step of `window`: "312", "312..362", or at the "end".

    `offered` is a value that the log suggests, "" where it can't.
    """

    signal: str = ""
    comparison: str = "<"
    value: str = ""
    window: str = ""
    offered: str = ""

    @property
    def blank(self) -> bool:
        """Whether the learner has left it out."""
        return not (self.signal.strip() or self.value.strip() or self.window.strip())


class Verification(Strict):
    """Section 6. `tolerance` is relative: by how much of its value a bound may be missed.

    `tried` is what came of a fix that was trained and checked, line by line as the lesson has it.
    """

    seed: str = ""
    tolerance: str = ""
    through: str = ""
    bounds: tuple[Bound, ...] = ()
    tried: tuple[str, ...] = ()


class Proven(Strict):
    """An observation: the panel, and what the log said to the learner who was right, in their language."""

    panel: str
    text: str


class PostMortem(Strict):
    """The seven sections, as far as they are filled. `id` stays the same from draft to draft.

    `proven` is what the learner was right about on the ladder: evidence for section 3.
    """

    id: str
    about: About
    symptoms: tuple[Symptom, ...]
    hypotheses: tuple[Hypothesis, ...]
    evidence: Mapping[str, Cell] = Field(default_factory=dict)
    log: Mapping[str, Reading] = Field(default_factory=dict)
    proven: tuple[Proven, ...] = ()
    cause: str = ""
    remediation: str = ""
    verification: Verification = Verification()
    lesson: str = ""

    def but(self, **changes: Any) -> Self:
        """The same with `changes`."""
        return self.model_copy(update=changes)

    def with_symptom(self, key: str, value: str) -> Self:
        """The same with another value in a row of section 1."""
        return self.but(
            symptoms=tuple(
                s.model_copy(update={"value": value}) if s.key == key else s for s in self.symptoms
            )
        )

    def with_hypothesis(self, key: str, **changes: str) -> Self:
        """The same with a hypothesis changed."""
        return self.but(
            hypotheses=tuple(h.model_copy(update=changes) if h.key == key else h for h in self.hypotheses)
        )

    def with_own(self) -> Self:
        """The same with one more hypothesis, for the learner to word."""
        taken = [int(h.key.removeprefix("own-")) for h in self.hypotheses if h.own]
        return self.but(hypotheses=(*self.hypotheses, Hypothesis(key=f"own-{max(taken, default=0) + 1}")))

    def without(self, key: str) -> Self:
        """The same without a hypothesis and its cells."""
        return self.but(
            hypotheses=tuple(h for h in self.hypotheses if h.key != key),
            evidence={c: v for c, v in self.evidence.items() if c.partition("/")[2] != key},
        )

    def with_again(self, key: str, before: Self) -> Self:
        """The same with a hypothesis and its cells as they were `before` it was taken out, in its place.

        By another key, where a new one has its own by now.
        """
        place, gone = next((at, h) for at, h in enumerate(before.hypotheses) if h.key == key)
        taken = {h.key for h in self.hypotheses}
        free = key if key not in taken else self.with_own().hypotheses[-1].key
        again = gone.model_copy(update={"key": free})
        hypotheses = (*self.hypotheses[:place], again, *self.hypotheses[place:])
        cells = {
            f"{panel}/{free}": verdict
            for cell, verdict in before.evidence.items()
            for panel, _, of in (cell.partition("/"),)
            if of == key
        }
        return self.but(hypotheses=hypotheses, evidence={**self.evidence, **cells})

    def cell(self, panel: str, key: str) -> Cell:
        """What the learner says that `panel` says of the hypothesis `key`; "" while they haven't."""
        return self.evidence.get(f"{panel}/{key}", "")

    def with_cell(self, panel: str, key: str, verdict: Cell) -> Self:
        """The same with a cell of the grid filled, or emptied."""
        return self.but(evidence={**self.evidence, f"{panel}/{key}": verdict})

    def with_proven(self, proven: Sequence[Proven], cause: str) -> Self:
        """The same with what was proven: kept as evidence, and filled in where the learner left it empty.

        A cell of a panel that was proven takes what the log says of it, where a rule can tell.
        """
        panels = {one.panel for one in proven}
        filled = {
            cell: reading.verdict
            for cell, reading in self.log.items()
            if cell.partition("/")[0] in panels
            and reading.verdict != "silent"
            and not self.evidence.get(cell)
        }
        evidence = {**self.evidence, **filled}
        return self.but(proven=tuple(proven), evidence=evidence, cause=self.cause or cause)

    def with_log_of(self, fresh: Self) -> Self:
        """A draft with what the log and the tree say today: `fresh` is the same post-mortem, newly begun."""
        today = {h.key: {"offered": h.offered, "fingerprint": h.fingerprint} for h in fresh.hypotheses}
        known = self.with_proven(fresh.proven, fresh.cause) if fresh.proven else self
        return known.but(
            about=fresh.about,
            log=fresh.log,
            verification=self.verification.model_copy(update={"tried": fresh.verification.tried}),
            hypotheses=tuple(h.model_copy(update=today.get(h.key, {})) for h in self.hypotheses),
        )

    @property
    def panels(self) -> tuple[str, ...]:
        """The panels that section 3 asks about: those of the log, and any of which more is known."""
        asked = {cell.partition("/")[0] for cell, verdict in self.evidence.items() if verdict}
        asked |= {cell.partition("/")[0] for cell, said in self.log.items() if said.judged}
        asked |= {one.panel for one in self.proven}
        return tuple(panel for panel in PANELS if panel in self.about.panels or panel in asked)

    def reading(self, panel: str, key: str) -> Reading | None:
        """What the log says of a cell, None where no rule can tell. To be shown once the cell is filled."""
        return self.log.get(f"{panel}/{key}")

    def judged(self, panel: str, key: str) -> bool:
        """Whether a rule can judge the cell."""
        said = self.reading(panel, key)
        return said is not None and said.judged

    def proven_on(self, panel: str) -> tuple[str, ...]:
        """What the learner proved on a panel."""
        return tuple(one.text for one in self.proven if one.panel == panel)

    def favouring(self, key: str) -> tuple[str, ...]:
        """The panels that speak for a hypothesis, as the learner has it."""
        return tuple(panel for panel in PANELS if self.cell(panel, key) == "favours")


def began_at(pm: PostMortem) -> int | None:
    """The step at which the log shows that it began, as the learner has it; None where that is none."""
    typed = next((s.value for s in pm.symptoms if s.key in ("began", "turned")), "")
    last = typed.rpartition("..")[2].strip()
    return int(last) if last.isascii() and last.isdigit() else None


def to_state(pm: PostMortem) -> dict[str, Any]:
    """The post-mortem as plain data for a draft."""
    return pm.model_dump(mode="json")


def from_state(state: Mapping[str, Any]) -> PostMortem:
    """The post-mortem that was left.

    Raises:
        ValueError: the state isn't one.
    """
    try:
        return PostMortem.model_validate(state)
    except ValidationError as error:
        raise ValueError(f"the draft can't be read: {error.errors()[0]['msg']}") from None
