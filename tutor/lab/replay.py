"""Replay: one step of a run taken again, to ask what only the model can answer.

Where did the first NaN or Inf appear? Does the step succeed in fp32? Was it the batch or the state, and which
part of the state? What it finds is kept in the run's folder, in `replays/`, for the walk to read.
"""

# ruff: noqa: N806 (capitals name the axes of a tensor)

import copy
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
from torch import Tensor

from tutor.catalog import cut
from tutor.lab.assembly import recipe_of
from tutor.lab.loader import Batch
from tutor.lab.passages import Passages
from tutor.lab.quantities.norms import norm
from tutor.lab.recipe import Recipe
from tutor.lab.rewind import State, rewind, same_bits
from tutor.lab.trainer import Trainer
from tutor.run import Run
from tutor.run.replay import Moved, Replay, Violent

PARTS: tuple[str, ...] = ("weights", "m", "v")
"""The parts of the state that can each be taken from another step."""

_MOMENTS = {"m": "exp_avg", "v": "exp_avg_sq"}
VIOLENT = 10.0
"""An update that moves a parameter so many times farther than its median one is violent."""
FARTHEST = 5  # parameters that are listed
LOOK_BACK = 20  # updates before the step, at least, that show what is usual


@dataclass(frozen=True)
class Asked:
    """Which step is to be taken again, and with what.

    Attributes:
        at: the step.
        batch: the step whose batch it is given; its own where None.
        fp32: whether the forward pass is to be in fp32.
        state: by part, the step before which it is taken; a part that isn't named is that of `at`.
        after: how many further steps are trained, on the batches that follow.
    """

    at: int
    batch: int | None = None
    fp32: bool = False
    state: Mapping[str, int] = field(default_factory=dict)
    after: int = 0

    @property
    def parts(self) -> dict[str, int]:
        """The step of each part of the state."""
        return {part: self.state.get(part, self.at) for part in PARTS}


def first_not_finite(run: Run) -> int | None:
    """The first step whose loss or gradient isn't finite; None where all are.

    Under a scaler of the loss a gradient that overflows now and then is as it should be.
    """
    signals = ["loss", "reduced_loss", *([] if run.has("loss_scale") else ["grad_norm"])]
    bad = (run.frame.filter(~pl.col(one).is_finite()) for one in signals if run.has(one))
    return min((int(rows["step"][0]) for rows in bad if len(rows)), default=None)


def state_of(text: str | None) -> dict[str, int]:
    """Steps by part, from `weights=311,v=315`, or one step for all parts.

    Raises:
        ValueError: it is neither.
    """
    if not text:
        return {}
    if text.strip().isdecimal():
        return dict.fromkeys(PARTS, int(text))
    found = {}
    for assignment in text.split(","):
        part, _, step = (one.strip() for one in assignment.partition("="))
        if part not in PARTS or not step.isdecimal():
            raise ValueError(
                f"--state {cut(text)}: give parts ({', '.join(PARTS)}) and steps, as m=311,v=315, or one step"
            )
        found[part] = int(step)
    return found


def combinations(before: int, at: int) -> list[dict[str, int]]:
    """Every way to take the parts of the state from before step `before` or `at`, but all from `at`."""
    ways = [dict(zip(PARTS, steps, strict=True)) for steps in product((at, before), repeat=len(PARTS))]
    return ways[1:]


def replay(
    run: Path,
    asked: Sequence[Asked],
    logged: Sequence[Mapping[str, Any]],
    on_row: Callable[[Mapping[str, Any]], None] | None = None,
) -> list[Replay]:
    """Take steps again, from the nearest checkpoint before them all, or from the beginning of the run.

    Args:
        run: the run's folder.
        asked: which steps, with what; in order.
        logged: the rows of the run's log, to check what is trained again against.
        on_row: called with each row that is trained again on the way there.

    Raises:
        ValueError: the run can't be trained on, or its checkpoint can't be used.
    """
    recipe, moves = recipe_of(run), _Moves()
    steps = {step for one in asked for step in (max(0, one.at - LOOK_BACK), one.at, *one.parts.values())}
    rewound = rewind(run, recipe, sorted(steps), on_row=on_row, on_step=moves.see)
    common = {"base": rewound.base, "differs": same_bits(rewound.rows, logged)}
    return [_taken(recipe, rewound.states, one, copy.deepcopy(moves), common) for one in asked]


def _taken(
    recipe: Recipe, states: Mapping[int, State], asked: Asked, moves: "_Moves", common: Mapping[str, Any]
) -> Replay:
    """One step taken again from those states; `moves` has seen the updates before it."""
    trainer = Trainer(recipe)
    trainer.restore(_mixed(states, asked), begun=min(asked.parts.values()) > 0)
    moves.see(asked.at, trainer)
    batches = _batches(recipe, states[asked.at], asked)
    loss, grad_norm, passages = _watched(trainer, batches, asked)
    recipe.clip(trainer.optimizer.grads)
    trainer.optimizer.set_lr(recipe.schedule(asked.at))
    if trainer.optimizer.grads:
        trainer.scaler.step(trainer.optimizer.adam)
        trainer.scaler.update()
    moved = moves.since_last(trainer)
    losses = [_trained(trainer, asked.at + ahead) for ahead in range(1, asked.after + 1)]
    return Replay(
        at=asked.at,
        batch=asked.at if asked.batch is None else asked.batch,
        dtype="fp32" if asked.fp32 else recipe.settings.dtype,
        state=asked.parts,
        loss=loss,
        grad_norm=grad_norm,
        passages=passages,
        moved=moved,
        violent=moves.violent,
        after=len(losses),
        mean_after=statistics.fmean(losses) if losses else None,
        losses_after=tuple(losses),
        **common,
    )


