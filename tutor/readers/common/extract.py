"""The rows of a log of text, found by polars a piece of the log at a time, in two threads."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path

import polars as pl

from tutor.packed import Stream
from tutor.readers.common.alike import by_form, cut, spelled
from tutor.readers.common.lines import COLOURS, LONGEST, MARK, Line, Lines, either, zeroed
from tutor.readers.common.phrases import for_polars
from tutor.readers.common.pieces import in_turn, lines_of, whole
from tutor.readers.common.rows import most_columns
from tutor.run import Remark, limits
from tutor.run.remark import packed_torn

_TOGETHER = 12  # phrases that are looked for at once
_TRIES = 3  # to read pairs as the first of them is written
_WIDEST = 4  # bytes of a character in UTF-8, at most
_AROUND = " \t:=;'\"|,()[]{}>*/%"  # what stands between a pair's name and its value, or after it

_AT = ""  # the column that numbers the lines: no group of a pattern has such a name


def frame_of(path: Path, lines: Lines, remarks: list[Remark]) -> pl.DataFrame:
    """The rows of the log as columns of numbers, named in the order in which they come up.

    Raises:
        OSError: the file can't be opened, or unpacks to too much.
    """
    with Stream(path, limits.STREAMED) as file:
        frame = _joined(in_turn(partial(_rows, lines), lines_of(file, _WIDEST * LONGEST)), remarks)
        if file.torn:
            remarks.append(packed_torn())
    remarks += lines.remarks(frame) if lines.remarks else ()
    return lines.tidy(frame) if lines.tidy and frame.width else frame


def _joined(tables: Iterator[pl.DataFrame], remarks: list[Remark]) -> pl.DataFrame:
    """The tables as one, with no more columns than such a table may have."""
    kept, names, rows = list[pl.DataFrame](), dict[str, None](), 0
    for table in tables:
        rows += len(table)
        names |= dict.fromkeys(table.columns)
        kept.append(_with_columns(table, list(names)[: most_columns(rows)]))
    if len(names) > most_columns(rows):
        remarks.append(Remark("too_many", {"most": most_columns(rows)}))
        kept = [_with_columns(table, list(names)[: most_columns(rows)]) for table in kept]
    return whole(kept) if kept else pl.DataFrame()


def _with_columns(table: pl.DataFrame, names: Iterable[str]) -> pl.DataFrame:
    return pl.DataFrame([table[name] for name in names if name in table.columns])


def _rows(lines: Lines, piece: bytes) -> pl.DataFrame:
    """The rows of a piece, in their order."""
    texts, tables = _split(piece), list[pl.DataFrame]()
    if lines.joined and _broken(texts := _plain(texts), lines):
        left = _numbered(pl.Series(lines.joined(texts.drop_nulls().to_list()), dtype=pl.String))
    elif lines.each:
        left = _numbered(_plain(texts).str.extract_all(spelled(lines.each)).explode().drop_nulls())
    else:
        left, tables = _cut(_numbered(texts), _split(zeroed(piece)), lines)
        left = left.with_columns(_plain(left["text"]))
    tables += _looked_at(left, lines)
    return _in_turn(tables) if tables else pl.DataFrame()


def _numbered(texts: pl.Series) -> pl.DataFrame:
    """The texts, and the place of each."""
    return pl.DataFrame({_AT: pl.int_range(len(texts), dtype=pl.UInt32, eager=True), "text": texts})


def _cut(left: pl.DataFrame, forms: pl.Series, lines: Lines) -> tuple[pl.DataFrame, list[pl.DataFrame]]:
    """The lines that are left, and tables of the rows in those whose form many lines have.

    `forms` holds the form of each line: the line with every digit as a 0.
    """
    tables, done = list[pl.DataFrame](), list[str]()
    for form, mine in by_form(left, forms):
        if (table := cut(mine, lines)) is None:
            continue
        done.append(form)
        if len(table):
            tables.append(table)
    return (left.filter(~forms.is_in(done)) if done else left), tables


def _looked_at(left: pl.DataFrame, lines: Lines) -> list[pl.DataFrame]:
    """The rows in lines that are looked at one by one: a table for each kind of line."""
    for some, phrases in _batches(lines.phrases):
        if left["text"].str.contains(some).any():
            for pattern, pairs in phrases:
                left = left.with_columns(pl.col("text").str.replace_all(spelled(pattern), for_polars(pairs)))
    if lines.only:
        left = left.filter(pl.col("text").str.contains(spelled(lines.only)))
    tables: list[pl.DataFrame] = []
    for kind in lines.kinds:
        if left.is_empty():
            break
        if kind.sign and not left["text"].str.contains(kind.sign, literal=True).any():
            continue
        groups = left["text"].str.extract_groups(spelled(kind.pattern)).struct.unnest()
        found = groups.to_series(0).is_not_null()
        mine = left.filter(found)
        if len(mine):
            columns = {one.name: _numbers(one) for one in groups.filter(found) if one.name != MARK}
            if kind.pairs:
                columns = _over(columns, _paired(mine["text"], kind))
            tables.append(pl.DataFrame({_AT: mine[_AT], **columns}))
        left = left.filter(~found)
    return tables


def _in_turn(tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The tables as one: its rows in the order of their lines, its columns in that in which they come up."""
    if len(tables) == 1:
        return tables[0].drop(_AT)
    begun: dict[str, int] = {}
    for table in sorted(tables, key=lambda table: table[_AT][0]):
        for column in table.drop(_AT):
            known = column.is_not_null()
            at = int(table[_AT][known.arg_max() or 0 if known.any() else 0])
            begun[column.name] = min(at, begun.get(column.name, at))
    columns = sorted(begun, key=lambda name: begun[name])
    return _with_columns(pl.concat(tables, how="diagonal").sort(_AT), columns)


