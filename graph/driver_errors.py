"""Turns the driver's errors into failgraph's, each with what to do next.

The driver itself is imported in ``client`` only; its module of errors is handed in.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from failgraph.graph.engine import password_file
from failgraph.graph.values import shortened
from failgraph.schema.errors import (
    ConflictError,
    DatabaseError,
    FailgraphError,
    Location,
    QueryFailedError,
    QueryTimeoutError,
)

_TIMEOUT_CODES: Final = ("TransactionTimedOut", "Transaction.Terminated", "LockClientStopped")


class LostEngineError(DatabaseError):
    """The process that served the embedded engine for this one has ended; the next call finds or starts another."""


@dataclass(frozen=True)
class Place:
    """Where an error came from.

    Args:
        address: the server's address, or the data directory of the embedded engine.
        database: the name of the database on the server.
        embedded: it is the embedded engine.
        serves: this process runs the embedded engine.
    """

    address: str
    database: str | None
    embedded: bool
    serves: bool

    def __str__(self) -> str:
        return f"the {'embedded database in' if self.embedded else 'database at'} {self.address}"


def translated(error: Exception, errors: Any, place: Place, location: Location | None) -> FailgraphError:
    """Return the error to raise instead of the driver's.

    Args:
        error: what the driver raised.
        errors: the driver's module of errors.
        place: the database.
        location: the file of the query, when there is one.
    """
    unreachable = (errors.ServiceUnavailable, errors.SessionExpired)
    # An ending engine refuses logins before it stops to listen.
    gone = unreachable if place.serves else (*unreachable, errors.AuthError)
    if place.embedded and isinstance(error, gone):
        return LostEngineError(f"The process that served {place} is gone; run the command again.")
    if isinstance(error, errors.AuthError):
        hint = "check NEO4J_USERNAME and NEO4J_PASSWORD"
        if place.embedded:
            hint = f"delete {password_file(Path(place.address))} and try again"
        return DatabaseError(f"The login was refused by {place}; {hint}.")
    if isinstance(error, unreachable):
        return DatabaseError(
            f"Nothing answers as {place}; check that it is running and that NEO4J_URI is right "
            f"({shortened(str(error))})."
        )
    if not isinstance(error, errors.Neo4jError):
        return DatabaseError(f"The driver cannot work with {place}: {shortened(str(error))}.")
    return _refused(error, errors, place, location)


def _refused(error: Any, errors: Any, place: Place, location: Location | None) -> FailgraphError:
    """Return the error for an answer of the database."""
    code, reason = error.code or "", shortened(error.message or str(error))
    if isinstance(error, errors.ConstraintError):
        return ConflictError(f"This contradicts what is stored: {reason}.", location=location)
    if any(part in code for part in _TIMEOUT_CODES) or "TimeoutException" in str(error):
        return QueryTimeoutError(
            f"The query was ended after its time limit by {place}; ask for less or raise the limit.",
            location=location,
        )
    if code.endswith("Database.DatabaseNotFound"):
        return DatabaseError(
            f"There is no database {place.database!r} at {place.address}; correct NEO4J_DATABASE."
        )
    return QueryFailedError(f"The query was refused by {place}: {reason} ({code}).", location=location)
