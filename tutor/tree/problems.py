"""What a schema can't see: names that lead nowhere, numbers and facts that no rule knows, loops."""

from collections.abc import Iterable, Iterator

from tutor import catalog, detectors
from tutor.detectors.grouped import Grouped
from tutor.tree.leafproblems import of_hypotheses, of_leaf
from tutor.tree.numbers import Group, Number
from tutor.tree.schema import Check, Question, Rule, Tree
from tutor.words import Words
from tutor.words.document import Where
from tutor.words.prose import sentences, shape_of, unknown_placeholders

LARGEST = 1e9
"""No window or bound of a rule has a use for more."""

FOCUS = "focus"
"""The fact that every answer behind a question with `focus` gives: the step under discussion."""

FILLED = {"ask", "why", "look", "hints", "says", "now", "tempting", "means"}
"""The sentences whose placeholders are filled."""

Found = Iterator[tuple[Where, str]]
"""Keys and indexes that lead to the place in the tree's files, and the sentence."""


def find_problems(tree: Tree) -> Found:
    """Every problem of the tree: where it is, and what is wrong."""
    if tree.start not in tree.questions:
        yield ("start",), f"start: there is no question {tree.start!r}"
        return
    for id, question in tree.questions.items():
        yield from _question(tree, id, question)
    for id, leaf in tree.leaves.items():
        yield from of_leaf(tree, id, leaf)
    yield from of_hypotheses(tree)
    yield from _before(tree)
    yield from _tables(tree)
    yield from _graph(tree)
    yield from _facts_of_leaves(tree)
    for where, words in sentences(shape_of(Tree), tree):
        if not FILLED & set(where):
            yield from unknown_placeholders(where, words, (), "placeholder that is filled here")


def _before(tree: Tree) -> Found:
    """A tree before this one that isn't there, or before which this one comes."""
    from tutor import tree as trees

    known, name, passed = trees.available(), tree.after, {tree.tree}
    while name is not None:
        if name in passed:
            yield ("after",), f"after: {tree.tree} comes after {name}, which comes after it"
            return
        if name not in known:
            yield ("after",), f"after: {catalog.unknown('tree', name, known)}"
            return
        passed.add(name)
        name = trees.load(known[name], checked=False).after


def _question(tree: Tree, id: str, question: Question) -> Found:
    here = ("questions", id)
    for name, outcome in question.outcomes.items():
        kind, known = ("question", tree.questions) if outcome.next else ("leaf", tree.leaves)
        if outcome.goal not in known:
            yield (
                (*here, "outcomes", name),
                f"question {id}, outcome {name}: there is no {kind} {outcome.goal!r}",
            )
        if outcome.under is not None:
            yield from _under(here, id, question, name)
    for field in ("otherwise", "assume"):
        name = getattr(question, field)
        if name is not None and name not in question.outcomes:
            yield (*here, field), f"question {id}: {field} names no outcome of it: {name!r}"
    if question.rule and question.checks:
        yield (*here, "checks"), f"question {id}: has a rule and checks; it takes one of them"
    if question.checks and question.otherwise is None:
        yield here, f"question {id}: has checks but no `otherwise` for when none decides"
    if question.section_id not in tree.sections:
        known = ", ".join(tree.sections)
        yield (
            (*here, "section"),
            f"question {id}: there is no section {question.section_id!r}; they are: {known}",
        )
    prose: dict[Where, Words] = {("ask",): question.ask, ("why",): question.why, ("look",): question.look}
    prose |= {("hints", index): hint for index, hint in enumerate(question.hints)}
    for field, words in prose.items():
        yield from unknown_placeholders((*here, *field), words, question.numbers, "number of its rule")
    if question.rule:
        yield from _rule(tree, (*here, "rule"), f"question {id}", question.rule)
    for name, check in question.checks.items():
        where = (*here, "checks", name)
        yield from _rule(tree, (*where, "rule"), f"question {id}, check {name}", check.rule)
        yield from _check(where, f"question {id}, check {name}", check)
    if all(rule.detector in detectors.registry() for rule in question.rules):
        yield from _outcomes(here, id, question)


