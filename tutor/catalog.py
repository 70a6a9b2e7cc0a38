"""What there is of a kind, by name: trees, cards and runs, the user's own before the shipped ones.

Whoever asks for a name that isn't there is offered the nearest.
"""

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from tutor import paths


def listing(kind: str, files: Callable[[Path], Iterable[tuple[str, Path]]]) -> dict[str, Path]:
    """Every path of a kind by name; a user's own hides a shipped one of the same name.

    Args:
        kind: the folder's name, "trees" or "runs".
        files: the names and paths in one such folder.
    """
    found: dict[str, Path] = {}
    for folder in paths.folders(kind):
        for name, path in files(folder):
            found.setdefault(name, path)
    return found


def cut(text: str, most: int = 60) -> str:
    """`text` as a line can show it: the middle is left out of one that is longer than `most`."""
    half = most // 2
    return text if len(text) <= most else f"{text[:half]}...{text[-half:]}"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like `name`, if any is."""
    from difflib import get_close_matches  # a walk begins without it

    known = list(known)
    same = [one for one in known if _counted(one) == _counted(name)]
    return next(iter(same or get_close_matches(name, known, n=1, cutoff=0.65)), None)


def _counted(name: str) -> str:
    """The name without the zeros before its numbers: `case-3` is meant for `case-03`."""
    return re.sub(r"(?<!\d)0+(?=\d)", "", name)


def way_on(name: str, known: Iterable[str]) -> str:
    """What to ask for in place of a name that isn't there: the nearest, or all there are."""
    known = list(known)
    near = nearest(name, known)
    return f"did you mean {near}?" if near else f"they are: {', '.join(known)}"


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """One line: there is no such thing, and a way on."""
    return f"there is no {what} {cut(name)!r}; {way_on(name, known)}"
