"""Tables of HTML, as notebooks show them, turned into those of Markdown, which a reader knows."""

import re
from collections.abc import Iterator
from html import unescape

_TAG = re.compile(r"<(/?)(table|tr|t[hd])\b[^<>]*>", re.IGNORECASE)
_ANY_TAG = re.compile(r"<[^<>]*>")

TABLE = re.compile(rb"<table\b", re.IGNORECASE)
"""What shows that there is one."""


def as_markdown(page: str) -> str:
    """Each table of the page with a rule below its first row, and a blank line between two; nothing else."""
    return "\n\n".join(_marked(rows) for rows in _tables(page) if any(rows))


def _tables(page: str) -> Iterator[list[list[str]]]:
    """The cells of each row of each table. What isn't closed ends where the next of its kind begins."""
    rows: list[list[str]] = []
    parts = _TAG.split(page)  # the text before a tag, whether it closes, its name
    for closes, name, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        kind = name.lower()
        if kind == "table":
            yield rows
            rows = []
        elif kind == "tr" and not closes:
            rows.append([])
        elif rows and not closes:
            rows[-1].append(" ".join(unescape(_ANY_TAG.sub("", text)).replace("|", "/").split()))
    yield rows


def _marked(rows: list[list[str]]) -> str:
    first, *others = (row for row in rows if row)
    rule = ["---"] * len(first)
    return "\n".join(f"| {' | '.join(row)} |" for row in (first, rule, *others))
