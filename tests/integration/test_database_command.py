"""``failgraph db`` from the command line, on the embedded engine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from failgraph.cli import main
from failgraph.graph.client import DatabaseSettings
from failgraph.graph.database import open_database


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    errors: str


@pytest.fixture
def run(
    embedded_settings: DatabaseSettings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> _Runner:
    """Run the command line on a data directory of its own."""
    monkeypatch.setenv("FAILGRAPH_DATA_DIR", str(embedded_settings.data_dir))
    monkeypatch.setenv("FAILGRAPH_ENGINE", embedded_settings.engine)
    monkeypatch.delenv("NEO4J_URI", raising=False)
    return _Runner(monkeypatch, capsys, embedded_settings)


@dataclass(frozen=True)
class _Runner:
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]
    settings: DatabaseSettings

    def __call__(self, *arguments: str) -> Ended:
        """Run ``failgraph db`` with these arguments."""
        self.monkeypatch.setattr("sys.argv", ["failgraph", "db", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = self.capsys.readouterr()
        return Ended(int(ended.value.code or 0), captured.out, captured.err)

    def put(self, *ids: str) -> None:
        """Store entities."""
        with open_database(self.settings) as client:
            client.write("restore_nodes", labels="Entity", rows=[{"id": each} for each in ids])


def lines(text: str) -> Sequence[str]:
    """Return the lines with their blanks squeezed."""
    return [" ".join(line.split()) for line in text.splitlines()]


def test_status_of_a_new_database(run: _Runner) -> None:
    """It shows what is pending, changes nothing, and says what to run."""
    for _ in range(2):
        ended = run("status")

        assert "migrations 0 applied; 1 pending" in lines(ended.out)
        assert "nodes none" in lines(ended.out)
        assert "run 'failgraph db migrate'" in ended.errors


def test_migrate_says_what_it_did(run: _Runner) -> None:
    """The first call names the migrations, the second says that there is nothing to do."""
    assert run("migrate").out.startswith("applied V0001 ")
    assert run("migrate") == Ended(0, "nothing to do: the database is up to date\n", "")


def test_status_counts_what_is_stored(run: _Runner) -> None:
    """Text for people, JSON for programs, the same facts."""
    run.put("a", "b")

    ended, as_json = run("status"), json.loads(run("status", "--format", "json").out)

    assert "nodes Entity 2" in lines(ended.out)
    assert "served by this process, every commit on disk" in lines(ended.out)
    assert as_json["nodes"] == {"Entity": 2}
    assert (as_json["engine"], as_json["migrations"]["pending"]) == (ended.out.split()[1], [])


def test_reset_needs_a_yes(run: _Runner) -> None:
    """Without it nothing is deleted, and the exit code says refused."""
    run.put("a")

    refused = run("reset")

    assert (refused.code, refused.out) == (7, "")
    assert "run it again with --yes" in refused.errors
    assert run("reset", "--yes") == Ended(0, "deleted 1 nodes\n", "")


def test_backup_and_restore(run: _Runner, tmp_path: Path) -> None:
    """What was backed up comes back after a reset."""
    run.put("a", "b")
    file = str(tmp_path / "b.jsonl.gz")

    assert run("backup", file) == Ended(0, f"wrote 2 nodes and 0 relationships to {file}\n", "")
    assert run("restore", file).code == 7
    run("reset", "--yes")
    assert run("restore", file) == Ended(0, f"restored 2 nodes and 0 relationships from {file}\n", "")
    assert "nodes Entity 2" in lines(run("status").out)


def test_backup_replaces_a_file_only_by_force(run: _Runner, tmp_path: Path) -> None:
    """An older backup is not lost by a typing error."""
    file = tmp_path / "b.jsonl.gz"
    file.write_text("older")

    assert run("backup", str(file)).code == 7
    assert file.read_text() == "older"
    assert run("backup", str(file), "--force").code == 0


def test_backup_into_a_directory_that_is_not_there(run: _Runner, tmp_path: Path) -> None:
    """The directory is named."""
    ended = run("backup", str(tmp_path / "none" / "b.gz"))

    assert ended.code == 2
    assert f"There is no directory {tmp_path / 'none'}" in ended.errors


def test_a_server_that_does_not_answer(run: _Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line with the address and the setting, and exit code 4."""
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:9")

    ended = run("status")

    assert (ended.code, ended.out) == (4, "")
    assert len(ended.errors.splitlines()) == 1
    assert "bolt://127.0.0.1:9" in ended.errors
