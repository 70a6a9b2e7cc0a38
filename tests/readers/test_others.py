"""Logs of other tools: each format's own traps, in small logs of its shape.

What lies in `fixtures` was written by the libraries themselves: tensorboard 2, wandb 0.31, mlflow 3.
Databases are in `test_databases.py`.
"""

import json
import math
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.readers.texts import TEXTS
from tutor import readers
from tutor.readers.common import formats
from tutor.readers.common.lines import LONGEST
from tutor.readers.common.rows import run_of
from tutor.run import Aggregation, BadRunError, Run, called, limits, names

FIXTURES = Path(__file__).parent / "fixtures"


def read(tmp_path: Path, text: str, name: str = "log.txt") -> Run:
    (tmp_path / name).write_text(text)
    return readers.read(tmp_path / name)


def losses(run: Run, signal: str = "loss") -> list[float | str | None]:
    """NaN as a word, so that lists can be compared."""
    return ["nan" if one is not None and math.isnan(one) else one for one in run[signal].to_list()]


@pytest.mark.parametrize("name", TEXTS)
def test_a_log_of_text_with_a_nan_in_it(tmp_path: Path, name: str):
    run = read(tmp_path, TEXTS[name])
    trained = run.logged("loss")
    assert losses(trained) == [4.25, "nan"]
    assert trained.steps.to_list() in ([0, 10], [1, 2])
    if "val" in TEXTS[name]:
        assert run["val_loss"].drop_nulls().to_list() == [3.5]
    if "norm" in TEXTS[name] and name != "modded-nanogpt":
        assert run["grad_norm"][0] == 1.5


class TestTrainer:
    def state(self, tmp_path: Path, history: list[dict], *, indent: int | None = 2) -> Run:
        folder = tmp_path / "checkpoint-40"
        folder.mkdir()
        text = json.dumps({"best_metric": None, "log_history": history, "max_steps": 40}, indent=indent)
        (folder / "trainer_state.json").write_text(text)
        return readers.read(folder)

    def test_training_and_evaluation_share_a_step(self, tmp_path: Path):
        run = self.state(
            tmp_path,
            [
                {"step": 10, "loss": 2.0, "grad_norm": 1.0, "learning_rate": 1e-4, "epoch": 0.1},
                {"step": 10, "eval_loss": 2.5, "epoch": 0.1},
                {"step": 20, "loss": 1.5, "grad_norm": math.nan, "learning_rate": 1e-4},
                {"step": 20, "train_loss": 1.0, "train_runtime": 3.0},
            ],
        )
        assert run.name == "checkpoint-40"
        assert run.steps.to_list() == [10, 20]
        assert run["val_loss"].to_list() == [2.5, None]
        assert losses(run, "grad_norm") == [1.0, "nan"]
        assert run["loss"].to_list() == [2.0, 1.5]
        assert run.aggregation("loss") == Aggregation("window", shows_nan=False)
        assert "nan_hidden" in [remark.key for remark in run.remarks]

    @pytest.mark.parametrize(
        ("rows", "loss"),
        [
            ([(2.0, 1.0), (0.0, math.nan), (0.0, math.inf)], [2.0, "nan", "nan"]),
            ([(2.0, 1.0), (0.0, 1.0), (0.0, math.nan)], [2.0, 0.0, 0.0]),  # a 0 that is one
            ([(2.0, 1.0), (1.5, math.nan), (1.0, 1.0)], [2.0, 1.5, 1.0]),
        ],
    )
    def test_a_loss_of_0_beside_a_norm_that_is_none_is_what_the_trainer_makes_of_nan(
        self, tmp_path: Path, rows: list[tuple[float, float]], loss: list[object]
    ):
        history = [
            {"step": at, "loss": value, "grad_norm": norm, "learning_rate": 1e-4}
            for at, (value, norm) in enumerate(rows, 1)
        ]
        run = self.state(tmp_path, history)
        assert losses(run) == loss
        revealed = "nan" in loss
        assert run.aggregation("loss").shows_nan is revealed
        assert ("nan_as_zero" in [one.key for one in run.remarks]) is revealed

    def test_of_several_sets_the_mean_and_not_the_best_checkpoint_again(self, tmp_path: Path):
        rows = [{"step": 10, "eval_a_loss": 2.0, "eval_b_loss": 3.0}, {"step": 10, "eval_a_loss": 1.0}]
        run = self.state(tmp_path, [{"step": 10, "loss": 2.0}, *rows])
        assert run["val_loss"].to_list() == [2.5]

    def test_what_a_metric_of_evaluate_returned_are_columns(self, tmp_path: Path):
        metrics = {"eval_accuracy": {"accuracy": 0.5}, "eval_seq": {"f1": 0.25, "recall": 0.75}}
        run = self.state(tmp_path, [{"step": 10, "loss": 2.0}, {"step": 10, "eval_loss": 2.5, **metrics}])
        assert run["eval_accuracy"].to_list() == [0.5]
        assert (run["eval_seq/f1"].to_list(), run["eval_seq/recall"].to_list()) == ([0.25], [0.75])

    def test_a_summary_alone_is_a_row(self, tmp_path: Path):
        run = self.state(tmp_path, [{"step": 20, "train_loss": 1e11, "train_runtime": 3.0}])
        assert run["loss"].to_list() == [1e11]
        assert "only_summary" in [remark.key for remark in run.remarks]

    @pytest.mark.parametrize("indent", [None, 19])
    def test_its_history_as_python_prints_it(self, tmp_path: Path, indent: int | None):
        rows = [
            row
            for at in (1, 2, 3)
            for row in (
                {"loss": 3.5 - at, "learning_rate": 1e-4, "epoch": float(at), "step": 40 * at},
                {"eval_loss": 4.5 - at, "eval_runtime": 0.5, "epoch": float(at), "step": 40 * at},
            )
        ]
        printed = (
            "["
            + ",\n".join(
                str(row).replace(", 'epoch'", f",\n{' ' * indent}'epoch'" if indent else ", 'epoch'")
                for row in rows
            )
            + "]"
        )
        run = read(tmp_path, printed, "history.txt")
        assert (run.steps.to_list(), run["loss"].to_list()) == ([40, 80, 120], [2.5, 1.5, 0.5])
        assert run["val_loss"].to_list() == [3.5, 2.5, 1.5]
        if indent is None:  # with more behind it, it is lines
            behind = read(tmp_path, printed + "\nTraining finished.\n", "history.txt")
            assert behind["loss"].to_list() == [2.5, 1.5, 0.5]
        cut = read(tmp_path, printed[: printed.rindex("{'eval") + 15], "history.txt")
        assert (cut["val_loss"].drop_nulls().to_list(), cut.unseen) == ([3.5, 2.5], True)

    def test_what_was_printed_of_evaluations_alone_is_a_run_too(self, tmp_path: Path):
        evaluated = "{'eval_loss': nan, 'eval_runtime': 107.7, 'epoch': 1.0}\n"
        summed = "{'train_runtime': 993.8, 'train_loss': 6.03, 'epoch': 1.0}\n"
        run = read(tmp_path, evaluated + summed)
        assert (run.steps.to_list(), math.isnan(run["val_loss"][0])) == ([1], True)
        twice = read(tmp_path, evaluated.replace("nan", "2.5") + evaluated.replace("nan", "2.25"))
        assert (twice.steps.to_list(), twice["val_loss"].to_list()) == ([1, 2], [2.5, 2.25])

    def test_a_loop_of_its_own_may_print_what_an_evaluation_returned(self, tmp_path: Path):
        text = "".join(f"step {at} loss {loss}\n" for at, loss in ((10, 1.5), (20, 1.25), (30, "nan")))
        run = read(tmp_path, text + "final: {'eval_loss': 0.6}\n")
        assert run.steps.to_list()[:3] == [10, 20, 30]
        assert math.isnan(run["loss"][2])

    def test_what_an_overflow_skipped_is_counted_beside_what_is_printed(self, tmp_path: Path):
        over = "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: {}, reducing to {}\n"
        text = "{'loss': 2.5, 'epoch': 0.1}\n" + over.format(8, 4) + "{'loss': 2.0, 'epoch': 0.2}\n"
        run = read(tmp_path, text + over.format(4, 2) + over.format(2, 1) + "{'eval_loss': 2.25}\n")
        assert run.steps.to_list() == [1, 2, 3, 4]
        assert run["loss"].to_list() == [2.5, 2.0, None, None]
        assert run["loss_scale"].to_list() == [None, 4, 2, 1]
        assert run["skipped_steps"].to_list() == [0, 1, 2, 3]
        assert run["val_loss"].to_list() == [None, None, None, 2.25]
        assert [remark.key for remark in run.remarks] == ["rows_counted", "nan_hidden"]

    def test_its_rows_are_counted_and_not_their_updates(self, tmp_path: Path):
        text = "".join(f"{{'loss': {3 - at / 40}, 'epoch': {at / 10}}}\n" for at in range(1, 61))
        (tmp_path / "log.txt").write_text(text)
        run = readers.read(tmp_path / "log.txt")
        assert (run.counts, run.by_row, len(run)) == ("rows", True, 60)

    def test_on_one_line(self, tmp_path: Path):
        assert (
            len(self.state(tmp_path, [{"step": 1, "loss": 2.0}, {"step": 2, "loss": 1.0}], indent=None)) == 2
        )

    def test_of_a_cut_one_the_whole_rows_are_kept(self, tmp_path: Path):
        rows = [{"step": step, "loss": 2.0, "note": 'a "['} for step in (1, 2, 3)]
        text = json.dumps({"best_metric": None, "log_history": rows, "max_steps": 40}, indent=2)
        run = read(tmp_path, text[: text.index('"step": 3') + 12], "trainer_state.json")
        assert run.steps.to_list() == [1, 2]
        assert ("cut_off", {"step": 2}) in [(one.key, one.facts) for one in run.remarks]
        assert run.unseen  # what came after may hold a flaw

    @pytest.mark.parametrize(
        "text", ['{"log_history": [{"step": 1,', '{"log_history": [', "{", '{"log_history": [1}']
    )
    def test_one_without_a_whole_row_is_told(self, tmp_path: Path, text: str):
        with pytest.raises(BadRunError, match=r"was it cut|no run that tutor can read|no row with numbers"):
            read(tmp_path, text, "trainer_state.json")

    @given(cut=st.integers(0, 400))
    def test_wherever_it_is_cut_no_row_is_made_up(self, tmp_path: Path, cut: int):
        rows = [{"step": step, "loss": step + 0.25, "epoch": step / 4} for step in range(1, 7)]
        text = json.dumps({"best_metric": None, "log_history": rows, "max_steps": 40})
        try:
            run = read(tmp_path, text[:cut], "trainer_state.json")
        except BadRunError:
            return
        assert run["loss"].to_list() == [row["loss"] for row in rows[: len(run)]]


