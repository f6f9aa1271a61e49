"""How commands come to an open database that holds the shipped knowledge."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from failgraph.settings import database_settings

if TYPE_CHECKING:
    from failgraph.graph.client import Client


@contextmanager
def open_knowledge(meanwhile: Callable[[], object] | None = None) -> Iterator[Client]:
    """Give a client of the migrated database with the core pack loaded, and close it afterwards.

    Args:
        meanwhile: done in another thread while the embedded engine starts.

    Raises:
        DatabaseError: the database cannot be reached.
        PackError: the shipped pack is not valid.
        ConflictError: the database is of another version.
    """
    from failgraph.commands.output import progress
    from failgraph.graph.database import open_database
    from failgraph.loaders.sync import ensure_core_pack

    with open_database(database_settings(), meanwhile) as client:
        with progress("Loading the core pack") as report:
            ensure_core_pack(client, on_progress=report)
        yield client
