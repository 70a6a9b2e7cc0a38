"""pytorch-CycleGAN-and-pix2pix and its heirs: `(epoch: 1, iters: 400, time: 0.3, data: 5.2) G_GAN: 0.9 ...`.

Each row has the losses of one batch, weighted as they are trained on. What the generator is trained on is
their sum, but for those of the discriminators, whose names begin with D; where it is printed, it is called G.
Of the adversarial terms alone no loss is read. `iters` are images, from the beginning of each epoch.
Sources: util/visualizer.py (`print_current_losses`), models/cycle_gan_model.py (`backward_G`); CUT's the same
"""

from pathlib import Path
from typing import TYPE_CHECKING

from tutor.readers.common.lines import NUMBER, Line, Lines, TextLog, either, has
from tutor.readers.source import Source

if TYPE_CHECKING:
    import polars as pl

_COUNTED = r"\(epoch: (?P<epoch>[0-9]+), iters: (?P<iters>[0-9]+), time: [0-9.]+(?:, data: [0-9.]+)?\)"
_LOSS = rf"[ )](?P<name>[a-z][a-z0-9_]*): (?P<value>{NUMBER})"
_LINE = rf"{_COUNTED} +[a-z][a-z0-9_]*: {NUMBER}(?: |$)"
_ANY = either(_LINE)
_TOTAL = "g"
_ADVERSARIAL = {"g_gan", "g_a", "g_b"}
_NO_LOSS = ("epoch", "iters", "time", "data")


def _named(name: str) -> str | None:
    return None if name.lower() in _NO_LOSS else name.lower()


def _tidy(rows: "pl.DataFrame") -> "pl.DataFrame":
    """The rows with a step and the generator's loss."""
    import polars as pl  # only who reads a log pays for it

    names = [name for name in rows.columns if name not in _NO_LOSS]
    terms = [_TOTAL] if _TOTAL in names else [name for name in names if not name.startswith("d")]
    epoch, images = pl.col("epoch"), pl.col("iters")
    seldom = len(rows) > 1 and bool((rows["epoch"].diff().drop_nulls() > 0).all())
    rows = rows.with_columns(step=epoch if seldom else (epoch - 1) * images.max() + images)
    if {*terms} - _ADVERSARIAL:
        rows = rows.with_columns(loss=pl.sum_horizontal(terms, ignore_nulls=False))
    return rows.drop("iters")


_LINES = Lines((Line(_LINE, _LOSS, _named, sign="iters:"),), tidy=_tidy)


def sources(path: Path) -> list[Source]:
    """A file with such a line."""
    return [TextLog(path, "the log of pytorch-CycleGAN-and-pix2pix", _LINES)] if has(path, _ANY) else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
