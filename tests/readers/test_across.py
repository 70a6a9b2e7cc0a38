"""A CSV with a row for each metric and a column for each epoch."""

import math
from pathlib import Path

import pytest

from tutor import readers
from tutor.readers.source import HEAD
from tutor.run import BadRunError, Run

HISTORY = ",0,1,2,3,4\nloss,4,3,2.5,2.25,2\naccuracy,0.1,0.2,0.3,0.4,\nval_loss,4.5,4,nan,3,2.5\n"


def read(tmp_path: Path, text: str, name: str = "history.csv") -> Run:
    (tmp_path / name).write_text(text)
    return readers.read(tmp_path / name)


@pytest.mark.parametrize("corner", ["", "metric", "epoch"])
@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_each_column_is_a_row(tmp_path: Path, corner: str, sign: str):
    run = read(tmp_path, (corner + HISTORY).replace(",", sign))
    assert readers.sources(run.path)[0].format == "a CSV with a column for each epoch"
    assert (run.steps.to_list(), run.counts) == ([0, 1, 2, 3, 4], "epochs")
    assert run["loss"].to_list() == [4.0, 3.0, 2.5, 2.25, 2.0]
    assert run.frame["accuracy"].to_list() == [0.1, 0.2, 0.3, 0.4, None]
    assert math.isnan(run["val_loss"][2])


def test_a_line_that_is_cut_short_has_the_values_that_it_has(tmp_path: Path):
    run = read(tmp_path, HISTORY.partition(",3,2.5\n")[0])
    assert run["val_loss"].drop_nulls().len() == 3


@pytest.mark.parametrize(
    "text",
    [
        HISTORY.replace("loss", "cost_of_living"),  # no loss
        HISTORY.replace("0,1,2,3,4", "4,3,2,1,0"),  # nothing counts
        ",0,1,2\nloss,3,2,1\n",  # few
        HISTORY.replace("0,1,2,3,4", "16,32,64,128,256"),  # what was tried
        "fold" + HISTORY,
        "batch_size" + HISTORY,
        "0,1,2,3,4,5\n1,2,3,4,5,6\n",
    ],
)
def test_others_are_none(tmp_path: Path, text: str):
    with pytest.raises(BadRunError):
        read(tmp_path, text)


def test_numbers_as_names_above_rows_that_count_are_columns(tmp_path: Path):
    run = read(tmp_path, "epoch,loss,0,1\n" + "".join(f"{row},{4 - row / 4},1,2\n" for row in range(6)))
    assert run["loss"][0] == 4.0


def test_a_file_that_changed_meanwhile(tmp_path: Path):
    (tmp_path / "a.csv").write_text(HISTORY)
    (source,) = readers.sources(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("")
    with pytest.raises(BadRunError, match="no line any more"):
        readers.read_source(source)


def test_the_loss_may_stand_far_below_in_a_wide_file(tmp_path: Path):
    columns = 9_000
    lines = [("", range(columns)), ("acc", [0.5] * columns), ("loss", [2.5] * columns)]
    text = "".join(f"{name},{','.join(map(str, values))}\n" for name, values in lines)
    assert len(text.partition("loss")[0]) > HEAD
    assert len(read(tmp_path, text)) == columns
