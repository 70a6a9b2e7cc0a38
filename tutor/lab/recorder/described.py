"""The manifest of a run that isn't ours: what model, optimizer and first step tell, and its owner says."""

import platform
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import nn

from tutor.lab.instruments import names_of
from tutor.lab.quantities.initial_weights import initial_weights
from tutor.lab.quantities.token_histogram import EDGES
from tutor.lab.recorder.forward import Passed
from tutor.lab.recorder.parts import embedding_of
from tutor.lab.shards import ranks
from tutor.run import dtypes

_SCHEDULE = {
    "warmup_steps": ("warmup_steps", "num_warmup_steps", "warmup"),
    "schedule_steps": ("schedule_steps", "num_training_steps", "max_steps", "total_steps"),
    "lr_max": ("lr_max", "max_lr", "lr", "learning_rate"),
    "lr_min": ("lr_min", "min_lr"),
    "kind": ("schedule", "lr_scheduler_type"),
}
"""What the settings may call the schedule's parts."""


def described(
    model: nn.Module,
    optimizers: Sequence[torch.optim.Optimizer],
    settings: Mapping[str, Any],
    vocab_size: int | None,
) -> dict[str, Any]:
    """What is known before the first step; a part that can't be found is left out.

    Args:
        model: unwrapped, its weights as training begins with them.
        optimizers: all that train it.
        settings: what its owner wants kept. They win over what is found.
        vocab_size: None for as many as the first embedding has rows.
    """
    weights = list(model.parameters())
    embedding = embedding_of(model)
    vocab_size = vocab_size or (embedding.num_embeddings if embedding else None)
    found = {
        "settings": _of_optimizer(optimizers[0]) | dict(settings),
        "seed": settings.get("seed"),
        "device": weights[0].device.type if weights else None,
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "platform": f"{platform.system()} {platform.machine()}",
        },
        "vocab_size": vocab_size,
        "parameters": sum(weight.numel() for weight in weights),
        "groups": _groups(model, optimizers),
        "schedule": _schedule(settings),
        "initial": initial_weights(model),
        "token_loss_edges": EDGES,
    }
    return {name: value for name, value in found.items() if value not in (None, {})}


def after_first_step(passed: Passed, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What the first step showed; what its owner said, in `settings`, wins."""
    shape = passed.shapes[0] if passed.shapes else ()
    batch = {
        "rows": settings.get("batch_size") or (shape[0] * ranks()[1] if shape else None),
        "tokens_per_row": settings.get("block_size") or (shape[1] if len(shape) == 2 else None),
        "accumulation": settings.get("accumulation") or len(passed.shapes) or None,
    }
    dtype = str(passed.dtype).removeprefix("torch.")
    known = {"dtype": dtypes.understood(dtype) or dtype} if passed.dtype else {}
    return known | {"batch": {name: value for name, value in batch.items() if value is not None}}


def _of_optimizer(optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """The first group's settings, by the names that tutor's own settings have."""
    group = optimizer.param_groups[0]
    found: dict[str, Any] = {"optimizer": type(optimizer).__name__}
    if "betas" in group:
        found["beta1"], found["beta2"] = (float(beta) for beta in group["betas"])
    found["lr"] = float(
        group.get("initial_lr", group["lr"])
    )  # a scheduler begins with a warm-up's first rate
    for name in ("eps", "weight_decay", "momentum"):
        if name in group:
            found[name] = float(group[name])
    return found


def _groups(model: nn.Module, optimizers: Sequence[torch.optim.Optimizer]) -> list[dict[str, Any]]:
    """The groups of all optimizers, with the names that their parameters have in the model."""
    names = {id(weight): name for name, weight in model.named_parameters()}
    groups = [group for optimizer in optimizers for group in optimizer.param_groups]
    return [
        {
            "name": name,
            "weight_decay": float(group.get("weight_decay", 0.0)),
            "tensors": len(group["params"]),
            "parameters": sum(weight.numel() for weight in group["params"]),
            "names": [names[id(weight)] for weight in group["params"] if id(weight) in names],
        }
        for name, group in zip(names_of(optimizers), groups, strict=True)
    ]


def _schedule(settings: Mapping[str, Any]) -> dict[str, Any]:
    named = {
        part: next((settings[name] for name in names if settings.get(name) is not None), None)
        for part, names in _SCHEDULE.items()
    }
    return {part: value for part, value in named.items() if value is not None}
