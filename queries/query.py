"""A shipped query: its text and everything its header declares.

Types are written ``str``, ``int``, ``float``, ``bool``, ``json`` (a map), ``any`` (whatever JSON can hold) and
``list[...]`` of one of them; a question mark at the end allows null.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from failgraph.schema.errors import UsageError

INTEGER_LIMIT: Final = 2**63
"""Integers of the graph lie in [-2**63, 2**63)."""


class _Missing:
    """The type of :data:`REQUIRED`."""

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Final = _Missing()
"""Stands for the default of a parameter that has none."""


@dataclass(frozen=True)
class ValueType:
    """The declared type of a parameter or column.

    ``base`` is str, int, float, bool, json, any or list; ``item`` is the type of a list's elements.
    """

    base: str
    item: ValueType | None = None
    nullable: bool = False

    def __str__(self) -> str:
        inner = f"list[{self.item}]" if self.item else self.base
        return f"{inner}?" if self.nullable else inner

    @property
    def description(self) -> str:
        """The type in words, for error messages.

        >>> parse_type("list[str]?").description
        'a list of texts, or null'
        """
        text = f"a list of {_PLURALS[self.item.base]}" if self.item else _NOUNS[self.base]
        return f"{text}, or null" if self.nullable else text

    @cached_property
    def _holds_floats(self) -> bool:
        return self.base == "float" or (self.item is not None and self.item._holds_floats)

    def accepts(self, value: object) -> bool:
        """Tell whether a value is of this type. A whole number is a float too, a truth value never is a number."""
        if value is None:
            return self.nullable or self.base == "any"
        if self.item:
            return isinstance(value, list | tuple) and all(map(self.item.accepts, value))
        return _ACCEPTS[self.base](value)

    def normal(self, value: Any) -> Any:
        """Return an accepted value as it is sent: as a list, and whole numbers of a float as floats."""
        if value is None:
            return None
        if self.item:
            return list(map(self.item.normal, value)) if self._holds_floats else list(value)
        return float(value) if self.base == "float" else value

    def read(self, text: str) -> Any:
        """Return the value that a text from the command line stands for.

        Lists are JSON or separated by commas; the word ``null`` is null where the type allows it.

        Raises:
            ValueError: the text does not stand for a value of this type.

        >>> parse_type("list[str]").read("xid-79, gpu-lost")
        ['xid-79', 'gpu-lost']
        """
        if self.nullable and text.strip() == "null":
            return None
        if self.item:
            if text.lstrip().startswith("["):
                return json.loads(text)
            return [self.item.read(part.strip()) for part in text.split(",") if part.strip()]
        if self.base == "str":
            return text
        if self.base == "bool":
            return {"true": True, "false": False}.get(text.strip().lower(), text)
        if self.base in ("json", "any"):
            return json.loads(text)
        return int(text) if self.base == "int" else float(text)


def parse_type(text: str) -> ValueType:
    """Return the type that a header's spelling stands for.

    Raises:
        ValueError: the spelling is none of a type.

    >>> str(parse_type("list[str?]"))
    'list[str?]'
    """
    if text.endswith("?"):
        inner = parse_type(text[:-1])
        if inner.nullable:
            raise ValueError(f"{text!r} has two question marks")
        return ValueType(inner.base, inner.item, nullable=True)
    if text.startswith("list[") and text.endswith("]"):
        return ValueType("list", parse_type(text[len("list[") : -1]))
    if text not in _ACCEPTS:
        raise ValueError(
            f"{text!r} is no type; write one of {', '.join(_ACCEPTS)}, list[...], with ? for null"
        )
    return ValueType(text)


_SURROGATE = re.compile("[\ud800-\udfff]")


def _is_text(value: object) -> bool:
    # A lone surrogate cannot be sent: the wire format is UTF-8.
    return isinstance(value, str) and (value.isascii() or not _SURROGATE.search(value))


def _is_integer(value: object) -> bool:
    return (
        isinstance(value, int) and not isinstance(value, bool) and (-INTEGER_LIMIT <= value < INTEGER_LIMIT)
    )


def _is_number(value: object) -> bool:
    return (isinstance(value, float) and math.isfinite(value)) or _is_integer(value)


def _is_truth(value: object) -> bool:
    return isinstance(value, bool)


def _is_json(value: object) -> bool:
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, str):
        return value.isascii() or not _SURROGATE.search(value)
    if isinstance(value, float | int):
        return _is_number(value)
    if isinstance(value, list | tuple):
        return all(map(_is_json, value))
    if isinstance(value, Mapping):
        return all(map(_is_text, value)) and all(map(_is_json, value.values()))
    return False


def _is_map(value: object) -> bool:
    return isinstance(value, Mapping) and _is_json(value)


_ACCEPTS: Final[dict[str, Callable[[object], bool]]] = {
    "str": _is_text,
    "int": _is_integer,
    "float": _is_number,
    "bool": _is_truth,
    "json": _is_map,
    "any": _is_json,
}
_NOUNS: Final = {
    "str": "a text",
    "int": "a whole number",
    "float": "a finite number",
    "bool": "true or false",
    "json": "a JSON object",
    "any": "a JSON value",
}
_PLURALS: Final = {
    "str": "texts",
    "int": "whole numbers",
    "float": "finite numbers",
    "bool": "truth values",
    "json": "JSON objects",
    "any": "JSON values",
    "list": "lists",
}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a query; one that may be null and has no default is null when it is not given."""

    name: str
    type: ValueType
    default: Any = REQUIRED
    description: str = ""

    @property
    def required(self) -> bool:
        """Whether a value must be given."""
        return self.default is REQUIRED

    def __str__(self) -> str:
        default = "" if self.required else f" = {json.dumps(self.default)}"
        return f"{self.name} {self.type}{default}"


