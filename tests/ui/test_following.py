"""A walk over a run that still trains: the panels grow, and what changes says so."""

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests import prose
from tests.following.grows import Clock, Log
from tests.test_tree import small
from tests.ui.conftest import NARROW, SIZES, WIDE, phase_19, settle, shown, until
from tutor import tree
from tutor.following.growing import Growing
from tutor.notebook import Notebook
from tutor.tree import Tree
from tutor.ui.app import TutorApp
from tutor.ui.screens.leaf import LeafScreen
from tutor.ui.screens.panel import PanelScreen
from tutor.ui.widgets.answer import Answer
from tutor.ui.widgets.live import Live
from tutor.ui.widgets.plot import Plot
from tutor.words import say

NO_SPIKE = ("n", "enter", "enter", "u", "enter", "n", "enter")
"""The keys from the first question past 1.4, of which the log can say nothing, to 2.1."""


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def log(home: Path, clock: Clock) -> Log:
    return Log(home / "runs" / "r", clock, {"vocab_size": 8, "settings": {"steps": 600}})


@pytest.fixture
def app(log: Log, clock: Clock) -> Callable[..., TutorApp]:
    def opened(lang: str = "en", walked_tree: Tree | None = None) -> TutorApp:
        growing, walked = Growing(log.folder, clock=clock), walked_tree or phase_19()
        app = TutorApp(learner="ana", lang=lang, subject=log.folder, walked_tree=walked, growing=growing)
        app.rings = 0

        def ring() -> None:
            app.rings += 1

        app.bell = ring
        return app

    return opened


async def look(pilot: Pilot) -> None:
    """The next look at the log, now."""
    app = pilot.app
    app.pace._rested = 0.0
    before = app.news
    app.look()
    await until(lambda: app.news is not before)
    await settle(pilot)


async def begun(pilot: Pilot, *keys: str) -> None:
    await until(lambda: pilot.app.screen.begun)
    await settle(pilot)
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


def view(app: TutorApp) -> tuple[int, int]:
    found = app.screen.query_one(Plot).view
    assert found
    return found


class TestGrowing:
    @pytest.mark.parametrize("size", SIZES)
    async def test_the_panel_the_title_and_the_line_grow(self, app, log: Log, size):
        log.add(200)
        async with app().run_test(size=size) as pilot:
            await begun(pilot)
            assert "following: step 199 of 600" in shown(pilot.app)
            assert view(pilot.app) == (0, 199)
            log.add(50)
            await look(pilot)
            assert "following: step 249 of 600" in shown(pilot.app)
            assert "250 steps" in shown(pilot.app)
            assert view(pilot.app) == (0, 249)

    async def test_what_was_chosen_and_where_one_looks_stay(self, app, log: Log):
        log.add(200)
        async with app().run_test(size=WIDE) as pilot:
            await begun(pilot, "n", "right", "plus", "plus", "comma")
            plot, answer = pilot.app.screen.query_one(Plot), pilot.app.screen.query_one(Answer)
            seen, cursor = view(pilot.app), plot.cursor
            assert seen[1] < 199
            log.add(50)
            await look(pilot)
            assert (view(pilot.app), plot.cursor) == (seen, cursor)
            assert (answer.chosen, answer.confidence) == ("no", 4)

    async def test_a_closer_view_of_the_end_follows_it(self, app, log: Log):
        log.add(200)
        async with app().run_test(size=WIDE) as pilot:
            await begun(pilot, "plus", "plus", *["greater_than_sign"] * 8)
            first, last = view(pilot.app)
            assert last == 199
            log.add(30)
            await look(pilot)
            assert view(pilot.app) == (first + 30, last + 30)

    async def test_a_run_without_a_row_is_waited_for(self, app, log: Log):
        async with app().run_test(size=WIDE) as pilot:
            await until(lambda: "waiting for its first row" in shown(pilot.app))
            log.add(10)
            await look(pilot)
            await begun(pilot)
            assert "following: step 9 of 600" in shown(pilot.app)

    async def test_a_panel_in_full_size_grows_and_so_does_the_walk_below(self, app, log: Log):
        log.add(200)
        async with app().run_test(size=WIDE) as pilot:
            await begun(pilot, "f")
            assert isinstance(pilot.app.screen, PanelScreen)
            log.add(20)
            await look(pilot)
            assert view(pilot.app) == (0, 219)
            assert "220 steps" in shown(pilot.app)
            await pilot.press("escape")
            await settle(pilot)
            assert len(pilot.app.screen.walk.run) == 220

    async def test_without_follow_no_line_is_there(self, log: Log):
        log.add(20)
        app = TutorApp(learner="ana", subject=log.folder, walked_tree=phase_19())
        async with app.run_test(size=WIDE) as pilot:
            await settle(pilot)
            assert not app.screen.query_one(Live).display


class TestStriking:
    async def test_a_spike_rings_once_and_names_its_step(self, app, log: Log):
        log.add(200)
        async with app().run_test(size=WIDE) as pilot:
            await begun(pilot)
            assert pilot.app.rings == 0
            log.add(2, loss=9.0)
            await look(pilot)
            assert pilot.app.rings == 1
            assert "! spike at step 200: loss 9 >" in shown(pilot.app)
            log.add(20)
            await look(pilot)
            assert pilot.app.rings == 1

    async def test_one_that_was_there_before_does_not_ring(self, app, log: Log):
        log.add(200)
        log.add(2, loss=9.0)
        async with app().run_test(size=WIDE) as pilot:
            await begun(pilot)
            log.add(20)
            await look(pilot)
            assert pilot.app.rings == 0


