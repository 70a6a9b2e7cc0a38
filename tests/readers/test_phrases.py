"""Printed lines that tell a step and a loss otherwise than as names with a number behind each."""

import math
import re
from pathlib import Path

import pytest

from tutor import readers
from tutor.readers.common.alike import spelled
from tutor.readers.common.lines import Lines
from tutor.readers.common.phrases import PHRASES, TRANSLATED, for_polars, in_pairs
from tutor.run import Run

LOSSES = [2.25, 2.0, math.nan, 1.5]

SAID = {
    "Spanish": ("Época {step} - pérdida: {loss} - exactitud: 0.5", [1, 2, 3, 4]),
    "Portuguese": ("[Época {step}] Perda: {loss} | Acurácia: 0.5", [1, 2, 3, 4]),
    "Spanish and English": ("Época {step} - loss: {loss}", [1, 2, 3, 4]),
    "German": ("Epoche {step}: Verlust = {loss}", [1, 2, 3, 4]),
    "French": ("ÉPOQUE {step}, perte {loss}", [1, 2, 3, 4]),
    "French, of iterations": ("Itération {step} — perte : {loss}", [20, 40, 60, 80]),
    "Romanian": ("pas {step} | pierdere {loss} | 0.2s", [0, 20, 40, 60]),
    "a cost after an iteration": ("Cost after iteration {step}: {loss}", [0, 100, 200, 300]),
    "a loss at an epoch": ("Loss at epoch {step}: {loss}", [0, 1, 2, 3]),
    "a loss of one batch": ("Training loss (for one batch) at step {step}: {loss}", [0, 200, 400, 600]),
    "a loss by its index": ("train_batch_loss[ {step} ]:  {loss}", [10, 20, 30, 40]),
    "a total behind its place": ("[epoch: 3/9, iter: {step}/448] total: {loss}", [0, 25, 50, 75]),
    "no blank between": ("idx: {step}loss: tensor({loss}, grad_fn=<NegBackward>)", [0, 1, 2, 3]),
    "a mean cost": ("epoch {step} mean cost {loss}", [0, 1, 2, 3]),
    "a pair of the step and the loss": ("loss: ({step}, {loss})", [0, 1, 2, 3]),
    "losses": ("iteration : {step}, losses : {loss}", [1, 2, 3, 4]),
    "Flower": ("After {step} Round: loss = {loss}, accuracy: 0.8", [1, 2, 3, 4]),
    "a loss after so many epochs": ("Average loss after {step} epochs: {loss}", [1, 2, 3, 4]),
    "the value before its name": (
        "Epoch {step} @ 10:27 PM : {loss} C.E. Loss, 94.28% Accuracy",
        [0, 1, 2, 3],
    ),
    "names and values in lists": ("Epoch {step}   [Avg. Loss, Loss]: [9.5, {loss}], 0", [10, 20, 30, 40]),
    "darknet": (" {step}: {loss}, {loss} avg loss, 0.001000 rate, 5.3 seconds, 64 images", [1, 2, 3, 4]),
    "darknet's first": ("{step}: {loss}, {loss} avg, 0.001000 rate, 5.3 seconds, 64 images", [1, 2, 3, 4]),
    "makemore": ("  {step}/ 200000: {loss}", [0, 100, 200, 300]),
    "PyTorch's seq2seq tutorial": ("1m {step}s (- 9m 2s) ({step} 5%) {loss}", [10, 20, 30, 40]),
    "that tutorial's, behind a logger": (
        "INFO-->2022-03-23 10:37:30,456-->0m 24s ({step} 6%) {loss}",
        [5000, 6000, 7000, 8000],
    ),
    "wenet": ("DEBUG TRAIN Batch 0/{step} loss {loss} loss_ctc 3.5 lr 0.0004 rank 0", [0, 100, 200, 300]),
    "espnet2": (
        "INFO: 1epoch:train:1-{step}batch: iter_time=1e-04, loss={loss}, time=1",
        [50, 100, 150, 200],
    ),
    "mmengine": ("Epoch(train)  [1][{step}/7330]  lr: 1.9e-03  loss: {loss}  time: 0.6", [50, 100, 150, 200]),
    "clu": ("I0101 logging_writer.py:48] [{step}] accuracy=0.5, loss={loss}", [100, 200, 300, 400]),
    "PyTorch's names tutorial": ("{step} 5% (0m 12s) {loss} Koza / Japanese ✗ (Czech)", [50, 100, 150, 200]),
    "tqdm": ("Steps:   1%|1   | {step}/3000 [00:41<34:47, 41.76s/it, loss={loss}, lr=0.002]", [1, 2, 3, 4]),
    "a tensor": ("{step} tensor({loss}, grad_fn=<NllLossBackward0>)", [99, 199, 299, 399]),
    "an epoch's, with its time": ("Epoch {step}: {loss}, Time is 374.20s", [1, 2, 3, 4]),
    "iterations without a blank": ("epoch 0 iteration{step}, Loss: {loss}", [0, 100, 200, 300]),
    "an epoch's": ("Epoch {step}: {loss}", [1, 2, 3, 4]),
    "a cost of an epoch": ("Epoch: 000{step} cost= {loss}", [1, 2, 3, 4]),
    "a cost of a step": ("Iteration {step} | Cost: {loss}", [10, 20, 30, 40]),
    "two periods": ("Epoch: {step}/5..  Training Loss: {loss}..  Test Accuracy: 0.8", [1, 2, 3, 4]),
    "underscores": ("step_{step}:\tloss_{loss}", [20, 40, 60, 80]),
    "Chinese": ("第{step}轮 训练损失：{loss}，准确率：0.5", [1, 2, 3, 4]),
    "Chinese words for rounds": ("轮次 {step}/10，训练损失: {loss}，准确率: 0.5", [1, 2, 3, 4]),
    "Chinese and English": (
        "当前Batch：{step}/6035 | 当前epoch:0/50 | 当前损失值：{loss} | 当前准确率：0.00%",
        [10, 20, 30, 40],
    ),
    "a Chinese mean": ("Epoch [{step}/50] 平均损失: {loss}", [1, 2, 3, 4]),
    "Japanese": ("エポック {step} 損失: {loss} 精度: 0.8", [1, 2, 3, 4]),
    "Korean": ("에폭 {step}/10 손실: {loss} 정확도: 0.8", [1, 2, 3, 4]),
    "Russian": ("Эпоха {step}/10: потери на обучении {loss}, точность 0.8", [1, 2, 3, 4]),
    "loguru": (
        "10:00:00.1 | INFO | __main__:train:57 - epoch={step} train/loss={loss}",
        [1, 2, 3, 4],
    ),
    "a number of numpy's": ("Epoch {step}: loss=np.float64({loss})", [1, 2, 3, 4]),
    "a number of Julia's": ("Epoch: {step} | Loss: Float32({loss})", [1, 2, 3, 4]),
    "NeMo": (
        "Training epoch 0, iteration {step}/999 | global_step: {step} | reduced_train_loss: {loss}",
        [1, 2, 3, 4],
    ),
    "a Chinese course": ("训练次数：{step}，Loss：{loss}", [100, 200, 300, 400]),
    "Detectron": ('json_stats: {{"eta": "1:00:00", "iter": {step}, "loss": "{loss}"}}', [20, 40, 60, 80]),
    "SSD": ("Epoch:1 || Totel iter {step} || L: {loss} C: 3.5||Batch time: 0.4 sec. ||", [0, 10, 20, 30]),
    "YOLACT": (
        "[  1]    {step} || B: 5.5 | C: 3.7 | T: {loss} || ETA: 1:09:04 || timer: 0.3",
        [10, 20, 30, 40],
    ),
    "a loss of a kind": (
        "[01:02:03.4] Epoch: [0]  [{step}/1504]  lr: 2e-05  closs: {loss} (1.1)",
        [0, 20, 40, 60],
    ),
    "Keras-GAN": ("{step} [D loss: {loss}, acc.: 50.00%] [G loss: 0.7]", [0, 1, 2, 3]),
    "an adversary's": ("{step}: [D loss: {loss}, acc: 0.50]  [A loss: 0.7, acc: 0.50]", [48, 49, 50, 51]),
    "a dictionary": ("{{'epoch': {step}, 'train_loss': {loss}}}", [0, 1, 2, 3]),
}


