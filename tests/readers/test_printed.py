"""What training loops print in words of their own, and what of it is no log."""

import math
import random
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.readers.texts import PRINTED, TABLE, TEXTS
from tutor import readers
from tutor.readers.printed import Printed
from tutor.run import Aggregation, BadRunError, Run, called

PROSE = "We trained for 3 epochs until the loss was 0.3, at step 4000 of 9000 (val loss 0.5).\n"
CODE = (
    "step = 0\nloss = 0.0\nfor epoch in range(3):\n    loss = 0.0\n    print(f'epoch {epoch} loss {loss}')\n"
)
SETTINGS = "epochs: 10\nbatch_size: 32\nloss_weight: 0.5\nlog_every: 10\nloss: 1\nwarmup_steps: 40\n"


def read(tmp_path: Path, text: str, name: str = "log.txt") -> Run:
    (tmp_path / name).write_text(text)
    return readers.read(tmp_path / name)


def losses(run: Run, signal: str = "loss") -> list[float | str]:
    return ["nan" if math.isnan(one) else one for one in run[signal].drop_nulls().to_list()]


def taken(run: Run) -> str:
    return next(one.facts["taken"] for one in run.remarks if one.key == "printed")


@pytest.mark.parametrize("name", PRINTED)
def test_a_loop_of_somebodys_own(tmp_path: Path, name: str):
    text, steps = PRINTED[name]
    run = read(tmp_path, text)
    assert readers.sources(run.path)[0].format == "printed lines"
    assert run.logged("loss").steps.to_list() == steps
    assert losses(run) == [4.25] + ["nan"] * (len(steps) - 1)
    if "3.5" in text:
        assert losses(run, "val_loss")[0] == 3.5
    if "grad_norm" in text:
        assert run["grad_norm"].drop_nulls()[0] == 1.5
    assert not any(one.unseen for one in run.remarks)


@pytest.mark.parametrize("name", TEXTS)
def test_what_a_named_reader_knows_is_left_to_it(tmp_path: Path, name: str):
    (tmp_path / "log.txt").write_text(TEXTS[name] + PRINTED["JAX"][0])
    assert not isinstance(readers.sources(tmp_path / "log.txt")[0], Printed)


def test_a_short_word_may_end_with_a_period(tmp_path: Path):
    text = "".join(f"Epoch: {at} | Train Loss: {4 - at:.2f} | Val. Loss: {5 - at:.2f}\n" for at in range(3))
    assert losses(read(tmp_path, text), "val_loss") == [5.0, 4.0, 3.0]


def test_a_loss_scaler_is_no_loss(tmp_path: Path):
    line = "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 256.0\n"
    text = "".join(f"{line}Epoch: {at} Validation loss: {5 - at:.2f}\n" for at in range(3))
    assert not read(tmp_path, text).has("loss")


def test_apexs_messages_tell_the_loss_scale_of_the_rows_after_them(tmp_path: Path):
    def overflow(scale: float) -> str:
        return f"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {scale}\n"

    def row(at: int) -> str:
        return f"Epoch: [0][{at}/40]\tLoss {5 - at / 10:.2f} (4.90)\n"

    text = overflow(64.0) + overflow(32.0) + row(0) + row(10) + overflow(1e-08) + row(20) + overflow(5e-09)
    run = read(tmp_path, text)
    assert (run.steps.to_list(), losses(run)) == ([0, 10, 20], [5.0, 4.0, 3.0])
    assert run["loss_scale"].to_list() == [32.0, 32.0, 5e-09]
    text = "".join(f"iter: {at} loss: {5 - at:.2f} loss_scale: {2.0**at}\n{overflow(8.0)}" for at in range(3))
    assert read(tmp_path, text)["loss_scale"].to_list() == [1.0, 2.0, 4.0]  # it says so itself
    with pytest.raises(BadRunError, match="no run that tutor can read"):
        read(tmp_path, overflow(8.0) * 9)
    with pytest.raises(BadRunError, match="no run that tutor can read"):
        read(tmp_path, "".join(overflow(2.0**-at) for at in range(-15, 0)))  # as a sound run begins
    run = read(tmp_path, "".join(overflow(2.0**-at) for at in range(-15, 1)))  # on and on, down to 1
    assert run["loss_scale"].to_list() == [2.0**-at for at in range(-15, 1)]
    run = read(tmp_path, "".join(2 * overflow(2.0**-at) for at in range(-2, 6)))  # each said by two processes
    assert run["loss_scale"].to_list() == [2.0**-at for at in range(-2, 6)]
    cut = "".join(overflow(10.0**-at) for at in range(316, 324)) + "  scaled_loss.backward() at step\n"
    assert len(read(tmp_path, cut)) == 8  # and a traceback's line, which has no value
    fairseqs = "| WARNING: overflow detected, setting loss scale to: {}\n"
    run = read(tmp_path, "".join(fairseqs.format(2.0**-at) for at in range(1, 9)))
    assert run["loss_scale"].to_list() == [2.0**-at for at in range(1, 9)]


