"""Scores: the walks that a learner has finished, and how often a prediction was right by how sure it was."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tutor.detectors import NO_DATA, NOT_YET
from tutor.notebook import Draft

KINDS = ("walk", "finished")
"""Drafts that may be of a walk at its leaf. Begun again, its "walk" moves on and its "finished" stays."""

VERDICTS = ("healthy", "flaw", "undecided")


@dataclass(frozen=True)
class Score:
    """`right` of `count` predictions that count."""

    right: int
    count: int


@dataclass(frozen=True)
class Finished:
    """A walk that reached its leaf.

    Attributes:
        run: the run's folder or file, absolute.
        tree: the tree's name; `leaf` the id of its leaf.
        verdict: "healthy", "flaw" or "undecided"; "" where it wasn't kept.
        date: when, as `2026-11-21`.
        score: None where it wasn't kept.
        attempt: counts the walks over this run and tree, from 1.
    """

    run: str
    tree: str
    leaf: str
    verdict: str
    date: str
    score: Score | None
    attempt: int


def finished(drafts: Iterable[Draft]) -> list[Finished]:
    """The walks that reached their leaf, one for each run and tree, the latest first.

    Args:
        drafts: as `Notebook.drafts` gives them, the latest first.
    """
    found: dict[str, Finished] = {}
    for draft in drafts:
        if draft.kind in KINDS and draft.data.get("done"):
            found.setdefault(draft.key, _finished(draft))
    return list(found.values())


def _finished(draft: Draft) -> Finished:
    run, tree, leaf = (str(draft.data.get(key)) for key in ("run", "tree", "at"))
    attempt = draft.data.get("attempt")
    return Finished(
        run=run,
        tree=tree,
        leaf=leaf,
        verdict=verdict if (verdict := draft.data.get("verdict")) in VERDICTS else "",
        date=draft.saved[:10],
        score=_score(draft.data.get("score")),
        attempt=attempt if isinstance(attempt, int) else 1,
    )


def _score(kept: Any) -> Score | None:
    match kept:
        case [int(right), int(count)]:
            return Score(right, count)
    return None


def calibration(predictions: Iterable[Mapping[str, Any]]) -> dict[int, Score]:
    """How many predictions were right, by how sure the learner was (1 to 5); the surest first.

    Only those that tell what the learner knew: the first of each question over a run, where the log had an
    answer, hadn't given it before, and didn't decide by a hair.

    Args:
        predictions: as `Notebook.predictions` gives them, the oldest first.
    """
    tallies: dict[int, list[bool]] = {}
    asked: set[tuple[str, ...]] = set()
    for one in predictions:
        question = tuple(str(one.get(key)) for key in ("run", "tree", "question"))
        sure = one.get("confidence")
        if question in asked or not isinstance(sure, int) or not 1 <= sure <= 5:
            continue
        asked.add(question)
        if one.get("found") in (NO_DATA, NOT_YET) or one.get("close") or one.get("seen_before", True):
            continue
        tallies.setdefault(sure, []).append(one.get("predicted") == one.get("found"))
    return {sure: Score(sum(hits), len(hits)) for sure, hits in sorted(tallies.items(), reverse=True)}
