"""Lines that differ in their digits alone: what stands where is found in one of them, and cut out of all.

A program prints its rows by one format, so that a long log has few forms of lines: a form is a line with each
digit as a 0. Unless a pattern asks for a particular digit, what it matches in one line of a form it matches
in the same place in each. To look at one line and to cut the others takes a fifth of the time.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Literal

import polars as pl

from tutor.readers.common.lines import COLOURS, LONGEST, MARK, Line, Lines
from tutor.readers.common.phrases import for_polars
from tutor.run import limits

MANY = 64
"""Lines of a form from which on it is faster to look at one and to cut the others."""

_FORMS = 32
"""So many forms are looked for at most: of a log with more, lines are looked at one by one."""

_DIGIT, _COLOUR = re.compile(r"[0-9]"), re.compile(COLOURS)
_CLASS = re.compile(r"\\[bdsw]")
_PART = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{[0-9,]*\}|\(\?P<\w+>|[0-9]", re.DOTALL)

Span = tuple[int, int]


def by_form(texts: pl.DataFrame, forms: pl.Series) -> Iterator[tuple[str, pl.DataFrame]]:
    """Each form that many have, and the rows of its texts, given the form of each."""
    counts = forms.alias("form").drop_nulls().value_counts(name="count").filter(pl.col("count") >= MANY)
    if len(counts) <= _FORMS:
        for form in counts["form"]:
            yield form, texts.filter(forms == form)


def cut(texts: pl.DataFrame, lines: Lines) -> pl.DataFrame | None:
    """The numbers in the column `text`, of lines of one form, beside the other columns.

    No rows where they are none of the reader's; None where some may be read otherwise than others.
    """
    first = texts["text"][0]
    if len(first.encode()) > LONGEST:
        return None
    line = _COLOUR.sub("", first)
    for pattern, pairs in lines.phrases:
        if (found := _of_all(pattern, line)) is None:
            return None
        if found:
            said = pl.col("text").str.replace_all(COLOURS, "")
            texts = texts.with_columns(said.str.replace_all(spelled(pattern), for_polars(pairs)))
            first = line = texts["text"][0]
    if lines.only and not (found := _of_all(lines.only, line)):
        return texts.clear() if found is False else None
    for kind in lines.kinds:
        if kind.sign not in line:
            continue
        if (found := _of_all(kind.pattern, line)) is None:
            return None
        if found:
            return _numbers(texts, _placed(found, kind), _shown(first))
    return texts.clear()


def _placed(found: re.Match[str], kind: Line) -> Mapping[str, Span] | None:
    """Where in a line the values stand, given where in it the kind's pattern was found.

    None where a name may be another in another line of the form.
    """
    places = {name: found.span(name) for name in found.re.groupindex if name != MARK}
    if kind.pairs and of_any_digit(kind.pairs) != kind.pairs:
        return None
    for pair in _compiled(kind.pairs).finditer(found.string) if kind.pairs else ():
        name = kind.named(pair["name"])
        # Which of two of one name counts is told by their values.
        if _DIGIT.search(pair["name"]) or name in places:
            return None
        if name:
            places[name] = pair.span("value")
    return places if len(places) <= limits.FEW_COLUMNS else None


def _shown(line: str) -> Sequence[int]:
    """For each character of a line that is no colour, and for its end, its place."""
    hidden = {place for code in _COLOUR.finditer(line) for place in range(*code.span())}
    return [place for place in range(len(line) + 1) if place not in hidden]


def _numbers(
    texts: pl.DataFrame, places: Mapping[str, Span] | None, shown: Sequence[int]
) -> pl.DataFrame | None:
    """The numbers that stand there, some with commas between the thousands; None where a colour parts one."""
    line, said = texts["text"][0], dict[str, pl.Expr]()
    for name, (begin, end) in (places or {}).items():
        if begin < 0:  # the group took no part
            said[name] = pl.lit(None, pl.Float64)
            continue
        start, length = shown[begin], end - begin
        if length and shown[end - 1] - start != length - 1:
            return None
        text = pl.col("text").str.slice(start, length)
        if "," in line[start : start + length]:
            text = text.str.replace_all(",", "", literal=True)
        said[name] = text.cast(pl.Float64, strict=False)
    return None if places is None else texts.select(pl.exclude("text"), **said)


def _of_all(pattern: str, text: str) -> re.Match[str] | Literal[False] | None:
    """Where a line has the pattern, and each of its form; False where none has it; None where some may."""
    found = _compiled(pattern).search(text)
    if (free := of_any_digit(pattern)) != pattern and (found or _compiled(free).search(text)):
        return None
    return found or False


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """The pattern as polars reads it: its classes are those of ASCII."""
    return re.compile(_CLASS.sub(r"(?a:\g<0>)", pattern), re.IGNORECASE)


@cache
def of_any_digit(pattern: str) -> str:
    """The pattern with any digit wherever it asks for some, but not for others."""
    return _PART.sub(_freed, pattern)


def _freed(part: re.Match[str]) -> str:
    said = part[0]
    if said.startswith("["):
        partly = _DIGIT.search(said.replace("0-9", ""))
        return (r"[\s\S]" if said.startswith("[^") else f"[0-9{said[1:]}") if partly else said
    return "[0-9]" if said.isdigit() else said


@cache
def spelled(pattern: str) -> str:
    """The pattern in polars' language: its classes are those of ASCII, which are fast to find."""
    return "(?i)" + _CLASS.sub(r"(?-u:\g<0>)", pattern)