class TestCheckpoints:
    """Several checkpoints in a folder: of one run where each holds what the one before it does."""

    ROWS = tuple({"step": step, "loss": 4.0 - step / 10, "grad_norm": math.nan} for step in range(1, 7))

    def saved(self, folder: Path, at: int, rows: tuple[dict, ...] = ROWS) -> None:
        folder.joinpath(f"checkpoint-{at}").mkdir(parents=True, exist_ok=True)
        text = json.dumps({"log_history": rows[:at], "max_steps": 6})
        folder.joinpath(f"checkpoint-{at}", "trainer_state.json").write_text(text)

    def test_the_longest_tells_the_run(self, tmp_path: Path):
        for at in (2, 4):
            self.saved(tmp_path / "out", at)
        run = readers.read(tmp_path / "out")
        assert (run.name, run.path, len(run)) == ("out", tmp_path / "out", 4)
        assert len(readers.read(tmp_path / "out" / "checkpoint-2")) == 2  # named itself, it is what it is

    def test_another_history_is_another_run(self, tmp_path: Path):
        self.saved(tmp_path, 2)
        self.saved(tmp_path, 4, tuple({**row, "loss": 1.0} for row in self.ROWS))
        assert len(readers.sources(tmp_path)) == 2
        self.saved(tmp_path, 6)
        assert [source.path.parent.name for source in readers.sources(tmp_path)] == [
            "checkpoint-4",
            "checkpoint-6",
        ]

    def test_the_last_state_above_them_is_of_the_same_run(self, tmp_path: Path):
        self.saved(tmp_path, 2)
        (tmp_path / "trainer_state.json").write_text(json.dumps({"log_history": self.ROWS}))
        assert [len(source.read()) for source in readers.sources(tmp_path)] == [6]

    def test_a_run_beside_the_last_state_is_another(self, tmp_path: Path):
        (tmp_path / "trainer_state.json").write_text(json.dumps({"log_history": self.ROWS}))
        for folder, rows in (
            ("best", self.ROWS[:3]),
            ("lr1e-3", [{**row, "loss": 9.0} for row in self.ROWS]),
        ):
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "trainer_state.json").write_text(json.dumps({"log_history": rows}))
        found = readers.sources(tmp_path)
        assert [source.path.parent.name for source in found] == [tmp_path.name, "lr1e-3"]
        assert [source.read()["loss"][0] for source in found] == [3.9, 9.0]

    def test_one_that_is_being_written_hides_no_other(self, tmp_path: Path):
        for at in (2, 4):
            self.saved(tmp_path, at)
        (tmp_path / "checkpoint-4" / "trainer_state.json").write_text('{"log_hist')
        assert len(readers.read(tmp_path)) == 2

    def test_in_a_run_folder_of_tutor_they_are_not_its_run(self, tmp_path: Path):
        self.saved(tmp_path, 2)
        (tmp_path / "metrics.jsonl").write_text('{"step": 0, "loss": 2.0}\n')
        assert readers.read(tmp_path).steps.to_list() == [0]

    def test_what_the_last_of_them_says_of_the_configuration(self, tmp_path: Path):
        for at in (2, 4):
            self.saved(tmp_path, at)
            (tmp_path / f"checkpoint-{at}" / "config.json").write_text(json.dumps({"vocab_size": 100 * at}))
        assert readers.read(tmp_path).manifest.vocab_size == 400


