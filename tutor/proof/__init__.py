"""Proof: the ladder of a run's card, climbed after the leaf. The learner answers, then the log.

subject = subject_of(walk.run)                    the card, where the run has one (reads files)
proof = begin(run, tree, subject.card, at)        or from_state: taken up where it was left
proof = answer(reveal(proof), "equal")            after a hint; now the log has spoken
proof = go_on(proof)                              to the next rung, or to the root cause
proof = conclude(proof, "no clip met the batch")  the learner's sentence, to stand beside the card's
look_alikes(walk, card, lang)                     what it is not, each ruled out by a measurement
"""

from tutor.proof.draft import from_state, to_state
from tutor.proof.log import Truth, truth
from tutor.proof.lookalikes import Compared, look_alikes
from tutor.proof.machine import Given, Proof, answer, asks, begin, conclude, go_on, reveal, says
from tutor.proof.subject import Subject, subject_of

__all__ = [
    "Compared",
    "Given",
    "Proof",
    "Subject",
    "Truth",
    "answer",
    "asks",
    "begin",
    "conclude",
    "from_state",
    "go_on",
    "look_alikes",
    "reveal",
    "says",
    "subject_of",
    "to_state",
    "truth",
]
