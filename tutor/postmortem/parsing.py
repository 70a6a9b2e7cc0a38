"""Reading what a learner typed: numbers, probabilities, sentences."""

import math
import re

from tutor.postmortem.form import PostMortem

_NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:e[+-]?\d+)?", re.IGNORECASE)
_ODD = {"nan": math.nan, "inf": math.inf, "+inf": math.inf, "-inf": -math.inf}

# A full stop after one of these ends no sentence, in either language.
_ENGLISH = {"e.g", "i.e", "vs", "cf", "al", "approx", "resp", "eq", "fig", "sec", "avg", "max", "min", "incl"}
_SPANISH = {"p.ej", "ej", "aprox", "pág", "núm", "sr", "sra", "dr", "dra", "máx", "mín", "prom", "ec", "art"}
_ABBREVIATIONS = _ENGLISH | _SPANISH
_END = re.compile(r"[.!?…]+[\"'»”’)\]]*(?=\s|$)|[。！？]+")
_NUMBERED = {"no", "n", "nº", "step", "q"}  # "no. 3" is a number's name, "no. It was" is an end


def number(text: str) -> float | None:
    """The number that `text` is, NaN and Inf among them; a decimal comma is fine. None for anything else."""
    text = text.strip()
    if text.casefold() in _ODD:
        return _ODD[text.casefold()]
    return float(text.replace(",", ".")) if _NUMBER.fullmatch(text) else None


def whole(text: str) -> int | None:
    """The whole number from 0 that `text` is, or None."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() else None


def window(text: str) -> tuple[int, int] | None:
    """First and last step of "312" or "312..362", or None."""
    first, dots, last = text.partition("..")
    begin, end = whole(first), whole(last) if dots else whole(first)
    return (begin, end) if begin is not None and end is not None and begin <= end else None


ENDS = ("end", "fin")
"""How a window is written that is the end of the run, wherever that is; the first is what the form offers."""


def at_end(text: str) -> bool:
    """Whether a window is the end of the run, at whichever step that is."""
    return text.strip().lower() in ENDS


def total(pm: PostMortem) -> float:
    """The sum of the probabilities that can be read."""
    found = (number(h.probability) for h in pm.hypotheses)
    return sum(p for p in found if p is not None and math.isfinite(p))


def normalise(pm: PostMortem) -> PostMortem:
    """The same with probabilities that sum to 1, in hundredths.

    Those left blank share what the others leave of 1; where the others take all of it, they get 0 and the
    others are scaled.
    """
    given = {h.key: number(h.probability) for h in pm.hypotheses}
    known = {key: max(p, 0.0) if p is not None and math.isfinite(p) else None for key, p in given.items()}
    if not known:
        return pm
    taken = sum(p for p in known.values() if p is not None)
    blank = sum(p is None for p in known.values())
    share = max(0.0, 1.0 - taken) / blank if blank else 0.0
    weights = {key: share if p is None else p for key, p in known.items()}
    if not (whole_weight := sum(weights.values())):
        weights, whole_weight = dict.fromkeys(weights, 1.0), float(len(weights))
    exact = {key: 100 * weight / whole_weight for key, weight in weights.items()}
    cents = {key: math.floor(p) for key, p in exact.items()}
    # The hundredths that rounding down has left go to the largest remainders.
    for key in sorted(exact, key=lambda k: cents[k] - exact[k])[: 100 - sum(cents.values())]:
        cents[key] += 1
    for key, share_of_100 in cents.items():
        pm = pm.with_hypothesis(key, probability=f"{share_of_100 / 100:g}")
    return pm


def sentences(text: str) -> int:
    """How many sentences `text` has, in English or Spanish: 0 for none, decimals and abbreviations minded."""
    count = 0
    for paragraph in re.split(r"\n\s*\n", text):
        rest = paragraph.strip()
        start = 0
        for end in _END.finditer(rest):
            if _ends_sentence(rest, end):
                count += _has_words(rest[start : end.end()])
                start = end.end()
        count += _has_words(rest[start:])
    return count


def _has_words(piece: str) -> bool:
    return any(character.isalnum() for character in piece)


def _ends_sentence(text: str, end: re.Match) -> bool:
    after = text[end.end() :].lstrip()
    if not after:
        return True
    sign = end.group().rstrip("\"'»”’)]")
    if sign in ("...", "…"):
        return not after[0].islower()
    if sign != ".":
        return True
    last = text[: end.start()].split()[-1:] or [""]
    word = last[0].lstrip("([¿¡\"'«“").casefold()
    if word == "etc":
        return not after[0].islower()
    if word in _NUMBERED:
        return not after[0].isdigit()
    # "e. g." and "p. ej.": the first letter of an abbreviation written apart.
    apart = re.match(r"(?:g|e|ej)\.", after.casefold())
    return word not in _ABBREVIATIONS and not (word in ("e", "i", "p") and apart)