def read(tmp_path: Path, text: str) -> Run:
    (tmp_path / "log.txt").write_text(text)
    return readers.read(tmp_path / "log.txt")


def losses(run: Run, signal: str = "loss") -> list[float | str]:
    return ["nan" if math.isnan(one) else one for one in run[signal].drop_nulls().to_list()]


def test_lightnings_bar_writes_a_nan_with_a_decimal(tmp_path: Path):
    bar = "Epoch 0:   0%|          | {at}/4282 [00:00<02:30, 28.31it/s, v_num=0, train_loss={loss}]\r"
    run = read(
        tmp_path, "".join(bar.format(at=at, loss=loss) for at, loss in ((1, 2.5), (2, "inf.0"), (3, "nan.0")))
    )
    assert [str(one) for one in run["loss"]] == ["2.5", "inf", "nan"]


def test_a_dictionary_of_the_sets_losses_says_what_each_value_is(tmp_path: Path):
    row = "Epoch {at}/30\n---\nrunning_loss: {{'train': -{at}.5, 'val': -2.5}}\n"
    run = read(tmp_path, "".join(row.format(at=at) for at in (1, 2, 3)))
    assert (losses(run), losses(run, "val_loss")) == ([-1.5, -2.5, -3.5], [-2.5] * 3)


