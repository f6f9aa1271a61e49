"""``failgraph db``: look after the database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from failgraph.commands.output import TableFormat, note, progress, write
from failgraph.schema.errors import ConflictError, UsageError
from failgraph.settings import database_settings

if TYPE_CHECKING:
    from failgraph.graph.client import Client
    from failgraph.graph.database import DatabaseStatus

LONG_QUERY_SECONDS = 3600.0
"""A backup reads everything in one query."""

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Look after the database.")

YesOption = Annotated[bool, typer.Option("--yes", help="Yes, delete what is stored.")]


@app.command()
def status(
    output: Annotated[TableFormat, typer.Option("--format", help="text or json.")] = TableFormat.TEXT,
) -> None:
    """Show the engine, its migrations and what is stored. Changes nothing.

    Example:
        failgraph db status
    """
    from failgraph.graph.database import database_status

    with _connected() as client:
        found = database_status(client)
    if output is TableFormat.JSON:
        import json

        write(json.dumps(_status_json(found), indent=2) + "\n")
    else:
        write(_status_text(found))


@app.command()
def migrate() -> None:
    """Bring the database's constraints and indexes to this version.

    Example:
        failgraph db migrate
    """
    from failgraph.graph.migrate import migrate as apply

    with _connected() as client:
        applied = apply(client)
    for migration in applied:
        write(f"applied {migration.id} {migration.name.replace('_', ' ')}\n")
    if not applied:
        write("nothing to do: the database is up to date\n")


@app.command()
def reset(yes: YesOption = False) -> None:
    """Delete everything failgraph has stored: knowledge, incidents, all. Other data on your Neo4j stays.

    Example:
        failgraph db reset --yes
    """
    from failgraph.graph.database import reset as empty

    with _migrated() as client:
        if not yes:
            raise ConflictError(
                f"This deletes everything failgraph has stored in {client.address}; run it again with --yes."
            )
        write(f"deleted {empty(client)} nodes\n")


@app.command()
def backup(
    file: Annotated[
        Path, typer.Argument(help="File to write, for example failgraph.jsonl.gz.", show_default=False)
    ],
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write everything failgraph has stored into one file, which either engine can restore.

    Example:
        failgraph db backup failgraph.jsonl.gz
    """
    from failgraph.graph.backup import write_backup

    if file.exists() and not force:
        raise ConflictError(f"{file} exists; name another file, or replace it with --force.")
    if not file.parent.is_dir():
        raise UsageError(f"There is no directory {file.parent}; make it first.")
    with _migrated() as client, progress("Writing the backup") as report:
        header = write_backup(client, file, report)
    write(
        f"wrote {sum(header.nodes.values())} nodes and {sum(header.relations.values())} relationships to {file}\n"
    )


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="File that 'failgraph db backup' wrote.", show_default=False)],
    yes: YesOption = False,
) -> None:
    """Put a backup into the database; it must be empty, or --yes empties it.

    Example:
        failgraph db restore failgraph.jsonl.gz
    """
    from failgraph.graph.backup import restore_backup

    with _migrated() as client, progress("Restoring the backup") as report:
        header = restore_backup(client, file, replace=yes, on_progress=report)
    write(
        f"restored {sum(header.nodes.values())} nodes and {sum(header.relations.values())} relationships "
        f"from {file}\n"
    )


@contextmanager
def _connected() -> Iterator[Client]:
    """Give a client of the database as it is."""
    from failgraph.graph.client import Client

    with Client.open(_settings()) as client:
        yield client


@contextmanager
def _migrated() -> Iterator[Client]:
    from failgraph.graph.database import open_database

    with open_database(_settings()) as client:
        yield client


def _settings() -> Any:
    settings = database_settings()
    return replace(settings, query_timeout=max(settings.query_timeout, LONG_QUERY_SECONDS))


def _status_json(status: DatabaseStatus) -> dict[str, Any]:
    return {
        "engine": status.engine,
        "version": status.version,
        "address": status.address,
        "serves": status.serves,
        "durable": status.durable,
        "migrations": {
            "applied": [asdict(migration) for migration in status.migrations.applied],
            "pending": [migration.id for migration in status.migrations.pending],
        },
        "nodes": status.nodes,
        "packs": [asdict(pack) for pack in status.packs],
    }


def _status_text(status: DatabaseStatus) -> str:
    lines = [
        f"engine      {status.engine} ({status.version})",
        f"address     {status.address}",
    ]
    if status.engine != "neo4j":
        by = "this process" if status.serves else "another process"
        durable = {True: ", every commit on disk", False: ", commits NOT on disk", None: ""}[status.durable]
        lines.append(f"served by   {by}{durable}")
    migrations = status.migrations
    last = f"{len(migrations.applied)} applied"
    if migrations.applied:
        last += f", last {migrations.applied[-1].id} {migrations.applied[-1].name}"
    if migrations.pending:
        last += f"; {len(migrations.pending)} pending"
    lines.append(f"migrations  {last}")
    packs = [f"{pack.id} (revision {pack.revision})" for pack in status.packs]
    lines.append(f"packs       {', '.join(packs) or 'none'}")
    width = max((len(label) for label in status.nodes), default=0)
    stored = [f"{label:{width}} {count:>8}" for label, count in status.nodes.items()]
    lines += [f"{'nodes' if index == 0 else '':12}{entry}" for index, entry in enumerate(stored or ["none"])]
    if migrations.pending:
        note("Migrations are pending; run 'failgraph db migrate'.")
    return "\n".join(lines) + "\n"
