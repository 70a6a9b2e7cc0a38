"""The recorder itself: from hooks to rows."""

import atexit
import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tutor.lab.instruments import Meter
from tutor.lab.quantities.norms import root
from tutor.lab.quantities.observation import Observation
from tutor.lab.recorder.described import after_first_step, described
from tutor.lab.recorder.finished import finished
from tutor.lab.recorder.forward import Forward, Passed
from tutor.lab.recorder.parts import embedding_of, evaluating, layers_of, unwrapped
from tutor.lab.recorder.ranks import of_all
from tutor.lab.recorder.updates import Updates
from tutor.lab.shards import counts, local, ranks
from tutor.run import dtypes
from tutor.runfolder.buffer import FLUSH_ROWS, FLUSH_SECONDS, Row
from tutor.runfolder.journal import OR_RESUME, Journal
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
        probe: Callable[[], Number] | None = None,
        probe_every: int = 5,
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
            probe: gives the loss on a batch that never changes, in nats; it is called before an update, with
                the model in evaluation mode and gradients off.
            probe_every: steps between two calls of it.
            resume: go on with the folder where there is one. Steps that its log has, and that are trained
                again, are dropped from it.
            flush_rows: rows are copied from the device, and written, when there are so many.
            name: what to call the run; the folder's name where none is given.

        Raises:
            RunExistsError: there is something at `folder`, and it isn't to be resumed.
            ValueError: there is no such layer.
            TypeError: the probe is no function.
        """
        rank, world = ranks()
        if rank == 0 and not resume:
            Record.refuse_taken(Path(folder), OR_RESUME)
        if probe is not None and not callable(probe):
            raise TypeError("probe: a function is wanted that gives the loss on a batch which never changes")
        inner = unwrapped(model)
        optimizers = [optimizer] if isinstance(optimizer, torch.optim.Optimizer) else list(optimizer)
        self._settings, self._dtype, self._scaler = dict(settings or {}), dtype, scaler
        # Processes hand on their rows together, at the same steps: a clock of their own would part them.
        seconds = FLUSH_SECONDS if world == 1 else math.inf
        self._open = {"folder": folder, "resume": resume, "writes": rank == 0}
        self._open |= {"flush_rows": flush_rows, "flush_seconds": seconds, "measured": self._read}
        self._manifest = described(inner, optimizers, self._settings, vocab_size)
        self._manifest |= {"name": name} if name else {}
        embedding = embedding_of(inner)
        self._embedding = embedding.weight if embedding else None
        self._device = next(weight.device for weight in inner.parameters())
        self._model, self._probe, self._probe_every = inner, probe, probe_every
        self._forward = Forward(inner, layers_of(inner, layers))
        self._updates = Updates(optimizers, self._begins, self._ends)
        self._meter = Meter()
        self._journal: Journal | None = None
        self._next = 0
        self._half = True  # whether it trains in fp16, where a step may be skipped
        self._scale = self._scale_now()
        self._lr: Number | None = None
        self._probed: Tensor | None = None
        self._passed: Passed | None = None  # None until the update under way was measured
        self._early: Row = {}  # numbers given before there was a row
        atexit.register(self._end, whole=world == 1, ended=False)

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

        Raises:
            ValueError: a loss, or the norm, isn't one number.
        """
        for name, value in (("loss", loss), ("grad_norm", grad_norm), ("val_loss", val_loss)):
            _refuse_odd(name, value)
        if self._passed is None:  # no optimizer was called, or not all
            self._ends()
        passed, self._passed = self._passed, None
        assert passed is not None
        known = {"lr": self._lr, "val_loss": val_loss} | numbers
        self._add(step, passed, {name: value for name, value in known.items() if value is not None})
        scale, self._scale = self._scale, self._scale_now()
        self._meter.measure(
            Observation(
                losses=_flat(token_losses),
                targets=_flat(targets),
                objective=None if token_losses is None else self._on_device(loss),
                probe_loss=self._probed,
                grad_norm=self._part(self._on_device(grad_norm)),
                scale=scale,
                scale_after=self._scale,
            )
        )
        more = {"loss": self._on_device(loss)} if token_losses is None else {}
        more |= {"batch_hash": torch.cat(passed.hashes)} if passed.hashes else {}
        self._meter.end({name: value for name, value in more.items() if value is not None})
        self._probed = None

    def measure(self, **numbers: Any) -> None:
        """Add numbers to the row of the step just taken; before the first one, to the first."""
        if self._journal:
            self._journal.measure(**_kept(numbers))
        else:
            self._early |= _kept(numbers)

    def declare(self, **aggregations: Mapping[str, Any]) -> None:
        """Say what the values of a signal stand for, where that isn't the value of the step.

        Args:
            aggregations: by signal, as `tutor.run.manifest.Aggregated` has them. The manifest is written at
                the first step: later they are lost.
        """
        self._manifest["aggregations"] = aggregations

    def flush(self) -> None:
        """Write the rows that wait: before a checkpoint, say, since a run that is resumed needs them."""
        if self._journal:
            self._journal.flush()

    def close(self) -> None:
        """Write the rows that wait, and take the hooks off. A second time does nothing.

        Where there are several processes, each has to close its own.
        """
        self._end(whole=True, ended=True)

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, raised: type[BaseException] | None, *_: object) -> None:
        # A process that failed may be the only one: the others would be waited for in vain.
        self._end(whole=raised is None or ranks()[1] == 1, ended=raised is None)

    def _end(self, *, whole: bool, ended: bool) -> None:
        """Take the hooks off, and write the rows that wait where that is the `whole` of them."""
        atexit.unregister(self._end)
        self._updates.remove()
        self._forward.remove()
        if self._journal and whole:
            self._journal.close(ended=ended)

    @torch.no_grad()
    def _begins(self) -> None:
        """The first optimizer is about to step."""
        self._passed, self._lr = None, _copy(self._updates.lr)
        if self._probe is not None and self._probed is None and self._next % self._probe_every == 0:
            with evaluating(self._model):
                self._probed = self._on_device(self._probe())

    @torch.no_grad()
    def _ends(self) -> None:
        """The last optimizer has stepped: measure what only exists until gradients are zeroed."""
        if self._lr is None:
            self._lr = _copy(self._updates.lr)
        self._passed = self._forward.taken()
        groups = self._updates.groups(self._embedding)
        # Of all but the embedding's gradient, as the optimizer was given it.
        rest = None if self._embedding is None else root([part for one in groups for part in one.sums.rest])
        self._meter.measure(Observation(groups=groups, streams=self._passed.streams, rest_norm=rest))
        self._updates.over()

    def _add(self, step: int | None, passed: Passed, known: Row) -> None:
        """Add the row of a step to the journal, which is begun with the first."""
        if self._journal is None:
            dtype = {"dtype": self._dtype} if self._dtype else {}
            manifest = self._manifest | after_first_step(passed, self._settings) | dtype
            self._journal = Journal(manifest=manifest, before=step, **self._open)
            self._next = self._journal.next_step
            self._half = dtypes.understood(manifest.get("dtype", "")) == "fp16"
        step = self._next if step is None else step
        self._next = step + 1
        tokens = ranks()[1] * sum(math.prod(shape) for shape in passed.shapes if len(shape) == 2)
        self._journal.add(step, tokens=tokens, **(self._early | _kept(known)))
        self._early, self._lr = {}, None

    def _read(self) -> list[Row]:
        """The rows measured since the last time, of all processes together."""
        rows = of_all(self._meter.read(), self._device)
        rows = [finished(row, self._settings.get("grad_clip")) for row in rows]
        return rows if self._half else [{"skipped": False} | row for row in rows]

    def _scale_now(self) -> Tensor | None:
        """The factor on the loss, left on the device; None without a scaler."""
        if self._scaler is None or not self._scaler.is_enabled():
            return None
        return self._scaler.scale(torch.ones((), device=self._device))

    def _on_device(self, value: Number | None) -> Tensor | None:
        """The number where the model is, without waiting for the device."""
        if value is None:
            return None
        if isinstance(value, Tensor):
            return value.detach().to(self._device, non_blocking=True)
        return torch.full((), float(value), device=self._device)

    @staticmethod
    def _part(value: Tensor | None) -> Tensor | None:
        """This process's part of a norm over all, which FSDP2 gives as one that isn't summed yet."""
        return local(value) if value is not None and counts(value) else None


def _refuse_odd(name: str, value: object) -> None:
    """Raise ValueError where the value isn't one number."""
    if isinstance(value, Tensor) and value.numel() != 1:
        raise ValueError(
            f"{name}: one number is wanted, not a tensor of the shape {tuple(value.shape)}: take its mean"
        )
    if isinstance(value, str):
        raise ValueError(f"{name}: a number is wanted, not {value!r}")


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
