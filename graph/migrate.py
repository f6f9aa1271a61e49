"""Applies migrations, and refuses a database that this version of failgraph does not fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from failgraph.graph.client import Client
from failgraph.schema.errors import Location, MigrationError
from failgraph.schema.migration import MigrationFile, shipped_migrations


@dataclass(frozen=True)
class AppliedMigration:
    """A migration as the graph remembers it."""

    id: str
    name: str
    checksum: str
    applied: str


@dataclass(frozen=True)
class MigrationState:
    """What was applied to a database and what is still to do."""

    applied: tuple[AppliedMigration, ...]
    pending: tuple[MigrationFile, ...]


def migration_state(client: Client, migrations: Sequence[MigrationFile] | None = None) -> MigrationState:
    """Return what was applied and what is pending.

    Args:
        client: the database.
        migrations: instead of the shipped ones.

    Raises:
        MigrationError: an applied migration's file was changed, or the database is of a newer failgraph.
    """
    known = shipped_migrations() if migrations is None else tuple(migrations)
    applied = tuple(AppliedMigration(**row) for row in client.read("applied_migrations"))
    by_id = {migration.id: migration for migration in known}
    for done in applied:
        migration = by_id.get(done.id)
        if migration is None:
            raise MigrationError(
                f"The database {client.address} has migration {done.id} ({done.name}), which this version of "
                "failgraph does not know; install the newer failgraph that made it."
            )
        if migration.checksum != done.checksum:
            raise MigrationError(
                f"this migration was applied to {client.address} on {done.applied[:10]} and was changed since; "
                "restore the file and put the change into a new migration",
                location=Location(migration.path),
            )
    seen = {done.id for done in applied}
    return MigrationState(applied, tuple(migration for migration in known if migration.id not in seen))


def migrate(client: Client, migrations: Sequence[MigrationFile] | None = None) -> tuple[MigrationFile, ...]:
    """Apply what is pending, in order; return it.

    A migration that fails half-way is not recorded. Its statements may be run again, so the next call repeats it.

    Raises:
        MigrationError: as :func:`migration_state`.
        DatabaseError: the database refused a statement.
    """
    pending = migration_state(client, migrations).pending
    for migration in pending:
        client.define(
            [(statement.text, Location(migration.path, statement.line)) for statement in migration.statements]
        )
        client.write(
            "record_migration",
            id=migration.id,
            name=migration.name,
            checksum=migration.checksum,
            applied=datetime.now(UTC).isoformat(timespec="seconds"),
        )
    return pending
