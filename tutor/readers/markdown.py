"""A table in Markdown with a column of steps or epochs and one of losses: of a model's card, or an issue.

Hugging Face's cards list `| Training Loss | Epoch | Step | Validation Loss |`, with `No log` where nothing
was logged yet, and behind these what else was evaluated. Where a second heading follows, as below
`| train | | validate | |`, its names of held-out data have the first before them. The line below a heading
may as well be one rule, without bars. Of several tables the longest is read. One of HTML, as notebooks show
it, is read likewise.
Sources: transformers/modelcard.py (`make_markdown_table`), transformers/utils/notebook.py
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tutor import packed
from tutor.readers.common.html import TABLE, as_markdown
from tutor.readers.common.lines import LOOKED_AT, either, has
from tutor.readers.common.rows import Row, number, run_of
from tutor.readers.common.trainers import HUGGING_FACE, WINDOW
from tutor.readers.source import Source
from tutor.run import Run, limits, names, scoring

_RULE = re.compile(r"^\s*(?:\|?(?:\s*:?-+:?\s*[|+])+\s*(?::?-+:?)?\s*|[-=]{3,})$")
_BELOW = re.compile(r"^[^\n]*\|[^\n]*\n\s*(?:\|?(?:\s*:?-+:?\s*[|+])+|[-=]{3,}\r?$)", re.MULTILINE)
_TRAINER = {"Training Loss", "Validation Loss"}
_COUNTED = {"Epoch", "Step"}
_EITHER = either(_BELOW.pattern, TABLE.pattern.decode())
_TRAINED = re.compile(r"\btrain", re.IGNORECASE)
_HELD_OUT = re.compile(r"\b(?:val|eval|test|dev)", re.IGNORECASE)


@dataclass(frozen=True)
class MarkdownTable:
    """A run in a table of a text."""

    path: Path
    format: str = "a table in Markdown or HTML"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """Its columns say nothing of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole."""
        rows = max(_tables(self.path, _text(packed.read(self.path, limits.PACKED)[0])), key=len)
        named = _named(rows)
        by = next(name for name, signal in names.mapping(named, self.path).items() if signal == "step")
        epochs = {"loss": WINDOW} if names.spelled(by) == "epoch" else {}
        if not (named.keys() >= _TRAINER and named.keys() & _COUNTED):
            return run_of(rows, self.path, name=self.path.name, aggregations=epochs)
        called = {name: one for name in named if (one := _evaluated(name)) not in named}
        rows = [{called.get(name, name): cell for name, cell in row.items()} for row in rows]
        return run_of(rows, self.path, name=self.path.name, aggregations={"loss": HUGGING_FACE})


def sources(path: Path) -> list[Source]:
    """A file with such a table."""
    if not has(path, _EITHER):
        return []
    return [MarkdownTable(path)] if any(_tables(path, _text(packed.head(path, LOOKED_AT)))) else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """A text with another table in it is no log that lacks something."""
    return None


def _text(data: bytes) -> str:
    """The text with tables of Markdown in it; of a page with tables of HTML these alone."""
    text = data.decode("utf-8", "replace")
    return as_markdown(text) if TABLE.search(data) else text


def _tables(path: Path, text: str) -> Iterator[list[Row]]:
    """The rows of each table that names a step and a loss."""
    lines = text.splitlines()
    for at, line in enumerate(lines[:-1]):
        if _RULE.match(line) and at:
            columns, first = _cells(lines[at - 1]), at + 1
            if all(number(cell) is None for cell in _cells(lines[first])):
                columns, first = _below(columns, _cells(lines[first])), first + 1
            rows = list(_rows(columns, lines[first:]))
            known = set(names.mapping(_named(rows), path).values())
            if "step" in known and known & {"loss", "val_loss"}:
                yield rows


def _rows(columns: Sequence[str], lines: Sequence[str]) -> Iterator[Row]:
    for line in lines:
        if "|" not in line:
            return
        yield {name: cell for name, cell in zip(columns, _cells(line), strict=False) if name}


def _named(rows: Sequence[Row]) -> dict[str, None]:
    """The names of the columns that a row reaches: one that is cut short has fewer."""
    return dict.fromkeys(name for row in rows for name in row)


def _cells(line: str) -> list[str]:
    return [cell.strip().strip("*`") for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


def _evaluated(name: str) -> str:
    """What a column of a Trainer's card is called: its scores are those of the evaluation."""
    scores = (scoring.is_score(name) or scoring.is_error(name)) and not _TRAINED.search(name)
    return f"eval {name}" if scores and not names.says_held_out(name) else name


def _below(groups: Sequence[str], columns: Sequence[str]) -> list[str]:
    """The second heading's names, those of held-out data with the first heading's before them."""
    found, group = list[str](), ""
    for above, name in zip(groups, columns, strict=False):
        group = above or group
        found.append(f"{group} {name}" if name and _HELD_OUT.match(group) else name)
    return found
