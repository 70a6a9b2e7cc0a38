"""A document of JSON: a training's lists of numbers, or its rows, as loops of somebody's own dump them.

What a value stands for is each loop's own; where epochs are counted, its loss is taken for a mean over one.
Several runs in one document are `FILE/RUN-NAME` each. It is asked where no tool's own reader knows the file.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tutor.plainfile import MEGABYTE
from tutor.readers.common.document import LOSSES, Found, begins, look, tells_loss
from tutor.readers.common.groups import telling
from tutor.readers.common.guessed import in_words, renamed, unsaid
from tutor.readers.common.lists import ends_in_null
from tutor.readers.common.placing import Placed, held_out, placed
from tutor.readers.common.rows import Row, configured, number, run_of_frame, table_of
from tutor.readers.common.several import labels
from tutor.readers.common.trainers import WINDOW
from tutor.readers.common.wholejson import cut_off
from tutor.readers.jsonlines import first_row
from tutor.readers.source import Source
from tutor.run import BadRunError, Remark, Run, called, limits, names, vocabulary
from tutor.words import plain, quoted

_EPOCHS = ("epochs", "num_epochs", "n_epochs", "max_epochs", "num_train_epochs")
"""What settings call the number of epochs."""


@dataclass(frozen=True)
class Document:
    """A run in a document.

    Attributes:
        path: the file, where it holds one run; else the run's name as if the file were a folder.
        file: the document.
    """

    path: Path
    file: Path
    format: str = "a document of JSON"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """Its metrics say nothing of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole; of one that is cut short what is whole. Raises BadRunError."""
        looked = look(self.file)
        named = _named(self.file, looked.runs if looked else ())
        if looked is None or self.path not in named:
            raise BadRunError(f"{self.path} isn't there any more: the document was written anew")
        found, remarks = named[self.path], list[Remark]()
        rows = _in_rows(found, self.path, remarks) if found.objects else _by_place(found, self.path, remarks)
        table = table_of(rows, remarks)
        taken = unsaid(found.guessed, self.path, table.columns)
        if taken:
            remarks.append(Remark("guessed", {"taken": in_words(taken)}))
        table = renamed(table.rename(_plain(table.columns, self.path)), taken)
        epochs = names.counts(names.mapping(table.columns, self.path)) == "epochs"
        run = run_of_frame(
            table,
            self.path,
            name=self.path.stem if self.path == self.file else self.path.name,
            file=self.file,
            remarks=remarks,
            aggregations={"loss": WINDOW} if epochs else None,
            manifest=configured(found.settings.items()),
        )
        return cut_off(run) if looked.cut else run


def _in_rows(found: Found, path: Path, remarks: list[Remark]) -> Iterable[Row]:
    """The run's objects as rows; remarks tell what had to be assumed."""
    rows = [*found.rows()]
    columns = dict.fromkeys(name for row in rows for name in row)
    for loss in _trained(columns, path, found.guessed):
        having = [at for at, row in enumerate(rows) if loss in row]
        if nulls := ends_in_null([rows[at][loss] for at in having]):
            remarks.append(_nulls(loss, nulls))
            for at in having[-nulls:]:
                rows[at] = {**rows[at], loss: math.nan}
    return rows


def _trained(columns: Iterable[str], path: Path, guessed: Mapping[str, str]) -> list[str]:
    """The column of the training loss, if any: a null of validation says as a rule that none was made."""
    return [column for column, signal in _signals(columns, path, guessed).items() if signal == "loss"]


def _nulls(loss: str, count: int) -> Remark:
    return Remark("null_is_nan", {"column": quoted([loss]), "count": count})


