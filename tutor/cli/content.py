"""The commands that make runs and list what there is to learn from: train, breaks, trees."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from tutor.cli import asked, start

CONTENT = "Train and content"

app = typer.Typer()
trees_app = typer.Typer(help="List and check the decision trees.")
app.add_typer(trees_app, name="trees", rich_help_panel=CONTENT)


@app.command(
    rich_help_panel=CONTENT,
    epilog="Examples:  tutor train --break no-clip  ·  tutor train --break no-clip --control  ·  "
    "tutor train --break no-clip --set grad_clip=1.0  ·  tutor train --set lr=3e-4 --steps 200",
)
def train(
    break_: Annotated[
        str | None,
        typer.Option(
            "--break", help="A break's name, or a card's file.", autocompletion=asked.complete_break
        ),
    ] = None,
    control: Annotated[
        bool,
        typer.Option("--control", help="The break's control: same seed, batches and trigger, no change."),
    ] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="A setting, as name=value; may be given again. A run's manifest.json names them all.",
        ),
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
    sealed: Annotated[
        bool,
        typer.Option(
            "--sealed",
            help="Keep the break out of the run's name and manifest, in its truth.json: practise blind. "
            "Without --break one is drawn.",
        ),
    ] = False,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            "--fault",
            help="A fault of tutor/lab/faults/, as name or name:key=value,...; may be given again.",
            hidden=True,  # for authors of cards: learners have --break
        ),
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Go on with an interrupted run, from its last checkpoint.")
    ] = None,
) -> None:
    """Train a small GPT, with one real fault in it or none, and log everything."""
    from tutor import card, parts, settings
    from tutor.paths import in_checkout
    from tutor.words import BadFileError

    shortcuts = {"seed": seed, "steps": steps, "device": device, "dtype": dtype}
    changes = {name: value for name, value in shortcuts.items() if value is not None}
    try:
        chosen = card.find(break_) if break_ else None
        changes |= settings.parse(set_ or [])
        faults = [parts.parse(text) for text in fault or []]
        settings.build(changes)
    except (ValueError, BadFileError) as error:
        asked.fail(error)
    if control and not chosen:
        asked.fail("--control is a break's control: name the break too, --break no-clip --control")
    if resume and (chosen or changes or out or faults or sealed):
        asked.fail("--resume goes on with a run as it was begun: give it alone")
    try:
        from tutor.lab import command
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "tokenizers"):
            raise
        pinned = "pip install -c constraints.txt '.[train]'"  # the versions that the tests run with
        asked.fail(
            "training needs torch and tokenizers; get them with: "
            + (pinned if in_checkout() else "pip install torch tokenizers")
        )
    start.loaded()
    code = command.run_train(
        chosen, changes, control=control, faults=faults, sealed=sealed, out=out, resume=resume
    )
    raise typer.Exit(code)


@app.command(rich_help_panel=CONTENT, name="breaks", epilog="Example:  tutor breaks no-clip")
def breaks(
    name: Annotated[
        str | None, typer.Argument(help="Show this card.", autocompletion=asked.complete_break)
    ] = None,
    lang: asked.LangOption = None,
) -> None:
    """List the breaks, or show one's card."""
    from rich.console import Console

    from tutor import card

    language, console = asked.lang(lang), Console(highlight=False)
    try:
        cards = [card.find(name)] if name else card.all_cards()
    except ValueError as error:
        asked.fail(error)
    for found in cards:
        if name:
            console.print(card.render(found, language), crop=False)  # commands go over the edge, whole
        else:
            console.print(f"{found.name:<18} {found.title(language)}", markup=False)


@trees_app.callback(invoke_without_command=True)
def trees(context: typer.Context, lang: asked.LangOption = None) -> None:
    """List the trees with their leaves."""
    if context.invoked_subcommand:
        return
    from rich.console import Console

    from tutor import tree

    language, console = asked.lang(lang), Console(highlight=False, markup=False)
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
