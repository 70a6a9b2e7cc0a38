"""The trees before the one walked: folded into a line above the path, and opened by hand."""

from contextlib import suppress
from pathlib import Path

import pytest

from tests import prose
from tests.conftest import shipped
from tests.test_tree import small
from tests.ui.conftest import NARROW, WIDE, recorded, settle, shown, to_the_leaf, until
from tutor import tree
from tutor.ui.before import trees_before
from tutor.ui.screens.walk import WalkScreen
from tutor.ui.widgets import path as paths
from tutor.ui.widgets.fitted import Fitted
from tutor.walk import Answer


@pytest.fixture
def second(home: Path):
    """A tree that comes after another, which asks the log two questions."""
    folder = home / "trees"
    folder.mkdir()
    prose.write(folder / "first.yaml", small() | {"tree": "first"})
    prose.write(folder / "second.yaml", small() | {"tree": "second", "after": "first"})
    return tree.find("second")


def drawn(app, part: str) -> str:
    """A part of the screen, as it is drawn."""
    return str(app.screen.query_one(f"#{part}", Fitted).render())


async def opened(app, name: str) -> None:
    """Wait until the walk on screen is one of that tree: its log is read in the background."""

    def there() -> bool:
        with suppress(AssertionError):  # not read yet
            return isinstance(app.screen, WalkScreen) and app.screen.walk.tree.tree == name
        return False

    await until(there)


async def test_they_stand_in_a_line_above_the_path(walk, second):
    app = walk(walked_tree=second)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)

        await until(lambda: drawn(app, "path-column").startswith("!"))
        assert drawn(app, "path-column").startswith(
            "! first something is wrong"
        )  # its leaf isn't named before the end
        await pilot.press("t")  # the tree before
        await opened(app, "first")
        assert app.screen.walk.answers == ()
        for key in ("q", "t"):  # either leads back
            await pilot.pause()
            assert "q back to the walk before" in shown(app)
            await pilot.press(key)
            await opened(app, "second")
            assert "q leave" in shown(app)
            await pilot.press("t")
            await opened(app, "first")


async def test_what_one_of_them_found_stands_in_the_one_line_of_a_narrow_terminal(walk, second):
    app = walk(walked_tree=second)
    async with app.run_test(size=NARROW) as pilot:
        await settle(pilot)

        await until(lambda: drawn(app, "path-line").startswith("!"))
        assert drawn(app, "path-line") == "! first something is wrong › ▸ 1"
        await pilot.press("down", "enter", "enter")
        await settle(pilot)
        assert drawn(app, "path-line").startswith("! first something is wrong › ")
        assert drawn(app, "path-line").endswith(" › ▸ 2")


async def test_in_one_line_the_path_comes_before_what_is_wrong(walk, second):
    found = trees_before(recorded("19-break"), second)
    answers = [Answer("1", "no", "log", None, 0, None, {})] * 4

    def line(width: int) -> str:
        return paths.Path()._line(second, answers, "2", "en", found, {}, width).plain

    path = " › ".join(line(200).split(" › ")[1:])
    assert line(200).startswith("! first something is wrong › ")
    room = len("! first › ") + len(path) + 2
    assert line(room) == f"! first › {path}"
    assert line(room - 3).startswith("! first › … ")


async def test_who_comes_from_the_tree_before_is_not_told_to_walk_it(walk):
    app = walk(recorded("19-control"), walked_tree=shipped("phase-18"))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.screen.move_to(to_the_leaf(recorded("19-control"), shipped("phase-18")))
        await settle(pilot)
        await pilot.press("t")  # the next tree
        await opened(app, "phase-19")
        await until(lambda: "phase-18 16/16 answered" in shown(app))
        assert "t back to the walk before" in shown(app)
        assert "walk it yourself" not in shown(app)


async def test_a_tree_before_that_cant_be_read_leaves_the_walk_as_it_is(walk, second, home: Path):
    (home / "trees" / "first.yaml").write_text("tree: [")
    app = walk(walked_tree=second)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await app.workers.wait_for_complete()
        await pilot.press("t")  # does nothing
        assert app.screen.walk.tree.tree == "second"
