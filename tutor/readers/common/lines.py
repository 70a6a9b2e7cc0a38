"""Logs of text, a line a row: how a reader tells what the lines of its tool look like, and recognises them.

A reader declares its kinds of lines as patterns, and `tutor.readers.common.extract` finds them, a piece of
the log at a time. The patterns are read by Python and by polars, whose language has no look-around; a class
of characters in brackets is spelled out ([0-9], not [\\d]).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from tutor import packed
from tutor.run import Remark

if TYPE_CHECKING:
    import polars as pl

LOOKED_AT = 2_000_000
"""Bytes of a file in which its first row has to come: launchers print megabytes before it."""

LONGEST = 4096
"""Characters of a line that are looked at. Rows have some hundreds; to look for a pattern in a line made to
be searched for ever takes time that grows with the square of its length."""

COLOURS = r"\x1b\[[0-9;]*m"
NUMBER = r"[-+]?(?:[0-9][0-9,]*(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|nan|inf(?:inity)?)"
"""A number as programs print it, in the pattern of a line.

No character of it fits in two places, which polars finds a third faster.
"""

MARK = "row"
"""The name of a group that only marks its line: it is no column."""

_COLOUR = re.compile(COLOURS)
_ALIKE = bytes.maketrans(b"123456789", b"0" * 9)


@dataclass(frozen=True)
class Line:
    """One kind of line; each that has it is a row. All patterns ignore case.

    Attributes:
        pattern: what such a line has in it. Its named groups are columns, but for MARK; the first
            is found wherever it is.
        pairs: of more columns, wherever in the line: a pattern with the groups `name` and `value`. Of one
            name the last counts.
        named: what the column of a pair's name is called; None where it is none.
        again: what one is called that comes again in its line, given its name and those before it.
        sign: what each such line has in it, to the letter, by which the others are passed over fast.
    """

    pattern: str
    pairs: str = ""
    named: Callable[[str], str | None] = str.lower
    again: Callable[[str, Sequence[str]], str] = lambda name, _: name
    sign: str = ""


Tidy = Callable[["pl.DataFrame"], "pl.DataFrame"]


@dataclass(frozen=True)
class Lines:
    """What the lines of a tool's log look like.

    Attributes:
        kinds: a line is of the first that it has.
        phrases: patterns, and what stands for them in a line before it is looked at; see `phrases`.
        each: a pattern of which each match in a line is taken as a line of its own, and nothing else; by
            default lines are lines.
        only: a pattern that each line has; those without are passed over.
        tidy: makes the rows of a run from those of the lines: columns of numbers in the order of the log.
        remarks: what is to be said of the rows of the lines, before they are tidied.
        begun, ended: a row that has the first pattern in its line and not the second may go on in the next.
        joined: makes such rows whole again.
    """

    kinds: tuple[Line, ...]
    phrases: Sequence[tuple[str, str]] = ()
    each: str = ""
    only: str = ""
    tidy: Tidy | None = None
    remarks: Callable[["pl.DataFrame"], Iterator[Remark]] | None = None
    begun: str = ""
    ended: str = ""
    joined: Callable[[Iterable[str]], Iterator[str]] | None = None


def zeroed(data: bytes) -> bytes:
    """The data with each digit as a 0: what is left of a line is its form."""
    return data.translate(_ALIKE)


def either(*patterns: str) -> re.Pattern[str]:
    """What `has` looks for: a line with one of the patterns in it."""
    bare = (re.sub(r"\?P<\w+>", "?:", pattern) for pattern in patterns)  # of two, groups would share a name
    return re.compile("|".join(bare), re.IGNORECASE | re.MULTILINE)


def has(path: Path, pattern: re.Pattern[str]) -> bool:
    """Whether a line of the file's beginning matches; False for what is no file of text.

    Lines that differ in their digits alone are looked at once, with each digit as a 0.
    """
    return path.is_file() and bool(pattern.search(_beginning(path, path.stat().st_mtime_ns)))


@lru_cache(maxsize=8)
def _beginning(path: Path, changed: int) -> str:  # noqa: ARG001 (a file that changed is read anew)
    data = packed.head(path, LOOKED_AT)
    if b"\0" in data[:LONGEST]:
        return ""
    unlike = dict.fromkeys(zeroed(data).splitlines())
    return "\n".join(_COLOUR.sub("", line.decode("utf-8", "replace")[:LONGEST]) for line in unlike)
