"""Logs of text, a line a row: what a reader of one needs beyond the shape of its lines."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from tutor.readers.common.rows import Row, run_of
from tutor.run import Aggregation, Run

LOOKED_AT = 2_000_000
"""Bytes of a file in which its first row has to come: launchers print megabytes before it."""

LONGEST = 4096
"""Characters of a line that are looked at. Rows have some hundreds; to look for a pattern in a line made to
be searched for ever takes time that grows with the square of its length."""

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
NUMBER = r"[-+]?(?:\d[\d,]*\.?\d*(?:[eE][-+]?\d+)?|nan|inf(?:inity)?)"
"""A number as programs print it, in the pattern of a line."""

Parse = Callable[[Iterator[str]], Iterator[Row]]


@dataclass(frozen=True)
class TextLog:
    """A run in a file of text."""

    path: Path
    format: str
    parse: Parse
    aggregations: Mapping[str, Aggregation] = field(default_factory=dict)

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """A log of text says nothing of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole."""
        return run_of(
            self.parse(lines(self.path)), self.path, name=self.path.name, aggregations=self.aggregations
        )


def lines(path: Path) -> Iterator[str]:
    """The lines of a file, as much of each as is looked at, without colours.

    A progress bar's carriage return ends one too.
    """
    with path.open(encoding="utf-8", errors="replace", newline=None) as file:
        begins = True
        while piece := file.readline(LONGEST):
            if begins:
                yield _plain(piece.rstrip("\n"))
            begins = piece.endswith("\n")


def _plain(line: str) -> str:
    line = line[:LONGEST]
    return COLOURS.sub("", line) if "\x1b" in line else line


def has(path: Path, pattern: re.Pattern[str]) -> bool:
    """Whether a line of the file's beginning matches; False for what is no file of text."""
    return path.is_file() and bool(pattern.search(_beginning(path, path.stat().st_mtime_ns)))


@lru_cache(maxsize=8)
def _beginning(path: Path, changed: int) -> str:  # noqa: ARG001 (a file that changed is read anew)
    with path.open("rb") as file:
        data = file.read(LOOKED_AT)
    if b"\0" in data[:LONGEST]:
        return ""
    return "\n".join(_plain(line) for line in data.decode("utf-8", "replace").splitlines())
