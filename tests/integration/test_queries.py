"""Every shipped reading query gives the same rows on both engines, over the core pack."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from failgraph.graph.client import Client
from failgraph.queries.registry import all_queries
from failgraph.schema.exchange import round_floats

PRESENT = ["nccl-peer-closed", "xid-79-fallen-off-bus", "rendezvous-timeout"]


@dataclass(frozen=True)
class Case:
    """Parameters to run a query with; ``empty`` says why it has no rows, ``comparable`` what is compared of a row."""

    parameters: dict[str, Any]
    empty: str = ""
    comparable: Callable[[dict[str, Any]], object] = lambda row: row


def in_any_order(value: object) -> object:
    """Return the value with every list in it sorted: for queries whose rows or lists have no fixed order."""
    if isinstance(value, dict):
        return {key: in_any_order(item) for key, item in value.items()}
    if isinstance(value, list):
        return sorted(map(in_any_order, value), key=lambda item: json.dumps(item, sort_keys=True))
    return value


def without(*names: str) -> Callable[[dict[str, Any]], object]:
    """Return a comparison that leaves out columns whose values belong to one database."""
    return lambda row: {name: value for name, value in row.items() if name not in names}


CLASS = "gpu-engine-hang"
OTHER = "gpu-gsp-rpc-timeout"
OBSERVABLE = "nccl-peer-closed"
MECHANISM = "rank-stall"

CASES: dict[str, list[Case]] = {
    # explain
    "blast_radius": [Case({"mechanism": "feed-lost"}), Case({"mechanism": MECHANISM, "hops": 1})],
    "checks_that_reveal_most": [Case({}), Case({"class_ids": [CLASS, OTHER], "limit": 3})],
    "classes_sharing_mechanism": [Case({"mechanism": MECHANISM}), Case({"mechanism": "engine-hang"})],
    "classes_without_prevention": [
        Case({"kind": "fault"}, empty="every fault of the core pack has a prevention"),
    ],
    "path_to_symptom": [
        Case({"class_id": CLASS, "observable": OBSERVABLE}),
        Case({"class_id": "facility-power-feed-loss", "observable": OBSERVABLE}),
    ],
    "what_explains": [Case({"symptom": OBSERVABLE}), Case({"symptom": "xid-79-fallen-off-bus", "limit": 3})],
    "what_means": [
        Case({"name": "xid"}),
        Case({"name": "RETRANS", "limit": 3}),
        Case({"name": "rx_symbol_err_phy"}),
    ],
    "what_separates": [Case({"class_a": CLASS, "class_b": OTHER, "limit": 50})],
    # match
    "class_details": [Case({"class_ids": [OTHER, CLASS, CLASS, "unknown"]})],
    "lexicon": [Case({})],
    "match_classes": [
        Case({"present": PRESENT, "absent": ["xid-119-gsp-rpc-timeout"]}),
        Case({"present": [], "absent": [OBSERVABLE], "none_prior": 0.5}),
        Case({"present": [*PRESENT, *PRESENT, "unknown"], "limit": 3}),
    ],
    "match_observables": [
        Case({"observables": [*PRESENT, "unknown"]}, comparable=in_any_order),
        Case({"observables": []}, comparable=in_any_order),
    ],
    "match_subgraph": [
        Case({"observables": [*PRESENT, "unknown"]}, comparable=in_any_order),
        Case({"observables": []}, comparable=in_any_order),
    ],
    "similar_incidents": [
        Case({"observables": PRESENT}),
        Case({"incident": "test-1", "limit": 2}),
        Case({"observables": PRESENT, "spaces": ["default", "test-space"], "exclude": "test-2", "limit": 20}),
    ],
    # report
    "class_graph": [Case({"class_id": CLASS})],
    "class_list": [Case({}), Case({"layer": "gpu"})],
    "class_show": [Case({"class_id": CLASS})],
    "graph_counts": [Case({})],
    "layer_list": [Case({})],
    "mechanism_list": [Case({}), Case({"layer": "nvlink"})],
    "mechanism_show": [Case({"mechanism_id": MECHANISM})],
    "observable_list": [Case({}), Case({"kind": "log", "source": "kernel log"})],
    "observable_show": [Case({"observable_id": OBSERVABLE})],
    # incident
    "incident_count": [Case({}), Case({"spaces": ["test-space", "test-space"]})],
    "incident_get": [Case({"incident_id": "test-1"})],
    # pack
    "catalogue_generation": [Case({}, comparable=without("generation"))],
    "nodes_of_incidents": [Case({"ids": [*PRESENT, CLASS]}, comparable=in_any_order)],
    "pack_expects": [Case({}, comparable=in_any_order)],
    "pack_nodes": [Case({}, comparable=in_any_order)],
    "pack_relations": [Case({}, comparable=in_any_order)],
    "pack_sizes": [Case({})],
    "packs": [Case({})],
    # database
    "all_nodes": [Case({}, comparable=in_any_order)],
    "all_relations": [Case({}, comparable=in_any_order)],
    "applied_migrations": [Case({}, comparable=without("applied"))],
    "count_nodes": [Case({})],
}
"""Parameters for every reading query that runs on both engines."""

NEO4J_ONLY = {
    "running_transactions": "the embedded engine has no such command",
    "terminate_transaction": "the embedded engine has no such command",
}


def store_incidents(client: Client) -> None:
    """Store a few incidents that share findings; the names of all start with test-."""
    found = {
        "test-1": ("default", "2025-03-01T00:00:00Z", PRESENT, ["xid-119-gsp-rpc-timeout"]),
        "test-2": ("default", "2025-03-02T00:00:00Z", PRESENT[:2], []),
        "test-3": ("default", "2025-03-03T00:00:00Z", PRESENT[:1], PRESENT[1:]),
        "test-4": ("default", None, PRESENT[:2], []),
        "test-5": ("test-space", "2025-03-05T00:00:00Z", PRESENT, []),
    }
    for identity, (space, opened, present, absent) in found.items():
        states = [(item, "present") for item in present] + [(item, "absent") for item in absent]
        client.write(
            "incident_put",
            incident={"id": identity, "title": identity, "status": "open", "opened": opened, "space": space},
            findings=[
                {"observable": item, "state": state, "confidence": 0.9, "coverage": 1.0}
                for item, state in states
            ],
        )
    instance = {"id": f"INSTANCE_OF:test-2>{CLASS}", "source": "test-2", "target": CLASS}
    properties = {"id": instance["id"], "space": "default", "confirmed_by": "a test"}
    client.write(
        "restore_relations",
        pattern="Incident INSTANCE_OF FailureClass",
        rows=[{**instance, "properties": properties}],
    )


@pytest.fixture(scope="module")
def both(core_client: Client, core_clients: Client) -> Iterator[tuple[Client, Client]]:
    """The embedded engine, and the engine under test, each with the core pack and the same incidents."""
    clients = list({id(client): client for client in (core_client, core_clients)}.values())
    for client in clients:
        store_incidents(client)
    yield core_client, core_clients
    for client in clients:
        for number in range(1, 6):
            client.write("incident_delete", incident_id=f"test-{number}")


def rows_of(client: Client, name: str, case: Case) -> list[object]:
    """Return the rows as they are compared: floats to nine digits, and what has no order sorted."""
    rows = [case.comparable(round_floats(row)) for row in client.read(name, **case.parameters)]
    if case.comparable is in_any_order:
        rows.sort(key=lambda row: json.dumps(row, sort_keys=True))
    return rows


def test_every_reading_query_has_a_case() -> None:
    """A new query without parameters to compare it by fails here, and so does a case without a query."""
    reading = {query.name for query in all_queries() if query.access == "read"}

    assert sorted(reading - set(NEO4J_ONLY)) == sorted(CASES)


@pytest.mark.parametrize(
    ("name", "case"),
    [(name, case) for name, cases in CASES.items() for case in cases],
    ids=[f"{name}-{number}" for name, cases in CASES.items() for number, _ in enumerate(cases, start=1)],
)
def test_rows_are_the_same_on_both_engines(name: str, case: Case, both: tuple[Client, Client]) -> None:
    """Same rows, same order, floats equal to nine significant digits; and there are some."""
    embedded, other = both
    expected = rows_of(embedded, name, case)

    assert expected == rows_of(other, name, case)
    assert bool(expected) is not bool(case.empty)
