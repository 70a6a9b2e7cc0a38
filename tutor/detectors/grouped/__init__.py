"""Numbers that belong together, which a tree gives as one: `{steps: 100, rows: 20}`.

The first field is what the number's name stands for in a tree's sentences and among its sources; a further
one is called `name_field` in a sentence and `name.field` among the sources. A detector takes at most five
numbers, a group among them counting as one.
"""

from tutor.detectors.grouped.base import Grouped
from tutor.detectors.grouped.beside import Apart, Evaluation, Leak
from tutor.detectors.grouped.learned import BelowZero, Enough, Gain, Guess, Motion, Twice
from tutor.detectors.grouped.norms import NormBound, Scaler, Sustained
from tutor.detectors.grouped.rising import Rise, Runaway, Scores
from tutor.detectors.grouped.spiking import Beyond, Foremost, Lasting

__all__ = [
    "Apart",
    "BelowZero",
    "Beyond",
    "Enough",
    "Evaluation",
    "Foremost",
    "Gain",
    "Grouped",
    "Guess",
    "Lasting",
    "Leak",
    "Motion",
    "NormBound",
    "Rise",
    "Runaway",
    "Scaler",
    "Scores",
    "Sustained",
    "Twice",
]
