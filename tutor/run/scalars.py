"""Values as floats: what polars aggregates to (`PythonLiteral | None`), and what a manifest gives."""

from typing import Any


def to_float(value: Any) -> float:
    """The aggregate of a column of numbers that has some. Raises TypeError where it had none."""
    return float(value)


def known_float(value: Any) -> float | None:
    """The aggregate of a column of numbers, None where it had none."""
    return None if value is None else float(value)


def as_number(value: Any) -> float | None:
    """A number that a manifest gives; None for anything else, such as a switch or the name of a schedule."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
