"""Opens, describes and empties the database."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from failgraph.graph.client import Client, DatabaseSettings, LostEngineError
from failgraph.graph.migrate import MigrationState, migrate, migration_state
from failgraph.schema.errors import ConflictError, MigrationError, QueryFailedError

DELETE_BATCH: Final = 5_000
MIGRATION_ATTEMPTS: Final = 4


def open_database(settings: DatabaseSettings, meanwhile: Callable[[], object] | None = None) -> Client:
    """Connect to the database and make sure that it has this version's constraints and indexes.

    A new database is migrated, and so is the embedded one after an update of failgraph. A server that others use
    too is migrated by ``failgraph db migrate``, when its owner decides.

    Args:
        settings: which database.
        meanwhile: see :meth:`Client.open`.

    Raises:
        MigrationError: it is of a newer failgraph, an applied migration was changed, or a server is behind.
        DatabaseError: it cannot be reached.
    """
    client = Client.open(settings, meanwhile)
    try:
        state = migration_state(client)
        if state.pending and state.applied and not client.embedded:
            raise MigrationError(
                f"The database {client.address} lacks {len(state.pending)} migration(s) of this version of "
                "failgraph; run 'failgraph db backup FILE', then 'failgraph db migrate'."
            )
        if state.pending:
            _migrate_with_others(client)
    except BaseException:
        client.close()
        raise
    return client


def _migrate_with_others(client: Client) -> None:
    """Migrate a new database, also when several processes find it new at the same moment."""
    for attempt in range(1, MIGRATION_ATTEMPTS + 1):
        try:
            migrate(client)
        except (QueryFailedError, LostEngineError, ConflictError) as error:
            # Another process may just be building the same constraints, or have served and ended.
            if attempt == MIGRATION_ATTEMPTS or isinstance(error, MigrationError):
                raise
            time.sleep(0.2 * attempt)
        else:
            return


def reset(client: Client) -> int:
    """Delete everything that failgraph stored, in batches; return the number of nodes.

    Constraints, indexes and the record of migrations stay, and so does everything with other labels only.
    """
    total = 0
    while True:
        deleted: int = client.write("delete_owned", limit=DELETE_BATCH)[0]["deleted"]
        total += deleted
        if deleted < DELETE_BATCH:
            return total


def is_empty(client: Client) -> bool:
    """Tell whether failgraph has stored nothing but its record of migrations."""
    return not client.read("count_nodes")


@dataclass(frozen=True)
class LoadedPack:
    """A knowledge pack in the graph."""

    id: str
    name: str
    revision: int


@dataclass(frozen=True)
class DatabaseStatus:
    """What ``failgraph db status`` says. ``durable``: see :attr:`Client.durable`; ``nodes`` counts by label."""

    engine: str
    version: str
    address: str
    serves: bool
    durable: bool | None
    migrations: MigrationState
    nodes: dict[str, int]
    packs: tuple[LoadedPack, ...]


def database_status(client: Client) -> DatabaseStatus:
    """Describe an open database, migrated or not.

    Raises:
        MigrationError: an applied migration was changed, or the database is of a newer failgraph.
    """
    return DatabaseStatus(
        engine=client.engine,
        version=client.version,
        address=client.address,
        serves=client.serves,
        durable=client.durable,
        migrations=migration_state(client),
        nodes={row["label"]: row["nodes"] for row in client.read("count_nodes")},
        packs=tuple(LoadedPack(row["id"], row["name"], row["revision"]) for row in client.read("packs")),
    )
