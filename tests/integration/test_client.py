"""Reading and writing through the client, on both engines."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from failgraph.graph import client as client_module
from failgraph.graph.client import Client, DatabaseSettings
from failgraph.graph.database import open_database
from failgraph.graph.values import Table
from failgraph.queries.registry import get_query
from failgraph.schema.errors import (
    ConflictError,
    DatabaseError,
    Location,
    QueryFailedError,
    QueryTimeoutError,
    ReadOnlyError,
    UsageError,
)

ENDLESS = (
    "MATCH (a:Mechanism), (b:Mechanism), (c:Mechanism), (d:Mechanism) "
    "WHERE a.id + b.id + c.id + d.id = 'x' RETURN a.id AS id"
)


def put_mechanisms(client: Client, *ids: str, **properties: Any) -> None:
    """Store mechanisms."""
    rows = [{"id": each, "name": each, "pack": "p", **properties} for each in ids]
    client.write("restore_nodes", labels="Mechanism", rows=rows)


def put_evidence(client: Client, *ids: str) -> None:
    """Store evidence."""
    rows = [{"id": each, "pack": "p"} for each in ids]
    client.write("restore_nodes", labels="Observable:Evidence", rows=rows)


def causes(source: str, target: str, **properties: Any) -> dict[str, Any]:
    """Return the row of a CAUSES relationship."""
    identity = f"CAUSES:{source}>{target}"
    return {"id": identity, "source": source, "target": target, "properties": {"id": identity, **properties}}


def link(client: Client, *rows: dict[str, Any]) -> None:
    """Store CAUSES relationships."""
    client.write("restore_relations", pattern="Mechanism CAUSES Mechanism", rows=list(rows))


def ask(client: Client, text: str, **parameters: Any) -> Table:
    """Run a reading query of a user."""
    return client.run_read_only(text, parameters, timeout=30, limit=100)


def test_what_was_written_is_read(client: Client) -> None:
    """Properties keep their value and type, lists and whole floats too."""
    put_mechanisms(client, "m", strength=1.0, count=1, flag=True, words=["a", "b"])

    expected = ("m", 1.0, 1, True, ["a", "b"])
    [actual] = ask(client, "MATCH (m:Mechanism) RETURN m.id, m.strength, m.count, m.flag, m.words").rows

    assert expected == actual
    assert [type(value) for value in expected] == [type(value) for value in actual]


def test_a_read_refuses_a_writing_query(client: Client) -> None:
    """The declared access is kept by the client, whatever the engine would allow."""
    with pytest.raises(UsageError, match="delete_owned writes"):
        client.read("delete_owned")


def test_steps_of_one_transaction_stand_or_fall_together(client: Client) -> None:
    """When a later step fails, the earlier ones leave nothing behind."""
    put_mechanisms(client, "a", "b")
    link(client, causes("a", "b"))
    same_id = {**causes("a", "b"), "source": "b", "target": "a"}

    with pytest.raises(ConflictError, match="contradicts what is stored"):
        client.write_all(
            [
                ("restore_nodes", {"labels": "Mechanism", "rows": [{"id": "c"}]}),
                ("restore_relations", {"pattern": "Mechanism CAUSES Mechanism", "rows": [same_id]}),
            ]
        )

    assert ask(client, "MATCH (m:Mechanism) RETURN m.id ORDER BY m.id").rows == [("a",), ("b",)]


def test_steps_return_their_rows(client: Client) -> None:
    """Each step's rows come back in the order of the steps."""
    put_mechanisms(client, "a", "b")

    expected = [[], [{"deleted": 2}]]
    rows: list[dict[str, Any]] = []

    assert expected == client.write_all(
        [("restore_nodes", {"labels": "Mechanism", "rows": rows}), ("delete_owned", {"limit": 10})]
    )


def test_an_id_is_unique_over_symptoms_and_evidence(client: Client) -> None:
    """Both carry the label Observable, and that has the constraint."""
    put_evidence(client, "x")

    with pytest.raises(ConflictError):
        client.write("restore_nodes", labels="Observable:Symptom", rows=[{"id": "x"}])


@pytest.mark.parametrize("label", ["Observable", "Mechanism", "FailureClass", "Incident"])
def test_a_node_is_found_through_its_index(client: Client, label: str) -> None:
    """Looking up by id reads one node, also where nodes carry two labels."""
    put_mechanisms(client, "m")
    put_evidence(client, "e")

    plan = repr(_plan(client, f"MATCH (n:{label} {{id: $id}}) RETURN n.id", id="m"))

    assert "IndexSeek" in plan
    assert "LabelScan" not in plan


def _plan(client: Client, text: str, **parameters: Any) -> Any:
    with client._session(write=False) as session:
        return session.run(f"EXPLAIN {text}", parameters).consume().plan


