"""Each set of data in a file or a folder of its own: one run.

`train_loss.csv` beside `val_loss.csv`; or the folders `train` and `validation` with an event file in each, as
Keras and two writers of PyTorch's leave them.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tutor.readers.common.groups import HELD_OUT, SETS, telling
from tutor.readers.source import Source
from tutor.run import BadRunError, Remark, Run

if TYPE_CHECKING:
    import polars as pl

_IN_TURN = ("train", "val", "eval", "dev", "holdout", "test")
"""The words for the sets, as `names.plainly` has them: the first held-out one gives the validation loss."""


@dataclass(frozen=True)
class BySet:
    """A run in a folder, with a file, or a folder, for each set of data.

    Attributes:
        path: the folder.
        trained: what was read of training.
        held_out: and of what was held out, by the word for its set.
    """

    path: Path
    trained: Source
    held_out: Sequence[tuple[str, Source]]

    @property
    def format(self) -> str:
        """That of its files, and their names."""
        beside = ", ".join(source.path.name for _, source in self.held_out)
        return f"{self.trained.format}: {self.trained.path.name} with {beside}"

    def describe(self, lang: str) -> str:
        """What the file of training says of the run."""
        return self.trained.describe(lang)

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole; where a set of what was held out can't be, a remark tells."""
        run = self.trained.read()
        for word, source in self.held_out:
            try:
                run = _beside(run, source.read(), word)
            except BadRunError as error:
                unread = Remark("set_unread", {"file": source.path.name, "why": str(error)}, unseen=True)
                run = replace(run, remarks=(*run.remarks, unread))
        return replace(run, path=self.path, name=self.path.resolve().name or run.name)


def _beside(run: Run, held_out: Run, word: str) -> Run:
    """The run with the numbers of a held-out set, by their steps.

    Those that count otherwise than the run, or not at all, are spread evenly over it, as a remark says.
    """
    numbers = [name for name in held_out.frame.columns if held_out.frame[name].dtype.is_numeric()]
    called = {name: name if HELD_OUT & {*telling(name)} else f"{word}_{name}" for name in numbers}
    rows = held_out.frame.select(numbers).rename(called | {"step": "step"})
    rows = rows.select("step", *(name for name in rows.columns if name not in run.frame.columns))
    remarks = [one for one in held_out.remarks if one not in run.remarks]
    if run.counts != held_out.counts or (run.counts == "rows" and len(run) != len(held_out)):
        key = "spread" if len(rows) <= len(run) else "longer"
        remarks.append(Remark(key, {"columns": ", ".join(rows.columns[1:])}))
        rows = rows[: len(rows) if key == "spread" else 0]
        rows = rows.with_columns(_evenly(run, len(rows)))
    told = {called[name]: how for name, how in held_out.aggregations.items() if name in called}
    return replace(
        run,
        frame=run.frame.join(rows, on="step", how="full", coalesce=True).sort("step"),
        remarks=(*run.remarks, *remarks),
        aggregations={**told, **run.aggregations},
        position=(run.position, held_out.position),
    )


def _evenly(run: Run, count: int) -> "pl.Series":
    """So many of the run's steps, as far apart as can be, up to the last one."""
    return run.steps.gather([(at + 1) * len(run) // count - 1 for at in range(count)])


def joined(found: list[Source]) -> list[Source]:
    """The runs, where what lies in a folder and is called alike but for the set of data is one.

    Only where a folder holds one such run, and is none itself.
    """
    folders = {source.path.parent for source in found} - {source.path for source in found}
    for folder in sorted(folders):
        inside = [source for source in found if source.path.parent == folder]
        runs = [run for alike in _alike(inside) if (run := _by_set(folder, alike))]
        if len(runs) == 1:
            (run,) = runs
            parts = {run.trained.path, *(source.path for _, source in run.held_out)}
            found = [run if one.path == run.trained.path else one for one in found]
            found = [one for one in found if one.path not in parts]
    return found


def _alike(inside: Iterable[Source]) -> Iterable[dict[str, Source]]:
    """What is called alike but for the set of data, by the word for it."""
    found: dict[tuple[object, ...], dict[str, Source]] = defaultdict(dict)
    for source in inside:
        words = telling(source.path.name.partition(".")[0])
        sets = [word for word in words if word in SETS]
        rest = tuple(word for word in words if word not in SETS)
        # A folder that says of no set what it is holds a run of its own.
        if len(sets) == 1 or (not sets and source.path.is_file()):
            found[(rest, source.format, source.path.suffix)].setdefault(
                sets[0] if sets else _IN_TURN[0], source
            )
    return found.values()


def _by_set(folder: Path, alike: dict[str, Source]) -> BySet | None:
    """The run that these files are; None where none is of training, or none of what was held out."""
    trained, *held_out = ((word, alike.get(word)) for word in _IN_TURN)
    there = [(word, source) for word, source in held_out if source]
    if trained[1] is None or not there:
        return None
    (_, validated), *others = there
    return BySet(folder, trained[1], [("val", validated), *others])