@pytest.mark.parametrize(
    "row",
    [
        "Epoch {at} loss: {{'train': {at}.5, 'val': 2.5}} acc: {{'train': 0.5, 'val': 0.25}}",
        "Epoch {at} loss: {{'val': 2.5, 'train': {at}.5}} acc: {{'val': 0.25, 'train': 0.5}}",
    ],
)
def test_dictionaries_of_several_measures_in_any_order(tmp_path: Path, row: str):
    run = read(tmp_path, "".join(f"{row.format(at=at)}\n" for at in (1, 2, 3)))
    assert (losses(run), losses(run, "val_loss")) == ([1.5, 2.5, 3.5], [2.5] * 3)
    assert (run["train acc"].to_list(), run["val acc"].to_list()) == ([0.5] * 3, [0.25] * 3)


@pytest.mark.parametrize("name", SAID)
def test_each_is_read_as_the_pairs_that_it_means(tmp_path: Path, name: str):
    said, steps = SAID[name]
    run = read(
        tmp_path,
        "".join(said.format(step=step, loss=loss) + "\n" for step, loss in zip(steps, LOSSES, strict=True)),
    )
    assert (run.steps.to_list(), losses(run)) == (steps, [2.25, 2.0, "nan", 1.5])
    assert not run.has("val_loss")


@pytest.mark.parametrize(
    "said",
    [
        "Эпоха {step}/10: потери на обучении {loss}, потери на валидации 2.5",
        "エポック {step}/10 訓練損失: {loss} 検証損失: 2.5",
        "轮次 {step}/10，训练损失: {loss}，验证损失: 2.5",
        "Epoch {step}: train MSE {loss}, val MSE 2.5",
        "epoch {step} train bpd {loss} valid bpd 2.5",
        "epoch {step}: nll {loss}, val_nll: 2.5",
    ],
)
def test_losses_by_other_words_with_those_of_held_out_data_beside_them(tmp_path: Path, said: str):
    run = read(tmp_path, "".join(said.format(step=step, loss=step + 0.25) + "\n" for step in range(1, 7)))
    assert (run.steps.to_list(), losses(run)[:2]) == ([1, 2, 3, 4, 5, 6], [1.25, 2.25])
    assert losses(run, "val_loss") == [2.5] * 6


