"""Tree: a graph of questions that ends in leaves. Schema, loading and checking.

`tutor trees check FILE` runs `load` over one file: every fault is named with file and line.
"""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from string import Formatter
from typing import Literal, Self

from pydantic import Field, model_validator

from tutor import detectors, paths, settings
from tutor.detectors import NO_DATA, NOT_YET
from tutor.run import PANELS
from tutor.words import BadFileError, Document, Strict, Words

Number = int | float
LARGEST = 1e9
"""No window or bound of a rule has a use for more."""
Panel = Literal[PANELS]


class Rule(Strict):
    """A detector and its numbers."""

    detector: str
    numbers: Mapping[str, Number] = Field(default_factory=dict)


class Outcome(Strict):
    """One answer to a question, and where it leads: to `next` (a question) or to `leaf`.

    Attributes:
        label: the answer, in a word or two.
        says: what the log says when this is its answer; placeholders are the detector's facts.
        tempting: why someone may give this answer when the log gives another.
        rules_out: the look-alike that this answer rules out.
        symptom: whether this answer shows that something is wrong.
    """

    label: Words
    says: Words
    tempting: Words | None = None
    rules_out: Words | None = None
    symptom: bool = False
    next: str | None = None
    leaf: str | None = None

    @model_validator(mode="after")
    def _leads_somewhere(self) -> Self:
        if (self.next is None) == (self.leaf is None):
            raise ValueError("an outcome leads either to `next` or to `leaf`")
        return self


class Check(Strict):
    """One of several checks of a question, each with its own rule. Its first outcome that the question
    knows decides; its other outcomes only inform.
    """

    label: Words
    panel: Panel
    rule: Rule
    says: Mapping[str, Words]


class Question(Strict):
    """A question with the panel to look at, and how the log answers it.

    Attributes:
        ask: the sentence asked, whole.
        title: the question in three words, for the path and the map.
        why: what is at stake, for the reading pane.
        panel: the panel to look at first.
        rule: how the log answers; None with `checks`, or where only the learner can answer.
        checks: several rules, all shown; the first one with an outcome of the question decides.
        otherwise: the outcome when no check decides.
        focus: whether the step that is found becomes the step under discussion.
        assume: the outcome a walk that nobody watches goes on with, where the log can't tell.
        look: how to look for oneself, where the log can't tell.
        hints: one revealed at a time.
    """

    section: Words
    title: Words
    ask: Words
    why: Words
    panel: Panel
    rule: Rule | None = None
    checks: Mapping[str, Check] = Field(default_factory=dict)
    otherwise: str | None = None
    focus: bool = False
    assume: str | None = None
    look: Words
    hints: tuple[Words, ...] = Field(min_length=1)
    outcomes: Mapping[str, Outcome] = Field(min_length=2)


class Times(Strict):
    """A change against what the run had: half the learning rate is `{times: 0.5}`."""

    times: float = Field(gt=0, allow_inf_nan=False)


class Fix(Strict):
    """A remedy: in words and, where it is a change of settings, as one that can be run."""

    words: Words
    change: Mapping[str, Times | float | int | str | None] = Field(default_factory=dict)


class Leaf(Strict):
    """Where a walk ends.

    Attributes:
        name: the flaw, or the good news.
        verdict: "healthy" or "flaw".
        means: what it means; placeholders are the facts of the path.
        fixes: the smallest first.
        breaks: names of the breaks that reproduce it.
        post_mortem: whether one is due.
        again: whether to apply, re-run and walk again from the top.
        tree: the tree to go on with.
    """

    name: Words
    verdict: Literal["healthy", "flaw"]
    means: Words
    fixes: tuple[Fix, ...] = ()
    breaks: tuple[str, ...] = ()
    post_mortem: bool = False
    again: bool = False
    tree: str | None = None


class Tree(Strict):
    """A decision tree: questions by id, in reading order, and leaves by id."""

    tree: str
    title: Words
    about: Words
    start: str
    questions: Mapping[str, Question] = Field(min_length=1)
    leaves: Mapping[str, Leaf] = Field(min_length=1)

    def nexts(self, question: str) -> Iterator[tuple[str, str]]:
        """The outcomes of a question, each with the id it leads to (a question's or a leaf's)."""
        for name, outcome in self.questions[question].outcomes.items():
            yield name, outcome.next or outcome.leaf


