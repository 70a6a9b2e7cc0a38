"""Search: flaws by what one sees, in any language's words, the log's own names among them.

Every word of the question is looked for in what a flaw's leaf and cards say. A word counts the more, the
fewer flaws have it, and the nearer to what one sees it stands. Ordinary words, such as "the" and "goes",
don't count; one that nothing is said with tells that something else may be meant.
"""

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from tutor.flaws.catalogue import Flaw
from tutor.words import LANGUAGES, Words, say

SEES, NAME, SAID, MEANS = 4.0, 3.0, 2.0, 1.0
"""What a word counts in what one sees of a flaw, in its name, in what the log says of it, in its meaning."""

PART = 0.6
"""What a word counts that only begins alike, or means the same."""

SHORTEST = 4
"""Letters that two words share at least to begin alike: `grad` and `gradient`."""

LEAST = 0.3
"""A flaw that answers to less of the question than this share is none that was meant."""

UNKNOWN = 1.5
"""How rare a word counts that nothing is said with: the more of them, the less of it is answered."""

_WORD = re.compile(r"[a-z]+(?:_[a-z]+)*|\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Hit:
    """A flaw that answers to the question, and how well: from 0 to 1, where 1 is the best one."""

    flaw: Flaw
    score: float


def search(flaws: Sequence[Flaw], question: str) -> list[Hit]:
    """The flaws that answer to `question`, the best first; [] where none does."""
    asked = [word for word in dict.fromkeys(_words(question)) if word not in _ordinary()]
    guides = [_weights(flaw) for flaw in flaws]
    every = {word for guide in guides for word in guide}
    found = [0.0] * len(flaws)
    most = 0.0
    for word in asked:
        alike = {other for other in every if _alike(word, other)}
        counts = [_best(word, alike, guide) for guide in guides]
        having = sum(count > 0 for count in counts)
        if not having:  # perhaps of something else than training
            most += SEES * UNKNOWN
            continue
        rare = math.log(1 + len(flaws) / (1 + having))
        most += SEES * rare
        for i, count in enumerate(counts):
            found[i] += count * rare
    # Those first of which the very words are said; of two that answer alike, the one of which less is said.
    ranks = [
        (not _says(flaw, question), -score, len(guide))
        for flaw, score, guide in zip(flaws, found, guides, strict=True)
    ]
    ranked = sorted(zip(ranks, found, flaws, strict=True), key=lambda one: one[0])
    return [Hit(flaw, score / most) for _, score, flaw in ranked if most and score / most >= LEAST]


def _says(flaw: Flaw, question: str) -> bool:
    """Whether what one sees of a flaw, or its name, holds the words of the question one after another."""
    asked = [*_words(question)]
    texts = (_said(text) for weight, text in _texts(flaw) if weight in (NAME, SEES))
    return len(asked) > 1 and any(f" {' '.join(asked)} " in f" {' '.join(text)} " for text in texts)


def _best(word: str, alike: set[str], guide: dict[str, float]) -> float:
    """What `word` counts in a flaw's words: itself, or the best of those that are `alike`."""
    parts = (PART * guide[other] for other in alike & guide.keys())
    return max(guide.get(word, 0.0), *parts, 0.0)


def _alike(word: str, other: str) -> bool:
    """Whether two words begin alike or mean the same."""
    short, long = sorted((word, other), key=len)
    begins = len(short) >= SHORTEST and long.startswith(short)
    return word != other and (begins or bool(_meanings().get(word, set()) & _meanings().get(other, set())))


def _weights(flaw: Flaw) -> dict[str, float]:
    """Each word of what is said of a flaw, with what it counts where it counts most."""
    found: dict[str, float] = {}
    for weight, text in _texts(flaw):
        for word in _said(text):
            found[word] = max(found.get(word, 0.0), weight)
    return found


def _texts(flaw: Flaw) -> Iterator[tuple[float, str]]:
    leaf = flaw.leaf
    yield NAME, f"{flaw.id} {flaw.tree.tree}"
    yield SAID, " ".join(flaw.signals)
    yield from ((NAME, text) for text in _spoken(leaf.name))
    if leaf.sees:
        yield from ((SEES, text) for text in _spoken(leaf.sees))
    for question, outcome in flaw.answers:
        yield from ((SAID, text) for text in _spoken(question.title, outcome.label, outcome.says))
    for card in flaw.cards:
        yield NAME, card.name
        yield from ((SAID, text) for text in _spoken(card.title, card.symptom))
    yield from ((MEANS, text) for text in _spoken(leaf.means))


def _spoken(*sentences: Words) -> Iterator[str]:
    for sentence in sentences:
        for text in sentence.root.values():
            yield re.sub(r"\{\w+\}", " ", text)


def _words(text: str) -> Iterator[str]:
    """The words of a text: small, without accents; a signal's name also in its parts; numbers as numbers."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(c))
    plain = _units().sub(lambda unit: _named(unit[0]), plain)
    for word in _WORD.findall(plain):
        if word[0].isdigit():
            yield f"{float(word):g}"
            continue
        yield word
        if "_" in word:
            yield from word.split("_")


@cache
def _said(text: str) -> tuple[str, ...]:
    """The words of what is said of a flaw, which every question is checked against."""
    return tuple(_words(text))


@cache
def _meanings() -> dict[str, set[str]]:
    """The meanings of each word that has others of the same meaning, in any language."""
    found: dict[str, set[str]] = {}
    for lang in LANGUAGES:
        for meaning in _MEANINGS:
            for word in _words(say(f"flaws.same.{meaning}", lang)):
                found.setdefault(word, set()).add(meaning)
    return found


@cache
def _ordinary() -> frozenset[str]:
    """Words that say nothing of a run, in any language."""
    return frozenset(word for lang in LANGUAGES for word in say("flaws.ordinary", lang).split())


@cache
def _by_unit() -> dict[str, str]:
    """Each name of several words, "learning rate", and what a log calls it: one by one they say less."""
    return {
        words.strip(): name
        for lang in LANGUAGES
        for name in _UNITS
        for words in say(f"flaws.units.{name}", lang).split(",")
    }


@cache
def _units() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, _by_unit()))})\b")


def _named(unit: str) -> str:
    return _by_unit()[unit]


_UNITS = ("lr", "val_loss", "grad_norm")
_MEANINGS = (
    "nan", "gradient", "validation", "rate", "spike", "flat", "rises", "falls", "loss", "resume", "learns",
    "diverges", "score", "zero", "guess",
)  # fmt: skip
