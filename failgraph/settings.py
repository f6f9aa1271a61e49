"""Where failgraph's settings come from: options of one run, then the environment, then defaults.

The environment is read here and nowhere else in the front door. :data:`SETTINGS` is the table that the README
shows; :func:`invocation` holds what was said on this run's command line.
"""

from __future__ import annotations

import os
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from failgraph.schema.errors import UsageError

if TYPE_CHECKING:
    from failgraph.graph.client import DatabaseSettings

DEFAULT_QUERY_TIMEOUT: Final = 60.0
"""Seconds a query may take."""
ENGINES: Final = ("auto", "native", "jvm")


@dataclass(frozen=True)
class Setting:
    """One environment variable: its name, what holds without it, and what it does."""

    name: str
    default: str
    meaning: str


SETTINGS: Final = (
    Setting(
        "FAILGRAPH_DATA_DIR", "the platform's user data directory", "where the embedded engine keeps its data"
    ),
    Setting(
        "FAILGRAPH_ENGINE", "auto", "embedded engine: native, jvm, or auto (native where it is installed)"
    ),
    Setting("FAILGRAPH_QUERY_TIMEOUT", "60", "seconds after which a query is ended"),
    Setting(
        "NEO4J_URI", "not set: embedded", "address of your Neo4j: bolt://, bolt+s://, neo4j:// or neo4j+s://"
    ),
    Setting("NEO4J_USERNAME", "neo4j", "user on your Neo4j"),
    Setting("NEO4J_PASSWORD", "not set: no log-in", "password of that user; never printed"),
    Setting("NEO4J_DATABASE", "the user's home database", "database on your Neo4j"),
    Setting("NO_COLOR", "not set", "any value switches colour off, as --no-color does"),
)
"""Every environment variable that failgraph reads."""


@dataclass(frozen=True)
class Invocation:
    """What the global options of one run say. ``verbosity`` is -1 with --quiet, 0, or 1 with --verbose."""

    data_dir: Path | None = None
    debug: bool = False
    verbosity: int = 0
    color: bool = True


_invocation: ContextVar[Invocation] = ContextVar("invocation", default=Invocation())  # noqa: B039 - frozen


def invocation() -> Invocation:
    """Return the global options of this run."""
    return _invocation.get()


def set_invocation(value: Invocation) -> None:
    """Make these the global options of this run; the command line does so once, before a command starts."""
    _invocation.set(value)


def data_directory(data_dir: Path | None = None) -> Path:
    """Return where the embedded engine keeps its data: argument, option, environment, then the platform's place.

    >>> data_directory(Path("/srv/failgraph")).as_posix()
    '/srv/failgraph'
    """
    chosen = data_dir or invocation().data_dir
    if chosen is not None:
        return chosen.expanduser()
    if from_environment := os.environ.get("FAILGRAPH_DATA_DIR"):
        return Path(from_environment).expanduser()
    from platformdirs import user_data_path

    return user_data_path("failgraph", appauthor=False)


def database_settings(data_dir: Path | None = None) -> DatabaseSettings:
    """Return how to reach the database: your Neo4j when NEO4J_URI is set, else the embedded engine.

    Args:
        data_dir: wins over --data-dir, FAILGRAPH_DATA_DIR and the default.

    Raises:
        UsageError: a variable holds what cannot be used.
    """
    from failgraph.graph.client import DatabaseSettings

    return DatabaseSettings(
        data_dir=data_directory(data_dir),
        uri=os.environ.get("NEO4J_URI") or None,
        username=os.environ.get("NEO4J_USERNAME") or None,
        password=os.environ.get("NEO4J_PASSWORD") or None,
        database=os.environ.get("NEO4J_DATABASE") or None,
        query_timeout=_query_timeout(),
        engine=_engine(),
    )


def color_wanted() -> bool:
    """Return whether colour may be used at all: neither --no-color nor NO_COLOR."""
    return invocation().color and not os.environ.get("NO_COLOR")


def _query_timeout() -> float:
    text = os.environ.get("FAILGRAPH_QUERY_TIMEOUT")
    if not text:
        return DEFAULT_QUERY_TIMEOUT
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.0 < seconds < float("inf"):
        raise UsageError(f"FAILGRAPH_QUERY_TIMEOUT is {text!r}, but must be a number of seconds above 0.")
    return seconds


def _engine() -> str:
    engine = os.environ.get("FAILGRAPH_ENGINE") or "auto"
    if engine not in ENGINES:
        raise UsageError(f"FAILGRAPH_ENGINE is {engine!r}, but must be one of {', '.join(ENGINES)}.")
    return engine
