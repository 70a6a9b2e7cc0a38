"""The walk that nobody watches, as text and as JSON: what `tutor check` prints."""

import math
from collections.abc import Mapping
from typing import Any

from rich.text import Text

from tutor.detectors import NOT_YET
from tutor.run import Run
from tutor.tree import Tree
from tutor.walk import Look, fix_command, flawed, unattended, verdict
from tutor.words import Words, number, plain, say


def sentences(tree: Tree, look: Look, lang: str) -> list[str]:
    """What the log says of one question, in sentences: one, or one for each of its checks."""
    question = tree.questions[look.question]
    if not question.checks:
        return [sentence(question.outcomes, look.outcome, look.finding.facts, lang)]
    lines = []
    for name, finding in look.checks.items():
        check = question.checks[name]
        lines.append(f"{check.label(lang)}: {sentence(check.says, finding.outcome, finding.facts, lang)}")
    return lines


def sentence(says: Mapping[str, Any], outcome: str, facts: Mapping[str, Any], lang: str) -> str:
    """What the log says for `outcome`; `says` holds Words, or parts of a tree that have them as `says`."""
    if outcome not in says:
        return unable(outcome, facts, lang)
    words = says[outcome]
    return (words if isinstance(words, Words) else words.says)(lang, facts)


def unable(outcome: str, facts: Mapping[str, Any], lang: str) -> str:
    """Why the log can't tell."""
    if outcome == NOT_YET:
        return say("check.not_yet", lang, **facts)
    missing = facts.get("missing") or []
    if not missing:
        return say("check.by_hand", lang)
    return say("check.no_data", lang, missing=", ".join(missing))


class Report:
    """One run, walked with nobody watching."""

    def __init__(self, run: Run, tree: Tree):
        self.run, self.tree = run, tree
        self.walk, self.looks = unattended(run, tree)

    @property
    def too_early(self) -> list[str]:
        """The questions for which the run is too short."""
        return [look.question for look in self.looks if look.outcome == NOT_YET]

    @property
    def assumed(self) -> list[str]:
        """The questions answered by assumption, for want of data."""
        return [answer.question for answer in self.walk.answers if answer.by == "assumed"]

    @property
    def verdict(self) -> str:
        """ "healthy", "flaw" or "undecided" (which may have shown a symptom: see `flawed`)."""
        found = verdict(self.walk)
        return "undecided" if found == "healthy" and self.too_early else found

    @property
    def flawed(self) -> bool:
        """Whether something is wrong."""
        return flawed(self.walk)

    @property
    def unanswered(self) -> bool:
        """Whether the walk stopped for want of data, with nothing wrong found before."""
        return self.walk.leaf is None and not self.flawed and not self.too_early

    def command(self) -> str | None:
        """The smallest fix as a command, where it is one."""
        fixes = self.walk.leaf.fixes if self.walk.leaf else ()
        return fix_command(self.run, fixes[0].change) if fixes else None

    def text(self, lang: str) -> Text:
        """For people: a line a question, then the leaf."""
        out = Text()
        out.append(plain(str(self.run.path)), "bold")
        out.append(f"   {self.tree.tree} · {self.tree.title(lang)}\n")
        for remark in self.run.remarks:
            out.append(f"  ! {plain(remark.says(lang))}\n", "yellow")
        answers = {answer.question: answer for answer in self.walk.answers}
        for look in self.looks:
            question, answer = self.tree.questions[look.question], answers.get(look.question)
            lines = sentences(self.tree, look, lang)
            if answer and (answer.by == "assumed" or question.checks):
                label = question.outcomes[answer.outcome].label(lang)
                lines.insert(0, label + (say("check.assumed", lang) if answer.by == "assumed" else ""))
            out.append(f"  {look.question:<4} {question.title(lang):<23} ", "bold")
            out.append("\n".join(plain(line) for line in lines).replace("\n", "\n" + " " * 31) + "\n")
        leaf = self.walk.leaf
        if leaf is None:
            question = self.walk.question
            out.append(f"  = {say('check.undecided', lang, question=self.walk.at)}\n", "bold yellow")
            out.append(f"    {question.look(lang, question.numbers)}\n")
            return out
        if self.verdict == "undecided":
            key = "check.no_cause" if self.flawed else "check.too_early"
            out.append(f"  = [??] {say(key, lang, questions=self.too_early)}\n", "bold yellow")
            return out
        mark, style = ("ok", "bold green") if self.verdict == "healthy" else ("!!", "bold red")
        out.append(f"  = [{mark}] {leaf.name(lang)}\n", style)
        out.append(f"    {plain(leaf.means(lang, self.walk.facts))}\n")
        if self.assumed:
            out.append(f"    {say('check.as_far', lang, questions=self.assumed)}\n")
        if leaf.fixes:
            out.append(f"    {say('check.fix', lang)}: {leaf.fixes[0].words(lang)}\n")
        if command := self.command():
            out.append(f"    $ {plain(command)}\n", "bold")
        return out

    def data(self, lang: str) -> dict[str, Any]:
        """For programs: strict JSON, non-finite numbers as "NaN", "Infinity" and "-Infinity"."""
        answers = {answer.question: answer for answer in self.walk.answers}
        questions = []
        for look in self.looks:
            question, answer = self.tree.questions[look.question], answers.get(look.question)
            questions.append(
                {
                    "id": look.question,
                    "ask": question.ask(lang, question.numbers),
                    "log_says": look.outcome,
                    "outcome": answer.outcome if answer else None,
                    "by": answer.by if answer else None,
                    "step": look.finding.step,
                    "bound": look.finding.level,
                    "facts": dict(look.finding.facts),
                    "checks": {
                        name: {"outcome": finding.outcome, "facts": dict(finding.facts)}
                        for name, finding in look.checks.items()
                    },
                    "sentences": sentences(self.tree, look, lang),
                }
            )
        leaf = self.walk.leaf
        found = (
            leaf
            and self.verdict != "undecided"
            and {
                "id": self.walk.at,
                "name": leaf.name(lang),
                "means": leaf.means(lang, self.walk.facts),
                "fix": self.command(),
            }
        )
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
                "leaf": found or None,
            }
        )


def strict(value: Any) -> Any:
    """`value` with its non-finite numbers as text, so that every JSON parser reads it."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"Inf": "Infinity", "-Inf": "-Infinity"}.get(number(value), "NaN")
    if isinstance(value, Mapping):
        return {key: strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [strict(item) for item in value]
    return value
