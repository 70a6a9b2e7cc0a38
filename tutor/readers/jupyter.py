"""Jupyter notebooks: what their cells printed when they were last run.

Each cell whose output another reader knows is a run, `train.ipynb/12` of `In [12]`; where only one is, that
is the notebook itself. A Trainer and fastai show their rows as a table of HTML, read as one of Markdown.
Sources: nbformat's `nbformat.v4.schema.json`, and that of version 3; transformers/utils/notebook.py
"""

import json
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from tutor import packed
from tutor.plainfile import OddFileError
from tutor.readers.common import several
from tutor.readers.common.html import TABLE, as_markdown
from tutor.readers.source import Source, head
from tutor.run import BadRunError, Run, limits
from tutor.words import plain

_BEGINS = re.compile(rb"\s*\{")
_CELLS = re.compile(rb'"(?:cells|worksheets|cell_type)"\s*:')
_LINE = 60  # characters of a cell's code that tell which it is
_CELLS_READ = 1000  # cells with several lines of output: a notebook has some dozens, and each takes a while


@dataclass(frozen=True)
class _Printed:
    """What a cell printed: its place among the cells of code; its number, or else that place, by which a run
    of it is called; its code; the text.
    """

    place: int
    number: str
    code: str
    text: str


@dataclass(frozen=True)
class Cell:
    """A run in the output of a cell.

    Attributes:
        path: the notebook, where it holds no other; else the cell's number as if the notebook were a folder.
        notebook: the file.
        cell: what the cell is, and had printed when it was found.
    """

    path: Path
    notebook: Path
    cell: _Printed
    format: str = "a cell of a Jupyter notebook"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """The first line of the cell's code."""
        line = next((line for line in self.cell.code.splitlines() if line.strip()), "")
        return plain(f"In [{self.cell.number}]: {line.strip()}")[:_LINE]

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole, as far as the notebook was saved by now.

        Raises:
            BadRunError: the cell is gone, or the reader of its text says so.
        """
        text = next((one.text for one in _cells_in(self.notebook) if one.place == self.cell.place), "")
        with TemporaryDirectory() as folder:
            if not (found := _known(text, folder)):
                raise BadRunError(f"{self.path} holds no log any more: was the notebook run again?")
            run = found.read()
        called = self.path.name if self.path == self.notebook else f"{self.notebook.name}/{self.path.name}"
        return several.moved(run, self.path, called)


def sources(path: Path) -> list[Source]:
    """The runs in a notebook's cells, or the one that the path names."""
    file = path if path.is_file() else path.parent
    cells = _cells_in(file)
    if len(cells) < 2:
        return [Cell(file, file, cell) for cell in cells if path == file]
    labelled = several.labels((place, cell.number) for place, cell in enumerate(cells, 1))
    found = [Cell(file / label, file, cell) for (_, label), cell in zip(labelled, cells, strict=True)]
    return [one for one in found if path in (file, one.path)]


def lacks(path: Path) -> str | None:
    """A notebook whose cells hold no log: it was saved without its output, perhaps."""
    if not (path.is_file() and _is_notebook(path)):
        return None
    if path.stat().st_size > limits.DOCUMENT:
        return "it is a notebook of more than 64 MB: clear the outputs that hold pictures, and save it again"
    return (
        "of a notebook it reads what the cells printed, and none printed rows with a loss and a counter; "
        "was it saved without its output?"
    )


def _is_notebook(path: Path) -> bool:
    begin = head(path)
    return bool(_BEGINS.match(begin) and _CELLS.search(begin))


def _cells_in(path: Path) -> Sequence[_Printed]:
    """The cells of a notebook that printed a log; none of what is no notebook, or too large.

    Raises:
        OSError: it can't be opened.
    """
    if not path.is_file() or path.stat().st_size > limits.DOCUMENT or not _is_notebook(path):
        return ()
    about = path.stat()
    return _looked(path, (about.st_ino, about.st_size, about.st_mtime_ns))


@lru_cache(maxsize=1)  # it is asked for each of its cells
def _looked(path: Path, changed: Hashable) -> Sequence[_Printed]:  # noqa: ARG001 (read anew)
    try:
        given = json.loads(packed.read(path, limits.DOCUMENT)[0])
    except (OddFileError, ValueError, RecursionError):
        return ()
    cells = []
    said = ((place, cell, "\n".join(_texts(cell))) for place, cell in enumerate(_code(given), 1))
    several_lines = ((place, cell, text) for place, cell, text in said if "\n" in text.strip())
    for place, cell, text in islice(several_lines, _CELLS_READ):
        number = cell.get("execution_count", cell.get("prompt_number"))
        called = str(number) if isinstance(number, int) else f"cell {place}"
        with TemporaryDirectory() as folder:
            if _known(text, folder):
                cells.append(_Printed(place, called, _joined(cell.get("source", cell.get("input"))), text))
    return cells


def _known(text: str, folder: str) -> Source | None:
    """The run in the text, once it is a file in that folder; None where no reader knows it."""
    # Those that a file that is no notebook may have no need of.
    from tutor.readers import aligned, boxed, build_nanogpt, huggingface, markdown, nanogpt, printed

    file = Path(folder) / "output.txt"
    file.write_text(text, "utf-8", errors="replace", newline="")
    asked = (huggingface, nanogpt, build_nanogpt, boxed, markdown, printed, aligned)
    return next((found[0] for reader in asked if (found := reader.sources(file))), None)


def _code(notebook: object) -> Iterator[Mapping[str, object]]:
    """The cells of code, in order: of version 4, or in the worksheets of version 3."""
    for sheet in [notebook, *_objects(notebook, "worksheets")]:
        yield from (cell for cell in _objects(sheet, "cells") if cell.get("cell_type") == "code")


def _objects(given: object, name: str) -> Iterator[Mapping[str, object]]:
    inside = given.get(name) if isinstance(given, dict) else None
    yield from (one for one in inside if isinstance(one, dict)) if isinstance(inside, list) else ()


def _texts(cell: Mapping[str, object]) -> Iterator[str]:
    """What the cell printed and showed, in order: tables as those of Markdown."""
    for output in _objects(cell, "outputs"):
        shown = output.get("data", output)  # version 3 has the kinds of what is shown beside each other
        kinds = cast(Mapping[str, object], shown) if isinstance(shown, dict) else {}
        page = _joined(kinds.get("text/html", kinds.get("html")))
        if TABLE.search(page.encode("utf-8", "replace")):
            yield f"\n{as_markdown(page)}\n"
        elif output.get("output_type") not in ("error", "pyerr"):
            yield _joined(kinds.get("text/plain", kinds.get("text")))


def _joined(given: object) -> str:
    """A text, which notebooks keep as such or as its lines."""
    lines = given if isinstance(given, list) else [given]
    return "".join(line for line in lines if isinstance(line, str))
