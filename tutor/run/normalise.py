"""Any log's columns as those of a run: what every reader does once it has a table.

frame, remarks = normalise(frame, {"global_step": "step", "train_loss": "loss"}, path)
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl

from tutor import signals
from tutor.run import limits
from tutor.run.blanks import LEAST
from tutor.run.carried import nan_between, once_each
from tutor.run.first_loss import begins_unmeasured, divided_at_first
from tutor.run.names import (
    HEADINGS,
    counts,
    is_counter,
    keeps_books,
    other_losses,
    rivals,
    says_held_out,
)
from tutor.run.other_data import other_data_from
from tutor.run.remark import Remark
from tutor.run.run import Aggregation, BadRunError
from tutor.run.scoring import is_reward, means_of_rewards, rises
from tutor.run.starts import counted_on, starts
from tutor.run.summed import added
from tutor.run.vocabulary import KNOWN

_RESUMED = 100  # a log that goes back more often wasn't resumed: it has several writers, or was shuffled
_NAMED = 8  # columns named in a remark

TYPES: Mapping[signals.Kind, pl.DataType] = {
    "number": pl.Float64(),
    "flag": pl.Boolean(),
    "text": pl.String(),
    "numbers": pl.List(pl.Float64),
    "texts": pl.List(pl.String),
}
"""The column that holds each kind of signal."""


def normalise(
    frame: pl.DataFrame, mapping: Mapping[str, str], source: Path
) -> tuple[pl.DataFrame, list[Remark]]:
    """The log's table as a run's: ascending whole steps, one row each, every column of its signal's kind.

    Args:
        frame: a row for each that was logged, in that order.
        mapping: the log's names of columns, to tutor's; those that aren't in it keep their own.
        source: the log, to be named when it can't be used.

    Raises:
        BadRunError: no row has a whole number as its step.
    """
    typed, remarks = _as_signals(frame, mapping, source)
    return _finished(typed, remarks)


def normalise_each(
    frame: pl.DataFrame, mapping: Mapping[str, str], source: Path
) -> list[tuple[pl.DataFrame, list[Remark]]]:
    """As `normalise`, of each run in the log, in the order in which they were logged; at least one.

    A run whose counter began again on the way has steps that go on.

    Raises:
        BadRunError: no row has a whole number as its step.
    """
    typed, shared = _as_signals(frame, mapping, source)
    found: list[tuple[pl.DataFrame, list[Remark]]] = []
    for part in starts(typed, by_epochs=counts(mapping) == "epochs"):
        whole, times = counted_on(part)
        more = [Remark("counted_on", {"count": times})] if times else []
        found.append(_finished(whole, [*shared, *more]))
    return found


def _as_signals(
    frame: pl.DataFrame, mapping: Mapping[str, str], source: Path
) -> tuple[pl.DataFrame, list[Remark]]:
    """The rows that have a step, in the order in which they were logged, by tutor's names and kinds."""
    given = frame.columns
    frame = frame.rename({old: new for old, new in mapping.items() if old in frame.columns and old != new})
    frame = frame.rename(means_of_rewards(frame.columns, lossless="loss" not in frame.columns))
    remarks: list[Remark] = []
    frame = _with_steps(frame, source, remarks)
    typed = {name: _typed(frame[name]) for name in frame.columns if name != "step"}
    columns = {name: column for name, column in typed.items() if column is not None}
    odd = [
        name
        for name, column in columns.items()
        if _lost(frame[name], column) and (signals.find(name) or column.count())
    ]  # a column of none of ours and without a number, as of dates, holds texts: nothing is lost
    if odd:
        remarks.append(odd_values(odd))
    of_numbers = {name for name, column in columns.items() if column.dtype == pl.Float64()}
    if others := [name for name in rivals(given, mapping, source) if name in of_numbers]:
        taken = next(column for column, signal in mapping.items() if signal == "loss")
        columns, remark = _one_of_rivals(columns, taken, others)
        remarks.append(remark)
    elif "loss" not in columns or not _ends_broken(columns["loss"]):
        parts = [name for name in other_losses(given, mapping) if name in of_numbers]
        if broken := [name for name in parts if _ends_broken(columns[name])]:
            remarks.append(Remark("part_broken", {"columns": names(broken)}, unseen=True))
    return pl.DataFrame([frame["step"], *columns.values()]), remarks


def _one_of_rivals(
    columns: dict[str, pl.Series], taken: str, others: list[str]
) -> tuple[dict[str, pl.Series], Remark]:
    """The columns, with the one of several losses that counts as `loss`, and a remark that tells of the rest.

    Args:
        columns: by name, the one taken at first as `loss`.
        taken: what the log calls that one.
        others: those that may be the loss as well.
    """
    about = {"column": f"`{taken}`", "others": names(others)}
    broken = [name for name in others if not columns[name].is_finite().all()]
    ended = next((name for name in broken if _ends_broken(columns[name])), None)
    loss = columns.get("loss")
    if ended and loss is not None and loss.is_finite().any() and not _ends_broken(loss):
        # The run minimises a sum of them, which isn't finite either.
        swapped = {**columns, taken: loss.alias(taken), "loss": columns[ended].alias("loss")}
        left = [taken, *(name for name in others if name != ended)]
        remark = Remark("ends_broken", {"column": f"`{ended}`", "others": names(left)})
        return {name: one for name, one in swapped.items() if name != ended}, remark
    if broken:
        return columns, Remark("broken_loss", about | {"broken": names(broken)}, unseen=True)
    return columns, Remark("one_loss", about)


