"""YAML, parsed: data and the lines it stands on. Imported only where `parsed` keeps no parse of a file.

A file may come from anyone, so its size and depth are bounded before anything is built of it: the parser in C
recurses, and aliases let a page of text stand for more values than any memory holds.
"""

import re
from typing import Any, NamedTuple

import yaml

from tutor.catalog import cut

__all__ = ["Place", "YamlError", "data", "line", "places"]

DEEPEST = 50
"""Mappings and lists inside each other; a tree has seven."""

MOST_VALUES = 20_000
"""Keys and values, every alias counted with all that it stands for; the largest tree has 2,500."""

_FastestLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TOO_DEEP = f"is nested too deep, more than {DEEPEST} levels"
_TOO_MANY = f"holds more than {MOST_VALUES:,} values"


class _Loader(_FastestLoader):
    """YAML as people mean it: `yes`, `no`, `on` and `off` are words; a key given twice is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        seen = set()
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if not isinstance(key, yaml.ScalarNode):
                raise _refused("a key is a word or a number, not a list or a mapping", key)
            if key.value in seen:
                raise _refused(f"the key {cut(key.value)!r} is given twice", key)
            seen.add(key.value)
        return super().construct_mapping(node, deep)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError):
            # A date that isn't in the calendar, a number too long, a tag that the value doesn't fit.
            what = repr(cut(node.value)) if isinstance(node, yaml.ScalarNode) else "this"
            raise _refused(f"{what} can't be read as {node.tag.rpartition(':')[2]}", node) from None


_Loader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in resolvers if tag != "tag:yaml.org,2002:bool"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))


class YamlError(ValueError):
    """Text that is no YAML: the line, counted from 1, and what is wrong there."""

    def __init__(self, line: int, what: str) -> None:
        self.line, self.what = line, what
        super().__init__(f"{line}: {what}")


def data(text: str) -> Any:
    """What `text` says, None where it says nothing.

    Raises:
        YamlError: it is no YAML, or is nested too deep, or stands for too many values.
    """
    return _load(text)[1]


def _load(text: str) -> tuple[Any, Any]:
    try:
        _check_text(text)
        loader = _Loader(text)
        try:
            root = loader.get_single_node()
            if root:
                _check_values(root)
            return root, loader.construct_document(root) if root else None
        finally:
            loader.dispose()
    except yaml.reader.ReaderError as error:
        raise YamlError(_line_of(error, text), f"holds a character that YAML can't: {error.reason}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or str(error)
        if "nesting depth" in what:  # libyaml's own bound, which it meets before ours
            what = _TOO_DEEP
        raise YamlError(mark.line + 1 if mark else 1, what) from None


def _check_text(text: str) -> None:
    """Raise a MarkedYAMLError where `text` is nested too deep for the parser, or too long to build."""
    depth = values = 0
    for event in yaml.parse(text, Loader=_FastestLoader):
        values += isinstance(event, yaml.NodeEvent)
        if values > MOST_VALUES:
            raise _refused(_TOO_MANY, event)
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEEPEST:
                raise _refused(_TOO_DEEP, event)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _check_values(root: yaml.Node) -> None:
    """Raise a MarkedYAMLError where its aliases make `root` too large, too deep or endless."""
    known: dict[yaml.Node, tuple[int, int] | None] = {}  # None while what is inside is being looked at

    def look(node: yaml.Node) -> tuple[int, int]:
        """How many values it stands for, and how many levels of them."""
        if node in known:
            if (found := known[node]) is None:
                raise _refused("an alias stands inside what it stands for", node)
            return found
        known[node] = None
        inside = [look(one) for one in _below(node)]
        values = 1 + sum(values for values, _ in inside)
        levels = 1 + max((levels for _, levels in inside), default=0)
        if values > MOST_VALUES:
            raise _refused(_TOO_MANY, node)
        if levels > DEEPEST + 1:
            raise _refused(_TOO_DEEP, node)
        known[node] = values, levels
        return values, levels

    look(root)


def _below(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [one for pair in node.value for one in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []


def _refused(what: str, at: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=what, problem_mark=at.start_mark)


def _line_of(error: yaml.reader.ReaderError, text: str) -> int:
    """The line of the character; the parser in C counts bytes, the other one characters."""
    if _FastestLoader is yaml.SafeLoader:
        return text.count("\n", 0, error.position) + 1
    return text.encode().count(b"\n", 0, error.position) + 1


class Place(NamedTuple):
    """Where a value stands: the line of its key, counted from 1, and the places of what is in it."""

    line: int
    inside: dict[str | int, "Place"]


def places(text: str) -> Place:
    """Where everything in `text`, which `data` could read, stands: by key, as it is written, and by index."""
    return _place(1, _load(text)[0])


def _place(line: int, node: yaml.Node) -> Place:
    below: list[tuple[str | int, int, yaml.Node]] = []
    if isinstance(node, yaml.MappingNode):
        below = [(key.value, key.start_mark.line + 1, value) for key, value in node.value]
    elif isinstance(node, yaml.SequenceNode):
        below = [(index, one.start_mark.line + 1, one) for index, one in enumerate(node.value)]
    return Place(line, {key: _place(at, one) for key, at, one in below})


def line(root: Place, where: tuple[str | int, ...]) -> int:
    """The line of the value at `where` (its nearest ancestor when there is none), counted from 1."""
    for part in where:
        found = root.inside.get(part) or root.inside.get(str(part))
        if found is None:
            break
        root = found
    return root.line