class TestMegatron:
    LINE = (
        " iteration {:8}/    1000 | learning rate: 1.0E-04 |{} loss scale: {} | {} "
        "number of skipped iterations: {:3} |\n"
    )

    def test_where_the_loss_is_missing_the_step_was_skipped_or_not_finite(self, tmp_path: Path):
        text = self.LINE.format(10, " lm loss: 4.5E+00 |", "65536.0", "grad norm: 2.5 |", 0)
        text += "[default7]:" + self.LINE.format(20, "", "32768.0", "", 10)
        text += self.LINE.format(30, " lm loss: 4.0E+00 |", "32768.0", "grad norm: 0.000 |", 1)
        text += " validation loss at iteration 30 | lm loss value: 4.25 | lm loss PPL: 70.1 |\n"
        run = read(tmp_path, text)
        assert run["loss"].to_list() == [4.5, None, 4.0]
        assert run["skipped_steps"].to_list() == [0, 10, 11]
        assert run["loss_scale"].to_list() == [65536, 32768, 32768]
        assert run["grad_norm"].to_list() == [2.5, None, None]  # 0.000 is what it prints for "not computed"
        assert run["val_loss"].to_list() == [None, None, 4.25]

    def test_its_arguments_above_the_first_row_are_the_runs_settings(self, tmp_path: Path):
        text = "------------------------ arguments ------------------------\n"
        for name, value in {
            "clip_grad": "1.0",
            "fp16": "True",
            "adam_beta2": "0.95",
            "lr": "0.00015",
        }.items():
            text += f"  {name} {'.' * (48 - len(name))} {value}\n"
        text += "0:  lr_decay_iters ....... 800......default\n  lr_decay_style ....... cosine\n"
        text += "  lr_warmup_fraction ....... 0.01\n  train_iters ....... 1000\n"
        text += "-------------------- end of arguments ---------------------\n"
        text += " > padded vocab (size: 50257) with 431 dummy tokens (new size: 50688)\n"
        text += self.LINE.format(10, " lm loss: 4.5E+00 |", "65536.0", "grad norm: 2.5 |", 0)
        run = readers.read(self.written(tmp_path, text))
        facts = {name: fact.value for name, fact in run.origins.items()}
        assert facts == {
            **{"vocab_size": 50688, "grad_clip": 1.0, "dtype": "fp16", "beta2": 0.95, "lr_max": 0.00015},
            **{"schedule": "cosine", "schedule_steps": 800, "warmup_steps": 8},
        }

    def test_deepspeed_beneath_it_is_left_to_it(self, tmp_path: Path):
        text = "[Rank 0] step=10, skipped=0, lr=[0.0001], mom=[(0.9, 0.95)]\n"
        text += self.LINE.format(10, " lm loss: 4.5E+00 |", "1.0", "grad norm: 2.5 |", 0)
        assert readers.read(self.written(tmp_path, text))["loss"].to_list() == [4.5]

    @pytest.mark.parametrize("width", [80, 100, 132])
    def test_rows_that_a_terminal_has_wrapped_are_whole_again(self, tmp_path: Path, width: int):
        rows = [
            self.LINE.format(step, f" lm loss: {9 - step / 10} |", "1.0", f"grad norm: {step}.5 |", 0)
            for step in (10, 20, 30)
        ]
        wrapped = (row[at : at + width].rstrip("\n") for row in rows for at in range(0, len(row), width))
        run = read(tmp_path, "\n".join(line for line in wrapped if line) + "\ntime (ms) | forward: 9.1\n")
        assert run["loss"].to_list() == [8, 7, 6]
        assert run["grad_norm"].to_list() == [10.5, 20.5, 30.5]

    def test_rows_that_end_early_stay_apart(self, tmp_path: Path):
        text = " iteration 1/ 9 | lm loss: 2.0 | grad norm: 1.5 |\n iteration 2/ 9 | lm loss: 1.0 |\n"
        assert read(tmp_path, text)["loss"].to_list() == [2, 1]

    def written(self, tmp_path: Path, text: str) -> Path:
        (tmp_path / "out").write_text(text)
        return tmp_path / "out"


def test_nanogpts_loss_of_training_is_the_evaluated_one_where_there_is_no_other(tmp_path: Path):
    evaluated = "step 0: train loss 4.2, val loss 4.3\nstep 500: train loss 2.1, val loss 2.5\n"
    run = read(tmp_path, evaluated)
    assert (run["loss"].to_list(), run["val_loss"].to_list()) == ([4.2, 2.1], [4.3, 2.5])
    run = read(
        tmp_path, evaluated + "500 | loss 2.0 | lr 3e-04 | 13597.70ms\n510 | loss 1.5 | lr 2e-04 | 9.1ms\n"
    )
    assert run["loss"].to_list() == [None, 2.0, 1.5]
    assert run["lr"].to_list() == [None, 3e-4, 2e-4]


def test_deepspeed(tmp_path: Path):
    text = "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768\n" * 2
    text += "[Rank 0] step=10, skipped=1, lr=[0.0001, 0.0001], mom=[(0.9, 0.95)]\n"
    text += "[Rank 0] step=20, skipped=1, lr=[0.0002, 0.0002], mom=[(0.9, 0.95)]\n"
    run = read(tmp_path, text)
    assert run.steps.to_list() == [10, 20]
    assert run["skipped_steps"].to_list() == [1, 1]
    assert run["loss_scale"].to_list() == [32768, 32768]
    assert run["lr"].to_list() == [0.0001, 0.0002]


def test_deepspeed_above_the_loss_of_its_tutorial(tmp_path: Path):
    step = (
        "[Rank 0] step={}, skipped=1, lr=[0.1], mom=[(0.9, 0.999)]\n[timer.py] RunningAvgSamplesPerSec=9.5\n"
    )
    said = "2024-01-01 10:00:00.000 | INFO | __main__:log_dist:54 - [Rank 0] Loss: {}\n"
    run = read(
        tmp_path, "".join(step.format(10 * at) + said.format(4 / at) for at in (1, 2)) + step.format(30)
    )
    assert run.steps.to_list() == [10, 20, 30]
    assert run["loss"].to_list() == [4.0, 2.0, None]


