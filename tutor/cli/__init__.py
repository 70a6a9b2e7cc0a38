"""The commands. Each imports its room only when called, so that `tutor --help` is quick."""

import inspect
import shlex
import sys
from functools import partial
from typing import Annotated, Any

import typer

from tutor import terminal
from tutor.cli import content, ending, experiments, guide, options, start, walking
from tutor.terminal import streams

LEARN, RUN = "Learn", "Without the app"
MEASURES = "phase-19"
"""The tree by whose numbers runs are compared where none is named."""

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


def _version(given: bool) -> None:
    if given:
        from tutor import __version__

        terminal.tell(f"tutor {__version__}")
        raise typer.Exit


def _terminal(instead: str) -> None:
    """The app needs a terminal; without one, say what to use."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        options.fail(f"the app needs a terminal; without one use: {instead}")


def _open(**what: Any) -> int:
    """Run the app; its exit code."""
    from tutor.ui.app import TutorApp

    app = TutorApp(**what, settled=start.loaded)
    app.run()
    if error := app.failure:
        raise error
    return app.return_code or 0


@app.callback(invoke_without_command=True)
def home(
    context: typer.Context,
    learner: options.LearnerOption = None,
    lang: options.LearnersLangOption = None,
    version: Annotated[  # noqa: ARG001 - its callback prints it
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Open the home screen when no command is given."""
    if context.invoked_subcommand:
        # What is said before a command holds for it, unless the command says otherwise.
        said = {name: value for name, value in (("learner", learner), ("lang", lang)) if value is not None}
        context.default_map = {context.invoked_subcommand: said}
        return
    _terminal("tutor --help")
    name = options.learner(learner)
    raise typer.Exit(_open(learner=name, lang=options.lang(lang, name)))


@app.command(
    rich_help_panel=LEARN,
    epilog="Examples:  tutor walk runs/19-break --learner ana --lang es  ·  tutor walk runs/mine --follow",
)
def walk(
    run: options.OptionalRunArgument = None,
    tree: options.TreeOption = None,
    map_: options.MapOption = None,
    set_: options.SetOption = None,
    format_: options.FormatOption = None,
    remember: options.RememberOption = False,
    follow: Annotated[
        bool, typer.Option("--follow", help="The run still trains: the panels grow, a spike rings.")
    ] = False,
    silent_after: options.SilentOption = None,
    learner: options.LearnerOption = None,
    lang: options.LearnersLangOption = None,
) -> None:
    """Walk a decision tree over a run: predict first, then the log answers. Without a run, pick one; of a
    file or folder that holds several, too.

    Without --tree a lesson's run begins in the tree that its card names, a log of another trainer in the one
    about the course of a run, any other in the first of all.
    """
    from tutor import readers
    from tutor.opening import opening
    from tutor.run import BadRunError

    options.told(map_, set_, format_, remember=run if remember else None)
    if run is None and (follow or silent_after):
        options.fail("--follow needs the run to follow: tutor walk RUN --follow")
    if run is None:
        name = options.learner(learner)
        language = options.lang(lang, name)
        if tree is not None:
            options.tree(tree, checked=False)  # refused here rather than in the app
        _terminal("tutor check RUN")
        raise typer.Exit(_open(learner=name, lang=language, home_tree=tree))

    if run == "-":
        options.fail("the app takes your keys from standard input: keep the log in a file, and walk that")
    try:
        path = readers.locate(run)
        several = walking.holds_several(path, follow=follow)
        if not sys.stdout.isatty() or (several and follow):
            readers.read(path)  # what is wrong with the run matters more than the missing terminal
    except BadRunError as error:
        options.fail(error)
    growing = options.growing(path, follow=follow, silent_after=silent_after)
    walked = options.tree(tree or opening(path), checked=follow)
    name = options.learner(learner)
    language = options.lang(lang, name)
    _terminal(f"tutor check {shlex.quote(run)}{' --follow' if follow else ''}")
    if several:
        code = _open(learner=name, lang=language, home_tree=tree, inside=path)
    else:
        code = _open(
            learner=name, lang=language, subject=path, walked_tree=walked, greet=True, growing=growing
        )
    from tutor.words import say

    if not code and walking.left_open(name, path, None if several else walked.tree):
        again = [*options.program(), "walk", run]
        again += ["--tree", tree] if tree is not None else []
        again += [word for one in map_ or () for word in ("--map", one) if not remember]
        again += [word for one in set_ or () for word in ("--set", one) if not remember]
        again += ["--format", format_] if format_ is not None else []
        again += ["--follow"] if follow else []
        again += ["--silent-after", f"{silent_after:g}"] if silent_after is not None else []
        again += ["--learner", learner] if learner is not None else []
        again += ["--lang", lang] if lang is not None else []
        language = options.lang(lang, name)  # it may have been changed in the app
        terminal.tell(say("walk.kept", language, command=shlex.join(again)))
    raise typer.Exit(code)


