"""Whether a file is a log of printed pairs, or prose or code that quotes one.

A log has more lines of one kind, each of which stands elsewhere in the run, than anybody quotes. Looked at is
the file's beginning, a line at a time, in Python.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tutor import packed
from tutor.readers.common.guessed import is_error
from tutor.readers.common.lines import COLOURS, LONGEST, LOOKED_AT, either, has
from tutor.readers.common.overflows import REDUCED
from tutor.readers.common.pairs import BAR, OVERFLOW, PAIR, PLACED, ROW_WORDS, as_known, column_of
from tutor.readers.common.phrases import FOREIGN, WORDLESS, in_pairs
from tutor.readers.common.roles import role
from tutor.readers.common.rows import number
from tutor.run import scoring

_PAIR, _ROW_WORD, _OVERFLOW, _PLACED = (
    re.compile(one, re.IGNORECASE) for one in (PAIR, ROW_WORDS, OVERFLOW, PLACED)
)
_BAR, _COLOUR = re.compile(BAR), re.compile(COLOURS)
_HEADING = re.compile(rb"^#{1,6} \S", re.MULTILINE)
_LISTED = re.compile(rb"#{1,6} [^0-9]{0,40}[0-9]+\s*$|[-*] [^:=]{1,40}[:=]\s{0,9}[-+0-9.e]+%?\s*$")
_JSON = ('{"', "{\n", '"')
_INLINE, _HEADED, _BARE, _EPISODES = 2, 3, 5, 20
"""So many rows that differ make a file a log, and no prose that quotes one: rows with a counter each, or of
NaN beside a score; rows below headings, or with neither; and rows of a reward with neither."""
_OUTPUTS = ("", ".txt", ".log", ".out")
"""How files end in which a program's output is kept."""
_FIRST_SCALE, _HALVINGS = 2**16, 16
"""The scale at which torch's and apex's scaler begin, and the halvings that take it down to 1."""
_OTHERS = 2  # numbers beside a counter in a row that has neither a loss nor a score


@dataclass(frozen=True)
class _Candidate:
    """A line that may be a row.

    Attributes:
        shape: what the lines of its kind share: the names in them.
        mark: where in the run it is, or the line itself: lines with the same mark count as one.
        needed: how many lines of the shape have to differ.
    """

    shape: object
    mark: object
    needed: int


def is_log(path: Path, own: Mapping[str, str] | None = None) -> bool:
    """Whether the file's beginning has more lines that may be rows than prose that quotes a log.

    Args:
        path: the file.
        own: by words that are known, the log's own in their place.
    """
    if not own and not has(path, _tells()):
        return False
    marks = defaultdict[object, set[object]](set)
    for row in _candidates(path, own or {}):
        seen = marks[row.shape]
        seen.add(row.mark)
        if len(seen) >= row.needed:
            return True
    return False


def may_have_row(path: Path) -> bool:
    """Whether a line of the file's beginning may be a row."""
    return has(path, _tells()) and any(_candidates(path, {}))


@cache  # not at import: few files come so far
def _tells() -> re.Pattern[str]:
    """What each line that may be a row has in it, before its phrases are replaced."""
    return either(ROW_WORDS, *WORDLESS, FOREIGN)


def _candidates(path: Path, own: Mapping[str, str]) -> Iterator[_Candidate]:
    """The lines of the file's beginning that hold a loss, or a counter and several other numbers."""
    heading: object = None
    for line in _with_row_words(path, own):
        if reduced := _OVERFLOW.search(line):
            yield from _of_overflow(reduced[REDUCED])
            continue
        pairs = [
            (name, found["value"]) for found in _PAIR.finditer(line) if (name := column_of(found["name"]))
        ]
        counts = [pair for pair in pairs if role(pair[0]) in ("per_step", "per_epoch")]
        placed, bar = _PLACED.search(line), _BAR.search(line)
        place = (placed and placed.group("lead", "at"), bar and bar["bar"])
        losses = [pair for pair in pairs if role(pair[0]) == "loss"]
        ended = losses if placed and placed["at"] == placed["of"] else ()
        inline = bool(counts) or any(place[0] or ()) or place[1] is not None
        shape = tuple(name for name, _ in (*losses, *counts))
        if _is_lost(pairs, losses) and path.suffix in _OUTPUTS:
            yield _Candidate("not a number", line, _INLINE)
        if losses and inline:
            yield _Candidate(shape, (heading, *counts, place, *ended), _INLINE)
            yield _Candidate((shape, "below one count"), line, _BARE)
        elif losses:
            mark, needed = ((heading, *losses), _HEADED) if heading else (line, _BARE)
            yield _Candidate(losses[0][0], mark, needed)
        elif len(pairs) == 1 and scoring.is_reward(pairs[0][0]):
            yield _Candidate(pairs[0][0], line, _EPISODES)
        elif inline and (
            len(pairs) - len(counts) >= _OTHERS
            or any(scoring.rises(name) or is_error(name) for name, _ in pairs)
        ):
            yield _Candidate(tuple(name for name, _ in pairs), (*counts, place), _BARE)
        elif counts:
            heading = tuple(counts)


def _is_lost(pairs: Sequence[tuple[str, str]], losses: Sequence[tuple[str, str]]) -> bool:
    """Whether each loss of a row is NaN, beside a score: neither a setting nor the best one so far."""
    nan = all(value.lower() == "nan" for _, value in losses)
    return bool(losses) and nan and any(scoring.rises(name) for name, _ in pairs)


def _of_overflow(reduced: str) -> Iterator[_Candidate]:
    """A message of an overflow, given the scale to which it reduces the loss's."""
    scale = number(reduced) or 0
    if scale < 1:  # above, they may be those of a sound run's first steps
        yield _Candidate(REDUCED, reduced, _BARE)
    if scale < _FIRST_SCALE:
        yield _Candidate((REDUCED, "on and on"), reduced, _HALVINGS)


def _with_row_words(path: Path, own: Mapping[str, str]) -> Iterator[str]:
    """The lines that have a word of a row in them, their phrases replaced by pairs; none of JSON."""
    phrases = [(re.compile(word, re.IGNORECASE), known) for word, known in as_known(own)]
    for line in _lines(path):
        said = line
        for word, known in phrases:
            said = word.sub(known, said)
        if not _tells().search(said) or said.lstrip().startswith(_JSON):
            continue
        paired = in_pairs(said)
        if _ROW_WORD.search(paired):
            yield paired


def _lines(path: Path) -> Iterator[str]:
    """The lines of the file's beginning; of a page of Markdown what it quotes or lists: the rest is prose."""
    data = packed.head(path, LOOKED_AT).replace(b"\r", b"\n")
    page = path.suffix == ".md" and _HEADING.search(data)
    quoted_now = False
    for line in data.splitlines():
        if page and line.lstrip().startswith((b"```", b"~~~")):
            quoted_now = not quoted_now
        elif not page or quoted_now or line.startswith((b"    ", b"\t")) or _LISTED.match(line):
            yield _COLOUR.sub("", line[: 4 * LONGEST].decode("utf-8", "replace")[:LONGEST])
