"""Where the databases of the tests come from.

The embedded engine runs always, on data directories of the session. A real Neo4j comes from, in this order:

1. ``NEO4J_URI`` (with ``NEO4J_USERNAME``, ``NEO4J_PASSWORD``, ``NEO4J_DATABASE``), with FAILGRAPH_TEST_WIPE=1 as the
   permission to delete what failgraph has stored there;
2. a container, where a Docker engine answers;
3. the server's libraries, fetched by Maven and run by Java (``neo4j_server/``), where both are present.

With none of them the tests that need Neo4j are skipped, and the summary says so; with FAILGRAPH_REQUIRE_NEO4J=1
they fail. FAILGRAPH_TEST_NEO4J is the version for 2 and 3, FAILGRAPH_TEST_ENGINE the embedded engine (native or
jvm).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from failgraph.graph.client import Client, DatabaseSettings
from failgraph.graph.database import open_database, reset
from tests.neo4j_server.start import DEFAULT_VERSION, Neo4jUnavailableError, start_neo4j

BOTH: Final = ["embedded", pytest.param("neo4j", marks=pytest.mark.neo4j)]
EMBEDDED_FIXTURES: Final = {"embedded_settings", "embedded_client", "core_client"}
NEO4J_FIXTURES: Final = {"neo4j_settings", "neo4j_client"}
ENGINE: Final = pytest.StashKey[dict[str, str]]()

_engines_of: Final[dict[str, set[str]]] = {}
_passed: Final[Counter[str]] = Counter()
_skipped: Final[Counter[str]] = Counter()


# -- embedded engine


def _embedded(data_dir: Path) -> DatabaseSettings:
    return DatabaseSettings(data_dir=data_dir, engine=os.environ.get("FAILGRAPH_TEST_ENGINE", "auto"))


@pytest.fixture
def embedded_settings(tmp_path: Path) -> DatabaseSettings:
    """Settings of an embedded database that does not exist yet."""
    return _embedded(tmp_path / "data")


@pytest.fixture(scope="session")
def _embedded_shared(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Iterator[Client]:
    with open_database(_embedded(tmp_path_factory.mktemp("embedded"))) as client:
        pytestconfig.stash[ENGINE]["embedded"] = (
            f"{client.engine.removeprefix('embedded-')}, {client.version}"
        )
        yield client


@pytest.fixture
def embedded_client(_embedded_shared: Client) -> Client:
    """A migrated and empty database on the embedded engine."""
    reset(_embedded_shared)
    return _embedded_shared


@pytest.fixture(scope="session")
def core_client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """The core pack on the embedded engine; do not write to it."""
    with open_database(_embedded(tmp_path_factory.mktemp("core"))) as client:
        _load_core_pack(client)
        yield client


def _load_core_pack(client: Client) -> None:
    from failgraph.loaders.sync import ensure_core_pack

    ensure_core_pack(client)


# -- Neo4j


@pytest.fixture(scope="session")
def neo4j_settings(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Iterator[DatabaseSettings]:
    """Settings of a Neo4j whose failgraph nodes may be deleted."""
    directory = tmp_path_factory.mktemp("neo4j")
    uri = os.environ.get("NEO4J_URI")
    if uri and os.environ.get("FAILGRAPH_TEST_WIPE") == "1":
        yield DatabaseSettings(
            data_dir=directory,
            uri=uri,
            username=os.environ.get("NEO4J_USERNAME"),
            password=os.environ.get("NEO4J_PASSWORD"),
            database=os.environ.get("NEO4J_DATABASE"),
        )
        return
    try:
        with start_neo4j(directory, os.environ.get("FAILGRAPH_TEST_NEO4J", DEFAULT_VERSION)) as server:
            yield DatabaseSettings(data_dir=directory, uri=server.uri)
    except Neo4jUnavailableError as error:
        reason = str(error)
        if uri:
            reason = f"NEO4J_URI is set without FAILGRAPH_TEST_WIPE=1, and {reason}"
        pytestconfig.stash[ENGINE]["no neo4j"] = reason
        if os.environ.get("FAILGRAPH_REQUIRE_NEO4J") == "1":
            pytest.fail(f"Neo4j is required and cannot be run: {reason}")
        pytest.skip(f"Neo4j cannot be run: {reason}")


class _SharedNeo4j:
    """The one database of the server, which some tests want empty and some with the core pack."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.holds_core = False

    def empty(self) -> Client:
        # Tests are ordered so that this does not happen; see pytest_collection_modifyitems.
        assert not self.holds_core, "the core pack is in use on Neo4j and cannot be deleted any more"
        reset(self.client)
        return self.client

    def core(self) -> Client:
        if not self.holds_core:
            reset(self.client)
            _load_core_pack(self.client)
            self.holds_core = True
        return self.client


