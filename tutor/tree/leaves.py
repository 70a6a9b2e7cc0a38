"""Leaves: where a walk ends, with what mends the flaw and where to go on."""

from collections.abc import Mapping
from functools import cache
from typing import Literal

from pydantic import Field

from tutor.words import LANGUAGES, Strict, Words, say

UNDECIDED = "undecided"
"""The id of the end of a walk that neither the log nor the learner can lead on: no leaf of a file has it."""


class Times(Strict):
    """A change against what the run had: half the learning rate is `{times: 0.5}`."""

    times: float = Field(gt=0, allow_inf_nan=False)


class Remedy(Strict):
    """What mends a flaw: in words and, where it is a change of settings, as one that can be run.

    Attributes:
        only_looks: whether it mends nothing by itself: no fix is known from a log, and this finds the cause.
        by_evaluation: whether it picks a checkpoint by its evaluation, so that all that the log calls best
            belongs beside it.
    """

    words: Words
    change: Mapping[str, Times | float | int | str | None] = Field(default_factory=dict)
    only_looks: bool = False
    by_evaluation: bool = False


class Advice(Strict):
    """What to do with this run now, where the questions in `when` were answered so; null: by nobody."""

    words: Words
    when: Mapping[str, str | None] = Field(min_length=1)


class Handover(Strict):
    """Where to go on after a leaf: at a question of another tree (its first one when none is named).

    `by_hand`: that tree asks something else, what to do now or what is wrong, so a check with nobody watching
    ends at the leaf.
    """

    tree: str
    question: str | None = None
    by_hand: bool = False


class Leaf(Strict):
    """Where a walk ends.

    Attributes:
        name: the flaw, or the good news.
        verdict: "healthy" or "flaw"; "undecided" only at the end that no file has.
        sees: what one sees of it in a log or on a dashboard, for the catalogue of flaws and its search.
        means: what it means; placeholders are the facts that every path to it gives.
        remedies: what mends it, by id, the smallest first: `fixes` in the files.
        advice: what to do with this run now, by id, where that depends on earlier answers.
        table: the id of a question whose checks are shown at the leaf as a table, walked or not.
        breaks: names of the breaks that reproduce it.
        unreached: why no break does, where none does, with what was tried.
        post_mortem: whether one is due.
        promises: the signals that a fix has to bring back, for the post-mortem to bound; "scores" is the one
            that the leaf's rule found lost.
        again: whether to apply, re-run and walk again from the top.
        next: the tree, and its question, to go on with.
    """

    name: Words
    verdict: Literal["healthy", "flaw", "undecided"]
    sees: Words | None = None
    means: Words
    remedies: Mapping[str, Remedy] = Field(default_factory=dict, alias="fixes")
    advice: Mapping[str, Advice] = Field(default_factory=dict)
    table: str | None = None
    breaks: tuple[str, ...] = ()
    unreached: Words | None = None
    post_mortem: bool = False
    promises: tuple[str, ...] = ("loss", "val_loss")
    again: bool = False
    next: Handover | None = None

    @property
    def fixes(self) -> tuple[Remedy, ...]:
        """What mends it, the smallest first."""
        return tuple(self.remedies.values())

    @property
    def may_stop(self) -> bool:
        """Whether a fix may end the run earlier: where the evaluation is best."""
        return any(fix.by_evaluation for fix in self.fixes)

    def advice_for(self, answers: Mapping[str, str]) -> tuple[Advice, ...]:
        """The advice that fits the `answers`: outcomes by question."""
        return tuple(
            one
            for one in self.advice.values()
            if all(answers.get(question) == outcome for question, outcome in one.when.items())
        )


@cache
def undecided() -> Leaf:
    """The end of a walk at a question that nobody can answer: the same in every tree."""
    name, means = (
        Words({lang: say(f"walk.undecided.{key}", lang) for lang in LANGUAGES}) for key in ("name", "means")
    )
    return Leaf(name=name, verdict="undecided", means=means, post_mortem=True)