def _mixed(states: Mapping[int, State], asked: Asked) -> dict[str, Any]:
    """The state whose parts are each from the step that was asked for; all else is that of `at`."""
    state = dict(states[asked.at])
    own = state["optimizer"]
    moments = {index: dict(held) for index, held in own["state"].items()}
    state["optimizer"] = {**own, "state": moments}
    state["model"] = states[asked.parts["weights"]]["model"]
    for part, name in _MOMENTS.items():
        other = states[asked.parts[part]]["optimizer"]["state"]
        for index, held in moments.items():
            if index in other:
                held[name] = other[index][name]
                if part == "v":  # its correction for the start at zero counts the updates
                    held["step"] = other[index]["step"]
    return copy.deepcopy(state)  # an optimizer goes on with the tensors that it is given


def _batches(recipe: Recipe, state: State, asked: Asked) -> list[Batch] | None:
    """The batches of another step, where one was asked for; None for the step's own."""
    if asked.batch is None or asked.batch == asked.at:
        return None
    loader = recipe.loader(recipe.settings, recipe.corpus, recipe.tokenizer)
    first = 0
    if asked.batch >= asked.at:
        loader.restore(state["loader"])
        first = asked.at
    for step in range(first, asked.batch):
        loader.step(step)
    return loader.step(asked.batch)


def _watched(trainer: Trainer, batches: list[Batch] | None, asked: Asked) -> tuple[float, float, tuple]:
    """Loss, norm of the gradient and passages of the step; its gradients are left to be stepped with."""
    settings = trainer.settings
    if asked.fp32:
        trainer.settings = settings.model_copy(update={"dtype": "fp32"})
    own = trainer.loader.step(asked.at)
    batches = batches or own
    passages, total = Passages(trainer.model), 0.0
    trainer.optimizer.zero_grad()
    for batch in batches:
        moved = trainer.on_device(batch)
        with passages.watched():
            objective = _forward(trainer, moved, passages, len(batches))
            total += float(objective.detach())
            if objective.requires_grad:
                scaled = objective if asked.fp32 else trainer.scaler.scale(objective)
                scaled.backward()
    found = passages.all()
    if trainer.optimizer.grads and not asked.fp32:
        trainer.scaler.unscale_(trainer.optimizer.adam)
    grad_norm = float(norm(trainer.optimizer.grads))
    trainer.settings = settings
    return total, grad_norm, found


def _forward(trainer: Trainer, batch: Batch, passages: Passages, count: int) -> Tensor:
    """What a micro-batch of `count` adds to the objective; each stage on the way is noted."""
    logits_BTV, losses_BT, hidden = trainer.passed(batch)
    passages.stage("logits", hidden[-1], logits_BTV)
    passages.stage("token losses", logits_BTV, losses_BT)
    reduced = trainer.recipe.reduce(losses_BT, batch.mask_BT)
    passages.stage("reduction", losses_BT, reduced)
    objective = trainer.recipe.accumulate(reduced, count)
    passages.stage("objective", reduced, objective)
    return objective


def _trained(trainer: Trainer, step: int) -> float:
    """Train one step more; its mean loss."""
    trainer.step(step)
    return trainer.instruments.read()[-1]["loss"]


class _Moves:
    """How far each parameter moves, update by update, while steps are trained again."""

    def __init__(self) -> None:
        self._before: dict[str, Tensor] = {}
        self._shares: dict[str, list[float]] = {}
        self._step: int | None = None
        self.violent: Violent | None = None

    def see(self, step: int, trainer: Trainer) -> None:
        """The trainer stands before `step`; what its last update moved is known now."""
        if self._step is not None and self._step + 1 == step:
            for one in self._moves(trainer):
                self._judge(one, self._step)
        self._step = step
        self._before = {name: weight.detach().clone() for name, weight in trainer.model.named_parameters()}

    def since_last(self, trainer: Trainer) -> tuple[Moved, ...]:
        """What the last update moved farthest; one that is no longer finite comes first."""
        moves = self._moves(trainer)
        for one in moves:
            self._judge(one, self._step or 0)
        moves.sort(key=lambda one: -one.share if math.isfinite(one.share) else -math.inf)
        return tuple(moves[:FARTHEST])

    def _moves(self, trainer: Trainer) -> list[Moved]:
        found = []
        for name, weight in trainer.model.named_parameters():
            was = self._before[name]
            size = float(was.norm())
            change = float((weight.detach() - was).norm())
            if size:  # a bias that begins at zero moves any number of times its own norm
                found.append(Moved(name=name, share=change / size))
        return found

    def _judge(self, one: Moved, step: int) -> None:
        earlier = self._shares.setdefault(one.name, [])
        usual = statistics.median(earlier) if len(earlier) >= FARTHEST else 0.0
        wild = not math.isfinite(one.share) or (usual > 0 and one.share > VIOLENT * usual)
        if wild and self.violent is None:
            times = one.share / usual if usual else math.inf
            self.violent = Violent(step=step, name=one.name, share=one.share, times=times)
        earlier.append(one.share)