@dataclass(frozen=True)
class Column:
    """A column of a query's rows."""

    name: str
    type: ValueType
    description: str = ""


@dataclass(frozen=True)
class Query:
    """One shipped query.

    Args:
        name: the file's stem; unique over all folders.
        doc: one line for people.
        access: ``read`` or ``write``.
        shape: ``rows``, ``row`` (one at most), ``value`` (one row, one column), ``none``, or ``stream`` (rows
            in any order, because there may be too many to sort).
        parameters: what it takes, in declared order.
        columns: what its rows hold, in the order of its RETURN.
        text: the whole file, header included, so that a line in a database's error is a line of the file.
        path: the file, as ``queries/folder/name.cypher``.
    """

    name: str
    doc: str
    access: str
    shape: str
    parameters: tuple[Parameter, ...]
    columns: tuple[Column, ...]
    text: str
    path: str

    @property
    def topic(self) -> str:
        """The folder it stands in: what it is about."""
        return self.path.split("/")[-2]

    def check(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters to send: checked against the declared types, defaults filled in.

        Raises:
            UsageError: a parameter is unknown, missing or of another type; the text says what is expected.
        """
        declared = {parameter.name: parameter for parameter in self.parameters}
        for name in values:
            if name not in declared:
                raise UsageError(self._unknown_parameter(name))
        checked: dict[str, Any] = {}
        for parameter in self.parameters:
            value = values.get(parameter.name, parameter.default)
            if value is REQUIRED:
                raise UsageError(
                    f"query {self.name} needs the parameter {parameter.name}: give {parameter.type.description}"
                )
            if not parameter.type.accepts(value):
                raise UsageError(
                    f"parameter {parameter.name} of query {self.name} must be {parameter.type.description}; "
                    f"got {_shorten(value)}"
                )
            checked[parameter.name] = parameter.type.normal(value)
        return checked

    def read_parameters(self, assignments: Mapping[str, str]) -> dict[str, Any]:
        """Return the parameters to send, read from the texts of a command line by their declared types.

        Raises:
            UsageError: as :meth:`check`, or a text does not read as the declared type.
        """
        types = {parameter.name: parameter.type for parameter in self.parameters}
        values: dict[str, Any] = {}
        for name, text in assignments.items():
            if name not in types:
                raise UsageError(self._unknown_parameter(name))
            try:
                values[name] = types[name].read(text)
            except ValueError as error:
                raise UsageError(
                    f"parameter {name} of query {self.name} must be {types[name].description}; "
                    f"got {_shorten(text)}"
                ) from error
        return self.check(values)

    def _unknown_parameter(self, name: str) -> str:
        from difflib import get_close_matches

        names = [parameter.name for parameter in self.parameters]
        close = get_close_matches(name, names, n=1)
        if close:
            return f"query {self.name} has no parameter {name}; did you mean {close[0]}?"
        return f"query {self.name} has no parameter {name}; it takes {', '.join(names) or 'none'}"


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