def test_a_held_out_loss_below_it_is_none_of_training(tmp_path: Path):
    step = "[Rank 0] step={}, skipped=0, lr=[0.1], mom=[(0.9, 0.999)]\n"
    run = read(tmp_path, "".join(step.format(at) + f"[Rank 0] Validation loss: {4 / at}\n" for at in (1, 2)))
    assert not run.has("loss")


def test_rows_of_json_below_empty_ones(tmp_path: Path):
    """MMDetection's runner writes one for each start, with its settings in it or nothing."""
    rows = "".join(
        f'{{"mode": "train", "epoch": 1, "iter": {10 * at}, "loss": {4 - at}}}\n' for at in range(3)
    )
    assert read(tmp_path, "{}\n{}\n" + rows, "None.log.json")["loss"].to_list() == [4.0, 3.0, 2.0]


def test_deepspeed_beside_what_a_loop_prints(tmp_path: Path):
    """The engine prints no loss: that of the loop's own lines counts, as DeepSpeed-Chat's do."""
    engine = "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768\n"
    engine += "[Rank 0] step=10, skipped=1, lr=[0.0001, 0.0001], mom=[(0.9, 0.95)]\n"
    own = "".join(f"Epoch: 0, Step: {at}, Rank: 0, loss = {4 - at / 8}\n" for at in range(8))
    run = read(tmp_path, f"{engine}{own}***** Evaluating perplexity, Epoch 1/1 *****\nppl: {math.exp(3)}\n")
    assert losses(run) == [4 - at / 8 for at in range(8)]
    assert run["val_loss"].drop_nulls().to_list() == pytest.approx([3])
    assert run["loss_scale"][-1] == 32768
    run = read(
        tmp_path, f"{engine}{own}***** Evaluating perplexity, Epoch 1/1 *****\nppl: 20.1, loss: 3.25\n"
    )
    assert (losses(run)[-1], run["val_loss"].drop_nulls().to_list()) == (3.125, [3.25])


class TestBits:
    """fairseq's loss: in bits where the perplexity beside it is 2 to the loss."""

    ROW = '| INFO | train_inner | {{"loss": "{}", {}"ppl": "{}", "num_updates": "{}"}}\n'
    HELD_OUT = '| INFO | valid | {{"valid_loss": "{}", "valid_ppl": "{}", "valid_num_updates": "{}"}}\n'

    def test_it_is_read_in_nats(self, tmp_path: Path):
        text = self.ROW.format(16.5, "", "92681.9", 1) + self.ROW.format(10.0, "", "1024.02", 2)
        run = read(tmp_path, text + self.HELD_OUT.format(9.0, "512.01", 2))
        assert run["loss"].to_list() == pytest.approx([16.5 * math.log(2), 10 * math.log(2)])
        assert run["val_loss"].to_list() == [None, pytest.approx(9 * math.log(2))]
        assert "in_bits" in [remark.key for remark in run.remarks]

    def test_a_smoothed_loss_has_the_perplexity_of_the_other(self, tmp_path: Path):
        run = read(tmp_path, self.ROW.format(12.0, '"nll_loss": "10.0", ', "1024", 1))
        assert run["loss"].to_list() == pytest.approx([12 * math.log(2)])
        assert "nll_loss" not in run.frame.columns

    def test_in_the_plain_format(self, tmp_path: Path):
        line = "| INFO | train_inner | epoch 001: 1 / 9 loss=10, ppl=1024, num_updates=1, lr=2e-05\n"
        assert read(tmp_path, line)["loss"].to_list() == pytest.approx([10 * math.log(2)])

    @pytest.mark.parametrize("ppl", ["22026.5", "inf", "1.0"])  # e to the loss; too large; too small
    def test_what_cannot_be_told_is_left(self, tmp_path: Path, ppl: str):
        run = read(tmp_path, self.ROW.format(10.0, "", ppl, 1))
        assert run["loss"].to_list() == [10.0]
        assert "in_bits" not in [remark.key for remark in run.remarks]


def test_overflows_of_fairseq_are_counted(tmp_path: Path):
    row = '| train_inner | {{"loss": "{}", "num_updates": "{}"}}\n'
    note = "NOTE: gradient overflow detected, ignoring gradient, setting loss scale to: 64.0\n"
    run = read(tmp_path, row.format(3.0, 1) + note * 2 + row.format(2.0, 2) + note + row.format(1.0, 3))
    assert run["skipped_steps"].to_list() == [None, 2, 3]
    assert not run.aggregation("loss").shows_nan


def test_the_progress_bar_of_llama_cpp_counts_on_over_the_epochs(tmp_path: Path):
    bar = "{}: [===>   ] data=000000{}/0000004 loss={} acc=1.00±0.10% \r"
    epoch = "".join(bar.format("train", seen, 4.0 - seen) for seen in (2, 4))
    epoch += "".join(bar.format("val", seen, 3.0 + seen) for seen in (2, 4)) + "\n"
    run = read(tmp_path, epoch * 2)
    assert run.steps.to_list() == [2, 4, 6, 8]
    assert run["loss"].to_list() == [2.0, 0.0, 2.0, 0.0]
    assert run["val_loss"].to_list() == [None, 7.0, None, 7.0]
    assert run.aggregation("loss") == Aggregation("running")
    assert "averaged" in [remark.key for remark in run.remarks]


def test_a_file_of_validation_alone_of_build_nanogpt(tmp_path: Path):
    run = read(tmp_path, "0 val 10.95\n250 val 6.5\n250 hella 0.25\n500 val 5.5\n")
    assert (run.steps.to_list(), run["val_loss"].to_list()) == ([0, 250, 500], [10.95, 6.5, 5.5])


@pytest.mark.parametrize("name", [*TEXTS, "run-offline.wandb", "events.out.tfevents.1700000000.host.1.0"])
def test_standard_input_is_recognised_without_a_name(tmp_path: Path, name: str):
    data = TEXTS[name].encode() if name in TEXTS else (FIXTURES / name).read_bytes()
    (tmp_path / "standard input").write_bytes(data)
    assert len(readers.every(str(tmp_path / "standard input"))) == 1


def test_json_by_other_names(tmp_path: Path):
    rows = [{"current_steps": 10, "loss": 2.0, "lr": 0.1}, {"current_steps": 20, "total_steps": 20}]
    run = read(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "trainer_log.jsonl")
    assert (run.steps.to_list(), run["loss"].to_list()) == ([10, 20], [2.0, None])
    run = read(
        tmp_path, '{"train_lr": 0.1, "train_loss": 2.0, "epoch": 0}\n{"train_loss": 1.0, "epoch": 1}\n'
    )
    assert run["loss"].to_list() == [2.0, 1.0]


