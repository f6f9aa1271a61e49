"""Packs in the graph: load, load again, change, unload, export, on both engines."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from failgraph.graph import pack_store
from failgraph.graph.client import Client, DatabaseSettings
from failgraph.graph.database import open_database
from failgraph.graph.pack_store import Count, Rows, generation, stored_rows
from failgraph.loaders import packs, sync
from failgraph.loaders.format import format_pack
from failgraph.loaders.packs import core_pack_path, read_pack
from failgraph.loaders.sync import ensure_core_pack, export_pack, load_pack, unload_pack
from failgraph.schema.errors import ConflictError, DatabaseError, PackError, UsageError
from failgraph.schema.pack import PackContent
from tests.small_packs import base_pack, site_pack

SAMPLES = Path(__file__).parents[1] / "samples" / "packs"


def rows_of(client: Client) -> Rows:
    """Return all that the graph holds of packs."""
    return stored_rows(client).rows


def asked_of(client: Client, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the name of every reading query from now on."""
    asked: list[str] = []
    read = client.read

    def noted(name: str, **values: Any) -> list[dict[str, Any]]:
        asked.append(name)
        return read(name, **values)

    monkeypatch.setattr(client, "read", noted)
    return asked


def changed_base() -> PackContent:
    """Return the base pack with something new, something changed and something gone in many parts."""
    data = base_pack().model_dump(mode="json", exclude_none=True)
    data["header"]["revision"] = 2
    next(item for item in data["mechanisms"] if item["id"] == "riser-loose")["summary"] = "New words."
    del next(item for item in data["mechanisms"] if item["id"] == "bus-lost")["summary"]
    data["mechanisms"].append({"id": "fuse-blown", "name": "A fuse blows", "layer": "host"})
    stuck = next(item for item in data["observables"] if item["id"] == "step-hangs")
    stuck.update(kind="log", signature="stuck for", shown_by=stuck["shown_by"][:1])
    riser = next(item for item in data["classes"] if item["id"] == "host-loose-riser")
    riser.update(remedies=riser["remedies"][:3], aliases=[], presentations=riser["presentations"][:1])
    riser["chain"]["fuse-blown"] = ["riser-loose"]
    riser["root"] = "fuse-blown"
    data["classes"] = [riser]
    return base_pack(**data)


def test_a_loaded_pack_comes_back(client: Client) -> None:
    """Export gives what was loaded, for a pack that uses every key and for one that builds on it."""
    load_pack(client, base_pack())
    load_pack(client, site_pack())
    assert export_pack(client, "base") == base_pack()
    assert export_pack(client, "site") == site_pack()


def test_the_core_pack_comes_back_as_its_files(core_clients: Client) -> None:
    """After a load of the core pack, an export has the bytes of the shipped files."""
    root = core_pack_path()
    files = {path.relative_to(root).as_posix(): path.read_text() for path in sorted(root.rglob("*.yaml"))}
    assert format_pack(export_pack(core_clients, "core")) == files


def test_a_pack_of_narratives_comes_and_goes(client: Client) -> None:
    """Written reports come back as their files, are counted, and leave nothing behind when they are unloaded."""
    told = read_pack(SAMPLES / "told")
    before = rows_of(client)
    report = load_pack(client, told)
    assert report.nodes["Narrative"] == Count(added=12)
    assert report.relations["DESCRIBES"] == Count(added=10)
    assert format_pack(export_pack(client, "told")) == format_pack(told)
    fewer = told.model_copy(update={"narratives": told.narratives[1:]})
    assert load_pack(client, fewer).nodes["Narrative"] == Count(removed=1)
    unload_pack(client, "told")
    assert rows_of(client) == before


def test_a_load_says_what_it_did(client: Client) -> None:
    """The report counts nodes by label and relationships by type, and names the revisions."""
    report = load_pack(client, base_pack())
    assert (report.pack, report.revision, report.previous_revision, report.unchanged) == (
        "base",
        1,
        None,
        False,
    )
    assert report.nodes["Mechanism"] == Count(added=4)
    assert report.nodes["Evidence"] == Count(added=4)
    assert report.relations["CAUSES"] == Count(added=4)


