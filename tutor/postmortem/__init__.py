"""Post-mortem: the seven sections that turn a walk into a lesson.

pm = begin(run, focus, ...)                        half filled from the log      (log.py, evidence.py)
pm = pm.with_cell("lr", "schedule", "rules_out")   the learner does the rest     (form.py)
pm = with_cause(pm, "The clip was off.", lang)     and is offered a fix          (change.py)
tensions(pm), worst(bound, tolerance, run)         what the form points at       (weighing.py)
problems(pm, lang)                                 what keeps it from being saved
to_markdown(pm, lang, when)                        the entry for lessons.md      (text.py)
"""

from tutor.postmortem.about import About, Option
from tutor.postmortem.change import not_taken, with_cause, with_option
from tutor.postmortem.form import (
    COMPARISONS,
    DESTRUCTIVE,
    SECTIONS,
    VERDICTS,
    Bound,
    Hypothesis,
    Offer,
    PostMortem,
    Proven,
    Reading,
    Symptom,
    Verification,
    began_at,
    from_state,
    to_state,
)
from tutor.postmortem.incident import JUDGED_BY
from tutor.postmortem.incident_rows import with_symptom
from tutor.postmortem.log import begin
from tutor.postmortem.parsing import normalise, number, sentences, total
from tutor.postmortem.problems import Problem, bound_problem, is_empty, is_one, problems, symptom_problem
from tutor.postmortem.text import to_markdown
from tutor.postmortem.weighing import tensions, worst

__all__ = [
    "COMPARISONS",
    "DESTRUCTIVE",
    "JUDGED_BY",
    "SECTIONS",
    "VERDICTS",
    "About",
    "Bound",
    "Hypothesis",
    "Offer",
    "Option",
    "PostMortem",
    "Problem",
    "Proven",
    "Reading",
    "Symptom",
    "Verification",
    "began_at",
    "begin",
    "bound_problem",
    "from_state",
    "is_empty",
    "is_one",
    "normalise",
    "not_taken",
    "number",
    "problems",
    "sentences",
    "symptom_problem",
    "tensions",
    "to_markdown",
    "to_state",
    "total",
    "with_cause",
    "with_option",
    "with_symptom",
    "worst",
]
