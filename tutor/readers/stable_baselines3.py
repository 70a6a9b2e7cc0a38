"""stable-baselines3's `progress.csv`: a row for each rollout; the loss is empty before the first update.

`time/total_timesteps` counts steps of the environment. The loss of PPO, which logs a `train/clip_range`, is
that of the last minibatch; that of other algorithms a mean since the row before. NaN shows. Where a new name
comes up, the file is written anew with a longer header.
Sources: stable_baselines3/common/logger.py (CSVOutputFormat), ppo/ppo.py, dqn/dqn.py, sac/sac.py
"""

from collections.abc import Sequence
from pathlib import Path

from tutor.readers.common.tables import Table, names_in
from tutor.readers.common.trainers import WINDOW
from tutor.readers.source import Source
from tutor.run import names


def knows(named: Sequence[str]) -> bool:
    """Whether these are the columns of such a file."""
    return "time/total_timesteps" in named


def sources(path: Path) -> list[Source]:
    """A CSV that counts `time/total_timesteps` and has a loss."""
    named = names_in(path)
    if not knows(named) or "loss" not in names.mapping(named, path).values():
        return []
    told = {} if "train/clip_range" in named else {"loss": WINDOW}
    return [Table(path, "stable-baselines3's progress.csv", told)]


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """A CSV without a loss is told by the reader of any."""
    return None
