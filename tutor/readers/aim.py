"""Aim's own store, `.aim/`: recognised and not read, for its format is promised to nobody.

Source: https://aimstack.readthedocs.io/en/latest/ui/pages/explorers.html
"""

from pathlib import Path

from tutor.readers.source import Source

_STORE, _INDEX = ".aim", "run_metadata.sqlite"


def sources(path: Path) -> list[Source]:  # noqa: ARG001
    """None: the store isn't read."""
    return []


def lacks(path: Path) -> str | None:
    """The store, the folder it lies in, or its index."""
    if not (path.name in (_STORE, _INDEX) or (path / _STORE).is_dir() or (path / _INDEX).is_file()):
        return None
    return "it is a store of Aim, which may change: export the metrics of the run as a CSV and give that"