def _under(here: Where, id: str, question: Question, name: str) -> Found:
    """An outcome under one that isn't offered, or that leads elsewhere, or with a reason to choose it."""
    where, outcome = (*here, "outcomes", name), question.outcomes[name]
    over = question.offered.get(outcome.under or "")
    if over is None:
        yield (
            where,
            f"question {id}, outcome {name}: under names no outcome that is offered: {outcome.under!r}",
        )
    elif over.goal != outcome.goal:
        yield where, f"question {id}, outcome {name}: stands under {outcome.under!r}, which leads elsewhere"
    if outcome.tempting:
        yield where, f"question {id}, outcome {name}: nobody can choose it, so it tempts nobody"


def _outcomes(here: Where, id: str, question: Question) -> Found:
    """Outcomes that lead nowhere or are never given, and sentences with facts that they never have."""
    if question.rule:
        for name in detectors.registry()[question.rule.detector].outcomes:
            if name not in question.outcomes:
                what = f"question {id}: {question.rule.detector} can answer {name!r}, which leads nowhere"
                yield (*here, "outcomes"), what
    given = {name: facts for name in question.outcomes if (facts := facts_of(question, name)) is not None}
    for name, outcome in question.outcomes.items():
        where = (*here, "outcomes", name)
        if question.rules and name not in given:
            yield where, f"question {id}: no rule ever answers {name!r}"
        others = [
            facts for other, facts in given.items() if name not in (other, question.outcomes[other].under)
        ]
        facts, kind = given.get(name, set()), f"fact of the outcome {name!r}"
        yield from unknown_placeholders((*where, "says"), outcome.says, facts, kind)
        if outcome.now:
            yield from unknown_placeholders((*where, "now"), outcome.now, facts, kind)
        if outcome.tempting:
            kind = "fact of every other outcome, of which the log gives one then"
            yield from unknown_placeholders((*where, "tempting"), outcome.tempting, _shared(others), kind)


def facts_of(question: Question, outcome: str) -> set[str] | None:
    """The facts that the log gives whenever it answers the question so; None where it never does."""
    answering = [
        found for rule in question.rules if outcome in (found := detectors.registry()[rule.detector]).outcomes
    ]
    facts = [set(found.facts_of(outcome)) | _led_to_by(question, found) for found in answering]
    if outcome == question.otherwise:
        facts.append(set())
    return _shared(facts) if facts else None


def _led_to_by(question: Question, detector: detectors.Detector) -> set[str]:
    """The facts of the outcomes, of other checks, that give the detector what it goes on from."""
    if not detector.given:
        return set()
    others = [detectors.registry()[rule.detector] for rule in question.rules]
    facts = [
        set(other.facts_of(name)) for other in others if other is not detector for name in other.outcomes
    ]
    return _shared([one for one in facts if one.issuperset(detector.given)])


def _check(where: Where, what: str, check: Check) -> Found:
    found = detectors.registry().get(check.rule.detector)
    if found is None:
        return
    for outcome in found.outcomes:
        if outcome not in check.says:
            yield (*where, "says"), f"{what}: says nothing for {outcome!r}"
    for outcome, words in check.says.items():
        if outcome not in found.outcomes:
            yield (*where, "says", outcome), f"{what}: {found.name} never answers {outcome!r}"
            continue
        kind = f"fact of the outcome {outcome!r}"
        yield from unknown_placeholders((*where, "says", outcome), words, found.facts_of(outcome), kind)


