"""The walks that nobody watches, as text and as JSON: what `tutor check` prints."""

import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from tutor import readers, reported, saying
from tutor.detectors.windows import finite
from tutor.run import BadRunError, Run
from tutor.saying import Line
from tutor.tree import Tree
from tutor.walk import Find, Look, Stage, chain, deciding, named, suspicions
from tutor.words import plain, say

INDENT = " " * 31
"""Under a question's sentences; its id and title stand on the left."""

NARROWEST = 20
"""Cells for a sentence, under which it isn't broken."""

_HANGS = re.compile(rf"(?P<command> +\$ )|  ! |  = \[..\] |  (?=\S).{{{len(INDENT) - 2}}}| *")
"""What stands before a line's sentence: a sign, a question's id and title, or spaces."""

STANDARD_INPUT = "-"

ENDS = {
    "healthy": ("[ok]", "bold green"),
    "flaw": ("[!!]", "bold red"),
    "undecided": ("[??]", "bold yellow"),
}
"""Mark and style of a walk's end."""


_FEW = 5
"""Rows that a verdict rests on, as long as the run goes on."""

_VERDICT = ("leaf", "undecided")
"""The roles of the line that says what a walk came to."""


class Report:
    """One run, walked with nobody watching.

    Args:
        run: the run.
        tree: the tree to begin with.
        find: finds the trees to which its leaves lead; without it they aren't walked.

    Attributes:
        stages: each tree that was walked, in order.
        deciding: the one that says what the run is.
    """

    def __init__(self, run: Run, tree: Tree, find: Find | None = None) -> None:
        self.run = run
        self.stages = chain(run, tree, find)
        self.deciding = deciding(self.stages)
        self.walk, self.looks = self.deciding.walk, self.deciding.looks

    @property
    def too_little(self) -> str | None:
        """Why a log of one row decides nothing, and what it would need; None for a longer one.

        Nor for one whose row says it all: a loss that isn't finite.
        """
        if len(self.run) > 1 or self.verdict == "flaw":
            return None
        looks = [look for stage in self.stages for look in stage.looks]
        needed = max((look.finding.facts.get("needed") or 0 for look in looks), default=0)
        rows = (
            f": {needed} rows or more let it answer what it came to, later questions may need more"
            if needed
            else ""
        )
        return f"{self.run.path} holds one row, too little for any verdict; log a row a step{rows}"

    @property
    def verdict(self) -> str:
        """ "healthy", "flaw" (which the log may not be enough to name) or "undecided"."""
        return saying.verdict_of(self.stages)

    @property
    def fresh(self) -> bool:
        """Whether the last rows alone show what is wrong, so that the next ones may not bear it out.

        They will where the loss is NaN or Inf.
        """
        last = self.run["loss"].drop_nulls()[-1:] if self.run.has("loss") else None
        if self.verdict != "flaw" or (last is not None and len(last) and not finite(last).count()):
            return False
        shown = suspicions(self.walk)
        steps = [look.finding.step for look in self.looks if look.question in shown]
        newest = max((step for step in (*steps, self.walk.focus) if step is not None), default=None)
        return newest is not None and self.run.row_at(newest) >= len(self.run) - _FEW

    def headline(self, lang: str) -> tuple[str, str]:
        """What the run is, and what that means or what would settle it: "" where nothing is to be added."""
        first, *more = saying.of_end(self.stages, lang)
        return first.text, next((reported.sentence(line) for line in more), "")

    def to_do(self, lang: str) -> list[str]:
        """What to do with the run now, and the smallest fix; nothing where no flaw is found."""
        if self.verdict != "flaw":
            return []
        told = (line for line in saying.of_end(self.stages, lang) if line.role in ("advice", "fix"))
        return [plain(reported.sentence(line)) for line in told]

    def text(self, lang: str, *, explain: bool = False, width: int | None = None) -> Text:
        """For people: a line a question, then the leaf; with `explain` how each rule came to its answer.

        A tree that only led on to the next is one line, unless it is to be explained. With a `width`, lines
        are broken between words, and go on under their sentence.
        """
        out = self._text(lang, explain=explain)
        return out if width is None else wrapped(out, width)

    def brief(self, lang: str) -> Text:
        """The run's path, and under it the verdict in a short line, with the step where it shows; where it
        names no leaf, what shows it.
        """
        told = _VERDICT if named(self.walk) else (*_VERDICT, "means")
        out = Text(f"{plain(str(self.run.path))}\n", "bold")
        if open_ := saying.open_questions(self.stages, lang):
            out.append(*_drawn(open_))
        else:
            for line in saying.of_end(self.stages, lang):
                if line.role in told:
                    out.append(*_drawn(line))
            out.rstrip()
            step = self.data(lang)["step"] if named(self.walk) else None
            out.append("" if step is None else f" ({say('follow.at', lang, step=step)})")
        out.rstrip()
        return out

    def _text(self, lang: str, *, explain: bool) -> Text:
        out = Text()
        out.append(f"{plain(str(self.run.path))}\n", "bold")
        for remark in self.run.told(lang):
            out.append(f"  ! {plain(remark)}\n", "yellow")
        for stage in self.stages:
            out.append(f"  {stage.walk.tree.tree} · {stage.walk.tree.title(lang)}", "bold")
            if stage is self.deciding or explain:
                out.append("\n")
                self._questions(out, stage, stage.looks, lang, explain=explain)
            else:
                shown = suspicions(stage.walk)[-1:] if stage.flawed else []
                marked = [f"[!!] {one}" for one in shown]
                out.append(f"   {' '.join([*marked, saying.folded(stage, lang)])}\n")
                decisive = [look for look in stage.looks if look.question in shown]
                self._questions(out, stage, decisive, lang, explain=False)
        for line in saying.of_end(self.stages, lang):
            out.append(*_drawn(line))
        if (asked := self.walk.leaf and self.walk.leaf.table) and asked not in self._walked:
            out.append(f"    {self.walk.tree.questions[asked].title(lang)}\n", "bold")
            for line in saying.of_table(self.walk, lang):
                out.append(f"      {saying.mark_of(line)} {line.label:<24} {line.text}\n")
        return out

    def _questions(self, out: Text, stage: Stage, looks: Iterable[Look], lang: str, *, explain: bool) -> None:
        for look in looks:
            question = stage.walk.tree.questions[look.question]
            out.append(f"  {look.question:<4} {question.title(lang):<23} ", "bold")
            out.append("\n".join(_told(stage, look, lang)).replace("\n", f"\n{INDENT}") + "\n")
            for line in saying.of_rules(question, look, lang) if explain else ():
                out.append(f"{INDENT}{line.text}\n", "dim")

    @property
    def _walked(self) -> set[str]:
        """The questions on the way."""
        return {look.question for look in self.looks}

    def data(self, lang: str) -> dict[str, Any]:
        """For programs: see `tutor.reported.keys.Checked`."""
        return reported.checked(self.run, self.stages, lang)


