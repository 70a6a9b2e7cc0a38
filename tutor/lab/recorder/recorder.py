"""The recorder itself: from hooks to rows."""

import atexit
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tutor.lab.instruments import Meter, Update, groups_of, parameters
from tutor.lab.quantities.observation import Group, Observation, norm
from tutor.lab.recorder.described import after_first_step, described
from tutor.lab.recorder.finished import finished
from tutor.lab.recorder.forward import Forward, Passed
from tutor.lab.recorder.parts import embedding_of, layers_of, unwrapped
from tutor.runfolder.buffer import FLUSH_ROWS, Row
from tutor.runfolder.journal import Journal
from tutor.runfolder.writer import Record

Number = Tensor | float


class Recorder:
    """Records a loop into a run folder."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        model: nn.Module,
        optimizer: torch.optim.Optimizer | Sequence[torch.optim.Optimizer],
        *,
        scaler: torch.amp.GradScaler | None = None,
        settings: Mapping[str, Any] | None = None,
        dtype: str | None = None,
        vocab_size: int | None = None,
        layers: Sequence[str] | None = None,
        resume: bool = False,
        flush_rows: int = FLUSH_ROWS,
        name: str | None = None,
    ) -> None:
        """Hooks on the model and on the optimizer; the folder is made at the first step.

        Args:
            folder: where the run is to be; it mustn't exist, unless `resume`.
            model: what is trained, wrapped or not, and compiled or not (but before its first forward pass).
            optimizer: one of torch's or several. Each must be built before.
            scaler: of the loss, where there is one.
            settings: what should be kept of the run's configuration, as plain values: `grad_clip`,
                `warmup_steps`, `lr_max`, `batch_size` and others that the questions ask for by the names of
                `tutor.settings`, and any more.
            dtype: of the forward pass; found out where it isn't given.
            vocab_size: as many as the first embedding has rows, where it isn't given.
            layers: names of the modules whose outputs are the hidden streams, in order; the largest list of
                modules of one kind where they aren't given.
            resume: go on with the folder where there is one. Steps that its log has, and that are trained
                again, are dropped from it.
            flush_rows: rows are copied from the device, and written, when there are so many.
            name: what to call the run; the folder's name where none is given.

        Raises:
            RunExistsError: there is something at `folder`, and it isn't to be resumed.
            ValueError: there is no such layer.
        """
        if not resume:
            Record.refuse_taken(Path(folder))
        inner = unwrapped(model)
        self._optimizers = [optimizer] if isinstance(optimizer, torch.optim.Optimizer) else list(optimizer)
        self._settings, self._dtype, self._scaler = dict(settings or {}), dtype, scaler
        self._open = {"folder": folder, "resume": resume, "flush_rows": flush_rows}
        self._manifest = {"name": name} if name else {}
        self._manifest |= described(inner, self._optimizers, self._settings, vocab_size)
        embedding = embedding_of(inner)
        self._embedding = embedding.weight if embedding else None
        self._device = next(inner.parameters()).device
        self._forward = Forward(inner, layers_of(inner, layers))
        self._updates = {id(one): Update() for one in self._optimizers}
        self._hooks = [
            hook
            for one in self._optimizers
            for hook in (
                one.register_step_pre_hook(self._begins),
                one.register_step_post_hook(self._ends),
            )
        ]
        self._meter = Meter()
        self._journal: Journal | None = None
        self._stepped: set[int] = set()  # the optimizers that did, in the step under way
        self._lr: Number | None = None
        self._passed: Passed | None = None  # None until the update under way was measured
        self._scale = self._scale_now()
        self._early: Row = {}  # numbers given before there was a row
        atexit.register(self.close)

    def step(
        self,
        loss: Number | None = None,
        *,
        step: int | None = None,
        grad_norm: Number | None = None,
        token_losses: Tensor | Sequence[Tensor] | None = None,
        targets: Tensor | Sequence[Tensor] | None = None,
        val_loss: Number | None = None,
        **numbers: Any,
    ) -> None:
        """Record a step, once per step of the optimizer and after it (and after `scaler.update()`).

        Args:
            loss: the mean loss of the step, in nats. Where `token_losses` are given it is the scalar whose
                gradient the step took, and the mean is theirs.
            step: its number; counted on from the last one where it isn't given.
            grad_norm: norm of the whole gradient before clipping, as `clip_grad_norm_` returns it. Where it
                isn't given, that of the gradient which the optimizer was given, if that is under the
                settings' `grad_clip`.
            token_losses: the loss of each token, in nats, of any shape; a list where there are micro-batches.
            targets: the token to be predicted at each of these places.
            val_loss: the loss on what is held out, in nats, where it was evaluated.
            numbers: more of the row, by the names of `tutor.signals` or any others.
        """
        if self._passed is None:
            self._measure_update()
        passed, self._passed = self._passed, None
        assert passed is not None
        scale, self._scale = self._scale, self._scale_now()
        known = {"lr": self._lr, "val_loss": val_loss} | numbers
        self._add(step, passed, {name: value for name, value in known.items() if value is not None})
        seen = Observation(
            losses=_flat(token_losses),
            targets=_flat(targets),
            objective=None if loss is None or token_losses is None else self._on_device(loss),
            grad_norm=None if grad_norm is None else self._on_device(grad_norm),
            scale=scale,
            scale_after=self._scale,
        )
        self._meter.measure(seen)
        more = {} if loss is None or token_losses is not None else {"loss": self._on_device(loss)}
        self._meter.end(more | ({"batch_hash": torch.cat(passed.hashes)} if passed.hashes else {}))

    def measure(self, **numbers: Any) -> None:
        """Add numbers to the row of the step just taken; before the first one, to the first."""
        if self._journal:
            self._journal.measure(**_kept(numbers))
        else:
            self._early |= _kept(numbers)

    def close(self) -> None:
        """Write the rows that wait, and take the hooks off. A second time does nothing."""
        atexit.unregister(self.close)
        for hook in self._hooks:
            hook.remove()
        self._forward.remove()
        if self._journal:
            self._journal.close()

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begins(self, optimizer: torch.optim.Optimizer, *_: object) -> None:
        """The optimizer is about to step."""
        self._passed = None
        if not self._stepped:
            self._lr = self._lr_now()
        self._updates[id(optimizer)].begins(optimizer)

    def _ends(self, optimizer: torch.optim.Optimizer, *_: object) -> None:
        """The optimizer has stepped."""
        self._stepped.add(id(optimizer))
        if len(self._stepped) == len(self._optimizers):
            self._measure_update()

    @torch.no_grad()
    def _measure_update(self) -> None:
        """Measure what only exists until gradients are zeroed."""
        groups = [group for one in self._optimizers for group in self._groups(one)]
        gradients = [
            weight.grad
            for one in self._optimizers
            for group in one.param_groups
            for weight in group["params"]
            if weight.grad is not None and weight is not self._embedding
        ]
        self._passed = self._forward.taken()
        rest = norm(gradients) if self._embedding is not None else None
        self._meter.measure(Observation(groups=groups, streams=self._passed.streams, rest_norm=rest))
        self._stepped = set()

    def _groups(self, optimizer: torch.optim.Optimizer) -> list[Group]:
        """Its groups; the parameters of one that didn't step are where they were."""
        if id(optimizer) in self._stepped:
            return self._updates[id(optimizer)].groups(optimizer)
        return groups_of(optimizer, parameters(optimizer))

    def _add(self, step: int | None, passed: Passed, known: Row) -> None:
        """Add the row of a step to the journal, which is begun with the first."""
        if self._journal is None:
            dtype = {"dtype": self._dtype} if self._dtype else {}
            manifest = self._manifest | after_first_step(passed, self._settings) | dtype
            self._journal = Journal(**self._open, manifest=manifest, before=step, measured=self._read)
            self._next = self._journal.next_step
        step = self._next if step is None else step
        self._next = step + 1
        tokens = sum(math.prod(shape) for shape in passed.shapes if len(shape) == 2)
        self._journal.add(step, tokens=tokens, **(self._early | _kept(known)))
        self._early = {}

    def _read(self) -> list[Row]:
        """The rows measured since the last time; columns of what can't be had are left out."""
        return [finished(row, self._settings.get("grad_clip")) for row in self._meter.read()]

    def _lr_now(self) -> Number:
        """The first group's learning rate, before a scheduler changes it."""
        return _copy(self._optimizers[0].param_groups[0]["lr"])

    def _scale_now(self) -> Tensor | None:
        """The factor on the loss, left on the device; None without a scaler."""
        if self._scaler is None or not self._scaler.is_enabled():
            return None
        return self._scaler.scale(torch.ones((), device=self._device))

    def _on_device(self, value: Number) -> Tensor:
        """The number where the model is, without waiting for the device."""
        if isinstance(value, Tensor):
            return value.detach().to(self._device)
        return torch.full((), float(value), device=self._device)


def _flat(values: Tensor | Sequence[Tensor] | None) -> Tensor | None:
    """The values of all micro-batches, (N,)."""
    if values is None or isinstance(values, Tensor):
        return None if values is None else values.detach().flatten()
    return torch.cat([value.detach().flatten() for value in values])


def _kept(numbers: Row) -> Row:
    """The numbers as they are now: a tensor may change in place before it is written."""
    return {name: _copy(value) for name, value in numbers.items()}


def _copy(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, Tensor) else value
