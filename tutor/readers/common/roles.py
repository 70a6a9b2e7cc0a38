"""What the names in printed lines are of: a loss, or what counts steps or epochs."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from tutor.readers.common.guessed import PERPLEXITY
from tutor.run import names

Role = Literal["loss", "per_step", "per_epoch"]
"""What a printed column holds: a loss, or a counter that goes on with each step, as `iter` does, or with each
epoch or what takes its place, as `round` does."""

PLACE = ("lead", "at", "of", "bar")
"""Columns that say where in the run a line stands: `[lead/..][at/of]`, and the batch of a progress bar."""

_PER_EPOCH = (
    *("epoch", "ep", "epochs", "episode", "episodes"),
    *("round", "rounds", "cycle", "cycles", "generation", "generations"),
)
_EPISODES = {"episode", "episodes"}
_PER_STEP = (
    *("step", "steps", "iter", "iteration", "it", "iters", "iterations", "updates", "update"),
    *("batch", "batches", "minibatch", "timestep", "timesteps"),
)
"""Words for counters, as those above; first come those that most often count over the whole run."""
_WHOLE = {"global", "total", "num"}  # what stands before a counter of the whole run
# With these a name is that of a setting or a result: `max steps`, `best epoch`, `time per step`.
_NO_COUNTER = {
    "best",
    "max",
    "last",
    "per",
    "warmup",
    "every",
    "start",
    "accumulation",
    "time",
    "size",
    "log",
}
_LOSS = {"loss", "losses", "xent", "crossentropy", "nll", "ce", "bce", *PERPLEXITY}
_IN_TWO_WORDS = {"cross", "entropy"}
_OF_A_KIND = re.compile(r"[a-z]{1,2}loss")  # `closs`, `gloss`
_NO_LOSS = {"scale", "scaler", "weight", "weights", "coef", "improvement", "fn"}


@lru_cache(maxsize=4096)
def role(name: str) -> Role | None:
    """What a printed name counts or measures, as far as the word tells."""
    words = _words(name)
    parts = {part for word in words for part in word.split("/")}  # `train/loss`
    if _LOSS & parts or parts >= _IN_TWO_WORDS or any(map(_OF_A_KIND.fullmatch, parts)):
        return None if _NO_LOSS & parts else "loss"
    if not words or "/" in name or _NO_COUNTER & set(words):
        return None
    if words[-1] in _PER_EPOCH:
        return "per_epoch"
    return "per_step" if words[-1] in _PER_STEP else None


def _words(name: str) -> list[str]:
    """The words of a printed name."""
    return [word for word in names.spelled(name).split("_") if word]


def named(columns: Iterable[str], kind: Role) -> list[str]:
    """The counters of that kind, first those that most likely count over the whole run."""
    words = _PER_EPOCH if kind == "per_epoch" else _PER_STEP

    def rank(name: str) -> tuple[bool, int]:
        given = _words(name)
        return not _WHOLE & set(given), words.index(given[-1])

    return sorted((name for name in columns if name not in PLACE and role(name) == kind), key=rank)


def counts_episodes(name: str) -> bool:
    """Whether a counter is of episodes."""
    return _words(name)[-1] in _EPISODES