@pytest.mark.parametrize(("printed", "meant"), [("1.#QNAN", "nan"), ("-1.#IND00", "nan"), ("1.#INF", "inf")])
def test_how_windows_prints_what_is_not_finite(tmp_path: Path, printed: str, meant: str):
    run = read(tmp_path, f"Iter 0 loss: 2.5\nIter 10 loss: 2.25\nIter 20 loss: {printed}\n")
    assert str(run["loss"][2]) == meant


def test_fortrans_exponents_of_lbfgs(tmp_path: Path):
    said = "At iterate {0:4d}    f=  {1}D-01    |proj g|=  3.42D-01\n"
    run = read(tmp_path, "".join(said.format(at * 50, 5 - at) for at in range(3)))
    assert (run.steps.to_list(), losses(run)) == ([0, 50, 100], [0.5, 0.4, 0.3])


def test_caffes_test_net_is_validation(tmp_path: Path):
    said = (
        "I0101 solver.cpp:330] Iteration {0}, Testing net (#0)\n"
        "I0101 solver.cpp:397]     Test net output #0: loss = {2} (* 1 = {2} loss)\n"
        "I0101 solver.cpp:218] Iteration {0} (8 iter/s, 1s/100 iters), loss = {1}\n"
    )
    run = read(tmp_path, "".join(said.format(at * 500, 3 - at / 4, 4 - at / 4) for at in range(3)))
    assert (run.steps.to_list(), losses(run)) == ([0, 500, 1000], [3.0, 2.75, 2.5])
    assert losses(run, "val_loss") == [4.0, 3.75, 3.5]


def test_results_of_an_epoch_that_name_the_set_once(tmp_path: Path):
    said = "{0}epoch results: [train] time=3, loss={1}, [valid] acc=0.5, loss={2}, time=1 minute\n"
    run = read(tmp_path, "".join(said.format(at, 3 - at / 4, 4 - at / 4) for at in (1, 2, 3)))
    assert (losses(run), losses(run, "val_loss")) == ([2.75, 2.5, 2.25], [3.75, 3.5, 3.25])


def test_the_test_error_of_pytorchs_quickstart(tmp_path: Path):
    run = read(
        tmp_path,
        "".join(
            f"Epoch {at + 1}\n-------\n"
            + "".join(f"loss: {3 - at - row / 8:>7f}  [{row * 6400 + 64:>5d}/60000]\n" for row in range(3))
            + f"Test Error: \n Accuracy: 3{at}.1%, Avg loss: {2.5 - at / 4:>8f} \n\n"
            for at in range(2)
        ),
    )
    assert losses(run) == [3.0, 2.875, 2.75, 2.0, 1.875, 1.75]
    assert losses(run, "val_loss") == [2.5, 2.25]


def test_train_and_val_beside_a_loss_are_scores(tmp_path: Path):
    run = read(
        tmp_path, "".join(f"Epoch: {at:03d}, Loss: {3 - at}, Train: 0.3, Val: 0.{at}\n" for at in (1, 2))
    )
    assert losses(run) == [2.0, 1.0]
    assert not run.has("val_loss")


@pytest.mark.parametrize(
    "bar",
    [
        "Processing |{0}| ({1}/{1}) Data: 0.1s | Batch: 0.2s | ETA: 0:00:01 | Loss: {2} | top1: 40.1\n",
        " [{3} {1}/{1} {3}>]  Step: 66ms | Tot: 25s | Loss: {2} | Acc: 40.1% (20000/50000)\n",
    ],
)
def test_a_second_bar_below_a_heading_is_of_validation(tmp_path: Path, bar: str):
    run = read(
        tmp_path,
        "".join(
            f"\nEpoch: [{at} | 90] LR: 0.1\n"
            + bar.format("#" * 32, 391, 3 - at / 4, "=" * 28)
            + bar.format("#" * 32, 79, 4 - at / 4, "=" * 28)
            for at in (1, 2, 3)
        ),
    )
    assert (run.steps.to_list(), run.counts) == ([1, 2, 3], "epochs")
    assert (losses(run), losses(run, "val_loss")) == ([2.75, 2.5, 2.25], [3.75, 3.5, 3.25])