@app.command(rich_help_panel=LEARN, epilog="Example:  tutor lessons   ·   tutor lessons 2 --learner ana")
def lessons(
    number: Annotated[int | None, typer.Argument(help="Show this one whole.", metavar="[N]")] = None,
    learner: options.LearnerOption = None,
    lang: options.LearnersLangOption = None,
) -> None:
    """List the lessons in a learner's notebook, or show one."""
    from tutor import lessons as kept
    from tutor import notebook

    try:
        book = notebook.Notebook(options.learner(learner))
        kept.show(book, number, options.lang(lang, book.learner), terminal.console())
    except notebook.NotebookError as error:
        options.fail(error)


@app.command(
    rich_help_panel=RUN,
    epilog="Exit code, the first that holds: 1 something is wrong with a run; 2 one can't be checked (bad "
    "input, a log of one row, a failure of tutor's own); 3 one is undecided (nothing was found, and its log "
    "can't answer everything); 0 all are healthy.  "
    "Examples:  tutor check outputs/ --short  ·  tutor check runs/19-control runs/19-break --json  ·  "
    "tutor check runs/mine --follow --on flaw 'curl -sd @- https://hooks.example.com/tutor'  ·  "
    """tutor check log.txt --follow --on flaw,silent 'mail -s "$TUTOR_SENTENCE" me'""",
)
def check(
    runs: Annotated[
        list[str],
        typer.Argument(
            help="Runs, by path or name, folders of several, or - for standard input.",
            metavar="RUN...",
            autocompletion=options.complete_run,
        ),
    ],
    tree: options.TreeOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON list, an object for each run.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Under each question its rule: numbers, steps, margin.")
    ] = False,
    short: Annotated[
        bool, typer.Option("--short", help="Of each run the verdict alone, then how many of each there are.")
    ] = False,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            help="The run still trains: check again as its log grows, and print a line when the verdict "
            "changes (with --json an object, on one line). Ends with the run, or by Ctrl-C.",
        ),
    ] = False,
    on: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--on",
            metavar="WHEN COMMAND",
            help="With --follow: run a command of the shell on a flaw (once for each that is found), a "
            "change of the verdict, the end, or when the run falls silent: flaw, change, end, silent, or "
            "several with commas. On its standard input it gets what --json prints; in its environment "
            "TUTOR_EVENT, TUTOR_RUN, TUTOR_VERDICT, TUTOR_LEAF, TUTOR_STEP, TUTOR_LAST_STEP, "
            "TUTOR_SENTENCE. It has a minute.",
        ),
    ] = None,
    silent_after: options.SilentOption = None,
    map_: options.MapOption = None,
    set_: options.SetOption = None,
    format_: options.FormatOption = None,
    remember: options.RememberOption = False,
    lang: options.LangOption = None,
) -> None:
    """Walk with nobody watching: each question with its value, bound and step, then the leaf.

    Without --tree it begins with the first tree and goes on to those that its leaves lead to. Tree scale asks
    what to do about a spike; where there is none, it goes on, too.
    """
    from tutor import tree as trees
    from tutor.opening import FIRST
    from tutor.report import Report, Sealed, passed_over, reports, summary
    from tutor.reported import refused
    from tutor.run import BadRunError
    from tutor.words import say

    if not follow and (on or silent_after):
        options.fail("--on and --silent-after are for a run that is followed: give --follow too")
    if short and (as_json or explain or follow):
        options.fail("--short prints verdicts alone: give it without --json, --explain and --follow")
    if remember and len(runs) > 1:
        options.fail("--remember keeps names beside one log: give one run")
    options.told(map_, set_, format_, remember=runs[0] if remember else None)
    walked, language = options.tree(tree or FIRST, checked=False), options.lang(lang)
    # That there is no incident says nothing of the run: there the next tree is asked, too.
    alone = tree is not None and not walked.incident
    find = None if alone else partial(trees.find, checked=False)
    if follow:
        from tutor.cli import following

        start.loaded()
        how = {"lang": language, "as_json": as_json, "on": on, "silent_after": silent_after}
        raise typer.Exit(following.check(runs, walked, find, **how))
    console, results, told, sealed = terminal.console(), [], [], []
    width = console.width if console.is_terminal else None  # in a file or a pipe a line stays whole
    whole = partial(Report.text, lang=language, explain=explain, width=width)
    verdicts: set[str | None] = set()
    for name, report in reports(runs, walked, find):
        start.loaded()  # with the first report: what reads and walks a log is imported on the way there
        if isinstance(report, Sealed):
            sealed.append(report.path.name)
            continue
        if isinstance(report, BadRunError):
            verdicts.add(None)
            terminal.refuse(report)
            results.append(refused(name, report))
            continue
        verdicts.add(report.verdict)
        if as_json:
            results.append(report.data(language))
        else:
            told.append(report)
            console.print(report.brief(language) if short else whole(report), soft_wrap=True)
    if as_json:
        terminal.tell_json(results)
    elif len(told) > 1:
        console.print(summary(told, language, counts_alone=short), soft_wrap=True)
    left_out = [say("check.sealed", language, runs=sealed)] if sealed else []
    for line in (*passed_over(runs, language), *left_out):
        terminal.warn(line)
    raise typer.Exit(ending.of_verdicts(verdicts))


