"""Tables that are printed for people, in blanks or bars."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.readers.texts import ALIGNED
from tutor import readers
from tutor.run import Run, called


def read(tmp_path: Path, text: str) -> Run:
    (tmp_path / "log.txt").write_text(text)
    return readers.read(tmp_path / "log.txt")


def losses(run: Run, signal: str = "loss") -> list[float | str]:
    return ["nan" if math.isnan(one) else round(one, 9) for one in run[signal].drop_nulls().to_list()]


@pytest.mark.parametrize("name", ALIGNED)
def test_a_table_of_epochs(tmp_path: Path, name: str):
    run = read(tmp_path, ALIGNED[name])
    assert readers.sources(run.path)[0].format == "a printed table"
    assert (run.steps.to_list(), run.counts) == ([0, 1], "epochs")
    assert (losses(run), losses(run, "val_loss")) == ([4.25, "nan"], [3.5, 3.25])
    assert run.aggregation("loss").over == "window"


YOLO = {
    "v5": (
        "     Epoch   gpu_mem       box       obj       cls    labels  img_size\n",
        "     {at}/99     3.27G   {box}   0.5   0.25       143       640: {done}%|###| 8/8 [00:04]",
    ),
    "v8": (
        "      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size\n",
        "      {at}/100      2.61G      {box}      0.5      0.25   201   640: {done}%|###| 8/8 [00:02]",
    ),
    "v11": (  # its own bar, since 2025
        "      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size\n",
        "      {at}/100         0G      {box}      0.5      0.25   201   640: {done}% ━━╸── 8/8 4.7s/it 2:13",
    ),
}


@pytest.mark.parametrize("version", YOLO)
def test_the_parts_of_yolos_loss_are_added_up(tmp_path: Path, version: str):
    heading, row = YOLO[version]
    validated = (
        "   Class     Images  Instances       P       R\n     all        128        929   0.643   0.537\n"
    )
    run = read(
        tmp_path,
        "".join(
            heading
            + "\r".join(
                row.format(at=at, box=9 if done < 100 else 2 - at / 4, done=done) for done in (25, 50, 100)
            )
            + "\n"
            + validated
            for at in range(4)
        ),
    )
    assert (run.steps.to_list(), losses(run)) == ([0, 1, 2, 3], [2.75, 2.5, 2.25, 2.0])
    assert [one.key for one in run.remarks] == ["summed"]


def test_one_part_is_taken_where_the_user_says_so(tmp_path: Path):
    heading, row = YOLO["v8"]
    (tmp_path / "log.txt").write_text(
        heading + "".join(row.format(at=at, box=2, done=100) + "\n" for at in range(3))
    )
    with called.called({"loss": "cls_loss"}):
        run = readers.read(tmp_path / "log.txt")
    assert (losses(run), [one.key for one in run.remarks]) == ([0.5] * 3, ["called"])


def test_spacys_older_table_counts_in_itn_and_adds_up_its_parts(tmp_path: Path):
    rows = "".join(
        f"{at:3d}  {90 / (1 + at):10.3f}  {9 / (1 + at):8.3f}  {80 + at:7.3f}\n" for at in range(4)
    )
    path = tmp_path / "train.log"
    path.write_text(f"Itn    Dep Loss  NER Loss      UAS\n---  ----------  --------  -------\n{rows}")
    run = readers.read(path)
    assert run.steps.to_list() == [0, 1, 2, 3]
    assert run["loss"].to_list() == [99.0, 49.5, 33.0, 24.75]


def test_spacys_epoch_and_step_have_a_sign_each(tmp_path: Path):
    run = read(
        tmp_path,
        "E    #       LOSS TOK2VEC  LOSS NER  ENTS_F  SCORE \n"
        "---  ------  ------------  --------  ------  ------\n"
        "  0       0          1.00     45.00    0.00    0.00\n"
        "  0     200          0.50     40.25    1.00    0.01\n",
    )
    assert (run.steps.to_list(), losses(run)) == ([0, 200], [46.0, 40.75])


def test_a_cell_that_says_what_it_counts(tmp_path: Path):
    rule = "+---------+--------+----------+\n"
    rows = "".join(f"| epoch {at} | 0.8{at} |  {0.6 - at / 10}  |\n" for at in (1, 2, 3))
    run = read(tmp_path, f"{rule}| # Epoch | AUROC | Val_loss |\n{rule}{rows}{rule}")
    assert run.steps.to_list() == [1, 2, 3]
    assert losses(run, "val_loss") == pytest.approx([0.5, 0.4, 0.3])


def test_a_box_that_rich_draws(tmp_path: Path):
    text = (
        "┏━━━━━━━┳━━━━━━━━━━━━┳━━━━━━━━━━┓\n"
        "┃ Epoch ┃ Train Loss ┃ Val Loss ┃\n"
        "┡━━━━━━━╇━━━━━━━━━━━━╇━━━━━━━━━━┩\n"
        "│     0 │       4.25 │      3.5 │\n│     1 │        nan │     3.25 │\n"
        "└───────┴────────────┴──────────┘\n"
    )
    run = read(tmp_path, text)
    assert (run.steps.to_list(), run.counts) == ([0, 1], "epochs")
    assert (losses(run), losses(run, "val_loss")) == ([4.25, "nan"], [3.5, 3.25])


def test_several_columns_between_the_bars_belong_to_the_set_above_them(tmp_path: Path):
    text = (
        "** start training here! **\n"
        "               |------- VALID --------|------- TRAIN --------|-- Accuracy --|---------|\n"
        "lr      epoch  | loss   top-1   top-2 | loss   top-1   top-2 | Current Best |   time  |\n"
        "--------------------------------------------------------------------------------------\n"
        "0.0001  0.0    | 3.5    80.713  97.29 | 4.25   73.364  90.87 |   80.71336   |  0 hr 28 min\n"
        "0.0001  1.0    | 3.25   85.420  98.58 | nan    77.322  94.06 |   85.42011   |  0 hr 55 min\n"
    )
    run = read(tmp_path, text)
    assert (run.steps.to_list(), run.counts) == ([0, 1], "epochs")
    assert (losses(run), losses(run, "val_loss")) == ([4.25, "nan"], [3.5, 3.25])
    assert run["train top-1"].to_list() == [73.364, 77.322]
    assert run["lr"].to_list() == [0.0001, 0.0001]


def test_a_heading_of_two_lines(tmp_path: Path):
    run = read(
        tmp_path,
        "|==========|\n|  Epoch  |  Iteration  |  Time Elapsed  |  Mini-batch  |  Base Learning  |\n"
        "|         |             |   (hh:mm:ss)   |     Loss     |      Rate       |\n|==========|\n"
        "|       1 |           1 |       00:00:01 |       2.5000 |          0.0100 |\n"
        "|       1 |          50 |       00:00:02 |       2.2500 |          0.0100 |\n",
    )
    assert (run.steps.to_list(), run.counts, losses(run)) == ([1, 50], "steps", [2.5, 2.25])


@pytest.mark.parametrize(
    "text",
    [
        "# epoch train_loss val_loss\n1 2.5 3.0\n2 2.25 2.75\n",
        "Epoch   Train Loss   Val Loss   Time\n-----\n1   2.5   3.0   0.55   s\n2   2.25   2.75   1.5   s\n",
    ],
)
def test_a_heading_that_is_a_comment_and_units_behind_the_numbers(tmp_path: Path, text: str):
    run = read(tmp_path, text)
    assert (run.steps.to_list(), run["loss"].to_list()) == ([1, 2], [2.5, 2.25])
    assert run["val_loss"].to_list() == [3.0, 2.75]


def test_errors_of_both_sets_as_deepmd_writes_them(tmp_path: Path):
    text = "#  step   rmse_val  rmse_trn  rmse_e_val  rmse_e_trn  lr\n"
    text += "".join(
        f"  {1000 * at}  {9 / at:.2e}  {8 / at:.2e}  1.0e-02  2.0e-02  1.0e-03\n" for at in (1, 2, 4)
    )
    run = read(tmp_path, text)
    assert (run.steps.to_list(), losses(run)) == ([1000, 2000, 4000], [8, 4, 2])
    assert losses(run, "val_loss") == [9, 4.5, 2.25]
    assert "loss = `rmse_trn`, val_loss = `rmse_val`" in next(
        one.says("en") for one in run.remarks if one.key == "guessed"
    )
    with called.called({"loss": "rmse_e_trn"}):
        assert set(losses(readers.read(run.path))) == {0.02}


@pytest.mark.parametrize(
    "text",
    [
        "epoch loss\nwe trained for three of them\n1 2\n",
        "epoch  accuracy\n0  0.5\n1  0.6\n2  0.7\n",
        "epoch  loss\n0  2.5\n",
        "The epoch and its loss are below\n1 2 3\n2 3 4\n",
    ],
)
def test_what_is_no_table_of_a_run(tmp_path: Path, text: str):
    (tmp_path / "log.txt").write_text(text)
    assert not [one for one in readers.sources(tmp_path / "log.txt") if one.format == "a printed table"]


@given(
    losses=st.lists(st.one_of(st.floats(-9, 9), st.just(math.nan)), min_size=2, max_size=9),
    between=st.sampled_from(["", "\n", "some words\n", "\x1b[31m\x1b[0m\n", "--- ---\n", "| | |\n", "é\n"]),
)
def test_whatever_stands_between_the_rows(tmp_path: Path, losses: list[float], between: str):
    rows = "".join(f"{at}   {loss!r}   0.5\n{between}" for at, loss in enumerate(losses))
    run = read(tmp_path, f"epoch   train_loss   accuracy\n{rows}")
    assert all(
        math.isnan(one) if math.isnan(told) else one == told
        for one, told in zip(run["loss"], losses, strict=True)
    )


def test_a_table_of_rewards_by_episode(tmp_path: Path):
    head = "Episode          Prey Reward      Predator Reward         Total Reward\n"
    rows = "".join(f"{at:<17} {100 - at:<20} {2 * at:<20} {100 + at}\n" for at in range(6))
    (tmp_path / "train_log.txt").write_text(head + rows)
    run = readers.read(tmp_path / "train_log.txt")
    assert run.steps.to_list() == [*range(6)]
    assert run["Total Reward"].to_list() == [100.0 + at for at in range(6)]


def test_a_mark_behind_the_best_row_is_no_cell(tmp_path: Path):
    mark = ("", " *")
    rows = "".join(
        f"{at:5d}   {3 - at / 10:.4f}   {3.2 - at / 10:.4f}   0.1s{mark[at % 2]}\n" for at in range(1, 9)
    )
    (tmp_path / "log.txt").write_text("Epoch   train_loss   val_loss   Time\n" + rows)
    run = readers.read(tmp_path / "log.txt")
    assert run["val_loss"].to_list() == [round(3.2 - at / 10, 4) for at in range(1, 9)]
