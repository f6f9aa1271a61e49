"""Reads the migrations: numbered files ``V0001__name.cypher`` that build constraints and indexes.

A migration is never changed once it is released; what is needed later is a new file. Its checksum is recorded in
the graph when it is applied.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from failgraph.schema.errors import Location, MigrationError

_FILE = re.compile(r"V(?P<number>[0-9]{4})__(?P<name>[a-z0-9_]+)\.cypher")

# A string or quoted name with its escapes, a comment, the end of a statement, or anything else.
_PIECE = re.compile(
    r"""
      '(?:[^'\\]|\\.)*'
    | "(?:[^"\\]|\\.)*"
    | `(?:[^`]|``)*`
    | (?P<comment> //[^\n]* | /\*.*?\*/ )
    | (?P<end> ; )
    | (?P<open> ['"`] | /\* )
    | .
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Statement:
    """One statement of a migration, without comments, and the line it starts on."""

    text: str
    line: int


@dataclass(frozen=True)
class MigrationFile:
    """One migration. ``id`` is V and four digits, ``checksum`` the sha256 of the file's bytes."""

    id: str
    name: str
    path: str
    checksum: str
    statements: tuple[Statement, ...]


def split_statements(text: str, path: str = "text") -> tuple[Statement, ...]:
    """Split a text at the semicolons that stand outside strings, quoted names and comments.

    Raises:
        MigrationError: a string, quoted name or comment is not closed.

    >>> [statement.text for statement in split_statements("RETURN ';' // one; two")]
    ["RETURN ';'"]
    """
    return tuple(_statements(text, path))


def _statements(text: str, path: str) -> Iterator[Statement]:
    pieces: list[str] = []
    start = 0
    for match in _PIECE.finditer(text):
        if match["open"]:
            line = text.count("\n", 0, match.start()) + 1
            raise MigrationError(
                f"{match[0]} is opened and never closed; close it", location=Location(path, line)
            )
        if match["end"]:
            yield from _statement(pieces, text, start)
            pieces = []
        elif not match["comment"]:
            if not pieces and match[0].isspace():
                continue
            if not pieces:
                start = match.start()
            pieces.append(match[0])
    yield from _statement(pieces, text, start)


def _statement(pieces: Sequence[str], text: str, start: int) -> Iterator[Statement]:
    body = "".join(pieces).strip()
    if body:
        yield Statement(body, text.count("\n", 0, start) + 1)


def read_migrations(folder: Traversable, label: str = "schema/migrations") -> tuple[MigrationFile, ...]:
    """Return the migrations of a folder in order.

    Args:
        folder: holds one file a migration, numbered from 1 without gaps.
        label: how errors name the folder.

    Raises:
        MigrationError: a file name is wrong, a number is missing or used twice, or a file holds no statement.
    """
    migrations: list[MigrationFile] = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if not entry.name.endswith(".cypher"):
            continue
        path = f"{label}/{entry.name}"
        match = _FILE.fullmatch(entry.name)
        if not match:
            raise MigrationError(
                "this is no name of a migration; use V0001__what_it_does.cypher", location=Location(path)
            )
        expected = len(migrations) + 1
        if int(match["number"]) != expected:
            raise MigrationError(
                f"migrations are numbered without gaps and V{expected:04} is due here; renumber this file",
                location=Location(path),
            )
        content = entry.read_bytes()
        statements = split_statements(content.decode("utf-8"), path)
        if not statements:
            raise MigrationError("the migration holds no statement; write one", location=Location(path))
        checksum = hashlib.sha256(content).hexdigest()
        migrations.append(MigrationFile(f"V{match['number']}", match["name"], path, checksum, statements))
    return tuple(migrations)


@cache
def shipped_migrations() -> tuple[MigrationFile, ...]:
    """Return the migrations of this version of failgraph, in order."""
    return read_migrations(files("failgraph.schema") / "migrations")
