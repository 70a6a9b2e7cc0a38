"""Walk: where a learner stands in a tree, over one run. Frozen: every step gives a new walk.

walk = begin(run, tree)             or at the question, and the step, to which another tree's leaf led
look(walk)                          what the log says of the question at hand
walk = predict(walk, "yes", 3)      the learner commits
walk = go_on(walk, look(walk))      and goes where the log (or, without data, the learner) says
pass_over(walk)                     or on to the first question of which this run recorded something
leave_open(walk)                    or ends there undecided, where nobody can answer
unattended(run, tree)               the same walk with nobody watching
chain(run, tree, find)              and then the trees to which its leaves lead
changes(grown(walk, run))           the answers that the log no longer gives, once rows have come

A walk is AtQuestion or AtLeaf: `isinstance` tells a type checker which, and so what it has.
"""

from tutor.walk.chain import Find, Stage, before, chain, deciding, first_found
from tutor.walk.draft import from_state, to_state
from tutor.walk.ending import (
    flawed,
    known_answers,
    named,
    remarked,
    ruled_out,
    suspicions,
    unanswered,
    verdict,
    waiting,
)
from tutor.walk.fix import fix_command, fix_values, own_lines, own_settings
from tutor.walk.later import Change, change, changes, grown, looked_back
from tutor.walk.machine import (
    again,
    back,
    begin,
    excuse,
    go_on,
    leave_open,
    look,
    pass_over,
    pick,
    predict,
    reveal,
    tabled,
    take,
    unattended,
    unrecorded,
)
from tutor.walk.score import score
from tutor.walk.standing import (
    UNSURE,
    Answer,
    AtLeaf,
    AtQuestion,
    Look,
    Place,
    Prediction,
    Walk,
)

__all__ = [
    "UNSURE",
    "Answer",
    "AtLeaf",
    "AtQuestion",
    "Change",
    "Find",
    "Look",
    "Place",
    "Prediction",
    "Stage",
    "Walk",
    "again",
    "back",
    "before",
    "begin",
    "chain",
    "change",
    "changes",
    "deciding",
    "excuse",
    "first_found",
    "fix_command",
    "fix_values",
    "flawed",
    "from_state",
    "go_on",
    "grown",
    "known_answers",
    "leave_open",
    "look",
    "looked_back",
    "named",
    "own_lines",
    "own_settings",
    "pass_over",
    "pick",
    "predict",
    "remarked",
    "reveal",
    "ruled_out",
    "score",
    "suspicions",
    "tabled",
    "take",
    "to_state",
    "unanswered",
    "unattended",
    "unrecorded",
    "verdict",
    "waiting",
]
