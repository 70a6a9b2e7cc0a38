"""Proofs in the notebook: taken up where they were left, kept at every step."""

from functools import partial
from typing import TYPE_CHECKING

from tutor import proof as proofs
from tutor import walk as walks
from tutor.notebook import draft_key
from tutor.proof import Proof
from tutor.walk import AtLeaf
from tutor.words import plain

if TYPE_CHECKING:
    from tutor.postmortem import PostMortem
    from tutor.ui.keeper import Keeper

KIND = "proof"


def offered(walk: AtLeaf) -> Proof | None:
    """The proof that a walk that has ended can go on with; None where its run has no card. Reads files."""
    at = _discussed(walk)
    if at is None or (subject := proofs.subject_of(walk.run)) is None:
        return None
    if subject.card.tree != walk.tree.tree:
        return None
    return proofs.begin(walk.run, walk.tree, subject.card, at, broken=subject.broken)


def _discussed(walk: AtLeaf) -> int | None:
    """The step under discussion or, where there is none, the one at which the last answer shows."""
    if walk.focus is not None:
        return walk.focus
    step = walks.look(walks.back(walk)).finding.step if walk.answers else None
    return step if step is not None or not len(walk.run) else int(walk.run.steps[0])


async def kept(keeper: "Keeper", fresh: Proof) -> Proof:
    """The proof as it was left, or `fresh`."""
    return await keeper.resume(KIND, _key(fresh), partial(proofs.from_state, fresh)) or fresh


def keep(keeper: "Keeper", proof: Proof) -> None:
    """Keep where the proof stands."""
    keeper.save(partial(keeper.notebook.save_draft, KIND, _key(proof), proofs.to_state(proof)))


def taken_up(pm: "PostMortem", proof: Proof | None, lang: str) -> "PostMortem":
    """The post-mortem with every rung that was answered right, and the learner's root cause."""
    from tutor.postmortem import Proven, with_cause

    if proof is None:
        return pm
    ladder = proof.card.ladder
    proven = [
        Proven(panel=ladder[given.rung].panel_name, text=plain(text))
        for given in proof.given
        if given.right and (text := proofs.says(proof, given, lang))
    ]
    pm = pm.with_proven(proven, proof.cause)
    return with_cause(pm, pm.cause, lang)  # the fix follows the cause


def _key(proof: Proof) -> str:
    return draft_key(proof.run.name, proof.tree.tree, proof.run.path)