def _ends_broken(column: pl.Series) -> bool:
    """Whether a loss ends in NaN or Inf, in as many rows as say that blanks are.

    One that never was a number may stand for a part that is turned off.
    """
    finite = column.drop_nulls().is_finite()
    return finite.any() and not finite[-LEAST:].any() and len(finite) > LEAST


def _finished(typed: pl.DataFrame, remarks: list[Remark]) -> tuple[pl.DataFrame, list[Remark]]:
    """One run's table, a row for each step; each column that isn't what its name says is mended or told."""
    typed = _ascending(typed.drop(HEADINGS, strict=False), remarks)
    if carried := once_each(typed):
        typed = typed.with_columns(carried.values())
        remarks.append(Remark("carried", {"columns": names([*carried])}))
    if unmeasured := nan_between(typed):
        typed = typed.with_columns(unmeasured.values())
        remarks.append(Remark("nan_between", {"columns": names([*unmeasured])}))
    if "loss" in typed.columns and begins_unmeasured(typed["loss"]):
        typed = typed.with_columns(typed["loss"].set(typed["step"] == typed["step"][0], None))
        remarks.append(Remark("first_zero"))
    elif "loss" in typed.columns and (divided := divided_at_first(typed)):
        typed = typed.with_columns(typed["loss"].set(typed["step"] == divided[0], None))
        remarks.append(Remark("first_divided", {"times": divided[1]}))
    if "loss" in typed.columns and (each := added(typed["loss"])) is not None:
        typed = typed.with_columns(each.alias("loss"))
        remarks.append(Remark("running_sum"))
    if (anew := other_data_from(typed)) is not None:
        remarks.append(Remark("other_data", {"step": int(typed["step"][anew])}))
    if "loss" not in typed.columns or not typed["loss"].is_not_null().any():
        remarks.append(_without_loss(typed))
    return typed.rechunk(), remarks  # polars reads a long log in pieces; over one, statistics are fast


def _without_loss(typed: pl.DataFrame) -> Remark:
    """The remark that a run has no loss, and what it has in its place."""
    values = [column.name for column in typed if column.is_not_null().any()]
    others = [
        name for name in values if not (signals.find(name) or name in KNOWN["step"] or is_counter(name))
    ]
    losses = [name for name in others if not (rises(name) or keeps_books(name) or says_held_out(name))]
    if losses:
        return Remark("no_loss", {"columns": names(losses)})
    if "val_loss" in values:
        return Remark("only_held_out")
    if scores := [name for name in others if rises(name)]:
        return Remark("scores_alone", {"columns": names(scores)})
    return Remark("loss_unlogged")


def odd_values(columns: list[str]) -> Remark:
    """The remark that some values of these columns don't fit and are passed over."""
    return Remark("odd_values", {"columns": names(columns)}, unseen="loss" in columns)


def hidden(aggregations: Mapping[str, Aggregation]) -> Iterator[Remark]:
    """What can't be seen in signals that aren't the value of their step."""
    averaged = [name for name, one in aggregations.items() if one.over == "running"]
    silent = [name for name, one in aggregations.items() if not one.shows_nan]
    if averaged:
        yield Remark("averaged", {"columns": averaged})
    if silent:
        yield Remark("nan_hidden", {"columns": silent})


def revealed(
    rows: pl.DataFrame, aggregations: Mapping[str, Aggregation]
) -> tuple[pl.DataFrame, Mapping[str, Aggregation], list[Remark]]:
    """The rows with NaN where a trainer that hides it wrote a loss of exactly 0, and that it shows then.

    The gradient norm tells where: it isn't finite there, and the loss is 0 nowhere else. Of a run that is
    after a reward the loss may be 0 by itself.
    """
    hides = "loss" in aggregations and not aggregations["loss"].shows_nan
    if not hides or not {"loss", "grad_norm"} <= {*rows.columns} or any(map(is_reward, rows.columns)):
        return rows, aggregations, []
    zero, finite = rows["loss"] == 0, rows["grad_norm"].is_finite()
    nan = (zero & ~finite).fill_null(False)
    if not nan.any() or (zero & finite).any():
        return rows, aggregations, []
    loss = rows["loss"].zip_with(~nan, pl.repeat(math.nan, len(nan), eager=True))
    shown = {**aggregations, "loss": replace(aggregations["loss"], shows_nan=True)}
    return rows.with_columns(loss=loss), shown, [Remark("nan_as_zero", {"count": int(nan.sum())})]


