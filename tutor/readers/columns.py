"""Comma-separated values with a header: a column of steps and one of losses, whatever else there is."""

from pathlib import Path

from tutor.readers import keras, lightning, stable_baselines3, ultralytics, wandb_export
from tutor.readers.common.tables import Table, names_in
from tutor.readers.source import Source
from tutor.run import names
from tutor.words import quoted

_OTHERS = (keras, lightning, stable_baselines3, ultralytics, wandb_export)
"""Those that know a CSV of one tool, and what is odd about it."""
_LOSSES = {"loss", "val_loss"}


def sources(path: Path) -> list[Source]:
    """A file whose first line names a column of steps and one of losses, where no other reader knows it."""
    named = names_in(path)
    if not named or any(other.knows(named) for other in _OTHERS):
        return []
    known = set(names.mapping(named, path).values())
    return [Table(path, "a CSV with a column of steps")] if "step" in known and known & _LOSSES else []


def lacks(path: Path) -> str | None:
    """A CSV whose header names neither, or one of the two."""
    named = names_in(path)
    if not path.is_file() or (len(named) < 2 and path.suffix != ".csv"):
        return None
    return (
        f"as a CSV it needs a column of steps ({_some('step')}) and one of losses ({_some('loss')}); "
        f"it has {quoted(named)}; "
        "name them with --map loss=COLUMN,step=COLUMN"
    )


def _some(signal: str) -> str:
    return ", ".join(names.KNOWN[signal][:3])
