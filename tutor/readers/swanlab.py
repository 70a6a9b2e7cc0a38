"""SwanLab's own store, `swanlog/`: recognised and not read, for its format is promised to nobody.

Source: https://docs.swanlab.cn/en/guide_cloud/experiment_track/sync-logfile.html
"""

from pathlib import Path

from tutor.readers.source import Source

_ENDING = ".swanlab"
_STORE = "swanlog"


def sources(path: Path) -> list[Source]:  # noqa: ARG001
    """None: the store isn't read."""
    return []


def lacks(path: Path) -> str | None:
    """A file of SwanLab's, the folder of a run with one in it, or of all runs."""
    if not (path.suffix == _ENDING or _holds(path) or _holds(path / _STORE)):
        return None
    return "it is a store of SwanLab, which may change: export the charts of the run as a CSV and give that"


def _holds(folder: Path) -> bool:
    return any(True for pattern in (f"*{_ENDING}", f"run-*/*{_ENDING}") for _ in folder.glob(pattern))