def load(path: Path) -> Tree:
    """The tree in the YAML file at `path`, checked whole.

    Raises:
        BadFileError: with every fault found, each with its line.
    """
    document = Document(path)
    tree = document.parse(Tree)
    faults = [(document.line(*where), what) for where, what in _faults(tree)]
    if faults:
        raise BadFileError(path, faults)
    return tree


def find(name: str) -> Tree:
    """The tree of that name, or in that file.

    Raises:
        BadFileError: a file with faults.
        ValueError: no such tree; the nearest name is offered.
    """
    if name.endswith((".yaml", ".yml")):
        return load(Path(name))
    for folder in paths.folders("trees"):
        if (path := folder / f"{name}.yaml").is_file():
            return load(path)
    known = available()
    near = get_close_matches(name, known, n=1, cutoff=0.4)
    raise ValueError(
        f"there is no tree {name!r}; "
        + (f"did you mean {near[0]}?" if near else f"they are: {', '.join(known)}")
    )


def available() -> dict[str, Path]:
    """Every tree's file by name, the user's own before the shipped one of the same name."""
    found: dict[str, Path] = {}
    for folder in paths.folders("trees"):
        for path in sorted(folder.glob("*.yaml")):
            found.setdefault(path.stem, path)
    return found


def numbers(detector: str, asked: Tree | None = None) -> Mapping[str, Number]:
    """The numbers by which a question of `asked`, else of phase-19, runs the detector.

    For tables beside a walk, so that the two never disagree.
    """
    for tree in filter(None, (asked, find("phase-19"))):
        for question in tree.questions.values():
            for rule in filter(None, (question.rule, *(check.rule for check in question.checks.values()))):
                if rule.detector == detector:
                    return rule.numbers
    raise ValueError(f"no question of phase-19 uses the detector {detector!r}")


Fault = tuple[tuple[str | int, ...], str]


def _faults(tree: Tree) -> Iterator[Fault]:
    if tree.start not in tree.questions:
        yield ("start",), f"start: there is no question {tree.start!r}"
        return
    for id, question in tree.questions.items():
        yield from _question_faults(tree, id, question)
    yield from _leaf_faults(tree)
    yield from _graph_faults(tree)


def _leaf_faults(tree: Tree) -> Iterator[Fault]:
    rules = [question.rule for question in tree.questions.values() if question.rule]
    rules += [check.rule for question in tree.questions.values() for check in question.checks.values()]
    known = detectors.registry()
    facts = {fact for rule in rules if rule.detector in known for fact in known[rule.detector].facts}
    for id, leaf in tree.leaves.items():
        yield from _placeholder_faults(("leaves", id, "means"), leaf.means, facts | {"focus"})
        for index, fix in enumerate(leaf.fixes):
            for name, value in fix.change.items():
                try:
                    settings.build({name: 1 if isinstance(value, Times) else value})
                except ValueError as error:
                    yield ("leaves", id, "fixes", index, "change", name), f"leaf {id}: {error}"
        for name in leaf.breaks:
            if not any((folder / "breaks" / f"{name}.yaml").is_file() for folder in paths.folders("trees")):
                yield ("leaves", id, "breaks"), f"leaf {id}: there is no break {name!r}"