@pytest.mark.parametrize(
    ("line", "steps"),
    [
        ("Step: {at} Loss: {loss}\n", [0, 1, 2, 3, 4, 5, 6, 7]),  # and isn't torchtitan's
        ("tensor({loss}, grad_fn=<NllLossBackward0>)\n", [0, 1, 2, 3, 4, 5, 6, 7]),
        ("0 {at} tensor({loss}, grad_fn=<MseLossBackward0>)\n", [0, 1, 2, 3, 4, 5, 6, 7]),
        ("iter {at}: train ce {loss}\n", [0, 1, 2, 3, 4, 5, 6, 7]),
        ("[e0 s{at}] loss={loss}\n", [0, 1, 2, 3, 4, 5, 6, 7]),
    ],
)
def test_lines_with_hardly_a_word(tmp_path: Path, line: str, steps: list[int]):
    run = read(tmp_path, "".join(line.format(at=at, loss=f"{3.25 - at / 8:.4f}") for at in range(8)))
    assert (run.steps.to_list(), losses(run)) == (steps, [3.25 - at / 8 for at in range(8)])


def test_training_and_validation_in_a_line_without_a_word_for_either(tmp_path: Path):
    run = read(
        tmp_path, "".join(f"{100 * at:6d}  train {3 - at / 8:.4f}  val {4 - at / 8:.4f}\n" for at in range(8))
    )
    assert run.steps.to_list() == [100 * at for at in range(8)]
    assert (losses(run)[0], losses(run, "val_loss")[0]) == (3.0, 4.0)


def test_the_scores_of_a_line_of_validation_are_of_validation(tmp_path: Path):
    epoch = (
        "Epoch {at}/7\n----------\ntrain Loss: {loss:.4f} Acc: 0.{at}5\nval Loss: {loss:.4f} Acc: 0.{at}0\n\n"
    )
    run = read(tmp_path, "".join(epoch.format(at=at, loss=3 - at / 8) for at in range(8)))
    columns = {name: run.frame[name].to_list() for name in run.frame.columns}
    assert columns["Acc"] == pytest.approx([at / 10 + 0.05 for at in range(8)])
    assert columns["val Acc"] == [at / 10 for at in range(8)]


