"""Turns what a database returns into plain Python, the same from both engines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from failgraph.queries.query import Query
from failgraph.schema.errors import Location, QueryDefinitionError

_PLAIN: Final = frozenset({type(None), bool, int, float, str})


@dataclass(frozen=True)
class Table:
    """The result of a user's query. ``truncated``: there are more rows than were asked for."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    truncated: bool


def plain(value: Any) -> Any:
    """Return the value as None, bool, int, float, str, list or dict.

    Dates, times and durations become ISO 8601 texts. Nodes and relationships become the map of their properties,
    a path the map of its ``nodes`` and ``relationships``, a point its list of coordinates, bytes a text of
    hexadecimal digits. The keys of a map are sorted, because an engine keeps no order.
    """
    if type(value) in _PLAIN or isinstance(value, str | int | float):
        return value
    if type(value) is list:  # nearly all that is not plain; thousands of values come in a row
        return [item if type(item) in _PLAIN else plain(item) for item in value]
    if isinstance(value, bytes | bytearray):
        return value.hex()
    if hasattr(value, "iso_format"):
        return value.iso_format()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "relationships"):
        return {"nodes": plain(list(value.nodes)), "relationships": plain(list(value.relationships))}
    return {key: plain(item) for key, item in sorted(value.items())}


def capped_table(names: Sequence[str], records: Iterable[Iterable[Any]], limit: int) -> Table:
    """Return the first rows as plain values; no more than one record above the limit is read.

    >>> capped_table(["n"], iter([[1], [2], [3]]), limit=2)
    Table(columns=('n',), rows=[(1,), (2,)], truncated=True)
    """
    rows: list[tuple[Any, ...]] = []
    for record in records:
        if len(rows) == limit:
            return Table(tuple(names), rows, truncated=True)
        rows.append(tuple(map(plain, record)))
    return Table(tuple(names), rows, truncated=False)


def typed_rows(
    query: Query, names: Sequence[str], records: Iterable[Sequence[Any]]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a shipped query, each value plain and of its declared type.

    Args:
        query: declares the columns.
        names: the columns that the database names; the embedded engine names none when there are no rows.
        records: the values of each row in that order.

    Raises:
        QueryDefinitionError: the query returns other columns or other types than it declares.
    """
    declared = [column.name for column in query.columns]
    if names and list(names) != declared:
        raise QueryDefinitionError(
            f"the query returns {', '.join(names)} and declares {', '.join(declared)}; correct its header",
            location=Location(query.path),
        )
    for record in records:
        row = {}
        for column, value in zip(query.columns, map(plain, record), strict=True):
            if not column.type.accepts(value):
                raise QueryDefinitionError(
                    f"the column {column.name} is declared {column.type} and holds {shortened(repr(value))}; "
                    "correct its header",
                    location=Location(query.path),
                )
            row[column.name] = column.type.normal(value)
        yield row


def shortened(text: str, length: int = 300) -> str:
    r"""Return the first line of a text, without its full stop, and cut where it is too long.

    >>> shortened("One sentence.\nAnother one.")
    'One sentence'
    """
    line = text.strip().partition("\n")[0].rstrip(". ")
    return line if len(line) <= length else f"{line[: length - 3]}..."