def _told(stage: Stage, look: Look, lang: str) -> list[str]:
    """A question's lines; the answer comes first where the lines alone don't say it."""
    question = stage.walk.tree.questions[look.question]
    lines = [reported.sentence(line) for line in saying.of_look(question, look, lang)]
    answer = next((a for a in stage.walk.answers if a.question == look.question), None)
    if answer and (answer.by == "assumed" or question.checks):
        lines.insert(0, saying.of_answer(question, answer, lang).text)
    return lines


def _drawn(line: Line) -> tuple[str, str]:
    """A line of the walk's end, and its style."""
    if line.role in _VERDICT:
        mark, style = ENDS[line.verdict]
        return f"  = {mark} {line.text}\n", style
    if line.role == "command":
        return f"    $ {line.text}\n", "bold"
    return f"    {reported.sentence(line)}\n", ""


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


@dataclass(frozen=True)
class Sealed:
    """A run that keeps to itself what was put in, found in a folder: a verdict would give it away."""

    path: Path


Checked = Report | BadRunError | Sealed


def reports(names: Iterable[str], tree: Tree, find: Find | None = None) -> Iterator[tuple[str, Checked]]:
    """Of every run of that path or name the report, or why there is none; a folder may hold several.

    Of a folder's runs the sealed ones are left out; one that is named itself is checked.
    "-" is what comes in on standard input, as from a cluster's command that prints a job's output.
    """
    for name in names:
        if name != STANDARD_INPUT:
            yield from _reports(name, tree, find)
            continue
        with tempfile.TemporaryDirectory() as folder:
            kept = Path(folder) / "standard input"
            with kept.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
            for given, report in _reports(str(kept), tree, find):
                path = Path(given).relative_to(folder)  # where there are several, each has its name in it
                named = name if path.name == kept.name else str(path)
                if isinstance(report, Report):
                    report.run = replace(report.run, path=path)
                    yield named, report
                elif isinstance(report, BadRunError):
                    yield named, BadRunError(str(report).replace(str(kept), kept.name))


def _reports(name: str, tree: Tree, find: Find | None) -> Iterator[tuple[str, Checked]]:
    try:
        found, place = readers.every(name), readers.locate(name)
    except BadRunError as error:
        yield name, error
        return
    for source in found:
        given = name if len(found) == 1 else str(source.path)
        try:
            runs = readers.runs_of(source)
        except BadRunError as error:
            yield given, error
            continue
        for run in runs:
            if run.manifest.sealed and source.path not in (place, place.parent):
                yield given, Sealed(source.path)
                continue
            report = Report(run, tree, find)
            named = given if len(runs) == 1 else f"{given}/{run.path.name}"
            yield named, BadRunError(report.too_little) if report.too_little else report


def passed_over(names: Iterable[str], lang: str) -> Iterator[str]:
    """What to say of the files that `reports` passes over in the folders of these names."""
    for name in names:
        if name == STANDARD_INPUT:
            continue
        with suppress(BadRunError, OSError):  # said of the run itself
            for why, files in readers.left_out(readers.locate(name)).items():
                if files:
                    yield say(f"check.{why}", lang, runs=[*map(str, files)])


def summary(told: Sequence[Report], lang: str, *, counts_alone: bool = False) -> Text:
    """After several reports the verdict of each, and how many there are of each kind."""
    counts = Counter(report.verdict for report in told)
    briefly = () if counts_alone else [report.brief(lang) for report in told]
    total = Text(say("check.totals", lang, **{verdict: counts[verdict] for verdict in ENDS}), "bold")
    return Text("\n").join([*briefly, total])
