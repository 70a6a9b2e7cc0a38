"""Target: one kind of file, what it might hold, and what must be so whatever it holds."""

import importlib
import pkgutil
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, cast

from hypothesis import HealthCheck
from hypothesis.strategies import SearchStrategy

HERE = Path(__file__).parent
FOUND = HERE / "found"
PREFIX = "fuzz_"
UNHURRIED = cast(Sequence[HealthCheck], list(HealthCheck))
"""What hypothesis would object to, where inputs are large and slow to make."""


class Target(Protocol):
    """A file `fuzz_NAME.py` of this package.

    Attributes:
        SEEDS: inputs to begin with; each is fine.
        WORDS: what the format is made of, to be put in here and there.
        INPUTS: what a file of this kind might hold, more or less.
    """

    SEEDS: Sequence[bytes]
    WORDS: Sequence[bytes]
    INPUTS: SearchStrategy[bytes]

    def check(self, data: bytes, folder: Path) -> None:
        """Have `data` read, from a file in `folder`, as the app does. `folder` may hold what was left there.

        Raises:
            Exception: of any kind, where what must be so isn't.
        """
        ...


def names() -> list[str]:
    """The targets there are."""
    modules = (module.name for module in pkgutil.iter_modules([str(HERE)]))
    return sorted(name.removeprefix(PREFIX) for name in modules if name.startswith(PREFIX))


def load(name: str) -> Target:
    """The target of that name, or in that module (`tests.fuzz.planted`)."""
    return cast(Target, importlib.import_module(name if "." in name else f"tests.fuzz.{PREFIX}{name}"))


def found(name: str) -> list[Path]:
    """The inputs that failed once."""
    return sorted((FOUND / name).glob("*"))
