"""YAML files as pydantic models: whatever is wrong in one is named with file and line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from tutor import plainfile
from tutor.catalog import cut
from tutor.words import parsed

if TYPE_CHECKING:
    from tutor.words import yamlfile

LARGEST = plainfile.MEGABYTE
"""Bytes of a file; the largest prose has 60,000."""

_LONGEST = 600  # characters of a problem
_SHOWN = 100  # problems of a file

Where = tuple[str | int, ...]
"""Keys and indexes that lead to a place in a file."""

Model = TypeVar("Model", bound=BaseModel)


class Strict(BaseModel):
    """A part of a YAML file: frozen, and a key nobody asked for is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Problem(NamedTuple):
    """What is wrong in a YAML file, and where."""

    path: Path
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {cut(' '.join(self.what.split()), _LONGEST)}"


class BadFileError(ValueError):
    """YAML that can't be used. `str()` gives one line per problem, each with file and line."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = sorted(set(problems))
        lines = [str(problem) for problem in self.problems[:_SHOWN]]
        if more := len(self.problems) - len(lines):
            lines.append(f"{self.problems[-1].path}: {more:,} more problems")
        super().__init__("\n".join(lines))


class Document:
    """A YAML file with the line of everything in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._text = plainfile.read(path, LARGEST).decode()
        except UnicodeDecodeError:
            raise self._unusable(1, "isn't text in UTF-8") from None
        except OSError as error:
            raise self._unusable(1, f"can't be read: {error.strerror}") from None
        data = parsed.data(path, self._text)
        if data is None:
            data = self._parse()
            parsed.keep(path, self._text, data)
        self.data: dict[str, Any] = data

    def _parse(self) -> dict[str, Any]:
        from tutor.words import yamlfile

        try:
            data = yamlfile.data(self._text)
        except yamlfile.YamlError as error:
            raise self._unusable(error.line, error.what) from None
        if not isinstance(data, dict):
            raise self._unusable(1, "holds no keys: is this the right file?")
        return data

    def _unusable(self, line: int, what: str) -> BadFileError:
        return BadFileError([Problem(self.path, line, what)])

    def holds(self, *where: str | int) -> bool:
        """Whether there is a value at `where`."""
        node: Any = self.data
        for part in where:
            try:
                node = node[part]
            except (KeyError, IndexError, TypeError):
                return False
        return True

    def problem(self, where: Where, what: str) -> Problem:
        """What is wrong with the value at `where`, with its line."""
        return Problem(self.path, self.line(*where), what)

    def line(self, *where: str | int) -> int:
        """The line of the value at `where` (its nearest ancestor when there is none), counted from 1."""
        from tutor.words import yamlfile

        return yamlfile.line(self._places, where)

    @cached_property
    def _places(self) -> yamlfile.Place:
        """Where everything in the file stands; looked for only when something is wrong in it."""
        from tutor.words import yamlfile

        return yamlfile.places(self._text)


def validate(model: type[Model], data: Any, locate: Callable[[Where, str], Problem]) -> Model:
    """The data of a file, or of several that were joined, as `model`.

    Args:
        locate: makes a problem of keys and indexes into `data`, and of what is wrong there.

    Raises:
        BadFileError: with every problem found.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise BadFileError(locate(e["loc"], _explain(e)) for e in error.errors()) from None


def _explain(error: Mapping[str, Any]) -> str:
    where = ".".join(part for part in map(str, error["loc"]) if not part.startswith("<"))  # the tag of a kind
    kinds = {
        "missing": "is missing",
        "extra_forbidden": "is no key of this place",
        "string_too_short": "is empty",
        "too_short": "is empty",
    }
    return f"{where}: {kinds.get(error['type']) or error['msg'].removeprefix('Value error, ')}"
