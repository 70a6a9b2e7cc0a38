"""pytorch-CycleGAN-and-pix2pix and its heirs: `(epoch: 1, iters: 400, time: 0.3, data: 5.2) G_GAN: 0.9 ...`.

Each row has the losses of one batch, weighted as they are trained on. What the generator is trained on is
the sum of its terms (`G_...`, cycle, identity, NCE), or what is printed as its total or as the loss. Of the
adversarial terms alone no loss is read. `iters` are images, mostly from the beginning of each epoch.
Sources: util/visualizer.py (`print_current_losses`), models/cycle_gan_model.py (`backward_G`); CUT's the same
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tutor.readers.common.lines import NUMBER, Line, Lines, either, has
from tutor.readers.common.textlog import TextLog
from tutor.readers.source import Source

if TYPE_CHECKING:
    import polars as pl

_COUNTED = (
    r"^\s*(?:\[rank [0-9]+\]\s*)?\(epoch: (?P<epoch>[0-9]+), iters: (?P<iters>[0-9]+), time: [0-9.]+"
    r"(?:, data: [0-9.]+)?(?:, lr: [-+.e0-9]+)?\)"
)
_PAIR = rf"[a-z][a-z0-9_]*: {NUMBER}"
_LOSS = rf"[ ),](?P<name>[a-z][a-z0-9_]*): (?P<value>{NUMBER})"
_LINE = rf"{_COUNTED}[ ,]+(?:{_PAIR}[ ,]+)*?(?:g_[a-z0-9_]+|g|cycle_[ab]|nce): {NUMBER}(?:[ ,]|$)"
_ANY = either(_LINE)
_COUNTERS = ("epoch", "iters", "time", "data", "step", "iter", "lr")
_TOTALS = ("loss", "total", "g_total", "loss_g", "g")
_TERM = re.compile(r"(g|cycle|idt|nce)(_|$)")
_ADVERSARIAL = re.compile(r"g(_gan|_adv|_a|_b)?")


def _named(name: str) -> str | None:
    return None if name.lower() in _COUNTERS else name.lower()


def _tidy(rows: "pl.DataFrame") -> "pl.DataFrame":
    """The rows with a step and the generator's loss."""
    import polars as pl  # only who reads a log pays for it

    epoch, images = pl.col("epoch"), pl.col("iters")
    seldom = len(rows) > 1 and bool((rows["epoch"].diff().drop_nulls() > 0).all())
    goes_on = bool((rows["iters"].diff().drop_nulls() > 0).all())
    step = epoch if seldom and not goes_on else images if goes_on else (epoch - 1) * images.max() + images
    rows = rows.with_columns(step=step)
    terms = [name for name in rows.columns if _TERM.match(name)]
    if total := next((name for name in _TOTALS if name in rows.columns), None):
        rows = rows.with_columns(loss=pl.col(total))
    elif any(not _ADVERSARIAL.fullmatch(name) for name in terms):
        rows = rows.with_columns(loss=pl.sum_horizontal(terms, ignore_nulls=False))
    return rows.drop("iters")


_LINES = Lines((Line(_LINE, _LOSS, _named, sign="iters:"),), tidy=_tidy)


def sources(path: Path) -> list[Source]:
    """A file with such a line."""
    return [TextLog(path, "the log of pytorch-CycleGAN-and-pix2pix", _LINES)] if has(path, _ANY) else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
