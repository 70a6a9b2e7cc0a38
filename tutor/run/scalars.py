"""What polars aggregates to (`PythonLiteral | None`), as the float that a column of numbers gives."""

from typing import Any


def to_float(value: Any) -> float:
    """The aggregate of a column of numbers that has some. Raises TypeError where it had none."""
    return float(value)


def known_float(value: Any) -> float | None:
    """The aggregate of a column of numbers, None where it had none."""
    return None if value is None else float(value)
