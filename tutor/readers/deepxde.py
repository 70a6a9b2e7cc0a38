"""DeepXDE's `loss.dat`: below `# step, loss_train, loss_test, metrics_test` a number for each term.

Each loss is one number for each term of the equation, its boundary and its data; their sum is the objective.
The file doesn't say where the terms of training end: those of the test are as many, and a metric may follow.
A test may leave the terms of the boundary at 0. The sum of the others is another objective than that of
training, and may well rise at first while the boundary is learned.
Source: deepxde/utils/external.py (`save_loss_history`), deepxde/data/pde.py (`losses_test`)
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tutor import packed
from tutor.readers.common.rows import Row, number, run_of
from tutor.readers.source import Source, first_line
from tutor.run import Remark, Run, called, limits
from tutor.words import quoted

_HEADING = ["step", "loss_train", "loss_test", "metrics_test"]


@dataclass(frozen=True)
class LossHistory:
    """A run in such a file."""

    path: Path
    format: str = "DeepXDE's loss.dat"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """Its losses say nothing of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole; of a step that is there twice, as where training goes on, the last."""
        lines = packed.read(self.path, limits.PACKED)[0].decode("utf-8", "replace").splitlines()
        rows = list(_rows(lines[1:]))
        said = called.names_for(self.path)
        remarks: list[Remark] = []
        for signal, kind in (("loss", "train"), ("val_loss", "test")):
            terms = [name for name in (rows[0] if rows else {}) if name.startswith(kind)]
            if signal in said:
                continue
            if signal == "val_loss" and (untested := _untested(rows)):
                remarks.append(Remark("untested", {"columns": quoted(untested)}))
                rows = [{name: value for name, value in row.items() if name != signal} for row in rows]
            elif len(terms) > 1:
                remarks.append(Remark("summed", {"signal": signal, "columns": quoted(terms)}))
        rows = [{name: value for name, value in row.items() if name not in said} for row in rows]
        return run_of(rows, self.path, name=self.path.name, remarks=remarks)


def _untested(rows: Sequence[Row]) -> list[str]:
    """The terms of the test that are 0 at every row, though those of training aren't."""
    terms = [name for name in (rows[0] if rows else {}) if name.startswith("test")]
    return [
        name
        for name in terms
        if not any(row[name] for row in rows)
        and any(row[f"train{name.removeprefix('test')}"] for row in rows)
    ]


def _rows(lines: list[str]) -> Iterator[Row]:
    """A row for each line of as many numbers as the first has: the sums, and each term."""
    width = 0
    for line in lines:
        given = [value for cell in line.split() if (value := number(cell)) is not None]
        width = width or len(given)
        count = (width - 1) // 2
        if count < 1 or len(given) != width:
            continue
        train, test = given[1 : 1 + count], given[1 + count : 1 + 2 * count]
        terms = {
            f"{kind} {place}": value
            for kind, values in (("train", train), ("test", test))
            for place, value in enumerate(values, 1)
        }
        yield {"step": given[0], "loss": sum(train), "val_loss": sum(test), **terms}


def knows(named: Sequence[str]) -> bool:
    """Whether the names of a CSV's columns are those of this file, whose values blanks part."""
    return list(named) == _HEADING


def sources(path: Path) -> list[Source]:
    """A file with that heading."""
    heading = first_line(path).strip() if path.is_file() else b""
    return [LossHistory(path)] if heading == b"# " + ", ".join(_HEADING).encode() else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