def test_a_line_of_validation_hides_no_row_of_training(tmp_path: Path):
    text = "".join(
        "".join(f"ep {at} | batch {b}/30 | nll {3 - at / 8:.4f}\n" for b in (10, 20, 30))
        + f"ep {at} | VALID | nll {4 - at / 8:.4f}\n"
        for at in range(6)
    )
    run = read(tmp_path, text)
    assert losses(run) == [3 - at // 3 / 8 for at in range(18)]
    assert losses(run, "val_loss") == [4 - at / 8 for at in range(6)]


def test_it_says_what_it_took_for_what(tmp_path: Path):
    run = read(tmp_path, PRINTED["epochs, all in one row"][0])
    assert taken(run) == "step = `Epoch`, loss = `Loss`, val_loss = `ValLoss`"
    assert taken(read(tmp_path, PRINTED["MAE"][0])).startswith("step = `Epoch` + `[i/N]`, loss = `loss`")
    assert "printed_unnumbered" in [one.key for one in read(tmp_path, PRINTED["a loss alone"][0]).remarks]


def test_a_counter_that_the_steps_repeat_is_no_column_of_its_own(tmp_path: Path):
    run = read(tmp_path, PRINTED["JAX"][0])
    assert "Step" not in run.frame.columns
    with called.called({"step": "Step"}):
        assert read(tmp_path, PRINTED["JAX"][0]).steps.to_list() == [10, 20]


def test_what_is_said_of_its_names_comes_first(tmp_path: Path):
    text = "".join(f"step {at}: epoch {at // 2}, loss {9 - at}, ce {at + 1}.5\n" for at in range(4))
    with called.called({"loss": "ce", "step": "step"}):
        assert read(tmp_path, text)["loss"].to_list() == [1.5, 2.5, 3.5, 4.5]
    with called.called({"loss": "nll"}), pytest.raises(BadRunError, match=r"no column `nll`.*`ce`"):
        read(tmp_path, text)


def test_a_mean_over_its_epoch_is_told_and_nothing_of_a_loss_that_may_be_anything(tmp_path: Path):
    run = read(tmp_path, PRINTED["Keras's bar"][0])
    assert run.aggregation("loss") == Aggregation("window")
    assert read(tmp_path, PRINTED["JAX"][0]).aggregations == {}


def test_steps_count_on_where_a_counter_begins_anew_with_each_epoch(tmp_path: Path):
    text = "".join(
        f"(epoch: {epoch}, iters: {at}) G_L1: {40 - at / 10} D_real: 0.5\n"
        for epoch in (1, 2)
        for at in (100, 200, 300)
    )
    run = read(tmp_path, text)
    assert run.steps.to_list() == [100, 200, 300, 400, 500, 600]
    assert "no_loss" in [one.key for one in run.remarks]
    with called.called({"loss": "G_L1"}):
        assert read(tmp_path, text)["loss"].to_list() == [30, 20, 10, 30, 20, 10]


def test_a_run_that_was_started_anew_within_an_epoch_still_counts_its_steps(tmp_path: Path):
    starts = [(0, 2), (0, 3), *((epoch, 3) for epoch in range(1, 6))]
    rows = [(epoch, at) for epoch, most in starts for at in range(1, most + 1)]
    text = "".join(
        f"epoch {epoch}, iter {1000 * at}, avg. loss 234.{place:02}\n"
        for place, (epoch, at) in enumerate(rows)
    )
    run = read(tmp_path, text)
    assert "`epoch` + `iter`" in taken(run)
    assert len(run) == len(rows)


def test_of_steps_that_begin_again_in_each_epoch_the_epochs_count(tmp_path: Path):
    text = "".join(
        f"epoch {epoch}, {part} iter {at}, loss {5 - epoch}.5\n"
        for epoch in range(4)
        for part in ("train", "test")
        for at in (10, 20)
    )
    assert read(tmp_path, text).steps.to_list() == [0, 1, 2, 3]


def test_a_heading_that_says_where_in_its_epoch_it_stands_counts_by_that_too(tmp_path: Path):
    text = "".join(
        f"epoch: {epoch}, {at}/125 {at / 1.25:.1f}%, 0.71s per iter, lr: 0.0001\n"
        f"    recon loss: {5 + at / 100:.3f}  ppl:293.15\n    dis loss: 1.091\n\n"
        for epoch in (1, 2)
        for at in (1, 11, 21)
    )
    run = read(tmp_path, text)
    assert run.steps.to_list() == [1, 11, 21, 126, 136, 146]
    assert run["loss"].to_list() == [5.01, 5.11, 5.21] * 2
    assert "`epoch` + `[i/N]`" in taken(run)


@pytest.mark.parametrize(
    "held_out",
    [
        "valid: 100%|###| 39/39 [00:00<00:00, 116.60it/s, loss={loss}, metrics={{'acc': 0.5}}]",
        "| epoch 00{epoch} | valid on 'valid' subset  39 / 39 loss={loss}",
        "Validation - Epoch: [{epoch}/9][39/39] Loss 9.5 ({loss})",
    ],
)
def test_a_line_that_begins_with_held_out_data_is_of_its_loss(tmp_path: Path, held_out: str):
    text = "".join(
        f"epoch {epoch}: 100%|###| 153/153 [00:03<00:00, 44.53it/s, loss={5 - epoch}.25]\n"
        + held_out.format(epoch=epoch, loss=6.5 - epoch)
        + "\n"
        for epoch in (1, 2, 3)
    )
    run = read(tmp_path, text)
    assert losses(run) == [4.25, 3.25, 2.25]
    assert losses(run, "val_loss") == [5.5, 4.5, 3.5]


EVALUATED = {
    "timm": (
        "Train: {epoch} [{at:4d}/250 ( 40%)]  Loss: {loss:.4f} (9.5)  Time: 0.2s, 320.0/s (0.2s, 304.0/s)",
        "Test: [{at:4d}/250]  Time: 0.1 (0.2)  Loss:  9.5 ({loss:.4f})  Acc@1: 50.0 (51.0)",
    ),
    "PyTorch's ImageNet": (
        "Epoch: [{epoch}][{at:3d}/250]\tTime  0.2 ( 0.3)\tLoss {loss:.4e} (9.5e+00)\tAcc@1  50.0 ( 50.1)",
        "Test: [{at:3d}/250]\tTime  0.2 ( 0.3)\tLoss 9.5e+00 ({loss:.4e})\tAcc@1  50.0 ( 50.1)",
    ),
}


@pytest.mark.parametrize("name", EVALUATED)
def test_an_evaluation_a_batch_at_a_time_comes_to_the_mean_in_brackets(tmp_path: Path, name: str):
    train, test = EVALUATED[name]
    text = "".join(
        f"{kind.format(epoch=epoch, at=at, loss=loss + at / 1000)}\n"
        for epoch in range(3)
        for kind, loss in ((train, 5.25 - epoch), (test, 6.5 - epoch))
        for at in (0, 100, 200)
    )
    run = read(tmp_path, text)
    assert losses(run) == [5.25, 5.35, 5.45, 4.25, 4.35, 4.45, 3.25, 3.35, 3.45]
    assert losses(run, "val_loss") == [6.7, 5.7, 4.7]
    assert run.steps.to_list()[:4] == [0, 100, 200, 250]


def test_rows_that_an_epoch_alone_counts_are_numbered(tmp_path: Path):
    text = "".join(
        f"Epoch {epoch} train Loc Loss: 0.5 Tot Loss: {5 - epoch}.{at}\n"
        for epoch in (1, 2)
        for at in range(5)
    )
    run = read(tmp_path, text)
    assert run.steps.to_list() == list(range(10))
    assert losses(run)[:6] == [4.0, 4.1, 4.2, 4.3, 4.4, 3.0]


def test_of_several_losses_one_that_is_switched_off_is_not_the_loss(tmp_path: Path):
    text = "".join(f"Step {at}00/3000 MLoss: 0.0 GLoss: {9 - at}.25 Sum: {9 - at}.25\n" for at in range(1, 9))
    run = read(tmp_path, text)
    assert "`GLoss`" in taken(run)
    assert losses(run)[:2] == [8.25, 7.25]
    (tmp_path / "log.csv").write_text(
        "step,adv_loss,rec_loss\n" + "".join(f"{at},0.0,{at}.5\n" for at in range(1, 9))
    )
    assert losses(readers.read(tmp_path / "log.csv"))[:2] == [1.5, 2.5]


def test_what_basicsr_calls_its_loss(tmp_path: Path):
    text = "".join(
        f"<epoch: {at}, iter:   {at},000, lr:2.000e-04> l_pix: {9 - at}.0000e-02 \n" for at in range(1, 7)
    )
    run = read(tmp_path, text)
    assert (run.steps.to_list()[0], run["loss"].to_list()[:2]) == (1000, [0.08, 0.07])


def test_a_run_that_is_repeated_has_no_rows_but_its_epochs(tmp_path: Path):
    text = "".join(f"Epoch {epoch}: loss {9 - epoch}.{time}\n" for time in range(3) for epoch in range(1, 9))
    assert len(read(tmp_path, text)) == 8


@pytest.mark.parametrize("took", ["200", "{odd}"])
def test_how_many_steps_an_episode_took_is_no_counter(tmp_path: Path, took: str):
    line = "Episode {at}  Reward: {at}.5  Steps: " + took
    text = "".join(line.format(at=at, odd=17 * at * at % 23) + "\n" for at in range(1, 13))
    run = read(tmp_path, text)
    assert run.steps.to_list() == list(range(1, 13))
    assert "step = `Episode`;" in next(one for one in run.remarks if one.key == "printed").says("en")


def test_fields_that_nanogpt_does_not_print_are_read_beside_its_own(tmp_path: Path):
    text = "".join(f"iter {at}: loss 2.5, lr 0.001, grad_norm {at}.5, time 21ms\n" for at in range(6))
    run = read(tmp_path, text)
    assert (run["lr"].to_list()[:2], run["grad_norm"].to_list()[:2]) == ([0.001, 0.001], [0.5, 1.5])


def test_a_loss_of_that_name_of_held_out_data_is_the_validation_loss(tmp_path: Path):
    text = "".join(
        f"Epoch: {at} | Train Phys Loss: {9 - at}.5 | Val Phys Loss: {9 - at}.75\n" for at in range(4)
    )
    run = read(tmp_path, text)
    assert (losses(run)[:2], losses(run, "val_loss")[:2]) == ([9.5, 8.5], [9.75, 8.75])


def test_a_score_may_stand_before_the_held_out_loss(tmp_path: Path):
    text = "".join(
        f"Epoch {at} loss: {9 - at}.5\nVal epoch {at} has acc 0.249 and loss {9 - at}.75\n" for at in range(4)
    )
    run = read(tmp_path, text)
    assert (losses(run)[:2], losses(run, "val_loss")[:2]) == ([9.5, 8.5], [9.75, 8.75])


def test_scores_and_rewards_on_lines_of_their_own_belong_to_the_step_above(tmp_path: Path):
    text = "".join(
        f"          Learning iteration {at}/10\n\n  Mean surrogate loss: {at}.25\n  Mean reward: -{at}.5\n"
        f" Mean action std: 0.9\n-----\n"
        for at in range(1, 9)
    )
    run = read(tmp_path, text)
    assert (len(run), run["Mean reward"].to_list()[:2]) == (8, [-1.5, -2.5])
    assert "rewarded" in [one.key for one in run.remarks]


def test_evaluations_of_a_policy_are_counted_by_its_steps(tmp_path: Path):
    text = "".join(
        f"Eval num_timesteps={at}000, episode_reward={at}.50 +/- 24.70\nEpisode length: 12.20 +/- 8.08\n"
        for at in range(5, 45, 5)
    )
    run = read(tmp_path, f"Loading the model ...\n{text}New best mean reward!\n")
    assert run.steps.to_list() == list(range(5000, 45000, 5000))
    assert run["episode_reward"].to_list()[:2] == [5.5, 10.5]
    assert run["Episode length"].to_list()[:2] == [12.2, 12.2]
    [alone] = [one for one in run.remarks if one.key == "scores_alone"]
    assert "length" not in alone.facts["columns"]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Episode {at}\tAverage Score: {earned}", "Average Score"),
        ("Episode {at}       Average reward: {earned}", "Average reward"),
        ("Total rewards in episode {at} is {earned} total number of steps are 36{at}", "Total rewards"),
        ("Epoch {at}: accuracy 0.{at}", "accuracy"),
    ],
)
def test_what_an_episode_earns_is_enough(tmp_path: Path, line: str, name: str):
    run = read(tmp_path, "".join(line.format(at=at, earned=at * 2.5) + "\n" for at in range(1, 9)))
    assert run.steps.to_list() == list(range(1, 9))
    assert run[name].null_count() == 0
    [remark] = [one for one in run.remarks if one.key in ("scores_alone", "no_loss")]
    assert (remark.key, name in remark.facts["columns"]) == ("scores_alone", True) or "steps are" in line


