"""Rows of another tool's log as a run."""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from tutor import paths
from tutor.readers.common import several, trainers
from tutor.readers.common.sets import with_mean
from tutor.run import (
    Aggregation,
    BadRunError,
    Counts,
    Manifest,
    Remark,
    Run,
    called,
    limits,
    names,
    parts,
    scoring,
)
from tutor.words import quoted

if TYPE_CHECKING:
    import polars as pl

Row = Mapping[str, object]

HELD = (
    r"^\s*(?:(?:tensor|array|(?:np|numpy)\.float[0-9]+)\(\s*\[{0,2}|\[{1,2})\s*"
    r"([^\s,\[\]()]+)\s*\]{0,2}(?:,\s*[a-z_]+=.*)?\)?\s*$"
)
"""A tensor or array of one number that was written instead of the number: `tensor(0.7, device='cuda:0')`."""

PERCENT = r"^\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*%\s*$"
"""A number with the sign behind it."""

_LONGEST = 20  # characters of a word for a set of data
_PAIR = 2  # rows of one step: of training and of held-out data
_WANDERS = 1 / 4  # of the rows: what goes back more often counts nothing, where something else does
_BOUNDS = {"grad_clip", "beta2", "checkpoint_every"}


class About(TypedDict, total=False):
    """What a reader knows of a run beside its rows.

    Attributes:
        name: what to call it; else the file's name.
        aggregations: by tutor's signals, where a value isn't that of its step; None: as the columns' names
            tell.
        remarks: what the reader passed over.
        manifest: what the log says that the run was meant to be.
        file: what was read, where the log is one of several in a file.
        counts: what its steps are, where the names of its columns don't tell.
    """

    name: str | None
    aggregations: Mapping[str, Aggregation] | None
    remarks: Sequence[Remark]
    manifest: Manifest | None
    file: Path | None
    counts: Counts


def run_of(rows: Iterable[Row], path: Path, **about: Unpack[About]) -> Run:
    """The run that the rows make, in the order in which they were logged.

    Args:
        rows: numbers by the log's own names; what isn't a number, in text or not, is passed over.
        path: the log.
        about: see `About`.

    Raises:
        BadRunError: there is no row with a number in it.
    """
    remarks = list(about.get("remarks", ()))
    frame = table_of(rows, remarks)
    return run_of_frame(frame, path, **{**about, "remarks": remarks})


def run_of_frame(frame: "pl.DataFrame", path: Path, **about: Unpack[About]) -> Run:
    """As `run_of`, of a table of Float64 whose columns are in the order in which they came up."""
    import polars as pl  # only who reads a log pays for it

    frame = frame.select(column for column in frame if column.null_count() < len(column))
    if frame.is_empty():
        raise _without_rows(path)
    if frame.width > limits.COLUMNS:
        about["remarks"] = [*about.get("remarks", ()), Remark("too_many", {"most": limits.COLUMNS})]
        frame = frame[:, : limits.COLUMNS]  # by their names, polars would take some for patterns
    blank = frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
    frame = frame.filter(~blank) if blank.any() else frame
    return run_of_table(frame.with_columns(_whole_numbers(frame)), path, **about)


def zeros_last(frame: "pl.DataFrame", path: Path) -> "pl.DataFrame":
    """The table; of several losses, those that are 0 at every row stand last: they are switched off."""
    mapping = names.mapping(frame.columns, path)
    loss = [column for column, signal in mapping.items() if signal == "loss"]
    if not (others := names.other_losses(frame.columns, mapping)):
        return frame
    values = (_numbers(frame[name]) for name in (*loss, *others))
    zero = [one.name for one in values if one.count() and (one.drop_nulls() == 0).all()]
    return frame.select(*(name for name in frame.columns if name not in zero), *zero)