@pytest.mark.parametrize("epochs", [1, 2, 5])
def test_a_fit_in_each_turn_of_a_loop_goes_on_with_the_last(tmp_path: Path, epochs: int):
    count = 20 // epochs
    fits = [
        "".join(
            f"Epoch {epoch + 1}/{epochs}\n 9/9 [====] - 3s - loss: {4 - (fit * epochs + epoch) / 10:.4f}\n"
            for epoch in range(epochs)
        )
        for fit in range(count)
    ]
    run = read(tmp_path, "Train on 9 samples\n".join(fits))
    assert losses(run) == pytest.approx([4 - at / 10 for at in range(20)])
    assert run.steps.to_list() == sorted(set(run.steps))


@pytest.mark.parametrize("between", ["\r", "\n", "(683, 1024, 3)\n"])
def test_of_a_first_epoch_that_goes_on_each_state_is_a_row(tmp_path: Path, between: str):
    states = [
        f" {at * 10}/100 [=>......] - ETA: 12:52 - loss: {'nan' if at > 3 else 3 - at / 4}"
        for at in range(1, 7)
    ]
    run = read(tmp_path, "Epoch 1/50\n" + between.join(states))
    assert (run.steps.to_list(), losses(run)) == (
        [10, 20, 30, 40, 50, 60],
        [2.75, 2.5, 2.25, "nan", "nan", "nan"],
    )
    assert run.aggregation("loss").over == "running"


def test_llama_cpp_prints_a_0_before_it_has_trained_on_anything(tmp_path: Path):
    line = "train_opt_callback: iter={0:6d} sample={1}/99 sched=0.0{0}0000 loss={2:.6f} |->\n"
    run = read(
        tmp_path, "".join(line.format(at, 4 * at + 1, loss) for at, loss in enumerate((0, 2.5, 0, 2.25)))
    )
    assert (run.steps.to_list(), losses(run)) == ([0, 1, 2, 3], [2.5, 0.0, 2.25])


def test_bars_that_are_shown_at_their_end_alone_are_numbered(tmp_path: Path):
    run = read(
        tmp_path, "".join(f"acc: 0.5, loss: {4 - at} ||: 100%|####| 99/99 [01:00<00:00]\n" for at in range(3))
    )
    assert (run.steps.to_list(), losses(run)) == ([0, 1, 2], [4.0, 3.0, 2.0])


def test_a_loss_over_the_test_set_in_chinese(tmp_path: Path):
    said = "训练次数：{0}, Loss: {1}\n{2}: {3}\n"
    for called, val in (
        ("测试集上的Loss", [3.75, 3.5, 3.25]),
        ("整体测试集上的Loss", None),
    ):  # a sum is no loss
        text = "".join(said.format(at * 100, 3 - at / 4, called, 4 - at / 4) for at in (1, 2, 3))
        run = read(tmp_path, text)
        assert losses(run) == [2.75, 2.5, 2.25]
        assert (losses(run, "val_loss") if run.has("val_loss") else None) == val


@pytest.mark.parametrize(
    "line",
    [
        "Época {0}: pérdida {1}, pérdida de validación {2}\n",
        "Epoca {0}: perdita di training {1}, perdita di validazione: {2}\n",
        "Epoche {0}: Verlust {1}, Validierung Verlust {2}\n",
        "Époque {0}: perte: {1}\n -> validation {2} nats\n",
        "Époque {0} — perte d'entraînement : {1}, perte de validation : {2}\n",
        "Эпоха {0}: ошибка обучения {1}, точность 0.5, ошибка валидации {2}\n",
        "ep {0}  tr {1}  va {2}  acc 0.5\n",
        "Epoch {0} | CTC loss: {1} | Val CTC loss: {2}\n",
    ],
)
def test_a_held_out_loss_in_another_language(tmp_path: Path, line: str):
    run = read(tmp_path, "".join(line.format(at, 3 - at / 4, 4 - at / 4) for at in (1, 2, 3)))
    assert (run.steps.to_list(), run.counts) == ([1, 2, 3], "epochs")
    assert (losses(run), losses(run, "val_loss")) == ([2.75, 2.5, 2.25], [3.75, 3.5, 3.25])