class TestCsv:
    def test_lightnings_sparse_rows(self, tmp_path: Path):
        text = "epoch,lr-AdamW,step,train_loss_epoch,train_loss_step,val_loss\n"
        text += "0,,49,,2.5,\n0,0.1,49,,,\n0,,99,,nan,\n0,,99,2.2,,2.75\n"
        run = read(tmp_path, text, "metrics.csv")
        assert run.steps.to_list() == [49, 99]
        assert losses(run) == [2.5, "nan"]
        assert run["val_loss"].to_list() == [None, 2.75]
        assert run["lr"].to_list() == [0.1, None]

    def test_lightnings_means_where_it_logged_fewer_single_steps(self, tmp_path: Path):
        text = "epoch,step,train_loss_epoch,train_loss_step\n0,35,2.5,\n1,49,,2.25\n1,71,2.0,\n"
        run = read(tmp_path, text, "metrics.csv")
        assert run.logged("loss")["loss"].to_list() == [2.5, 2.0]
        assert run.aggregation("loss").over == "window"
        assert run["train_loss_step (single steps)"].drop_nulls().to_list() == [2.25]
        with called.called({"loss": "train_loss_step"}):
            assert readers.read(tmp_path / "metrics.csv").logged("loss")["loss"].to_list() == [2.25]

    def test_lightnings_evaluations_count_their_own_batches(self, tmp_path: Path):
        text = "epoch,step,train_loss_step,val_loss_epoch,val_loss_step\n,0,,,3.0\n"  # tried before training
        text += "0,9,2.5,,\n,0,,,2.9\n,1,,,2.7\n0,9,,2.8,\n1,19,2.25,,\n,2,,,2.5\n,3,,,2.3\n1,19,,2.4,\n"
        run = read(tmp_path, text, "metrics.csv")
        assert run.steps.to_list() == [9, 19]
        assert (run["loss"].to_list(), run["val_loss"].to_list()) == ([2.5, 2.25], [2.8, 2.4])
        assert not run.before and not run.remarks

    def test_keras(self, tmp_path: Path):
        run = read(tmp_path, "epoch,accuracy,loss,val_loss\n0,0.5,2.5,2.75\n1,0.5,2.0,NA\n", "training.csv")
        assert run["val_loss"].to_list() == [2.75, None]

    def test_an_export_of_one_run(self, tmp_path: Path):
        header = ",".join(f'"a - b - train/loss{kind}"' for kind in ("", "__MIN", "__MAX"))
        text = f'"Step",{header}\n"4","2.5","2.5","2.5"\n'
        run = read(tmp_path, text, "wandb.csv")
        assert (run.name, run.steps.to_list(), run["loss"].to_list()) == ("a - b", [4], [2.5])


def test_a_column_for_each_row_is_not_followed_for_ever(tmp_path: Path):
    lines = "".join(f"{{'loss': 1.0, 'k{row}': 1.0}}\n" for row in range(3000))
    run = read(tmp_path, lines)
    assert len(run) == 3000
    assert len(run.frame.columns) <= limits.COLUMNS + 1
    assert "too_many" in [remark.key for remark in run.remarks]


def test_many_rows_take_no_more_time_each(tmp_path: Path):
    began = process_time()
    assert len(run_of(({"step": i, "loss": 1.0} for i in range(200_000)), tmp_path)) == 200_000
    assert process_time() - began < 15  # 1 s; far more where each row costs as much as all before it


def test_of_a_line_without_end_the_beginning_is_looked_at(tmp_path: Path):
    text = TEXTS["llm.c"] + "s:20 trl:2.0 lr:0.1 " + "train_inner | {" * 100_000 + "\ns:30 trl:1.0 lr:0.1\n"
    run = read(tmp_path, text)
    assert run.steps.to_list() == [0, 10, 20, 30]
    text = TEXTS["nanogpt"] + "x" * LONGEST + " iter 20: loss 2.0\n" + "x" * 99 + " iter 30: loss 1.0\n"
    assert read(tmp_path, text).steps.to_list() == [0, 10, 30]  # only so much of a line is looked at


class TestBinary:
    def test_tensorboard(self):
        run = readers.read(FIXTURES / "events.out.tfevents.1700000000.host.1.0")
        assert run.steps.to_list() == [0, 10, 20, 30, 40]
        assert [round(one, 4) for one in run["loss"]] == [3.0, 2.6, 2.2, 1.8, 1.4]
        assert [round(one, 4) for one in run["val_loss"]] == [3.25, 2.85, 2.45, 2.05, 1.65]
        assert losses(run, "grad_norm") == [0.5, 0.5, 0.5, "nan", 0.5]

    def test_wandb_counts_by_the_trainers_step(self):
        run = readers.read(FIXTURES / "run-offline.wandb")
        assert run.steps.to_list() == [0, 10, 20, 30, 40]
        assert losses(run, "grad_norm") == [0.5, 0.5, 0.5, "nan", 0.5]
        assert run["val_loss"].to_list() == [None, None, 2.5, None, None]
        assert run["loss"].to_list() == [3.0, 2.6, 2.2, 1.8, 1.4]

    @pytest.mark.parametrize("name", ["events.out.tfevents.1700000000.host.1.0", "run-offline.wandb"])
    @pytest.mark.parametrize("kept", [0.2, 0.5, 0.9])
    def test_cut_anywhere_what_is_whole_is_kept(self, tmp_path: Path, name: str, kept: float):
        data = (FIXTURES / name).read_bytes()
        (tmp_path / name).write_bytes(data[: int(kept * len(data))])
        try:
            run = readers.read(tmp_path / name)
        except BadRunError as error:
            assert kept < 0.5, error
        else:
            assert set(run.steps) <= {0, 10, 20, 30, 40}

    def test_mlflow(self):
        run = readers.read(FIXTURES / "mlruns")
        assert run.steps.to_list() == [0, 10, 20, 30, 40]
        assert losses(run, "val_loss") == [None, None, "nan", None, None]
        assert run["lr"].to_list() == [0.1] * 5

    @pytest.mark.parametrize("line", ["9 {value}", "9 {value} {step}", "9 {value} {step} data 0f0f"])
    def test_mlflows_lines_of_two_three_or_five_fields(self, tmp_path: Path, line: str):
        metrics = tmp_path / "mlruns" / "0" / "0f0f" / "metrics"
        metrics.mkdir(parents=True)
        (metrics.parent / "meta.yaml").write_text("run_id: 0f0f\n")
        lines = [line.format(value=value, step=step) for step, value in enumerate(("2.5", "nan", "2.0"))]
        (metrics / "loss").write_text("\n".join(lines) + "\n17000")  # cut while it was written
        run = readers.read(tmp_path)
        assert (run.steps.to_list(), losses(run)) == ([0, 1, 2], [2.5, "nan", 2.0])