def _broken(texts: pl.Series, lines: Lines) -> bool:
    """Whether any row may go on in the next line."""
    begun = texts.str.contains(spelled(lines.begun))
    open_ = begun & ~texts.str.contains(spelled(lines.ended))
    return bool((open_ & ~begun.shift(-1).fill_null(True)).any())


def _plain(lines: pl.Series) -> pl.Series:
    """The beginning of each line, as far as it is looked at, without colours."""
    if (lines.str.len_bytes() > LONGEST).any():
        lines = lines.str.head(LONGEST)
    coloured = lines.str.contains("\x1b", literal=True).any()
    return lines.str.replace_all(COLOURS, "") if coloured else lines


def _split(piece: bytes) -> pl.Series:
    """The lines of a piece, each in its full length."""
    try:
        return _lines(piece)
    except pl.exceptions.ComputeError:  # it isn't valid UTF-8
        return _lines(piece.decode("utf-8", "replace").encode())


def _lines(piece: bytes) -> pl.Series:
    """The lines of a piece in UTF-8, read as a table of one column: that is faster than to split the text."""
    return pl.read_csv(
        piece.replace(b"\x01", b"\x02") if b"\x01" in piece else piece,
        has_header=False,
        separator="\x01",  # no line has one
        quote_char=None,
        schema={"text": pl.String},
        raise_if_empty=False,
    )["text"]


def _over(columns: dict[str, pl.Series], more: dict[str, pl.Series]) -> dict[str, pl.Series]:
    """The columns of both; where both have a value under one name, it is that of `more`."""
    both = columns.keys() & more.keys()
    return (
        columns | more | {name: more[name].zip_with(more[name].is_not_null(), columns[name]) for name in both}
    )


