"""Post-mortem: the seven sections that turn a walk into a lesson.

pm = begin(run, focus, ...)                        half filled from the log      (log.py, evidence.py)
pm = pm.with_cell("lr", "schedule", "rules_out")   the learner does the rest     (form.py)
faults(pm, lang)                                   what keeps it from being saved
to_markdown(pm, lang, when)                        the entry for lessons.md      (text.py)
"""

from tutor.postmortem.faults import Fault, bound_fault, faults, is_empty, is_one, symptom_fault
from tutor.postmortem.form import (
    COMPARISONS,
    DESTRUCTIVE,
    PATTERNS,
    SECTIONS,
    VERDICTS,
    About,
    Bound,
    Hypothesis,
    PostMortem,
    Reading,
    Symptom,
    Verification,
    from_state,
    to_state,
)
from tutor.postmortem.log import begin
from tutor.postmortem.reading import normalise, number, sentences, total
from tutor.postmortem.scene import RULES
from tutor.postmortem.text import to_markdown

__all__ = [
    "COMPARISONS",
    "DESTRUCTIVE",
    "PATTERNS",
    "RULES",
    "SECTIONS",
    "VERDICTS",
    "About",
    "Bound",
    "Fault",
    "Hypothesis",
    "PostMortem",
    "Reading",
    "Symptom",
    "Verification",
    "begin",
    "bound_fault",
    "faults",
    "from_state",
    "is_empty",
    "is_one",
    "normalise",
    "number",
    "sentences",
    "symptom_fault",
    "to_markdown",
    "to_state",
    "total",
]
