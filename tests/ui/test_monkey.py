"""The monkey itself: a few seeds of it, and that it sees what is broken and finds the shortest way there."""

from dataclasses import replace

import pytest

from tests import monkey
from tests.ui.world import MARKED
from tutor.ui.screens.home import HomeScreen

FOUND = {
    "a language asked for while a draft's section is put in its place": monkey.Episode(
        lang="en",
        size=(80, 24),
        begun_before=True,
        subject="19-break",
        first=("p",),
        acts=(("press", "p", 200), ("press", "enter", 10), ("press", "left", 0), ("language", 5)),
    ),
    "a terminal resized while the app is being left": monkey.Episode(
        lang="es",
        size=(200, 50),
        begun_before=True,
        subject="19-break",
        first=("enter",),
        acts=(("press", "q", 0), ("resize", 177, 37, 0), ("resize", 120, 36, 0)),
    ),
    "a walk over another tree opened while the app is being left": monkey.Episode(
        lang="en",
        size=(120, 36),
        begun_before=False,
        subject="one\ntwo\r\n",
        first=(),
        acts=(("press", "down", 100), ("press", "q", 0), ("press", "q", 0), ("press", "t", 100)),
    ),
    "the app is left from the menu over a leaf": monkey.Episode(
        lang="en",
        size=(200, 50),
        begun_before=True,
        subject="19-break",
        first=("m",),
        acts=(("press", "6", 20), ("press", "ctrl+p", 200), ("press", "up", 0), ("press", "enter", 20)),
    ),
    "something pasted while the app is being left": monkey.Episode(
        lang="es",
        size=(200, 50),
        begun_before=True,
        subject="19-break",
        first=("p",),
        acts=(("press", "q", 5), ("paste", "x", 0), ("drag", 0.66, 0.999, 0.74, 0.62, 5), ("press", "n", 10)),
    ),
    "a click on a command that is found no more": monkey.Episode(
        lang="en",
        size=(120, 36),
        begun_before=True,
        subject="19-break",
        first=("p", "enter"),
        acts=(
            ("press", "ctrl+p", 0),
            ("press", "question_mark", 20),
            ("press", "4", 5),
            ("press", "m", 20),
            ("press", "comma", 0),
            ("press", "left", 5),
            ("click", 0.87, 0.33, 2, 0),
        ),
    ),
}
"""What the monkey once found, by what it was; each is the shortest way there."""


@pytest.mark.slow
@pytest.mark.parametrize("found", FOUND.values(), ids=FOUND)
def test_what_was_found_is_mended(found):
    assert monkey.play(found) is None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1))
def test_nothing_breaks(seed):
    assert monkey.play(monkey.episode(seed, length=40)) is None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 101))
def test_nothing_breaks_in_half_a_minute(seed):
    assert monkey.play(monkey.episode(seed)) is None


def test_a_seed_is_always_the_same_episode():
    assert monkey.episode(5) == monkey.episode(5) != monkey.episode(6)


def test_what_breaks_is_told_and_the_way_there_made_short(monkeypatch):
    def fails(_screen: HomeScreen) -> None:
        raise RuntimeError(MARKED)

    monkeypatch.setattr(HomeScreen, "action_lessons", fails)
    acts = (*(("press", key, 0) for key in "xxnxx"), ("theme", 20))
    found = replace(monkey.episode(0), subject=None, first=(), begun_before=False, acts=acts)

    def shows(one: monkey.Episode) -> bool:
        error = monkey.play(one)
        return error is not None and monkey.sign(error).startswith("RuntimeError at")

    assert shows(found)
    assert ("press", "n", 0) in (short := monkey.shortest(found, shows, 60)).acts
    assert len(short.acts) <= 2


def test_a_list_is_cut_to_what_is_needed():
    acts = tuple(("press", str(number), 0) for number in range(40))
    found = replace(monkey.episode(0), acts=acts)
    needed = {acts[3], acts[29]}
    assert set(monkey.shortest(found, lambda one: needed <= set(one.acts), 5).acts) == needed
