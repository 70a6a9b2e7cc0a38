"""What a schema can't see: names that lead nowhere, numbers that no rule takes, loops, dead ends."""

from collections.abc import Iterator
from difflib import get_close_matches
from string import Formatter

from tutor import detectors, paths, settings
from tutor.tree.schema import Question, Rule, Times, Tree
from tutor.words import Words

LARGEST = 1e9
"""No window or bound of a rule has a use for more."""

Fault = tuple[tuple[str | int, ...], str]
"""Keys and indexes that lead to the place in the file, and the sentence."""


def find_faults(tree: Tree) -> Iterator[Fault]:
    """Every fault of the tree: where in the file it is, and what is wrong."""
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
    prose = {("ask",): question.ask, ("why",): question.why, ("look",): question.look}
    prose |= {("hints", index): hint for index, hint in enumerate(question.hints)}
    for field, words in prose.items():
        yield from _placeholder_faults((*here, *field), words, set(question.numbers), "number of its rule")
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


def _placeholder_faults(
    where: tuple[str | int, ...], words: Words, known: set[str], kind: str = "fact that a detector here gives"
) -> Iterator[Fault]:
    for lang, sentence in words:
        try:
            fields = [field for field in Formatter().parse(sentence) if field[1] is not None]
        except ValueError as error:
            yield (*where, lang), f"{lang}: {error}"
            continue
        used = {name for _, name, _, _ in fields}
        if any(spec or conversion for _, _, spec, conversion in fields):
            yield (*where, lang), f"{lang}: a placeholder is a name in braces and no more"
        for name in sorted(used - known):
            yield (*where, lang), f"{lang}: {{{name}}} is no {kind}"


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
