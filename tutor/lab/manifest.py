"""The manifest: what a run is meant to be, written before its first step."""

import platform
from importlib.metadata import version
from typing import Any

import torch

from tutor.lab.quantities.initial_weights import initial_weights
from tutor.lab.quantities.token_histogram import EDGES
from tutor.lab.tokenizer import RARE_BELOW
from tutor.lab.trainer import Trainer


def describe(trainer: Trainer) -> dict[str, Any]:
    """The manifest's part that says what the run is meant to be."""
    settings, recipe = trainer.settings, trainer.recipe
    return {
        "settings": settings.model_dump(),
        "seed": settings.seed,
        "dtype": settings.dtype,
        "device": settings.device,
        "threads": settings.threads,
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "tokenizers": version("tokenizers"),
            "platform": f"{platform.system()} {platform.machine()}",
        },
        "vocab_size": recipe.tokenizer.size,
        "parameters": sum(weight.numel() for weight in trainer.model.parameters()),
        "layers": settings.n_layer,
        "groups": [
            {
                "name": group.name,
                "weight_decay": group.weight_decay,
                "tensors": len(group.names),
                "parameters": group.flat.numel(),
                "names": list(group.names),
            }
            for group in trainer.optimizer.groups
        ],
        "schedule": {
            "kind": "cosine",
            "warmup_steps": settings.warmup_steps,
            "schedule_steps": settings.schedule_steps,
            "lr_max": settings.lr,
            "lr_min": settings.min_lr,
        },
        "batch": {
            "rows": settings.batch_size,
            "tokens_per_row": settings.block_size,
            "accumulation": settings.accumulation,
        },
        "initial": initial_weights(trainer.model),
        "token_loss_edges": EDGES,
        "rare_below": RARE_BELOW,
        "corpus": {
            "train": len(recipe.corpus.train),
            "val": len(recipe.corpus.validation),
            "boilerplate": len(recipe.corpus.boilerplate),
            "hash": recipe.corpus.hash,
        },
    }
