"""What the tests of the screens share: the recorded pair, the shipped tree, and an app to press keys in."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tutor import readers, tree
from tutor.run import Run
from tutor.tree import Tree
from tutor.ui.app import TutorApp

WIDE, NARROW = (120, 36), (80, 24)
SIZES = [WIDE, NARROW]


@cache
def recorded(name: str) -> Run:
    """A run that ships."""
    return readers.read(ROOT / "runs" / name)


@cache
def phase_19() -> Tree:
    """The tree that ships."""
    return tree.load(ROOT / "trees" / "phase-19.yaml")


@pytest.fixture
def walk(home: Path) -> Callable[..., TutorApp]:
    """An app on a walk, by default over runs/19-break; `home` keeps the learners of the user out of it."""

    def opened(run: Run | Path | None = None, lang: str = "en", walked_tree: Tree | None = None) -> TutorApp:
        subject = recorded("19-break") if run is None else run
        return TutorApp(learner="ana", lang=lang, subject=subject, walked_tree=walked_tree or phase_19())

    return opened


def shown(app: TutorApp) -> str:
    """What stands on the screen, line by line, as text."""
    lines = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in lines)
