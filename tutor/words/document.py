"""YAML files as pydantic models: whatever is wrong in one is named with file and line."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

LANGUAGES = ("en", "es")

Model = TypeVar("Model", bound=BaseModel)


class Strict(BaseModel):
    """A part of a YAML file: frozen, and a key nobody asked for is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class BadFileError(ValueError):
    """A YAML file that can't be used. `str()` gives one line per fault, each with file and line."""

    def __init__(self, path: Path, faults: list[tuple[int, str]]):
        self.path, self.faults = path, sorted(faults)
        super().__init__("\n".join(f"{path}:{line}: {what}" for line, what in self.faults))


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """YAML as people mean it: `yes`, `no`, `on` and `off` are words; a key given twice is an error."""

    def construct_mapping(self, node, deep=False):
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

    def __init__(self, path: Path):
        self.path = path
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise BadFileError(path, [(1, "isn't text in UTF-8")]) from None
        except OSError as error:
            raise BadFileError(path, [(1, f"can't be read: {error.strerror}")]) from None
        loader = _Loader(text)
        try:
            self._root = loader.get_single_node()
            self.data = loader.construct_document(self._root) if self._root else None
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            raise BadFileError(
                path, [(mark.line + 1 if mark else 1, getattr(error, "problem", None) or str(error))]
            ) from None
        except RecursionError:
            raise BadFileError(path, [(1, "is nested too deep")]) from None
        finally:
            loader.dispose()
        if not isinstance(self.data, dict):
            raise BadFileError(path, [(1, "holds no keys: is this the right file?")])

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

    def parse(self, model: type[Model]) -> Model:
        """The file as `model`.

        Raises:
            BadFileError: with every fault found, file and line.
        """
        try:
            return model.model_validate(self.data)
        except ValidationError as error:
            raise BadFileError(
                self.path, [(self.line(*e["loc"]), _explain(e)) for e in error.errors()]
            ) from None


def _explain(error: Mapping[str, Any]) -> str:
    where = ".".join(str(part) for part in error["loc"])
    kinds = {
        "missing": "is missing",
        "extra_forbidden": "is no key of this place",
        "string_too_short": "is empty",
        "too_short": "is empty",
    }
    if error["type"] == "missing" and error["loc"][-1] in LANGUAGES:
        return f"{'.'.join(str(p) for p in error['loc'][:-1])}: the language {error['loc'][-1]!r} is missing"
    return f"{where}: {kinds.get(error['type']) or error['msg'].removeprefix('Value error, ')}"
