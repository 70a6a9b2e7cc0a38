"""Words in English and Spanish, and the YAML files that hold them.

`Words` is one sentence in both languages; `load` turns a YAML file into a pydantic model and names file
and line of whatever is wrong in it; `say` gives the app's own words from `words.yaml`.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

LANGUAGES = ("en", "es")

Sentence = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Model = TypeVar("Model", bound=BaseModel)


class Strict(BaseModel):
    """A part of a YAML file: frozen, and a key nobody asked for is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Words(Strict):
    """One sentence in every language. A missing or an empty one is an error."""

    en: Sentence
    es: Sentence

    def __call__(self, lang: str, facts: Mapping[str, Any] | None = None) -> str:
        """The sentence in `lang`, its `{placeholders}` filled from `facts`."""
        sentence = getattr(self, lang if lang in LANGUAGES else "en")
        return fill(sentence, facts) if facts is not None else sentence


class _Missing(dict):
    def __missing__(self, key: str) -> str:
        return "–"


def fill(sentence: str, facts: Mapping[str, Any]) -> str:
    """`sentence` with its placeholders filled; a fact that isn't known is drawn as a dash."""
    return sentence.format_map(_Missing({key: number(value) for key, value in facts.items()}))


def number(value: Any) -> str:
    """A value as people write it: four significant digits, no trailing zeros, lists joined by commas."""
    if value is None:
        return "–"
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return "NaN" if value != value else f"{value:.4g}".replace("inf", "Inf")
    return ", ".join(number(item) for item in value)


def plain(text: str, *, lines: bool = False) -> str:
    """Text from a log or a learner, safe to draw: what would steer a terminal becomes a visible sign.

    Control characters become their pictures (escape is "␛"); marks that turn the direction of writing and
    lone surrogates become "\ufffd". With `lines`, line ends stay and a tab is four spaces.
    """
    if lines:
        return "\n".join(plain(line) for line in text.replace("\t", "    ").split("\n"))
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible(character) for character in text)


_DIRECTIONS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def _visible(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    steers = unicodedata.bidirectional(character) in _DIRECTIONS
    return "\ufffd" if steers or unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") else character


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


def load(path: Path, model: type[Model]) -> Model:
    """The YAML file at `path` as `model`; raises BadFileError."""
    return Document(path).parse(model)


@cache
def _own() -> dict[str, Any]:
    return Document(Path(__file__).with_name("words.yaml")).data


def say(key: str, lang: str, **facts: Any) -> str:
    """The app's own words under `key` ("walk.ask") in `lang`, filled with `facts`."""
    found: Any = _own()
    for part in key.split("."):
        found = found[part]
    return fill(found[lang if lang in LANGUAGES else "en"], facts)