def test_rewards_that_nothing_counts_are_a_run_where_they_are_many(tmp_path: Path):
    line = "2026-01-28 20:07:{at:02d},7{at:02d} DQN INFO episodic returns: {at}\n"
    run = read(
        tmp_path,
        "2026-01-28 20:07:08,864 DQN INFO DQN started\n" + "".join(line.format(at=at) for at in range(20)),
    )
    assert (run.steps.to_list(), run["episodic returns"].to_list()) == ([*range(20)], [*range(20)])
    assert [one.key for one in run.remarks] == ["printed_unnumbered", "scores_alone", "rewarded"]
    with pytest.raises(BadRunError):
        read(tmp_path, "".join(line.format(at=at) for at in range(19)))


def test_a_step_may_stand_behind_an_at_sign(tmp_path: Path):
    line = "  [eval @ {at:>7,}] reward= {earned:+.2f}\u00b1 0.00  completion={at}%\n"
    run = read(tmp_path, "".join(line.format(at=1000 * at, earned=at * 250) for at in range(1, 9)))
    assert run.steps.to_list() == [*range(1000, 9000, 1000)]
    assert run["reward"].to_list()[:2] == [250.0, 500.0]


@pytest.mark.parametrize("rows", [3, 200])
def test_what_stands_behind_a_held_out_loss_is_of_the_same_data(tmp_path: Path, rows: int):
    line = "Epoch {at}, Train Loss: {at}.5, Acc: 0.{at:03d}, F1: 0.5, Val Loss: {at}.75, Acc: 0.25, lr: 0.1\n"
    run = read(tmp_path, "".join(line.format(at=at) for at in range(rows)))
    assert (run["Acc"][2], run["val Acc"].to_list()) == (0.002, [0.25] * rows)
    assert {"F1", "lr"} <= {*run.frame.columns} and "val F1" not in run.frame.columns
    three = line.replace(", lr", ", Test Loss: 1.5, Acc: 0.125, lr")
    run = read(tmp_path, "".join(three.format(at=at) for at in range(rows)))
    assert (run["val Acc"][0], run["test Acc"][0]) == (0.25, 0.125)
    swapped = (
        "Epoch {at} | time 3 | loss 2.{at} | acc 0.5\nEpoch {at} | acc 0.25 | val_loss 2.{at} | time 1\n"
    )
    assert "val acc" not in read(tmp_path, "".join(swapped.format(at=at) for at in range(rows))).frame.columns
    other = "Epoch {at} | Loss: {at}.5 | Acc: 0.5 | Acc: 0.25\n"
    assert (
        read(tmp_path, "".join(other.format(at=at) for at in range(rows)))["Acc"][0] == 0.25
    )  # the last counts


