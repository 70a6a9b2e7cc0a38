"""The post-mortem of a walk, half filled: what tree, leaf and run give to its form."""

from tutor import card as cards
from tutor import tree as trees
from tutor.postmortem import JUDGED_BY, Offer, Option, PostMortem, begin
from tutor.run.scoring import SCORES
from tutor.saying import fix_in_words, of_path
from tutor.tree import Hypothesis, Leaf
from tutor.walk import Walk, fix_command, own_lines

SPIKES = ("nan", "spike", "precision")
"""Sections whose leaves are about an incident at a step; those of the others are about the whole run."""


def promised(walk: Walk) -> tuple[str, ...]:
    """The signals that a fix of the leaf has to bring back; of a score that was lost, its column."""
    promises = walk.leaf.promises if walk.leaf else ()
    lost = walk.answers[-1].facts.get("score") if walk.answers else None
    if SCORES not in promises:
        return promises
    return (lost,) if lost and walk.run.has(lost) else ()


def begun(walk: Walk, lang: str) -> PostMortem:
    """The post-mortem of a walk that has reached a leaf, half filled from its run's log."""
    tree = walk.tree
    leaf, last = walk.leaf, walk.answers[-1] if walk.answers else None
    section = tree.questions[last.question].section_id if last else ""
    whole_run = section not in SPIKES and bool(last) and not tree.incident
    facts = last.facts if last else {}
    judged_by = {detector: trees.numbers(detector, tree) for detector in JUDGED_BY}
    considered = tree.considered(section)
    offers = [_offer(key, offered, walk.run.of_tokens) for key, offered in considered.items()]
    known = any(walk.at in one.leaves for one in considered.values())
    if leaf and leaf.verdict == "flaw" and not (known or tree.incident):  # there, leaves say what to do
        offers.append(_as_reached(walk.at, leaf))
    return begin(
        walk.run,
        facts.get("best_step", facts.get("step")) if whole_run else walk.focus,
        tree=tree.tree,
        numbers={detector: found for detector, found in judged_by.items() if found is not None},
        hypotheses=offers,
        leaf=leaf.name(lang) if leaf else "",
        path=of_path(walk, lang),
        options=[
            Option(
                offered=fix_in_words(walk, fix),
                command=fix_command(walk.run, fix.change) or "\n".join(own_lines(walk.run, fix.change)),
                changes=tuple(fix.change),
            )
            for fix in (leaf.fixes if leaf else ())
        ],
        breaks=tuple(cards.available()),
        whole=whole_run,
        promises=promised(walk),
        stops=leaf.may_stop if leaf else False,
        long_run=tree.incident,
        calm=None if whole_run else facts.get("best_step"),
        lang=lang,
    )


def _as_reached(id: str, leaf: Leaf) -> Offer:
    """The flaw that the walk came to, as a hypothesis of its own."""
    return Offer(id, leaf.name.root, fingerprint=leaf.sees.root if leaf.sees else {})


def _offer(key: str, offered: Hypothesis, of_tokens: bool) -> Offer:
    """A hypothesis in the words for a run over tokens, or for any other."""
    cause = offered if of_tokens else offered.elsewhere or offered
    fingerprint = cause.fingerprint.root if cause.fingerprint else {}
    return Offer(key, cause.words.root, frozenset(offered.no_bearing), fingerprint)