def names(columns: list[str]) -> str:
    """The names of the columns, as many as fit a line."""
    named = [f"`{name}`" for name in columns if name != "step"] or ["–"]
    return ", ".join(named[:_NAMED]) + (" ..." if len(named) > _NAMED else "")


def _with_steps(frame: pl.DataFrame, source: Path, remarks: list[Remark]) -> pl.DataFrame:
    """The rows whose step is known, as whole numbers; a remark says how many had none.

    Trainers log evaluation in a row of its own, some without a step: such a row, which has no training loss,
    is of the step before.
    """
    if "step" not in frame.columns:
        remarks.append(Remark("no_steps", {"columns": names(frame.columns)}))
        return frame.with_row_index("step").cast({"step": pl.Int64})
    given = frame["step"]
    if not (given.dtype.is_numeric() or given.dtype == pl.String):
        raise _no_steps(source)
    counted = given.str.strip_chars().cast(pl.Float64, strict=False) if given.dtype == pl.String else given
    if counted.dtype.is_float() and (counted != counted.floor()).any():
        remarks.append(Remark("broken_steps"))
    whole = pl.when(pl.col("whole").is_between(0, limits.STEP)).then("whole")
    own = pl.DataFrame({"given": given, "whole": counted.cast(pl.Int64, strict=False)}).select("given", whole)
    if not len(own):
        raise BadRunError(f"{source} has no row below its heading: nothing was logged yet")
    if own["whole"].null_count() == len(own):
        raise _no_steps(source)
    blank = given.is_null() if given.dtype.is_numeric() else given.fill_null("").str.strip_chars() == ""
    if "loss" in frame.columns:
        blank &= frame["loss"].is_null()
    steps = own.select(pl.when(blank).then(pl.col("whole").forward_fill()).otherwise("whole")).to_series()
    if count := steps.null_count():
        lost = frame.filter(steps.is_null())
        unseen = any(lost[name].is_not_null().any() for name in lost.columns if signals.find(name))
        first = int(steps.is_null().arg_true()[0]) + 1
        remarks.append(Remark("lost_steps", {"count": count, "first": first}, unseen=unseen))
    return frame.with_columns(steps.alias("step")).drop_nulls("step")


def _no_steps(source: Path) -> BadRunError:
    return BadRunError(f"{source}: no row has a whole number from 0 on as its step")


def _ascending(frame: pl.DataFrame, remarks: list[Remark]) -> pl.DataFrame:
    """The rows in the order of their steps, one for each.

    A run that was resumed goes back to a step that it had logged: what it had logged from there on is of
    the branch that it gave up. Rows of one step are one, the later value of each column over the earlier,
    which is worth a remark where they differ: trainers log evaluation in a row of its own.
    """
    steps = frame["step"]
    change = steps.diff().fill_null(1)
    if (change > 0).all():
        return frame
    backwards = change < 0
    keep = pl.repeat(True, frame.height, eager=True)
    rows = pl.int_range(frame.height, eager=True)
    back_at = backwards.arg_true()
    resumed_at: list[int] = []
    if len(back_at) <= _RESUMED:
        for row in back_at:
            if (steps[:row] == steps[row]).any():
                keep &= (rows >= row) | (steps < steps[row])
                resumed_at.append(int(steps[row]))
    if given_up := frame.height - int(keep.sum()):
        remarks.append(Remark("resumed", {"count": given_up, "steps": resumed_at}))
        frame = frame.filter(keep)
    elif backwards.any():
        remarks.append(Remark("backwards"))
    if frame["step"].n_unique() < frame.height:
        ours = [name for name in frame.columns if name != "step" and signals.find(name)]
        values = frame.group_by("step").agg(pl.col(ours).drop_nulls().n_unique())
        if any((values[name] > 1).any() for name in ours):
            remarks.append(Remark("repeated"))
        latest = pl.exclude("step").drop_nulls().last()
        return frame.group_by("step", maintain_order=True).agg(latest).sort("step")
    return frame.sort("step")


ABSENT = ("", "na", "n/a", "none", "null", "-")
"""What tools write where nothing was logged, in lower case."""


def _lost(given: pl.Series, typed: pl.Series) -> bool:
    """Whether a value was given that the column's type has no place for."""
    if given.dtype == typed.dtype:
        return False
    lost = given.filter(given.is_not_null() & typed.is_null())
    if given.dtype == pl.String:
        lost = lost.filter(~lost.str.strip_chars().str.to_lowercase().is_in(ABSENT))
    return len(lost) > 0


def _typed(column: pl.Series) -> pl.Series | None:
    """The column in the type that its signal's kind calls for, or None where it can't be.

    Numbers that came as text ("NaN") are numbers again; text that is no number becomes null.
    """
    wanted = TYPES[signals.kind_of(column.name)]
    if column.dtype == wanted:
        return column
    if isinstance(column.dtype, pl.Struct) or isinstance(column.dtype, pl.List) != isinstance(
        wanted, pl.List
    ):
        return None
    try:
        return column.cast(wanted, strict=False)
    except pl.exceptions.PolarsError:
        return None