@pytest.mark.parametrize(
    "line",
    [
        "Época {0} - pérdida: {1} - pérdida de validación: {2}\n",
        "Epoch {0}/9, loss: {1}, val_loss: {2}.\n",
        "Epoche {0}: Verlust {1}  Val-Verlust {2} (1,5 s)\n",
        "Epoche {0} von 3: Trainingsverlust {1}, Validierungsverlust {2}\n",
        "Epoch {0}: train_loss {1}; val_loss {2}\n",
        "Époque {0} — perte entraînement : {1} perte validation : {2}\n",
    ],
)
def test_a_comma_before_the_decimals(tmp_path: Path, line: str):
    written = [[f"{top - at / 4:.2f}".replace(".", ",") for top in (3, 4)] for at in (1, 2, 3)]
    run = read(tmp_path, "".join(line.format(at, *row) for at, row in enumerate(written, 1)))
    assert run.steps.to_list() == [1, 2, 3]
    assert (losses(run), losses(run, "val_loss")) == ([2.75, 2.5, 2.25], [3.75, 3.5, 3.25])


def test_a_comma_between_thousands_is_none(tmp_path: Path):
    run = read(tmp_path, "".join(f"step {at}, loss: {9 - at},250, lr 0.1\n" for at in (1, 2, 3)))
    assert losses(run) == [8250.0, 7250.0, 6250.0]


def test_a_loss_that_a_verb_says_is_held_out(tmp_path: Path):
    said = "Epoch {0} trained with loss: {1}. It took 9 s.\nEpoch {0} evaluated with loss: {2}, dice: 0.5.\n"
    run = read(tmp_path, "".join(said.format(at, 3 - at / 4, 4 - at / 4) for at in (1, 2, 3)))
    assert (losses(run), losses(run, "val_loss")) == ([2.75, 2.5, 2.25], [3.75, 3.5, 3.25])


def test_pytorchs_first_tutorial(tmp_path: Path):
    """Its epoch and batch stand in brackets, with no word for either."""
    said = "".join(
        f"[{epoch},  {batch}] loss: {3 - epoch / 2 - batch / 8000:.3f}\n"
        for epoch in (1, 2)
        for batch in (2000, 4000)
    )
    run = read(tmp_path, said)
    assert (run.steps.to_list(), run.counts) == ([2000, 4000, 6000, 8000], "steps")
    assert losses(run) == [2.25, 2.0, 1.75, 1.5]


def test_over_how_many_a_mean_goes_is_no_value(tmp_path: Path):
    said = "Episode {0} | avg reward (last 10): {1} | avg loss: {2}\n"
    run = read(tmp_path, "".join(said.format(10 * at, 2.5 * at, 1 / at) for at in range(1, 5)))
    assert run["avg reward"].to_list() == [2.5, 5.0, 7.5, 10.0]
    assert losses(run)[:2] == [1.0, 0.5]


def test_a_set_of_data_that_is_said_to_be_done(tmp_path: Path):
    """The last epoch is cut off in its progress, whose `loss` is no better known."""
    said = "----- Epoch: {0}\n--- Training completed.   Loss: {1}, Acc: 10.4 .\n"
    said += "--- Validation completed. Loss: {2} .\n"
    end = "----- Epoch: 7\nTrain 275/460, loss: 0.5, acc: 7.5 | ETA: 00:06:10.\n"
    run = read(tmp_path, "".join(said.format(at, 3 - at / 4, 4 - at / 4) for at in range(1, 7)) + end)
    assert losses(run)[:6] == [2.75, 2.5, 2.25, 2.0, 1.75, 1.5]
    assert losses(run, "val_loss")[:6] == [3.75, 3.5, 3.25, 3.0, 2.75, 2.5]


