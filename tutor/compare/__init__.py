"""Compare: two runs side by side.

    tutor compare 19-control 19-break

found = compare(a, b, at, spike=..., recovery=...)   measured at one step      (measures.py)
render(found, lang)                                  as two tables             (drawn.py)
"""

from tutor.compare.drawn import render
from tutor.compare.measures import ABSENT, Comparison, Difference, Measure, compare, named_apart

__all__ = ["ABSENT", "Comparison", "Difference", "Measure", "compare", "named_apart", "render"]
