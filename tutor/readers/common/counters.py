"""How far a run was at each printed line, by what the lines count: epochs, steps, i/N of an epoch."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from tutor.readers.common.bars import FEW, few_bars, last_states
from tutor.readers.common.evaluated import in_one_row
from tutor.readers.common.roles import PLACE, counts_episodes, named, role
from tutor.run import Counts, names, scoring

if TYPE_CHECKING:
    import polars as pl

_PRINTED = {"lead": "[i/N]", "at": "[i/N]"}
_RESTARTED = 1 / 3  # of the epochs, at most: in so many steps may be counted anew as the run was restarted
_FAR_MORE = 3  # times as many headings as measured lines
_PAIR = 2  # rows of an epoch: of training and of held-out data
_SPREAD = 1.5  # rows below a heading, on average: with more, each row is a step of its own


@dataclass(frozen=True)
class Counted:
    """The rows of a run, and what their steps were counted by.

    Attributes:
        rows: those with a value, each with its `step`.
        by: the printed counters that make the step; none where the rows are numbered.
        counts: what a step is.
        states: whether the rows are states of progress bars, which show means since the bar began.
    """

    rows: "pl.DataFrame"
    by: tuple[str, ...]
    counts: Counts
    states: bool = False


def counted(rows: "pl.DataFrame") -> Counted:
    """The printed rows with their steps.

    A counter holds from its line on: a heading counts what is printed below it. Where one begins anew with
    each epoch, steps count on over the epochs. Of a progress bar's states the last one of its epoch is a row,
    unless there are so few bars that each state has to be one.
    """
    import polars as pl  # only who reads a log pays for it

    if rows.is_empty():
        return Counted(rows, (), "rows")
    missing = [name for name in PLACE if name not in rows.columns]
    rows = rows.with_columns(pl.lit(None).alias(name) for name in missing)  # of no type, they take no memory
    states = few_bars(rows)
    rows = rows if states is None else states
    rows = _evaluations(rows)
    values = [name for name in rows.columns if name not in PLACE and role(name) in (None, "loss")]
    measured = _any(rows, [name for name in values if role(name) == "loss"] or values)
    told = measured | _any(rows, [name for name in values if scoring.rises(name)])  # often on its own line
    per_epoch, per_step = _which_count(rows, measured)
    if by := [name for name in (per_epoch, per_step) if name]:
        told |= _any(rows, by) & _any(rows, values)  # a line may hold the rate alone
        rows = _where(rows.with_columns(pl.col(by).forward_fill()), told)
        rows = last_states(rows, rows[per_epoch].rle_id() if per_epoch else None)
    else:
        rows, per_epoch, per_step = _below_headings(rows, measured, told)
    rows, by = _stepped(rows, per_epoch, per_step)
    printed = tuple(_PRINTED.get(name, name) for name in by)
    return Counted(rows.drop(PLACE), printed, _counts(by, per_epoch), states is not None)


def _evaluations(rows: "pl.DataFrame") -> "pl.DataFrame":
    """The rows with each evaluation that was printed a batch at a time in one.

    Where most of its lines say their epoch, that is how far the run was.
    """
    losses = [name for name in rows.columns if role(name) == "loss"]
    held_out = [name for name in losses if names.says_held_out(name)]
    trained = [name for name in losses if name not in held_out]
    evaluated = _any(rows, held_out)
    if (evaluated & _any(rows, [*named(rows.columns, "per_epoch"), "lead"])).sum() > evaluated.sum() / 2:
        return rows
    return in_one_row(rows, trained, held_out, [*named(rows.columns, "per_step"), "at"])


def _which_count(rows: "pl.DataFrame", measured: "pl.Series") -> tuple[str | None, str | None]:
    """The column that counts epochs and the one that counts steps, on the measured lines themselves.

    Where steps alone are counted there, and not over the whole run, the epochs are those of the headings.
    """
    inline = _where(rows, measured)
    per_epoch = _most_logged(inline, [*named(rows.columns, "per_epoch"), "lead"])
    per_step = _step_counter(inline, per_epoch)
    if per_epoch and per_step:
        return per_epoch, None if _tells_lengths(inline, per_epoch, per_step) else per_step
    if per_epoch and _headed(rows.filter(~measured), per_epoch, inline[per_epoch].count()):
        return None, None  # a line at the end says which epoch was the best
    if per_step and (per_step == "at" or not _ascends(inline[per_step])):
        per_epoch = _most_logged(rows.filter(~measured), named(rows.columns, "per_epoch"))
    return per_epoch, per_step


def _tells_lengths(rows: "pl.DataFrame", per_epoch: str, per_step: str) -> bool:
    """Whether what seems to count steps says how many of them each episode took, or each epoch has."""
    took = counts_episodes(per_epoch) and not (rows[per_step].diff().drop_nulls() > 0).all()
    return took or _counts_twice(rows[per_epoch], rows[per_step])


def _stepped(
    rows: "pl.DataFrame", per_epoch: str | None, per_step: str | None
) -> tuple["pl.DataFrame", list[str]]:
    """The rows with their `step`, and the counters that make it; none where the rows are numbered."""
    if not (per_epoch or per_step):
        return _numbered(rows), []
    step, by = _step(rows, per_epoch, per_step)
    if by == [per_epoch] and ((step != step.floor()).any() or _stands(step) or _several(rows, step)):
        return _numbered(rows), []  # parts of epochs are no steps, nor is one count of many rows
    rows = rows.with_columns(step).drop_nulls("step")
    if not (rows["step"].diff().drop_nulls() > 0).all():  # some print each line twice
        rows = rows.unique(maintain_order=True)
    return rows, by


def _numbered(rows: "pl.DataFrame") -> "pl.DataFrame":
    """The rows, each with its place among them as its step."""
    import polars as pl  # only who reads a log pays for it

    return rows.with_columns(pl.int_range(len(rows), eager=True).alias("step"))


def _stands(step: "pl.Series") -> bool:
    """Whether the counter is the same in all rows."""
    return len(step) >= FEW and step.n_unique() == 1


def _several(rows: "pl.DataFrame", epoch: "pl.Series") -> bool:
    """Whether most epochs have several rows of training that differ, and nothing counts them.

    Two may be one of training and one of held-out data.
    """
    losses = [name for name in rows.columns if role(name) == "loss" and not names.says_held_out(name)]
    rows = rows.with_columns(epoch.rle_id().alias("step")).unique()
    trained = (rows["step"].filter(rows[name].is_not_null()) for name in losses)
    longest = max(trained, key=len, default=epoch.clear())
    return not longest.is_empty() and cast(float, longest.unique_counts().median()) > _PAIR


def _counts_twice(epoch: "pl.Series", within: "pl.Series") -> bool:
    """Whether steps are counted anew within an epoch, in more epochs than restarts of the run explain."""
    counted = within.is_not_null()
    epoch, within = epoch.filter(counted), within.filter(counted)
    again = ((within.diff() < 0) & (epoch.diff() == 0)).sum()
    return again > _RESTARTED * epoch.n_unique()


def _counts(by: Sequence[str], per_epoch: str | None) -> Counts:
    """What a step is, given the counters that make it."""
    if by and by != [per_epoch]:
        return "steps"
    return "epochs" if by == ["lead"] else names.counts(dict.fromkeys(by, "step"))


def _most_logged(rows: "pl.DataFrame", columns: Iterable[str]) -> str | None:
    """The column with the most values, of several the first; None where none has a value."""
    counts = {name: rows[name].count() for name in columns}
    most = max(counts, key=lambda name: counts[name], default=None)
    return most if most and counts[most] else None


def _headed(rows: "pl.DataFrame", per_epoch: str, said: int) -> bool:
    """Whether far more headings have a counter of epochs than measured lines, `said`, have `per_epoch`."""
    others = (rows[name].count() for name in named(rows.columns, "per_epoch") if name != per_epoch)
    return max(others, default=0) > _FAR_MORE * said


def _step_counter(rows: "pl.DataFrame", per_epoch: str | None) -> str | None:
    """The column that counts steps on these lines.

    The one with the most values; of several, the one with the most different values. So a counter of the
    whole run goes before one that begins anew with each epoch, and one that moves with every line before one
    that stands still for some, as steps of several micro-batches do. Where that one goes back, or there is
    none, it is `at` that counts, if half of the lines have it.
    """
    logged = {name: (rows[name].count(), rows[name].n_unique()) for name in named(rows.columns, "per_step")}
    found = max((name for name in logged if logged[name][0]), key=lambda name: logged[name], default=None)
    placed = rows["at"].count() >= len(rows) / 2 and not (per_epoch and (rows["at"] == rows[per_epoch]).all())
    placed &= per_epoch is not None or rows["at"].n_unique() > 1  # else each bar is shown at its end alone
    if found and (not placed or _ascends(rows[found])):
        return found
    return "at" if placed else found


def _ascends(column: "pl.Series") -> bool:
    return bool((column.drop_nulls().diff().fill_null(0) >= 0).all())


def _below_headings(
    rows: "pl.DataFrame", measured: "pl.Series", told: "pl.Series"
) -> tuple["pl.DataFrame", str | None, str | None]:
    """The rows with the heading each stands below, and which columns count epochs and steps there.

    No column does where the headings are too few: then there are several rows below each, and nothing counts
    them.

    What stands above the first heading belongs to the one before it. Where headings say where in its epoch
    the run is, as `[at/of]`, steps are counted by that, too.

    Args:
        rows: all that were printed, the headings among them.
        measured: which of them have a loss or, in a log without one, another value.
        told: these, and which have a score: they stay.
    """
    import polars as pl  # only who reads a log pays for it

    for kind in ("per_epoch", "per_step"):
        headings = rows.filter(~measured)
        heading = _most_logged(headings, named(rows.columns, kind))
        if heading is None:
            continue
        placed = kind == "per_epoch" and headings["at"].count() >= headings[heading].count()
        placed = placed and headings["at"].n_unique() > 1
        first = pl.col(heading).drop_nulls().first() - 1
        # A heading may say again what one above it said, as `Epoch 1/1` does in each of many fits.
        headed = (rows[heading].is_not_null() & ~measured).cum_sum().filter(told)
        filled = [pl.col(heading).forward_fill().fill_null(first)]
        filled += [pl.col("at", "of").forward_fill()] if placed else []
        below = rows.with_columns(filled).filter(told)
        below = last_states(below, headed)
        counts = [below[name].count() for name in below.columns if role(name) == "loss"]
        if max(counts, default=len(below)) <= _SPREAD * headed.n_unique():
            if kind == "per_step":
                return below, None, heading
            return below, heading, "at" if placed else None
    return last_states(rows.filter(measured), None), None, None


def _step(rows: "pl.DataFrame", per_epoch: str | None, per_step: str | None) -> tuple["pl.Series", list[str]]:
    """The steps, and the counters that make them."""
    if per_step is None or per_epoch is None:
        only = per_step or per_epoch or "at"
        return rows[only].alias("step"), [only]
    epoch, within = rows[per_epoch], rows[per_step]
    first, lowest, highest = (cast(float, one) for one in (epoch.min(), within.min(), within.max()))
    again = bool(((within.diff() < 0) & (epoch.diff() > 0)).any()) or lowest == highest
    if per_step != "at" and (not again or epoch.n_unique() == 1):
        return within.alias("step"), [per_step]
    length = highest + (lowest == 0)
    if per_step == "at" and rows["of"].drop_nulls().n_unique() == 1:
        length = cast(float, rows["of"].max())
    return ((epoch - (first != 0)) * length + within).alias("step"), [per_epoch, per_step]


def _where(rows: "pl.DataFrame", wanted: "pl.Series") -> "pl.DataFrame":
    """The wanted rows; where they are all, no copy is made: of a long log that would take its size again."""
    return rows if wanted.all() else rows.filter(wanted)


def _any(rows: "pl.DataFrame", columns: Collection[str]) -> "pl.Series":
    """Whether a row has a value in any of the columns."""
    import polars as pl  # only who reads a log pays for it

    found = pl.repeat(False, len(rows), eager=True)
    for name in columns:  # not by an expression: polars takes some names for patterns
        found |= rows[name].is_not_null()
    return found