def _paired(texts: pl.Series, kind: Line) -> dict[str, pl.Series]:
    """The pairs in each text, as columns by name, in the order in which they come up, text by text.

    Texts with the same number of pairs are read together: most have the same names in the same places.
    """
    pairs = texts.str.extract_all(spelled(kind.pairs))
    counts, rows = pairs.list.len(), pl.int_range(len(texts), eager=True)
    nothing = pl.repeat(None, len(texts), dtype=pl.Float64, eager=True)
    most = most_columns(len(texts)) + 1  # one more than fit, so that a remark tells of too many
    columns: dict[str, pl.Series] = {}
    begun: dict[str, tuple[int, int]] = {}  # the first text with it, and its place there
    for count in filter(None, counts.unique(maintain_order=True)):
        mine = counts == count
        where, listed = rows.filter(mine), pairs.filter(mine).explode()
        before: list[tuple[str, pl.Series]] = []
        for place in range(count):
            placed = pl.DataFrame({"row": where, "pair": listed.gather_every(count, place)})
            named = [(name, found) for given, found in _named(placed, kind) if (name := kind.named(given))]
            named = [one for name, found in named for one in _again(name, found, before, kind)]
            before += [(name, found["row"]) for name, found in named]
            for name, found in named:
                if len(found) and (name in columns or len(columns) < most):
                    here = (int(found["row"][0]), place)
                    begun[name] = min(here, begun.get(name, here))
                    column = columns.get(name, nothing.clone())
                    columns[name] = column.scatter(found["row"], found["value"])
    return {name: columns[name] for name in sorted(columns, key=begun.__getitem__)}


def _again(
    name: str, found: pl.DataFrame, before: Sequence[tuple[str, pl.Series]], kind: Line
) -> Iterator[tuple[str, pl.DataFrame]]:
    """The values of a name; those whose lines had it before, under the name that the kind gives them then."""
    rows = [there for one, there in before if one == name]
    again = found["row"].is_in(pl.concat(rows).implode()) if rows else None
    if again is None or not again.any():
        yield name, found
        return
    row = int(found["row"].filter(again)[0])
    line = [one for one, there in before if (there == row).any()]  # an example: most lines are alike
    yield kind.again(name, line), found.filter(again)
    yield name, found.filter(~again)


def _named(pairs: pl.DataFrame, kind: Line) -> Iterator[tuple[str, pl.DataFrame]]:
    """By name the values of pairs.

    Most pairs begin as the first one does, up to its value: to compare these beginnings is far faster than to
    match the pattern with each pair. So it is done up to `_TRIES` times, and then the pattern finds the rest.
    """
    for _ in range(_TRIES):
        if not (first := re.search(kind.pairs, pairs["pair"][0], re.IGNORECASE)):
            break
        begin = first.string[: first.end("name")]
        alike = pairs["pair"].str.starts_with(begin)
        if kind.named(first["name"]) is None and alike.all():
            return
        value = _numbers(pairs["pair"].str.slice(len(begin)).str.strip_chars(_AROUND))
        found = pairs.select("row", value.alias("value"))
        sound = alike & value.is_not_null()
        if sound.all():
            yield first["name"], found
            return
        yield first["name"], found.filter(sound)
        pairs = pairs.filter(~sound)
    groups = pairs["pair"].str.extract_groups(spelled(kind.pairs)).struct.unnest()
    left = pairs.select("row", groups["name"], _numbers(groups["value"]).alias("value"))
    for name in left["name"].unique(maintain_order=True).head(limits.COLUMNS + 1):
        yield name, left.filter(pl.col("name") == name)


def _numbers(texts: pl.Series) -> pl.Series:
    """The texts as numbers, some of which have commas between the thousands."""
    numbers = texts.cast(pl.Float64, strict=False)
    if numbers.null_count() == texts.null_count():
        return numbers
    return texts.str.replace_all(",", "", literal=True).cast(pl.Float64, strict=False)


@cache
def _batches(phrases: Sequence[tuple[str, str]]) -> Sequence[tuple[str, Sequence[tuple[str, str]]]]:
    """The phrases in groups, each with one pattern that matches a line with any phrase of the group.

    To look for several at once is fast as long as the automaton of their pattern fits into its cache: for all
    of them at once it takes a hundred times as long.
    """
    some = (phrases[at : at + _TOGETHER] for at in range(0, len(phrases), _TOGETHER))
    return [(spelled(either(*(pattern for pattern, _ in one)).pattern), one) for one in some]
