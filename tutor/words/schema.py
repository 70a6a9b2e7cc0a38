"""JSON Schemas of a graph and of its prose, made from the one pydantic model of both, for editors."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from pydantic import BaseModel

from tutor.words import Words

_SENTENCE = "#/$defs/Words"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"

Json = dict[str, Any]


def graph(model: type[BaseModel]) -> Json:
    """The schema of the graph: all but the sentences."""
    return _schema(model, "graph", lambda schema, definitions: not _is_prose(schema, definitions))


def prose(model: type[BaseModel]) -> Json:
    """The schema of a prose file: the sentences in one language, and the ids that lead to them."""
    found = _schema(model, "prose", _holds_prose)
    found["$defs"]["Words"] = {"type": "string", "minLength": 1}
    return found


def _schema(model: type[BaseModel], name: str, kept: Callable[[Any, Json], bool]) -> Json:
    whole = model.model_json_schema(by_alias=True)
    objects = {key: value for key, value in whole.pop("$defs").items() if key != Words.__name__}
    definitions = deepcopy(objects)  # as they were: below, fields are taken out of them one by one
    for one in (whole, *objects.values()):
        properties = {
            key: value for key, value in one.get("properties", {}).items() if kept(value, definitions)
        }
        one["properties"] = properties
        one["required"] = [key for key in one.get("required", []) if key in properties]
    used = {key: value for key, value in objects.items() if value["properties"]}
    return {"$schema": _DIALECT, **whole, "title": f"{whole['title']}: {name}", "$defs": used}


def _holds_prose(schema: Any, definitions: Json) -> bool:
    """Whether a field is a sentence, or something with a sentence in it."""
    if isinstance(schema, list):
        return any(_holds_prose(below, definitions) for below in schema)
    if not isinstance(schema, Mapping):
        return False
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return schema["$ref"] == _SENTENCE or _holds_prose(definitions[name], definitions)
    return any(_holds_prose(below, definitions) for below in schema.values())


def _is_prose(schema: Any, definitions: Json) -> bool:
    """Whether a field holds sentences and nothing else."""
    if isinstance(schema, list):
        return bool(schema) and all(
            _is_prose(below, definitions) or below == {"type": "null"} for below in schema
        )
    if schema.get("$ref") == _SENTENCE:
        return True
    if "$ref" in schema:
        fields = definitions[schema["$ref"].rpartition("/")[2]].get("properties", {})
        return bool(fields) and all(_is_prose(below, definitions) for below in fields.values())
    if "anyOf" in schema:
        return _is_prose(schema["anyOf"], definitions)
    below = schema.get("additionalProperties") or schema.get("items")
    return isinstance(below, Mapping) and _is_prose(below, definitions)
