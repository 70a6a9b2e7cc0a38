"""Where it began, as far as a log can tell that has a row only every so many steps."""

from tutor.run import Run
from tutor.words import say


def of_began(run: Run, step: int, lang: str, signal: str = "loss") -> str:
    """The step at which it began what `signal` shows at `step`, or the steps between which it did.

    "at step 549" where the row before is of the step before, else "between steps 3001 and 3010".
    """
    first, last = run.span_of(step, signal)
    return say("walk.began_at" if first == last else "walk.began_between", lang, first=first, last=last)