def _by_place(found: Found, path: Path, remarks: list[Remark]) -> Iterable[Row]:
    """The run's lists as rows; remarks tell what had to be assumed."""
    given = dict(found.columns)
    for loss in _trained(given, path, found.guessed):
        values = given[loss].values
        if nulls := ends_in_null(values):
            remarks.append(_nulls(loss, nulls))
            given[loss] = replace(given[loss], values=[*values[:-nulls], *nulls * [math.nan]])
    signals = _signals(given, path, found.guessed)
    losses = [column for column, signal in signals.items() if signal in LOSSES]
    put = placed(given, losses, [*signals], found.short)
    if evenly := [name for name in put.evenly if name in signals]:
        remarks.append(Remark("spread", {"columns": quoted(evenly)}))
    if put.left_out:
        remarks.append(Remark("longer", {"columns": quoted(put.left_out)}))
    rows = [*put.rows]
    if put.counted or not _epochs(found, put, len(rows)):
        return rows
    remarks.append(Remark("taken_for_epochs"))
    return [{"epoch": epoch, **row} for epoch, row in enumerate(rows, 1)]


def _epochs(found: Found, put: Placed, count: int) -> bool:
    """Whether rows that nothing counts are epochs: held-out data is measured at each, or words say so."""
    named = (*found.way, *put.alike)
    said = {number(value) for name, value in found.settings.items() if name.rpartition(".")[2] in _EPOCHS}
    return (
        any(map(held_out, put.alike))
        or any("epoch" in names.plainly(name).replace("/", "_").split("_") for name in named)
        or count in said
    )


def _signals(columns: Iterable[str], path: Path, guessed: Mapping[str, str]) -> dict[str, str]:
    """The columns that are signals: as the user says, by their names, or as was guessed."""
    columns = [*columns]
    said = {column: signal for signal, column in called.names_for(path).items() if column in columns}
    plain = {names.plainly(name): name for name in reversed(columns) if name not in said}
    known = {plain[name]: signal for name, signal in names.known(plain).items()}
    taken = {column: signal for signal, column in unsaid(guessed, path, columns).items()}
    return {
        **{column: signal for column, signal in known.items() if signal not in said.values()},
        **taken,
        **said,
    }


def _plain(columns: Sequence[str], path: Path) -> dict[str, str]:
    """The columns that are known by their plain names alone, `losses` and `epochs`, with these."""
    own = names.mapping(columns, path)
    signals = _signals(columns, path, {})
    return {
        column: names.plainly(column)
        for column, signal in signals.items()
        if signal not in own.values() and column not in own and names.plainly(column) not in columns
    }


def _named(file: Path, runs: Sequence[Found]) -> dict[Path, Found]:
    """The runs by their paths: one is the file, of several each has for a name the keys that are its own."""
    if len(runs) == 1:
        return {file: runs[0]}
    alike = [len({*keys}) == 1 for keys in zip(*(run.way for run in runs), strict=False)]
    shared = [*alike, False].index(False)
    ways = ([key for key in run.way[shared:] if telling(key)] for run in runs)
    listed = list(labels((at, "-".join(way)) for at, way in enumerate(ways, 1)))
    return {file / label: run for (_, label), run in zip(listed, runs, strict=True)}


def sources(path: Path) -> list[Source]:
    """The runs of a document with a list of losses in it, or the one that the path names."""
    file = path if path.is_file() else path.parent
    looked = look(file)
    named = _named(file, looked.runs) if looked else {}
    return [Document(one, file) for one in named if path in (file, one)]


def lacks(path: Path) -> str | None:
    """A document with lists of which the user has to say what they are, or of which nothing can be read."""
    if not path.is_file() or not begins(path):
        return None
    if path.stat().st_size > limits.DOCUMENT and first_row(path) is None:
        most = f"{limits.DOCUMENT / MEGABYTE:g} MB"
        return f"as one document of JSON it is larger than {most}: log a row a line, or a CSV"
    looked = look(path)
    if looked is None or looked.runs:
        return None
    if looked.broken:
        return "it is no whole JSON: was it cut?" if tells_loss(path) else None
    if not looked.lists:
        return "as a document of JSON it has no row with numbers" if tells_loss(path) else None
    first = next((name for name in looked.lists if "train" in names.plainly(name)), looked.lists[0])
    return (
        f"as a document of JSON it needs a list of losses ({', '.join(vocabulary.KNOWN['loss'][:3])}); "
        f"it has {quoted(looked.lists)}: where one is the loss, say so with --map loss={plain(first)}"
    )
