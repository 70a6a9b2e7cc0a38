"""The instruments: everything that is measured while a step runs.

A step's numbers are stacked into one vector on the device and stay there; `read` copies out all that
gathered since the last time, so a GPU waits for the log once in twenty steps and not in each. On a CPU a
helper thread measures what one update left while the next batch goes backward.
"""

# ruff: noqa: N803 (capitals name the axes of a tensor)

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice

import torch
from torch import Tensor

from tutor.lab.loader import Batch
from tutor.lab.optimizer import Optimizer, norm
from tutor.settings import Settings

Probe = Callable[[], Tensor]

BIN_WIDTH, BINS = 0.5, 24  # nats; what is over the last edge counts in the last bin
TOKEN_LOSS_EDGES = [BIN_WIDTH * i for i in range(BINS + 1)]
WORST = 5
SCALARS = (
    "loss",
    "probe_loss",
    "grad_norm",
    "grad_norm_clipped",
    "clipped",
    "param_norm",
    "param_norm_decay",
    "param_norm_no_decay",
    "update_norm",
    "adam_m_norm",
    "adam_v_norm",
    "adam_ratio_rms",
    "loss_scale",
    "skipped",
)


class Silent:
    """Instruments that measure nothing: the loop with logging off. It names what the loop tells them."""

    def forward(self, hidden: list[Tensor], losses_BT: Tensor, batch: Batch, probe: Probe) -> None:
        """A micro-batch went forward: hidden streams (B, T, C) by layer, losses (B, T), targets.

        `probe` gives the loss on the probe batch.
        """

    def wait(self) -> None:
        """Gradients, weights and moments are about to change."""

    def gradients(self, before: Tensor, clipped: Tensor, scale: Tensor) -> None:
        """Gradients were clipped; `before` was their norm."""

    def updated(self, scale: Tensor) -> None:
        """Weights have moved, or the scaler saw Inf, skipped the step and lowered `scale`."""

    def read(self) -> list[dict]:
        """The rows gathered since the last time, oldest first."""
        return []


