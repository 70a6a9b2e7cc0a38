"""Keras: `model.fit(..., callbacks=[TutorCallback("runs/mine")])`, on any backend, without torch.

Keras shows a callback the mean loss of the epoch so far. From two such means, and the numbers of batches
behind them, follows the mean of the batches in between, which is what a row holds. It takes batches of one
size: where the last batch of an epoch is smaller, its loss comes out nearer to the epoch's mean than it was.
Keras keeps the mean in fp32: after 100 000 batches of one epoch a row is good to some hundredths, and after a
batch that cost a million times as much as the others the mean doesn't show these any more. Such rows have no
loss until the next epoch. What a model with a `train_step` of its own logs isn't known: it is kept as it is,
and declared a running average.
"""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false
# (Keras needn't be there where types are checked)

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

import keras

from tutor.callbacks.folder import folder_for
from tutor.runfolder.journal import Journal

Logs = dict[str, Any] | None

_FP32 = 2.0**-23
"""How far apart two numbers of fp32 are, in shares of their size: each mean is rounded to half of that."""
_COARSE = 0.1
"""The share of a loss that rounding may be, at most: a row beyond that would show noise."""

_RANKS = ("KERAS_DISTRIBUTION_PROCESS_ID", "RANK")
"""Where several processes train, one of these tells each its number: Keras' variable, or torchrun's."""


class TutorCallback(keras.callbacks.Callback):
    """Records loss, learning rate and validation loss: a row for each update of the weights, counted from 0.

    Keras doesn't show a callback the gradients, so there is no gradient norm.
    """

    def __init__(self, folder: str | PathLike[str], **settings: Any) -> None:
        """A run to be recorded in `folder`.

        Args:
            folder: of the run; `tutor.callbacks.folder` says what happens where there is something.
            settings: more of them to keep in the manifest, by name: plain values.
        """
        super().__init__()
        self._folder, self._settings = folder, settings
        self._journal: Journal | None = None
        self._updates = _Updates()
        self._lr = 0.0

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        """Keras begins its mean anew."""
        self._updates.begin_epoch()

    def on_train_batch_begin(self, batch: int, logs: Logs = None) -> None:
        """Note the rate of the batch. The first opens the folder: weights may be restored before."""
        if self._journal is None:
            self._journal = self._opened()
        self._lr = _number(self.model.optimizer.learning_rate)

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Add a row where the batch was the last before an update."""
        mean = float((logs or {}).get("loss", math.nan))
        found = self._updates.add(batch + 1, mean)
        if found is not None and self._journal is not None:
            losses: dict[str, Any] = {"loss": mean} if _own_step(self.model) else found
            self._journal.add(self._updates.done - 1, lr=self._lr, **losses)

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """What was validated belongs to the newest row."""
        if self._journal is not None and logs and "val_loss" in logs:
            self._journal.measure(val_loss=float(logs["val_loss"]))

    def on_train_end(self, logs: Logs = None) -> None:
        """Write what is left; a `fit` to come goes on in the folder."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def _opened(self) -> Journal:
        optimizer = self.model.optimizer
        start = int(_number(optimizer.iterations))
        self._updates = _Updates(start, optimizer.gradient_accumulation_steps or 1)
        first = not any(int(os.environ.get(name) or 0) for name in _RANKS)
        folder, manifest = (
            folder_for(self._folder, start, main=first),
            manifest_of(self.model, self._settings),
        )
        return Journal(folder, manifest, resume=start > 0, before=start, writes=first)


@dataclass
class _Updates:
    """The updates done, and the mean loss of each, from the mean of the epoch so far.

    Attributes:
        start: how many were done before this training.
        every: how many batches one takes.
    """

    start: int = 0
    every: int = 1
    _batches: int = 0  # trained on, of all epochs
    _epoch: tuple[int, float] = (0, 0.0)  # batches of this epoch, and the sum of their losses
    _waiting: tuple[int, float] = (0, 0.0)  # the same of those since the last update

    @property
    def done(self) -> int:
        """How many updates were done."""
        return self.start + self._batches // self.every

    def begin_epoch(self) -> None:
        """The epoch's mean begins anew; batches that wait for their update go on waiting."""
        self._epoch = (0, 0.0)

    def add(self, batches: int, mean: float) -> dict[str, float] | None:
        """The mean `loss` of the batches behind an update, where these complete one.

        It is left out where the epoch's mean is too coarse to show it.

        Args:
            batches: of the epoch, so far: with `steps_per_execution` several more than at the last call.
            mean: of their losses.
        """
        before, new, total = self.done, batches - self._epoch[0], batches * mean
        count, losses = self._waiting[0] + new, self._waiting[1] + total - self._epoch[1]
        coarse = 2 * _FP32 * max(abs(total), abs(self._epoch[1])) > _COARSE * abs(losses)
        self._epoch, self._batches = (batches, total), self._batches + new
        ended = self.done > before
        self._waiting = (0, 0.0) if ended else (count, losses)
        if not ended:
            return None
        return {} if coarse else {"loss": losses / count}


def manifest_of(model: keras.Model, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What the run is meant to be, as far as the model and its optimizer say."""
    scaled = model.optimizer  # in fp16 Keras puts one that scales the loss around the user's
    optimizer = getattr(scaled, "inner_optimizer", scaled)
    known = {"optimizer": "name", "beta1": "beta_1", "beta2": "beta_2", "eps": "epsilon"}
    kept = {name: getattr(optimizer, key, None) for name, key in known.items()}
    vocab = (layer.input_dim for layer in model.layers if isinstance(layer, keras.layers.Embedding))
    return {
        "settings": kept | _clip(optimizer) | dict(settings),
        "dtype": model.dtype_policy.compute_dtype,
        "versions": {"keras": keras.__version__, "backend": keras.backend.backend()},
        "vocab_size": next(vocab, None),
        "parameters": model.count_params(),
        "batch": {"accumulation": optimizer.gradient_accumulation_steps or 1},
        "schedule": _schedule(optimizer),
        "aggregations": {"loss": {"over": "running"}} if _own_step(model) else {},
    }


def _clip(optimizer: keras.optimizers.Optimizer) -> dict[str, Any]:
    """The bound on the gradient's norm, None without one; nothing where it is of another kind."""
    other = optimizer.clipnorm or optimizer.clipvalue  # of each variable, of each value
    return {} if other else {"grad_clip": optimizer.global_clipnorm}


def _schedule(optimizer: keras.optimizers.Optimizer) -> dict[str, Any]:
    """Keras' cosine decay; another schedule, or a callback that sets the rate, isn't known ahead."""
    rate = optimizer.get_config()["learning_rate"]
    if not isinstance(rate, dict) or rate["class_name"] != "CosineDecay":
        return {}
    config = rate["config"]
    peak = config["warmup_target"] or config["initial_learning_rate"]
    return {
        "kind": "cosine",
        "warmup_steps": config["warmup_steps"],
        "schedule_steps": config["warmup_steps"] + config["decay_steps"],
        "lr_max": peak,
        "lr_min": config["alpha"] * peak,
    }


def _own_step(model: keras.Model) -> bool:
    """Whether the model trains by a step of its own, so that only its author knows what it logs."""
    return type(model).train_step is not keras.Model.train_step


def _number(value: Any) -> float:
    """A number of Keras' or of its backend's, as Python's."""
    return float(keras.ops.convert_to_numpy(value))