def test_a_second_load_changes_nothing(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same pack again is noticed by its checksum: one small query, and nothing is read or written."""
    load_pack(client, base_pack())
    before = generation(client)
    asked = asked_of(client, monkeypatch)
    report = load_pack(client, base_pack())
    assert (report.unchanged, report.previous_revision) == (True, 1)
    assert asked == ["packs"]
    assert generation(client) == before


def test_a_changed_pack_leaves_what_a_fresh_load_gives(client: Client) -> None:
    """After a change the graph equals one that never held the old version, and the report has what changed."""
    load_pack(client, changed_base())
    fresh = rows_of(client)
    unload_pack(client, "base")
    load_pack(client, base_pack())
    report = load_pack(client, changed_base())
    assert rows_of(client) == fresh
    assert (report.previous_revision, report.revision) == (1, 2)
    assert report.nodes["Mechanism"] == Count(added=1, changed=2)
    assert report.nodes["Remedy"] == Count(removed=8)
    assert report.relations["PRESENTS_AS"] == Count(removed=1)


def test_a_removed_key_leaves_no_property(client: Client) -> None:
    """A property that the pack no longer states is gone from the node, not empty."""
    load_pack(client, base_pack())
    load_pack(client, changed_base())
    found = {row["properties"]["id"]: row["properties"] for row in client.read("pack_nodes")}
    assert found["bus-lost"] == {"id": "bus-lost", "pack": "base", "name": "The GPU leaves the bus"}


def test_unloading_gives_back_the_graph_from_before(client: Client) -> None:
    """What a site pack added, shared or adjusted is gone after it is unloaded, and nothing else is."""
    load_pack(client, base_pack())
    before = rows_of(client)
    load_pack(client, site_pack())
    step = rows_of(client).relations["CAUSES:riser-loose>bus-lost"]
    assert step.properties["classes"] == ["host-bent-shelf", "host-loose-riser"]
    report = unload_pack(client, "site")
    assert rows_of(client) == before
    assert (report.revision, report.previous_revision) == (None, 1)
    unload_pack(client, "base")
    assert rows_of(client) == Rows()


def test_a_load_keeps_what_incidents_taught(client: Client) -> None:
    """Learnt counts on a relationship survive a load that changes its other properties."""
    load_pack(client, base_pack())
    learnt = {
        "id": "CAUSES:riser-loose>bus-lost",
        "source": "riser-loose",
        "target": "bus-lost",
        "properties": {"alpha": 3.0, "beta": 1.0},
    }
    client.write("link_causes", rows=[learnt])
    load_pack(client, site_pack())
    ends = [row["ends"] for row in client.read("pack_relations") if row["source"] == "riser-loose"]
    (step,) = [end["properties"] for group in ends for end in group if end["id"] == "bus-lost"]
    assert (step["alpha"], step["beta"], step["classes"]) == (
        3.0,
        1.0,
        ["host-bent-shelf", "host-loose-riser"],
    )


def test_what_is_missing_or_taken_is_refused(client: Client) -> None:
    """A pack without what it requires, and an id of another pack, are refused, and nothing is written."""
    with pytest.raises(PackError, match="pack site requires pack base, which is not loaded; load base first"):
        load_pack(client, site_pack())
    assert rows_of(client) == Rows()
    load_pack(client, base_pack())
    before = rows_of(client)
    header = {"id": "twin", "name": "n", "revision": 1, "summary": "s"}
    with pytest.raises(ConflictError, match="is defined by pack base and by pack twin; give it another id"):
        load_pack(client, base_pack(header=header))
    load_pack(client, site_pack())
    with pytest.raises(ConflictError, match="pack site requires pack base; unload site first"):
        unload_pack(client, "base")
    unload_pack(client, "site")
    assert rows_of(client) == before


def test_a_pack_that_is_not_loaded_is_named(client: Client) -> None:
    """Export and unload of an unknown pack say which are loaded."""
    load_pack(client, base_pack())
    for act in (export_pack, unload_pack):
        with pytest.raises(UsageError, match="pack site is not loaded; loaded are base"):
            act(client, "site")


def test_what_incidents_refer_to_stays(client: Client) -> None:
    """A pack cannot lose an observable that a stored incident found."""
    load_pack(client, base_pack())
    incident = {"id": "i-1", "title": "Riser", "space": "default", "status": "open"}
    put_finding(client, incident, "boot-clean")
    before = rows_of(client)
    data = base_pack().model_dump(mode="json")
    data["observables"] = [item for item in data["observables"] if item["id"] != "boot-clean"]
    for item in data["classes"]:
        item["refuters"] = []
    with pytest.raises(
        ConflictError, match="observable boot-clean of pack base cannot go, since 1 stored incident"
    ):
        load_pack(client, base_pack(**data))
    assert rows_of(client) == before


def put_finding(client: Client, incident: dict[str, Any], observable: str) -> None:
    """Store an incident with one finding."""
    from failgraph.graph.store import put_incident

    put_incident(
        client, incident, [{"observable": observable, "state": "present", "confidence": 1.0, "coverage": 1.0}]
    )


@pytest.mark.parametrize("place", ["first", "last"])
def test_a_load_that_fails_leaves_nothing(
    client: Client, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """When a statement fails in the middle, nothing of the load is stored, and the next one works."""
    load_pack(client, base_pack())
    before, counted = rows_of(client), generation(client)
    make_steps = pack_store.write_steps

    def with_bad_row(*arguments: Any) -> list[Any]:
        # A map is no property value on either engine.
        bad = ("merge_mechanism", {"rows": [{"id": "bad", "name": {"not": "a text"}}]})
        steps = make_steps(*arguments)
        return [steps[0], bad, *steps[1:]] if place == "first" else [*steps, bad]

    with monkeypatch.context() as patched:
        patched.setattr(pack_store, "write_steps", with_bad_row)
        with pytest.raises(DatabaseError):
            load_pack(client, site_pack())
    assert (rows_of(client), generation(client)) == (before, counted)
    load_pack(client, site_pack())
    assert export_pack(client, "site") == site_pack()


def test_a_load_starts_again_when_another_came_between(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A load that was worked out from what is no longer there is not written, but worked out anew."""
    load_pack(client, base_pack())
    write = pack_store.write_changes
    calls: list[int] = []

    def overtaken(*arguments: Any) -> None:
        calls.append(1)
        if len(calls) == 1:
            monkeypatch.setattr(pack_store, "write_changes", write)
            load_pack(client, other_pack())
            monkeypatch.setattr(pack_store, "write_changes", overtaken)
        write(*arguments)

    monkeypatch.setattr(pack_store, "write_changes", overtaken)
    load_pack(client, site_pack())
    assert len(calls) == 2
    raced = rows_of(client)
    unload_pack(client, "other")
    unload_pack(client, "site")
    load_pack(client, site_pack())
    load_pack(client, other_pack())
    assert raced == rows_of(client)


def other_pack() -> PackContent:
    """Return a pack that shares a step with the base and the site pack."""
    return site_pack(
        header={"id": "other", "name": "Other", "revision": 1, "summary": "s", "requires": ["base"]},
        mechanisms=[],
        observables=[],
        adjustments=[],
        fitted=None,
        classes=[
            {
                "id": "gpu-other",
                "layer": "gpu",
                "name": "n",
                "summary": "s",
                "root": "driver-stalls",
                "chain": {"driver-stalls": ["job-aborts"]},
                "expects": {"always": ["any-xid"]},
            }
        ],
    )


def core_pack() -> PackContent:
    """Return the pack that ships."""
    return read_pack(core_pack_path())


LOADER = """
import sys
from pathlib import Path
from failgraph.graph import pack_store
from failgraph.graph.client import DatabaseSettings
from failgraph.graph.database import open_database
from failgraph.loaders.sync import load_pack
from tests.small_packs import base_pack, site_pack
from tests.integration.test_packs import core_pack, other_pack

uri, directory, engine = sys.argv[1] or None, Path(sys.argv[2]), sys.argv[3]
packs = {"base": base_pack, "site": site_pack, "other": other_pack, "core": core_pack}
write_steps = pack_store.write_steps

def told_steps(*arguments):
    steps = write_steps(*arguments)
    print("writing", flush=True)
    return steps

if sys.argv[4:] == ["core"]:
    pack_store.write_steps = told_steps
settings = DatabaseSettings(data_dir=directory, uri=uri, engine=engine)
with open_database(settings) as client:
    print("ready", flush=True)
    sys.stdin.readline()
    for name in sys.argv[4:]:
        load_pack(client, packs[name]())
    print("done", flush=True)
    sys.stdin.readline()
"""


def loader(settings: DatabaseSettings, *names: str) -> subprocess.Popen[str]:
    """Start a process that opens the database, waits for a line, loads the packs and waits for another line."""
    root = Path(__file__).parents[2]
    return subprocess.Popen(
        [sys.executable, "-c", LOADER, settings.uri or "", str(settings.data_dir), settings.engine, *names],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def answer(process: subprocess.Popen[str]) -> str:
    """Return the next line that a process prints."""
    assert process.stdout is not None
    return process.stdout.readline()


def tell(process: subprocess.Popen[str]) -> None:
    """Let a process go on."""
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_two_processes_load_at_once(embedded_settings: DatabaseSettings) -> None:
    """Two processes that load at the same moment both succeed, and leave what one after the other would."""
    processes = [loader(embedded_settings, "base", "site"), loader(embedded_settings, "base", "other")]
    try:
        for process in processes:
            assert answer(process) == "ready\n"
        for process in processes:
            tell(process)
        for process in processes:
            assert answer(process) == "done\n"
    finally:
        for process in processes:
            process.communicate("\n")
    with open_database(embedded_settings) as client:
        together = rows_of(client)
        for pack in ("site", "other", "base"):
            unload_pack(client, pack)
        for content in (base_pack(), site_pack(), other_pack()):
            load_pack(client, content)
        assert together == rows_of(client)


@pytest.mark.parametrize("seconds", [0.05, 0.6])
def test_a_killed_load_leaves_nothing_between(embedded_settings: DatabaseSettings, seconds: float) -> None:
    """After a load was killed in the middle of writing, the graph holds nothing of the pack or all of it."""
    process = loader(embedded_settings, "core")
    try:
        assert answer(process) == "ready\n"
        tell(process)
        assert answer(process) == "writing\n"
        time.sleep(seconds)
    finally:
        process.kill()
        process.communicate()
    with open_database(embedded_settings) as client:
        found = rows_of(client)
        load_pack(client, core_pack())
        assert found in (Rows(), rows_of(client))


def test_first_use_loads_the_core_pack(embedded_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty database gets the shipped pack; after that one small query tells that nothing is to do."""
    ship(monkeypatch, base_pack())
    report = ensure_core_pack(embedded_client)
    assert report is not None
    assert report.revision == 1
    asked = asked_of(embedded_client, monkeypatch)
    assert ensure_core_pack(embedded_client) is None
    assert asked == ["packs"]


def ship(monkeypatch: pytest.MonkeyPatch, content: PackContent) -> None:
    """Let a small pack be the one that ships."""
    header = content.header.model_copy(update={"id": "core"})
    shipped = content.model_copy(update={"header": header})
    monkeypatch.setattr(sync, "shipped_revision", lambda: header.revision)
    monkeypatch.setattr(packs, "read_pack", lambda path: shipped)


def test_an_update_brings_the_new_core_pack(embedded_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A newer shipped revision is loaded over the stored one; an older or equal one never is."""
    ship(monkeypatch, base_pack())
    ensure_core_pack(embedded_client)
    ship(monkeypatch, changed_base())
    report = ensure_core_pack(embedded_client)
    assert report is not None
    assert (report.previous_revision, report.revision) == (1, 2)
    ship(monkeypatch, base_pack())
    assert ensure_core_pack(embedded_client) is None


def test_other_packs_alone_are_left_alone(embedded_client: Client) -> None:
    """A database that holds packs but not the core pack is somebody's choice."""
    load_pack(embedded_client, base_pack())
    assert ensure_core_pack(embedded_client) is None


def test_progress_is_told(embedded_client: Client) -> None:
    """A load tells how far it is, from none to all."""
    told: list[tuple[int, int]] = []
    load_pack(embedded_client, base_pack(), lambda done, total: told.append((done, total)))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_the_core_pack_reads_as_it_is_loaded(core_client: Client) -> None:
    """A load of the shipped files over the stored core pack changes nothing."""
    assert load_pack(core_client, read_pack(core_pack_path())).unchanged
