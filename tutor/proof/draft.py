"""A proof as plain data, and back: what the notebook keeps of a ladder that was left."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tutor.proof.machine import Proof, answer, conclude, go_on


def to_state(proof: Proof) -> dict[str, Any]:
    """The proof as plain data for a draft: what the learner did. What the log says is asked anew."""
    return {
        "card": proof.card.name,
        "at": proof.at,
        "given": [{"rung": one.rung, "said": one.said, "hints": one.hints} for one in proof.given],
        "told": proof.told,
        "hints": proof.hints,
        "cause": proof.cause,
    }


def from_state(fresh: Proof, state: Mapping[str, Any]) -> Proof:
    """The proof that was left, `fresh` being the same newly begun. It ends at the first rung that the card no
    longer asks so, and begins anew where it was about another card or another step.

    Raises:
        ValueError: the state isn't one.
    """
    if (state.get("card"), state.get("at")) != (fresh.card.name, fresh.at):
        return fresh
    try:
        return _read(fresh, state)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the saved proof can't be read: {error}") from None


def _read(proof: Proof, state: Mapping[str, Any]) -> Proof:
    for raw in state["given"]:
        if raw["rung"] != proof.id:
            return proof
        try:
            proof = go_on(answer(replace(proof, hints=_count(proof, raw["hints"])), str(raw["said"])))
        except ValueError:
            return proof
    if state["told"] and proof.given:
        return replace(proof, told=True, hints=proof.given[-1].hints)
    if proof.id is None:
        return conclude(proof, str(state["cause"]))
    return replace(proof, hints=_count(proof, state["hints"]))


def _count(proof: Proof, hints: Any) -> int:
    """How many hints of the rung at hand were shown."""
    return max(0, min(int(hints), len(proof.rung.hints.in_order)))