@pytest.mark.parametrize(
    ("name", "signal"), [("loss", "loss"), ("val_loss", "val_loss"), ("training_loss.txt", "loss")]
)
def test_a_metric_of_mlflow_alone(tmp_path: Path, name: str, signal: str):
    lines = [f"16286977{at}2090 {3 - at / 4} {at * 10}" for at in range(6)]
    (tmp_path / name).write_text("\n".join(lines) + "\n")
    run = readers.read(tmp_path / name)
    assert (run.steps.to_list(), run[signal][5]) == ([0, 10, 20, 30, 40, 50], 1.75)


def test_a_metric_of_mlflow_that_is_no_loss_is_none(tmp_path: Path):
    (tmp_path / "accuracy").write_text("1628697702090 0.5 0\n1628697712090 0.6 1\n" * 3)
    with pytest.raises(BadRunError):
        readers.read(tmp_path / "accuracy")


def test_a_folder_of_folders_holds_them_all(tmp_path: Path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        shutil.copy(FIXTURES / "run-offline.wandb", tmp_path / name / "run-offline.wandb")
    (tmp_path / "c.log").write_text(TEXTS["llm.c"])
    assert [source.path.name for source in readers.every(str(tmp_path))] == [
        "run-offline.wandb",
        "run-offline.wandb",
        "c.log",
    ]


WRITTEN = [
    write(name) for name in ("step", "loss", "grad_norm", "lr") for write in (str, str.upper, str.title)
]
"""Names as loggers might write them."""


NOWHERE = Path("nowhere") / "log.csv"


class TestNames:
    def test_the_trainers_step_is_preferred(self):
        found = names.mapping(["_step", "train/global_step", "train/loss", "eval/loss"], NOWHERE)
        assert found == {"train/global_step": "step", "train/loss": "loss", "eval/loss": "val_loss"}

    def test_a_loss_by_any_name_but_a_held_out_one_or_one_of_ours(self):
        assert names.mapping(["step", "critic_loss"], NOWHERE)["critic_loss"] == "loss"
        columns = ["step", "test_loss_a", "probe_loss", "loss scale"]
        assert "loss" not in names.mapping(columns, NOWHERE).values()

    @pytest.mark.parametrize(
        "name", ["Train Loss", "TrainLoss", "train-loss", "Training loss", "Average Loss"]
    )
    def test_however_it_is_spelled(self, name: str):
        assert names.mapping(["Epoch", name], NOWHERE) == {"Epoch": "step", name: "loss"}

    def test_a_held_out_loss_is_one_by_its_words(self):
        for name in ("ValLoss", "Valid Loss", "Validation set average loss", "dev loss"):
            assert names.mapping(["step", name], NOWHERE)[name] == "val_loss"
        for name in ("val_box_loss", "best val loss", "value_loss"):
            assert "val_loss" not in names.mapping(["step", "loss", name], NOWHERE).values()

    @pytest.mark.parametrize(
        ("columns", "held_out"),
        [
            (["iter", "train/ce", "validation/ce"], "validation/ce"),
            (["iter", "train/ce", "val/ce", "test/ce"], None),  # which of them?
            (["iter", "train/ce", "val/acc"], None),
            (["iter", "train/ce", "val/ce", "val_loss"], "val_loss"),
        ],
    )
    def test_beside_a_loss_that_is_said_the_same_of_held_out_data_is_found(
        self, columns: list[str], held_out: str | None
    ):
        with called.called({"loss": "train/ce"}):
            found = names.mapping(columns, NOWHERE)
        assert next((one for one, signal in found.items() if signal == "val_loss"), None) == held_out

    def test_an_episode_is_a_step_where_nothing_else_is(self):
        assert names.mapping(["episode", "loss"], NOWHERE)["episode"] == "step"
        assert "episode" not in names.mapping(["episode", "total timesteps", "loss"], NOWHERE)

    @given(st.lists(st.sampled_from(WRITTEN), unique=True))
    def test_no_two_columns_get_one_name(self, columns: list[str]):
        found = names.mapping(columns, NOWHERE)
        assert len({found.get(column, column) for column in columns}) == len(columns)

    @given(st.lists(st.sampled_from([*WRITTEN, "loss (as logged)"]), unique=True), st.sampled_from(WRITTEN))
    def test_what_is_said_comes_first_and_no_two_columns_get_one_name(self, columns: list[str], column: str):
        with called.called({"loss": column}):
            found = names.mapping(columns, NOWHERE)
        assert (found.get(column) == "loss") == (column in columns)
        assert len({found.get(one, one) for one in columns}) == len(columns)


class TestCalled:
    """What the user says that the columns are called."""

    LOG = "iter,train/ce,other\n" + "".join(f"{step},{6 - step / 50},1\n" for step in range(100))

    @pytest.fixture
    def log(self, tmp_path: Path) -> Path:
        (tmp_path / "log.csv").write_text(self.LOG)
        return tmp_path / "log.csv"

    def test_the_log_is_read_by_it_and_says_so(self, log: Path):
        with called.called({"loss": "train/ce", "step": "iter"}):
            run = readers.read(log)
        assert run["loss"][:2].to_list() == [6.0, 5.98]
        assert [one.key for one in run.remarks].count("called") == 2

    def test_what_is_kept_beside_the_log_holds_the_next_time_and_is_added_to(self, log: Path):
        called.keep(log, {"loss": "other"})
        place = called.keep(log, {"loss": "train/ce", "lr": "other"})
        assert place.name == called.BESIDE
        assert readers.read(log)["loss"][0] == 6.0
        assert readers.read(log)["lr"][0] == 1.0

    def test_what_is_kept_holds_for_the_logs_of_the_folder_that_have_it(self, log: Path):
        called.keep(log, {"loss": "train/ce", "step": "iter"})
        (log.parent / "other.csv").write_text("step,loss\n0,3.0\n1,2.5\n")
        run = readers.read(log.parent / "other.csv")
        assert (losses(run), [one.key for one in run.remarks]) == ([3.0, 2.5], ["called_else", "called_else"])
        with called.called({"loss": "train/ce"}), pytest.raises(BadRunError, match="no column `train/ce`"):
            readers.read(log.parent / "other.csv")

    def test_a_column_that_was_kept_for_another_signal_is_that_no_more(self, log: Path):
        called.keep(log, {"step": "iter", "loss": "other"})
        with called.called({"val_loss": "other", "loss": "train/ce"}):
            assert readers.read(log)["val_loss"][0] == 1.0
        called.keep(log, {"val_loss": "other"})
        assert json.loads((log.parent / called.BESIDE).read_text()) == {"step": "iter", "val_loss": "other"}

    def test_a_column_that_is_not_there_is_refused_with_those_that_are(self, log: Path):
        wrong = called.called({"loss": "train/ce", "lr": "nothing"})
        with wrong, pytest.raises(BadRunError, match=r"no column `nothing` to read lr from; .*`train/ce`"):
            readers.read(log)

    @pytest.mark.parametrize(
        ("given", "wrong"),
        [
            ("loss", "isn't SIGNAL=COLUMN"),
            ("=x", "isn't SIGNAL=COLUMN"),
            ("los=x", "no signal 'los'"),
            ("loss=a,loss=b", "loss is named twice: a and b"),
            ("loss=a,lr=a", "the column a can't be two signals"),
        ],
    )
    def test_what_cannot_be_meant(self, given: str, wrong: str):
        with pytest.raises(ValueError, match=wrong):
            called.parsed([given])

    def test_a_comma_in_a_name_does_not_end_it(self):
        assert called.parsed(["loss=a, b,step=s"]) == {"loss": "a, b", "step": "s"}

    @pytest.mark.parametrize("text", ["", "[]", "{", '{"loss": 1}', '{"los": "a"}', '{"loss":"a","lr":"a"}'])
    def test_a_spoilt_file_beside_the_log_is_named(self, log: Path, text: str):
        (log.parent / called.BESIDE).write_text(text)
        with pytest.raises(BadRunError, match=r"tutor-names\.json can't be understood"):
            readers.read(log)


def test_two_readers_that_claim_one_file_ask_for_a_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "log.csv").write_text("step,loss\n0,6\n1,5\n")
    both = {name: readers.formats()["columns"] for name in ("columns", "twin")}
    monkeypatch.setattr(formats, "formats", lambda: both)
    with pytest.raises(BadRunError, match="say which, with --format columns or --format twin"):
        readers.read(tmp_path / "log.csv")
    try:
        readers.want("twin")
        assert len(readers.read(tmp_path / "log.csv")) == 2
    finally:
        readers.want(None)


