"""Source: a run that a reader has recognised and not yet read, and what readers recognise it by."""

import codecs
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from tutor import packed
from tutor.run import BadRunError, Run

HEAD = 65_536  # bytes of a file by which its format is known
NAMED = 8  # columns named in a message: they fit a line


def head(path: Path) -> bytes:
    """The beginning of a file, unpacked where it is packed.

    Raises:
        OSError: it can't be opened.
    """
    return packed.head(path, HEAD)


def first_line(path: Path) -> bytes:
    """The first line of a file, as far as its head goes, without a byte-order mark.

    Raises:
        OSError: it can't be opened.
    """
    return head(path).removeprefix(codecs.BOM_UTF8).lstrip().partition(b"\n")[0]


class Source(Protocol):
    """One run in a place."""

    @property
    def path(self) -> Path:
        """Its folder or file."""
        ...

    @property
    def format(self) -> str:
        """What it was recognised as, in words."""
        ...

    def describe(self, lang: str) -> str:
        """What the run was meant to be, in a few words, without reading its log.

        Nothing that a walk is to find.
        """
        ...

    def read(self, since: Run | None = None) -> Run:
        """The run; given what was read before, only what has come since is read where the format allows.

        Raises:
            BadRunError: it can't be read.
            OSError: a file can't be opened.
        """
        ...


@dataclass(frozen=True)
class Unclear:
    """A file among others in a folder that two readers claim: it says so when it is read, and hides none.

    Attributes:
        why: what to do about it.
    """

    path: Path
    why: str
    format: str = ""

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """Nothing is known of it."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """Raises BadRunError."""
        raise BadRunError(self.why)


class Reader(Protocol):
    """A file of this package: one log format."""

    def sources(self, path: Path) -> list[Source]:
        """The runs of this format at `path`, by their content; [] where there are none. No log is read whole.

        Raises:
            OSError: a file can't be opened.
        """
        ...

    def lacks(self, path: Path) -> str | None:
        """What a file near this format needs to be of it, in one line; None where it isn't near."""
        ...


@runtime_checkable
class Joining(Protocol):
    """What a reader also has where several files in a folder are one run."""

    def joined(self, found: list[Source]) -> list[Source]:
        """The runs that were found in folders, in any format, where those that are parts of one are one."""
        ...