def test_what_is_said_of_the_best_model_is_no_column_of_its_own(tmp_path: Path):
    text = "".join(
        f"Epoch {at}/9 | Train Loss: {9 - at}.5 | Validation loss: {8 - at if at < 4 else at}.25\n"
        + (f"  -> new best model saved (val_loss: {8 - at}.25)\n" if at < 4 else "")
        for at in range(1, 8)
    )
    run = read(tmp_path, text)
    assert losses(run, "val_loss") == [7.25, 6.25, 5.25, 4.25, 5.25, 6.25, 7.25]


def test_several_losses_below_a_heading_are_rows_of_their_own(tmp_path: Path):
    text = "".join(f"Epoch {epoch}\n" + f"loss: {epoch}.5\nloss: {epoch}.25\n" * 2 for epoch in (1, 2))
    run = read(tmp_path, text)
    assert run["loss"].to_list() == [1.5, 1.25, 1.5, 1.25, 2.5, 2.25, 2.5, 2.25]


@pytest.mark.parametrize(
    "message",
    [
        "val_loss improved from inf to 1.07076, saving model to best.h5",
        "val_iou_2 did not improve from 0.50000",
        "saving model to weights.05-0.50.hdf5",
        "ReduceLROnPlateau reducing learning rate to 0.0001.",
        "early stopping",
    ],
)
def test_what_keras_callbacks_say_of_an_epoch_is_no_row(tmp_path: Path, message: str):
    text = "".join(
        f"Epoch {at}/9\n10/10 [====] - 5s - loss: {at}.5 - val_loss: nan\n\nEpoch 0000{at}: {message}\n"
        for at in (1, 2, 3)
    )
    run = read(tmp_path, text + "Restoring model weights from the end of the best epoch: 1.\n")
    assert (run.steps.to_list(), run["loss"].to_list()) == ([1, 2, 3], [1.5, 2.5, 3.5])
    assert run["val_loss"].is_nan().all()
    assert not any("improve" in name for name in run.frame.columns)


def test_a_log_that_begins_within_an_epoch(tmp_path: Path):
    text = " - 3s - loss: 2.5\n" + "".join(f"Epoch {at}/9\n - 3s - loss: 1.{at}\n" for at in (5, 6, 7))
    assert read(tmp_path, text).steps.to_list() == [4, 5, 6, 7]


def test_parts_of_epochs_are_no_steps(tmp_path: Path):
    run = read(tmp_path, "".join(f"epoch {at / 4} loss {at}.5\n" for at in range(5)))
    assert (run.steps.to_list(), run["loss"][4]) == ([0, 1, 2, 3, 4], 4.5)


@pytest.mark.parametrize("text", [PROSE, CODE, SETTINGS, PROSE * 2, CODE + SETTINGS + PROSE])
def test_prose_code_and_settings_are_no_log(tmp_path: Path, text: str):
    with pytest.raises(BadRunError):
        read(tmp_path, text, "README.md")