class Instruments(Silent):
    """What is measured at every step."""

    def __init__(self, settings: Settings, optimizer: Optimizer):
        self._settings, self._optimizer = settings, optimizer
        self._bins = torch.arange(BINS, device=settings.device)
        self._kept = [torch.empty_like(flat) for flat in optimizer.flats]  # weights before the update
        self._scratch = [torch.empty_like(flat) for flat in optimizer.flats]
        self._forward: list[tuple[list[Tensor], Tensor, Tensor]] = []
        self._scalars: dict[str, Tensor] = {}
        self._unfinished: tuple[dict[str, Tensor], list] | None = None
        self._rows: list[Tensor] = []
        self._helper = ThreadPoolExecutor(1) if settings.device == "cpu" else None
        self._work: Future | None = None

    def forward(self, hidden: list[Tensor], losses_BT: Tensor, batch: Batch, probe: Probe) -> None:
        """Keep what the micro-batch gave; measure what the last update left while it goes backward.

        Until `wait`, nobody changes weights, moments or gathered gradients: on a CPU a second core can
        read them meanwhile. A GPU has its own queue.
        """
        if not self._forward:
            if self._helper:
                self._work = self._helper.submit(self._between, probe)
            else:
                self._between(probe)
        streams = [stream.detach() for stream in hidden]
        self._forward.append((streams, losses_BT.detach().flatten(), batch.y_BT.flatten()))

    def wait(self) -> None:
        """Done reading."""
        if self._work:
            self._work.result()
            self._work = None

    def gradients(self, before: Tensor, clipped: Tensor, scale: Tensor) -> None:
        """Keep the norm; the one after clipping is measured later."""
        self._scalars |= {"grad_norm": before, "clipped": clipped, "loss_scale": scale}

    def updated(self, scale: Tensor) -> None:
        """The step is over; its row is finished when the next one begins, or when it is read."""
        skipped = scale < self._scalars["loss_scale"]
        self._unfinished = self._scalars | {"skipped": skipped}, self._forward
        self._scalars, self._forward = {}, []

    def read(self) -> list[dict]:
        """The rows gathered since the last time; the one place that waits for the device."""
        self.wait()
        self._finish()
        if not self._rows:
            return []
        table = torch.stack(self._rows).cpu().tolist()
        self._rows = []
        return [self._named(row) for row in table]

    @torch.no_grad()
    def _between(self, probe: Probe) -> None:
        """After one update and before the next."""
        self._finish()
        flats = self._optimizer.flats
        for kept, flat in zip(self._kept, flats, strict=True):
            kept.copy_(flat)
        decay, no_decay = (torch.linalg.vector_norm(flat) for flat in flats)
        self._scalars = {
            "probe_loss": probe(),
            "param_norm": torch.hypot(decay, no_decay),
            "param_norm_decay": decay,
            "param_norm_no_decay": no_decay,
        }

    @torch.no_grad()
    def _finish(self) -> None:
        """The row of the step that was updated last, if it isn't done."""
        if not self._unfinished:
            return
        (scalars, forward), self._unfinished = self._unfinished, None
        hidden, losses, targets = zip(*forward, strict=True)
        losses, targets = torch.cat(losses), torch.cat(targets)
        activations = [norm([stream.float() for stream in layer]) for layer in zip(*hidden, strict=True)]
        worst = losses.topk(min(WORST, len(losses)))
        bins = torch.nan_to_num(losses, nan=1e9, posinf=1e9).div(BIN_WIDTH).clamp(0, BINS - 1).long()
        scalars = scalars | self._moments()
        scalars |= {
            "loss": losses.mean(),
            "grad_norm_clipped": norm(self._optimizer.grads),
            "update_norm": self._moved(),
        }
        self._rows.append(
            torch.cat(
                [
                    torch.stack([scalars[name].float() for name in SCALARS]),
                    torch.stack(activations),
                    (bins[:, None] == self._bins).sum(0).float(),
                    worst.values,
                    targets[worst.indices].float(),
                ]
            )
        )

    def _named(self, row: list[float]) -> dict:
        values = iter(row)
        worst = min(
            WORST, self._settings.batch_size * self._settings.block_size * self._settings.accumulation
        )
        named: dict = {name: next(values) for name in SCALARS}
        named["clipped"], named["skipped"] = bool(named["clipped"]), int(named["skipped"])
        named["activation_norms"] = _take(values, self._settings.n_layer + 1)
        named["token_loss_hist"] = [int(count) for count in _take(values, BINS)]
        named["worst_token_losses"] = _take(values, worst)
        named["worst_tokens"] = [int(token) for token in _take(values, worst)]
        return named

    def _moved(self) -> Tensor:
        """The norm of the update."""
        pairs = zip(self._optimizer.flats, self._kept, self._scratch, strict=True)
        return norm([torch.sub(flat, kept, out=scratch) for flat, kept, scratch in pairs])

    def _moments(self) -> dict[str, Tensor]:
        """Norms of Adam's m and v, and the RMS of g / sqrt(v), v corrected for its start at zero.

        The RMS is that of StableAdamW (Wortsman et al. 2023, arXiv 2304.13013), over all parameters.
        """
        ms, vs, ratios = [], [], []
        correction = torch.ones((), device=self._settings.device)
        moments = self._optimizer.moments()
        for (m, v, count), g, scratch in zip(moments, self._optimizer.grads, self._scratch, strict=False):
            torch.clamp(v, min=self._settings.eps**2, out=scratch).rsqrt_().mul_(g)
            correction = 1 - self._settings.beta2 ** count.to(correction.device)
            ms.append(m)
            vs.append(v)
            ratios.append(scratch)
        if not ms:  # the very first step was skipped
            zero = torch.zeros_like(correction)
            return {"adam_m_norm": zero, "adam_v_norm": zero, "adam_ratio_rms": zero}
        size = sum(len(ratio) for ratio in ratios)
        return {
            "adam_m_norm": norm(ms),
            "adam_v_norm": norm(vs),
            "adam_ratio_rms": norm(ratios) * (correction / size).sqrt(),
        }


def _take(values: Iterator[float], count: int) -> list[float]:
    return list(islice(values, count))