def _rule(tree: Tree, where: Where, what: str, rule: Rule) -> Found:
    found = detectors.registry().get(rule.detector)
    if found is None:
        yield (
            (*where, "detector"),
            f"{what}: {catalog.unknown('detector', rule.detector, detectors.registry())}",
        )
        return
    for name in found.numbers.keys() - rule.numbers.keys():
        yield where, f"{what}: {found.name} needs the number {name!r}"
    for name in rule.numbers.keys() - found.numbers.keys():
        yield (*where, "numbers", name), f"{what}: {found.name} takes no number {name!r}"
    sourced = set(rule.numbers)
    for name, value in rule.numbers.items():
        if misfit := _misfit(found.numbers.get(name), value):
            yield (*where, "numbers", name), f"{what}: {name} must be {misfit}"
        if isinstance(value, Grouped):
            sourced.update(value.cited(name))
    for name in sorted(sourced - rule.source_ids.keys()):
        yield (*where, "numbers", name.partition(".")[0]), f"{what}: the number {name!r} has no source"
    for name, source in rule.source_ids.items():
        if name not in sourced:
            yield (*where, "sources", name), f"{what}: a source for {name!r}, which is no number of it"
        if source not in tree.sources:
            yield (*where, "sources", name), f"{what}: {catalog.unknown('source', source, tree.sources)}"


def _misfit(kind: object, value: Number | Group) -> str | None:
    """What a number must be that it isn't; None where it fits."""
    group = kind if isinstance(kind, type) and issubclass(kind, Grouped) else None
    if group and not isinstance(value, group):
        keys = [f"{name}: {20 if place else _first(value)}" for place, name in enumerate(group.names())]
        return f"{group.a_kind}, such as {{{', '.join(keys)}}}"
    if isinstance(value, Grouped):
        if not group:
            return f"one number, not {value.a_kind}"
        values = tuple(value.values.values())
    elif kind is int and not isinstance(value, int):
        return f"a whole number, not {value}"
    else:
        values = (value,)
    return next((f"above 0 and at most {LARGEST:g}, not {v}" for v in values if not 0 < v <= LARGEST), None)


def _first(value: Number | Group) -> Number:
    """The number, or the first one of a group."""
    return next(iter(value.values.values())) if isinstance(value, Grouped) else value


def _tables(tree: Tree) -> Found:
    """Sections and sources that nothing refers to."""
    rules = [rule for question in tree.questions.values() for rule in question.rules]
    used = {
        "sections": {question.section_id for question in tree.questions.values()},
        "sources": {source for rule in rules for source in rule.source_ids.values()},
    }
    for table, ids in used.items():
        for id in getattr(tree, table).keys() - ids:
            yield (table, id), f"{table}: nothing refers to {id!r}"


def _facts_of_leaves(tree: Tree) -> Found:
    """Sentences of leaves with facts that some path to them doesn't give."""
    rules = (rule for question in tree.questions.values() for rule in question.rules)
    if not all(rule.detector in detectors.registry() for rule in rules):
        return  # that is named already
    given: dict[str, list[set[str]]] = {tree.start: [set()]}
    for id in _in_order(tree):
        question, before = tree.questions[id], _shared(given[id])
        for name, goal in tree.nexts(id):
            focus = {FOCUS} if question.focus else set()
            given.setdefault(goal, []).append(before | focus | (facts_of(question, name) or set()))
    for id, leaf in tree.leaves.items():
        if id in given:
            kind = "fact that every path to this leaf gives"
            yield from unknown_placeholders(("leaves", id, "means"), leaf.means, _shared(given[id]), kind)


def _in_order(tree: Tree) -> list[str]:
    """The questions that can be reached, each after all that lead to it."""
    done: list[str] = []
    seen: set[str] = set()

    def visit(id: str) -> None:
        if id in tree.questions and id not in seen:
            seen.add(id)
            for _, goal in tree.nexts(id):
                visit(goal)
            done.append(id)

    visit(tree.start)
    return done[::-1]


def _graph(tree: Tree) -> Found:
    """Answers that lead back, and what no answer leads to."""
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


def _shared(facts: Iterable[set[str]]) -> set[str]:
    """The names that are in all of them."""
    sets = list(facts)
    return set.intersection(*sets) if sets else set()
