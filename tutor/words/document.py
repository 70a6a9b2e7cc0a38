"""YAML files as pydantic models: whatever is wrong in one is named with file and line."""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

Where = tuple[str | int, ...]
"""Keys and indexes that lead to a place in a file."""

Model = TypeVar("Model", bound=BaseModel)


class Strict(BaseModel):
    """A part of a YAML file: frozen, and a key nobody asked for is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Problem(NamedTuple):
    """What is wrong in a YAML file, and where."""

    path: Path
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"


class BadFileError(ValueError):
    """YAML that can't be used. `str()` gives one line per problem, each with file and line."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = sorted(set(problems))
        super().__init__("\n".join(map(str, self.problems)))


_FastestLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_FastestLoader):
    """YAML as people mean it: `yes`, `no`, `on` and `off` are words; a key given twice is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        seen = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value!r} is given twice", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in resolvers if tag != "tag:yaml.org,2002:bool"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))


class Document:
    """A YAML file with the line of everything in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise self._unusable(1, "isn't text in UTF-8") from None
        except OSError as error:
            raise self._unusable(1, f"can't be read: {error.strerror}") from None
        loader = _Loader(text)
        try:
            self._root = loader.get_single_node()
            data = loader.construct_document(self._root) if self._root else None
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            what = getattr(error, "problem", None) or str(error)
            raise self._unusable(mark.line + 1 if mark else 1, what) from None
        except RecursionError:
            raise self._unusable(1, "is nested too deep") from None
        finally:
            loader.dispose()
        if not isinstance(data, dict):
            raise self._unusable(1, "holds no keys: is this the right file?")
        self.data: dict[str, Any] = data

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
        node, line = self._root, 1
        for part in where:
            found = None
            if isinstance(node, yaml.MappingNode):
                found = next(((k, v) for k, v in node.value if k.value == str(part)), None)
            elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
                found = (node.value[part], node.value[part])
            if found is None:
                break
            line, node = found[0].start_mark.line + 1, found[1]
        return line


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
    where = ".".join(str(part) for part in error["loc"])
    kinds = {
        "missing": "is missing",
        "extra_forbidden": "is no key of this place",
        "string_too_short": "is empty",
        "too_short": "is empty",
    }
    return f"{where}: {kinds.get(error['type']) or error['msg'].removeprefix('Value error, ')}"
