"""What experiments found, drawn for a terminal: replays, recoveries, verifications."""

from collections.abc import Callable, Sequence
from pathlib import Path

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from tutor.lineage import Experiment
from tutor.run.recovery import CLOSE, Recovery
from tutor.run.replay import Passage, Replay
from tutor.run.verification import Verification
from tutor.saying import verified
from tutor.words import number, plain, say

AROUND = 4
"""Rows of the table before and after the one where values stop being finite."""

SIGNS = {True: ("✓", "green"), False: ("≠", "bold red"), None: ("·", "")}


def replay(one: Replay, lang: str) -> Group:
    """One step that was taken again: where values stop being finite, and what its update moved."""
    title = say("replay.title", lang, at=one.at, dtype=one.dtype)
    parts: list[RenderableType] = [Text(title, style="bold")]
    if not one.as_it_was:
        if one.batch != one.at:
            parts.append(Text("  " + say("replay.batch", lang, batch=one.batch)))
        parts.append(Text("  " + say("replay.state", lang, **one.state)))
    parts.append(Text("  " + say("replay.loss", lang, loss=number(one.loss), norm=number(one.grad_norm))))
    culprit = one.culprit
    if one.finite:
        parts.append(Text("  " + say("replay.all_finite", lang)))
    elif culprit is None:
        parts.append(Text("  " + say("replay.from_start", lang), style="bold"))
    else:
        parts.append(_passages(one.passages, lang))
        facts = {"name": plain(culprit.name), "phase": say(f"replay.ways.{culprit.phase}", lang)}
        parts.append(Text("  " + say("replay.culprit", lang, **facts), style="bold"))
    moves = [
        say("replay.moved_one", lang, name=plain(move.name), share=number(move.share))
        for move in one.moved[:3]
    ]
    if moves:
        parts.append(Text("  " + say("replay.moved", lang, what=" · ".join(moves))))
    if one.violent:
        told = {"step": one.violent.step, "name": plain(one.violent.name)}
        told |= {"share": number(one.violent.share), "times": number(one.violent.times)}
        parts.append(Text("  " + say("replay.violent", lang, **told)))
    if one.mean_after is not None:
        after = say("replay.after", lang, count=one.after)
        parts.append(Text(f"  {after}: {number(one.mean_after)}"))
    return Group(*parts)


def _passages(passages: Sequence[Passage], lang: str) -> Table:
    """The rows about the one where values stop being finite."""
    place = next(index for index, one in enumerate(passages) if one.broke)
    table = Table(box=box.SIMPLE)
    for head in ("name", "phase", "in", "out", "largest"):
        table.add_column(say(f"replay.passed.{head}", lang), justify="right" if head == "largest" else "left")
    for one in passages[max(0, place - AROUND) : place + AROUND + 1]:
        states = [
            Text(say("replay.finite" if good else "replay.not_finite", lang), style="" if good else "red")
            for good in (one.finite_in, one.finite_out)
        ]
        largest = "–" if one.largest is None else number(one.largest)
        phase = say(f"replay.phase.{one.phase}", lang)
        table.add_row(Text(plain(one.name)), phase, *states, largest, style="bold" if one.broke else "")
    return table


def in_fp32(given: Replay, single: Replay, lang: str) -> Text:
    """Whether a step that fails in a smaller dtype succeeds in fp32."""
    if given.dtype == "fp32":
        key = "fp32_already"
    elif given.finite:
        key = "fp32_needless"
    else:
        key = "fp32_yes" if single.finite else "fp32_no"
    return Text(say(f"replay.{key}", lang, dtype=given.dtype), style="bold")


def by_parts(found: Sequence[Replay], lang: str) -> Table:
    """What the next steps cost, by where each part of the state comes from."""
    table = Table(box=box.SIMPLE, title=say("replay.parts", lang, count=found[0].after), title_justify="left")
    for head in ("replay.weights", "replay.part.m", "replay.part.v"):
        table.add_column(say(head, lang), justify="right")
    table.add_column(say("replay.after", lang, count=found[0].after), justify="right")
    for one in found:
        mean = "–" if one.mean_after is None else number(one.mean_after)
        table.add_row(*(str(one.state[part]) for part in ("weights", "m", "v")), mean)
    return table


def recovery(found: Recovery, lang: str) -> Group:
    """The actions side by side, and the best of them."""
    title = say(
        "replay.recover.title", lang, spike=found.spike, seen=found.seen, per_hour=number(found.per_hour)
    )
    table = Table(
        box=box.SIMPLE_HEAD,
        title=title,
        title_justify="left",
        title_style="bold",
        padding=0,
    )
    table.add_column(say("replay.recover.action", lang), no_wrap=True)
    heads = ("begins", "steps", "tokens", "price", "soon", "late", "again")
    facts = {"soon": found.soon, "late": found.late}
    for head in heads:
        words = say(f"replay.recover.{head}", lang, steps=facts.get(head))
        table.add_column(words, justify="right", no_wrap=True)
    best = found.best
    for one in found.outcomes:
        again = "no" if one.again is None else "at"
        table.add_row(
            Text(f"{one.action}  {say(f'replay.recover.{one.action}', lang)}"),
            str(one.begins),
            str(one.steps),
            "–" if one.tokens is None else f"{one.tokens:,}",
            "–" if one.price is None else f"{one.price:.2g}",
            *("–" if x is None else f"{x:.3g}" for x in (one.soon, one.late)),
            say(f"replay.recover.{again}", lang, step=one.again),
            style="bold green" if one is best else "",
        )
    lines: list[RenderableType] = [table]
    for letter, why in found.left_out.items():
        lines.append(Text(say("replay.recover.left_out", lang, action=letter, why=plain(why))))
    key = "replay.recover.best" if best else "replay.recover.none_best"
    told = {"action": best.action if best else "", "late": found.late, "close": round(100 * CLOSE)}
    lines.append(Text(say(key, lang, **told), style="bold"))
    return Group(*lines)


def lineage(folder: Path, below: Callable[[Path], Sequence[Experiment]], lang: str) -> Tree:
    """A run and, under it, what was tried on it."""
    root = Tree(Text(plain(str(folder)), style="bold"))

    def grow(branch: Tree, path: Path, above: frozenset[Path]) -> None:
        for one in below(path):
            where = "" if one.at is None else say("replay.lineage.at", lang, step=one.at)
            end = "–" if one.end is None else number(one.end)
            line = Text.assemble(
                (plain(one.path.name), "bold"),
                f"  {plain(one.change)} {where}  ",
                (say("replay.lineage.end", lang, loss=end), "dim"),
                *([("  " + say(f"replay.lineage.{one.verified}", lang), "")] if one.verified else []),
            )
            if one.path.resolve() not in above:
                grow(branch.add(line), one.path, above | {one.path.resolve()})

    grow(root, folder, frozenset({folder.resolve()}))
    if not root.children:
        root.add(Text(say("replay.lineage.none", lang), style="dim"))
    return root


def verification(found: Verification, lang: str) -> Group:
    """Whether the fix is verified, and what speaks for it and against it."""
    lines = [Text(verified.heading(found, lang), style="bold green" if found.verified else "bold red")]
    for good, words in verified.lines_of(found, lang):
        sign, style = SIGNS[good]
        lines.append(Text.assemble("  ", (sign, style), f" {words}"))
    return Group(*lines)
