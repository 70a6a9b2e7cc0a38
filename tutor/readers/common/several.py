"""Several runs in one file: the name that makes the last part of each one's path, `export.csv/RUN-NAME`."""

from collections.abc import Iterable, Iterator

_LONGEST = 60  # characters of a run's name in its path: a file's name has 255 bytes at most

Named = tuple[object, str]
"""A run's id and its name."""


def labels(named: Iterable[Named]) -> Iterator[Named]:
    """Each run's id, and its name as the last part of a path; of one name, the later have their id in it."""
    taken: set[str] = set()
    for id, name in named:
        label = _fit(name) or _fit(str(id)) or "run"
        if label in taken:
            label = f"{label}-{_fit(str(id))[:8]}"
        while label in taken:
            label += "+"
        taken.add(label)
        yield id, label


def _fit(name: str) -> str:
    """What can stand in a path and be typed."""
    signs = (sign if sign.isprintable() and sign not in "/\\" else "_" for sign in name[:_LONGEST])
    return "".join(signs).strip(" .")
