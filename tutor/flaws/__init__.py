"""Flaws: every flaw that a tree's leaf or a break's card names, as a field guide that can be searched.

found = flaws.find("overfitting")             by a leaf's id, `tree/leaf`, or a break's name
flaws.search(flaws.all_flaws(), "loss 0.0 and grad_norm nan")
text.one(found, "en"), text.page("es")        for a terminal, and as a page
"""

from tutor.flaws.catalogue import Flaw, all_flaws, find, own_walk
from tutor.flaws.search import Hit, search

__all__ = ["Flaw", "Hit", "all_flaws", "find", "own_walk", "search"]
