"""What the tests of the screens share: the recorded pair, the shipped tree, and an app to press keys in."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from textual.command import Command, CommandList
from textual.pilot import Pilot

from tests.conftest import ROOT, shipped
from tutor import readers
from tutor import walk as walks
from tutor.notebook import Notebook, draft_key
from tutor.run import Run
from tutor.tree import Tree
from tutor.ui.app import TutorApp
from tutor.walk import AtLeaf, AtQuestion, Walk

WIDE, NARROW = (120, 36), (80, 24)
SIZES = [WIDE, NARROW]

TO_SPIKE = ("n", "enter", "enter", "down", "enter", "enter")
"""The keys from the first question to 2.1: no NaN, and whatever comes first for the first loss."""


@cache
def recorded(name: str) -> Run:
    """A run that ships."""
    return readers.read(ROOT / "runs" / name)


@cache
def phase_19() -> Tree:
    """The tree that ships."""
    return shipped("phase-19")


@pytest.fixture
def walk(home: Path) -> Callable[..., TutorApp]:
    """An app on a walk, by default over runs/19-break; `home` keeps the learners of the user out of it."""

    def opened(run: Run | Path | None = None, lang: str = "en", walked_tree: Tree | None = None) -> TutorApp:
        subject = recorded("19-break") if run is None else run
        return TutorApp(learner="ana", lang=lang, subject=subject, walked_tree=walked_tree or phase_19())

    return opened


def over(log: Path, lang: str = "en") -> TutorApp:
    """An app on a walk of the shipped tree over a log."""
    return TutorApp(learner="ana", lang=lang, subject=readers.read(log), walked_tree=phase_19())


@pytest.fixture
def log(home: Path) -> Path:
    """A log of losses alone, NaN from step 30 on."""
    path = home / "alone" / "log.jsonl"  # the folders beside it are no other test's
    path.parent.mkdir()
    rows = ({"step": i, "loss": "NaN" if i >= 30 else 3.0 - i / 50} for i in range(40))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def to_the_leaf(run: Run, tree: Tree, missed: Collection[str] = ()) -> AtLeaf:
    """A walk that predicted what the log says of each question, but for those `missed`, and "no" where it
    can't tell.
    """
    at: Walk = walks.begin(run, tree)
    while isinstance(at, AtQuestion):
        seen = walks.look(at)
        told = next(one for one in at.question.outcomes if one != seen.outcome)
        told = told if at.at in missed else seen.outcome
        by_hand = "no" if "no" in at.question.outcomes else walks.UNSURE
        at = walks.predict(at, told if seen.answers else by_hand, 3)
        at = walks.go_on(at, seen, by_hand)
    return at


def leave_at_the_leaf(run: Run, tree: Tree) -> None:
    """Leave such a walk in ana's notebook: an app that opens on it stands at the leaf at once."""
    leave(to_the_leaf(run, tree))


def leave(walk: Walk) -> None:
    """Leave a walk in ana's notebook, to be taken up there."""
    key = draft_key(walk.run.name, walk.tree.tree, walk.run.path)
    Notebook("ana").save_draft("walk", key, walks.to_state(walk))


@pytest.fixture
def at_leaf(walk: Callable[..., TutorApp]) -> Callable[..., TutorApp]:
    """An app on a walk that was left at its leaf."""

    def opened(walked_tree: Tree | None = None, lang: str = "en") -> TutorApp:
        leave_at_the_leaf(recorded("19-break"), walked_tree or phase_19())
        return walk(walked_tree=walked_tree, lang=lang)

    return opened


def shown(app: TutorApp) -> str:
    """What stands on the screen, line by line, as text."""
    lines = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in lines)


PATIENCE = 60.0
"""Seconds that a test waits for what should come at once: a busy machine may be late by many."""


async def until(holds: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Wait until something holds, and no longer: a pause for each of many fields adds up."""
    deadline = monotonic() + seconds
    while not holds() and monotonic() < deadline:
        await asyncio.sleep(0.005)


def found_by(app: TutorApp, search: str = "") -> bool:
    """Whether the menu stands and lists first what a search is for."""
    hits = [
        option for rows in app.screen.query(CommandList) for option in rows.options if not option.disabled
    ]
    return bool(hits) and isinstance(hits[0], Command) and search in (hits[0].hit.text or "").lower()


ENDING = {"begin", "read", "known", "done", "seal", "proof", "whole"}
"""The groups of what is read for a screen and then shown. The others go on for as long as the app, or wait
for the learner."""


def working(app: TutorApp) -> bool:
    """Whether something is still to be read, answered or drawn."""
    if app.files.busy or not getattr(app.screen, "begun", True):
        return True
    if any(worker.group in ENDING and not worker.is_finished for worker in app.workers):
        return True
    return any(part.message_queue_size for part in (app, *app.screen.walk_children(with_self=True)))


async def settle(pilot: Pilot) -> None:
    """Let what was begun come to its end: twice in a row nothing is left to do.

    Textual's own pause takes a process that got no time for one that has nothing to do.
    """
    app, quiet, end = pilot.app, 0, monotonic() + PATIENCE
    while quiet < 2 and not app._exit and monotonic() < end:
        await pilot.pause()
        quiet = 0 if working(app) else quiet + 1


@asynccontextmanager
async def opened(app: TutorApp, size: tuple[int, int], *keys: str, **how: Any) -> AsyncIterator[Pilot]:
    """The app in a terminal of that size, settled; with `keys`, once more after they were pressed."""
    async with app.run_test(size=size, **how) as pilot:
        await settle(pilot)
        if keys:
            await pilot.press(*keys)
            await settle(pilot)
        yield pilot