def test_two_rows_without_a_counter_are_a_run_where_the_loss_is_lost(tmp_path: Path):
    lines = "Training: Average loss: {0}, Accuracy: 10.0%\nTesting: Average loss: {0}, Accuracy: 10.0%\n"
    run = read(tmp_path, "## After 24 epochs\n\n" + lines.format("nan"))
    assert math.isnan(run["loss"][0])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Testing: Average loss: nan, Accuracy: 10.0%\n", "b.txt"),
        ("Testing: loss: inf, accuracy: 0.1\nTraining: loss: inf, accuracy: 0.1\n", "b.txt"),
        ("val_loss: inf, patience: 3\nloss: nan, patience: 3\n", "b.txt"),
        ("loss: nan, accuracy: 0.1\nval loss: nan, accuracy: 0.1\n", "b.toml"),
        ("epochs:   0%|          | 0/80 [00:09<?, ?it/s, loss=nan, v_num=0]\n", "b.log"),
    ],
)
def test_what_may_be_a_setting_or_a_note_is_none(tmp_path: Path, text: str, name: str):
    with pytest.raises(BadRunError):
        read(tmp_path, text, name)


def test_beside_a_log_that_is_known_what_is_printed_isnt_another_run(tmp_path: Path):
    (tmp_path / "metrics.csv").write_text("step,loss\n0,3.0\n1,2.0\n")
    (tmp_path / "README.md").write_text(TABLE)
    (tmp_path / "out.txt").write_text("Step 0: loss=3.00\nStep 1: loss=2.00\n")
    assert [source.path.name for source in readers.sources(tmp_path)] == ["metrics.csv"]


@pytest.mark.parametrize("data", [b"\0" + b"Epoch 1, Loss: 2\nEpoch 2, Loss: 1\n", b"\xff\xfe\0\0" * 99, b""])
def test_what_is_no_text_is_refused_as_before(tmp_path: Path, data: bytes):
    (tmp_path / "a.bin").write_bytes(data)
    with pytest.raises(BadRunError, match=r"holds no text|needs rows of JSON or CSV|is empty"):
        readers.read(tmp_path / "a.bin")


def test_one_such_line_gets_a_way_on(tmp_path: Path):
    with pytest.raises(BadRunError, match="two or more with the same names"):
        read(tmp_path, "Step 10: grad_norm=1.5, loss=4.25\n")


ODD = {
    "pairs": "a" * 500 + " step loss = : " * 40,
    "blanks": "loss" + " " * 3000,
    "hyphens": "a-" * 1500,
    "dots": "a." * 1500,
    "brackets": "[1" * 900,
}


@pytest.mark.slow
@pytest.mark.parametrize("odd", ODD)
def test_a_long_log_of_long_lines_takes_no_time(tmp_path: Path, odd: str):
    line = "Epoch: [1] [{}/99999] loss: 2.5 (2.5) " + ODD[odd] + "\n"
    (tmp_path / "log.txt").write_text("".join(line.format(at) for at in range(3000)))
    began = process_time()
    assert len(readers.read(tmp_path / "log.txt")) == 3000
    assert process_time() - began < 20


class TestTable:
    @pytest.mark.parametrize("rule", ["-" * 40, "=====", "-----+------+------", "--- | --- | ---"])
    def test_a_rule_below_the_heading_needs_no_bars(self, tmp_path: Path, rule: str):
        rows = "".join(f"2025-01-01 10:00:0{at} | {10 * at} | {4 - at / 2} | 3.5\n" for at in range(5))
        run = read(tmp_path, f"Timestamp | Step | Train Loss | Validation Loss\n{rule}\n{rows}", "log.txt")
        assert (run.steps.to_list(), run["loss"].to_list()) == (
            [0, 10, 20, 30, 40],
            [4.0, 3.5, 3.0, 2.5, 2.0],
        )
        assert run["val_loss"].to_list() == 5 * [3.5]

    def test_of_a_models_card(self, tmp_path: Path):
        run = read(tmp_path, TABLE, "README.md")
        assert run.steps.to_list() == [10, 20, 30]
        assert losses(run) == [4.25, "nan"]
        assert losses(run, "val_loss") == [3.5, "nan", "nan"]
        assert run.aggregation("loss") == Aggregation("window", shows_nan=False)

    def test_the_scores_of_a_models_card_are_those_of_the_evaluation(self, tmp_path: Path):
        text = (
            "| Training Loss | Epoch | Step | Validation Loss | Wer | Accuracy |\n|:-:|:-:|:-:|:-:|:-:|:-:|\n"
        )
        run = read(tmp_path, text + "| 4.5 | 1.0 | 10 | 3.5 | 0.5 | 0.25 |\n", "README.md")
        assert {"eval Wer", "eval Accuracy"} <= {*run.frame.columns}
        text = text.replace("Wer", "Train Accuracy").replace("| Accuracy", "| Accuracy | eval Accuracy", 1)
        run = read(
            tmp_path,
            text.replace("|\n|:-:", "|\n|:-:|:-:", 1) + "| 4.5 | 1.0 | 10 | 3.5 | 0.5 | 0.25 | 0.75 |\n",
        )
        assert {"Train Accuracy", "Accuracy", "eval Accuracy"} <= {*run.frame.columns}

    def test_with_two_headings(self, tmp_path: Path):
        text = "| train | | | validate | |\n| - | - | - | - | - |\n| epoch | Top1 | Loss | | epoch | Loss |\n"
        run = read(
            tmp_path, text.replace("| | validate", "| | | validate") + "| 0 | 3.1 | 4.25 | | 0 | 3.5 |\n"
        )
        assert (losses(run), losses(run, "val_loss")) == ([4.25], [3.5])

    def test_another_is_none(self, tmp_path: Path):
        with pytest.raises(BadRunError):
            read(tmp_path, "| model | loss |\n| --- | --- |\n| a | 0.5 |\n| b | 0.3 |\n", "README.md")


