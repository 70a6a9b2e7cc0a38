"""Checking trees and cards, for `tutor trees check`: the one place that sees both them and the lab."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from tutor import card as cards
from tutor import tree as trees
from tutor.parts import Part
from tutor.words import BadFileError, Document, Problem
from tutor.words.prose import graph_of

CARD_KEYS = {"change", "faults", "trigger", "expect", "ladder"}
"""By any of these a graph is a card's, not a tree's."""


def graphs(files: Iterable[Path] | None) -> list[Path]:
    """The graphs of these files, each once; of all known trees and cards where none is given."""
    if files:
        return list(dict.fromkeys(map(graph_of, files)))
    return [*trees.available().values(), *cards.available().values()]


def describe(path: Path) -> str:
    """What the sound tree or card at `path` holds.

    Raises:
        BadFileError: with every problem found, each with its file and line.
    """
    if not CARD_KEYS & Document(path).data.keys():
        tree = trees.load(path)
        return f"{len(tree.questions)} questions, {len(tree.leaves)} leaves"
    card = cards.load(path)
    _check_parts(card)
    return f"{len(card.ladder)} checks, {len(card.fixes)} fixes"


def _check_parts(card: cards.Card) -> None:
    """Look the card's faults and triggers up in the lab's registry, where torch is installed."""
    if not card.faults and not card.trigger:
        return
    try:
        from tutor.lab import faults
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "tokenizers"):
            raise
        return
    problems = [*_problems(card, "faults", partial(faults.checked, "fault"), card.faults)]
    problems += _problems(card, "trigger", partial(faults.checked, "trigger"), card.trigger)
    if problems:
        raise BadFileError(problems)


def _problems(
    card: cards.Card, key: str, checked: Callable[[list[Part]], object], parts: tuple[Part, ...]
) -> Iterator[Problem]:
    for index, part in enumerate(parts):
        try:
            checked([part])
        except ValueError as error:
            yield card.problem((key, index), f"{key}: {error}")
