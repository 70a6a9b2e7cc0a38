"""Arguments and options that commands share, looked up or refused in one line."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from tutor import terminal

if TYPE_CHECKING:
    from tutor.following.growing import Growing
    from tutor.run import Run
    from tutor.tree import Tree


def fail(message: object) -> NoReturn:
    """End with one line that says what is wrong, and exit code 2."""
    terminal.refuse(message)
    raise typer.Exit(2)


def program() -> list[str]:
    """What to type for this program: its name where the shell finds it, else as it was called."""
    if shutil.which("tutor"):
        return ["tutor"]
    called = Path(sys.argv[0])
    return ["python", "-m", "tutor"] if called.name == "__main__.py" else [os.path.relpath(called)]


def complete_run(incomplete: str) -> list[str]:
    """Runs that begin so, for the shell."""
    from tutor import readers

    paths = [*readers.available(), *(str(path) for path in readers.available().values())]
    return [path for path in paths if path.startswith(incomplete)]


def complete_tree(incomplete: str) -> list[str]:
    """Trees that begin so, for the shell."""
    from tutor import tree

    return [name for name in tree.available() if name.startswith(incomplete)]


def complete_break(incomplete: str) -> list[str]:
    """Breaks that begin so, for the shell."""
    from tutor import card

    return [name for name in card.available() if name.startswith(incomplete)]


def lang(given: str | None, learner: str | None = None) -> str:
    """The language asked for, else the one that `learner` chose in the app, else the one of the environment,
    else English.

    What scripts read is nobody's: without a learner it doesn't change with a key pressed in the app.
    """
    from tutor import preferences
    from tutor.words import LANGUAGES

    if given is not None and given not in LANGUAGES:
        fail(f"there is no language {given!r}: tutor speaks {' and '.join(LANGUAGES)}")
    if given is None and learner is not None and (chosen := preferences.read(learner).lang):
        return chosen
    system = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    return given or (system[:2] if system[:2] in LANGUAGES else "en")


def run(name: str) -> "Run":
    """The run of that path or name, read."""
    from tutor import readers
    from tutor.run import BadRunError

    try:
        return readers.open_run(name)
    except BadRunError as error:
        fail(error)


def told(
    map_: list[str] | None,
    set_: list[str] | None,
    format_: str | None,
    *,
    remember: str | None = None,
) -> None:
    """Take the user at their word about logs: their columns' names, facts of the configuration, the format.

    Args:
        map_: as `--map` gives it.
        set_: as `--set` gives it.
        format_: as `--format` gives it.
        remember: the path of the log beside which names and facts are kept; None: they hold for this time.
    """
    from tutor import readers
    from tutor.run import BadRunError, called, given

    try:
        said, facts = called.parsed(map_ or ()), given.parsed(set_ or ())
        readers.want(format_)
        called.call(said)
        given.give(facts)
        if remember is not None:
            if not (said or facts):
                fail("--remember keeps what --map and --set say: give one of them too")
            log = readers.open_run(remember).path  # a name that doesn't fit it is refused
            kept = [called.keep(log, said)] if said else []
            kept += [given.keep(log, facts)] if facts else []
            places = " and ".join(map(str, kept))
            terminal.warn(f"kept in {places}: from now on tutor reads the logs of that folder by it")
    except (ValueError, BadRunError) as error:
        fail(error)
    except OSError as error:
        fail(f"that can't be kept: {error.strerror}")


def complete_claim(incomplete: str) -> list[str]:
    """Claims that begin so, for the shell."""
    from tutor import evidence

    return [name for name in evidence.available() if name.startswith(incomplete)]


def complete_fact(incomplete: str) -> list[str]:
    """Facts that begin so, for the shell."""
    from tutor.run.facts import FACTS

    return [f"{name}=" for name in FACTS if name.startswith(incomplete)]


def complete_format(incomplete: str) -> list[str]:
    """Formats that begin so, for the shell."""
    from tutor import readers

    return [name for name in readers.formats() if name.startswith(incomplete)]


def tree(name: str, *, checked: bool = True) -> "Tree":
    """The tree of that name, or in that file; see `tutor.tree.find`."""
    from tutor import tree

    try:
        return tree.find(name, checked=checked)
    except ValueError as error:
        fail(error)


def growing(path: Path, *, follow: bool, silent_after: float | None) -> "Growing | None":
    """What follows the run at `path`; None where that isn't asked for."""
    if not follow:
        if silent_after is not None:
            fail("--silent-after says when a run that is followed is presumed dead: give --follow too")
        return None
    from tutor.following.growing import SILENT_AFTER, Growing

    return Growing(path, SILENT_AFTER if silent_after is None else silent_after)


def learner(name: str | None) -> str:
    """A name fit for a notebook; the usual one when none is given."""
    from tutor.learner import default_learner, learner_name

    try:
        return learner_name(name) if name is not None else default_learner()
    except ValueError as error:
        fail(error)


@contextmanager
def lab() -> Iterator[None]:
    """Where the lab is imported: without torch, a line says how to get it."""
    from tutor.paths import in_checkout

    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "tokenizers"):
            raise
        pinned = "pip install -c constraints.txt '.[train]'"  # the versions that the tests run with
        fail(
            "training needs torch and tokenizers; get them with: "
            + (pinned if in_checkout() else "pip install torch tokenizers")
        )


def folder(name: str) -> Path:
    """The path of the run of that path or name."""
    from tutor import readers
    from tutor.run import BadRunError

    try:
        return readers.locate(name)
    except BadRunError as error:
        fail(error)


RunArgument = Annotated[
    str, typer.Argument(help="A run's folder, or its name.", metavar="RUN", autocompletion=complete_run)
]
OptionalRunArgument = Annotated[
    str | None,
    typer.Argument(
        help="A run's folder, or its name; to be picked where none is given.",
        metavar="[RUN]",
        autocompletion=complete_run,
    ),
]
TreeOption = Annotated[
    str | None,
    typer.Option("--tree", "-t", help="A tree's name, or a YAML file.", autocompletion=complete_tree),
]
MapOption = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="SIGNAL=COLUMN,...",
        help="What the log calls a signal where tutor can't know: loss=train/ce,step=iter.",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FACT=VALUE,...",
        help="What the log doesn't say of the configuration, as vocab_size=50257,dtype=bf16.",
        autocompletion=complete_fact,
    ),
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format", help="The log's format, where two are possible.", autocompletion=complete_format
    ),
]
RememberOption = Annotated[
    bool, typer.Option("--remember", help="Keep what --map and --set say beside the log, for the next time.")
]
SilentOption = Annotated[
    float | None,
    typer.Option(
        "--silent-after",
        min=0.1,
        metavar="MINUTES",
        help="With --follow: so long without a row, a run is presumed dead. 10 by default.",
    ),
]
LangOption = Annotated[str | None, typer.Option("--lang", help="en or es; the default is your locale's.")]
LearnersLangOption = Annotated[
    str | None,
    typer.Option("--lang", help="en or es; the default is what was chosen in the app, else your locale's."),
]
LearnerOption = Annotated[str | None, typer.Option("--learner", help="Whose notebook; you by default.")]
