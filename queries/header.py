"""Reads the header of a query file: the comment lines on its top that declare the query.

::

    // doc:    Causes that explain the seen signals, best first.
    // access: read                 read or write
    // shape:  rows                 rows, row, value, none, or stream: rows in any order, to read everything
    // param:  ids    list[str]     normalised ids of what was seen
    // param:  limit  int = 20      most rows to return; the default is JSON
    // column: id     str           the columns stand in the order of the RETURN
    UNWIND $ids AS id ...

A header line that is indented by four or more blanks goes on with the line above. The header ends with the first
line that is no ``//`` comment; comments after it are free.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from failgraph.queries.query import REQUIRED, Column, Parameter, Query, ValueType, parse_type
from failgraph.queries.tokens import Kind, Token, locate, tokenize
from failgraph.schema.errors import Location, QueryDefinitionError

ACCESSES: Final = ("read", "write")
SHAPES: Final = ("rows", "row", "value", "none", "stream")
KEYS: Final = ("doc", "access", "shape", "param", "column")

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_ENTRY = re.compile(r"//[ ]{0,3}(?P<key>[A-Za-z_-]+)[ ]*:[ ]*(?P<rest>.*)")
_CONTINUATION = re.compile(r"//[ ]{4,}(?P<rest>\S.*)")
_DECLARATION = re.compile(r"(?P<name>\S+)\s+(?P<type>\S+)(?P<rest>.*)")


@dataclass
class _Header:
    """What was read so far; the values of doc, access and shape by their key."""

    single: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, tuple[Parameter, Location]] = field(default_factory=dict)
    columns: dict[str, tuple[Column, Location]] = field(default_factory=dict)


def parse_query(text: str, *, name: str, path: str) -> Query:
    """Return the query that a file declares.

    Args:
        text: the whole file.
        name: the file's stem.
        path: how errors name the file.

    Raises:
        QueryDefinitionError: the header is incomplete or wrong, or does not fit the text; with file and line.
    """
    if not _NAME.fullmatch(name):
        raise QueryDefinitionError(
            f"the file name {name!r} is no query name; use lower case letters, digits and underscores",
            location=Location(path),
        )
    header = _Header()
    for line, key, rest in _entries(text, path):
        _take(header, key, rest, Location(path, line))
    for key in ("doc", "access", "shape"):
        if key not in header.single:
            raise QueryDefinitionError(
                f"the header has no {key}; add a line '// {key}: ...'", location=Location(path, 1)
            )
    query = Query(
        name=name,
        doc=header.single["doc"],
        access=header.single["access"],
        shape=header.single["shape"],
        parameters=tuple(parameter for parameter, _ in header.parameters.values()),
        columns=tuple(column for column, _ in header.columns.values()),
        text=text,
        path=path,
    )
    tokens = tokenize(text, path=path)
    _check_columns(query)
    _check_parameters(header, tokens, text, path)
    _check_order(query, tokens)
    return query


def _entries(text: str, path: str) -> Iterator[tuple[int, str, str]]:
    """Yield line number, key and value of each header entry, continuation lines joined."""
    entry: tuple[int, str, str] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.startswith("//"):
            break
        started = _ENTRY.fullmatch(line)
        continued = None if started else _CONTINUATION.fullmatch(line)
        if started:
            if entry:
                yield entry
            entry = (number, started["key"], started["rest"].strip())
        elif continued and entry:
            entry = (entry[0], entry[1], f"{entry[2]} {continued['rest'].strip()}")
        else:
            raise QueryDefinitionError(
                "this header line is no '// key: value'; put free comments after an empty line",
                location=Location(path, number),
            )
    if entry:
        yield entry


def _take(header: _Header, key: str, rest: str, location: Location) -> None:
    if key not in KEYS:
        raise QueryDefinitionError(
            f"the header key {key!r} is not known; the keys are {', '.join(KEYS)}", location=location
        )
    if not rest:
        raise QueryDefinitionError(f"the header key {key!r} has no value; write it", location=location)
    if key == "param":
        parameter = _parameter(rest, location)
        if parameter.name in header.parameters:
            raise QueryDefinitionError(
                f"the parameter {parameter.name} is declared twice; remove one", location=location
            )
        header.parameters[parameter.name] = (parameter, location)
    elif key == "column":
        name, column_type, description = _declaration(rest, location)
        if name in header.columns:
            raise QueryDefinitionError(f"the column {name} is declared twice; remove one", location=location)
        header.columns[name] = (Column(name, column_type, description), location)
    else:
        if key in header.single:
            raise QueryDefinitionError(f"the header key {key!r} stands twice; remove one", location=location)
        allowed = {"access": ACCESSES, "shape": SHAPES}.get(key)
        if allowed and rest not in allowed:
            raise QueryDefinitionError(
                f"{rest!r} is no {key}; write one of {', '.join(allowed)}", location=location
            )
        header.single[key] = rest


def _declaration(rest: str, location: Location) -> tuple[str, ValueType, str]:
    """Return name, type and the rest of a parameter's or column's line."""
    match = _DECLARATION.fullmatch(rest)
    if not match or not _NAME.fullmatch(match["name"]):
        raise QueryDefinitionError(
            f"{rest!r} declares nothing; write a name in lower case and its type", location=location
        )
    try:
        return match["name"], parse_type(match["type"]), match["rest"].strip()
    except ValueError as error:
        raise QueryDefinitionError(str(error), location=location) from error


def _parameter(rest: str, location: Location) -> Parameter:
    name, value_type, remainder = _declaration(rest, location)
    default: Any = None if value_type.nullable else REQUIRED
    if remainder.startswith("="):
        source = remainder[1:].lstrip()
        try:
            default, end = json.JSONDecoder().raw_decode(source)
        except json.JSONDecodeError as error:
            raise QueryDefinitionError(
                f"the default of {name} is not JSON; write texts in double quotes", location=location
            ) from error
        if not value_type.accepts(default):
            raise QueryDefinitionError(
                f"the default of {name} must be {value_type.description}", location=location
            )
        default = value_type.normal(default)
        remainder = source[end:].strip()
    return Parameter(name, value_type, default, remainder)


def _check_columns(query: Query) -> None:
    wrong = {
        "none": (bool(query.columns), "a query of shape none returns nothing; remove its columns"),
        "value": (len(query.columns) != 1, "a query of shape value has exactly one column; declare it"),
        "row": (not query.columns, "a query of shape row has columns; declare them"),
        "rows": (not query.columns, "a query of shape rows has columns; declare them"),
        "stream": (not query.columns, "a query of shape stream has columns; declare them"),
    }
    is_wrong, message = wrong[query.shape]
    if is_wrong:
        raise QueryDefinitionError(message, location=Location(query.path, 1))


def _check_parameters(header: _Header, tokens: list[Token], text: str, path: str) -> None:
    used = {token.name: token.start for token in reversed(tokens) if token.kind is Kind.PARAMETER}
    for name, start in used.items():
        if name not in header.parameters:
            raise QueryDefinitionError(
                f"the parameter ${name} is used and not declared; add '// param: {name} TYPE'",
                location=locate(text, start, path),
            )
    for name, (_, location) in header.parameters.items():
        if name not in used:
            raise QueryDefinitionError(
                f"the parameter {name} is declared and not used; use it or remove the line", location=location
            )


def _check_order(query: Query, tokens: list[Token]) -> None:
    returns = [index for index, token in enumerate(tokens) if token.is_word("RETURN")]
    if query.shape == "none":
        return
    if not returns:
        raise QueryDefinitionError(
            f"a query of shape {query.shape} needs a RETURN; add one or declare shape none",
            location=Location(query.path, 1),
        )
    tail = tokens[returns[-1] :]
    ordered = any(first.is_word("ORDER") and second.is_word("BY") for first, second in pairwise(tail))
    if query.shape == "rows" and not ordered:
        raise QueryDefinitionError(
            "rows need an order; end with ORDER BY and a unique last key",
            location=locate(query.text, tail[0].start, query.path),
        )
