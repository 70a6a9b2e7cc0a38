"""The walk screen: predict first, then the log answers; both languages, keyboard and mouse."""

import json
import math
import shutil
from dataclasses import replace

import pytest
from textual.widgets import Static

from tests.conftest import ROOT, make_run, write_run
from tests.ui.conftest import (
    NARROW,
    SIZES,
    TO_SPIKE,
    WIDE,
    leave,
    leave_at_the_leaf,
    opened,
    phase_19,
    recorded,
    settle,
    shown,
    until,
)
from tutor import readers, tree
from tutor import walk as walks
from tutor.notebook import Notebook, NotebookError, draft_key
from tutor.ui.found import find
from tutor.ui.looks import Looks
from tutor.ui.screens.leaf import LeafScreen
from tutor.ui.screens.note import NoteScreen
from tutor.ui.screens.pick import PickScreen
from tutor.ui.widgets.answer import Answer
from tutor.ui.widgets.evidence import Evidence
from tutor.ui.widgets.plot import Plot
from tutor.ui.widgets.remarks import remarks
from tutor.walk import UNSURE
from tutor.words import say

YES = {"en": "y", "es": "s"}


async def answer_all(pilot, lang: str) -> None:
    """Predict what the log will say of each question, to the end."""
    app = pilot.app
    walk = walks.begin(recorded("19-break"), phase_19())
    while walk.question:
        seen = walks.look(walk)
        if seen.outcome in ("yes", "no"):
            await pilot.press(YES[lang] if seen.outcome == "yes" else "n")  # by its letter
        else:
            for _ in range(list(walk.question.offered).index(seen.outcome) + 1):
                await pilot.press("down")  # down the outcomes
        await pilot.press("enter")  # commit
        await settle(pilot)
        assert app.screen.seen.outcome == seen.outcome
        await pilot.press("enter")  # go on
        await settle(pilot)
        walk = walks.take(walk, seen.outcome, "log", seen)


@pytest.mark.slow
@pytest.mark.parametrize(("lang", "size"), [("en", WIDE), ("es", NARROW)])
async def test_from_the_first_question_to_the_leaf(walk, lang, size):
    app = walk(lang=lang)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await answer_all(pilot, lang)
        assert isinstance(app.screen, LeafScreen)
        end, _ = walks.unattended(recorded("19-break"), phase_19())
        assert app.screen.walk.at == end.at
        assert end.leaf.name(lang) in shown(app)
        assert len(Notebook("ana").predictions()) == len(end.answers)


