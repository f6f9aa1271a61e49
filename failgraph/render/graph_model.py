"""The model of the graph as a page: every label, relationship type and property, taken from the schema's models.

``docs/graph-model.md`` is this page; a test says that it is current.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterable
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from failgraph.schema.nodes import NODES
from failgraph.schema.relations import RELATIONS


def graph_model_page() -> str:
    """Return the page as Markdown that ends with a newline."""
    lines = [
        "# The model of the graph",
        "",
        "Made by `failgraph schema --graph` from the models in `schema/`; do not edit it by hand.",
        "",
        "A property that is empty is not stored. `id` is unique within a node's first label, and within a",
        "relationship's type.",
        "",
        "## Nodes",
        "",
    ]
    for node in NODES:
        lines += [f"### {':'.join(node.labels)}", "", _summary(node), ""]
        lines += _properties(node)
    lines += ["## Relationships", ""]
    for relation in RELATIONS:
        lines += [f"### {relation.type}", "", _summary(relation), ""]
        lines += [f"- `(:{start})-[:{relation.type}]->(:{end})`" for start, end in relation.ends]
        lines += ["", *_properties(relation)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _summary(model: type[BaseModel]) -> str:
    text = inspect.getdoc(model) or ""
    sentence = " ".join(text.partition("\n\n")[0].split())
    pattern, found, rest = sentence.partition("): ")
    summary = rest if found and pattern.startswith("(:") else sentence
    return (summary[:1].upper() + summary[1:]).replace("``", "`")


def _properties(model: type[BaseModel]) -> list[str]:
    lines = ["| property | type | meaning |", "| --- | --- | --- |"]
    for name, field in model.model_fields.items():
        meaning = (field.description or "").replace("|", "\\|")
        lines.append(f"| `{name}` | {_type_name(field.annotation)} | {meaning} |")
    return [*lines, ""]


def _type_name(annotation: Any) -> str:
    """Return a type in the words of the query headers.

    >>> _type_name(tuple[str, ...]), _type_name(int | None)
    ('list of str', 'int, may be missing')
    """
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        inner = [_type_name(item) for item in arguments if item is not type(None)]
        return ", ".join([" or ".join(inner), *(["may be missing"] if type(None) in arguments else [])])
    if origin is tuple:
        return f"list of {_type_name(arguments[0])}"
    if origin is Literal:
        return _one_of(arguments)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return _one_of(member.value for member in annotation)
    return str(getattr(annotation, "__name__", annotation))


def _one_of(values: Iterable[object]) -> str:
    return " or ".join(f"`{value}`" for value in values)
