"""What a fix that was tried makes of a post-mortem: section 6 says whether it did what it was to do."""

from tutor.postmortem import PostMortem, bound_problem
from tutor.run import Run
from tutor.saying.verified import section
from tutor.ui.trials import latest
from tutor.verifying import held_against


def with_tried(pm: PostMortem, run: Run, lang: str) -> PostMortem:
    """The post-mortem with what came of the fix that was tried last on `run`; as it is where none was.

    The run with the fix is checked against the learner's own bounds where there are any, else against those
    that the log suggests. Reads files.
    """
    trial = latest(run.path)
    found = trial.found if trial else None
    if trial is None or found is None:
        return pm
    form = pm.verification
    bounds = [bound for bound in form.bounds if not bound.blank and not bound_problem(bound, pm, lang)]
    if bounds and (fixed := trial.fixed()) is not None:
        found = held_against(found, fixed, bounds, form.tolerance)
    return pm.but(verification=form.model_copy(update={"tried": tuple(section(found, lang))}))
