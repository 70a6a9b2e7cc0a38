"""What the log says is looked at once, by whichever thread asks first."""

import time
from threading import Event, Thread

import pytest

from tests.conftest import make_run
from tests.ui.conftest import WIDE
from tutor import tree as trees
from tutor import walk as walks
from tutor.ui import looks
from tutor.ui.looks import Looks
from tutor.ui.widgets.plot import Plot
from tutor.walk import AtQuestion


@pytest.fixture
def asked() -> AtQuestion:
    """At the first question of a short run."""
    return walks.begin(make_run({"loss": [3.0, 2.0, 1.0]}), trees.find("phase-19"))


def test_a_question_about_validation_has_the_panels_axis_for_it():
    run = make_run({"loss": [1.0] * 8, "val_loss": [1.0] * 8})
    at = walks.begin(run, trees.find("phase-19"), ("5.4", None))
    assert looks.asked(at, "loss") == "val_loss"
    assert looks.asked(at, "gradient") == ""
    assert looks.asked(walks.begin(run, trees.find("phase-19"), ("2.3", None)), "loss") == ""


@pytest.mark.parametrize(
    ("recorded", "panel"),
    [(("grad_norm",), "gradient"), (("grad_norm", "loss_scale"), "throughput"), ((), "throughput")],
)
def test_a_question_of_several_checks_opens_with_a_panel_that_has_something(
    recorded: tuple[str, ...], panel: str
):
    run = make_run({"loss": [1.0] * 8} | {name: [1.0] * 8 for name in recorded})
    assert looks.first_panel(walks.begin(run, trees.find("phase-19"), ("3.1", None))) == panel
    assert looks.first_panel(walks.begin(run, trees.find("phase-19"), ("5.5", None))) == "gradient"


@pytest.mark.parametrize(("columns", "panel"), [({}, "loss"), ({"grad_norm": [1.0] * 40}, "gradient")])
def test_an_answer_is_shown_where_what_it_rests_on_is_drawn(columns: dict[str, list[float]], panel: str):
    run = make_run({"loss": [4.0 - 0.05 * row for row in range(40)]} | columns)
    at = walks.begin(run, trees.find("phase-19"), ("5.2", None))
    assert looks.first_panel(at) == panel
    seen = walks.look(at)
    assert seen.answers
    assert looks.panel_of(at.question, seen) == panel
    ruling = looks.ruling(at.question, seen, panel)
    assert ruling
    assert ruling.signal == ("loss" if panel == "loss" else "")


def test_threads_that_ask_at_once_share_one_look(asked, monkeypatch):
    places, real = [], walks.look

    def slow(walk):
        places.append(walk.at)
        time.sleep(0.05)
        return real(walk)

    monkeypatch.setattr(looks.walks, "look", slow)
    known, found = Looks(), []
    threads = [Thread(target=lambda: found.append(known.at(asked))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert places == [asked.at]
    assert found == [real(asked)] * 4


def test_a_look_that_failed_is_tried_again(asked, monkeypatch):
    def fails(walk):
        raise OSError(walk.at)

    known = Looks()
    with monkeypatch.context() as patched:
        patched.setattr(looks.walks, "look", fails)
        with pytest.raises(OSError, match=asked.at):
            known.at(asked)
    assert known.at(asked) == walks.look(asked)


def test_a_long_log_is_quick_once_it_was_looked_at(asked, monkeypatch):
    known = Looks()
    assert known.quick(asked)
    monkeypatch.setattr(looks, "LONG", len(asked.run))
    assert not known.quick(asked)
    known.at(asked)
    assert known.quick(asked)


async def test_keys_are_answered_while_a_long_log_is_looked_at(walk, monkeypatch):
    """The bound is drawn when it is known; nobody waits for it."""
    goes_on, real = Event(), walks.look

    def slow(walk):
        assert walk.at != "1.4" or goes_on.wait(20)
        return real(walk)

    async def until(pilot, there):
        for _ in range(400):
            if there():
                return
            await pilot.pause(0.05)
        raise AssertionError("it never came")

    monkeypatch.setattr(looks, "LONG", 1)
    monkeypatch.setattr(looks.walks, "look", slow)
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await until(pilot, lambda: app.screen.begun and not app.files.busy)
        await pilot.press("n", "enter", "enter")
        screen = app.screen
        await until(pilot, lambda: screen.walk.at == "1.4")
        await pilot.press("3")
        plot = screen.query_one(Plot)
        assert (plot.panel, screen.levels) == ("gradient", {})
        await pilot.press("1")
        assert (plot.panel, plot.level) == ("loss", None)
        goes_on.set()
        await until(pilot, lambda: plot.level is not None)
        assert plot.level == screen.levels["loss"]


def test_a_log_of_a_score_alone_asks_for_no_signal_of_the_panel():
    run = make_run({"val_acc": [0.5] * 8})
    assert looks.asked(walks.begin(run, trees.find("phase-19"), ("5.4", None)), "loss") == ""


def test_a_question_about_scores_asks_for_them_where_the_log_has_any():
    for question, asked in (("5.3", "scores"), ("5.4", "scores"), ("5.1", "loss")):
        run = make_run({"loss": [0.5] * 8, "val_acc": [0.5] * 8})
        assert looks.asked(walks.begin(run, trees.find("phase-19"), (question, None)), "loss") == asked
    both = make_run({"loss": [0.5] * 8, "val_loss": [0.5] * 8, "val_acc": [0.5] * 8})
    assert looks.asked(walks.begin(both, trees.find("phase-19"), ("5.4", None)), "loss") == "val_loss"
    none = make_run({"loss": [0.5] * 8})
    assert looks.asked(walks.begin(none, trees.find("phase-19"), ("5.3", None)), "loss") == "loss"