async def test_the_log_is_silent_until_the_learner_commits(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press(*TO_SPIKE)  # to 2.1: is there a spike?
        await settle(pilot)
        plot = app.screen.query_one(Plot)
        assert app.screen.walk.at == "2.1"
        assert not app.screen.query_one(Evidence).display
        assert plot.mark is None  # the step is what the question asks for
        assert plot.level is None
        await pilot.press("y", "enter")  # yes, there is
        await settle(pilot)
        assert app.screen.query_one(Evidence).display
        assert plot.mark == app.screen.seen.finding.step
        assert plot.level == app.screen.seen.finding.level


async def test_a_bound_stands_on_the_panel_of_its_own_check(walk, tmp_path):
    rows = [
        {"step": step, "loss": 1.0 + 0.01 * (step % 7), "grad_norm": 1.0, "lr": 1e-3} for step in range(400)
    ]
    rows[300] |= {"loss": 5.0, "grad_norm": 90.0}
    app = walk(write_run(tmp_path / "bad-batch", rows))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press(*TO_SPIKE, "y", "enter", "enter", "y", "enter", "enter")  # to 2.3
        await settle(pilot)
        plot = app.screen.query_one(Plot)
        assert (app.screen.walk.at, plot.panel, plot.level) == ("2.3", "gradient", None)
        await pilot.press("down", "enter")  # committed: now the bound may be seen
        await settle(pilot)
        assert plot.level == app.screen.seen.checks["batch"].level is not None
        await pilot.press("2")  # another panel has another bound, or none
        await settle(pilot)
        assert plot.level == app.screen.seen.checks["schedule"].level


async def test_a_wrong_prediction_is_told_in_words_and_why_it_looked_right(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("y", "enter")  # yes: NaN. It is not so
        await settle(pilot)
        text = " ".join(shown(app).split())
        assert "✗ wrong" in text
        assert "you said: yes" in text
        tempting = phase_19().questions["1.1"].outcomes["yes"].tempting("en")
        assert tempting.split(".")[0][:30] in text


async def test_nothing_is_committed_without_a_choice(walk):
    app = walk()
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await settle(pilot)
        await pilot.press("enter")  # nothing chosen yet
        await settle(pilot)
        assert app.screen.seen is None
        assert "choose one first" in shown(app)
        await pilot.press("n")  # chosen: nothing to be reminded of
        await settle(pilot)
        assert "choose one first" not in shown(app)


async def test_confidence_by_arrows_stays_within_one_and_five(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("n", *["right"] * 9)  # as sure as can be
        assert app.screen.query_one(Answer).confidence == 5
        await pilot.press(*["left"] * 9, "enter")  # a guess, committed
        await settle(pilot)
        assert app.screen.walk.prediction == walks.Prediction("no", 1)


async def test_hints_come_one_at_a_time(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        hints = phase_19().questions["1.1"].hints
        assert "Hints 0 of 3" in shown(app)
        for count in range(1, 5):
            await pilot.press("h")  # one more, while there are any
            await settle(pilot)
            assert app.screen.walk.hints == min(count, len(hints))
            assert f"Hints {min(count, len(hints))} of 3" in shown(app)


async def test_undo_takes_back_the_prediction_then_the_answer(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press(*TO_SPIKE, "y", "enter")  # 2.1 yes, committed
        await settle(pilot)
        await pilot.press("b")  # the prediction
        await settle(pilot)
        assert (app.screen.walk.at, app.screen.seen) == ("2.1", None)
        await pilot.press("b", "b")  # the answers to 1.4 and to 1.1
        await settle(pilot)
        assert (app.screen.walk.at, app.screen.walk.answers) == ("1.1", ())


async def test_undo_leads_back_from_the_leaf(at_leaf):
    app = at_leaf()
    async with app.run_test(size=NARROW) as pilot:
        await settle(pilot)
        assert isinstance(app.screen, LeafScreen)
        await pilot.press("b")  # back into the tree
        await settle(pilot)
        assert app.screen.walk.question is not None
        assert app.screen.query_one(Answer).display


async def test_a_walk_left_is_resumed_where_it_was(walk):
    app = walk()
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await settle(pilot)
        await pilot.press(*TO_SPIKE, "h", "y", "enter")  # 2.1, a hint, committed
        await settle(pilot)
        left = app.screen.walk
        await pilot.press("q")  # leave
    again = walk(lang="es")
    async with again.run_test(size=WIDE, notifications=True) as pilot:
        await settle(pilot)
        assert again.screen.walk.at == left.at
        assert again.screen.walk.prediction == left.prediction
        assert again.screen.walk.hints == 1
        assert "Sigues donde" in shown(again)
        await pilot.press("r", "down", "enter")  # start over, and sure of it
        await settle(pilot)
        assert (again.screen.walk.at, again.screen.walk.answers) == ("1.1", ())
        assert again.screen.walk.prediction is None


async def test_a_walk_over_another_run_of_the_same_name_is_not_resumed(walk, tmp_path):
    rows = [{"step": step, "loss": 1.0} for step in range(300)]
    for folder in ("one", "two"):
        app = walk(write_run(tmp_path / folder / "mine", rows))
        async with app.run_test(size=WIDE) as pilot:
            await settle(pilot)
            assert app.screen.walk.at == "1.1"
            await pilot.press(*TO_SPIKE)  # to 2.1
            await settle(pilot)
            assert app.screen.walk.at == "2.1"
    assert len(Notebook("ana").drafts()) == 2


async def test_a_prediction_made_after_the_log_has_answered_does_not_count_as_right(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("y", "enter", "b", "n", "enter")  # wrong; looked; back; now as the log says
        await settle(pilot)
        text = " ".join(shown(app).split())
        assert "≈ the log had already answered" in text
        assert "✓ right" not in text
        await pilot.press("enter")
        await settle(pilot)
        assert "≈ 1.1" in shown(app)
        attempt = app.screen.walk.id
        await pilot.press("q")  # leave
    kept = Notebook("ana").predictions()
    assert [(p["predicted"], p["seen_before"]) for p in kept] == [("yes", False), ("no", True)]
    assert {p["attempt"] for p in kept} == {attempt}
    again = walk()
    async with again.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("b", "n", "enter")  # back to 1.1, whose answer is still known
        await settle(pilot)
        assert again.screen.walk.prediction.seen_before
        await pilot.press("r", "n", "enter")  # a new attempt: the first answer is the learner's own
        await settle(pilot)
        assert (again.screen.walk.attempt, again.screen.walk.prediction.seen_before) == (2, False)
    assert len({p["attempt"] for p in Notebook("ana").predictions()}) == 2


@pytest.mark.parametrize("size", SIZES)
async def test_what_the_reader_passed_over_is_said_at_the_first_question(walk, tmp_path, size):
    folder = write_run(tmp_path / "torn", [{"step": step, "loss": 1.0} for step in range(300)])
    with (folder / "metrics.jsonl").open("a") as log:
        log.write('{"step": 300, "lo')
    app = walk(folder)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        first = remarks(app.screen.walk.run, "en")[0]
        await click_on(pilot, f"i {first[:30]}")  # all of them
        assert isinstance(app.screen, NoteScreen)
        assert "cut short" in shown(app)
        await pilot.press("escape", *TO_SPIKE)  # to 2.1, where the room is wanted for the panel
        await settle(pilot)
        assert not app.screen.query_one("Remarks").display
        await pilot.press("i")  # they are still there to be read
        await settle(pilot)
        assert isinstance(app.screen, NoteScreen)


@pytest.mark.parametrize("size", SIZES)
async def test_how_a_run_was_configured_is_shown_with_what_is_not_known(walk, tmp_path, size):
    given = {
        "vocab_size": 512,
        "schedule": {"lr_max": 0.001, "warmup_steps": 100},
        "settings": {"grad_clip": None},
    }
    app = walk(write_run(tmp_path / "r", [{"step": step, "loss": 1.0} for step in range(300)], given))
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("i")
        await settle(pilot)
        said = " ".join(shown(app).replace("│", " ").split())
        assert "configured: vocab_size 512, grad_clip off, lr_max 0.001, warmup_steps 100" in said
        assert "not known of its configuration: dtype, beta2, lr_min," in said


async def test_a_log_that_grows_is_drawn_and_asked_anew(walk):
    run = make_run({"loss": [1.0 + 0.01 * (step % 7) for step in range(300)]})
    app = walk(run)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        plot, before = app.screen.query_one(Plot), shown(app)
        grown = make_run({"loss": [*run["loss"].to_list()[:250], *[9.0] * 350]})  # resumed at 250
        plot.subject = grown  # nothing else has changed
        plot.refresh()
        await settle(pilot)
        assert shown(app) != before
        looks = Looks()
        at_spike = replace(walks.begin(run, phase_19()), at="2.1")
        assert looks.at(at_spike).outcome == "no"
        assert looks.at(replace(at_spike, run=grown)).outcome == "yes"


@pytest.mark.parametrize("torn", ['{"data": {"answers": 3}}', '{"data": {}}', "[", ""])
async def test_a_draft_that_cannot_be_read_is_kept_aside(walk, home, torn):
    book = Notebook("ana")
    key = draft_key("19-break", "phase-19", recorded("19-break").path)
    if torn.startswith("{"):
        torn = json.dumps({"kind": "walk", "key": key, "saved": "now"} | json.loads(torn))
    book.save_draft("walk", key, {}).write_text(torn)
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert app.screen.walk.at == "1.1"
        await pilot.press("n", "enter")
        await settle(pilot)
    assert book.draft("walk", key)["prediction"]["outcome"] == "no"
    assert [path.read_text() for path in book.folder.glob("drafts/*.broken")] == [torn]


async def test_a_notebook_that_cannot_be_written_is_told_once_and_the_walk_goes_on(walk, monkeypatch):
    def refuse(*_, **__):
        raise NotebookError("read_only", path="/somewhere")

    monkeypatch.setattr(Notebook, "save_draft", refuse)
    monkeypatch.setattr(Notebook, "record_prediction", refuse)
    app = walk()
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await settle(pilot)
        await pilot.press(*TO_SPIKE)  # on to 2.1
        await settle(pilot)
        assert app.screen.walk.at == "2.1"
        assert len([n for n in app._notifications if "/somewhere" in n.message]) == 1


async def test_no_data_asks_the_learner_and_marks_the_answer_as_theirs(walk, tmp_path):
    rows = [{"step": step, "grad_norm": 1.0} for step in range(300)]
    app = walk(write_run(tmp_path / "no-loss", rows))
    async with app.run_test(size=NARROW) as pilot:
        await settle(pilot)
        await pilot.press("u", "enter")  # the log can't tell: so it is
        await settle(pilot)
        text = shown(app)
        assert "The log can't tell" in text
        assert "did not record loss" in text
        assert "✓ right" in text
        await pilot.press("enter")  # an answer is needed
        await settle(pilot)
        assert app.screen.walk.at == "1.1"
        await pilot.press("n", "enter")  # then the learner says no
        await settle(pilot)
        assert app.screen.walk.at == "1.4"
        assert app.screen.walk.answers[0].by == "learner"


async def test_the_answers_stay_those_that_were_offered_where_the_log_cannot_tell(walk, tmp_path):
    run = readers.read(write_run(tmp_path / "no-loss", [{"step": i, "grad_norm": 1.0} for i in range(300)]))
    leave(walks.begin(run, phase_19(), ("5.3", None)))
    app = walk(run)
    async with opened(app, NARROW) as pilot:
        before = app.screen.query_one(Answer).ids
        await pilot.press("u", "enter")
        await settle(pilot)
        assert "The log can't tell" in shown(app)
        assert app.screen.query_one(Answer).ids == before


async def test_who_does_not_know_either_goes_on_with_what_is_assumed(walk, tmp_path):
    app = walk(write_run(tmp_path / "no-loss", [{"step": step, "grad_norm": 1.0} for step in range(300)]))
    async with opened(app, NARROW, "u", "enter") as pilot:
        assert "I don't know" in shown(app)
        await pilot.press("u", "enter")
        await settle(pilot)
        assert app.screen.walk.at == "1.4"
        assert app.screen.walk.answers[0].by == "assumed"
    app = walk(tmp_path / "no-loss")
    async with opened(app, WIDE):  # taken up where it was left
        assert app.screen.walk.at == "1.4"
        assert "no (assumed)" in shown(app)


async def test_where_nothing_may_be_assumed_it_is_told_what_is_known(walk, tmp_path):
    rows = [{"step": step, "loss": 2.0 - step / 1000 if step < 300 else math.nan} for step in range(310)]
    app = walk(write_run(tmp_path / "nan", rows))
    async with opened(app, WIDE, "y", "enter", "enter", "down", "enter", "enter", "u", "enter") as pilot:
        assert app.screen.walk.at == "1.2"  # which dtype?
        await pilot.press("u", "enter")
        await settle(pilot)
        assert isinstance(app.screen, NoteScreen)
        text = shown(app)
        assert "What is known so far" in text
        assert "300" in text  # where the NaN shows
        assert "bf16" in text  # the answers that would settle it
        await pilot.press("escape")
        assert app.screen.walk.at == "1.2"


class TestHealthyIsEarned:
    """A healthy leaf is held against the trees before it, and against what was only assumed on the way."""

    async def test_what_was_assumed_leaves_it_undecided(self, walk, tmp_path):
        subject = make_run({"loss": [3.0 - step / 200 for step in range(400)]}, {"dtype": "fp32"})
        at = walks.begin(subject, phase_19())
        while isinstance(at, walks.AtQuestion):
            at = walks.go_on(at, walks.look(at), UNSURE)
        leave(at)
        app = walk(subject)
        async with opened(app, WIDE):
            assert isinstance(app.screen, LeafScreen)
            text = shown(app)
            assert "undecided: nothing was found, and the log can't answer" in text
            assert "record grad_norm" in text

    async def test_a_flaw_of_the_tree_before_is_told_and_walked(self, walk, tmp_path):
        folder = shutil.copytree(ROOT / "runs" / "case-01", tmp_path / "slow")  # its warm-up is too slow
        manifest = json.loads((folder / "manifest.json").read_text())
        (folder / "manifest.json").write_text(json.dumps(manifest | {"sealed": False}))
        subject = readers.read(folder)
        end, _ = walks.unattended(subject, phase_19())
        assert walks.verdict(end) == "healthy"
        leave(end)
        app = walk(subject)
        async with opened(app, WIDE) as pilot:
            text = shown(app)
            assert "warm-up" in text
            assert "phase-18" in text
            assert "healthy: " not in text.split("Where the walk ends")[1]
            await pilot.press("t")
            await settle(pilot)
            assert app.screen.walk.tree.tree == "phase-18"


async def test_too_short_a_run_says_what_the_rule_needs(walk, tmp_path):
    rows = [{"step": step, "loss": 1.0} for step in range(5)]
    app = walk(write_run(tmp_path / "short", rows))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press(*TO_SPIKE, "y", "enter")  # 2.1: a spike?
        await settle(pilot)
        assert "The log is too short" in shown(app)


async def test_outcomes_without_a_letter_are_chosen_by_arrows(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        ids = app.screen.query_one(Answer).ids
        await pilot.press(*["down"] * (len(ids) + 1))  # through all and round
        assert app.screen.query_one(Answer).chosen == ids[0]
        await pilot.press("up")  # one back
        assert app.screen.query_one(Answer).chosen == UNSURE


async def test_another_step_may_be_taken_up(walk, tmp_path):
    rows = [{"step": step, "loss": 1.0 + 0.01 * (step % 7)} for step in range(400)]
    rows[150]["loss"], rows[300]["loss"] = 3.0, 5.0
    app = walk(write_run(tmp_path / "two-spikes", rows))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press(*TO_SPIKE, "y", "enter")  # 2.1: there is one, at 300
        await settle(pilot)
        assert app.screen.seen.finding.step == 300
        await pilot.press("o")  # another step
        await settle(pilot)
        assert isinstance(app.screen, PickScreen)
        await pilot.press("down", "enter")  # the next worst
        await settle(pilot)
        assert (app.screen.walk.at, app.screen.walk.focus) == ("2.2", 150)
        assert app.screen.query_one(Plot).mark == 150
        await pilot.press("o")
        await settle(pilot)
        await pilot.press("enter")  # and back to the worst, from the next question
        await settle(pilot)
        assert (app.screen.walk.at, app.screen.walk.focus) == ("2.2", 300)


async def test_everything_works_by_mouse(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await click_on(pilot, "[n] no")
        assert app.screen.query_one(Answer).chosen == "no"
        await click_on(pilot, "■□□")
        assert app.screen.query_one(Answer).confidence == 4
        await click_on(pilot, "3 gradient")
        assert app.screen.query_one(Plot).panel == "gradient"
        await click_on(pilot, "a hint")
        assert app.screen.walk.hints == 1
        await click_on(pilot, "enter commit")
        assert app.screen.seen is not None
        await click_on(pilot, "enter go on")
        assert app.screen.walk.at == "1.4"


async def click_on(pilot, text: str) -> None:
    """Click in the middle of the first place where `text` stands."""
    for y, line in enumerate(shown(pilot.app).split("\n")):
        if (x := line.find(text)) >= 0:
            await pilot.click(offset=(x + len(text) // 2, y))
            await settle(pilot)
            return
    raise AssertionError(f"{text!r} is nowhere on the screen")


async def test_zoom_and_pan(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        plot = app.screen.query_one(Plot)
        whole = plot.view
        await pilot.press("plus")  # closer
        assert plot.view[1] - plot.view[0] < whole[1] - whole[0]
        closer = plot.view
        await pilot.press("less_than_sign")  # earlier
        assert plot.view[0] < closer[0]
        await pilot.press("0")  # the whole run
        assert plot.view == whole


async def test_digits_show_panels_and_the_same_digit_again_in_full_size(walk):
    app = walk()
    async with app.run_test(size=NARROW) as pilot:
        await settle(pilot)
        await pilot.press("3")  # the gradient
        assert app.screen.query_one(Plot).panel == "gradient"
        await pilot.press("3")  # again: full size
        await settle(pilot)
        assert type(app.screen).__name__ == "PanelScreen"
        for digit in "123456789":
            await pilot.press(digit)  # each panel draws
            await settle(pilot)
        await pilot.press("escape")  # back to the walk
        await settle(pilot)
        assert app.screen.walk.at == "1.1"


async def test_the_language_changes_on_the_fly(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("l")  # español
        await settle(pilot)
        text = shown(app)
        assert phase_19().questions["1.1"].ask("es")[:30] in text
        assert "Tu respuesta" in text
        assert "Recorrido" in text
        assert "confirmar" in text


async def test_text_of_the_log_is_never_markup(walk, tmp_path):
    rows = [{"step": step, "loss": 1.0} for step in range(300)]
    folder = write_run(
        tmp_path / "[red]run\x1b[31m", rows, {"dtype": "[bold]fp32[/]", "settings": {"seed": "\x1b]0;x\x07"}}
    )
    app = walk(folder)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        text = shown(app)
        assert "[red]run␛[31m" in text
        assert "[bold]fp32[/]" in text
        assert "\x1b" not in text


async def test_a_tree_of_ones_own_with_markup_in_its_words(walk, tmp_path):
    path = tmp_path / "mine.yaml"
    for part in ("yaml", "en.yaml", "es.yaml"):
        words = (ROOT / "trees" / f"phase-19.{part}").read_text()
        marked = words.replace("Is the training loss NaN", "Is [red]the training loss NaN")
        path.with_suffix(f".{part}").write_text(marked)
    app = walk(walked_tree=tree.load(path))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert "Is [red]the training loss" in shown(app)


@pytest.mark.slow
async def test_too_small_a_terminal_gets_one_line_and_recovers(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("n")  # chosen before the terminal shrinks
        for size in [(59, 24), (80, 17), (20, 5), (1, 1)]:
            await pilot.resize_terminal(*size)
            await settle(pilot)
            assert type(app.screen).__name__ == "TooSmall", size
            if size[0] > 40:
                assert "60 x 18" in shown(app)
            await pilot.press("enter")  # does nothing now
            await settle(pilot)
            await pilot.resize_terminal(*WIDE)
            await settle(pilot)
            assert app.screen.query_one(Answer).chosen == "no"
            assert app.screen.seen is None


async def test_a_walk_over_one_of_a_databases_runs_is_resumed_and_home_lists_it(walk):
    path = ROOT / "tests" / "readers" / "fixtures" / "mlflow.db" / "short"
    app = walk(path)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await settle(pilot)
        await pilot.press("n", "enter", "enter")
        await settle(pilot)
        left = app.screen.walk
        assert (left.run.name, left.at) != ("short", "1.1")
        await pilot.press("q")
    again = walk(path)
    async with again.run_test(size=WIDE, notifications=True) as pilot:
        await settle(pilot)
        assert again.screen.walk.at == left.at
        await pilot.press("q")
    found = find("ana", None)
    assert found.entries[0].name == "short"
    assert found.walk(found.entries[0], None)["at"] == left.at


async def test_too_small_a_terminal_can_be_left(walk):
    app = walk()
    async with app.run_test(size=(40, 10)) as pilot:
        await settle(pilot)
        await pilot.press("q")
        await settle(pilot)
        assert not app.is_running or app._exit


async def test_too_small_from_the_start(walk):
    app = walk()
    async with app.run_test(size=(40, 10)) as pilot:
        await settle(pilot)
        assert type(app.screen).__name__ == "TooSmall"
        await pilot.resize_terminal(*NARROW)
        await settle(pilot)
        assert app.screen.walk.at == "1.1"


async def test_too_small_while_a_walk_is_resumed_at_its_leaf(walk):
    leave_at_the_leaf(recorded("19-break"), phase_19())
    again = walk(ROOT / "runs" / "19-break")
    async with again.run_test(size=(50, 10)) as pilot:
        await settle(pilot)
        await pilot.resize_terminal(*WIDE)
        await until(lambda: isinstance(again.screen, LeafScreen))
        await settle(pilot)
        assert isinstance(again.screen, LeafScreen)
        await pilot.press("b")
        await settle(pilot)
        assert again.screen.walk.question


@pytest.mark.slow
async def test_every_size_shows_question_panel_and_answer(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        for size in [(60, 18), (79, 18), (99, 24), (100, 24), (119, 60), (250, 80)]:
            await pilot.resize_terminal(*size)
            await settle(pilot)
            text = shown(app)
            assert "Is the training loss NaN" in text, size
            assert "[y] yes" in text, size
            assert app.screen.query_one(Plot).content_size.height >= 4, size
            await pilot.press("n", "enter")  # the evidence is there too
            await settle(pilot)
            assert "you said: no" in shown(app), size
            assert "all 600 logged losses are finite" in " ".join(shown(app).split()), size
            await pilot.press("b")  # before the next size
            await settle(pilot)


@pytest.mark.parametrize("size", [*SIZES, (60, 18)])
async def test_a_hint_is_seen_at_every_size(walk, size):
    app = walk()
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("h")
        await settle(pilot)
        first = phase_19().questions["1.1"].hints[0]("en")
        assert " ".join(first.split()[:4]) in " ".join(shown(app).split())
        assert "1 of 3" in shown(app)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_the_panel_has_eight_rows_whatever_the_log_says(walk, size):
    app = walk()
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        while app.screen.walk.question:
            assert app.screen.query_one(Plot).content_size.height >= 8, app.screen.walk.at
            await pilot.press("down", "enter")  # the first outcome, right or wrong
            await settle(pilot)
            assert app.screen.query_one(Plot).content_size.height >= 8, (app.screen.walk.at, shown(app))
            await pilot.press("enter")
            await settle(pilot)


async def test_without_colour_the_signs_and_words_remain(walk, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert app.no_color
        await pilot.press("n")  # chosen: seen by its sign
        assert "● [n] no" in shown(app)
        assert "○ [y] yes" in shown(app)
        await pilot.press("enter")
        await settle(pilot)
        assert "✓ right" in shown(app)


async def test_a_run_that_cannot_be_read_ends_with_the_reason(walk, tmp_path):
    folder = tmp_path / "bad"
    folder.mkdir()
    app = walk(folder)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
    assert app.return_code == 2


async def test_until_the_log_is_read_the_question_stands_and_nothing_can_be_answered(walk, monkeypatch):
    put_off = []
    monkeypatch.setattr("tutor.ui.screens.walk.after_first_paint", lambda screen, act: put_off.append(act))
    app = walk(ROOT / "runs" / "19-break")
    async with app.run_test(size=WIDE) as pilot:
        await until(lambda: "reading the log" in shown(app))
        assert "Is the training loss NaN" in shown(app)
        await pilot.press("n", "enter", "h", "m", "3", "c")
        app.screen.query_one("PanelTabs").action_choose(3)  # a click
        await pilot.pause()
        assert (app.screen.seen, app.screen.begun) == (None, False)
        (read,) = put_off
        read()
        await until(lambda: "reading the log" not in shown(app))
        assert "reading the log" not in shown(app)
        await pilot.press("n", "enter")
        await settle(pilot)
        assert app.screen.seen.answers


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "bars"), [(NARROW, {True, False}), (WIDE, {True, False}), ((200, 60), {False})]
)
async def test_the_bar_beside_what_the_log_says_is_foreseen(walk, size, bars: set[bool], monkeypatch):
    foreseen = []
    foresee = Evidence._foresee_bar

    def noted(self):
        foresee(self)
        foreseen.append(self.show_vertical_scrollbar)

    monkeypatch.setattr(Evidence, "_foresee_bar", noted)
    app = walk()
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        evidence, found = app.screen.query_one(Evidence), set()
        while not isinstance(app.screen, LeafScreen):
            await pilot.press("down", "enter")
            await settle(pilot)
            assert foreseen[-1] == evidence.show_vertical_scrollbar == (evidence.max_scroll_y > 0)
            found.add(foreseen[-1])
            await pilot.press("enter")
            await settle(pilot)
        assert found == bars


async def test_the_draft_is_plain_data(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press(*TO_SPIKE)
        await settle(pilot)
    data = Notebook("ana").drafts()[0].data
    assert json.loads(json.dumps(data)) == data
    assert data["at"] == "2.1"
    assert not data["done"]


async def test_a_rule_without_numbers_has_no_sources(walk, tmp_path):
    rows = [{"step": step, "loss": math.nan if step > 50 else 1.0} for step in range(60)]
    app = walk(write_run(tmp_path / "nan", rows, {"dtype": "fp32"}))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("y", "enter", "enter", "down", "enter", "enter", "down", "enter")  # to 1.2
        await settle(pilot)
        assert app.screen.seen.answers
        assert app.screen.walk.at == "1.2"
        assert not app.screen.query_one("#sources").display


@pytest.mark.parametrize("size", SIZES, ids=["wide", "narrow"])
async def test_the_sources_of_a_bound_take_a_line_and_i_tells_them_all(walk, size):
    app = walk()
    async with opened(app, size, "n", "enter", "enter", "down", "enter", "enter", "n", "enter") as pilot:
        assert app.screen.walk.at == "2.1"
        assert f"{say('walk.source', 'en')}: {phase_19().sources['sieve']('en')[:40]}" in shown(app)
        assert app.screen.query_one("#sources").size.height == 1
        assert "… i all" in shown(app)
        last = phase_19().sources["on-its-harm"]("en").split()[:3]
        assert " ".join(last) not in shown(app)
        await pilot.press("i")
        await settle(pilot)
        assert isinstance(app.screen, NoteScreen)
        text = str(app.screen.query_one(".lines", Static).content)
        assert "where the numbers of question 2.1 come from" in text
        assert " ".join(last) in text
        await pilot.press("escape", "enter")
        await settle(pilot)
        await pilot.press("i")  # of a question that isn't answered nothing is told
        await settle(pilot)
        assert "where the numbers" not in str(app.screen.query_one(".lines", Static).content)