@pytest.fixture(scope="session")
def _neo4j_shared(neo4j_settings: DatabaseSettings, pytestconfig: pytest.Config) -> Iterator[_SharedNeo4j]:
    with open_database(neo4j_settings) as client:
        pytestconfig.stash[ENGINE]["neo4j"] = client.version
        yield _SharedNeo4j(client)


@pytest.fixture
def neo4j_client(_neo4j_shared: _SharedNeo4j) -> Client:
    """A migrated and empty database on a real Neo4j."""
    return _neo4j_shared.empty()


# -- both


@pytest.fixture(params=BOTH)
def client(request: pytest.FixtureRequest) -> Client:
    """A migrated and empty database, on either engine."""
    found: Client = request.getfixturevalue(f"{request.param}_client")
    return found


@pytest.fixture(params=BOTH, scope="session")
def core_clients(request: pytest.FixtureRequest) -> Client:
    """The core pack on either engine; do not write to it."""
    if request.param == "embedded":
        found: Client = request.getfixturevalue("core_client")
        return found
    shared: _SharedNeo4j = request.getfixturevalue("_neo4j_shared")
    return shared.core()


# -- order and report


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker that the fixtures of the embedded engine give."""
    config.addinivalue_line("markers", "embedded: runs on the embedded engine (given by its fixtures)")
    config.stash[ENGINE] = {}


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Mark each test with its engine, and put those last that want the core pack in the one Neo4j database."""
    for item in items:
        names = set(getattr(item, "fixturenames", ()))
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        engines = {str(parameters.get(name)) for name in ("client", "core_clients")} & {"embedded", "neo4j"}
        if names & EMBEDDED_FIXTURES:
            engines.add("embedded")
        if names & NEO4J_FIXTURES:
            engines.add("neo4j")
        for engine in engines:
            item.add_marker(engine)
        _engines_of[item.nodeid] = engines
    yield
    # After the choice by markers and names, and after pytest's own order by fixtures.
    items.sort(key=_wants_core_on_neo4j)


def _wants_core_on_neo4j(item: pytest.Item) -> bool:
    parameters: dict[str, object] = getattr(getattr(item, "callspec", None), "params", {})
    return parameters.get("core_clients") == "neo4j"


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count what ran on each engine."""
    for engine in _engines_of.get(report.nodeid, ()):
        if report.when == "call" and report.passed:
            _passed[engine] += 1
        elif report.skipped:
            _skipped[engine] += 1


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how many tests ran on each engine, and loudly when Neo4j was left out."""
    facts = config.stash[ENGINE]
    if _passed["embedded"]:
        engine = facts.get("embedded", "native or jvm")
        terminalreporter.write_line(f"embedded engine ({engine}): {_passed['embedded']} tests passed")
    if _passed["neo4j"]:
        terminalreporter.write_line(f"Neo4j {facts.get('neo4j', '')}: {_passed['neo4j']} tests passed")
    if "no neo4j" in facts:
        terminalreporter.write_sep("!", "Neo4j NOT RUN", red=True, bold=True)
        terminalreporter.write_line(
            f"{_skipped['neo4j']} tests were left out: {facts['no neo4j']}. "
            "Set NEO4J_URI and FAILGRAPH_TEST_WIPE=1, start Docker, or install Java and Maven.",
            red=True,
        )