def test_many_writers_of_one_thing_make_one_thing(client: Client) -> None:
    """Threads that merge the same nodes and relationships at once all succeed, and nothing is there twice."""
    put_mechanisms(client, "a", "b")
    failures: list[Exception] = []

    def work() -> None:
        for number in range(5):
            try:
                put_mechanisms(client, f"m{number}")
                link(client, causes("a", f"m{number}"), causes("a", "b"))
            except DatabaseError as error:
                failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert ask(client, "MATCH ()-[r:CAUSES]->() RETURN count(r)").rows == [(6,)]
    assert ask(client, "MATCH (m:Mechanism) RETURN count(m)").rows == [(7,)]


def test_a_stream_yields_every_row(client: Client) -> None:
    """More rows than one message holds come through, and the connection is free again when one stops early."""
    put_mechanisms(client, *(f"m{number:04}" for number in range(2500)))

    assert next(client.stream("all_nodes"))["labels"] == ["Mechanism"]
    assert sum(1 for _ in client.stream("all_nodes")) == 2500


# -- queries of users


def test_rows_are_capped(client: Client) -> None:
    """The limit holds, and the table says that there is more."""
    put_mechanisms(client, "a", "b", "c")
    text = "MATCH (m:Mechanism) RETURN m.id AS id ORDER BY id"

    assert client.run_read_only(text, {}, timeout=10, limit=2) == Table(("id",), [("a",), ("b",)], True)
    assert client.run_read_only(text, {}, timeout=10, limit=3) == Table(
        ("id",), [("a",), ("b",), ("c",)], False
    )


def test_nodes_relationships_and_paths_become_maps(client: Client) -> None:
    """What a user asks for is plain data, equal on both engines."""
    put_mechanisms(client, "a", "b")
    link(client, causes("a", "b", strength=0.5))
    a, b = ({"id": each, "name": each, "pack": "p"} for each in "ab")
    r = {"id": "CAUSES:a>b", "strength": 0.5}

    expected = [(a, r, {"nodes": [a, b], "relationships": [r]}, "2024-02-03T04:05:06.000000000+00:00")]
    text = (
        "MATCH p = (a:Mechanism)-[r:CAUSES]->(b) "
        "RETURN a, r, p, datetime('2024-02-03T04:05:06Z') AS t // a comment without an end"
    )

    assert expected == ask(client, text).rows


@pytest.mark.parametrize(
    "text", ["CREATE (n:Mechanism {id: 'x'})", "MATCH (n) DETACH DELETE n", "SHOW USERS"]
)
def test_a_writing_text_is_refused_unread(client: Client, text: str) -> None:
    """It never reaches the database."""
    with pytest.raises(ReadOnlyError):
        ask(client, text)


def test_a_write_that_passes_the_reader_is_undone(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second fence holds alone: the planner refuses, or the transaction is rolled back."""
    monkeypatch.setattr(client_module, "check_read_only", lambda text: None)
    put_mechanisms(client, "a")

    try:
        ask(client, "MATCH (m:Mechanism) SET m.name = 'changed' CREATE (:Mechanism {id: 'b'}) RETURN m.id")
    except ReadOnlyError:
        assert not client.embedded

    assert ask(client, "MATCH (m:Mechanism) RETURN m.id, m.name").rows == [("a", "a")]


def test_an_endless_query_is_ended_in_time(client: Client) -> None:
    """Within a second of the limit the caller is free, and the database has stopped working on it."""
    put_mechanisms(client, *(f"m{number}" for number in range(1000)))
    started = time.monotonic()

    with pytest.raises(QueryTimeoutError, match="after 1 s; make it more selective"):
        client.run_read_only(ENDLESS, {}, timeout=1, limit=10)

    assert time.monotonic() - started < 2.0
    assert _eventually(lambda: client.read("running_transactions", token="a.id + b.id") == [])


def test_an_endless_query_is_cut_where_it_cannot_be_ended(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user who may not end transactions is freed too, and the client goes on working."""
    put_mechanisms(client, *(f"m{number}" for number in range(1000)))
    end = client._terminate
    tokens: list[str] = []
    monkeypatch.setattr(client, "_terminate", tokens.append)
    started = time.monotonic()

    with pytest.raises(QueryTimeoutError):
        client.run_read_only(ENDLESS, {}, timeout=0.5, limit=10)

    assert time.monotonic() - started < 2.0
    assert ask(client, "RETURN 1 AS one").rows == [(1,)]
    end(tokens[0])


def _eventually(condition: Callable[[], bool]) -> bool:
    for _ in range(50):
        if condition():
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize(
    ("text", "parameters", "error", "problem"),
    [
        ("RETRN 1", {}, QueryFailedError, "RETRN"),
        ("RETURN $x AS x", {}, QueryFailedError, "x"),
        ("RETURN 1 / $zero AS x", {"zero": 0}, QueryFailedError, "by zero"),
        ("RETURN $x AS x", {"x": object()}, UsageError, "parameter cannot be sent"),
        ("RETURN $x AS x", {"x": 2**70}, UsageError, "parameter cannot be sent"),
    ],
)
def test_a_wrong_query_is_told_in_one_sentence(
    client: Client, text: str, parameters: dict[str, Any], error: type[Exception], problem: str
) -> None:
    """Errors of the database and of the driver come as failgraph's own."""
    with pytest.raises(error, match=problem) as caught:
        client.run_read_only(text, parameters, timeout=10, limit=1)

    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("timeout", "limit"), [(0.0, 1), (-1.0, 1), (1.0, 0)])
