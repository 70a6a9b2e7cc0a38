"""The monkey: random keys, clicks, pastes, resizes and runs that vanish, over every screen of the app.

    python -m tests.monkey --seed 7 --actions 10000       episodes from seed 7 on, until so many actions
    python -m tests.monkey --minutes 60                   from a seed of its own, for an hour

An episode is one seed: a folder of runs, a notebook, a place to begin and a list of actions. After each
action that gives the app time to answer, the promises of tests/ui/promises.py are checked; at the end the
way out that the footer shows is taken until the app is left, and what was written is looked up in the
notebook. What is broken is printed with its seed and the shortest list of actions that shows it.
"""

from tests.monkey.broken import BrokenError, sign
from tests.monkey.episode import LENGTH, Act, Episode, episode
from tests.monkey.playing import play
from tests.monkey.shrinking import report, shortest

__all__ = ["LENGTH", "Act", "BrokenError", "Episode", "episode", "play", "report", "shortest", "sign"]
