"""Migrating, describing, emptying, backing up and restoring a database, on both engines."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from failgraph.graph import backup as backup_module
from failgraph.graph import database as database_module
from failgraph.graph.backup import restore_backup, verify_backup, write_backup
from failgraph.graph.client import Client, DatabaseSettings
from failgraph.graph.database import database_status, is_empty, open_database, reset
from failgraph.graph.migrate import migrate, migration_state
from failgraph.schema.errors import ConflictError, MigrationError, PartialError, QueryFailedError, UsageError
from failgraph.schema.migration import MigrationFile, Statement, shipped_migrations
from failgraph.schema.nodes import NODES, Migration
from failgraph.schema.relations import RELATIONS

EXTRA = MigrationFile(
    "V9999",
    "extra",
    "schema/migrations/V9999__extra.cypher",
    "0" * 64,
    (
        Statement("CREATE INDEX failgraph_test IF NOT EXISTS FOR (n:Entity) ON (n.kind)", 1),
        Statement("CREATE INDEX failgraph_test_two IF NOT EXISTS FOR (n:Entity) ON (n.name)", 2),
    ),
)


def run(client: Client, text: str, **parameters: Any) -> list[Any]:
    """Run any Cypher and return its values."""
    with client._session(write=True) as session:
        return session.execute_write(lambda transaction: transaction.run(text, parameters).values())


@pytest.fixture
def migrated(client: Client) -> Iterator[Client]:
    """A database whose record of migrations may be changed."""
    yield client
    run(client, "MATCH (m:Migration {id: 'V9999'}) DETACH DELETE m")


# -- migrations


def test_opening_applies_all_migrations(client: Client) -> None:
    """A new database is migrated when it is opened, and each migration is recorded with its checksum."""
    expected = [(migration.id, migration.name, migration.checksum) for migration in shipped_migrations()]
    state = migration_state(client)

    assert expected == [(applied.id, applied.name, applied.checksum) for applied in state.applied]
    assert state.pending == ()


def test_migrating_twice_changes_nothing(migrated: Client) -> None:
    """The second call has nothing to do."""
    migrations = (*shipped_migrations(), EXTRA)

    assert migrate(migrated, migrations) == (EXTRA,)
    assert migrate(migrated, migrations) == ()


def test_a_changed_migration_is_refused_by_its_file(client: Client) -> None:
    """What was applied must not change; the message names the file."""
    first, *others = shipped_migrations()

    with pytest.raises(MigrationError, match=rf"^{first.path}: .* was changed since"):
        migration_state(client, (replace(first, checksum="f" * 64), *others))


def test_a_database_of_a_newer_failgraph_is_refused(migrated: Client) -> None:
    """An older program does not touch what it does not know."""
    migrate(migrated, (*shipped_migrations(), EXTRA))

    with pytest.raises(MigrationError, match=r"migration V9999 \(extra\), .* install the newer failgraph"):
        migration_state(migrated)


def test_a_failed_migration_is_not_recorded(migrated: Client) -> None:
    """The error names file and line, and the next attempt starts again."""
    wrong = replace(EXTRA, statements=(*EXTRA.statements, Statement("CREATE INDEX nonsense", 3)))

    with pytest.raises(QueryFailedError, match=rf"^{EXTRA.path}:3: "):
        migrate(migrated, (*shipped_migrations(), wrong))

    assert migrate(migrated, (*shipped_migrations(), EXTRA)) == (EXTRA,)


def test_a_server_that_is_behind_is_not_migrated_by_the_way(
    neo4j_client: Client, neo4j_settings: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others use it too: whoever opens it is told what to run."""
    later = (*shipped_migrations(), EXTRA)
    monkeypatch.setattr(
        database_module, "migration_state", lambda client: migration_state(neo4j_client, later)
    )

    with pytest.raises(MigrationError, match=r"lacks 1 migration.* run 'failgraph db backup FILE', then"):
        open_database(neo4j_settings)


def test_the_embedded_database_follows_an_update(embedded_settings: DatabaseSettings) -> None:
    """Nobody has to migrate their own data directory by hand."""
    with open_database(embedded_settings) as client:
        run(client, "MATCH (m:Migration) DETACH DELETE m")

    with open_database(embedded_settings) as client:
        assert migration_state(client).pending == ()


# -- reset and status


