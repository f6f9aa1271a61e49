"""How commands come to an open database that holds the shipped knowledge."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from failgraph.settings import database_settings

if TYPE_CHECKING:
    from failgraph.graph.client import Client


@contextmanager
def open_knowledge() -> Iterator[Client]:
    """Give a client of the migrated database with the core pack loaded, and close it afterwards.

    Raises:
        DatabaseError: the database cannot be reached.
        PackError: the shipped pack is not valid.
        ConflictError: the database is of another version.
    """
    from failgraph.commands.output import progress
    from failgraph.graph.database import open_database
    from failgraph.loaders.sync import ensure_core_pack

    with open_database(database_settings()) as client:
        with progress("Loading the core pack") as report:
            ensure_core_pack(client, on_progress=report)
        yield client
