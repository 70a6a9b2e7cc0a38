"""Words in English, Spanish and whatever else there are files for.

`Words` is one sentence in every language, as trees and cards hold them; `say` gives the app's own words,
which lie in a folder for each language, one YAML for each part of the app: `say("walk.path", "es")` reads
`es/walk.yaml`. To add a language, add its folder.
"""

import math
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, RootModel, StringConstraints

from tutor.catalog import cut
from tutor.drawable import STEERING, plain
from tutor.words.document import BadFileError, Document, Problem, Strict

__all__ = [
    "LANGUAGES",
    "STEERING",
    "BadFileError",
    "Document",
    "Problem",
    "SaidError",
    "Strict",
    "Words",
    "clauses",
    "fill",
    "fill_known",
    "known",
    "number",
    "plain",
    "quoted",
    "say",
]

_FOLDER = Path(__file__).parent
_PARTED = re.compile(r"((?<=[.!?]) (?=[^a-z])|; )")
_NAMED = 8  # of many names, so many fit a line
LANGUAGES = (
    "en",
    *sorted(path.parent.name for path in _FOLDER.glob("*/walk.yaml") if path.parent.name != "en"),
)
"""The languages of the app's own words. A tree or a card has those of the files beside it."""


def _safe(sentence: str) -> str:
    return plain(sentence, lines=True)


Sentence = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(_safe)]


class Words(RootModel[Annotated[dict[str, Sentence], Field(min_length=1)]]):
    """One sentence by language. A tree or a card that lacks one in some language is refused."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    def __call__(self, lang: str, facts: Mapping[str, Any] | None = None) -> str:
        """The sentence in `lang`, else in English, its placeholders filled from `facts` as far as known."""
        sentence = self.root.get(lang) or self.root["en"]
        return fill_known(sentence, facts) if facts is not None else sentence


class _Missing(dict):
    def __missing__(self, key: str) -> str:
        return "–"


def fill(sentence: str, facts: Mapping[str, Any]) -> str:
    """`sentence` with its placeholders filled; a fact that isn't known is drawn as a dash."""
    told = _Missing({key: number(value) for key, value in facts.items()})
    return (_of_one(sentence, told) if "1" in told.values() else sentence).format_map(told)


def _of_one(sentence: str, told: Mapping[str, str]) -> str:
    """`sentence` with what follows a 1 in the singular: "{rows} rows" is "{rows} row" where `rows` is 1."""
    found, singulars = _counted()
    return found.sub(
        lambda at: f"{at[1]}{singulars[at[3]] if told.get(at[2]) == '1' else at[3]}",
        sentence,
    )


@cache
def _counted() -> tuple[re.Pattern[str], Mapping[str, str]]:
    """What is counted, in any language, behind the placeholder of its number; the singular by its plural."""
    pairs = [pair.partition(" / ") for lang in LANGUAGES for pair in _part("one", lang).values()]
    singulars = {plural: singular for plural, _, singular in pairs}
    longest_first = "|".join(map(re.escape, sorted(singulars, key=len, reverse=True)))
    return re.compile(rf"(\{{(\w+)\}} )({longest_first})\b"), singulars


def clauses(sentence: str) -> list[str]:
    """The sentences and the clauses between semicolons, each but the first with what parts it from those
    before: joined, they are `sentence`.
    """
    first, *rest = _PARTED.split(sentence)
    return [first, *map("".join, zip(rest[::2], rest[1::2], strict=True))]


def known(clause: str, facts: Mapping[str, Any]) -> bool:
    """Whether every placeholder has its fact."""
    return all(facts.get(name) is not None for _, name, _, _ in Formatter().parse(clause) if name)


def fill_known(sentence: str, facts: Mapping[str, Any]) -> str:
    """As `fill`, but that a clause after the first is left out where it names what isn't known.

    The full stop at its end stays.
    """
    told, *more = clauses(sentence)
    for clause in more:
        if known(clause, facts):
            told += clause
        elif clause.endswith(".") and not told.endswith("."):
            told += "."
    return fill(told, facts)


def number(value: Any) -> str:
    """A value as people write it: four significant digits, no trailing zeros, lists joined by commas."""
    if value is None:
        return "–"
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else f"{value + 0.0:.4g}".replace("inf", "Inf")  # no "-0"
    return ", ".join(number(item) for item in value)


def quoted(names: Iterable[str]) -> str:
    """Names of somebody else's making, each quoted, cut and safe to draw, as many as fit a line."""
    shown = [f"`{plain(cut(name))}`" for name in names] or ["none"]
    return ", ".join(shown[:_NAMED]) + (" ..." if shown[_NAMED:] else "")


@cache
def _part(name: str, lang: str) -> dict[str, Any]:
    return Document(_FOLDER / lang / f"{name}.yaml").data


def say(key: str, lang: str, **facts: Any) -> str:
    """The app's own words under `key` in `lang`, else in English, filled with `facts`."""
    part, *rest = key.split(".")
    found: Any = _part(part, lang if lang in LANGUAGES else "en")
    for name in rest:
        found = found[name]
    return fill(found, facts)


class SaidError(Exception):
    """What can't be done, and a way out, in one line of the app's own words: `says(lang)`.

    Subclasses name in `part` the part of the words that their `what` is in.
    """

    part: str

    def __init__(self, what: str, **facts: Any) -> None:
        self.what, self.facts = what, facts
        super().__init__(self.says("en"))

    def says(self, lang: str) -> str:
        """The line to show."""
        return say(f"{self.part}.{self.what}", lang, **self.facts)
