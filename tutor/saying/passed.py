"""What is said of a question of which the run recorded nothing: what it lacks, and where one may go on."""

from tutor import detectors
from tutor.walk import AtQuestion, Walk, pass_over, unrecorded
from tutor.words import plain, say


def of_unrecorded(walk: AtQuestion, lang: str) -> str:
    """What the question would need and the run lacks, and to which question a key goes on; "" where the log
    has something to answer it with.
    """
    if not unrecorded(walk):
        return ""
    lacks = (name for rule in walk.question.rules for name in detectors.unrecorded(rule.detector, walk.run))
    ahead = pass_over(walk)
    more = len(ahead.answers) - len(walk.answers) - 1
    return say(
        "walk.pass_over_many" if more else "walk.pass_over",
        lang,
        signals=[plain(name) for name in dict.fromkeys(lacks)],
        more=more,
        to=_place(ahead, lang),
    )


def _place(walk: Walk, lang: str) -> str:
    if isinstance(walk, AtQuestion):
        return f"{walk.at} {walk.question.title(lang)}"
    return say("walk.an_end", lang)
