"""Where trees, runs and learners live: a checkout, an installed wheel, or the user's own folders.

Nothing here imports another room, so every room may ask it.
"""

import contextlib
import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def named_by(text: str) -> Path:
    """The path that a person names: `~` is a home, where there is one of that name."""
    path = Path(text)
    with contextlib.suppress(RuntimeError):
        path = path.expanduser()
    return path


EVERY_LOG = {"metrics", "progress", "results", "history", "log", "main", "trainer_log", "trainer_state"}
"""What tools call the log of every run."""


def by_folder(path: Path, name: str) -> str:
    """The name of a run whose log lies at `path`: its folder's, where its tool calls every log the same."""
    folder = path.resolve().parent.name
    return folder if folder and name.partition(".")[0] in EVERY_LOG else name


def log_name(path: Path, name: str) -> str:
    """What to call the run of that name at `path` wherever it is shown.

    One that is called as its log is has the log's whole name, or its folder's (`by_folder`).
    """
    called_so = name in (path.name, path.stem) and path.is_file()
    return by_folder(path, path.name) if called_so else name


def shipped() -> Path:
    """The folder whose `trees/` and `runs/` came with this copy of tutor."""
    inside_wheel = _PACKAGE / "shipped"
    return inside_wheel if inside_wheel.is_dir() else _PACKAGE.parent


def in_checkout() -> bool:
    """Whether this copy of tutor runs from its own source tree."""
    return (_PACKAGE.parent / "pyproject.toml").is_file() and not (_PACKAGE / "shipped").is_dir()


def folders(kind: str) -> list[Path]:
    """The folders named `kind` ("trees", "runs") to look in: the user's own first, then the shipped one."""
    found = []
    for folder in (Path.cwd() / kind, shipped() / kind):
        if folder.is_dir() and folder.resolve() not in [f.resolve() for f in found]:
            found.append(folder)
    return found


def learners() -> Path:
    """The folder of the learners' notebooks (it may not exist yet).

    `$TUTOR_LEARNERS` wins; then `./learners` where there is one; then the checkout's own; else the
    user's data folder, so that a walk started in any directory doesn't litter it.
    """
    if named := os.environ.get("TUTOR_LEARNERS"):
        return named_by(named)
    here = Path.cwd() / "learners"
    if here.is_dir():
        return here
    if in_checkout():
        return _PACKAGE.parent / "learners"
    data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return named_by(data) / "tutor" / "learners"


def cache() -> Path:
    """The folder of what can be made again at any time (it may not exist yet).

    Raises:
        FileNotFoundError: no home is known to put it in.
    """
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    folder = named if named.is_absolute() else named_by("~/.cache")  # a relative one isn't to be heeded
    if not folder.is_absolute():
        raise FileNotFoundError("the user has no home")
    return folder / "tutor"


def new_runs() -> Path:
    """The folder in which `tutor train` puts a new run."""
    return Path.cwd() / "runs"
