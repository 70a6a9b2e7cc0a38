"""The commands that make runs and list what there is to learn from: train, breaks, trees."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from tutor import terminal
from tutor.cli import options, start

CONTENT = "Train and content"

MOST_DIGITS = 9
"""Of a seed."""

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
            "--break", help="A break's name, or a card's file.", autocompletion=options.complete_break
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
    from tutor.words import BadFileError

    shortcuts = {"seed": seed, "steps": steps, "device": device, "dtype": dtype}
    changes = {name: value for name, value in shortcuts.items() if value is not None}
    try:
        chosen = card.find(break_) if break_ else None
        changes |= settings.parse(set_ or [])
        faults = [parts.parse(text) for text in fault or []]
        settings.build(changes)
    except (ValueError, BadFileError) as error:
        options.fail(error)
    if control and not chosen:
        options.fail("--control is a break's control: name the break too, --break no-clip --control")
    if resume and (chosen or changes or out or faults or sealed):
        options.fail("--resume goes on with a run as it was begun: give it alone")
    with options.lab():
        from tutor.lab import command
    start.loaded()
    code = command.run_train(
        chosen, changes, control=control, faults=faults, sealed=sealed, out=out, resume=resume
    )
    raise typer.Exit(code)


@app.command(
    rich_help_panel=CONTENT,
    epilog="Exit code: 0 every bar is reached, 1 not.  Examples:  tutor atlas  ·  tutor atlas no-clip "
    "--seeds 1,2,3  ·  tutor atlas --show",
)
def atlas(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Breaks; all by default.", metavar="[NAME]...", autocompletion=options.complete_break
        ),
    ] = None,
    seeds: Annotated[str, typer.Option(help="Seeds, with commas between.")] = "42",
    steps: Annotated[
        int | None, typer.Option(min=1, help="So many steps each; by default as many as each card says.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Runs at once, with one thread each; by default one a core.")
    ] = None,
    runs: Annotated[Path, typer.Option(help="Where the runs are kept: whole ones aren't trained again.")] = (
        Path("build/atlas")
    ),
    table: Annotated[
        Path | None, typer.Option(help="The table of results; trees/atlas.csv by default.")
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(help="A cluster, as submitit names it: slurm, or local. Needs the extra [cluster]."),
    ] = None,
    healthy: Annotated[bool, typer.Option(help="Train a healthy run at each seed too.")] = True,
    show: Annotated[
        bool, typer.Option("--show", help="Train nothing: print the table of results as Markdown.")
    ] = False,
) -> None:
    """Train every break and its control, walk each with nobody watching, and print where they end."""
    from tutor import card, matrix, paths

    try:
        cards = [card.find(name) for name in names] if names else card.all_cards()
    except ValueError as error:
        options.fail(error)
    unpromised = [found.name for found in cards if found.expect is None]
    if names and unpromised:
        options.fail(f"{', '.join(unpromised)}: a card without `expect` names no leaf to compare with")
    where = table or paths.shipped() / "trees" / "atlas.csv"
    if show:
        promises = card.promises(cards)
        terminal.tell(matrix.markdown(matrix.lines(matrix.read(where), promises)).removesuffix("\n"))
        return
    numbers = [word.strip() for word in seeds.split(",")]
    if not all(word.isdecimal() and word.isascii() and len(word) <= MOST_DIGITS for word in numbers):
        options.fail(f"--seeds takes whole numbers with commas between, such as 1,2,3, not {seeds!r}")
    with options.lab():
        from tutor.lab import atlas as trained
    if on is not None and not find_spec("submitit"):
        options.fail("--on needs submitit; get it with: pip install submitit")
    start.loaded()
    code = trained.run_atlas(
        cards,
        [int(word) for word in dict.fromkeys(numbers)],
        steps=steps,
        jobs=jobs or trained.cores(),
        runs=runs,
        table=where,
        cluster=on,
        healthy=healthy and not names,
    )
    raise typer.Exit(code)


@app.command(
    rich_help_panel=CONTENT,
    name="breaks",
    epilog="Examples:  tutor breaks no-clip  ·  tutor breaks no-clip --whole",
)
def breaks(
    name: Annotated[
        str | None, typer.Argument(help="Show this card.", autocompletion=options.complete_break)
    ] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="With its cause, its ladder and its fixes: after the walk.")
    ] = False,
    lang: options.LangOption = None,
) -> None:
    """List the breaks by tree and leaf, or show one's card without giving its walk away."""
    from tutor import card

    language, console = options.lang(lang), terminal.console()
    if name:
        try:
            found = card.find(name)
        except ValueError as error:
            options.fail(error)
        # Commands go over the edge, whole.
        console.print(card.render(found, language, whole=whole), crop=False)
        return
    place = None
    for tree, leaf, found in card.by_leaf():
        if (tree, leaf) != place:
            place = tree, leaf
            console.print(f"{tree} · {leaf}" if leaf else "–", style="bold", markup=False)
        console.print(f"  {found.name:<18} {found.title(language)}", markup=False)


@trees_app.callback(invoke_without_command=True)
def trees(context: typer.Context, lang: options.LangOption = None) -> None:
    """List the trees with their leaves."""
    if context.invoked_subcommand:
        return
    from tutor import tree

    language, console = options.lang(lang), terminal.console()
    for path in tree.available().values():
        try:
            found = tree.load(path)
        except ValueError as error:
            terminal.refuse(error)
            continue
        console.print(f"{found.tree}  {found.title(language)}", style="bold", markup=False)
        console.print(f"  {found.about(language)}\n", markup=False)
        for id, leaf in found.leaves.items():
            line = f"  {leaf.verdict:<8} {id:<28} {leaf.name(language)}"
            console.print(line, soft_wrap=True, markup=False)
        console.print()


@trees_app.command("check", epilog="Example:  tutor trees check my.yaml trees/breaks/mine.yaml")
def trees_check(
    files: Annotated[
        list[Path] | None, typer.Argument(help="YAML files; all known trees and breaks by default.")
    ] = None,
) -> None:
    """Check trees and breaks: every problem named with file and line. Exit code 0 sound, 2 not."""
    from tutor.card import trees_once
    from tutor.cli import checking

    sound, trees = True, trees_once()
    for path in checking.graphs(files):
        try:
            terminal.tell(f"{path}: sound ({checking.describe(path, trees)})")
        except ValueError as error:
            sound = False
            terminal.warn(error)
    if not sound:
        raise typer.Exit(2)


@trees_app.command("schema", epilog="Example:  tutor trees schema > tree.schema.json")
def trees_schema(
    prose: Annotated[
        bool, typer.Option("--prose", help="Of the file with one language's sentences.")
    ] = False,
    card: Annotated[bool, typer.Option("--card", help="Of a break's card, in place of a tree.")] = False,
) -> None:
    """Print the JSON Schema of a tree's graph, for editors that complete and check YAML."""
    from tutor.card import Card
    from tutor.tree import Tree
    from tutor.words import schema

    model = Card if card else Tree
    terminal.tell_json(schema.prose(model) if prose else schema.graph(model))
