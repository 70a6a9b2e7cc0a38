"""Corrections: what runs show, on columns with known answers, and the commands that make the runs again."""

import math
from pathlib import Path

import pytest

from tests.conftest import make_run
from tutor.lab import corrections, measures
from tutor.lab.corrections import CORRECTIONS, Wanted


def test_a_command_names_break_control_and_changes():
    assert Wanted("no-clip", control=True).command == "tutor train --break no-clip --control"
    assert Wanted(changes={"lr": 0.004}).command == "tutor train --set lr=0.004"


@pytest.mark.parametrize("one", CORRECTIONS, ids=lambda one: one.said)
def test_each_names_runs_that_can_be_trained(one: corrections.Correction, tmp_path: Path):
    assert one.runs
    for wanted in one.runs:
        assert wanted.job(tmp_path / "run").plan.settings.steps > 1


def test_what_isn_t_averaged_is_the_gradient_itself():
    control = make_run({"adam_m_norm": [0.5] * 200, "grad_norm_clipped": [1.0] * 200})
    broken = make_run({"adam_m_norm": [2.0] * 200, "grad_norm_clipped": [2.0] * 200})
    said = measures.averaging([control, broken])
    assert "0.5 of the gradient" in said
    assert "1 at every step" in said


def test_crossings_are_counted_after_the_first_hundred_steps():
    loss = [1.0, 1.1] * 100
    loss[50] = loss[150] = 9.0
    assert "crosses it at 1 of them" in measures.crossings([make_run({"loss": loss})])


def test_the_growth_of_the_weights_is_told_by_decay():
    norms = [1.0] * 100 + [2.0] * 200 + [3.0]
    run = make_run({"param_norm_decay": norms}, {"settings": {"weight_decay": 0.2}})
    assert "1.5 at 0.2" in measures.decay([run])


def test_an_infinite_gradient_is_nan_after_the_clip():
    columns = {
        "loss": [6.0, 6.0, math.nan],
        "grad_norm": [1.0, math.inf, math.nan],
        "grad_norm_clipped": [1.0, math.nan, math.nan],
    }
    run = make_run(columns, {"settings": {"grad_clip": 1.0}})
    said = measures.infinite([run])
    assert "is Inf at step 1 before clipping and NaN after" in said
    assert "NaN from step 2 on" in said


def test_a_row_per_ten_steps_makes_a_window_of_rows_ten_times_as_long():
    loss = [5.0] * 500 + [1.0, 1.2] * 350
    assert "a loss of 1.4 tops" in (said := measures.thinned([make_run({"loss": loss})]))
    assert "there it takes 8." in said


def test_a_skipped_step_is_told_with_what_came_after():
    columns = {
        "loss": [4.0, 3.9, 3.0],
        "grad_norm": [1.0, math.inf, 1.0],
        "skipped_steps": [0.0, 1.0, 1.0],
    }
    said = measures.skipped([make_run(columns)])
    assert "is Inf at step 1, at a loss of 3.9" in said
    assert "1 steps later the loss is 3, and of 3 steps 1 was skipped" in said


def test_clipped_at_every_step_is_told_by_norm_and_last_loss():
    runs = [
        make_run({"loss": [2.0] * 30, "grad_norm": [norm] * 30}, {"settings": {"grad_clip": 1.0}})
        for norm in (0.5, 300.0)
    ]
    assert measures.always_clipped(runs).count("it ends at a loss of 2") == 2
    assert "a median norm of 300" in measures.always_clipped(runs)


def test_a_price_by_both_formulas():
    batch = {"batch": {"rows": 8, "tokens_per_row": 64, "accumulation": 1}}
    said = measures.price([make_run({"loss": [1.0] * 30, "tokens_per_second": [512.0] * 30}, batch)])
    assert "for 550 seconds of the machine" in said
    assert f"{550 / 3600 * 2.5:.4g} dollars" in said


def test_runs_that_two_corrections_share_have_one_folder():
    small = Wanted(changes={"n_layer": 2})
    assert small.folder == Wanted(changes={"n_layer": 2}).folder != Wanted(changes={"n_layer": 3}).folder


def test_the_first_loss_is_held_against_its_vocabulary():
    run = make_run({"loss": [6.25, 6.0]}, {"settings": {"vocab_size": 512}})
    assert "6.25 with 512 tokens (ln 512 is 6.238)" in measures.first_loss([run])


@pytest.mark.train
@pytest.mark.slow
def test_the_page_is_made_of_trained_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    short = [one for one in CORRECTIONS if one.shown in (measures.infinite, measures.first_loss)]
    monkeypatch.setattr(corrections, "CORRECTIONS", short)
    assert corrections.main(["--runs", str(tmp_path), "--page", str(tmp_path / "page.md")]) == 0
    said = (tmp_path / "page.md").read_text()
    assert "tutor train --break inf-embedding" in said
    assert said.count("Measured: ") == len(short) == 2
