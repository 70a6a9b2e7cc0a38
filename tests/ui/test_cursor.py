"""One cursor through the run: by key and by mouse, on every panel, in the walk and in full size."""

import pytest

from tests.ui.conftest import NARROW, WIDE, recorded, settle, shown
from tutor.ui.screens.panel import PanelScreen
from tutor.ui.screens.walk import WalkScreen
from tutor.ui.widgets.plot import Plot

pytestmark = pytest.mark.slow

TO_2_2 = ["n", "enter", "enter", "down", "enter", "enter", "y", "enter", "enter"]
"""The keys from the start of a walk to the question whether the loss recovered."""


async def test_it_moves_by_one_by_ten_to_the_mark_and_to_the_worst(walk):
    app = walk()
    async with app.run_test(size=NARROW) as pilot:
        await settle(pilot)
        plot = app.screen.query_one(Plot)
        await pilot.press("v")
        assert plot.cursor == 312
        assert "step 312" in shown(app)
        await pilot.press("full_stop", "full_stop", "comma")
        assert plot.cursor == 313
        await pilot.press("right_square_bracket")
        assert plot.cursor == 323
        await pilot.press("left_square_bracket", "left_square_bracket")
        assert plot.cursor == 303
        await pilot.press("x")  # no step is marked yet
        assert plot.cursor == 303
        await pilot.press(*TO_2_2)
        await settle(pilot)
        assert plot.cursor is None  # another question
        await pilot.press("x")
        assert plot.cursor == plot.mark == 312


async def test_a_step_is_typed(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        plot = app.screen.query_one(Plot)
        await pilot.press("plus", "plus", "g", *"599", "enter")
        await settle(pilot)
        assert plot.cursor == plot.view[1] == 599  # the view follows
        await pilot.press("g", "escape")
        await settle(pilot)
        assert plot.cursor == 599


async def test_panels_and_the_full_size_share_it(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("v", "3")
        assert "step 312" in shown(app)
        assert "nothing clipped" in shown(app)
        await pilot.press("8")
        assert "step 312" in shown(app)
        await pilot.press("8")  # again: full size
        await settle(pilot)
        assert isinstance(app.screen, PanelScreen)
        assert app.screen.query_one(Plot).cursor == 312
        await pilot.press("full_stop", "escape")
        await settle(pilot)
        assert isinstance(app.screen, WalkScreen)
        assert app.screen.query_one(Plot).cursor == 313


async def test_a_click_puts_it_there(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        plot = app.screen.query_one(Plot)
        await pilot.click(plot, offset=(plot.outer_size.width - 2, 5))
        await settle(pilot)
        assert plot.cursor is not None
        assert plot.cursor > 590


async def test_after_the_answer_the_panel_turns_to_what_it_rests_on(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press(*TO_2_2)
        await settle(pilot)
        plot = app.screen.query_one(Plot)
        assert plot.ruling is None
        await pilot.press("2", "down", "enter")  # looked at another panel, then committed
        await settle(pilot)
        found = app.screen.seen.finding
        assert plot.panel == "loss"
        assert plot.view[0] <= found.window[0] <= found.window[1] <= plot.view[1]
        assert plot.ruling
        assert plot.ruling.step == found.step
        assert plot.ruling.values is not None
        assert f"^{found.step}" in shown(app)
        await pilot.press("3")
        assert plot.ruling
        assert plot.ruling.window is None  # the rule looked at the loss
        await pilot.press("b")
        await settle(pilot)
        assert plot.ruling is None


async def test_the_checkpoints_that_a_question_asks_about_are_in_view(walk):
    app = walk()
    steps = [one.resumes_at for one in recorded("19-break").checkpoints or ()]
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        for _ in range(12):
            if app.screen.walk.at == "2.4":
                break
            app.screen.query_one("Answer").move(1)
            await pilot.press("enter", "enter")
            await settle(pilot)
        plot = app.screen.query_one(Plot)
        assert app.screen.walk.at == "2.4"
        before = max(step for step in steps if step <= plot.mark)
        assert plot.view[0] < before
        assert "▣" in shown(app)


async def test_two_panels_stand_side_by_side_from_160_columns(walk):
    app = walk()
    async with app.run_test(size=(170, 40)) as pilot:
        await settle(pilot)
        plot = app.screen.query_one(Plot)
        assert plot.beside == "gradient"
        await pilot.press("v")
        assert shown(app).count("step 312") == 2
        await pilot.press("3")
        assert plot.beside == "loss"
        await pilot.resize_terminal(159, 40)
        await settle(pilot)
        assert plot.beside is None
        assert shown(app).count("step 312") == 1


async def test_curves_are_smoothed_on_every_panel_and_in_full_size(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        logged = shown(app)
        assert "mean of" not in logged
        await pilot.press("a", "a")
        await settle(pilot)
        assert "mean of 20 rows" in shown(app)
        await pilot.press("3")
        await settle(pilot)
        assert "mean of 20 rows" in shown(app)
        await pilot.press("8")  # no curves there
        await settle(pilot)
        assert "mean of" not in shown(app)
        await pilot.press("3", "f", "a")
        await settle(pilot)
        assert isinstance(app.screen, PanelScreen)
        assert "mean of 100 rows" in shown(app)
        await pilot.press("escape", "a", "1")
        await settle(pilot)
        assert shown(app) == logged
