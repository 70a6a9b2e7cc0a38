"""The commands that one looks things up with: flaws and signals."""

from typing import Annotated

import typer

from tutor import terminal
from tutor.cli import options

LOOK_UP = "Look up"

app = typer.Typer()


@app.command(
    rich_help_panel=LOOK_UP,
    epilog='Examples:  tutor flaws no-clip  ·  tutor flaws --sees "loss 0.0 and grad_norm nan"',
)
def flaws(
    name: Annotated[str | None, typer.Argument(help="Show this one whole.", metavar="[NAME]")] = None,
    sees: Annotated[
        str | None, typer.Option("--sees", help="What you see in a log or on a dashboard: find what fits.")
    ] = None,
    page: Annotated[
        str | None, typer.Option("--page", help="The whole catalogue as Markdown, in this language.")
    ] = None,
    sources: Annotated[
        bool, typer.Option("--sources", help="With NAME: every source of its rules' numbers.")
    ] = False,
    lang: options.LangOption = None,
) -> None:
    """List every flaw of every tree, show one, or find those that fit what you see."""
    from tutor import flaws as catalogue
    from tutor.flaws import text

    language = options.lang(lang)
    if sum(given is not None for given in (name, sees, page)) > 1:
        options.fail("flaws takes a NAME, or --sees, or --page: one of them")
    if sources and name is None:
        options.fail("--sources goes with a NAME: tutor flaws no-clip --sources")
    if page is not None:
        terminal.tell(text.page(catalogue.all_flaws(), options.lang(page)).rstrip("\n"))
    elif sees is not None:
        found = catalogue.search(catalogue.all_flaws(), sees)[: text.SHOWN]
        for line in text.hits(found, sees, language):
            _line(line)
        raise typer.Exit(0 if found else 1)
    elif name is not None:
        _one(name, language, every_source=sources)
    else:
        _all(language)


def _one(name: str, lang: str, *, every_source: bool) -> None:
    """Print one flaw whole."""
    from tutor import flaws as catalogue
    from tutor.flaws import text

    try:
        flaw = catalogue.find(name)
    except ValueError as error:
        options.fail(error)
    _line(f"{flaw.leaf.name(lang)}", "bold")
    _line(text.asked_at(flaw, lang))
    for title, lines in text.sections(flaw, lang, every_source=every_source):
        _line(f"\n{title}", "bold")
        for line in lines:
            _line(f"  {line}", whole=text.whole(line))


def _all(lang: str) -> None:
    """Print the flaws by tree."""
    from tutor import flaws as catalogue

    tree = ""
    for flaw in catalogue.all_flaws():
        if flaw.tree.tree != tree:
            tree = flaw.tree.tree
            _line(f"{tree}  {flaw.tree.title(lang)}", "bold")
        _line(f"  {flaw.called:<28}{flaw.leaf.name(lang)}", whole=True)


def _line(text: str, style: str = "", *, whole: bool = False) -> None:
    """Print a line, broken between words under its beginning unless it has to stay whole."""
    from rich.padding import Padding
    from rich.text import Text

    console, said = terminal.console(), text.lstrip(" ")
    if whole:
        console.print(Text(text, style), soft_wrap=True)
    else:
        console.print(Padding(Text(said, style), (0, 0, 0, len(text) - len(said)), expand=False))


@app.command(rich_help_panel=LOOK_UP, epilog="Examples:  tutor evidence  ·  tutor evidence beta2")
def evidence(
    name: Annotated[
        str | None,
        typer.Argument(help="Show this one whole.", metavar="[NAME]", autocompletion=options.complete_claim),
    ] = None,
    lang: options.LangOption = None,
) -> None:
    """What runs showed for a claim and against it: a remedy that helped here and not there."""
    from tutor import evidence as claims

    language = options.lang(lang)
    try:
        if name is None:
            for known in claims.available():
                _line(claims.in_a_line(known, claims.find(known), language))
        else:
            for line in claims.told(claims.find(name), language):
                _line(line, whole="https://" in line)  # to be followed by a click
    except ValueError as error:
        options.fail(error)


@app.command(rich_help_panel=LOOK_UP, epilog="Example:  tutor signals --lang es")
def signals(lang: options.LangOption = None) -> None:
    """What to log in a long run, how often and why; then every signal that tutor knows."""
    from rich.table import Table

    from tutor.signals import SIGNALS
    from tutor.words import say

    language, console = options.lang(lang), terminal.console()
    watched = Table(box=None, padding=(0, 2, 0, 0), title=say("watch.title", language), title_justify="left")
    for heading in ("signal", "cadence", "why"):
        watched.add_column(say(f"watch.heads.{heading}", language), no_wrap=heading == "signal")
    for name in WATCHED:
        watched.add_row(name, say("watch.cadence", language), say(f"watch.why.{name}", language))
    console.print(watched)
    known = Table(box=None, padding=(0, 2, 0, 0), title=say("watch.all", language), title_justify="left")
    for heading in ("signal", "what", "how"):
        known.add_column(
            say(f"watch.heads.{heading}", language),
            no_wrap=heading == "signal",
            min_width=_CODE if heading == "how" else None,
            max_width=_WHAT if heading == "what" else None,
            overflow="fold",
        )
    for signal in SIGNALS:
        words = (say(f"signals.{signal.name}.{part}", language) for part in ("name", "how"))
        known.add_row(signal.name, *words)
    console.print()
    console.print(known)


_CODE, _WHAT = 34, 22  # cells, on 80 of them: the longest name in the advice stays whole, to be copied
WATCHED = (
    "loss",
    "grad_norm",
    "param_norm",
    "adam_v_norm",
    "lr",
    "tokens_per_second",
    "activation_norms",
)
"""What the playbook for long runs logs, in its order."""
