"""A graph and its prose, joined: `phase-19.yaml` with `phase-19.en.yaml`, `phase-19.es.yaml` ...

The graph holds ids, rules and numbers; a prose file holds the sentences of one language under the same keys
and ids. Which is which the pydantic model says: a field of `Words` is written in the prose files, every other
one in the graph. A language is one more file; English has to be there.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter
from types import UnionType
from typing import Any, Generic, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel

from tutor.words import BadFileError, Document, Problem, Words
from tutor.words.document import Where, validate

Model = TypeVar("Model", bound=BaseModel)

_PROSE = re.compile(r"(?P<graph>.+)\.(?P<lang>[a-z]{2})")


class _Missing:
    """What is under a key that a file doesn't have."""


_MISSING = _Missing()


@dataclass(frozen=True)
class Each:
    """The shape of a mapping by id, or of a list.

    Attributes:
        shape: of each value.
        named_in_prose: whether the prose says which ids there are, for want of anything in the graph.
    """

    shape: "Shape"
    named_in_prose: bool


Shape = type[Words] | Mapping[str, Any] | Each | None
"""Where a model holds sentences: itself one, keys that lead to some, the same under each key, or nowhere."""


def graph_of(path: Path) -> Path:
    """The graph that the file belongs to: itself, or the one whose prose it is."""
    named = _PROSE.fullmatch(path.stem)
    return path.with_name(named["graph"] + path.suffix) if named else path


def named_graphs(folder: Path) -> list[tuple[str, Path]]:
    """The graphs in a folder with their names, in order."""
    return [(path.stem, path) for path in sorted(folder.glob("*.yaml")) if graph_of(path) == path]


def languages(graph: Path) -> dict[str, Path]:
    """The prose files beside a graph by language, English first."""
    found = {}
    for path in sorted(graph.parent.glob(f"{graph.stem}.??{graph.suffix}")):
        if graph_of(path) == graph and (named := _PROSE.fullmatch(path.stem)):
            found[named["lang"]] = path
    return {"en": graph.with_name(f"{graph.stem}.en{graph.suffix}")} | found


class Joined(Generic[Model]):
    """A graph with its prose as one `model`, and the line of everything in them.

    Attributes:
        graph: the graph's document.
        prose: each language's document, English first.
        data: both as one: every sentence is a mapping from language to text.

    Raises:
        BadFileError: a file that can't be read.
    """

    def __init__(self, path: Path, model: type[Model]) -> None:
        self.model = model
        self.graph = Document(path)
        self.prose = {lang: Document(file) for lang, file in languages(path).items()}
        self._misplaced: list[Problem] = []
        self._sentences: list[tuple[Where, Mapping[str, Any]]] = []
        sentences = {lang: document.data for lang, document in self.prose.items()}
        self.data = self._join(shape_of(model), self.graph.data, sentences, ())

    @property
    def problems(self) -> list[Problem]:
        """Sentences, ids and placeholders that one language has and another lacks; sentences in the graph."""
        unlike = (problem for where, words in self._sentences for problem in self._unlike(where, words))
        return [*self._misplaced, *unlike]

    def parse(self) -> Model:
        """Both as the model; whether the prose is whole in every language, `problems` says.

        Raises:
            BadFileError: the model can't be made; with every problem found, file and line.
        """
        try:
            return validate(self.model, self.data, self.problem)
        except BadFileError as error:
            raise BadFileError([*self.problems, *error.problems]) from None

    def problem(self, where: Where, what: str) -> Problem:
        """What is wrong at `where` in `data`: in the prose of the language it ends in, else in the file that
        holds it or, where none does, in the one that should.
        """
        shape = shape_of(self.model)
        if where and _at(shape, where[:-1]) is Words and where[-1] in self.prose:
            return self.prose[str(where[-1])].problem(where[:-1], what)
        for document in (self.graph, *self.prose.values()):
            if document.holds(*where):
                return document.problem(where, what)
        document = self.prose["en"] if _at(shape, where) else self.graph
        return document.problem(where, what)

    def _join(self, shape: Shape, graph: Any, prose: Mapping[str, Any], where: Where) -> Any:
        """The value at `where`: the graph's, with the sentences of every language that has some there."""
        if shape is Words:
            return self._sentence(graph, prose, where)
        for lang in [lang for lang, node in prose.items() if shape is None or not _items(node)]:
            self._misplaced.append(self._in_prose(lang, where, "holds no sentences"))
        nodes = {lang: items for lang, node in prose.items() if shape is not None and (items := _items(node))}
        if not nodes or not isinstance(graph, dict | list | _Missing):
            return graph  # no mapping where one is due: the model says so
        ids = _items(graph)
        joined = {}
        for key in dict.fromkeys([*ids, *(key for node in nodes.values() for key in node)]):
            here, having = (*where, key), {lang: node[key] for lang, node in nodes.items() if key in node}
            if having and (stray := self._stray(shape, key, ids)):
                for lang in having:
                    self._misplaced.append(self._in_prose(lang, here, stray))
                having = {}
            elif having:
                for lang in nodes.keys() - having.keys():
                    other = self.prose[next(iter(having))].path.name
                    what = f"is missing, and {other} has it"
                    self._misplaced.append(self._in_prose(lang, here, what))
            if having or key in ids:
                joined[key] = self._join(_below(shape, key), ids.get(key, _MISSING), having, here)
        listed = graph if ids else next(iter(prose.values()))
        return list(joined.values()) if isinstance(listed, list) else joined

    def _stray(self, shape: Shape, key: str | int, ids: Mapping[str | int, Any]) -> str | None:
        """Why no prose belongs under `key`, or None where it does."""
        if isinstance(shape, Each):
            known = shape.named_in_prose or key in ids
            return None if known else f"is no id of {self.graph.path.name}"
        return None if _below(shape, key) else "is no key of this place"

    def _sentence(self, graph: Any, prose: Mapping[str, Any], where: Where) -> Any:
        """The sentence at `where` by language."""
        if graph is not _MISSING:
            name = self.prose["en"].path.name
            what = f"{_dotted(where)}: a sentence belongs in the prose, {name}"
            self._misplaced.append(self.graph.problem(where, what))
        if not prose:
            return graph
        self._sentences.append((where, prose))
        return prose

    def _unlike(self, where: Where, words: Mapping[str, Any]) -> Iterator[Problem]:
        """Placeholders that a sentence doesn't name in each language, or that are none."""
        named: dict[str, set[str]] = {}
        for lang, text in words.items():
            if not isinstance(text, str):
                continue  # no sentence: the model says so
            try:
                named[lang] = placeholders(text)
            except ValueError as error:
                yield self._in_prose(lang, where, str(error))
        every = set().union(*named.values())
        for lang, names in named.items():
            for name in sorted(every - names):
                other = next(self.prose[other].path.name for other in named if name in named[other])
                yield self._in_prose(lang, where, f"{{{name}}} isn't named here, and {other} names it")

    def _in_prose(self, lang: str, where: Where, what: str) -> Problem:
        return self.prose[lang].problem(where, f"{_dotted(where)}: {what}")


