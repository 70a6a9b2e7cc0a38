"""A discriminator that has won: it costs next to nothing, while its generator pays ever more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tutor.detectors import Finding
from tutor.detectors.grouped import Guess
from tutor.detectors.objective import GUESSING
from tutor.detectors.trends import ordered
from tutor.detectors.windows import FEWEST, finite
from tutor.run import Run, names, to_float
from tutor.words import plain

if TYPE_CHECKING:
    import polars as pl

_PARTS = 4
"""A level is the median of one part in so many of the rows: a constant of the method."""


def has_won(run: Run, guess: Guess) -> Finding | None:
    """The finding, "won", that a discriminator costs next to nothing at the end, and its generator much.

    In the last fourth of the rows the one's median lies under the share `guess.won` of what guessing costs,
    and the other's is over `guess.pays` times the least of the first `FEWEST`, and rises in order. None where
    either was not logged, or goes below 0, as a critic of distances does.
    """
    logged = run.logged("loss")
    sides = {
        name: finite(logged.frame[name]).drop_nulls() for name in logged.frame.columns if _plays(run, name)
    }
    made = {name: known for name, known in sides.items() if names.is_of_a_generator(_own(run, name))}
    judged = {name: known for name, known in sides.items() if name not in made}
    for generator, pays in made.items():
        for judge, costs in judged.items():
            if min(len(pays), len(costs)) < 2 * FEWEST or min(map(_lowest, (pays, costs))) < 0:
                continue
            begun, first = to_float(costs[:FEWEST].max()), _lowest(pays[:FEWEST])  # it may win at once
            level, last = _level(costs), _level(pays)
            bound = guess.won * GUESSING
            if level >= bound or begun <= bound or last <= guess.pays * first or ordered(pays) < guess.order:
                continue
            facts = {"judge": plain(_own(run, judge)), "level": level, "under": bound}
            facts |= {"maker": plain(_own(run, generator)), "first": first, "last": last}
            step = int(run.steps[len(run) - len(run) // _PARTS])
            return Finding("won", None, facts, bound, (step, int(run.steps[-1])), measured=level, bound=bound)
    return None


def _plays(run: Run, name: str) -> bool:
    """Whether the column is the loss of one of two sides."""
    own = _own(run, name)
    sided = names.is_of_a_side(own) or names.is_of_a_generator(own)
    return sided and not names.says_held_out(own) and run.frame[name].dtype.is_numeric()


def _own(run: Run, name: str) -> str:
    """What the log itself calls a column."""
    return run.own_names.get(name, name)


def _lowest(known: pl.Series) -> float:
    return to_float(known.min())


def _level(known: pl.Series) -> float:
    """The median of the last fourth of the values."""
    return to_float(known[-(len(known) // _PARTS) :].median())
