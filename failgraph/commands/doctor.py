"""``failgraph doctor``: say whether everything failgraph needs is there."""

from __future__ import annotations

import json
import os
import platform
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Annotated, Final

import typer

from failgraph.commands.output import TableFormat

ENGINE_PACKAGES: Final = {"native": "arcadedb", "jvm": "arcadedb-embedded"}
DATABASE_EXIT: Final = 4


@dataclass(frozen=True)
class Look:
    """One thing that was looked at. ``state`` is ok, note or fail; a failed one says what to do."""

    topic: str
    state: str
    detail: str


def doctor(
    output: Annotated[TableFormat, typer.Option("--format", help="text or json.")] = TableFormat.TEXT,
) -> None:
    """Say whether everything failgraph needs is there: exit code 0 when it is, 4 when not.

    No password is printed, so the result can be sent with a question.

    Example:
        failgraph doctor
    """
    from failgraph.commands.output import write
    from failgraph.render.escape import terminal

    looks = [*look_at_installation(), *look_at_settings(), *look_at_database()]
    if output is TableFormat.JSON:
        write(json.dumps([asdict(look) for look in looks], indent=2) + "\n")
    else:
        write("".join(f"{look.state:<5} {look.topic:<14} {terminal(look.detail)}\n" for look in looks))
    if any(look.state == "fail" for look in looks):
        raise typer.Exit(DATABASE_EXIT)


def look_at_installation() -> Iterator[Look]:
    """Look at Python, failgraph, the engine's packages and the matchers."""
    from failgraph import __version__

    version = platform.python_version()
    fits = sys.version_info >= (3, 11)
    yield Look("python", "ok" if fits else "fail", f"{version} ({platform.machine()} {platform.system()})")
    yield Look("failgraph", "ok", __version__)
    engines = {kind: _version(package) for kind, package in ENGINE_PACKAGES.items()}
    found = ", ".join(f"{kind} {number}" for kind, number in engines.items() if number)
    missing = "no embedded engine is installed; run 'pip install failgraph' again, or set NEO4J_URI"
    required = not os.environ.get("NEO4J_URI")
    yield Look("engine", "ok" if found else "fail" if required else "note", found or missing)
    yield Look("java", "ok", "not needed")
    yield look_at_matchers()


def look_at_matchers() -> Look:
    """Look at which engines can search logs; the first is used."""
    from failgraph.loaders.engines import available_engines

    engines = [f"{name} {version}" for name, version in available_engines().items()]
    slow = len(engines) == 1
    detail = f"{engines[0]} in use" + ("" if slow else f"; also there: {', '.join(engines[1:])}")
    return Look("matcher", "note" if slow else "ok", detail + (", slow on large logs" if slow else ""))


def look_at_settings() -> Iterator[Look]:
    """Look at what the environment and the options say."""
    from failgraph.settings import SETTINGS

    shown = []
    for setting in SETTINGS:
        value = os.environ.get(setting.name)
        if value:
            shown.append(f"{setting.name}={_harmless(setting.name, value)}")
    yield Look("settings", "ok", ", ".join(shown) or "nothing set: embedded engine, defaults")


def look_at_database() -> Iterator[Look]:
    """Look at the data directory, then open the database and look at what it holds."""
    from failgraph.schema.errors import FailgraphError
    from failgraph.settings import data_directory, database_settings

    try:
        settings = database_settings()
    except FailgraphError as error:
        yield Look("database", "fail", str(error))
        return
    if settings.uri is None:
        yield look_at_directory(data_directory())
    try:
        yield from _look_inside()
    except FailgraphError as error:
        yield Look("database", "fail", _harmless("NEO4J_URI", str(error)))


def look_at_directory(directory: Path) -> Look:
    """Look at a data directory: whether it can be written to, and who else may read it."""
    existing = directory
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        return Look(
            "data",
            "fail",
            f"{directory} cannot be written; choose another with --data-dir or FAILGRAPH_DATA_DIR",
        )
    if existing != directory:
        return Look("data", "ok", f"{directory} (made on first use)")
    mode = directory.stat().st_mode & 0o777
    return Look("data", "ok", f"{directory} (mode {mode:04o})")


def _look_inside() -> Iterator[Look]:
    from failgraph.graph.database import open_database
    from failgraph.graph.migrate import migration_state
    from failgraph.settings import database_settings

    with open_database(database_settings()) as client:
        address = _harmless("NEO4J_URI", client.address)
        yield Look("database", "ok", f"{client.engine} {client.version} at {address}")
        state = migration_state(client)
        yield Look("migrations", "ok", f"{len(state.applied)} applied, {len(state.pending)} pending")
        packs = [f"{row['id']} (revision {row['revision']})" for row in client.read("packs")]
        nothing = "none yet; the core pack is loaded when it is first needed"
        yield Look("packs", "ok" if packs else "note", ", ".join(packs) or nothing)


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _harmless(name: str, value: str) -> str:
    """Return a setting's value without what nobody else should see.

    >>> _harmless("NEO4J_PASSWORD", "secret"), _harmless("NEO4J_URI", "bolt://me:secret@host:7687")
    ('(set)', 'bolt://(hidden)@host:7687')
    """
    if "PASSWORD" in name:
        return "(set)"
    return re.sub(r"(?<=://)[^/@\s]+@", "(hidden)@", value)