@app.command(rich_help_panel=RUN, epilog="Example:  tutor compare runs/19-control runs/19-break")
def compare(
    a: options.RunArgument,
    b: options.RunArgument,
    at: Annotated[
        int | None, typer.Option("--at", help="Compare at this step, not at the worst spike.")
    ] = None,
    tree: options.TreeOption = None,
    map_: options.MapOption = None,
    set_: options.SetOption = None,
    format_: options.FormatOption = None,
    lang: options.LangOption = None,
) -> None:
    """Put two runs side by side: what differs in the configuration, the panels overlaid, a table."""
    from tutor import plots
    from tutor.compare import compare as put_together
    from tutor.compare import named_apart, render
    from tutor.tree import numbers

    options.told(map_, set_, format_)
    first, second, language = options.run(a), options.run(b), options.lang(lang)
    for one in (first, second):
        if at is not None and not int(one.steps[0]) <= at <= int(one.steps[-1]):
            options.fail(
                f"--at {at} is outside {one.name}: it logged steps {one.steps[0]} to {one.steps[-1]}"
            )
    first, second = named_apart(first, second)
    console = terminal.console()
    walked = options.tree(tree or MEASURES)
    found = put_together(
        first, second, at, spike=numbers("spike", walked), recovery=numbers("recovery", walked)
    )
    for panel in ("loss", "gradient") if any(one.has("grad_norm") for one in (first, second)) else ("loss",):
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


app.add_typer(experiments.app)
app.add_typer(guide.app)
app.add_typer(content.app)


def _in_paragraphs(group: typer.Typer) -> None:
    """Break the help of each command by the width: Typer breaks a docstring's later lines as it does."""
    for command in group.registered_commands:
        told = inspect.cleandoc(command.help or getattr(command.callback, "__doc__", None) or "")
        command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in told.split("\n\n"))
    for inner in group.registered_groups:
        if inner.typer_instance is not None:
            _in_paragraphs(inner.typer_instance)


_in_paragraphs(app)


def main() -> None:
    """The `tutor` command."""
    start.begin()
    streams.prepare()
    # A shell completes the name of a command, and `python -m tutor` is none.
    name = "tutor" if "--install-completion" in sys.argv else None
    sys.exit(ending.run(lambda: app(prog_name=name, standalone_mode=False)))