def test_a_reset_leaves_what_is_not_ours(client: Client) -> None:
    """On a shared server nodes of others stay, also where they point at ours."""
    fill(client)
    run(client, "MATCH (m:Mechanism) WITH m LIMIT 1 CREATE (:Foreign {name: 'x'})-[:LIKES]->(m)")
    run(client, "CREATE (:Foreign {name: 'y'})")

    reset(client)

    assert is_empty(client)
    assert run(client, "MATCH (n:Foreign) RETURN n.name ORDER BY n.name") == [["x"], ["y"]]
    assert migration_state(client).pending == ()
    run(client, "MATCH (n:Foreign) DETACH DELETE n")


def test_a_reset_works_in_batches(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """More nodes than one transaction takes are deleted, and the number is right."""
    monkeypatch.setattr(database_module, "DELETE_BATCH", 4)
    client.write("restore_nodes", labels="Entity", rows=[{"id": f"e{number}"} for number in range(8)])

    assert reset(client) == 8
    assert reset(client) == 0


def test_the_status_says_what_is_stored(client: Client) -> None:
    """Engine, address, migrations, nodes by label and packs."""
    rows = [{"id": "core", "name": "Core", "revision": 3, "summary": "s", "checksum": "c"}]
    client.write("restore_nodes", labels="Pack", rows=rows)
    client.write("restore_nodes", labels="Observable:Evidence", rows=[{"id": "e"}])

    status = database_status(client)

    assert (client.engine, client.version, client.address) == (status.engine, status.version, status.address)
    assert status.nodes == {"Evidence": 1, "Observable": 1, "Pack": 1}
    assert [(pack.id, pack.name, pack.revision) for pack in status.packs] == [("core", "Core", 3)]
    assert status.durable is (True if client.embedded else None)


# -- backup and restore


def fill(client: Client) -> None:
    """Store one node of every kind and one relationship of every pattern."""
    tricky = {
        "text": 'a "b"\n\u2028ü😀',
        "float": 1.0,
        "tiny": 1e-300,
        "int": 2**53 + 1,
        "flag": False,
        "words": ["a", "b"],
    }
    for model in NODES:
        if model is not Migration:
            rows = [{"id": f"{model.labels[-1]}-{number}", **tricky} for number in range(3)]
            client.write("restore_nodes", labels=":".join(model.labels), rows=rows)
    last = {model.labels[0]: model.labels[-1] for model in NODES}
    for relation in RELATIONS:
        for start, end in relation.ends:
            source, target = f"{last[start]}-0", f"{last[end]}-1"
            identity = f"{relation.type}:{source}>{target}"
            row = {
                "id": identity,
                "source": source,
                "target": target,
                "properties": {"id": identity, **tricky},
            }
            client.write("restore_relations", pattern=f"{start} {relation.type} {end}", rows=[row])


def test_a_backup_holds_everything(client: Client, tmp_path: Path) -> None:
    """Every kind of node and relationship is in the file, and the file says how many."""
    fill(client)

    header = write_backup(client, tmp_path / "b.gz")

    assert {":".join(model.labels): 3 for model in NODES if model is not Migration} == header.nodes
    assert {model.type: len(model.ends) for model in RELATIONS} == header.relations
    assert header == verify_backup(tmp_path / "b.gz")
    assert header.schema == shipped_migrations()[-1].id


def test_a_restored_backup_gives_the_same_bytes(client: Client, tmp_path: Path) -> None:
    """Nothing is lost, added or turned into another type."""
    fill(client)
    write_backup(client, tmp_path / "one.gz")
    reset(client)

    restore_backup(client, tmp_path / "one.gz")
    write_backup(client, tmp_path / "two.gz")

    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()


def test_a_backup_moves_between_the_engines(
    embedded_client: Client, neo4j_client: Client, tmp_path: Path
) -> None:
    """From the embedded engine to Neo4j and back the content is the same, byte for byte."""
    fill(embedded_client)
    write_backup(embedded_client, tmp_path / "one.gz")
    restore_backup(neo4j_client, tmp_path / "one.gz")
    write_backup(neo4j_client, tmp_path / "two.gz")
    restore_backup(embedded_client, tmp_path / "two.gz", replace=True)
    write_backup(embedded_client, tmp_path / "three.gz")

    assert len({(tmp_path / f"{name}.gz").read_bytes() for name in ("one", "two", "three")}) == 1


def test_the_core_pack_is_the_same_on_every_engine(
    core_clients: Client, core_client: Client, tmp_path: Path
) -> None:
    """Loading the shipped knowledge gives the same content everywhere, byte for byte."""
    write_backup(core_clients, tmp_path / "one.gz")
    write_backup(core_client, tmp_path / "two.gz")

    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()


def test_a_backup_leaves_out_what_is_not_ours(client: Client, tmp_path: Path) -> None:
    """Labels, nodes and relationships that others added on a shared server are not in the file."""
    client.write("restore_nodes", labels="Mechanism", rows=[{"id": "m"}])
    client.write("restore_nodes", labels="Layer", rows=[{"id": "l"}])
    run(client, "MATCH (m:Mechanism), (l:Layer) CREATE (l)-[:CAUSES {id: 'x'}]->(m)")
    run(client, "MATCH (m:Mechanism) CREATE (m)-[:CAUSES {id: 'y'}]->(:Foreign)")

    header = write_backup(client, tmp_path / "b.gz")

    assert (header.nodes, header.relations) == ({"Layer": 1, "Mechanism": 1}, {})
    run(client, "MATCH (n:Foreign) DETACH DELETE n")


def test_a_large_backup_is_sorted_in_parts(
    embedded_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many lines fit in memory, the file is the same."""
    fill(embedded_client)
    write_backup(embedded_client, tmp_path / "one.gz")
    monkeypatch.setattr(backup_module, "SORTED_LINES", 7)
    write_backup(embedded_client, tmp_path / "two.gz")

    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()


def test_a_failed_backup_leaves_no_file(
    embedded_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file appears when it is complete; an older one of that name stays until then."""
    fill(embedded_client)
    (tmp_path / "b.gz").write_text("older")

    def fail(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backup_module, "_compress", fail)
    with pytest.raises(UsageError, match=r"cannot be written to .*b\.gz \(No space left on device\)"):
        write_backup(embedded_client, tmp_path / "b.gz")

    assert [path.name for path in tmp_path.iterdir()] == ["b.gz"]
    assert (tmp_path / "b.gz").read_text() == "older"


def test_a_backup_is_private(embedded_client: Client, tmp_path: Path) -> None:
    """Incidents are not for everybody on the machine."""
    write_backup(embedded_client, tmp_path / "b.gz")

    assert (tmp_path / "b.gz").stat().st_mode & 0o777 == 0o600


def test_progress_is_reported(
    embedded_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both directions tell how far they are."""
    monkeypatch.setattr(backup_module, "BATCH", 2)
    embedded_client.write(
        "restore_nodes", labels="Entity", rows=[{"id": f"e{number}"} for number in range(5)]
    )
    seen: list[tuple[int, int]] = []

    write_backup(embedded_client, tmp_path / "b.gz", lambda done, total: seen.append((done, total)))
    assert seen == [(2, 0), (4, 0)]

    seen.clear()
    restore_backup(
        embedded_client,
        tmp_path / "b.gz",
        replace=True,
        on_progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(2, 5), (4, 5), (5, 5)]


def test_a_restore_refuses_a_filled_database(client: Client, tmp_path: Path) -> None:
    """Nothing is overwritten unless one says so."""
    write_backup(client, tmp_path / "b.gz")
    client.write("restore_nodes", labels="Entity", rows=[{"id": "e"}])

    with pytest.raises(ConflictError, match="is not empty; restore with --yes"):
        restore_backup(client, tmp_path / "b.gz")

    assert not is_empty(client)
    restore_backup(client, tmp_path / "b.gz", replace=True)
    assert is_empty(client)


def _changed(path: Path, **changes: Any) -> Path:
    """Write the backup with values of its header changed."""
    header, *body = gzip.decompress(path.read_bytes()).decode().splitlines(keepends=True)
    changed = json.dumps({**json.loads(header), **changes}) + "\n"
    path.write_bytes(gzip.compress("".join([changed, *body]).encode()))
    return path


def test_a_backup_of_a_newer_failgraph_is_refused(embedded_client: Client, tmp_path: Path) -> None:
    """An unknown schema or format is named."""
    path = tmp_path / "b.gz"
    write_backup(embedded_client, path)

    with pytest.raises(ConflictError, match=r"newer failgraph \(schema V9999\)"):
        restore_backup(embedded_client, _changed(path, schema="V9999"))
    with pytest.raises(ConflictError, match="backup of version 99"):
        restore_backup(embedded_client, _changed(path, version=99))


NODE = '{"labels":["Entity"],"properties":{"id":"e"}}\n'
HEADER = {
    "format": "failgraph-backup",
    "version": 1,
    "schema": "V0001",
    "nodes": {},
    "relations": {},
    "checksum": "x",
}


def _packed(*lines: str) -> bytes:
    return gzip.compress("".join(lines).encode())


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is no backup"),
        (b"plain text", "is no backup, or a damaged one"),
        (_packed("not json\n"), "is no backup that failgraph wrote"),
        (_packed("[]\n"), "is no backup that failgraph wrote"),
        (
            _packed(json.dumps({**HEADER, "nodes": {"Entity": "many"}}) + "\n"),
            "is no backup that failgraph wrote",
        ),
        (_packed(json.dumps({**HEADER, "nodes": 1}) + "\n"), "is no backup that failgraph wrote"),
        (_packed(json.dumps({**HEADER, "more": 1}) + "\n"), "is no backup that failgraph wrote"),
        (_packed(json.dumps(HEADER) + "\n"), "does not fit its checksum"),
        (_packed(json.dumps(HEADER) + "\n", NODE * 3), "does not fit its checksum"),
        (_packed(json.dumps({**HEADER, "nodes": {"Entity": 1}}) + "\n", NODE), "does not fit its checksum"),
        (
            _packed(json.dumps({**HEADER, "nodes": {"Entity": 1}}) + "\n", NODE.strip()),
            r"b\.gz:2: the line does not end",
        ),
        (
            _packed(
                json.dumps({**HEADER, "nodes": {"Spy": 1}}) + "\n",
                '{"labels":["Spy"],"properties":{"id":"e"}}\n',
            ),
            r"b\.gz:2: this is neither a node nor a relationship",
        ),
        (
            _packed(
                json.dumps({**HEADER, "nodes": {"Entity": 1}}) + "\n",
                '{"labels":["Entity"],"properties":{}}\n',
            ),
            r"b\.gz:2: this is neither a node nor a relationship",
        ),
        (
            _packed(
                json.dumps({**HEADER, "relations": {"AT": 1}}) + "\n",
                '{"type":"AT","properties":{"id":"e"}}\n',
            ),
            r"b\.gz:2: this is neither a node nor a relationship",
        ),
        (
            _packed(json.dumps({**HEADER, "nodes": {"Entity": 1}}) + "\n", "[" * 100_000 + "\n"),
            r"b\.gz:2: this is neither",
        ),
        (_packed(json.dumps(HEADER) + "\n", NODE)[:-12], "damaged"),
        (gzip.compress(b"\xff\xfe\n"), "damaged"),
    ],
)
def test_a_damaged_backup_is_refused_before_anything_is_written(
    embedded_client: Client, tmp_path: Path, content: bytes, problem: str
) -> None:
    """Whatever is wrong with the file, the database stays as it is, even with --yes."""
    embedded_client.write("restore_nodes", labels="Entity", rows=[{"id": "kept"}])
    (tmp_path / "b.gz").write_bytes(content)

    with pytest.raises(UsageError, match=problem):
        restore_backup(embedded_client, tmp_path / "b.gz", replace=True)

    assert embedded_client.read("count_nodes") == [{"label": "Entity", "nodes": 1}]


def test_a_missing_backup_is_told(embedded_client: Client, tmp_path: Path) -> None:
    """A file that is not there is named."""
    with pytest.raises(UsageError, match=r"none\.gz cannot be read \(No such file or directory\)"):
        restore_backup(embedded_client, tmp_path / "none.gz")


def test_a_restore_that_fails_half_way_says_so(
    embedded_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says how far it came and what to do, and doing so helps."""
    monkeypatch.setattr(backup_module, "BATCH", 2)
    embedded_client.write(
        "restore_nodes", labels="Entity", rows=[{"id": f"e{number}"} for number in range(5)]
    )
    write_backup(embedded_client, tmp_path / "b.gz")
    write = Client.write
    calls: list[str] = []

    def fail(self: Client, name: str, /, **parameters: Any) -> Any:
        calls.append(name)
        if calls.count("restore_nodes") == 2:
            raise QueryFailedError("the disk is full")
        return write(self, name, **parameters)

    with monkeypatch.context() as patched:
        patched.setattr(Client, "write", fail)
        with pytest.raises(PartialError, match=r"after 2 of 5 lines \(the disk is full\).*again with --yes"):
            restore_backup(embedded_client, tmp_path / "b.gz", replace=True)

    restore_backup(embedded_client, tmp_path / "b.gz", replace=True)
    assert embedded_client.read("count_nodes") == [{"label": "Entity", "nodes": 5}]