def run_of_table(frame: "pl.DataFrame", path: Path, **about: Unpack[About]) -> Run:
    """As `run_of`, of a table that was read as one.

    Where several runs were written to the log, one after another, it is the last one, with those `before` it.
    """
    from tutor.run.apart import runs_apart, told_apart
    from tutor.run.normalise import hidden, normalise_each, revealed

    sets: list[Remark] = []
    frame = zeros_last(told_apart(frame, sets), path)
    said = called.checked(path, frame.columns)
    scores = _scores_named(path, frame.columns)
    frame, averaged = with_mean(frame, names.mapping(frame.columns, path).values())
    given, named = frame.columns, names.mapping(frame.columns, path)
    runs_in_log = [(part, own, _counted(own, named, path)) for part, own in runs_apart(frame, named)]
    mapping = runs_in_log[-1][2]
    aggregations = about.get("aggregations")
    if aggregations is None:
        loss = next((column for column, signal in mapping.items() if signal == "loss"), None)
        aggregations = trainers.aggregations(given, loss)
    state = (about.get("file") or path).stat()
    runs: list[Run] = []
    each = ((part, *found) for part, own, by in runs_in_log for found in normalise_each(own, by, path))
    for part, normal, more in each:
        if normal.is_empty():
            raise _without_rows(path)
        known = {signal: one for signal, one in aggregations.items() if signal in normal.columns}
        rows, told, nan = revealed(normal, known)
        runs.append(
            Run(
                path=path,
                name=paths.by_folder(path, about.get("name") or path.stem),
                manifest=about.get("manifest") or Manifest(),
                frame=rows,
                remarks=(
                    *said,
                    *about.get("remarks", ()),
                    *sets,
                    *scores,
                    *averaged,
                    *more,
                    *hidden(told),
                    *nan,
                    *_reweighted(rows),
                    *_added(rows),
                    *trainers.remarks(given),
                ),
                aggregations=told,
                own_names={signal: column for column, signal in mapping.items() if column != signal},
                counts=about.get("counts") or names.counts(mapping),
                position=(state.st_ino, state.st_size, state.st_mtime_ns),
                part=part,
            )
        )
    return several.in_turn(runs)


def _reweighted(rows: "pl.DataFrame") -> Iterator[Remark]:
    """A remark where parts of the loss come to weigh more: it may rise for that alone."""
    numbers = (rows[name].drop_nulls() for name in rows.columns if names.is_weight(name))
    if grown := [one.name for one in numbers if len(one) and one.dtype.is_numeric() and one[-1] > one[0]]:
        yield Remark("reweighted", {"columns": quoted(grown)})


def _added(rows: "pl.DataFrame") -> Iterator[Remark]:
    """A remark where parts are added to the loss on the way, and it rises for that."""
    for row, columns in parts.added(rows).items():
        yield Remark("parts_added", {"step": int(rows["step"][row]), "columns": quoted(columns)})


def _scores_named(path: Path, columns: Sequence[str]) -> list[Remark]:
    """A remark for each score or reward that was named as a loss: its rise reads as a fault."""
    said = called.names_for(path)
    return [
        Remark("score_as_loss", {"column": quoted([column]), "signal": signal})
        for signal in ("loss", "val_loss")
        if (column := said.get(signal)) in columns and column and scoring.rises(column)
    ]


def _counted(frame: "pl.DataFrame", mapping: Mapping[str, str], path: Path) -> Mapping[str, str]:
    """The mapping, with another counter or none where the one that is called so counts no rows.

    Episodes that each update takes stand still, and how many steps each took wanders. An old Lightning
    repeats the epoch in most rows with a loss: they are of batches, and only their own number tells them
    apart. So it is with parts of an epoch, 0.01, 0.02, as Hugging Face's Trainer prints them.
    """
    columns = {signal: column for column, signal in mapping.items()}
    old, loss = columns.get("step"), columns.get("loss")
    if old is None or called.names_for(path).get("step") == old:
        return mapping
    steps = _numbers(frame[old])
    counted = steps.filter(frame[loss].is_not_null()) if loss else steps
    stands = len(counted) > _PAIR and counted.n_unique() == 1
    whole = counted.floor()
    repeats = len(counted) > 1 and int((whole == whole.shift()).sum()) > len(counted) / 2
    no_counter = stands or (repeats and bool(loss) and names.counts(mapping) == "epochs")
    if not no_counter and int((steps.diff() < 0).sum()) <= _WANDERS * len(steps):
        return mapping
    others = (name for name in names.counters(frame.columns) if name != old)
    better = next((name for name in others if _ascends(frame[name])), None)
    if better is None and not no_counter:
        return mapping
    kept = {column: signal for column, signal in mapping.items() if signal != "step" and column != better}
    kept |= {old: names.free("step", frame.columns)} if old == "step" else {}
    return kept if better is None else {**kept, better: "step"}


def _numbers(column: "pl.Series") -> "pl.Series":
    """The column as numbers, null where it holds something else."""
    import polars as pl  # only who reads a log pays for it

    if column.dtype.is_nested():
        return pl.Series(column.name, [None] * len(column), pl.Float64)
    return column.cast(pl.Float64, strict=False)


def _ascends(column: "pl.Series") -> bool:
    """Whether each row has a number, above that of the row before."""
    return len(column) > 1 and bool((_numbers(column).diff()[1:] > 0).fill_null(False).all())


def _without_rows(path: Path) -> BadRunError:
    return BadRunError(f"{path} holds no row with numbers: the run ended before it logged one")