def test_bounds_must_be_positive(client: Client, timeout: float, limit: int) -> None:
    """A query without bounds is not run."""
    with pytest.raises(UsageError, match="must be above 0"):
        client.run_read_only("RETURN 1 AS one", {}, timeout=timeout, limit=limit)


# -- definitions


def test_a_failing_definition_is_named(client: Client) -> None:
    """The error carries the file and line of the statement."""
    with pytest.raises(QueryFailedError, match=r"^V9\.cypher:7: "):
        client.define([("CREATE CONSTRAINT x IF NOT EXISTS FOR nonsense", Location("V9.cypher", 7))])


# -- the server


def test_queries_carry_their_name_to_neo4j(neo4j_client: Client) -> None:
    """Whoever looks at the server sees which query of failgraph runs."""
    with neo4j_client._session(write=False) as session:
        running = neo4j_client._run(
            get_query("count_nodes"),
            lambda transaction: session.run("SHOW TRANSACTIONS YIELD metaData RETURN metaData").value(),
            write=False,
        )

    assert {"application": "failgraph", "query": "count_nodes"} in running


def test_a_routed_address_works(neo4j_client: Client, neo4j_settings: DatabaseSettings) -> None:
    """The scheme of clusters reads and writes on a single server too."""
    uri = (neo4j_settings.uri or "").replace("bolt://", "neo4j://")

    with Client.open(replace(neo4j_settings, uri=uri)) as routed:
        put_mechanisms(routed, "a")
        assert ask(routed, "MATCH (m:Mechanism) RETURN m.id").rows == [("a",)]
        assert routed.read("count_nodes") == [{"label": "Mechanism", "nodes": 1}]


def test_a_write_is_seen_by_the_next_read(neo4j_client: Client) -> None:
    """The client keeps the bookmark of its last write for its reads."""
    put_mechanisms(neo4j_client, "a")

    assert neo4j_client._bookmarks
    assert list(neo4j_client._bookmarks.get_bookmarks())


def test_an_unknown_database_is_told(neo4j_settings: DatabaseSettings) -> None:
    """The setting to correct is named."""
    with pytest.raises(DatabaseError, match=r"no database 'nowhere' .*NEO4J_DATABASE"):
        open_database(replace(neo4j_settings, database="nowhere"))


def test_an_address_without_a_server_is_told_at_once(embedded_settings: DatabaseSettings) -> None:
    """The message names the address and the setting, and does not take long."""
    started = time.monotonic()

    with pytest.raises(
        DatabaseError, match=r"bolt://127\.0\.0\.1:9; check that it is running and .* NEO4J_URI"
    ):
        Client.open(replace(embedded_settings, uri="bolt://127.0.0.1:9"))

    assert time.monotonic() - started < 5


def test_a_closed_client_says_so(embedded_settings: DatabaseSettings) -> None:
    """A call after close is told, not crashed."""
    client = Client.open(embedded_settings)
    client.close()

    with pytest.raises(DatabaseError, match="is closed"):
        client.read("count_nodes")


def test_ctrl_c_ends_a_query_at_once(client: Client) -> None:
    """The user is not kept waiting for the answer of a long query, and the client goes on working."""
    put_mechanisms(client, *(f"m{number}" for number in range(1000)))
    main = threading.main_thread().ident or 0
    started = time.monotonic()
    threading.Timer(1.0, signal.pthread_kill, (main, signal.SIGINT)).start()

    with pytest.raises(KeyboardInterrupt):
        client._run(get_query("count_nodes"), lambda running: running.run(ENDLESS).data(), write=False)

    assert time.monotonic() - started < 3.0
    for row in client.read("running_transactions", token="a.id + b.id"):
        client.read("terminate_transaction", transaction_id=row["transaction_id"])
    assert client.read("count_nodes") == [{"label": "Mechanism", "nodes": 1000}]
