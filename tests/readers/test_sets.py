"""Several held-out sets in one log: their mean is the validation loss, and a remark names them."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.conftest import write_run
from tutor import readers
from tutor.readers.common.rows import table_of
from tutor.run import Run
from tutor.run.called import called

LIGHTNING = ("val_loss/dataloader_idx_0", "val_loss/dataloader_idx_1")


def read(tmp_path: Path, *rows: str) -> Run:
    log = tmp_path / "metrics.csv"
    log.write_text("\n".join(rows) + "\n")
    return readers.read(log)


def averaged(run: Run) -> list[object]:
    return [remark.facts["columns"] for remark in run.remarks if remark.key == "sets_averaged"]


@pytest.mark.parametrize(
    "sets", [LIGHTNING, ("val_near/loss", "val_far/loss"), ("eval/near/loss", "eval/far/loss")]
)
def test_their_mean_where_all_were_evaluated(tmp_path: Path, sets: tuple[str, str]):
    run = read(tmp_path, f"step,loss,{','.join(sets)}", "1,4,3,5", "2,3,,", "3,2,2,5", "4,2,,7")
    assert run["val_loss"].to_list() == [4.0, None, 3.5, None]
    assert averaged(run) == [f"`{sets[0]}`, `{sets[1]}`"]


def test_one_set_is_the_validation_loss(tmp_path: Path):
    run = read(tmp_path, "step,loss,val_near/loss", "1,4,3", "2,3,2")
    assert run["val_loss"].to_list() == [3.0, 2.0]
    assert [remark.key for remark in run.remarks] == ["guessed"]


def test_one_that_is_named_stands_alone(tmp_path: Path):
    with called({"val_loss": LIGHTNING[1]}):
        run = read(tmp_path, f"step,loss,{','.join(LIGHTNING)}", "1,4,3,5", "2,3,2,4")
    assert run["val_loss"].to_list() == [5.0, 4.0]
    assert not averaged(run)


def test_a_validation_loss_is_what_it_is(tmp_path: Path):
    run = read(tmp_path, "step,loss,val_loss,val_near/loss,val_far/loss", "1,4,1,3,5", "2,3,1,2,4")
    assert run["val_loss"].to_list() == [1.0, 1.0]
    assert not averaged(run)


def test_parts_of_an_evaluation_loss_are_no_sets(tmp_path: Path):
    run = read(tmp_path, "step,loss,eval_loss,eval_box_loss,eval_class_loss", "1,4,8,3,5", "2,3,6,2,4")
    assert run["val_loss"].to_list() == [8.0, 6.0]
    assert not averaged(run)


def test_sets_called_in_the_middle_of_a_name(tmp_path: Path):
    run = read(tmp_path, "step,train_loss,val_news_loss,val_chat_loss", "1,4,3,5", "2,3,2,5")
    assert (run["val_loss"].to_list(), averaged(run)) == ([4.0, 3.5], ["`val_news_loss`, `val_chat_loss`"])
    parts = read(tmp_path, "step,box_loss,cls_loss,val_box_loss,val_cls_loss", "1,4,3,5,2", "2,3,2,5,1")
    assert not averaged(parts)


def test_columns_of_text_are_no_losses(tmp_path: Path):
    run = read(
        tmp_path, "step,loss,eval_loss,eval_a_loss,eval_b_loss,val_c/loss", "1,4,8,x,y,z", "2,3,6,x,y,z"
    )
    assert run["val_loss"].to_list() == [8.0, 6.0]
    assert not read(tmp_path, "step,loss,val_c/loss", "1,4,z", "2,3,z").has("val_loss")


def test_a_score_of_a_set_is_no_loss(tmp_path: Path):
    run = read(tmp_path, "step,loss,val_acc/dataloader_idx_0,val_near/accuracy", "1,4,0.3,0.5", "2,3,0.4,0.6")
    assert not run.has("val_loss")


def test_trainers_evaluations_are_named_too(tmp_path: Path):
    log = tmp_path / "trainer_state.json"
    rows = [
        '{"step": 1, "loss": 3.0}', '{"step": 1, "eval_a_loss": 2.0}', '{"step": 1, "eval_b_loss": 4.0}',
        '{"step": 2, "loss": 2.0}', '{"step": 2, "eval_a_loss": 1.0}', '{"step": 2, "eval_b_loss": 5.0}',
    ]  # fmt: skip
    log.write_text(f'{{"global_step": 2, "log_history": [{", ".join(rows)}]}}')
    run = readers.read(log)
    assert run["val_loss"].drop_nulls().to_list() == [3.0, 3.0]
    assert averaged(run) == ["`eval_a_loss`, `eval_b_loss`"]


class TestRowsOfSets:
    """Rows that say of which data they are, in a column of words."""

    ROWS = (("train", 4.0), ("val", 4.5), ("train", 3.0), ("val", 4.25), ("train", 2.0), ("val", math.nan))

    def text(self, kind: str, words: Mapping[str, str]) -> str:
        rows = [(at // 2, words[name], loss) for at, (name, loss) in enumerate(self.ROWS)]
        if kind == "csv":
            return "epoch,phase,loss,lr\n" + "".join(f"{at},{word},{loss},0.1\n" for at, word, loss in rows)
        given = [{"epoch": at, "phase": word, "loss": loss, "lr": 0.1} for at, word, loss in rows]
        if kind == "json":
            return json.dumps(given)
        if kind == "jsonl":
            return "".join(json.dumps(row) + "\n" for row in given)
        return "phase  epoch  loss\n" + "".join(f"{word}  {at}  {loss}\n" for at, word, loss in rows)

    @pytest.mark.parametrize("kind", ["csv", "json", "jsonl", "log"])
    @pytest.mark.parametrize(
        "words", [{"train": "train", "val": "val"}, {"train": "Training", "val": "Validation"}]
    )
    def test_they_are_told_apart(self, tmp_path: Path, kind: str, words: Mapping[str, str]):
        path = tmp_path / f"log.{kind}"
        path.write_text(self.text(kind, words))
        run = readers.read(path)
        assert run["loss"].to_list() == [4.0, 3.0, 2.0]
        assert run["val_loss"][:2].to_list() == [4.5, 4.25]
        assert math.isnan(run["val_loss"][2])
        told = {one.key: one for one in run.remarks}
        assert "repeated" not in told
        if kind != "json":  # which knows groups
            assert told["of_sets"].facts["column"] == "`phase`"

    def test_a_folder_of_tutors_own_rows_too(self, tmp_path: Path):
        rows = [{"step": at // 2, "split": name, "loss": loss} for at, (name, loss) in enumerate(self.ROWS)]
        run = readers.read(write_run(tmp_path / "r", rows))
        assert run["loss"].to_list() == [4.0, 3.0, 2.0]
        assert run["val_loss"][:2].to_list() == [4.5, 4.25]

    @pytest.mark.parametrize(
        "phases", [("train", "train", "train"), ("warm-up", "train", "val"), ("1", "2", "val"), ("", "", "")]
    )
    def test_other_words_say_nothing(self, tmp_path: Path, phases: Sequence[str]):
        rows = "".join(f"{at},{phase},{4 - at}\n" for at, phase in enumerate(phases))
        (tmp_path / "log.csv").write_text(f"epoch,phase,loss\n{rows}")
        run = readers.read(tmp_path / "log.csv")
        assert (run["loss"].to_list(), run.has("val_loss")) == ([4.0, 3.0, 2.0], False)

    def test_what_held_for_each_row_and_what_says_its_set_already_stay(self, tmp_path: Path):
        text = "step,split,loss,val_acc,lr\n0,train,4,,0.1\n1,train,3,,0.2\n1,test,3.5,0.5,0.2\n"
        (tmp_path / "log.csv").write_text(text)
        run = readers.read(tmp_path / "log.csv")
        assert run.frame.columns == ["step", "loss", "val_loss", "val_acc", "lr"]
        assert (run["val_loss"].to_list(), run["lr"].to_list()) == ([None, 3.5], [0.1, 0.2])

    @pytest.mark.parametrize("kind", ["csv", "jsonl"])
    def test_names_that_say_epoch_or_rate_are_no_counters(self, tmp_path: Path, kind: str):
        rows = [
            {"epoch": at // 2, "phase": name, "epoch_loss": loss, "error_rate": loss / 10}
            for at, (name, loss) in enumerate(self.ROWS)
        ]
        lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
        text = lines if kind == "csv" else map(json.dumps, rows)
        (tmp_path / f"log.{kind}").write_text("\n".join(text) + "\n")
        run = readers.read(tmp_path / f"log.{kind}")
        assert (run["loss"].to_list(), run["val_loss"][:2].to_list()) == ([4.0, 3.0, 2.0], [4.5, 4.25])
        assert run["error_rate"].to_list() == [0.4, 0.3, 0.2]

    def test_the_set_may_stand_in_any_column_of_a_printed_table(self, tmp_path: Path):
        rows = "".join(f"{at // 2}  {name}  {loss}\n" for at, (name, loss) in enumerate(self.ROWS))
        (tmp_path / "log.txt").write_text(f"epoch  phase  loss\n{rows}")
        run = readers.read(tmp_path / "log.txt")
        assert (run["loss"].to_list(), run["val_loss"][:2].to_list()) == ([4.0, 3.0, 2.0], [4.5, 4.25])

    def test_held_out_rows_that_count_themselves_stand_where_training_had_come_to(self, tmp_path: Path):
        rows = [{"step": at, "split": "train", "loss": 9.0 - at} for at in range(1, 7)]
        rows.insert(6, {"step": 2, "split": "val", "loss": 4.25})
        rows.insert(3, {"step": 1, "split": "val", "loss": 4.5})
        run = readers.read(write_run(tmp_path / "r", rows))
        assert run["loss"].to_list() == [8.0, 7.0, 6.0, 5.0, 4.0, 3.0]
        assert run.logged("val_loss").steps.to_list() == [3, 6]

    def test_a_log_that_grows_by_its_first_evaluation(self, tmp_path: Path):
        rows = [{"step": at, "split": "train", "loss": 9.0 - at / 10} for at in range(20)]
        folder = write_run(tmp_path / "r", rows)
        before = readers.read(folder)
        with (folder / "metrics.jsonl").open("a") as log:
            log.write(json.dumps({"step": 20, "split": "val", "loss": 4.5}) + "\n")
            log.write(json.dumps({"step": 20, "split": "train", "loss": 7.0}) + "\n")
        [source] = readers.sources(folder)
        run = source.read(before)
        assert (run["loss"][20], run["val_loss"][20]) == (7.0, 4.5)

    def test_a_row_without_a_number_says_nothing_of_the_next(self):
        rows = [
            {"split": "val"},
            {"loss": 3.0},
            {"loss": 2.0, "split": "train"},
            {"loss": 2.5, "split": "val"},
        ]
        table = table_of(rows, [])
        assert table["loss"].to_list() == [3.0, 2.0, None]
        assert table["val_loss"].to_list() == [None, None, 2.5]
