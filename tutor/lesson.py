"""A lesson's text: how an entry of lessons.md is written, and how it is read back.

lessons.md is the learner's to read and to edit. A lesson begins at a line `## <the lesson>`; the line before
may carry its id and its run's mark, the line after its date, run and path; then come its sections:

    <!-- lesson 3fa85f64 of 9d01b2c7 -->
    ## Clip the gradient before you trust the loss

    2026-11-20 14:03 · 19-break · phase-19: 1.1 no → 2.1 yes → recoverable

    ### 1. Symptoms

`parse(write(...))` gives back what was written, whatever text a learner or a log has put into it.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from tutor.words import plain

_MARKER = re.compile(r"^<!-- lesson ([0-9a-f]{8,64})(?: of ([0-9a-f]{8,64}))? -->\s*$")
_HEADING = re.compile(r"^##[ \t]+(\S.*)$")
_SECTION = re.compile(r"^###[ \t]+\d+\.[ \t]+(\S.*)$")
_META = re.compile(r"^(\d{4}-\d\d-\d\d(?: \d\d:\d\d)?) · (.*?) · (.*)$")
_LONE_DOT = re.compile(r"(?<!\S)·(?!\S)")


@dataclass(frozen=True)
class Lesson:
    """One entry of lessons.md.

    Attributes:
        lesson: the line that heads it.
        date: "2026-11-20 14:03", or "" in an entry written by hand.
        run: the run's name, or "".
        path: tree and answers, or "".
        body: the entry's Markdown, whole, its heading included.
        id: as its marker has it, or "".
        of: the run's mark, as the marker has it: how its log begins; "" where it doesn't say.
    """

    lesson: str
    date: str
    run: str
    path: str
    body: str
    id: str = ""
    of: str = ""

    @property
    def sections(self) -> list[tuple[str, str]]:
        """Title and Markdown of each numbered section; none in an entry written by hand without any."""
        found: list[tuple[str, list[str]]] = []
        for text in self.body.split("\n"):
            if heading := _SECTION.match(text):
                found.append((heading.group(1).strip(), []))
            elif found:
                found[-1][1].append(text)
        return [(title, "\n".join(lines).strip("\n")) for title, lines in found]


# Writing


def write(
    lesson: str,
    *,
    when: datetime,
    run: str,
    path: str,
    sections: Iterable[tuple[str, Iterable[str]]],
    id: str,
    of: str = "",
) -> str:
    """The Markdown of one entry.

    Args:
        lesson: the line that heads it.
        run: the run's name.
        path: tree and answers.
        sections: title and lines of each, made of `table`, `prose`, `code` and `line`.
        id: the same for the same content, so that a save that is tried twice is kept once (see `digest`).
        of: the run's mark.
    """
    lone = _LONE_DOT.sub("-", line(run))  # " · " parts the run's name from its neighbours
    lines = [_marker(id, of), f"## {line(lesson)}", "", f"{when:%Y-%m-%d %H:%M} · {lone} · {line(path)}"]
    for number, (title, content) in enumerate(sections, 1):
        lines += ["", f"### {number}. {line(title)}", "", *content]
    return "\n".join(lines) + "\n"


def digest(content: str) -> str:
    """An id for an entry of that content."""
    return hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:16]


def marked(markdown: str) -> tuple[str, str]:
    """The id of an entry and its Markdown with the marker that says so; one without gets one."""
    text = markdown.strip() + "\n"
    if found := _MARKER.match(text.partition("\n")[0]):
        return found.group(1), text
    id = digest(text)
    return id, f"{_marker(id)}\n{text}"


def _marker(id: str, of: str = "") -> str:
    return f"<!-- lesson {id}{f' of {of}' if of else ''} -->"


def line(text: str) -> str:
    """Text of a learner or a log as one line that begins no heading and no comment."""
    return plain(" ".join(text.split())).replace("<!--", "<! --")


def prose(text: str) -> list[str]:
    """Text of several lines; none of them begins a heading or a comment."""
    lines = plain(text.strip(), lines=True).replace("<!--", "<! --").split("\n")
    return [re.sub(r"^(\s*)(#)", r"\1\\\2", part) for part in lines]


def code(text: str) -> list[str]:
    """Text as it was typed, in a block of code."""
    return [f"    {part}" for part in plain(text.strip(), lines=True).split("\n")]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table; what stands in a cell opens no other cell."""
    return [_cells(header), _cells(["---"] * len(header)), *(_cells(row) for row in rows)]


def _cells(cells: Iterable[str]) -> str:
    return "| " + " | ".join(line(cell).replace("|", "\\|") for cell in cells) + " |"


# Reading


def parse(text: str) -> list[Lesson]:
    """The lessons in the text of a lessons.md, whatever a hand has done to it."""
    entries: list[tuple[tuple[str, str], str, list[str]]] = []
    marker = ("", "")
    for text_line in text.replace("\r\n", "\n").split("\n"):
        if found := _MARKER.match(text_line):
            marker = found.group(1), found.group(2) or ""
        elif heading := _HEADING.match(text_line):
            entries.append((marker, heading.group(1).strip(), [text_line]))
            marker = ("", "")
        elif entries:
            entries[-1][2].append(text_line)
    return [_lesson(*entry) for entry in entries]


def _lesson(marker: tuple[str, str], lesson: str, lines: list[str]) -> Lesson:
    second = next((text for text in lines[1:] if text.strip()), "")
    date, run, path = found.groups() if (found := _META.match(second)) else ("", "", "")
    return Lesson(lesson, date, run, path.strip(), "\n".join(lines).strip(), *marker)
