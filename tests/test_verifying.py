"""A fix held against its bounds: what is asked of it, what is found, and what the lesson then says."""

import math
import shutil
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.conftest import ROOT, make_run
from tests.test_postmortem import filled
from tests.ui.conftest import phase_19, recorded, to_the_leaf
from tutor import readers, verifying
from tutor.begun import begun
from tutor.cli import app
from tutor.lesson import parse
from tutor.notebook import Notebook, NotebookError
from tutor.postmortem import Bound, to_markdown
from tutor.run import Remark, Run
from tutor.run.verification import Checked, Verification
from tutor.saying.verified import heading, lines_of
from tutor.words import LANGUAGES

WHEN = datetime(2026, 11, 22, 4, 0)
LOOSE = (Bound(signal="loss", comparison="<", value="3", window="330..400"),)


def lesson_of(run: Run, lang: str, tmp_path: Path) -> Notebook:
    """A notebook with one saved lesson about the run."""
    notebook = Notebook("ana", home=tmp_path)
    pm = filled(begun(to_the_leaf(run, phase_19()), lang))
    notebook.append_lesson(to_markdown(pm, lang, WHEN))
    return notebook


@pytest.fixture(scope="module")
def control(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A copy: what is found is written beside it."""
    copy = tmp_path_factory.mktemp("runs") / "19-control"
    shutil.copytree(ROOT / "runs" / "19-control", copy)
    return readers.read(copy)


@pytest.fixture(scope="module")
def broken() -> Run:
    return recorded("19-break")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_bounds_of_a_saved_lesson_are_read_back(broken: Run, lang: str, tmp_path: Path):
    [lesson] = lesson_of(broken, lang, tmp_path).lessons()
    asked = verifying.asked_in(lesson)
    assert asked is not None
    [bound], tolerance = asked
    assert (bound.signal, bound.comparison, bound.value, bound.window) == ("loss", "<", "2.5", "130..200")
    assert tolerance == "0.01"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_so_are_those_of_a_run_whose_seed_nobody_knows(broken: Run, lang: str, tmp_path: Path):
    pm = filled(begun(to_the_leaf(broken, phase_19()), lang))
    pm = pm.but(verification=pm.verification.model_copy(update={"seed": ""}))
    notebook = Notebook("ana", home=tmp_path)
    notebook.append_lesson(to_markdown(pm, lang, WHEN))
    [lesson] = notebook.lessons()
    asked = verifying.asked_in(lesson)
    assert asked is not None
    assert (asked[0][0].window, asked[1]) == ("130..200", "0.01")


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("window", ["end", " Fin", "312", "3..40"])
def test_so_is_the_window_however_it_is_written(broken: Run, lang: str, window: str, tmp_path: Path):
    pm = filled(begun(to_the_leaf(broken, phase_19()), lang))
    [first, *_] = pm.verification.bounds
    bounds = (first.model_copy(update={"window": window}),)
    pm = pm.but(verification=pm.verification.model_copy(update={"bounds": bounds}))
    notebook = Notebook("ana", home=tmp_path)
    notebook.append_lesson(to_markdown(pm, lang, WHEN))
    asked = verifying.asked_in(notebook.lessons()[0])
    assert asked is not None
    assert [bound.window for bound in asked[0]] == [window if window[0].isdigit() else "end"]


def test_a_lesson_by_hand_asks_for_nothing():
    [lesson] = parse("## Clip first\n\nI forgot it.\n")
    assert verifying.asked_in(lesson) is None


def test_the_log_suggests_bounds_that_the_control_holds_and_the_break_does_not(broken: Run, control: Run):
    bounds, tolerance = verifying.suggested(to_the_leaf(broken, phase_19()))
    assert {bound.signal for bound in bounds} == {"loss", "probe_loss"}
    good = verifying.verify(broken, control, change="", bounds=bounds, tolerance=tolerance)
    bad = verifying.verify(broken, broken, change="", bounds=bounds, tolerance=tolerance)
    assert good.verified
    assert good.verdict == "healthy"
    assert not bad.verified
    assert not any(bound.holds for bound in bad.bounds)


def test_a_bound_where_the_run_has_no_row_does_not_hold(broken: Run, control: Run):
    far = (Bound(signal="loss", comparison="<", value="3", window="5000..6000"),)
    found = verifying.verify(broken, control, change="", bounds=far, tolerance="0.01")
    assert not found.verified
    assert (False, "loss < 3 at every step of 5000..6000: the run has no row there") in list(
        lines_of(found, "en")
    )


def test_it_is_laid_beside_the_control(broken: Run, control: Run):
    same = verifying.verify(broken, control, change="", bounds=LOOSE, tolerance="0", control=control)
    assert same.beside is not None
    assert same.beside.ours == same.beside.theirs
    assert same.beside.holds


def test_a_tree_that_finds_a_flaw_in_the_broken_run_is_asked_of_the_fixed_one(broken: Run):
    jumped = recorded("case-10")
    asked = [stage.walk.tree.tree for stage in verifying.looked_at(jumped, jumped)]
    assert "scale" in asked
    assert verifying.verify(jumped, jumped, change="lr", bounds=(), tolerance="0").verdict == "flaw"
    assert "scale" not in [stage.walk.tree.tree for stage in verifying.looked_at(broken, jumped)]


def test_a_run_that_ends_worse_is_called_so(broken: Run, control: Run):
    found = verifying.verify(broken, control, change="lr", bounds=(), tolerance="0")
    worse = found.model_copy(update={"before": 1.0, "after": 1.5})
    lost = found.model_copy(update={"after": None})
    assert not found.worse
    for one in (worse, lost):
        assert one.worse
        assert "worse with it than without" in list(lines_of(one, "en"))[-1][1]


def stopped(rows: int, **signals: list[float]) -> Run:
    """A run whose log ends after so many rows."""
    return make_run({name: values[:rows] for name, values in signals.items()})


COURSE = {
    "loss": [4 * 0.9**row + 0.01 * (row % 3) for row in range(40)],
    "val_loss": [1.0 + 0.003 * (row - 12) ** 2 + 0.01 * (row % 3) for row in range(40)],
}


def test_a_run_that_overfitted_is_measured_by_its_validation_loss():
    whole, early = stopped(40, **COURSE), stopped(16, **COURSE)
    bounds, tolerance = verifying.suggested(verifying.deciding(verifying.walked(whole)).walk)
    found = verifying.verify(whole, early, change="stop", bounds=bounds, tolerance=tolerance, control=early)
    assert {bound.signal for bound in found.bounds} == {"val_loss"}
    assert found.signal == "val_loss"
    assert not found.worse, "its training loss ends higher, as it should"
    assert "the validation loss ends at" in " ".join(words for _, words in lines_of(found, "en"))
    assert verifying.verify(early, whole, change="go on", bounds=(), tolerance="0").signal == "loss"


def against_the_overfitted(fixed: Run) -> Verification:
    """A run held against what the log of one that overfitted suggests."""
    whole = stopped(40, **COURSE)
    bounds, tolerance = verifying.suggested(verifying.deciding(verifying.walked(whole)).walk)
    return verifying.verify(whole, fixed, change="stop", bounds=bounds, tolerance=tolerance)


@pytest.mark.parametrize(("rows", "verified"), [(12, True), (4, False)])
def test_a_run_that_stops_before_the_bounds_is_held_to_them_by_its_last_value(rows: int, verified: bool):
    whole, fixed = stopped(40, **COURSE), stopped(rows, **COURSE)
    [asked], tolerance = verifying.suggested(verifying.deciding(verifying.walked(whole)).walk)
    later = asked.model_copy(update={"window": "20..39"})
    found = verifying.verify(whole, fixed, change="stop", bounds=[later], tolerance=tolerance)
    [bound] = found.bounds
    assert (bound.stopped, bound.step, bound.holds, found.verified) == (True, rows - 1, verified, verified)
    assert f"at step {rows - 1}, its last" in next(words for _, words in lines_of(found, "en"))


@pytest.mark.parametrize(
    ("val_loss", "verified"),
    [
        ([0.8 + 2 * 0.87**row for row in range(40)], True),  # later than the broken one was best
        ([0.8 + 2 * 0.7**row + 0.01 * row for row in range(40)], False),  # it turns, too
        ([1.8 + 0.9 * 0.7**row for row in range(40)], False),  # nowhere near
    ],
)
def test_a_slower_fix_is_held_to_the_bound_at_its_end(val_loss: list[float], verified: bool):
    found = against_the_overfitted(make_run(COURSE | {"val_loss": val_loss}))
    [bound] = found.bounds
    assert (bound.window, bound.holds, bound.step, found.verified) == ("end", verified, 39, verified)
    said = next(words for _, words in lines_of(found, "en"))
    assert "at the end of the run: " + ("holds" if verified else "broken") in said
    assert "the median of its last rows is" in said


def test_a_fix_that_does_not_stop_the_run_has_to_reach_the_bounds():
    lost = make_run({"loss": [*(4 * 0.95**row for row in range(40)), *([math.nan] * 5)]})
    [bound], tolerance = verifying.suggested(verifying.deciding(verifying.walked(lost)).walk)
    found = verifying.verify(
        lost, stopped(30, loss=COURSE["loss"]), change="", bounds=[bound], tolerance=tolerance
    )
    assert [(one.stopped, one.holds) for one in found.bounds] == [(False, False)]


def test_what_the_broken_log_left_open_may_stay_open():
    kept = make_run(COURSE | {"val_loss": [0.8 + 2 * 0.7**row for row in range(40)]})
    found = against_the_overfitted(kept)
    assert (found.verdict, found.open_before, found.verified) == ("undecided", True, True)
    [said] = [words for good, words in lines_of(found, "en") if good is None]
    assert f"(still open: {found.open})" in said


def test_a_fixed_log_that_tells_less_than_the_broken_one_verifies_nothing():
    norms = [1.0 + 0.1 * (row % 3) for row in range(40)]
    broken, poorer = make_run(COURSE | {"grad_norm": norms}), make_run({"loss": COURSE["loss"]})
    found = verifying.verify(broken, poorer, change="", bounds=(), tolerance="0")
    assert (found.verdict, found.open_before, found.verified) == ("undecided", False, False)


def test_a_fix_that_leaves_open_what_the_broken_log_answers_verifies_nothing():
    """The broken run's log says that it learned nothing; the other's leaves it open: it settles at chance."""
    stuck = make_run({"loss": [2.35] * 40, "val_loss": [2.35] * 40})
    around = make_run({"loss": [0.0 if row % 3 else 1.0 for row in range(40)], "val_loss": [2.3] * 40})
    found = verifying.verify(stuck, around, change="", bounds=(), tolerance="0")
    assert not found.verified


def test_a_run_that_goes_on_without_evaluations_did_not_stop():
    once = COURSE | {"val_loss": [None] * 11 + [0.85] + [None] * 28}
    found = against_the_overfitted(make_run(once))
    assert ([one.stopped for one in found.bounds], found.verified) == ([False], False)


def test_a_shorter_log_may_be_too_short_only_where_the_fix_was_to_stop():
    climbs = make_run({"loss": [*(4 * 0.95**row for row in range(40)), *([9.0] * 260)]})
    short = make_run({"loss": [4 * 0.95**row for row in range(12)]})
    found = verifying.verify(climbs, short, change="", bounds=(), tolerance="0")
    assert (found.verdict, found.stops, found.open_before) == ("undecided", False, False)


def test_a_part_of_the_log_that_went_unseen_verifies_nothing():
    good = make_run(COURSE | {"val_loss": [0.8 + 2 * 0.7**row for row in range(40)]})
    assert against_the_overfitted(good).verified
    torn = replace(good, remarks=(Remark("lost_steps", {"count": 1, "first": 3}, unseen=True),))
    assert not against_the_overfitted(torn).verified


def test_a_walk_that_stops_at_a_question_says_at_which():
    bad = make_run({"loss": [*(4 * 0.95**row for row in range(40)), *([math.nan] * 20), *([1.0] * 5)]})
    found = verifying.verify(bad, bad, change="", bounds=(), tolerance="0")
    assert (found.verdict, found.leaf) == ("flaw", "")
    assert f"stops at question {found.at} ({found.tree})" in list(lines_of(found, "en"))[-1][1]


def test_a_score_that_was_lost_is_what_has_to_come_back():
    score = [0.4 + 0.02 * min(row, 20) - 0.035 * max(0, row - 24) for row in range(40)]
    loss = [4 * 0.95**row + 0.01 * (row % 3) for row in range(40)]
    lost = make_run({"loss": loss, "val acc": score})
    kept = make_run({"loss": loss, "val acc": [min(0.8, 0.4 + 0.02 * row) for row in range(40)]})
    bounds, tolerance = verifying.suggested(verifying.deciding(verifying.walked(lost)).walk)
    [bound] = bounds
    assert (bound.signal, bound.comparison, bound.window) == ("val acc", ">", "end")
    good, bad = (
        verifying.verify(lost, fixed, change="lr", bounds=bounds, tolerance=tolerance, control=kept)
        for fixed in (kept, lost)
    )
    assert [one.holds for one in (*good.bounds, *bad.bounds)] == [True, False]
    assert good.beside and good.beside.holds
    assert bad.beside and not bad.beside.holds
    assert not good.worse
    assert verifying.verify(kept, lost, change="lr", bounds=(), tolerance="0").signal == "loss"


def test_a_log_too_poor_for_healthy_names_what_says_more(broken: Run, control: Run):
    found = verifying.verify(broken, control, change="", bounds=(), tolerance="0")
    poor = found.model_copy(update={"verdict": "undecided"})
    assert f"tutor check {control.path} names it" in list(lines_of(poor, "en"))[-1][1]


def test_few_rows_end_with_the_last_fourth():
    run = make_run({"loss": [9.0] * 6 + [1.0, 3.0], "val_loss": [None] * 6 + [4.0, math.inf]})
    assert verifying.ending(run) == 2.0
    assert verifying.ending(run, "val_loss") is None
    assert verifying.ending(run, "val_loss", through=6) == 4.0


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_lesson_is_stamped_where_it_said_that_nothing_was_run(
    broken: Run, control: Run, lang: str, tmp_path: Path
):
    notebook = lesson_of(broken, lang, tmp_path)
    before = notebook.lessons()[0]
    found, amended = verifying.conclude(
        broken, control, "grad_clip=1.0", control=None, notebook=notebook, lang=lang
    )
    [after] = notebook.lessons()
    assert amended
    assert heading(found, lang) in after.sections[5][1]
    untouched = [one for one in range(7) if one != 5]
    assert [after.sections[one] for one in untouched] == [before.sections[one] for one in untouched]
    assert after.id == before.id


def test_the_command_says_where_the_lesson_lies(broken: Run, control: Run, home: Path):
    place = lesson_of(broken, "en", home / "learners").lessons_path
    done = CliRunner().invoke(app, ["verify", str(broken.path), str(control.path)])
    assert (done.exit_code, done.stderr) == (0, "")
    assert str(place) in done.stdout.replace("\n", "")
    assert "a walk through every section ends healthy" in place.read_text()


def test_what_a_trial_found_is_no_bound_of_the_next(broken: Run, control: Run, tmp_path: Path):
    notebook = lesson_of(broken, "en", tmp_path)
    again = tmp_path / "again"
    unmended = replace(broken, path=again, frame=broken.frame.with_columns(loss=broken["loss"] + 0.01))
    for fixed in (unmended, control):
        found, _ = verifying.conclude(broken, fixed, "clip", control=None, notebook=notebook, lang="en")
        assert len(found.bounds) == 1


def test_a_lesson_about_another_log_of_the_same_name_is_left_alone(broken: Run, control: Run, tmp_path: Path):
    notebook = lesson_of(broken, "en", tmp_path)
    other = replace(broken, frame=broken.frame.with_columns(loss=broken["loss"] + 0.5))
    before = notebook.lessons_path.read_text()
    _, amended = verifying.conclude(other, control, "clip", control=None, notebook=notebook, lang="en")
    assert (amended, notebook.lessons_path.read_text()) == (False, before)
    grown = replace(broken, frame=broken.frame.head(3))
    assert verifying.lesson_about(grown, notebook.lessons()) is not None


def test_a_log_is_known_again_by_its_first_row():
    rewards = [make_run({"ep_rew_mean": [times * row for row in range(1, 9)]}) for times in (1, 7)]
    assert rewards[0].mark != rewards[1].mark
    loss = [2.0 - row / 50 for row in range(30)]
    late = make_run({"loss": loss, "val_loss": [None] * 20 + [1.5] * 10})
    assert late.mark == make_run({"loss": loss[:8]}).mark == make_run({"loss": loss[:1]}).mark
    assert make_run({"loss": [0.0, *loss]}).mark == make_run({"loss": [None, *loss]}).mark


def test_the_lesson_with_the_runs_mark_comes_before_later_ones_without(broken: Run):
    written = [
        parse(f"<!-- lesson 0123456{at}{of} -->\n## {at}\n\n2026-11-20 · 19-break · x\n")[0]
        for at, of in enumerate((f" of {broken.mark}", "", " of 0123456789abcdef"))
    ]
    about = verifying.lesson_about(broken, written)
    assert about is not None
    assert about.lesson == "0"


def test_a_second_trial_is_written_under_the_first(broken: Run, control: Run, tmp_path: Path):
    notebook = lesson_of(broken, "en", tmp_path)
    for change in ("grad_clip=1.0", "lr=0.001"):
        verifying.conclude(broken, control, change, control=None, notebook=notebook, lang="en")
    text = notebook.lessons()[0].sections[5][1]
    assert text.index("grad_clip=1.0") < text.index("lr=0.001")


def test_another_runs_lesson_is_left_alone(broken: Run, control: Run, tmp_path: Path):
    notebook = lesson_of(broken, "en", tmp_path)
    before = notebook.lessons_path.read_bytes()
    other = replace(broken, name="other")
    _, amended = verifying.conclude(other, control, "", control=None, notebook=notebook, lang="en")
    assert not amended
    assert notebook.lessons_path.read_bytes() == before


@pytest.mark.parametrize("lang", LANGUAGES)
def test_there_has_to_be_something_to_verify(broken: Run, control: Run, tmp_path: Path, lang: str):
    """A log can't verify itself, and one in which nothing is wrong asks nothing of another."""
    notebook = Notebook("ana", tmp_path)
    elsewhere = replace(broken, path=tmp_path / "copy")
    for before, after, told in (
        (broken, broken, {"en": "the same rows", "es": "las mismas filas"}),
        (broken, elsewhere, {"en": "the same rows", "es": "las mismas filas"}),
        (control, broken, {"en": "finds no flaw", "es": "ningún fallo"}),
    ):
        with pytest.raises(verifying.NothingToVerifyError, match=told[lang]):
            verifying.check_there_is_something(before, after, notebook, lang)
    verifying.check_there_is_something(broken, control, notebook, lang)  # its walk finds a flaw


def test_what_a_run_that_stops_early_leaves_open_is_said():
    stopped = Verification(
        of="a", fixed="b", change="c", when="d", tree="t", leaf="", verdict="undecided", open=7
    )
    for told, more in (("as the fix may", {"stopped": True}), ("the log before the fix answers", {})):
        found = stopped.model_copy(update={"open_before": True, **more})
        assert told in "".join(words for _, words in lines_of(found, "en"))


def test_a_lesson_that_was_edited_meanwhile_is_left_alone(broken: Run, tmp_path: Path):
    notebook = lesson_of(broken, "en", tmp_path)
    [lesson] = notebook.lessons()
    notebook.lessons_path.write_text("## Mine\n\nAnother.\n")
    with pytest.raises(NotebookError):
        notebook.amend(lesson, "new")
    assert notebook.lessons_path.read_text() == "## Mine\n\nAnother.\n"


def test_what_was_found_survives_json():
    checked = Checked(signal="loss", comparison="<", value="1", window="3", worst=math.nan, step=3)
    found = Verification(
        of="a", fixed="b", change="c", when="d", bounds=(checked,), tree="t", leaf="l", verdict="flaw"
    )
    again = Verification.model_validate(found.data() | {})
    assert math.isnan(again.bounds[0].worst or 0.0)
    assert again.data() == found.data()