def placeholders(sentence: str) -> set[str]:
    """The names in braces in a sentence.

    Raises:
        ValueError: a brace without its other half, or more than a name between two.
    """
    fields = [field for field in Formatter().parse(sentence) if field[1] is not None]
    if any(spec or conversion for _, _, spec, conversion in fields):
        raise ValueError("a placeholder is a name in braces and no more")
    return {str(name) for _, name, _, _ in fields}


def unknown_placeholders(
    where: Where, words: Words, known: Iterable[str], kind: str
) -> Iterator[tuple[Where, str]]:
    """The placeholders of a sentence that aren't `known`: in which language, and what they aren't."""
    for lang, sentence in words.root.items():
        try:
            named = placeholders(sentence)
        except ValueError:
            continue  # a problem of its own
        for name in sorted(named - set(known)):
            yield (*where, lang), f"{_dotted(where)}: {{{name}}} is no {kind}"


def sentences(shape: Shape, value: Any, where: Where = ()) -> Iterator[tuple[Where, Words]]:
    """Every sentence in a model, with the keys that lead to it in its files."""
    if isinstance(value, Words):
        yield where, value
    elif isinstance(shape, Each):
        for key, below in (value if isinstance(value, Mapping) else dict(enumerate(value))).items():
            yield from sentences(shape.shape, below, (*where, key))
    elif isinstance(shape, Mapping) and value is not None:
        for name, field in type(value).model_fields.items():
            if below := shape.get(field.alias or name):
                yield from sentences(below, getattr(value, name), (*where, field.alias or name))


@cache
def shape_of(model: type[BaseModel]) -> Mapping[str, Shape]:
    """Where a model holds sentences, by key."""
    shapes = {field.alias or name: _shape(field.annotation) for name, field in model.model_fields.items()}
    return {key: shape for key, shape in shapes.items() if shape}


def _shape(annotation: Any) -> Shape:
    inner = [arg for arg in get_args(annotation) if arg not in (type(None), ...)]
    if get_origin(annotation) in (Union, UnionType):
        return next(filter(None, map(_shape, inner)), None)
    if inner:
        shape = _shape(inner[-1])
        return Each(shape, _all_prose(inner[-1])) if shape else None
    if not isinstance(annotation, type) or not issubclass(annotation, BaseModel):
        return None
    return Words if annotation is Words else shape_of(annotation)


def _all_prose(annotation: Any) -> bool:
    """Whether it is a sentence, or a model of nothing but sentences."""
    if annotation is Words:
        return True
    fields = getattr(annotation, "model_fields", {}).values()
    return bool(fields) and all(_shape(field.annotation) is Words for field in fields)


def _below(shape: Shape, key: str | int) -> Shape:
    if isinstance(shape, Each):
        return shape.shape
    return shape.get(str(key)) if isinstance(shape, Mapping) else None


def _at(shape: Shape, where: Where) -> Shape:
    for key in where:
        shape = _below(shape, key)
    return shape


def _items(node: Any) -> dict[Any, Any]:
    """A mapping's or a list's values by key or index; none of anything else."""
    if isinstance(node, list):
        return dict(enumerate(node))
    return node if isinstance(node, dict) else {}


def _dotted(where: Where) -> str:
    return ".".join(map(str, where))