@given(
    first=st.sampled_from([text for text, _ in PRINTED.values()] + [TABLE]),
    second=st.sampled_from([text for text, _ in PRINTED.values()] + list(TEXTS.values())),
    end=st.integers(0, 400),
    seed=st.integers(0, 99),
    noise=st.binary(max_size=30),
)
def test_torn_mixed_or_spoilt_it_is_a_run_or_one_clear_line(
    tmp_path: Path, first: str, second: str, end: int, seed: int, noise: bytes
):
    lines = first[:end].splitlines(keepends=True) + second.splitlines(keepends=True)
    random.Random(seed).shuffle(lines)
    (tmp_path / "log.txt").write_bytes("".join(lines).encode() + noise + first.encode())
    try:
        run = readers.read(tmp_path / "log.txt")
    except BadRunError as error:
        assert "\n" not in str(error)
    else:
        assert len(run) > 0
        assert run.steps.is_sorted()


@given(
    values=st.lists(st.floats(allow_nan=True, allow_infinity=True, width=32), min_size=2, max_size=20),
    names=st.sampled_from(
        [("Epoch {}", ", Loss: {}"), ("iter={:>6}", " loss={}"), ("[step {}]", " - loss: {}")]
    ),
)
def test_each_value_that_was_printed_is_read(tmp_path: Path, values: list[float], names: tuple[str, str]):
    counter, loss = names
    text = "".join(counter.format(at) + loss.format(value) + "\n" for at, value in enumerate(values))
    run = read(tmp_path, text)
    assert run.steps.to_list() == list(range(len(values)))
    assert all(
        one == other or (one != one and other != other)
        for one, other in zip(run["loss"], values, strict=True)
    )


def test_a_page_of_markdown_that_lists_what_each_epoch_came_to(tmp_path: Path):
    best = "- Best Train Loss: 0.5 (Epoch 4)\n"
    rows = "".join(
        f"## Epoch no. = {at}\n- Accuracy: 0.{at}\n- Train Loss: {3 - at / 2}\n\n" for at in range(1, 6)
    )
    (tmp_path / "log.md").write_text(f"# Training Log\n\n## Best\n{best}\n{rows}")
    run = readers.read(tmp_path / "log.md")
    assert run.steps.to_list()[-5:] == [1, 2, 3, 4, 5]
    assert run["loss"].to_list()[-5:] == [2.5, 2.0, 1.5, 1.0, 0.5]


def test_a_page_of_markdown_is_prose_but_for_what_it_quotes(tmp_path: Path):
    lines = [f"Step {step}, loss: {4 - step / 10}" for step in range(8)]
    said = "\n\n".join(f"- {line} is what this section is about" for line in lines)
    (tmp_path / "page.md").write_text(f"# What goes wrong\n\n{said}\n")
    assert readers.sources(tmp_path / "page.md") == []
    (tmp_path / "quotes.md").write_text("# A run\n\n```\n" + "\n".join(lines) + "\n```\n")
    assert len(readers.read(tmp_path / "quotes.md")) == 8
    (tmp_path / "log.md").write_text("\n".join(lines))
    assert len(readers.read(tmp_path / "log.md")) == 8


def test_programs_in_a_folder_are_no_logs_of_it(tmp_path: Path):
    lines = "\n".join(f"Step {step}, loss: {4 - step / 10}" for step in range(8))
    (tmp_path / "test_train.py").write_text(f'LOG = """\n{lines}\n"""\n')
    assert readers.sources(tmp_path) == []
    (tmp_path / "train.log").write_text(lines)
    assert [source.path.name for source in readers.sources(tmp_path)] == ["train.log"]
    assert len(readers.read(tmp_path / "test_train.py")) == 8  # asked for by name, it is one


class TestWordsOfOnesOwn:
    """Words that nobody knows are what the user says they are."""

    TEXT = "".join(
        f"[2025-03-01 11:12:33] Wave {at}/20 | fit error {4 - at / 9:.3f} | holdout error {5 - at / 9:.3f}\n"
        for at in range(1, 9)
    )
    SAID = {"step": "Wave", "loss": "fit error", "val_loss": "holdout error"}

    def test_they_are_read_where_they_are_named(self, tmp_path: Path):
        with called.called(self.SAID):
            run = read(tmp_path, self.TEXT)
        assert run.steps.to_list() == list(range(1, 9))
        assert losses(run)[:2] == pytest.approx([3.889, 3.778])
        assert losses(run, "val_loss")[:2] == pytest.approx([4.889, 4.778])
        assert taken(run).startswith("step = `Wave`, loss = `fit error`, val_loss = `holdout error`")

    def test_nobody_else_knows_them(self, tmp_path: Path):
        with pytest.raises(BadRunError, match="--map step=WORD,loss=WORD"):
            read(tmp_path, self.TEXT)

    def test_a_log_whose_words_are_known_is_read_as_before(self, tmp_path: Path):
        text = "".join(f"step {at} loss {4 - at} aux {9 - at}\n" for at in range(4))
        with called.called({"loss": "aux"}):
            assert losses(read(tmp_path, text)) == [9.0, 8.0, 7.0, 6.0]


