"""The callback for Lightning, on a small module that Lightning itself trains."""

from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("lightning")

import torch
from lightning import pytorch as pl
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from tests.callbacks.checked import checked
from tutor import readers
from tutor.callbacks.lightning import TutorCallback

pytestmark = pytest.mark.filterwarnings("ignore")  # Lightning's advice on workers and loggers

VOCAB, LENGTH = 31, 4


class Net(nn.Module):
    """An embedding, two layers of a stream, and a head."""

    def __init__(self, width: int = 32):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width)
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(2))
        self.head = nn.Linear(width, VOCAB)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        stream = self.embed(x).mean(1)
        for layer in self.layers:
            stream = stream + torch.relu(layer(stream))
        return self.head(stream)


class Guess(pl.LightningModule):
    """Guesses a token from the few before it, and keeps what the callback should have seen."""

    def __init__(self, lr: float = 3e-3, warmup: int = 1):
        super().__init__()
        torch.manual_seed(0)
        self.net = Net()
        self.lr, self.warmup = lr, warmup
        self.losses: list[float] = []
        self.norms: list[float] = []

    def loss_of(self, batch: tuple) -> torch.Tensor:
        x, y = batch
        return nn.functional.cross_entropy(self.net(x), y)

    def training_step(self, batch: tuple, _index: int) -> torch.Tensor:
        loss = self.loss_of(batch)
        self.losses.append(loss.item())
        return loss

    def validation_step(self, batch: tuple, _index: int):
        self.log("val_loss", self.loss_of(batch))

    def on_before_optimizer_step(self, _optimizer: object):
        grads = [weight.grad for weight in self.parameters()]
        self.norms.append(torch.nn.utils.get_total_norm(grads).item())

    def configure_optimizers(self) -> dict:
        optimizer = torch.optim.Adam(self.parameters(), lr=self.lr, betas=(0.9, 0.95))
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda at: min(1, (at + 1) / self.warmup))
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


def tokens(rows: int, seed: int = 0) -> DataLoader:
    """Contexts that count upwards, and the token that comes next; one in four is any token."""
    rng = torch.Generator().manual_seed(seed)
    first, noise = (torch.randint(0, VOCAB, (rows, 1), generator=rng) for _ in range(2))
    counted = (first + torch.arange(LENGTH + 1)) % VOCAB
    comes = torch.where(torch.rand(rows, generator=rng) < 0.25, noise[:, 0], counted[:, -1])
    return DataLoader(TensorDataset(counted[:, :-1], comes), batch_size=8)


def fit(
    module: pl.LightningModule,
    *callbacks: pl.Callback,
    rows: int = 64,
    ckpt: str | None = None,
    **options: object,
) -> pl.Trainer:
    asked = {
        "max_steps": 12,
        "accelerator": "cpu",
        "logger": False,
        "enable_checkpointing": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
        "limit_val_batches": 0,
    }
    trainer = pl.Trainer(callbacks=list(callbacks), **(asked | options))
    trainer.fit(module, tokens(rows), tokens(16, seed=1), ckpt_path=ckpt)
    return trainer


def test_a_row_holds_the_loss_the_rate_and_the_norm_before_clipping(tmp_path: Path):
    module = Guess(warmup=5)
    fit(module, TutorCallback(tmp_path / "mine"), gradient_clip_val=0.1)
    run = readers.read(tmp_path / "mine")
    assert run.steps.to_list() == list(range(12))
    assert run["loss"].to_list() == pytest.approx(module.losses, rel=1e-4)
    assert run["grad_norm"].to_list() == pytest.approx(module.norms, rel=1e-4)
    assert run["grad_norm_clipped"].to_list() == pytest.approx([0.1] * 12, rel=1e-3)
    assert run["lr"].to_list() == pytest.approx([3e-3 * min(1, (at + 1) / 5) for at in range(12)])
    assert run["clipped"].to_list() == [True] * 12
    assert run.has("activation_norms")


def test_accumulation_makes_one_row_of_several_batches(tmp_path: Path):
    module = Guess()
    fit(module, TutorCallback(tmp_path / "mine"), accumulate_grad_batches=2)
    run = readers.read(tmp_path / "mine")
    means = [sum(module.losses[at : at + 2]) / 2 for at in range(0, 24, 2)]
    assert run["loss"].to_list() == pytest.approx(means, rel=1e-4)
    assert run["grad_norm"].to_list() == pytest.approx(module.norms, rel=1e-4)
    assert run.manifest.batch.accumulation == 2


def test_the_manifest_says_what_the_trainer_was_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PL_GLOBAL_SEED", "11")
    fit(Guess(), TutorCallback(tmp_path / "mine"), gradient_clip_val=0.7, precision="bf16-mixed")
    manifest = readers.read(tmp_path / "mine").manifest
    assert (manifest.settings["grad_clip"], manifest.settings["beta2"]) == (0.7, 0.95)
    assert (manifest.precision, manifest.seed, manifest.vocab_size) == ("bf16", 11, VOCAB)
    assert (manifest.batch.rows, manifest.batch.tokens_per_row) == (8, LENGTH)