def test_mxnets_epochs_in_r(tmp_path: Path):
    said = "".join(
        f"[{at}] Train-accuracy={at / 10}\n[{at}] Validation-accuracy={at / 20}\n" for at in range(1, 7)
    )
    run = read(tmp_path, said)
    assert run.steps.to_list() == [1, 2, 3, 4, 5, 6]
    assert run["Validation accuracy"].to_list() == pytest.approx([at / 20 for at in range(1, 7)])


def test_mxnets_speedometer(tmp_path: Path):
    """Its unit is no name; and the mean of an epoch whose last batch closed a mean is nan, of no batch."""
    said = "Epoch[{0}] Batch [{1}]\tSpeed: 19.85 samples/sec\tTrain-Acc=0.5{0}\n"
    said += "Epoch[{0}] Batch [{1}]\tSpeed: 19.85 samples/sec\tTrain-SmoothL1={2}\n"
    end = "Epoch[{0}] Train-Acc=nan\nEpoch[{0}] Train-SmoothL1=nan\nEpoch[{0}] Validation-SmoothL1={1}\n"
    epochs = (
        "".join(said.format(at, batch, 4 - at - batch / 100) for batch in (20, 40)) + end.format(at, 4.5 - at)
        for at in range(3)
    )
    run = read(tmp_path, "".join(epochs))
    assert losses(run) == pytest.approx([3.8, 3.6, 2.8, 2.6, 1.8, 1.6])
    assert losses(run, "val_loss") == [4.5, 3.5, 2.5]
    broken = "".join(said.format(0, 20 * at, "nan" if at > 2 else 4 - at) for at in range(6))
    assert losses(read(tmp_path, broken + end.format(0, 3))) == [4, 3, 2, "nan", "nan", "nan"]


def test_dl4js_score_is_what_is_minimised(tmp_path: Path):
    said = "06:41:02.{0} [main] INFO dl4j.ScoreIterationListener - Score at iteration {0}00 is {1}\n"
    run = read(tmp_path, "".join(said.format(at, 3 - at / 4) for at in range(6)))
    assert run.steps.to_list() == [0, 100, 200, 300, 400, 500]
    assert losses(run) == [3, 2.75, 2.5, 2.25, 2, 1.75]


def test_of_perplexities_alone_the_logarithm_is_the_loss(tmp_path: Path):
    said = "Epoch {0}, train ppl: {1}, val ppl: {2}\n"
    run = read(
        tmp_path, "".join(said.format(at, math.exp(3 - at / 4), math.exp(4 - at / 4)) for at in (1, 2, 3))
    )
    assert losses(run) == pytest.approx([2.75, 2.5, 2.25])
    assert losses(run, "val_loss") == pytest.approx([3.75, 3.5, 3.25])
    assert "perplexity" in [one.key for one in run.remarks]
    run = read(tmp_path, "".join(f"Epoch {at}, loss: {3 - at / 4}, ppl: {2.0**at}\n" for at in (1, 2, 3)))
    assert losses(run) == [2.75, 2.5, 2.25]
    assert "perplexity" not in [one.key for one in run.remarks]


def test_a_count_that_is_the_same_in_all_rows_counts_nothing(tmp_path: Path):
    run = read(tmp_path, "".join(f"Epoch 2 train Loss: {3 - at / 4} Acc :0.0{at}\n" for at in range(6)))
    assert (run.steps.to_list(), run.counts) == (list(range(6)), "rows")
    assert losses(run) == [3.0, 2.75, 2.5, 2.25, 2.0, 1.75]


def test_a_count_of_an_epochs_steps_is_no_step(tmp_path: Path):
    text = "".join(
        f"Epoch {at} |   Training | Elapsed Time: 0:01:00 | Steps: 100 | Loss: {3 - at / 4}\n"
        f"Epoch {at} | Validation | Elapsed Time: 0:00:10 | Steps: 10 | Loss: {4 - at / 4}\n"
        for at in range(3)
    )
    run = read(tmp_path, text)
    assert (run.steps.to_list(), run.counts) == ([0, 1, 2], "epochs")
    assert (losses(run), losses(run, "val_loss")) == ([3.0, 2.75, 2.5], [4.0, 3.75, 3.5])