@pytest.mark.slow
class TestChanging:
    @pytest.mark.parametrize(
        ("lang", "said", "changed"),
        [
            ("en", "your answer was right when you gave it; the log has grown", "no → yes at step 200"),
            ("es", "tu respuesta era correcta cuando la diste; el log ha crecido", "no → sí en el paso 200"),
        ],
    )
    async def test_an_answer_that_was_right(self, app, log: Log, lang: str, said: str, changed: str):
        log.add(200)
        async with app(lang).run_test(size=WIDE) as pilot:
            await begun(pilot, "n", "enter")
            right = "acertaste" if lang == "es" else "right"
            assert f"✓ {right}" in shown(pilot.app)
            log.add(3, loss=float("nan"))
            await look(pilot)
            assert said in shown(pilot.app)
            assert changed in shown(pilot.app)
            assert say("walk.looked_right", lang) not in shown(pilot.app)  # it was right
            assert f"✓ {right}" in shown(pilot.app)  # by what the log said then
            walk = pilot.app.screen.walk
            assert walk.prediction.outcome == "no"
            await pilot.press("enter")
            await settle(pilot)
            answer = pilot.app.screen.walk.answers[0]
            assert (answer.outcome, answer.prediction.outcome, answer.close) == ("yes", "no", True)

    async def test_an_answer_that_was_wrong(self, app, log: Log):
        log.add(200)
        async with app().run_test(size=WIDE) as pilot:
            await begun(pilot, "y", "enter")
            assert "Why your answer looked right" in shown(pilot.app)
            log.add(3, loss=float("nan"))
            await look(pilot)
            assert "since you answered, the log's answer changed: no → yes at step 200" in shown(pilot.app)
            assert "✗ wrong" in shown(pilot.app)

    @pytest.mark.parametrize("size", SIZES)
    async def test_an_answer_behind_us(self, app, log: Log, size):
        log.add(200)
        async with app().run_test(size=size) as pilot:
            await begun(pilot, "n", "enter", "enter")
            at = pilot.app.screen.walk.at
            log.add(3, loss=float("nan"))
            await look(pilot)
            assert pilot.app.screen.walk.at == at
            assert "↻ 1.1 no → yes" in shown(pilot.app)  # the line above; where there is room, to its end
            assert ("↻ no → yes at step 200" if size == WIDE else "✓ 1.1 no ↻ yes ›") in shown(pilot.app)
            await pilot.press("b")
            await settle(pilot)
            assert "no → yes" not in shown(pilot.app)

    async def test_an_answer_that_stays_is_left_as_it_was_said(self, app, log: Log):
        log.add(200)
        async with app().run_test(size=WIDE) as pilot:
            await begun(pilot, "n", "enter")
            said = pilot.app.screen.seen
            log.add(30)
            await look(pilot)
            assert pilot.app.screen.seen is said

    async def test_at_the_leaf_the_path_says_so(self, app, log: Log):
        log.add(200)
        async with app().run_test(size=WIDE) as pilot:
            await begun(pilot)
            for _ in range(40):
                if isinstance(pilot.app.screen, LeafScreen):
                    continue
                await pilot.press("down", "enter")
                await settle(pilot)
                await pilot.press("down", "enter")
                await settle(pilot)
            assert isinstance(pilot.app.screen, LeafScreen)
            log.add(3, loss=float("nan"))
            await look(pilot)
            assert "1.1 no → yes at step 200" in shown(pilot.app)


async def test_the_line_of_a_tree_before_grows_with_the_log(app, log: Log, home: Path):
    (home / "trees").mkdir()
    prose.write(home / "trees" / "first.yaml", small() | {"tree": "first"})
    prose.write(home / "trees" / "second.yaml", small() | {"tree": "second", "after": "first"})
    log.add(200)
    async with app(walked_tree=tree.find("second")).run_test(size=WIDE) as pilot:
        await begun(pilot)
        assert "! first" not in shown(pilot.app)
        log.add(2, loss=9.0)
        log.add(20)
        await look(pilot)
        assert "! first" in shown(pilot.app)  # the small tree calls any spike bad


class TestStanding:
    async def test_a_silent_run_is_presumed_dead_until_rows_come(self, app, log: Log, clock: Clock):
        log.add(200)
        async with app().run_test(size=NARROW) as pilot:
            await begun(pilot)
            clock.now += 600
            await look(pilot)
            assert "after step 199: presumed dead" in shown(pilot.app)
            log.add(1)
            await look(pilot)
            assert "following: step 200 of 600" in shown(pilot.app)

    async def test_a_run_that_has_ended_says_so(self, app, log: Log):
        log.add(590)
        async with app().run_test(size=WIDE) as pilot:
            await begun(pilot)
            log.add(10)
            await look(pilot)
            assert "the training has ended, at step 599" in shown(pilot.app)

    async def test_a_log_that_is_gone_leaves_the_walk(self, app, log: Log):
        log.add(200)
        async with app().run_test(size=WIDE) as pilot:
            await begun(pilot, "n", "enter", "enter")
            log.path.unlink()
            await look(pilot)
            await look(pilot)
            assert "the log is gone; what was read is kept" in shown(pilot.app)
            assert len(pilot.app.screen.walk.run) == 200

    async def test_a_walk_that_was_left_is_taken_up(self, app, log: Log):
        log.add(200)
        async with app().run_test(size=WIDE) as pilot:
            await begun(pilot, "n", "enter", "enter")
            at = pilot.app.screen.walk.at
            await pilot.press("q")
        assert Notebook("ana").drafts()
        log.add(20)
        async with app().run_test(size=WIDE) as pilot:
            await begun(pilot)
            walk = pilot.app.screen.walk
            assert (walk.at, len(walk.run)) == (at, 220)
