"""The manifest: what a run is meant to be, written before its first step.

A sealed run's manifest is that of the configuration as its engineer believes it to be: the settings and what
was built from them, with neither the break nor its faults, which `truth.json` beside it holds. A break that
is a setting shows among the settings, as it would in real life: there the configuration is the evidence.
"""

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import torch

import tutor
from tutor.card import Role
from tutor.lab.model import DESIGN
from tutor.lab.quantities.initial_weights import initial_weights
from tutor.lab.quantities.token_histogram import EDGES
from tutor.lab.tokenizer import RARE_BELOW
from tutor.lab.trainer import Trainer


@dataclass(frozen=True)
class Purpose:
    """What a run was trained for.

    Attributes:
        command: the command that records it again.
        break_name: how `--break` names the card, None where there is none.
        role: its part beside the other runs of that break.
        changes: the settings that a person asked for over the card's.
        sealed: None, or what a sealed run's truth holds beside its purpose and its faults.
        opens: the tree in which a walk over a sealed run begins; None for the first.
        lineage: the runs that it goes on from, the oldest first, as the manifest has them.
        of: the run that it is an experiment on, by its path; None where it is none.
    """

    command: str = ""
    break_name: str | None = None
    role: Role = "plain"
    changes: Mapping[str, Any] = field(default_factory=dict)
    sealed: Mapping[str, Any] | None = None
    opens: str | None = None
    lineage: tuple[Mapping[str, Any], ...] = ()
    of: str | None = None


def manifest_of(trainer: Trainer, name: str, purpose: Purpose) -> dict[str, Any]:
    """The manifest of a run that `trainer` is about to do."""
    head = {
        "format": 1,
        "name": name,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "tutor": tutor.__version__,
    }
    head |= {"of": purpose.of} if purpose.of else {}
    past = {"lineage": [dict(one) for one in purpose.lineage]}
    if purpose.sealed is None:
        return head | truth_of(trainer, purpose) | describe(trainer) | past
    opens = {"opens": purpose.opens} if purpose.opens else {}
    return head | {"command": "tutor train --sealed", "sealed": True} | opens | describe(trainer) | past


def truth_of(trainer: Trainer, purpose: Purpose) -> dict[str, Any]:
    """What was done to the run on purpose: in its manifest or, where it is sealed, in its `truth.json`."""
    done = [part.data() for part in trainer.recipe.actions]
    actions = {"actions": done} if done else {}
    return (
        {
            "command": purpose.command,
            "break": purpose.break_name,
            "role": purpose.role,
            "changes": dict(purpose.changes),
            "trigger": [part.data() for part in trainer.recipe.trigger],
            "faults": [part.data() for part in trainer.recipe.faults],
        }
        | actions
        | dict(purpose.sealed or {})
    )


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
        "design": DESIGN,
        "token_loss_edges": EDGES,
        "rare_below": RARE_BELOW,
        "corpus": {
            "train": len(recipe.corpus.train),
            "val": len(recipe.corpus.validation),
            "boilerplate": len(recipe.corpus.boilerplate),
            "hash": recipe.corpus.hash,
        },
    }
