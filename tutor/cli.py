"""The commands. Each imports its room only when called, so that `tutor --help` is quick."""

import gc
import io
import json
import os
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

LEARN, RUN, CONTENT = "Learn", "Without the app", "Train and content"

app = typer.Typer(
    name="tutor",
    help="Learn to diagnose neural-network training that goes wrong, on real runs.\n\n"
    "Without a command it opens the home screen.",
    epilog="Examples:  tutor walk runs/19-break  ·  tutor check runs/19-control runs/19-break  ·  "
    "tutor train --break no-clip",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
trees_app = typer.Typer(help="List and check the decision trees.")
app.add_typer(trees_app, name="trees", rich_help_panel=CONTENT)


def fail(message: object) -> NoReturn:
    """End with one line that says what is wrong, and exit code 2."""
    for line in str(message).splitlines():
        print(f"tutor: {line}", file=sys.stderr)
    raise typer.Exit(2)


def _complete_run(incomplete: str) -> list[str]:
    from tutor import readers

    paths = [*readers.available(), *(str(path) for path in readers.available().values())]
    return [path for path in paths if path.startswith(incomplete)]


def _complete_tree(incomplete: str) -> list[str]:
    from tutor import tree

    return [name for name in tree.available() if name.startswith(incomplete)]


def _complete_break(incomplete: str) -> list[str]:
    from tutor import card

    return [name for name in card.available() if name.startswith(incomplete)]


def _version(asked: bool) -> None:
    if asked:
        from tutor import __version__

        print(f"tutor {__version__}")
        raise typer.Exit


def _lang(given: str | None) -> str:
    """The language asked for, else the one of the environment, else English."""
    from tutor.words import LANGUAGES

    if given is not None and given not in LANGUAGES:
        fail(f"there is no language {given!r}: tutor speaks {' and '.join(LANGUAGES)}")
    system = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    return given or (system[:2] if system[:2] in LANGUAGES else "en")


def _run(name: str):
    from tutor import readers
    from tutor.run import BadRunError

    try:
        return readers.open_run(name)
    except BadRunError as error:
        fail(error)


def _tree(name: str):
    from tutor import tree

    try:
        return tree.find(name)
    except ValueError as error:
        fail(error)


def _terminal(instead: str) -> None:
    """The app needs a terminal; without one, say what to use."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        fail(f"the app needs a terminal; without one use: {instead}")


def _open(**what: Any) -> None:
    """Run the app, and end with its exit code."""
    from tutor.ui.app import TutorApp

    app = TutorApp(**what)
    app.run()
    raise typer.Exit(app.return_code or 0)


def _learner(name: str | None) -> str:
    from tutor import notebook

    try:
        return notebook.learner_name(name) if name is not None else notebook.default_learner()
    except ValueError as error:
        fail(error)


RunArgument = Annotated[
    str, typer.Argument(help="A run's folder, or its name.", metavar="RUN", autocompletion=_complete_run)
]
TreeOption = Annotated[
    str, typer.Option("--tree", "-t", help="A tree's name, or a YAML file.", autocompletion=_complete_tree)
]
LangOption = Annotated[str | None, typer.Option("--lang", help="en or es; the default is your locale's.")]
LearnerOption = Annotated[str | None, typer.Option("--learner", help="Whose notebook; you by default.")]


@app.callback(invoke_without_command=True)
def home(
    context: typer.Context,
    learner: LearnerOption = None,
    lang: LangOption = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Open the home screen when no command is given."""
    if context.invoked_subcommand:
        return
    _terminal("tutor --help")
    _open(learner=_learner(learner), lang=_lang(lang))


@app.command(rich_help_panel=LEARN, epilog="Example:  tutor walk runs/19-break --learner ana --lang es")
def walk(
    run: RunArgument,
    tree: TreeOption = "phase-19",
    learner: LearnerOption = None,
    lang: LangOption = None,
) -> None:
    """Walk a decision tree over a run: predict first, then the log answers."""
    from tutor import readers
    from tutor.run import BadRunError

    try:
        path = readers.locate(run)
        if not sys.stdout.isatty():
            readers.read(path)  # what is wrong with the run matters more than the missing terminal
    except BadRunError as error:
        fail(error)
    asked, name, language = _tree(tree), _learner(learner), _lang(lang)
    _terminal(f"tutor check {shlex.quote(run)}")
    _open(learner=name, lang=language, subject=path, asked=asked)


@app.command(rich_help_panel=LEARN, epilog="Example:  tutor lessons   ·   tutor lessons 2 --learner ana")
def lessons(
    number: Annotated[int | None, typer.Argument(help="Show this one whole.", metavar="[N]")] = None,
    learner: LearnerOption = None,
    lang: LangOption = None,
) -> None:
    """List the lessons in a learner's notebook, or show one."""
    from rich.console import Console

    from tutor import lessons as kept
    from tutor import notebook

    try:
        kept.show(notebook.Notebook(_learner(learner)), number, _lang(lang), Console())
    except notebook.NotebookError as error:
        fail(error)


@app.command(
    rich_help_panel=RUN,
    epilog="Exit code: 0 healthy or nothing found, 1 a flaw, 2 bad input.  "
    "Example:  tutor check runs/19-control runs/19-break --json",
)
def check(
    runs: Annotated[
        list[str],
        typer.Argument(help="Run folders, or names.", metavar="RUN...", autocompletion=_complete_run),
    ],
    tree: TreeOption = "phase-19",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON list, an object for each run.")] = False,
    lang: LangOption = None,
) -> None:
    """Walk with nobody watching: each question with its value, bound and step, then the leaf."""
    from rich.console import Console

    from tutor import readers
    from tutor.report import Report
    from tutor.run import BadRunError

    asked, language = _tree(tree), _lang(lang)
    console, results, flawed, bad = Console(highlight=False), [], False, False
    for name in runs:
        try:
            report = Report(readers.open_run(name), asked)
        except BadRunError as error:
            bad = True
            print(f"tutor: {error}", file=sys.stderr)
            results.append({"run": name, "error": str(error)})
            continue
        flawed = flawed or report.flawed
        if as_json:
            results.append(report.data(language))
        else:
            console.print(report.text(language), soft_wrap=True)
    if as_json:
        print(json.dumps(results, indent=2, ensure_ascii=False, allow_nan=False))
    raise typer.Exit(2 if bad else 1 if flawed else 0)


@app.command(rich_help_panel=RUN, epilog="Example:  tutor compare runs/19-control runs/19-break")
def compare(
    a: RunArgument,
    b: RunArgument,
    at: Annotated[
        int | None, typer.Option("--at", help="Compare at this step, not at the worst spike.")
    ] = None,
    lang: LangOption = None,
) -> None:
    """Put two runs side by side: what differs in the configuration, the panels overlaid, a table."""
    from rich.console import Console

    from tutor import plots, tree
    from tutor.compare import compare as put_together
    from tutor.compare import render

    first, second, language = _run(a), _run(b), _lang(lang)
    console = Console(highlight=False)
    rules = {name: tree.numbers(name) for name in ("spike", "recovery")}
    found = put_together(first, second, at, **rules)
    for panel in ("loss", "gradient"):
        console.print(plots.panel_title(panel, language), style="bold")
        console.print(
            plots.draw(
                first,
                panel,
                min(console.width, 120),
                14,
                lang=language,
                mark=found.step,
                view=plots.default_view(first, panel, found.step),
                colour=console.color_system is not None,
                others=[second],
            ),
            soft_wrap=True,
        )
    console.print(render(found, language))


@app.command(
    rich_help_panel=CONTENT,
    epilog="Examples:  tutor train --break no-clip  ·  tutor train --break no-clip --control  ·  "
    "tutor train --break no-clip --set grad_clip=1.0  ·  tutor train --set lr=3e-4 --steps 200",
)
def train(
    break_: Annotated[
        str | None,
        typer.Option("--break", help="A break's name, or a card's file.", autocompletion=_complete_break),
    ] = None,
    control: Annotated[
        bool,
        typer.Option("--control", help="The break's control: same seed, batches and trigger, no change."),
    ] = False,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A setting, as name=value; may be given again.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seeds weights, batches and probe.")] = None,
    steps: Annotated[
        int | None, typer.Option(help="Stop after so many; the schedule keeps its own horizon.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu, cuda or mps.")] = None,
    dtype: Annotated[str | None, typer.Option(help="fp32, bf16 or fp16.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="The run's folder; a new one in ./runs by default.")
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Go on with an interrupted run, from its last checkpoint.")
    ] = None,
) -> None:
    """Train a small GPT, with one real fault in it or none, and log everything."""
    from tutor import card, settings
    from tutor.paths import in_checkout
    from tutor.words import BadFileError

    shortcuts = {"seed": seed, "steps": steps, "device": device, "dtype": dtype}
    changes = {name: value for name, value in shortcuts.items() if value is not None}
    try:
        chosen = card.find(break_) if break_ else None
        changes |= settings.parse(set_ or [])
        settings.build(changes)
    except (ValueError, BadFileError) as error:
        fail(error)
    if control and not chosen:
        fail("--control is a break's control: name the break too, --break no-clip --control")
    if resume and (chosen or changes or out):
        fail("--resume goes on with a run as it was begun: give it alone")
    try:
        from tutor.lab import command
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "tokenizers"):
            raise
        pinned = "pip install -c constraints.txt '.[train]'"  # the versions that the tests run with
        fail(
            "training needs torch and tokenizers; get them with: "
            + (pinned if in_checkout() else "pip install torch tokenizers")
        )
    raise typer.Exit(command.run_train(chosen, changes, control=control, out=out, resume=resume))


@app.command(rich_help_panel=CONTENT, name="breaks", epilog="Example:  tutor breaks no-clip")
def breaks(
    name: Annotated[
        str | None, typer.Argument(help="Show this card.", autocompletion=_complete_break)
    ] = None,
    lang: LangOption = None,
) -> None:
    """List the breaks, or show one's card."""
    from rich.console import Console

    from tutor import card

    language, console = _lang(lang), Console(highlight=False)
    try:
        cards = [card.find(name)] if name else card.all_cards()
    except ValueError as error:
        fail(error)
    for found in cards:
        if name:
            console.print(card.render(found, language), crop=False)  # commands go over the edge, whole
        else:
            console.print(f"{found.name:<18} {found.title(language)}", markup=False)


@trees_app.callback(invoke_without_command=True)
def trees(context: typer.Context, lang: LangOption = None) -> None:
    """List the trees with their leaves."""
    if context.invoked_subcommand:
        return
    from rich.console import Console

    from tutor import tree

    language, console = _lang(lang), Console(highlight=False, markup=False)
    for path in tree.available().values():
        try:
            found = tree.load(path)
        except ValueError as error:
            print(f"tutor: {error}", file=sys.stderr)
            continue
        console.print(f"{found.tree}  {found.title(language)}", style="bold")
        console.print(f"  {found.about(language)}\n")
        for id, leaf in found.leaves.items():
            console.print(f"  {leaf.verdict:<8} {id:<28} {leaf.name(language)}", soft_wrap=True)
        console.print()


@trees_app.command("check", epilog="Example:  tutor trees check my.yaml")
def trees_check(
    files: Annotated[
        list[Path] | None, typer.Argument(help="YAML files; all known trees by default.")
    ] = None,
) -> None:
    """Check trees: every fault named with file and line. Exit code 0 sound, 2 not."""
    from tutor import tree

    sound = True
    for path in files or tree.available().values():
        try:
            found = tree.load(path)
        except ValueError as error:
            sound = False
            print(error, file=sys.stderr)
        else:
            print(f"{path}: sound ({len(found.questions)} questions, {len(found.leaves)} leaves)")
    if not sound:
        raise typer.Exit(2)


def main() -> None:
    """The `tutor` command."""
    # Imports make a host of objects that live for good; at the default threshold the collector looks through
    # them again and again, for a sixth of the time to the first question.
    gc.set_threshold(100_000, 50, 50)
    # pydantic would read the metadata of every installed package in search of plugins; tutor uses none.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that can't draw ≤ draws ?
    try:
        app()
    except BrokenPipeError:
        # `tutor check ... | head`: the reader has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
