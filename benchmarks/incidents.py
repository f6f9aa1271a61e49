"""Whether the questions that every match asks stay as quick when many incidents are stored.

Run ``python benchmarks/incidents.py [FEW MANY]`` (1,000 and 100,000 if not given; two to six minutes an engine, most of it
loading). On each engine one database with the core pack gets FEW incidents, is measured, gets the
rest up to MANY, and is measured again, so each ratio is of one run. An incident has eight findings; observables are
drawn by a fixed seed with a popularity that falls with the square root of the rank, so the commonest one is in about
a fifth of the incidents. Incidents are stored in batches, by the queries that restore a backup.

* ``match_classes``: the ranking of all classes for six present and two absent observables;
* ``similar_incidents``: what was seen in an incident like the stored ones, eight observables;
* ``incident_get``: one incident by its id, the floor of a call that touches incidents.

The times are on the clock, as the client sees them, over new parameters in each call after a warm-up: the median, and
the time that 19 of 20 calls stay under. Target: flat, a ratio near 1.

The embedded engine runs in a temporary directory. Neo4j is the server of ``NEO4J_URI`` if FAILGRAPH_TEST_WIPE=1 gives
the permission to delete what failgraph has stored there; else one is started as the tests do (a container, or Java and
Maven); where there is none, it is left out, and a sentence says why. The server that the tests start is set to start
quickly, not to run fast, so compare its ratios and not its times.
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

from failgraph.graph.client import Client, DatabaseSettings
from failgraph.graph.database import open_database, reset
from failgraph.loaders.sync import ensure_core_pack

ROOT: Final = Path(__file__).parent.parent
SEED: Final = 20250301
FINDINGS: Final = 8
BATCH: Final = 1000
WARM_UP: Final = 60
CALLS: Final = 200


class NoServerError(Exception):
    """There is no Neo4j to measure; the text says why."""


class Fleet:
    """Makes incidents, and questions about them, from fixed seeds."""

    def __init__(self, observables: Sequence[str]) -> None:
        self._observables = random.Random(SEED).sample(sorted(observables), len(observables))
        self._weights = list(accumulate((rank + 1) ** -0.5 for rank in range(len(observables))))

    def draw(self, chance: random.Random, count: int) -> list[str]:
        """Return different observables, common ones more often."""
        chosen: dict[str, None] = {}
        while len(chosen) < count:
            chosen.update(
                dict.fromkeys(chance.choices(self._observables, cum_weights=self._weights, k=count))
            )
        return list(chosen)[:count]

    def store(self, client: Client, numbers: range) -> None:
        """Store incidents, a thousand in each transaction."""
        for first in range(numbers.start, numbers.stop, BATCH):
            nodes, relations = [], []
            for number in range(first, min(first + BATCH, numbers.stop)):
                incident = {"id": f"incident-{number:06d}", "title": f"Incident {number}", "status": "open"}
                opened = f"2025-{number % 12 + 1:02d}-{number % 28 + 1:02d}T{number % 24:02d}:00:00Z"
                nodes.append({**incident, "space": "default", "opened": opened})
                for observable in self.draw(random.Random(SEED + number), FINDINGS):
                    name = f"FOUND:{incident['id']}>{observable}"
                    properties = {"id": name, "space": "default", "state": "present", "confidence": 0.9}
                    properties |= {"coverage": 1.0, "count": 1}
                    relations.append(
                        {"id": name, "source": incident["id"], "target": observable, "properties": properties}
                    )
            client.write_all(
                [
                    ("restore_nodes", {"labels": "Incident", "rows": nodes}),
                    ("restore_relations", {"pattern": "Incident FOUND Observable", "rows": relations}),
                ]
            )

    def question(self, query: str, chance: random.Random, stored: int) -> dict[str, Any]:
        """Return parameters for a query."""
        if query == "incident_get":
            return {"incident_id": f"incident-{chance.randrange(stored):06d}"}
        names = self.draw(chance, FINDINGS)
        if query == "match_classes":
            return {"present": names[:6], "absent": names[6:]}
        return {"observables": names}


QUERIES: Final = ("match_classes", "similar_incidents", "incident_get")


@dataclass(frozen=True)
class Times:
    """What the calls of a query took, in milliseconds."""

    median: float
    p95: float


def measure(client: Client, fleet: Fleet, query: str, stored: int) -> Times:
    """Return the times of a query; no call has the parameters of another."""
    chance = random.Random(SEED)
    times = []
    for call in range(WARM_UP + CALLS):
        parameters = fleet.question(query, chance, stored)
        began = time.perf_counter()
        client.read(query, **parameters)
        spent = time.perf_counter() - began
        if call >= WARM_UP:
            times.append(1000.0 * spent)
    return Times(statistics.median(times), statistics.quantiles(times, n=20)[-1])


def measured_engine(client: Client, few: int, many: int) -> Iterator[str]:
    """Yield the rows of the table for one engine."""
    ensure_core_pack(client)
    engine = client.version if client.embedded else f"Neo4j {client.version}"
    fleet = Fleet([row["id"] for row in client.read("observable_list")])
    results: dict[int, dict[str, Times]] = {}
    loaded = 0
    for stored in (few, many):
        began = time.perf_counter()
        fleet.store(client, range(loaded, stored))
        spent = time.perf_counter() - began
        print(f"{engine}: {stored - loaded:,} incidents stored in {spent:.0f} s", file=sys.stderr)
        loaded = client.read("incident_count")[0]["incidents"]
        if loaded != stored:
            raise SystemExit(f"{engine} holds {loaded} incidents instead of {stored}.")
        results[stored] = {query: measure(client, fleet, query, stored) for query in QUERIES}
    for query in QUERIES:
        small, large = results[few][query], results[many][query]
        yield (
            f"| {engine} | {query} | {small.median:.1f} ({small.p95:.1f}) | {large.median:.1f} "
            f"({large.p95:.1f}) | {large.median / small.median:.2f} | {large.p95 / small.p95:.2f} |"
        )


@contextmanager
def embedded(directory: Path) -> Iterator[DatabaseSettings]:
    """Give the settings of a new embedded database."""
    yield DatabaseSettings(data_dir=directory)


@contextmanager
def neo4j(directory: Path) -> Iterator[DatabaseSettings]:
    """Give the settings of a Neo4j whose failgraph nodes may be deleted, and delete them at the end.

    Raises:
        NoServerError: there is none.
    """
    uri = os.environ.get("NEO4J_URI")
    if uri:
        if os.environ.get("FAILGRAPH_TEST_WIPE") != "1":
            raise NoServerError(
                "NEO4J_URI is set without FAILGRAPH_TEST_WIPE=1, the permission to delete what failgraph stored there"
            )
        settings = DatabaseSettings(
            data_dir=directory,
            uri=uri,
            username=os.environ.get("NEO4J_USERNAME"),
            password=os.environ.get("NEO4J_PASSWORD"),
            database=os.environ.get("NEO4J_DATABASE"),
        )
        with open_database(settings) as client:
            reset(client)
        try:
            yield settings
        finally:
            with open_database(settings) as client:
                reset(client)
        return
    # The tests are no installed package.
    sys.path.insert(0, str(ROOT))
    from tests.neo4j_server.start import Neo4jUnavailableError, start_neo4j

    try:
        with start_neo4j(directory) as server:
            yield DatabaseSettings(data_dir=directory, uri=server.uri)
    except Neo4jUnavailableError as error:
        raise NoServerError(str(error)) from error


def main(arguments: Sequence[str]) -> int:
    """Measure both engines and print the table."""
    few, many = (int(arguments[0]), int(arguments[1])) if arguments else (1_000, 100_000)
    ways: tuple[Callable[[Path], Any], ...] = (embedded, neo4j)
    lines: list[str] = []
    left_out = ""
    for way in ways:
        with tempfile.TemporaryDirectory() as directory:
            try:
                with way(Path(directory)) as settings, open_database(settings) as client:
                    lines += measured_engine(client, few, many)
            except NoServerError as reason:
                left_out = f"\nNeo4j was left out: {reason}."
    print(f"{FINDINGS} findings an incident, {CALLS} calls each, median (p95)\n")
    print(f"| engine | query | {few:,} incidents, ms | {many:,} incidents, ms | ratio | p95 ratio |")
    print("|---|---|---:|---:|---:|---:|")
    print("\n".join(lines) + left_out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