def configured(given: Iterable[tuple[object, object]]) -> Manifest:
    """The manifest of a run of which settings are all that is known, as another tool has them by name.

    What rules judge by is kept only where it bounds something: for other tools, too, 0 turns clipping off.
    """
    settings = {
        name: value
        for name, raw in islice(given, limits.COLUMNS)
        if isinstance(name, str) and (value := _setting(raw)) is not None
    }
    for name in _BOUNDS & settings.keys():
        if (number(settings[name]) or 0) <= 0:
            del settings[name]
    return Manifest.parse({"settings": settings})[0]


def _setting(given: object) -> float | str | None:
    """The number, flag or word that a setting is or, where a tool keeps all as text, says."""
    if isinstance(given, bool) or str(given).lower() in ("true", "false"):
        return str(given).lower() == "true"
    value = number(given)
    if value is None or not math.isfinite(value):
        return given if isinstance(given, str) and given != "None" else None
    return int(value) if _whole(value) and "." not in str(given) else value


def number(given: object) -> float | None:
    """The number that a value is or says, NaN and Inf among them; None for anything else."""
    if isinstance(given, bool) or given is None:
        return None
    try:
        return float(given) if isinstance(given, int | float | str) else None
    except (ValueError, OverflowError):
        held = (re.match(HELD, given) or re.match(PERCENT, given)) if isinstance(given, str) else None
        return number(held[1]) if held else None


def table_of(rows: Iterable[Row], remarks: list[Remark]) -> "pl.DataFrame":
    """The rows as columns of numbers, in the order in which their names came up: so many, and no more."""
    import polars as pl  # only who reads a log pays for it

    from tutor.run.apart import told_apart

    columns: dict[str, tuple[list[int], list[float]]] = {}  # rows, and their values
    said = _SetsSaid()
    count, dropped = 0, False
    for row in rows:
        before = count
        texts: list[tuple[str, str]] = []
        for name, given in row.items():
            value = given if type(given) is float else number(given)
            if value is None:
                if type(given) is str:
                    texts.append((name, given))
                continue
            if (column := columns.get(name)) is None:
                if len(columns) >= limits.COLUMNS:
                    dropped = True
                    continue
                column = columns[name] = ([], [])
            column[0].append(before)
            column[1].append(value)
            count = before + 1
        if count > before:
            said.add(before, texts)
    if dropped or len(columns) > most_columns(count):
        remarks.append(Remark("too_many", {"most": most_columns(count)}))
        columns = dict(islice(columns.items(), most_columns(count)))
    nothing = pl.repeat(None, count, dtype=pl.Float64, eager=True)
    frame = pl.DataFrame(
        {
            name: nothing.clone().scatter(pl.Series(places), pl.Series(values, dtype=pl.Float64))
            for name, (places, values) in columns.items()
        }
    )
    if not (told := said.columns(count, columns)):
        return frame
    return told_apart(frame.with_columns(told), remarks).drop([one.name for one in told], strict=False)


class _SetsSaid:
    """The texts of rows in which every word is one for a set of data, of a few columns at most."""

    def __init__(self) -> None:
        self._found: dict[str, dict[int, str]] = {}
        self._others: set[str] = set()

    def add(self, row: int, texts: Iterable[tuple[str, str]]) -> None:
        """Keep the texts that a row has, each under its name."""
        for name, text in texts:
            if name in self._others:
                continue
            if len(text) <= _LONGEST and names.set_of(text):
                self._found.setdefault(name, {})[row] = text
            elif text.strip():
                self._found.pop(name, None)
                if len(self._others) < limits.COLUMNS:
                    self._others.add(name)

    def columns(self, count: int, taken: Collection[str]) -> "list[pl.Series]":
        """Them as columns of so many rows."""
        import polars as pl  # only who reads a log pays for it

        unsaid = pl.repeat(None, count, dtype=pl.String, eager=True)
        return [
            unsaid.clone().scatter(pl.Series([*texts]), pl.Series([*texts.values()])).alias(name)
            for name, texts in self._found.items()
            if name not in taken and max(texts) < count
        ]


def most_columns(rows: int) -> int:
    """How many columns so many rows can have."""
    return min(limits.COLUMNS, max(limits.FEW_COLUMNS, limits.CELLS // max(1, rows)))


def _whole_numbers(frame: "pl.DataFrame") -> list["pl.Series"]:
    """Those of the columns that hold whole numbers alone, as such."""
    import polars as pl  # only who reads a log pays for it

    one = pl.all()
    whole = frame.select((one.is_finite() & (one == one.floor()) & (one.abs() < limits.STEP)).all())
    return [frame[name].cast(pl.Int64) for name in frame.columns if whole[name][0]]


def _whole(value: float) -> bool:
    return math.isfinite(value) and value == math.floor(value) and abs(value) < limits.STEP
