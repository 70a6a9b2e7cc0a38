"""What libraries of boosted trees print: which set is trained on, which metric is a loss."""

from pathlib import Path

import pytest

from tests.readers.texts import BOOSTED
from tutor import readers
from tutor.run import Run, called


def read(tmp_path: Path, text: str) -> Run:
    (tmp_path / "log.txt").write_text(text)
    return readers.read(tmp_path / "log.txt")


@pytest.mark.parametrize("library", BOOSTED)
def test_the_loss_of_both_sets_by_round(tmp_path: Path, library: str):
    run = read(tmp_path, BOOSTED[library])
    assert readers.sources(run.path)[0].format == "what a library of boosted trees printed"
    assert run.steps.to_list() == [0, 10, 20]
    assert run["loss"].to_list()[:2] == [0.5, 0.25]
    assert run["loss"].is_nan().to_list() == [False, False, True]
    assert run["val_loss"].to_list()[:2] == [0.75, 0.5]


def test_of_several_sets_the_last_is_held_out_and_a_score_is_no_loss(tmp_path: Path):
    text = "".join(
        f"[{at}]\ttrain-auc:0.9\ttrain-logloss:0.{9 - at}\ta-auc:0.8\ta-logloss:0.5\tb-logloss:0.6\n"
        for at in range(3)
    )
    run = read(tmp_path, text)
    assert (run["loss"][0], run["val_loss"][0], run["a-logloss"][0]) == (0.9, 0.6, 0.5)
    assert run["train-auc"][0] == 0.9
    remark = next(one for one in run.remarks if one.key == "printed")
    assert remark.facts["taken"] == "loss = `train-logloss`, val_loss = `b-logloss`"


def test_sets_that_may_be_any_are_no_training(tmp_path: Path):
    text = (
        "[0]\tvalidation_0-rmse:3.5\tvalidation_1-rmse:4.5\n[1]\tvalidation_0-rmse:3\tvalidation_1-rmse:4\n"
    )
    run = read(tmp_path, text)
    assert not run.has("loss")
    assert run["val_loss"].to_list() == [4.5, 4]
    with called.called({"loss": "validation_0-rmse"}):
        assert read(tmp_path, text)["loss"].to_list() == [3.5, 3]


def test_of_two_that_may_be_any_the_first_is_trained_on_where_it_leaves_the_other_behind(tmp_path: Path):
    row = (
        "[{0}]\tvalidation_0-auc:0.9\tvalidation_0-error:{1}\tvalidation_1-auc:0.6\tvalidation_1-error:{2}\n"
    )
    run = read(tmp_path, "".join(row.format(at, 0.4 - at / 20, 0.42 - at / 100) for at in range(8)))
    remark = next(one for one in run.remarks if one.key == "printed")
    assert remark.facts["taken"] == "loss = `validation_0-error`, val_loss = `validation_1-error`"
    assert {"train-auc", "validation_1-auc"} <= {*run.frame.columns}
    run = read(tmp_path, "".join(row.format(at, 0.4 - at / 20, 0.42 - at / 20) for at in range(8)))
    assert not run.has("loss")


def test_an_error_is_the_loss_only_where_no_other_is_printed(tmp_path: Path):
    row = "[{0}]\ttrain-error:0.05\ttrain-logloss:{1}\tvalidation_0-error:0.05\tvalidation_0-logloss:{2}\n"
    run = read(tmp_path, "".join(row.format(at, 0.8 - at / 20, 0.9 - at / 20) for at in range(8)))
    remark = next(one for one in run.remarks if one.key == "printed")
    assert remark.facts["taken"] == "loss = `train-logloss`, val_loss = `validation_0-logloss`"
    never_wrong = "".join(f"[{at}]\ttrain-error:0.000000\ttest-error:0.0{at}\n" for at in range(1, 8))
    assert not read(tmp_path, never_wrong).has("loss")
    sets = "[{0}]\ttrain-auc:0.9\ttrain-logloss:0.5\tvalidation_0-auc:0.8\tvalidation_0-logloss:{1}"
    sets += "\tvalidation_1-auc:0.7\tvalidation_1-logloss:0.{2}\n"
    run = read(tmp_path, "".join(sets.format(at, 0.8 - at / 20, 7 + at % 2) for at in range(8)))
    assert {"train-auc", "validation_0-auc"} <= {*run.frame.columns}


def test_where_only_scores_are_printed_the_remark_names_them(tmp_path: Path):
    run = read(tmp_path, "[0]\ttrain-auc:0.7\n[1]\ttrain-auc:0.8\n")
    assert [one.key for one in run.remarks] == ["scores_alone"]
    assert "`train-auc`" in run.remarks[0].says("en")
