"""The walk that nobody watches, as text and as JSON: what `tutor check` prints."""

import math
import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.text import Text

from tutor import saying
from tutor.run import Run
from tutor.saying import Line
from tutor.tree import Tree
from tutor.walk import Look, flawed, unattended
from tutor.words import number, plain

INDENT = " " * 31
"""Under a question's sentences; its id and title stand on the left."""

NARROWEST = 20
"""Cells for a sentence, under which it isn't broken."""

_HANGS = re.compile(rf"(?P<command> +\$ )|  ! |  = \[..\] |  (?=\S).{{{len(INDENT) - 2}}}| *")
"""What stands before a line's sentence: a sign, a question's id and title, or spaces."""

ENDS = {
    "healthy": ("[ok]", "bold green"),
    "flaw": ("[!!]", "bold red"),
    "undecided": ("[??]", "bold yellow"),
}
"""Mark and style of a walk's end."""


class Report:
    """One run, walked with nobody watching."""

    def __init__(self, run: Run, tree: Tree) -> None:
        self.run, self.tree = run, tree
        self.walk, self.looks = unattended(run, tree)

    @property
    def too_early(self) -> list[str]:
        """The questions for which the run is too short."""
        return saying.too_early(self.looks)

    @property
    def assumed(self) -> list[str]:
        """The questions answered by assumption, for want of data."""
        return saying.assumed(self.walk)

    @property
    def verdict(self) -> str:
        """ "healthy", "flaw" or "undecided" (which may have shown a symptom: see `flawed`)."""
        return saying.conclusion(self.walk, self.looks)

    @property
    def flawed(self) -> bool:
        """Whether something is wrong."""
        return flawed(self.walk)

    @property
    def undecided(self) -> bool:
        """Whether nothing wrong was found, and not everything could be looked at."""
        return self.verdict == "undecided" and not self.flawed

    def text(self, lang: str, *, explain: bool = False, width: int | None = None) -> Text:
        """For people: a line a question, then the leaf; with `explain` how each rule came to its answer.

        With a `width`, lines are broken between words, and go on under their sentence.
        """
        out = self._text(lang, explain=explain)
        return out if width is None else wrapped(out, width)

    def _text(self, lang: str, *, explain: bool) -> Text:
        out = Text()
        out.append(plain(str(self.run.path)), "bold")
        out.append(f"   {self.tree.tree} · {self.tree.title(lang)}\n")
        for remark in self.run.remarks:
            out.append(f"  ! {plain(remark.says(lang))}\n", "yellow")
        for look in self.looks:
            title = self.tree.questions[look.question].title(lang)
            out.append(f"  {look.question:<4} {title:<23} ", "bold")
            out.append("\n".join(self._told(look, lang)).replace("\n", f"\n{INDENT}") + "\n")
            for line in saying.of_rules(self.tree.questions[look.question], look, lang) if explain else ():
                out.append(f"{INDENT}{line.text}\n", "dim")
        for line in saying.of_end(self.walk, self.looks, lang):
            out.append(*_drawn(line))
        return out

    def _told(self, look: Look, lang: str) -> list[str]:
        """A question's lines; the answer comes first where the lines alone don't say it."""
        question = self.tree.questions[look.question]
        lines = [_sentence(line) for line in saying.of_look(question, look, lang)]
        answer = next((a for a in self.walk.answers if a.question == look.question), None)
        if answer and (answer.by == "assumed" or question.checks):
            taken = saying.of_answer(question, answer, lang)
            lines.insert(0, f"{taken.text} {taken.note}".strip())
        return lines

    def data(self, lang: str) -> dict[str, Any]:
        """For programs: strict JSON, non-finite numbers as "NaN", "Infinity" and "-Infinity"."""
        answers = {answer.question: answer for answer in self.walk.answers}
        questions = []
        for look in self.looks:
            question, answer = self.tree.questions[look.question], answers.get(look.question)
            lines = saying.of_look(question, look, lang)
            questions.append(
                {
                    "id": look.question,
                    "ask": question.ask(lang, question.numbers),
                    "log_says": look.outcome,
                    "outcome": answer.outcome if answer else None,
                    "by": answer.by if answer else None,
                    "step": look.finding.step,
                    "bound": look.finding.level,
                    "margin": look.finding.margin,
                    "close": look.close,
                    "facts": dict(look.finding.facts),
                    "checks": {
                        name: {"outcome": finding.outcome, "facts": dict(finding.facts)}
                        for name, finding in look.checks.items()
                    },
                    "sources": saying.cited(question.rules, lang),
                    "sentences": [_sentence(line) for line in lines],
                    "lines": [asdict(line) for line in lines],
                }
            )
        leaf = self.walk.leaf
        found = None
        if leaf and self.verdict != "undecided":
            found = {
                "id": self.walk.at,
                "name": leaf.name(lang),
                "means": leaf.means(lang, self.walk.facts),
                "fix": saying.command(self.walk),
            }
        return strict(
            {
                "run": str(self.run.path),
                "tree": self.tree.tree,
                "verdict": self.verdict,
                "flawed": self.flawed,
                "too_early": self.too_early,
                "assumed": self.assumed,
                "remarks": [remark.says(lang) for remark in self.run.remarks],
                "questions": questions,
                "leaf": found,
            }
        )


def _sentence(line: Line) -> str:
    note = f" {line.note}" if line.note and line.role == "finding" else ""
    return f"{line.label} {line.text}{note}" if line.label else f"{line.text}{note}"


def _drawn(line: Line) -> tuple[str, str]:
    """A line of the walk's end, and its style."""
    if line.role in ("leaf", "undecided"):
        mark, style = ENDS[line.verdict]
        return f"  = {mark} {line.text}\n", style
    if line.role == "command":
        return f"    $ {line.text}\n", "bold"
    return f"    {_sentence(line)}\n", ""


def wrapped(text: Text, width: int) -> Text:
    """`text` with its lines broken between words at `width` cells, the rest of each under its sentence.

    A command stays whole, to be copied.
    """
    broken: list[Text] = []
    for line in text.split("\n", allow_blank=True):
        under = _HANGS.match(line.plain)
        if line.cell_len <= width or under is None or under["command"] or width - under.end() < NARROWEST:
            broken.append(line)
            continue
        lead, said = line.divide([under.end()])
        first, *rest = said.wrap(Console(width=width), width - under.end())
        broken.append(lead + first)
        broken += [Text(" " * under.end()) + piece for piece in rest]
    for line in broken:
        line.rstrip()
    return Text("\n").join(broken)


def strict(value: Any) -> Any:
    """`value` with its non-finite numbers as text, so that every JSON parser reads it."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"Inf": "Infinity", "-Inf": "-Infinity"}.get(number(value), "NaN")
    if isinstance(value, Mapping):
        return {key: strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [strict(item) for item in value]
    return value
