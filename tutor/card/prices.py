"""What a fix costs, as measured: `make fixes` trains each and writes `trees/fixes.csv`, beside the cards."""

import csv
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tutor.card.schema import Card

TABLE = "fixes.csv"


@dataclass(frozen=True)
class Price:
    """What runs with a fix end with, beside the control of their break.

    Attributes:
        end, control: mean loss of the last 50 steps, in nats; the mean over the seeds.
        seeds: how many.
    """

    end: float
    control: float
    seeds: int


def price(card: Card, fix: str) -> Price | None:
    """What that fix of the card costs; None where nobody has trained it, or a run of it has no finite end."""
    table = _ends(card.path.parent.parent / TABLE) if card.path else {}
    mended, control = table.get((card.name, fix), {}), table.get((card.name, ""), {})
    seeds = mended.keys() & control.keys()
    if not seeds:
        return None
    end, own = (sum(ends[one] for one in seeds) / len(seeds) for ends in (mended, control))
    return Price(end, own, len(seeds))


@lru_cache
def _ends(table: Path) -> dict[tuple[str, str], dict[str, float]]:
    """The last loss by card and fix ("" for the control), then by seed; nothing of a table that isn't one."""
    ends: dict[tuple[str, str], dict[str, float]] = {}
    try:
        with table.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["end"]:
                    ends.setdefault((row["card"], row["fix"]), {})[row["seed"]] = float(row["end"])
    except (OSError, ValueError, KeyError, TypeError, csv.Error):
        return {}
    return ends
