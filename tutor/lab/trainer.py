"""The trainer: the state of one run, and one step of it.

Forward, backward, clip, step; it asks nothing about breaks: what differs between runs is in the recipe.
"""

# ruff: noqa: N806 (capitals name the axes of a tensor)

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from tutor.lab.checkpoint import like, part
from tutor.lab.instruments import BeforeUpdate, Instruments, Silent
from tutor.lab.loader import Batch
from tutor.lab.memory import keep_freed
from tutor.lab.model import EMBEDDING
from tutor.lab.quantities.norms import norm
from tutor.lab.recipe import DTYPES, THREADS, Recipe, masked_mean

PROBE_ROWS = 2  # a quarter of the default batch: a probe is a forward pass of its own


class Trainer:
    """The state of one run: weights, optimizer, scaler, place in the stream."""

    def __init__(self, recipe: Recipe, *, logging: bool = True):
        self.recipe, self.settings = recipe, recipe.settings
        settings = recipe.settings
        torch.set_num_threads(settings.threads or THREADS)  # sums round as the threads split them
        keep_freed()
        if settings.device == "cuda":
            os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
            torch.use_deterministic_algorithms(True, warn_only=True)
        self.model = recipe.model(settings, recipe.tokenizer.size).to(settings.device)
        self.optimizer = recipe.optimizer(self.model, settings)
        self.scaler = recipe.scaler(settings)
        self.loader = recipe.loader(settings, recipe.corpus, recipe.tokenizer)
        self.instruments = Instruments() if logging else Silent()
        self.held_out = recipe.held_out(settings, recipe.corpus, recipe.tokenizer)
        self.probe = self.on_device(self.held_out, PROBE_ROWS)
        self._one = torch.ones((), device=settings.device)

    def step(self, step: int) -> dict[str, Any]:
        """Train one step; what is known of it without asking the device."""
        lr = self.recipe.schedule(step)
        self.optimizer.set_lr(lr)
        self.optimizer.zero_grad()
        batches = self.loader.step(step)
        for batch in batches:
            moved = self.on_device(batch)
            losses_BT, hidden = self.losses(moved)
            reduced = self.recipe.reduce(losses_BT, moved.mask_BT)
            objective = self.recipe.accumulate(reduced, len(batches))
            self.instruments.forward(hidden, losses_BT, moved.y_BT, objective)
            if objective.requires_grad:  # else every parameter is frozen
                self.scaler.scale(objective).backward()
        self._update(self.probe_loss if step % self.settings.probe_every == 0 else None)
        return {"step": step, "lr": lr} | _describe(batches, self.recipe)

    def _update(self, probe: Callable[[], Tensor] | None) -> None:
        """Clip what backward left, and step; `probe` is measured before the weights change."""
        adam = self.optimizer.adam
        if trains := bool(self.optimizer.grads):
            self.scaler.unscale_(adam)
        rest = norm(self.optimizer.grads_without(EMBEDDING))
        before, clipped = self.recipe.clip(self.optimizer.grads)
        self.instruments.before_update(
            BeforeUpdate(
                adam, grad_norm=before, clipped=clipped, scale=self._scale(), probe=probe, rest_norm=rest
            )
        )
        if trains:
            self.scaler.step(adam)
            self.scaler.update()
        self.instruments.updated(self._scale())

    def _scale(self) -> Tensor | None:
        """The factor on the loss, left on the device; None where there is no scaling."""
        return self.scaler.scale(self._one) if self.scaler.is_enabled() else None

    def losses(self, batch: Batch) -> tuple[Tensor, list[Tensor]]:
        """The loss of each token, (B, T), and the hidden streams."""
        return self.passed(batch)[1:]

    def passed(self, batch: Batch) -> tuple[Tensor, Tensor, list[Tensor]]:
        """The logits (B, T, V), the loss of each token, (B, T), and the hidden streams."""
        dtype = DTYPES[self.settings.dtype]
        with torch.autocast(self.settings.device, dtype, enabled=dtype != torch.float32):
            logits_BTV, hidden = self.model(batch.x_BT)
        return logits_BTV, self.recipe.token_losses(logits_BTV.float(), batch.y_BT), hidden

    def probe_loss(self) -> Tensor:
        """The loss on the fixed held-out batch, left on the device."""
        with torch.inference_mode(), self.recipe.evaluating(self.model):
            return self.losses(self.probe)[0].mean()

    def validate(self, step: int) -> float:
        """The mean loss over the tokens held out that count, at `step`."""
        batch = self.on_device(self.recipe.shard(self.held_out, step))
        with torch.inference_mode(), self.recipe.evaluating(self.model):
            return masked_mean(self.losses(batch)[0], batch.mask_BT).item()

    def state(self) -> dict[str, Any]:
        """Everything that the steps to come depend on."""
        return {
            "model": {name: weight.detach().clone() for name, weight in self.model.named_parameters()},
            "optimizer": self.optimizer.adam.state_dict(),
            "scaler": self.scaler.state_dict(),
            "loader": self.loader.state(),
            "rng": torch.get_rng_state(),
            "device_rng": self._device_rng(),
        }

    def restore(self, state: Mapping[str, Any], *, begun: bool = True) -> None:
        """Go on from `state`.

        Args:
            state: what `state` gave for such a run.
            begun: whether it is that after an update; before the first there are no moments.

        Raises:
            ValueError: it isn't what `state` gave for such a run; nothing can be trained on then.
        """
        weights = part(state, "model")
        named = dict(self.model.named_parameters())
        if weights.keys() != named.keys():
            raise ValueError("its model has other parameters than this run's")
        with torch.no_grad():
            for name, weight in named.items():
                weight.copy_(like(f"model's {name}", weights[name], weight))
        self.optimizer.restore(part(state, "optimizer"), idle=not begun or self.scaler.is_enabled())
        self._restore_scaler(part(state, "scaler"))
        self.loader.restore(part(state, "loader"))
        torch.set_rng_state(like("rng", state.get("rng"), torch.get_rng_state()).cpu())
        self._restore_device_rng(part(state, "device_rng") if "device_rng" in state else {})

    def _device_rng(self) -> dict[str, Tensor]:
        """By device, the state of its own generator, from which dropout draws there; the CPU has no other."""
        device = self.settings.device
        return {} if device == "cpu" else {device: torch.get_device_module(device).get_rng_state()}

    def _restore_device_rng(self, kept: dict[str, Any]) -> None:
        """Go on with what the device's generator was; what was kept on another device holds none for it."""
        for device, ours in self._device_rng().items():
            if device in kept:
                theirs = like("device's rng", kept[device], ours)
                torch.get_device_module(device).set_rng_state(theirs.cpu())

    def _restore_scaler(self, state: dict[str, Any]) -> None:
        """The scale and how long it has held; what else it goes by, the recipe says."""
        ours = self.scaler.state_dict()
        if state.keys() != ours.keys():
            raise ValueError("its scaler isn't that of this run's dtype")
        if not ours:  # nothing is scaled
            return
        scale, held = state["scale"], state["_growth_tracker"]
        if not (isinstance(scale, float) and 0 < scale < math.inf and isinstance(held, int) and held >= 0):
            raise ValueError("its scaler has no scale")
        self.scaler.load_state_dict(ours | {"scale": scale, "_growth_tracker": held})

    def on_device(self, batch: Batch, rows: int | None = None) -> Batch:
        """The batch, or its first `rows` rows, where the model is."""

        def moved(tensor: Tensor) -> Tensor:
            return tensor[:rows].to(self.settings.device, non_blocking=True)

        mask_BT = None if batch.mask_BT is None else moved(batch.mask_BT)
        return replace(batch, x_BT=moved(batch.x_BT), y_BT=moved(batch.y_BT), mask_BT=mask_BT)


def _describe(batches: list[Batch], recipe: Recipe) -> dict[str, Any]:
    """What went into a step."""
    rare: dict[int, int] = {}
    for batch in batches:
        for token, count in batch.rare.items():
            rare[token] = rare.get(token, 0) + count
    order = sorted(rare, key=lambda token: (-rare[token], token))
    return {
        "sentence_ids": [i for batch in batches for i in batch.sentence_ids],
        "rare_tokens": [recipe.tokenizer.name(token) for token in order],
        "rare_counts": [rare[token] for token in order],
        "batch_hash": "".join(batch.hash for batch in batches),
    }
