"""What the log says, in neutral lines: text, JSON and the screens draw them and add no words of their own.

of_look(question, seen, lang)                    what the log says of one question, or why it can't tell
after_prediction(question, said, seen, lang)     the same for a learner who has committed
of_windows(question, run, lang)                  which of its windows the log's few rows make longer
of_unrecorded(walk, lang)                        that nothing of it was recorded, and where to go on
of_rules(question, seen, lang)                   how the rules of a question came to that
of_sources(question, seen, lang)                 where the numbers come from by which it answers
of_answer(question, answer, lang)                what a walk that nobody watched took for the answer
of_taken(answer, tree, lang)                     an answer on the path, and whose it is
of_end(stages, lang)                             where a walk that nobody watched ended, and the smallest fix
of_table(walk, lang)                             the table of checks that a leaf shows
of_meaning(walk, lang), of_fix(walk, fix, lang)  what a leaf means, and how it is mended
of_began(run, step, lang)                        the step, or the steps, at which something began

Every line is safe to draw: what a log holds has gone through `words.plain`.
"""

from tutor.saying.began import of_began
from tutor.saying.end import assumed, command, folded, missing, of_end, open_questions, too_early, verdict_of
from tutor.saying.leaf import fix_in_words, lead_of, of_absent, of_fix, of_meaning, of_noticed, of_onset
from tutor.saying.passed import of_unrecorded
from tutor.saying.question import (
    Line,
    after_prediction,
    answer_label,
    cited,
    how_to_log,
    mark_of,
    of_answer,
    of_look,
    of_rules,
    of_sources,
    of_table,
    safe,
    to_record,
    why_silent,
)
from tutor.saying.taken import of_guesses, of_path, of_taken
from tutor.saying.windows import of_windows

__all__ = [
    "Line",
    "after_prediction",
    "answer_label",
    "assumed",
    "cited",
    "command",
    "fix_in_words",
    "folded",
    "how_to_log",
    "lead_of",
    "mark_of",
    "missing",
    "of_absent",
    "of_answer",
    "of_began",
    "of_end",
    "of_fix",
    "of_guesses",
    "of_look",
    "of_meaning",
    "of_noticed",
    "of_onset",
    "of_path",
    "of_rules",
    "of_sources",
    "of_table",
    "of_taken",
    "of_unrecorded",
    "of_windows",
    "open_questions",
    "safe",
    "to_record",
    "too_early",
    "verdict_of",
    "why_silent",
]