def _question_faults(tree: Tree, id: str, question: Question) -> Iterator[Fault]:
    here = ("questions", id)
    for name, outcome in question.outcomes.items():
        goal = outcome.next or outcome.leaf
        kind, known = ("question", tree.questions) if outcome.next else ("leaf", tree.leaves)
        if goal not in known:
            yield (*here, "outcomes", name), f"question {id}, outcome {name}: there is no {kind} {goal!r}"
    for field in ("otherwise", "assume"):
        name = getattr(question, field)
        if name is not None and name not in question.outcomes:
            yield (*here, field), f"question {id}: {field} names no outcome of it: {name!r}"
    if question.rule and question.checks:
        yield (*here, "checks"), f"question {id}: has a rule and checks; it takes one of them"
    if question.checks and question.otherwise is None:
        yield here, f"question {id}: has checks but no `otherwise` for when none decides"
    facts: set[str] | None = None
    reached: set[str] = {question.otherwise} if question.otherwise else set()
    if question.rule:
        yield from _rule_faults((*here, "rule"), f"question {id}", question.rule)
        if found := detectors.registry().get(question.rule.detector):
            facts, reached = set(found.facts), reached | set(found.outcomes)
            for name in found.outcomes:
                if name not in question.outcomes:
                    yield (
                        (*here, "outcomes"),
                        f"question {id}: {found.name} can answer {name!r}, which leads nowhere",
                    )
    for name, check in question.checks.items():
        where = (*here, "checks", name)
        yield from _rule_faults((*where, "rule"), f"question {id}, check {name}", check.rule)
        if found := detectors.registry().get(check.rule.detector):
            reached |= set(found.outcomes)
            for outcome in found.outcomes:
                if outcome not in check.says:
                    yield (*where, "says"), f"question {id}, check {name}: says nothing for {outcome!r}"
            for outcome, words in check.says.items():
                yield from _placeholder_faults((*where, "says", outcome), words, set(found.facts))
    for name, outcome in question.outcomes.items():
        if (question.rule or question.checks) and name not in reached:
            yield (*here, "outcomes", name), f"question {id}: no rule ever answers {name!r}"
        if facts is not None:
            for words in (outcome.says, outcome.tempting):
                if words:
                    yield from _placeholder_faults((*here, "outcomes", name), words, facts)


def _rule_faults(where: tuple[str | int, ...], what: str, rule: Rule) -> Iterator[Fault]:
    found = detectors.registry().get(rule.detector)
    if found is None:
        near = get_close_matches(rule.detector, detectors.registry(), n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        yield (*where, "detector"), f"{what}: there is no detector {rule.detector!r}{hint}"
        return
    for name in found.numbers.keys() - rule.numbers.keys():
        yield where, f"{what}: {found.name} needs the number {name!r}"
    for name in rule.numbers.keys() - found.numbers.keys():
        yield (*where, "numbers", name), f"{what}: {found.name} takes no number {name!r}"
    for name, value in rule.numbers.items():
        if found.numbers.get(name) is int and not isinstance(value, int):
            yield (*where, "numbers", name), f"{what}: {name} must be a whole number, not {value}"
        elif not 0 < value <= LARGEST:
            yield (
                (*where, "numbers", name),
                f"{what}: {name} must be above 0 and at most {LARGEST:g}, not {value}",
            )


def _placeholder_faults(where: tuple[str | int, ...], words: Words, facts: set[str]) -> Iterator[Fault]:
    for lang, sentence in words:
        try:
            fields = [field for field in Formatter().parse(sentence) if field[1] is not None]
        except ValueError as error:
            yield (*where, lang), f"{lang}: {error}"
            continue
        used = {name for _, name, _, _ in fields}
        if any(spec or conversion for _, _, spec, conversion in fields):
            yield (*where, lang), f"{lang}: a placeholder is a name in braces and no more"
        for name in sorted(used - facts):
            yield (*where, lang), f"{lang}: {{{name}}} is no fact that a detector here gives"


def _graph_faults(tree: Tree) -> Iterator[Fault]:
    seen: set[str] = set()
    open_path: list[str] = []
    loops: list[tuple[str, str]] = []

    def visit(id: str) -> None:
        seen.add(id)
        if id not in tree.questions:
            return
        open_path.append(id)
        for _, goal in tree.nexts(id):
            if goal in open_path:
                loops.append((id, goal))
            elif goal not in seen:
                visit(goal)
        open_path.pop()

    visit(tree.start)
    for id, goal in loops:
        yield ("questions", id), f"question {id} leads back to {goal}: a walk would never end"
    for kind in ("questions", "leaves"):
        for id in getattr(tree, kind).keys() - seen:
            yield (kind, id), f"no answer leads to {id}"


__all__ = [
    "NOT_YET",
    "NO_DATA",
    "Check",
    "Fix",
    "Leaf",
    "Outcome",
    "Question",
    "Rule",
    "Tree",
    "available",
    "find",
    "load",
]