def test_a_best_epoch_that_is_said_at_the_end_hides_none(tmp_path: Path):
    bars = "".join(
        f"Epoch {at}/20\n2/2 ━━━━━━━━ 0s 2{at}ms/step - loss: {4 - at / 9:.3f} - val_loss: {5 - at / 9:.3f}\n"
        for at in range(1, 9)
    )
    run = read(tmp_path, f"{bars}Best val_loss: 4.111, epoch: 8\n")
    assert (len(run.logged("loss")), losses(run)[0]) == (8, 3.889)


@pytest.mark.parametrize("counter", ["Round", "round", "Cycle", "generation"])
def test_rounds_count_as_epochs_do(tmp_path: Path, counter: str):
    run = read(tmp_path, "".join(f"{counter} {at}: train_loss = {4 - at / 4}\n" for at in range(1, 7)))
    assert (run.steps.to_list(), losses(run)[0]) == ([*range(1, 7)], 3.75)


def test_a_cross_entropy_is_a_loss(tmp_path: Path):
    text = "".join(
        f"##### EPOCH {at} #####\nTRAIN CROSS ENTROPY: {4 - at / 4}\nVALID CROSS ENTROPY: {5 - at / 4}\n"
        for at in range(6)
    )
    run = read(tmp_path, text)
    assert (losses(run)[-1], losses(run, "val_loss")[-1]) == (2.75, 3.75)


def test_a_mean_in_a_log_of_episodes_is_of_rewards(tmp_path: Path):
    text = "".join(
        f"Episode {100 * at}  Avg: {-50 + at}  BestAvg: {-50 + at}  Secs: {at}\n" for at in range(9)
    )
    assert read(tmp_path, text).frame["Avg reward"].to_list() == [float(at - 50) for at in range(9)]
    text = "".join(f"Iter {at}: reward={-at}.5, best=-0.5, avg100={-at}.25\n" for at in range(1, 9))
    assert "avg100 reward" in read(tmp_path, text).frame.columns


def test_one_of_several_runs_is_found_by_words_of_ones_own(tmp_path: Path):
    text = "".join(f"step {at} ce={top - at / 4}\n" for top in (4, 5) for at in range(6))
    (tmp_path / "two.log").write_text(text)
    with called.called({"loss": "ce"}):
        assert len(readers.open_run(str(tmp_path / "two.log" / "2"))) == 6
        with pytest.raises(BadRunError, match=r"two\.log holds 2 runs, 1 to 2"):
            readers.open_run(str(tmp_path / "two.log" / "3"))


@pytest.mark.parametrize("held_out", ["holdout", "held-out", "heldout", "hold_out"])
def test_held_out_by_that_name(tmp_path: Path, held_out: str):
    text = "".join(
        f"epoch {at}: train loss: {4 - at / 4}, {held_out} loss: {5 - at / 4}\n" for at in range(6)
    )
    assert losses(read(tmp_path, text), "val_loss")[-1] == 3.75


def test_a_counter_that_the_user_calls_the_step_stands_beside_another(tmp_path: Path):
    text = "".join(f"batch {at}, update {at}, foo {3 - at / 4}\n" for at in (3, 4, 5, 6))
    with called.called({"step": "batch", "loss": "foo"}):
        run = read(tmp_path, text)
    assert (run.steps.to_list(), run["loss"].to_list()) == ([3, 4, 5, 6], [2.25, 2.0, 1.75, 1.5])


class TestEvaluationsABatchAtATime:
    """Their own counter says nothing of how far training was."""

    def epoch(self, at: int, batches: int = 2) -> str:
        trained = "".join(
            f"TRAIN Batch {batch:04}/40, Loss {4 - at - batch / 100}\n" for batch in (0, 20, 40)
        )
        held_out = "".join(
            f"VALID Batch {batch:04}/20, Loss {5 - at + batch / 100}\n" for batch in range(batches)
        )
        return trained + held_out + f"VALID Epoch {at}/8, Mean ELBO {9 - at}\n"

    def test_each_is_a_row_where_training_was(self, tmp_path: Path):
        run = read(tmp_path, "".join(map(self.epoch, range(3))))
        assert (run.before, run["loss"].count()) == ((), 9)
        assert losses(run) == pytest.approx([4, 3.8, 3.6, 3, 2.8, 2.6, 2, 1.8, 1.6])
        assert losses(run, "val_loss") == pytest.approx([5.005, 4.005, 3.005])
        evaluated = run.logged("val_loss")
        assert evaluated["loss"].to_list() == pytest.approx([3.6, 2.6, 1.6])  # the last of each epoch

    def test_one_that_counts_on_is_where_it_says(self, tmp_path: Path):
        said = "".join(
            f"step {step}, loss {4 - step / 100}\nstep {step + 5}, val loss 3\n" for step in range(0, 90, 10)
        )
        run = read(tmp_path, said)
        assert run.logged("val_loss").steps.to_list() == [*range(5, 90, 10)]

    def test_a_single_one_may_be_anything(self, tmp_path: Path):
        run = read(tmp_path, self.epoch(0, 5))
        assert run["val_loss"].count() == 5