def test_validation_belongs_to_the_step_before_it(tmp_path: Path):
    module = Guess()
    trainer = fit(module, TutorCallback(tmp_path / "mine"), limit_val_batches=2, val_check_interval=4)
    run = readers.read(tmp_path / "mine").logged("val_loss")
    assert run.steps.to_list() == [3, 7, 11]
    assert run["val_loss"][2] == pytest.approx(trainer.callback_metrics["val_loss"].item(), rel=1e-4)


def test_a_checkpoint_at_the_same_step_takes_no_validation_away(tmp_path: Path):
    kept = pl.callbacks.ModelCheckpoint(tmp_path / "kept", every_n_train_steps=4)
    options = {"limit_val_batches": 2, "val_check_interval": 4, "enable_checkpointing": True}
    fit(Guess(), TutorCallback(tmp_path / "mine"), kept, **options)
    run = readers.read(tmp_path / "mine")
    assert run.logged("val_loss").steps.to_list() == [3, 7, 11]
    assert [one.resumes_at for one in run.checkpoints or ()] == [4, 8, 12]


def test_several_optimizers_make_one_row_of_a_step_of_them_all(tmp_path: Path):
    class Two(Guess):
        automatic_optimization = False

        def training_step(self, batch: tuple, index: int) -> torch.Tensor:
            loss = super().training_step(batch, index)
            self.manual_backward(loss)
            for optimizer in self.optimizers():
                optimizer.step()
                optimizer.zero_grad()
            return loss

        def configure_optimizers(self) -> list:
            parts = self.net.embed, nn.ModuleList([self.net.layers, self.net.head])
            return [torch.optim.Adam(part.parameters(), lr=self.lr) for part in parts]

        def on_before_optimizer_step(self, _optimizer: object):
            pass

    module = Two()
    fit(module, TutorCallback(tmp_path / "mine"), max_steps=24)
    run = readers.read(tmp_path / "mine")
    assert run.steps.to_list() == list(range(12))
    assert run["loss"].to_list() == pytest.approx(module.losses, rel=1e-4)


class TestGoingOn:
    def test_from_a_checkpoint_in_the_same_folder(self, tmp_path: Path):
        class Dies(pl.Callback):
            def on_train_batch_end(self, trainer: pl.Trainer, *_: object):
                if trainer.global_step == 10:
                    raise RuntimeError("the machine went down")

        kept = pl.callbacks.ModelCheckpoint(tmp_path / "kept", every_n_train_steps=8, save_top_k=-1)
        with pytest.raises(RuntimeError, match="went down"):
            fit(Guess(), TutorCallback(tmp_path / "mine"), kept, Dies(), enable_checkpointing=True)
        [saved] = (tmp_path / "kept").iterdir()
        fit(Guess(), TutorCallback(tmp_path / "mine"), ckpt=str(saved))
        fit(Guess(), TutorCallback(tmp_path / "whole"))
        run, whole = readers.read(tmp_path / "mine"), readers.read(tmp_path / "whole")
        assert run.steps.to_list() == list(range(12))
        assert run["loss"].to_list() == pytest.approx(whole["loss"].to_list(), rel=1e-4)
        assert [one.resumes_at for one in run.checkpoints or ()] == [8]

    def test_training_anew_takes_a_folder_of_its_own(self, tmp_path: Path, capsys: pytest.CaptureFixture):
        fit(Guess(), TutorCallback(tmp_path / "mine"))
        fit(Guess(), TutorCallback(tmp_path / "mine"))
        assert len(readers.read(tmp_path / "mine-2")) == 12
        assert capsys.readouterr().err.count("mine-2") == 1


def test_training_goes_on_where_nothing_can_be_written(tmp_path: Path, capfd: pytest.CaptureFixture):
    (tmp_path / "file").write_text("no folder")
    assert fit(Guess(), TutorCallback(tmp_path / "file" / "mine")).global_step == 12
    assert capfd.readouterr().err.count("tutor:") == 1


class TestVerdict:
    def test_a_sound_run_is_not_called_sick(self, tmp_path: Path):
        options = {"max_steps": 220, "limit_val_batches": 2, "val_check_interval": 40, "rows": 1760}
        fit(Guess(warmup=20), TutorCallback(tmp_path / "mine"), gradient_clip_val=1.0, **options)
        code, told = checked(tmp_path / "mine")
        assert code == 0, told

    def test_a_rate_that_moves_nothing_is_seen(self, tmp_path: Path):
        fit(Guess(lr=1e-9), TutorCallback(tmp_path / "mine"), max_steps=220, rows=1760)
        code, told = checked(tmp_path / "mine")
        assert (code, told["leaf"]["id"]) == (1, "lr-too-low")