SEEDS = [text.encode() for text in TEXTS.values()] + [
    (FIXTURES / name).read_bytes()
    for name in ("events.out.tfevents.1700000000.host.1.0", "run-offline.wandb")
]
FILES = [
    "log.txt",
    "trainer_state.json",
    "metrics.csv",
    "a.jsonl",
    "events.out.tfevents.1.h.1.0",
    "run-a.wandb",
]


@given(
    name=st.sampled_from(FILES),
    seed=st.sampled_from(SEEDS),
    cuts=st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 40), st.binary(max_size=8)), max_size=4),
)
def test_whatever_a_file_holds_is_a_run_or_one_clear_line(
    tmp_path: Path, name: str, seed: bytes, cuts: list[tuple[int, int, bytes]]
):
    for at, length, put in cuts:
        seed = seed[:at] + put + seed[at + length :]
    (tmp_path / name).write_bytes(seed)
    try:
        run = readers.read(tmp_path / name)
    except BadRunError as error:
        assert "\n" not in str(error)
    else:
        assert run.steps.is_sorted()
        assert run.steps.is_unique().all()


@pytest.mark.parametrize(
    ("line", "size"),
    [
        ("found vocab_size = 65 (inside data/shakespeare_char/meta.pkl)", 65),
        ("defaulting to vocab_size of GPT-2 to 50304 (50257 rounded up for efficiency)", 50304),
        ("tokens per iteration will be: 16,384", None),
    ],
)
def test_nanogpt_prints_the_vocabulary_above_its_first_row(tmp_path: Path, line: str, size: int | None):
    (tmp_path / "out.log").write_text(f"{line}\n{TEXTS['nanogpt']}iter 20: loss 3.0, time 9ms\n")
    assert readers.read(tmp_path / "out.log").manifest.vocab_size == size


def test_names_kept_for_another_log_of_the_folder_change_nothing(tmp_path: Path):
    rows = "\n".join(f"{at},{4 - at / 10},{4.1 - at / 10}" for at in range(20))
    (tmp_path / "history.csv").write_text(f"epoch,train_mse,val_mse\n{rows}\n")
    before = readers.read(tmp_path / "history.csv")
    (tmp_path / "tutor-names.json").write_text('{"loss": "objective", "step": "n"}')
    after = readers.read(tmp_path / "history.csv")
    assert (
        (after.has("loss"), after.has("val_loss"))
        == (before.has("loss"), before.has("val_loss"))
        == (True, True)
    )
    assert after.frame.equals(before.frame)
    assert [one.key for one in after.remarks if one.key == "called_else"] == ["called_else"] * 2


def test_a_column_that_was_named_and_isnt_there_is_told(tmp_path: Path):
    (tmp_path / "log.csv").write_text("n,objective\n1,2\n2,1\n")
    with called.called({"loss": "objectiv"}), pytest.raises(BadRunError, match="no column `objectiv`"):
        readers.read(tmp_path / "log.csv")


def test_german_compounds(tmp_path: Path):
    (tmp_path / "log.csv").write_text("Epoche;Trainingsverlust;Validierungsverlust\n0;1,5;1,6\n1;1,25;1,4\n")
    run = readers.read(tmp_path / "log.csv")
    assert (run["loss"].to_list(), run["val_loss"].to_list()) == ([1.5, 1.25], [1.6, 1.4])


@pytest.mark.parametrize(
    ("cost", "metrics", "val"),
    [
        (2.75, {"cross-entropy": 67.5, "perplexity": math.exp(2.5)}, 2.5),  # words both, but for one metric
        (70.5, {"cross-entropy": 67.5, "perplexity": math.exp(2.5)}, 67.5),  # sentences
        (20.5, {"cross-entropy": 67.5, "perplexity": 25.0}, 25.0),  # perplexities both
        (2.75, {"ce-mean-words": 2.5, "bleu": 20.5, "translation": 25.5}, 2.5),
        (None, {"ce-mean-words": 5.25, "perplexity": math.exp(5.25), "translation": 12.5}, 5.25),
    ],
)
def test_of_marians_metrics_the_one_in_the_unit_of_the_cost(
    tmp_path: Path, cost: float | None, metrics: dict[str, float], val: float
):
    lines = list[str]()
    for step in (10, 20):
        at = f"Ep. 1 : Up. {step} : "
        lines += [f"[valid] {at}{name} : {value} : new best" for name, value in metrics.items()]
        lines += [f"{at}Sen. 9 : Cost {cost} : Time 9.1s : 91.00 words/s"] if cost else []
    run = read(tmp_path, "\n".join(lines))
    assert run["val_loss"].to_list() == [pytest.approx(val)] * 2
    assert run.has("loss") is bool(cost)
    assert (
        run["valid bleu"].to_list() == [metrics.get("bleu", 12.5)] * 2 if "translation" in metrics else True
    )


