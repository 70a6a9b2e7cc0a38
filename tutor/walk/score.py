"""Score: how a learner's predictions fared over a walk."""

from collections.abc import Iterable

from tutor.walk.standing import Answer


def score(answers: Iterable[Answer]) -> tuple[int, int]:
    """How many predictions were right, and of how many that count.

    Those count that the log answered; one that missed and is excused (see `excuse`) doesn't, and one made
    after the log had answered is never right.
    """
    right = counted = 0
    for answer in answers:
        said = answer.prediction
        if answer.by != "log" or said is None:
            continue
        right += answer.hit and not said.seen_before
        counted += answer.hit or said.seen_before or not answer.close
    return right, counted
