"""Calibration: what a break did over seeds, computed from the table that `make calibrate` wrote.

The table lies beside the card, `no-clip.calibration.csv`: one row a seed, with the figures and the leaf of
the control and of the break. No figure is typed by hand: a card's note names them as placeholders.
"""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tutor import plainfile

LARGEST = plainfile.MEGABYTE
"""Bytes of a table; one of 20 seeds has 3,000."""

BACK_AT_ONCE = 10  # steps after the trigger in which a healthy run is back
BACK_SOON = 50  # steps in which a run counts as recovered
HARM = 0.2  # nats of mean loss over the control's
SPIKE = 30  # gradient norm at the spike, in multiples of its mean before

Row = dict[str, Any]


def path_of(card: Path) -> Path:
    """Where the table of the card at `card` lies."""
    return card.with_name(f"{card.stem}.calibration.csv")


def read(path: Path) -> list[Row]:
    """The table's rows: numbers where they are numbers, None where a cell is empty.

    Raises:
        ValueError: it can't be read, or isn't such a table.
    """
    try:
        text = plainfile.read(path, LARGEST).decode()
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = getattr(error, "strerror", None) or "it isn't a table in CSV"
        raise ValueError(f"{path.name} can't be read: {why}") from None
    if not rows:
        raise ValueError(f"{path.name} holds no row")
    for number, row in enumerate(rows, 1):
        if None in row or None in row.values():
            raise ValueError(f"{path.name}: row {number} hasn't a cell for each column")
    return [{key: _value(cell) for key, cell in row.items()} for row in rows]


def figures_of(path: Path, leaves: Sequence[str] = ()) -> dict[str, Any]:
    """The `figures` of the table at `path`. Raises ValueError where `make calibrate` didn't write it."""
    rows = read(path)
    try:
        return figures(rows, leaves)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise ValueError(f"{path.name} isn't a table of `make calibrate`: make it again") from None


def write(path: Path, rows: Sequence[Row]) -> None:
    """Write the table; every row has the keys of the first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def figures(rows: Sequence[Row], leaves: Sequence[str] = ()) -> dict[str, Any]:
    """What a card's note may name: counts over the table's rows and the range of every column.

    Args:
        rows: one a seed, at least one.
        leaves: those at which a walk of the break should end.

    Returns:
        `seeds`, `first_seed`, `last_seed`; `kept` and `control_kept`, the breaks and the controls that ended
        at one of `leaves`; for each column with numbers `<column>_min` and `<column>_max`; and, of a break
        with a trigger, the counts `control_back`, `excess`, `spike`, `recovered`, `lingered`, `diverged`,
        the shares `recovered_percent` and `lingered_percent`, the range of those that lingered, and that of
        the share of steps at which the control was clipped (`control_clipped_percent_min` and `_max`).
    """
    found: dict[str, Any] = {"seeds": len(rows), "first_seed": rows[0]["seed"], "last_seed": rows[-1]["seed"]}
    if "break_leaf" in rows[0]:
        found["kept"] = sum(row["break_leaf"] in leaves for row in rows)
        found["control_kept"] = sum(row["control_leaf"] in leaves for row in rows)
    for column in rows[0]:
        numbers = [row[column] for row in rows if isinstance(row[column], int | float)]
        if numbers and column != "seed":
            found |= {f"{column}_min": _rounded(min(numbers)), f"{column}_max": _rounded(max(numbers))}
    if "break_back" in rows[0]:
        found |= _aftermath(rows)
    return found


def _aftermath(rows: Sequence[Row]) -> dict[str, Any]:
    """The counts of how controls and breaks took the trigger."""
    backs = [row["break_back"] for row in rows]
    late = [back for back in backs if back is not None and back > BACK_SOON]
    clipped = [row["control_clipped"] for row in rows]
    recovered = len(backs) - len(late) - backs.count(None)
    return {
        "control_back": sum(
            row["control_back"] is not None and row["control_back"] <= BACK_AT_ONCE for row in rows
        ),
        "excess": sum(row["excess"] >= HARM for row in rows),
        "spike": sum(row["break_spike"] >= SPIKE for row in rows),
        "recovered": recovered,
        "lingered": len(late),
        "diverged": backs.count(None),
        "recovered_percent": round(100 * recovered / len(rows)),
        "lingered_percent": round(100 * len(late) / len(rows)),
        "lingered_min": min(late, default=None),
        "lingered_max": max(late, default=None),
        "control_clipped_percent_min": round(100 * min(clipped)),
        "control_clipped_percent_max": round(100 * max(clipped)),
    }


def _value(cell: str | None) -> int | float | str | None:
    for kind in (int, float):
        try:
            return kind(cell or "")
        except ValueError:
            continue
    return cell or None


def _rounded(value: int | float) -> int | float:
    return value if isinstance(value, int) else round(value) if abs(value) >= 10 else round(value, 2)
