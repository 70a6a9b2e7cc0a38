"""The commands that test a diagnosis: replay, fork, recover, verify."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tutor import terminal
from tutor.cli import options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tutor.run.recovery import Recovery
    from tutor.run.replay import Replay

TEST = "Test a diagnosis"

app = typer.Typer()

SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="A setting to change, as name=value; may be given again."),
]
OutOption = Annotated[
    Path | None, typer.Option(help="The folder of the new run; a new one in ./runs by default.")
]
WithoutOption = Annotated[
    list[str] | None,
    typer.Option("--remove-fault", help="A fault of the run to take out; may be given again."),
]


@app.command(
    rich_help_panel=TEST,
    epilog="Examples:  tutor replay RUN  ·  tutor replay RUN --at 312 --fp32  ·  "
    "tutor replay RUN --at 315 --before 311 --steps 50",
)
def replay(
    run: options.RunArgument,
    at: Annotated[
        int | None, typer.Option(help="The step to take again; by default the first that isn't finite.")
    ] = None,
    fp32: Annotated[
        bool, typer.Option("--fp32", help="The same step in fp32 too, on the same batch.")
    ] = False,
    batch: Annotated[
        int | None, typer.Option(help="Give it the batch of this step: was it the data?")
    ] = None,
    state: Annotated[
        str | None,
        typer.Option(
            help="Parts of the state from before other steps, as weights=311,m=311,v=315, or one step for "
            "all: was it the state?"
        ),
    ] = None,
    before: Annotated[
        int | None,
        typer.Option(help="Which part of the state? Every part in turn from before this step; with --steps."),
    ] = None,
    steps: Annotated[int, typer.Option(min=0, help="Train so many steps on, and tell their mean loss.")] = 0,
    lang: options.LangOption = None,
) -> None:
    """Take a step of a run again, from the nearest checkpoint, and look inside.

    Names the first module with finite input and output that isn't, forward and back, what the update moved
    farthest, and the first violent update on the way there. What it finds is kept in the run's replays/.
    """
    from tutor.cli import drawn

    folder, language = options.folder(run), options.lang(lang)
    with options.lab():
        from tutor.lab import experiment
        from tutor.lab.replay import Asked, combinations, state_of
    try:
        step = experiment.step_to_replay(options.run(run)) if at is None else at
        parts = state_of(state)
    except ValueError as error:
        options.fail(error)
    count = steps or (50 if before is not None else 0)
    own = Asked(step, batch=batch, state=parts, after=count)
    asked = [own]
    if fp32:
        asked.append(Asked(step, batch=batch, state=parts, fp32=True, after=count))
    if before is not None:
        asked += [Asked(step, batch=batch, state=one, after=count) for one in combinations(before, step)]

    def show(found: "Sequence[Replay]") -> None:
        console = terminal.console()
        for one in found[: 2 if fp32 else 1]:
            console.print(drawn.replay(one, language), soft_wrap=True)
        if fp32:
            console.print(drawn.in_fp32(found[0], found[1], language), soft_wrap=True)
        if before is not None:
            console.print(drawn.by_parts([found[0], *found[2 if fp32 else 1 :]], language))

    raise typer.Exit(experiment.run_replay(folder, asked, show))


@app.command(
    rich_help_panel=TEST,
    epilog="Examples:  tutor fork RUN --at 200 --set grad_clip=1.0  ·  "
    "tutor fork RUN --at 200 --skip-batches 5  ·  tutor fork RUN --at 312 --retrace --remove-fault hot-init",
)
def fork(
    run: options.RunArgument,
    at: Annotated[int, typer.Option(help="The step before which the run is forked.")],
    set_: SetOption = None,
    skip: Annotated[
        int | None, typer.Option("--skip-batches", min=1, help="Skip so many batches at the fork.")
    ] = None,
    without: WithoutOption = None,
    steps: Annotated[int | None, typer.Option(help="Train up to so many steps.")] = None,
    retrace: Annotated[
        bool,
        typer.Option("--retrace", help="Where there is no checkpoint: train the steps before it again."),
    ] = False,
    out: OutOption = None,
) -> None:
    """What if? Take a run up before one of its steps with something changed.

    Up to the fork its rows are those of the run, bit for bit; lay it over the run with tutor compare.
    """
    from tutor.settings import parse

    folder = options.folder(run)
    with options.lab():
        from tutor.lab import experiment
        from tutor.lab.fork import Change
    try:
        change = Change(settings=parse(set_ or ()), without=tuple(without or ()))
    except ValueError as error:
        options.fail(error)
    code = experiment.run_fork(folder, at, change, skip=skip, steps=steps, retrace=retrace, out=out)
    raise typer.Exit(code)


@app.command(rich_help_panel=TEST, epilog="Example:  tutor forks runs/no-clip-1")
def forks(
    run: options.RunArgument,
    lang: options.LangOption = None,
) -> None:
    """Draw what was tried on a run: its forks and fixes, theirs, and how each ended."""
    from tutor.cli import drawn
    from tutor.lineage import experiments_on

    folder, language = options.folder(run), options.lang(lang)
    terminal.console().print(drawn.lineage(folder, experiments_on, language))


@app.command(
    rich_help_panel=TEST,
    epilog="Examples:  tutor recover RUN --all  ·  tutor recover RUN --action B --action D --price 2.5",
)
def recover(
    run: options.RunArgument,
    action: Annotated[
        list[str] | None, typer.Option("--action", help="A, B, C, D or E; may be given again.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="All of them, side by side.")] = False,
    at: Annotated[int | None, typer.Option(help="Where the spike begins; by default the tallest.")] = None,
    seen: Annotated[
        int | None, typer.Option(help="The step at which you act; by default 50 after the spike.")
    ] = None,
    price: Annotated[float, typer.Option(min=0, help="Of an hour, in your currency.")] = 2.0,
    skip: Annotated[int, typer.Option(min=1, help="Batches that B and C skip.")] = 5,
    divide: Annotated[float, typer.Option(min=1, help="D divides the learning rate by this.")] = 2.0,
    predict: Annotated[
        str | None, typer.Option(help="Which one will do best? Asked for where it isn't given.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The folder of their runs.")] = None,
    lang: options.LangOption = None,
) -> None:
    """Try the playbook on a run that spiked, each action as a real fork of it, and compare what they cost.

    A carry on, B skip the batches of the spike, C restart earlier and past the data since, D a lower learning
    rate, E swap the documents to blame.
    """
    import sys

    from tutor.cli import drawn
    from tutor.run.recovery import ACTIONS
    from tutor.words import say

    folder, language = options.folder(run), options.lang(lang)
    letters = ACTIONS if all_ else tuple(dict.fromkeys(one.upper() for one in action or ()))
    if not letters:
        options.fail("which action? --action A to E, or --all")
    for letter in (*letters, *([predict.upper()] if predict else [])):
        if letter not in ACTIONS:
            options.fail(f"there is no action {letter!r}: the playbook has {', '.join(ACTIONS)}")
    if predict is None and len(letters) > 1 and sys.stdin.isatty():
        asked = say("replay.recover.predict", language, letters="/".join(letters))
        predict = typer.prompt(asked, type=_letter(letters), show_choices=False)
    with options.lab():
        from tutor.lab import experiment

    def show(found: "Recovery") -> None:
        terminal.console().print(drawn.recovery(found, language))
        if predict and (best := found.best):
            key = "right" if best.action == predict.upper() else "wrong"
            said = {"said": predict.upper(), "action": best.action}
            terminal.tell(say(f"replay.recover.{key}", language, **said))

    code = experiment.run_recover(
        folder, letters, show, at=at, seen=seen, per_hour=price, skip=skip, divisor=divide, out=out
    )
    raise typer.Exit(code)


@app.command(
    rich_help_panel=TEST,
    epilog="Exit code: 0 verified, 1 not verified, 2 bad input.  Examples:  tutor verify runs/19-break  ·  "
    "tutor verify runs/19-break --set grad_clip=0.5  ·  tutor verify BROKEN FIXED",
)
def verify(
    run: options.RunArgument,
    fixed: Annotated[
        str | None,
        typer.Argument(help="The run with the fix, where somebody trained it already.", metavar="[FIXED]"),
    ] = None,
    fix: Annotated[str | None, typer.Option("--fix", help="A fix of the break's card, by name.")] = None,
    set_: SetOption = None,
    without: WithoutOption = None,
    control: Annotated[
        str | None, typer.Option("--control", help="The run without the fault, to lay it beside.")
    ] = None,
    learner: options.LearnerOption = None,
    out: OutOption = None,
    lang: options.LearnersLangOption = None,
) -> None:
    """Train a broken run again with the fix, and check it: every bound of your post-mortem, and a new walk.

    Without --fix, --set or --remove-fault it takes the smallest fix of the leaf. What it finds is written
    into section 6 of the lesson, and the lesson is stamped verified, or not.
    """
    from tutor import readers, verifying
    from tutor.cli import drawn
    from tutor.notebook import Notebook, NotebookError
    from tutor.run import BadRunError
    from tutor.runfolder import MANIFEST
    from tutor.settings import parse
    from tutor.words import say

    broken = options.folder(run)
    repaired = options.folder(fixed) if fixed else None
    beside = options.run(control) if control else None
    name = options.learner(learner)
    language = options.lang(lang, name)
    change = str(repaired)
    if repaired is None:
        if not (broken / MANIFEST).is_file():  # which needs no lab to be said
            options.fail(f"{broken} isn't a run that tutor train began; {verifying.by_hand(broken)}")
        with options.lab():
            from tutor.lab import experiment
            from tutor.lab.fork import Change
        try:
            settings = parse(set_ or ())
        except ValueError as error:
            options.fail(error)
        wanted = Change(settings=settings, without=tuple(without or ())) if set_ or without else None
        repaired = out or experiment.free_fix(broken)
        code, change = experiment.run_fix(broken, fix or wanted, repaired)
        if code:
            raise typer.Exit(code)
    try:
        notebook, before, after = Notebook(name), options.run(run), readers.read(repaired)
        if fixed:
            verifying.check_there_is_something(before, after, notebook, language)
        found, amended = verifying.conclude(
            before, after, change, control=beside, notebook=notebook, lang=language
        )
    except (BadRunError, NotebookError, verifying.NothingToVerifyError) as error:
        options.fail(error)
    terminal.console().print(drawn.verification(found, language), soft_wrap=True)
    if amended:
        terminal.tell(say("verify.written", language, path=str(notebook.lessons_path)))
    raise typer.Exit(0 if found.verified else 1)


def _letter(letters: "Sequence[str]") -> "partial[str]":
    """What a typed letter has to be."""
    return partial(_one_of, tuple(letters))


def _one_of(letters: "Sequence[str]", typed: str) -> str:
    if typed.strip().upper() not in letters:
        raise typer.BadParameter(", ".join(letters))
    return typed.strip().upper()