def test_python_and_polars_rewrite_alike():
    import polars as pl

    lines = [said.format(step=10, loss=2.5) for said, _ in SAID.values()]
    texts = pl.Series(lines)
    for pattern, pairs in (*TRANSLATED, *PHRASES):
        texts = texts.str.replace_all(spelled(pattern), for_polars(pairs))
    assert texts.to_list() == [in_pairs(line) for line in lines]


def test_no_pattern_has_a_class_in_brackets():
    """Polars would take what stands for it there letter by letter: see `lines`."""
    bracketed = re.compile(r"(?<!\\)\[[^\]]*\\[bdsw]")
    patterns = [pattern for pattern, _ in (*TRANSLATED, *PHRASES)]
    for reader in readers.formats().values():
        for lines in (one for one in vars(reader).values() if isinstance(one, Lines)):
            patterns += [one for kind in lines.kinds for one in (kind.pattern, kind.pairs)]
    assert len(patterns) > 50
    assert not [one for one in patterns if bracketed.search(one)]


@pytest.mark.parametrize(
    "said", ["train loss(phase): {loss} test loss(phase): 3.5", "loss (train): {loss}, loss (val): 3.5"]
)
def test_a_word_in_brackets_behind_a_name_is_of_the_name(tmp_path: Path, said: str):
    run = read(tmp_path, "".join(f"epoch: {at} " + said.format(loss=4.5 - at / 4) + "\n" for at in (1, 2, 3)))
    assert (run["loss"].to_list(), run["val_loss"].to_list()) == ([4.25, 4.0, 3.75], [3.5] * 3)


def test_a_validation_loss_after_so_many_epochs(tmp_path: Path):
    text = "".join(f"Validation loss after {at} epochs: {3 - at / 4}\n" for at in range(1, 7))
    (tmp_path / "log.txt").write_text(text)
    run = readers.read(tmp_path / "log.txt")
    assert (run.steps.to_list(), run["val_loss"].to_list()[0]) == ([*range(1, 7)], 2.75)


def test_values_before_the_names_of_two_sets(tmp_path: Path):
    rows = (
        f"Epoch {at}: {2 - at / 8} train loss, 47.1% accuracy | {3 - at / 8} val loss, 40.9% accuracy\n"
        for at in range(1, 7)
    )
    (tmp_path / "log.txt").write_text("".join(rows))
    run = readers.read(tmp_path / "log.txt")
    assert (run["loss"][0], run["val_loss"][0]) == (1.875, 2.875)


@pytest.mark.parametrize(
    "said",
    [
        "[Train {at}/500] {{'scale': 1.0, 'train_loss': {loss}}}",
        "Train [{at}/500] loss: {loss}",
        "Train: [{at}/500] loss: {loss}",
        "train: {at}/500, loss={loss}",
        "Train {at} of 500: loss {loss}",
    ],
)
def test_how_far_training_has_come_is_no_loss(tmp_path: Path, said: str):
    rows = [said.format(at=at, loss=3 - at / 100) for at in range(10, 90, 10)]
    run = read(tmp_path, "\n".join(rows) + "\n")
    assert run["loss"].to_list() == pytest.approx([3 - at / 100 for at in range(10, 90, 10)])
    assert (run.steps.to_list(), [one for one in run.frame.columns if "rain" in one]) == (
        [*range(10, 90, 10)],
        [],
    )


@pytest.mark.parametrize("said", ["Val [{at}/500] loss: {loss}", "val: {at}/500 | loss {loss}"])
def test_nor_is_how_far_validation_has(tmp_path: Path, said: str):
    rows = [
        f"Train [{at}/500] loss: {2 - at / 100}\n" + said.format(at=at, loss=3 - at / 100)
        for at in range(10, 90, 10)
    ]
    run = read(tmp_path, "\n".join(rows) + "\n")
    assert run["val_loss"].to_list() == pytest.approx([3 - at / 100 for at in range(10, 90, 10)])
