"""The cursor over a panel: where it goes, what it reads out, and that moving it draws no curve anew."""

import math
from dataclasses import replace

import polars as pl
import pytest

from tests.conftest import make_run
from tutor import plots
from tutor.plots import cursor, picture
from tutor.run import PANELS, Checkpoint, Run

WIDTH, HEIGHT = 100, 18


def subject(rows: int = 120) -> Run:
    """A run with a spike at 60, a NaN at 70, and nothing clipped before 100."""
    loss = [9.0 if i == 60 else math.nan if i == 70 else 1.0 + 0.01 * (i % 7) for i in range(rows)]
    norm = [60.0 if i == 60 else 1.0 + 0.1 * (i % 3) for i in range(rows)]
    return make_run(
        {
            "loss": loss,
            "val_loss": [2.0 if i % 50 == 0 else None for i in range(rows)],
            "grad_norm": norm,
            "grad_norm_clipped": [value if i < 100 else 0.5 for i, value in enumerate(norm)],
            "sentence_ids": [[0, 0, 1]] * rows,
            "worst_tokens": [["tten", "x"]] * rows,
            "worst_token_losses": [[9.5, math.nan]] * rows,
        }
    )


def lines(run: Run, panel: str, **how) -> list[str]:
    return plots.draw(run, panel, WIDTH, HEIGHT, **how).plain.split("\n")


class TestMoves:
    def test_row_by_row_from_the_middle_of_the_view_and_never_out_of_the_log(self):
        run = subject()
        assert cursor.moved(run, (20, 40), "loss", None, 1) == 30
        assert cursor.moved(run, (20, 40), "loss", 30, -10) == 20
        assert cursor.moved(run, (20, 40), "loss", 3, -10) == 0
        assert cursor.moved(run, (20, 40), "batch", None, -1) == 118

    def test_it_stands_on_logged_steps(self):
        sparse = Run(subject().path, "x", subject().manifest, pl.DataFrame({"step": [0, 50, 100]}))
        assert [cursor.nearest(sparse, step) for step in (-5, 20, 30, 99, 500)] == [0, 0, 50, 100, 100]
        assert cursor.moved(sparse, (0, 100), "loss", 50, 1) == 100

    def test_the_worst_is_a_nan_else_the_highest_in_view(self):
        run = subject()
        assert cursor.worst(run, "loss", (0, 119)) == 70
        assert cursor.worst(run, "loss", (0, 69)) == 60
        assert cursor.worst(run, "gradient", (0, 119)) == 60
        assert cursor.worst(run, "tokens", (0, 65)) == 60  # by the loss
        assert cursor.worst(make_run({"loss": [1.0], "loss_scale": [4.0]}), "throughput", (0, 0)) == 0
        assert cursor.worst(make_run({"lr": [1.0]}), "loss", (0, 0)) is None


class TestReadout:
    def test_the_step_and_every_curves_value_stand_under_the_panel(self):
        drawn = lines(subject(), "loss", at=60)
        said = drawn[-3:]
        assert " step 60 " in said[0]
        assert "raw 9" in said[0]
        assert "val –" in said[0]
        assert "×2" in said[1]
        assert "“tten” 9.5 “x” NaN" in said[2]
        assert "^60" in drawn[-4]

    def test_a_nan_is_said_and_marked(self):
        drawn = lines(subject(), "loss", at=70)
        assert "raw NaN" in drawn[-3]
        assert "×" in drawn[-5]

    @pytest.mark.parametrize("panel", PANELS)
    @pytest.mark.parametrize("height", [1, 3, 5, 9, 14, 30])
    def test_every_panel_keeps_its_size_with_the_cursor(self, panel, height):
        drawn = plots.draw(subject(), panel, 70, height, at=60).plain.split("\n")
        assert len(drawn) == height
        assert {len(line) for line in drawn} == {70}

    def test_a_panel_of_one_step_shows_the_cursors(self):
        assert "step 33" in lines(subject(), "batch", mark=60, at=33)[0]

    def test_runs_laid_over_each_other_are_read_by_name(self):
        other = replace(subject(), name="other")
        assert "other 9" in lines(subject(), "loss", at=60, others=[other])[-1]


def test_moving_it_draws_no_curve_anew(monkeypatch):
    board = plots.Board(subject(), "loss", WIDTH, HEIGHT, readout=True)
    monkeypatch.setattr(picture, "sample", None)  # to call it would fail
    monkeypatch.setattr(picture.raster, "braille", None)
    assert board.text(60).plain != board.text(61).plain