def test_a_counter_before_the_dictionary_is_no_trainers(tmp_path: Path):
    """A loop of somebody's own, whose counter tells more than the number of the row."""
    text = "".join(f"INFO - Epoch {at}: {{'loss': {3 - at / 4}, 'val_loss': 3.5}}\n" for at in (2, 4, 6))
    run = read(tmp_path, text)
    assert (run.steps.to_list(), losses(run)) == ([2, 4, 6], [2.5, 2.0, 1.5])
    assert readers.sources(run.path)[0].format != "what a Trainer printed"
    ours = read(tmp_path, text.replace("Epoch", "rank"))
    assert ours.steps.to_list() == [1, 2, 3]
    of_a_callback = "Step 60: {'bleu': 0.31}\nEpoch 1 metrics: {'accuracy': 0.5}\n"
    whole = read(tmp_path, text.replace("Epoch", "rank") + of_a_callback)
    assert (whole.steps.to_list(), losses(whole)) == ([1, 2, 3], losses(ours))


class TestTrainingsOneAfterAnother:
    """What a Trainer printed of several: a summary ends each, and the next counts anew."""

    @staticmethod
    def said(losses: Sequence[float], evaluated: float, early: bool = False) -> str:
        rows = [
            f"{{'loss': {loss}, 'learning_rate': 1e-05, 'epoch': {at / 2}}}"
            for at, loss in enumerate(losses, 1)
        ]
        held_out = f"{{'eval_loss': {evaluated}, 'epoch': {0.25 if early else len(losses) / 2}}}"
        rows = [held_out, *rows] if early else [*rows, held_out]
        return "\n".join(
            [*rows, f"{{'train_runtime': 9.1, 'train_loss': 1.0, 'epoch': {len(losses) / 2}}}", ""]
        )

    def test_each_is_a_run(self, tmp_path: Path):
        """Though the loss of the second begins near where the first one's had come to."""
        run = read(tmp_path, self.said([3.0, 1.0, 0.5], 0.75) + self.said([0.6, 0.4], 0.5, early=True))
        (first,) = run.before
        assert (first.steps.to_list(), losses(first)) == ([1, 2, 3], [3.0, 1.0, 0.5])
        assert first["val_loss"].to_list() == [None, None, 0.75]
        assert (run.steps.to_list(), losses(run)) == ([0, 1, 2], [None, 0.6, 0.4])
        assert run["val_loss"].to_list() == [0.5, None, None]

    def test_one_that_goes_on_where_the_summary_stood_is_the_same(self, tmp_path: Path):
        text = self.said([3.0, 1.0, 0.5], 0.75)
        more = "".join(f"{{'loss': {loss}, 'epoch': {epoch}}}\n" for loss, epoch in ((0.4, 2.0), (0.3, 2.5)))
        run = read(tmp_path, text + more)
        assert (run.before, losses(run)) == ((), [3.0, 1.0, 0.5, 0.4, 0.3])
        run = read(tmp_path, text + "{'eval_loss': 0.25, 'epoch': 1.49}\n")
        assert (run.before, losses(run)) == ((), [3.0, 1.0, 0.5])

    def test_what_is_evaluated_below_the_summary_is_of_the_model_that_it_sums_up(self, tmp_path: Path):
        text = self.said([3.0, 1.0, 0.5], 0.75)
        run = read(tmp_path, text + "{'eval_loss': 0.25, 'epoch': 1.5}\n")
        assert (run.before, losses(run)) == ((), [3.0, 1.0, 0.5])
        run = read(tmp_path, text + "{'eval_loss': 0.25, 'epoch': 1.5}\n" + self.said([0.6, 0.4], 0.5))
        assert [losses(one, "val_loss") for one in (*run.before, run)] == [[None, None, 0.75], [None, 0.5]]


def test_a_score_that_comes_again_is_measured_where_the_validation_loss_moves(tmp_path: Path):
    score = [*[0.734375] * 2, *[0.265625] * 3, *[0.734375] * 5, *[0.65625] * 2]
    rows = "".join(f"{at},{3 - at / 8},{4 + at / 7:.3f},{one}\n" for at, one in enumerate(score))
    run = read(tmp_path, "epoch,loss,val_loss,val_accuracy\n" + rows, "log.csv")
    assert run["val_accuracy"].to_list() == score


def test_the_loss_is_called_what_the_log_calls_it(tmp_path: Path):
    run = read(tmp_path, "".join(f"epoch {at} | loss_D: 0.{at} | loss_G: 1.{at}\n" for at in (1, 2, 3)))
    assert run.own_names["loss"] == "loss_D"


@pytest.mark.parametrize("rows", [8, 40])
def test_a_held_out_loss_that_every_row_repeats_counts_once(tmp_path: Path, rows: int):
    each = [2.5125, 2.2625, 2.0125, 1.7625]
    text = "".join(f"step {at}, loss {3 - at / 50}, val loss {each[at * 4 // rows]}\n" for at in range(rows))
    run = read(tmp_path, text)
    carried = "carried" in [one.key for one in run.remarks]
    assert carried is (rows == 40)  # of few rows two alike may be chance
    assert run["val_loss"].drop_nulls().to_list() == (each if carried else sorted(each * 2, reverse=True))
    stuck = read(tmp_path, re.sub("val loss.*", "val loss 2.5125", text))
    assert stuck["val_loss"].null_count() == 0  # what never changes is what was measured


@pytest.mark.parametrize(("apart", "value", "kept"), [(10, 4.1743, 1), (1, 4.1743, 20), (10, 4.2, 20)])
def test_an_evaluation_that_is_the_same_in_every_row_was_made_once(
    tmp_path: Path, apart: int, value: float, kept: int
):
    """Unless each row may be an epoch, or its digits are so few that it may be another."""
    path = tmp_path / "log.csv"
    rows = "".join(f"{apart * row},{4 - row / 10},{value}\n" for row in range(20))
    path.write_text("step,loss,val_loss\n" + rows)
    assert readers.read(path)["val_loss"].count() == kept


def test_evaluations_that_come_out_the_same_count_as_many(tmp_path: Path):
    each = [2.5125, 2.2625, 2.0125, 1.7625, *[2.3026] * 4]
    text = "".join(f"step {at}, loss {3 - at / 50}, val loss {each[at // 10]}\n" for at in range(80))
    assert read(tmp_path, text)["val_loss"].drop_nulls().to_list() == each


def test_validation_without_training_is_said(tmp_path: Path):
    run = read(tmp_path, "".join(f"epoch {at}: val_loss 2.5, val_acc 0.{at}\n" for at in (1, 2, 3)))
    assert "only_held_out" in [one.key for one in run.remarks]
