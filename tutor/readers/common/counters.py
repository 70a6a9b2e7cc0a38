"""How far a run was at each printed line, by what the lines count: epochs, steps, i/N of an epoch."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, cast

from tutor.readers.common.evaluated import in_one_row
from tutor.readers.common.guessed import PERPLEXITY
from tutor.run import Counts, names, scoring

if TYPE_CHECKING:
    import polars as pl

Role = Literal["loss", "per_step", "per_epoch"]
"""What a printed column holds: a loss, or a counter that goes on with each step, as `iter` does, or with each
epoch or what takes its place, as `round` does."""

PLACE = ("lead", "at", "of", "bar")
"""Columns that say where in the run a line stands: `[lead/..][at/of]`, and the batch of a progress bar."""

_PER_EPOCH = (
    *("epoch", "ep", "epochs", "episode", "episodes"),
    *("round", "rounds", "cycle", "cycles", "generation", "generations"),
)
_EPISODES = {"episode", "episodes"}
_PER_STEP = (
    *("step", "steps", "iter", "iteration", "it", "iters", "iterations", "updates", "update"),
    *("batch", "batches", "minibatch", "timestep", "timesteps"),
)
"""Words for counters, as those above; first come those that most often count over the whole run."""
_WHOLE = {"global", "total", "num"}  # what stands before a counter of the whole run
# With these a name is that of a setting or a result: `max steps`, `best epoch`, `time per step`.
_NO_COUNTER = {
    "best",
    "max",
    "last",
    "per",
    "warmup",
    "every",
    "start",
    "accumulation",
    "time",
    "size",
    "log",
}
_LOSS = {"loss", "losses", "xent", "crossentropy", "nll", "ce", "bce", *PERPLEXITY}
_IN_TWO_WORDS = {"cross", "entropy"}
_OF_A_KIND = re.compile(r"[a-z]{1,2}loss")  # `closs`, `gloss`
_NO_LOSS = {"scale", "scaler", "weight", "weights", "coef", "improvement", "fn"}
_PRINTED = {"lead": "[i/N]", "at": "[i/N]"}
_BARS = 2  # below a heading that are looked at: of training, then of held-out data
_FEW = 5  # rows that most questions need: with fewer bars, each of their states is a row
_RESTARTED = 1 / 3  # of the epochs, at most: in so many steps may be counted anew as the run was restarted
_FAR_MORE = 3  # times as many headings as measured lines
_PAIR = 2  # rows of an epoch: of training and of held-out data
_SPREAD = 1.5  # rows below a heading, on average: with more, each row is a step of its own


@lru_cache(maxsize=4096)
def role(name: str) -> Role | None:
    """What a printed name counts or measures, as far as the word tells."""
    words = _words(name)
    parts = {part for word in words for part in word.split("/")}  # `train/loss`
    if _LOSS & parts or parts >= _IN_TWO_WORDS or any(map(_OF_A_KIND.fullmatch, parts)):
        return None if _NO_LOSS & parts else "loss"
    if not words or "/" in name or _NO_COUNTER & set(words):
        return None
    if words[-1] in _PER_EPOCH:
        return "per_epoch"
    return "per_step" if words[-1] in _PER_STEP else None


def _words(name: str) -> list[str]:
    return [word for word in names.spelled(name).split("_") if word]


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
    states = _few_bars(rows)
    rows = rows if states is None else states
    rows = _evaluations(rows)
    values = [name for name in rows.columns if name not in PLACE and role(name) in (None, "loss")]
    measured = _any(rows, [name for name in values if role(name) == "loss"] or values)
    told = measured | _any(rows, [name for name in values if scoring.rises(name)])  # often on its own line
    per_epoch, per_step = _which_count(rows, measured)
    if by := [name for name in (per_epoch, per_step) if name]:
        told |= _any(rows, by) & _any(rows, values)  # a line may hold the rate alone
        rows = _where(rows.with_columns(pl.col(by).forward_fill()), told)
        rows = _last_states(rows, rows[per_epoch].rle_id() if per_epoch else None)
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
    if (evaluated & _any(rows, [*_named(rows, "per_epoch"), "lead"])).sum() > evaluated.sum() / 2:
        return rows
    return in_one_row(rows, trained, held_out, [*_named(rows, "per_step"), "at"])


def _which_count(rows: "pl.DataFrame", measured: "pl.Series") -> tuple[str | None, str | None]:
    """The column that counts epochs and the one that counts steps, on the measured lines themselves.

    Where steps alone are counted there, and not over the whole run, the epochs are those of the headings.
    """
    inline = _where(rows, measured)
    per_epoch = _most_logged(inline, [*_named(rows, "per_epoch"), "lead"])
    per_step = _step_counter(inline, per_epoch)
    if per_epoch and per_step:
        return per_epoch, None if _tells_lengths(inline, per_epoch, per_step) else per_step
    if per_epoch and _headed(rows.filter(~measured), per_epoch, inline[per_epoch].count()):
        return None, None  # a line at the end says which epoch was the best
    if per_step and (per_step == "at" or not _ascends(inline[per_step])):
        per_epoch = _most_logged(rows.filter(~measured), _named(rows, "per_epoch"))
    return per_epoch, per_step


def _tells_lengths(rows: "pl.DataFrame", per_epoch: str, per_step: str) -> bool:
    """Whether what seems to count steps says how many of them each episode took, or each epoch has."""
    took = _words(per_epoch)[-1] in _EPISODES and not (rows[per_step].diff().drop_nulls() > 0).all()
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
    return len(step) >= _FEW and step.n_unique() == 1


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


def _named(rows: "pl.DataFrame", kind: Role) -> list[str]:
    """The counters of that kind, first those that most likely count over the whole run."""
    words = _PER_EPOCH if kind == "per_epoch" else _PER_STEP

    def rank(name: str) -> tuple[bool, int]:
        given = _words(name)
        return not _WHOLE & set(given), words.index(given[-1])

    return sorted((name for name in rows.columns if name not in PLACE and role(name) == kind), key=rank)


def _most_logged(rows: "pl.DataFrame", columns: Iterable[str]) -> str | None:
    """The column with the most values, of several the first; None where none has a value."""
    counts = {name: rows[name].count() for name in columns}
    most = max(counts, key=lambda name: counts[name], default=None)
    return most if most and counts[most] else None


def _headed(rows: "pl.DataFrame", per_epoch: str, said: int) -> bool:
    """Whether far more headings have a counter of epochs than measured lines, `said`, have `per_epoch`."""
    others = (rows[name].count() for name in _named(rows, "per_epoch") if name != per_epoch)
    return max(others, default=0) > _FAR_MORE * said


def _step_counter(rows: "pl.DataFrame", per_epoch: str | None) -> str | None:
    """The column that counts steps on these lines.

    The one with the most values; of several, the one with the most different values. So a counter of the
    whole run goes before one that begins anew with each epoch, and one that moves with every line before one
    that stands still for some, as steps of several micro-batches do. Where that one goes back, or there is
    none, it is `at` that counts, if half of the lines have it.
    """
    logged = {name: (rows[name].count(), rows[name].n_unique()) for name in _named(rows, "per_step")}
    found = max((name for name in logged if logged[name][0]), key=lambda name: logged[name], default=None)
    placed = rows["at"].count() >= len(rows) / 2 and not (per_epoch and (rows["at"] == rows[per_epoch]).all())
    placed &= per_epoch is not None or rows["at"].n_unique() > 1  # else each bar is shown at its end alone
    if found and (not placed or _ascends(rows[found])):
        return found
    return "at" if placed else found


def _ascends(column: "pl.Series") -> bool:
    return bool((column.drop_nulls().diff().fill_null(0) >= 0).all())


def _begun(bar: "pl.Series") -> "pl.Series":
    """Whether a progress bar begins at a row."""
    return (bar < bar.shift()).fill_null(False)


def _changes(column: "pl.Series") -> "pl.Series":
    """Whether a value differs from the one before it."""
    return (column != column.shift()).fill_null(False)


def _few_bars(rows: "pl.DataFrame") -> "pl.DataFrame | None":
    """The rows, each state of a progress bar among them, at its batch; None where the bars are rows enough.

    Only bars of the first one's length stay: others go over other data.
    """
    import polars as pl  # only who reads a log pays for it

    shown = rows["bar"].is_not_null()
    begun = ~shown.shift(fill_value=False) | _begun(rows["bar"])
    states, bars = int(shown.sum()), int((shown & begun).sum())
    if not bars < _FEW <= states or states == bars:
        return None
    rows = rows.filter(~shown | (rows["of"] == rows["of"].filter(shown)[0]).fill_null(False))
    return rows.with_columns(pl.coalesce("at", "bar").alias("at"), pl.lit(None).alias("bar"))


def _last_states(rows: "pl.DataFrame", headed: "pl.Series | None") -> "pl.DataFrame":
    """The rows, but of a progress bar's states only the last, and of the bars below a heading only two.

    The second of these, which has no heading of its own, is that of Keras's `evaluate`: its loss is that of
    held-out data. `headed` numbers the heading above each row; without headings (None) all bars stay.
    """
    import polars as pl  # only who reads a log pays for it

    if not rows["bar"].count():
        return rows
    bar, no_bar = rows["bar"], rows["bar"].is_null()
    begun = _begun(bar)
    if headed is None:
        return rows.filter(begun.shift(-1).fill_null(True) | no_bar)
    bars = pl.DataFrame({"headed": headed, "bar": (begun | _changes(rows["of"])).cum_sum()})
    later = bars.select(pl.col("bar") - pl.col("bar").first().over("headed")).to_series()
    shown = bars.with_row_index("row").filter(~no_bar)  # what is printed in between belongs to no bar
    ends = (_changes(shown["bar"]) | _changes(shown["headed"])).shift(-1, fill_value=True)
    last = pl.repeat(False, rows.height, dtype=pl.Boolean, eager=True).scatter(
        shown["row"].filter(ends), True
    )
    kept = ((later < _BARS) & last) | no_bar
    return _as_held_out(rows, (later > 0) & ~no_bar).filter(kept)


def _as_held_out(rows: "pl.DataFrame", where: "pl.Series") -> "pl.DataFrame":
    """The rows, with the losses at `where` as held-out ones, which are dropped if the log names such."""
    import polars as pl  # only who reads a log pays for it

    if not where.any():
        return rows
    losses = [name for name in rows.columns if role(name) == "loss"]
    named = "val_loss" in names.known(losses).values()
    for name in losses:
        value = rows[name]
        rows = rows.with_columns(pl.when(where).then(None).otherwise(value).alias(name))
        if not named:
            rows = rows.with_columns(pl.when(where).then(value).otherwise(None).alias(f"val {name}"))
    return rows


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
        heading = _most_logged(headings, _named(rows, kind))
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
        below = _last_states(below, headed)
        counts = [below[name].count() for name in below.columns if role(name) == "loss"]
        if max(counts, default=len(below)) <= _SPREAD * headed.n_unique():
            if kind == "per_step":
                return below, None, heading
            return below, heading, "at" if placed else None
    return _last_states(rows.filter(measured), None), None, None


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