def test_a_column_of_the_picture_is_a_step():
    board = plots.Board(subject(), "loss", WIDTH, HEIGHT, view=(20, 111))
    column = board.text(60).plain.split("\n")[-1].index("^60")
    assert board.step_at(column) in (59, 60)
    assert board.step_at(2) is None  # over the axis


class TestWhatIsSeen:
    def test_nothing_clipped_is_said_where_it_is_so(self):
        run = subject()
        assert "after = before: nothing clipped" in lines(run, "gradient", view=(0, 99))[0]
        assert "nothing clipped" not in "".join(lines(run, "gradient"))
        assert "nothing clipped" in lines(run, "gradient", at=50)[-3]
        assert "nothing clipped" not in lines(run, "gradient", at=110)[-3]
        assert "sin recortar" in lines(run, "gradient", view=(0, 99), lang="es")[0]

    def test_the_axis_says_how_high_it_reaches(self):
        rows = lines(make_run({"loss": [1.0, 1.2, 1.1, 7.37, 1.0]}), "loss")
        assert "7.37┤" in rows[1]

    def test_a_rules_window_its_curve_and_the_step_that_decided(self):
        run = subject()
        ruling = plots.Ruling((40, 80), 75, "loss", run.steps[60:80], pl.Series([3.0] * 20))
        drawn = lines(run, "loss", level=2.0, ruling=ruling, mark=60, colour=False)
        assert "smoothed" in drawn[0]
        assert "━━ window" in drawn[0]
        assert "━━" in drawn[-1]
        assert "^75" in drawn[-1]
        assert sum("┊" in line for line in drawn) > 5
        assert "━" not in "".join(lines(run, "loss", ruling=plots.Ruling((0, 5), None), view=(50, 90)))

    def test_a_panel_without_any_of_its_signals_names_the_one_that_is_asked_about(self):
        run = make_run({"loss": [1.0, 1.2, 1.1]})
        assert any("update_norm" in line for line in lines(run, "optimizer", asked="update_norm"))
        assert not any("update_norm" in line for line in lines(run, "optimizer"))

    def test_a_score_that_no_panel_draws_stands_beside_it_where_it_decided(self):
        run = subject()
        ruling = plots.Ruling((40, 80), None, "val_iou", run.steps[60:80], pl.Series([0.3] * 10 + [0.0] * 10))
        drawn = lines(run, "loss", ruling=ruling, colour=False)
        assert "val_iou" in drawn[0]
        assert any(" 0┤" in line[40:] for line in drawn)
        assert "val_iou" not in lines(run, "loss", colour=False)[0]

    def test_without_a_loss_it_has_the_panel_to_itself(self):
        run = make_run({"val_acc": [0.5] * 20 + [0.9] * 20 + [0.5] * 20})
        assert "val_acc" in lines(run, "loss", colour=False)[0]  # before a rule has spoken, too
        ruling = plots.Ruling((0, 59), 39, "val_acc", run.steps, run["val_acc"])
        drawn = lines(run, "loss", ruling=ruling, colour=False)
        assert "val_acc" in drawn[0]
        assert not any("loss.item()" in line for line in drawn)


class TestViews:
    def test_one_that_shows_the_checkpoints_next_to_the_mark(self):
        run = replace(make_run({"loss": [1.0] * 600}), checkpoints=(Checkpoint(100), Checkpoint(500)))
        first, last = plots.around_checkpoints(run, 312)
        assert first < 100
        assert last > 500
        none_before = replace(run, checkpoints=(Checkpoint(500),))
        assert plots.around_checkpoints(none_before, 312)[0] == 0

    def test_one_that_shows_what_a_rule_looked_at_and_decided_by(self):
        run = make_run({"loss": [1.0] * 600})
        assert plots.around_ruling(run, 312, (205, 362), 350) == (198, 412)
        assert plots.around_ruling(run, 312, (400, 599), 599)[0] in range(375, 400)
        assert plots.around_ruling(run, 312, None, 200)[0] < 200
        assert plots.around_ruling(run, None, (0, 599), None) == (0, 599)

    def test_one_moved_no_farther_than_needed(self):
        run = make_run({"loss": [1.0] * 600})
        assert plots.holding((100, 200), 205, run) == (105, 205)
        assert plots.holding((100, 200), 90, run) == (90, 190)
