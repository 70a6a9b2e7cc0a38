"""The callback for Keras, on small models that Keras itself trains."""

import json
import os
from pathlib import Path

import pytest

os.environ.setdefault("KERAS_BACKEND", "torch")
keras = pytest.importorskip("keras")

import numpy as np  # noqa: E402 (comes with Keras)

from tests.callbacks.checked import checked  # noqa: E402
from tutor import readers  # noqa: E402
from tutor.callbacks.keras import TutorCallback  # noqa: E402
from tutor.run import Run  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Keras' own, of NumPy

VOCAB, LENGTH = 31, 4


class Losses(keras.callbacks.Callback):
    """The loss of every batch, as a metric that is reset for each shows it."""

    def __init__(self):
        super().__init__()
        self.seen: list[float] = []

    def on_train_batch_begin(self, batch: int, logs: object = None):
        self.model._loss_tracker.reset_state()

    def on_train_batch_end(self, batch: int, logs: dict | None = None):
        self.seen.append(logs["loss"])


def model(model_class: type = keras.Sequential, lr: object = 0.01, **optimizer: object) -> keras.Model:
    """Guesses a token from the few before it."""
    keras.utils.set_random_seed(7)
    built = model_class(
        [
            keras.layers.Input((LENGTH,), dtype="int32"),
            keras.layers.Embedding(VOCAB, 16),
            keras.layers.Flatten(),
            keras.layers.Dense(VOCAB),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    built.compile(optimizer=keras.optimizers.Adam(lr, **optimizer), loss=loss)
    return built


def tokens(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Contexts that count upwards, and the token that comes next; one in four is any token."""
    rng = np.random.default_rng(0)
    counted = (rng.integers(0, VOCAB, (rows, 1)) + np.arange(LENGTH + 1)) % VOCAB
    noise = rng.integers(0, VOCAB, rows)
    return counted[:, :-1], np.where(rng.random(rows) < 0.25, noise, counted[:, -1])


def fit(built: keras.Model, *callbacks: keras.callbacks.Callback, rows: int = 64, **options: object):
    x, y = tokens(rows)
    asked = {"batch_size": 8, "epochs": 1, "shuffle": False, "verbose": 0}
    built.fit(x, y, callbacks=list(callbacks), **(asked | options))


def read(folder: Path) -> Run:
    return readers.read(folder)


def test_a_row_holds_the_loss_of_its_own_batch_and_not_the_mean_of_the_epoch(tmp_path: Path):
    reference = Losses()
    fit(model(), reference, epochs=3)
    fit(model(), TutorCallback(tmp_path / "mine"), epochs=3)
    run = read(tmp_path / "mine")
    assert run.steps.to_list() == list(range(24))
    assert run["loss"].to_list() == pytest.approx(reference.seen, rel=1e-4)
    assert run.aggregation("loss").over == "instant"


def test_what_the_mean_of_an_epoch_with_a_blow_up_no_longer_shows_is_left_out(tmp_path: Path):
    """Differences of its rounded means were negative losses of thousands."""
    reference, (x, y) = Losses(), np.ones((2, 64, 1))
    x[3] = 1e8
    for callback in (reference, TutorCallback(tmp_path / "mine")):
        keras.utils.set_random_seed(7)
        built = keras.Sequential([keras.layers.Input((1,)), keras.layers.Dense(1)])
        built.compile(optimizer=keras.optimizers.SGD(0.0), loss="mse")
        built.fit(x, y, batch_size=1, epochs=2, shuffle=False, verbose=0, callbacks=[callback])
    run = read(tmp_path / "mine")
    assert run.steps.to_list() == list(range(128))
    kept = {step: loss for step, loss in enumerate(run["loss"]) if loss is not None}
    assert [*kept] == [*range(4), *range(64, 68)]
    assert [*kept.values()] == pytest.approx([reference.seen[step] for step in kept], rel=1e-4)


def test_the_manifest_says_what_the_model_and_the_optimizer_say(tmp_path: Path):
    decay = keras.optimizers.schedules.CosineDecay(0.0, 20, alpha=0.1, warmup_target=0.01, warmup_steps=4)
    fit(model(lr=decay, beta_2=0.95, global_clipnorm=1.0), TutorCallback(tmp_path / "mine", data="counting"))
    manifest = read(tmp_path / "mine").manifest
    assert manifest.settings["grad_clip"] == 1.0
    assert manifest.settings["beta2"] == 0.95
    assert manifest.settings["data"] == "counting"
    assert manifest.vocab_size == VOCAB
    assert manifest.precision == "fp32"
    schedule = manifest.schedule
    assert (schedule.kind, schedule.warmup_steps, schedule.schedule_steps) == ("cosine", 4, 24)
    assert (schedule.lr_max, schedule.lr_min) == pytest.approx((0.01, 0.001))


def test_a_row_holds_the_rate_that_its_batch_was_trained_with(tmp_path: Path):
    decay = keras.optimizers.schedules.CosineDecay(0.01, 20)
    fit(model(lr=decay), TutorCallback(tmp_path / "mine"))
    expected = [float(decay(step)) for step in range(8)]
    assert read(tmp_path / "mine")["lr"].to_list() == pytest.approx(expected)


def test_accumulation_makes_one_row_of_several_batches_across_epochs(tmp_path: Path):
    reference = Losses()
    fit(model(gradient_accumulation_steps=3), reference, epochs=3)
    fit(model(gradient_accumulation_steps=3), TutorCallback(tmp_path / "mine"), epochs=3)
    run = read(tmp_path / "mine")
    means = [sum(reference.seen[at : at + 3]) / 3 for at in range(0, 24, 3)]
    assert run["loss"].to_list() == pytest.approx(means, rel=1e-4)
    assert run.manifest.batch.accumulation == 3


def test_validation_belongs_to_the_last_row_of_its_epoch(tmp_path: Path):
    x, y = tokens(16)
    built = model()
    fit(built, TutorCallback(tmp_path / "mine"), epochs=2, validation_data=(x, y))
    run = read(tmp_path / "mine").logged("val_loss")
    assert run.steps.to_list() == [7, 15]
    assert run["val_loss"][1] == pytest.approx(built.evaluate(x, y, verbose=0), rel=1e-4)


def test_what_a_step_of_ones_own_logs_is_declared_a_running_average(tmp_path: Path):
    class Own(keras.Sequential):
        def train_step(self, data: object) -> dict:
            return super().train_step(data)

    fit(model(Own), TutorCallback(tmp_path / "mine"))
    assert read(tmp_path / "mine").aggregation("loss").over == "running"


class TestGoingOn:
    def test_a_model_that_is_loaded_goes_on_where_its_optimizer_stands(self, tmp_path: Path):
        whole, saved = tmp_path / "whole", tmp_path / "model.keras"
        fit(built := model(), TutorCallback(tmp_path / "mine"), epochs=2)
        built.save(saved)
        fit(built, TutorCallback(tmp_path / "mine"), epochs=2)  # lost with its process, say
        fit(keras.models.load_model(saved), TutorCallback(tmp_path / "mine"), epochs=1)
        fit(model(), TutorCallback(whole), epochs=3)
        run = read(tmp_path / "mine")
        assert run.steps.to_list() == list(range(24))
        assert run["loss"].to_list() == pytest.approx(read(whole)["loss"].to_list(), rel=1e-4)

    def test_training_anew_takes_a_folder_of_its_own(self, tmp_path: Path, capsys: pytest.CaptureFixture):
        fit(model(), TutorCallback(tmp_path / "mine"))
        before = (tmp_path / "mine" / "metrics.jsonl").read_text()
        fit(model(lr=0.1), TutorCallback(tmp_path / "mine"))
        assert (tmp_path / "mine" / "metrics.jsonl").read_text() == before
        assert len(read(tmp_path / "mine-2")) == 8
        assert "mine-2" in capsys.readouterr().err


def test_training_goes_on_where_nothing_can_be_written(tmp_path: Path, capsys: pytest.CaptureFixture):
    (tmp_path / "file").write_text("no folder")
    fit(built := model(), TutorCallback(tmp_path / "file" / "mine"), epochs=2)
    assert int(built.optimizer.iterations.numpy()) == 16
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("variable", ["RANK", "KERAS_DISTRIBUTION_PROCESS_ID"])
def test_of_several_processes_the_first_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
):
    monkeypatch.setenv(variable, "1")
    fit(model(), TutorCallback(tmp_path / "mine"))
    assert not (tmp_path / "mine").exists()
    monkeypatch.setenv(variable, "0")
    fit(model(), TutorCallback(tmp_path / "mine"))
    assert len(read(tmp_path / "mine")) == 8


def test_an_exploding_loss_shows_as_it_is(tmp_path: Path):
    fit(model(lr=1e30), TutorCallback(tmp_path / "mine"), epochs=2)
    rows = [json.loads(line) for line in (tmp_path / "mine" / "metrics.jsonl").read_text().splitlines()]
    assert rows[-1]["loss"] == "NaN"


class TestVerdict:
    """Without a gradient norm not every question can be answered: at best nothing is found."""

    def test_a_sound_run_is_not_called_sick(self, tmp_path: Path):
        callback = TutorCallback(tmp_path / "mine")
        fit(model(lr=3e-3), callback, rows=256, epochs=8, validation_data=tokens(64))
        code, told = checked(tmp_path / "mine")
        assert (code, told["verdict"]) == (2, "undecided"), told

    def test_a_rate_that_moves_nothing_is_seen(self, tmp_path: Path):
        fit(model(lr=1e-9), TutorCallback(tmp_path / "mine"), rows=2048)
        code, told = checked(tmp_path / "mine")
        assert (code, told["leaf"]["id"]) == (1, "never-learned")
