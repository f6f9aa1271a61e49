"""Finds the shipped queries by name. Files are parsed when they are first asked for, and then kept."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from failgraph.queries.header import parse_query
from failgraph.queries.query import Query
from failgraph.schema.errors import Location, QueryDefinitionError, UsageError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

SUFFIX = ".cypher"


class Registry:
    """The queries under one folder, by name.

    Args:
        root: the folder; every ``.cypher`` file below it is a query named by its stem.
        label: how errors name the folder.
    """

    def __init__(self, root: Traversable, label: str = "queries") -> None:
        self._root = root
        self._label = label
        self._files: dict[str, list[tuple[str, Traversable]]] | None = None
        self._queries: dict[str, Query] = {}

    def _index(self) -> dict[str, list[tuple[str, Traversable]]]:
        """Return the files of each name, with their paths."""
        if self._files is None:
            found: dict[str, list[tuple[str, Traversable]]] = {}
            folders = [(self._label, self._root)]
            while folders:
                path, folder = folders.pop()
                for entry in folder.iterdir():
                    if entry.name.endswith(SUFFIX):
                        name = entry.name.removesuffix(SUFFIX)
                        found.setdefault(name, []).append((f"{path}/{entry.name}", entry))
                    elif "." not in entry.name and not entry.name.startswith("__") and entry.is_dir():
                        folders.append((f"{path}/{entry.name}", entry))
            self._files = {name: sorted(found[name], key=lambda file: file[0]) for name in sorted(found)}
        return self._files

    def names(self) -> tuple[str, ...]:
        """Return the names of all queries, sorted."""
        return tuple(self._index())

    def get(self, name: str) -> Query:
        """Return the query of this name.

        Raises:
            UsageError: no query has this name.
            QueryDefinitionError: its file is wrong, or two files have this name.
        """
        known = self._queries.get(name)
        if known is not None:
            return known
        sources = self._index().get(name)
        if not sources:
            from difflib import get_close_matches

            close = get_close_matches(name, self.names(), n=3)
            hint = f"did you mean {' or '.join(close)}?" if close else "list them with 'failgraph query list'"
            raise UsageError(f"there is no query {name!r}; {hint}")
        if len(sources) > 1:
            raise QueryDefinitionError(
                f"two queries are named {name}: this file and {sources[1][0]}; rename one",
                location=Location(sources[0][0]),
            )
        path, file = sources[0]
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise QueryDefinitionError(
                "the file is not UTF-8; save it as UTF-8", location=Location(path)
            ) from error
        query = parse_query(text, name=name, path=path)
        self._queries[name] = query
        return query

    def all(self) -> tuple[Query, ...]:
        """Return all queries, sorted by name.

        Raises:
            QueryDefinitionError: as :meth:`get`, for the first wrong file.
        """
        return tuple(self.get(name) for name in self.names())


@cache
def _shipped() -> Registry:
    return Registry(files("failgraph.queries"))


def get_query(name: str) -> Query:
    """Return the shipped query of this name; see :meth:`Registry.get` for the errors."""
    return _shipped().get(name)


def all_queries() -> tuple[Query, ...]:
    """Return all shipped queries, sorted by name; see :meth:`Registry.all` for the errors."""
    return _shipped().all()
