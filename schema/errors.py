"""The exception tree of failgraph.

Every error that a user can cause or meet descends from :class:`FailgraphError`. Its text is one sentence that
says what is wrong, where, and what to do next; ``exit_code`` is what the command line ends with::

    FailgraphError                    1
    ├── UsageError                    2   an argument, option or parameter is wrong
    ├── NothingReadError              3   no input could be read at all
    ├── DatabaseError                 4   the database cannot be reached or cannot do what is needed
    │   ├── EngineError               4   the embedded engine cannot start
    │   ├── QueryFailedError          4   the database refused or ended a query
    │   └── QueryTimeoutError         4   a query ran into its time limit
    ├── PackError                     5   a knowledge pack is not valid
    ├── QueryDefinitionError          5   a .cypher file of the product or a pack is not valid
    ├── PartialError                  6   a part was done, a part was not; the text says which
    └── ConflictError                 7   refused: it contradicts what is stored or what is allowed
        ├── MigrationError            7   a migration changed, or the database is of a newer version
        └── ReadOnlyError             7   a query for reading tries to write

Foreign exceptions are translated where they enter (driver, YAML, operating system), with ``raise ... from``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Location:
    """A place in a text file: path as the user gave it, line and column counted from 1 (0: unknown)."""

    path: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        if not self.line:
            return self.path
        return f"{self.path}:{self.line}:{self.column}" if self.column else f"{self.path}:{self.line}"


class FailgraphError(Exception):
    """Base of all errors that failgraph raises on purpose.

    Args:
        message: one sentence: what is wrong and what to do.
        location: the place in a file, put in front of the message when printed.
    """

    exit_code = 1

    def __init__(self, message: str, *, location: Location | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.location = location

    def __str__(self) -> str:
        return f"{self.location}: {self.message}" if self.location else self.message


class UsageError(FailgraphError):
    """An argument, option or parameter is wrong."""

    exit_code = 2


class NothingReadError(FailgraphError):
    """No input could be read at all."""

    exit_code = 3


class DatabaseError(FailgraphError):
    """The database cannot be reached or cannot do what is needed."""

    exit_code = 4


class EngineError(DatabaseError):
    """The embedded engine is missing, cannot start or is held by another process."""


class QueryFailedError(DatabaseError):
    """The database refused or ended a query."""


class QueryTimeoutError(DatabaseError):
    """A query ran into its time limit and was ended."""


class PackError(FailgraphError):
    """A knowledge pack is not valid; ``problems`` of a lint run are listed by the caller."""

    exit_code = 5


class QueryDefinitionError(FailgraphError):
    """A query file has a wrong header, an undeclared parameter or an unknown label."""

    exit_code = 5


class PartialError(FailgraphError):
    """A part was done and a part was not; the message says which and why."""

    exit_code = 6


class ConflictError(FailgraphError):
    """Refused, because it contradicts what is stored or what is allowed."""

    exit_code = 7


class MigrationError(ConflictError):
    """An applied migration was changed, or the database is of a newer version."""


class ReadOnlyError(ConflictError):
    """A query that must only read tries to write, to change the schema or to call a procedure."""
