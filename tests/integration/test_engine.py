"""Starting, sharing, losing and stopping the embedded engine."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from failgraph.graph import engine as engine_module
from failgraph.graph.client import Client, DatabaseSettings
from failgraph.graph.database import open_database
from failgraph.graph.engine import open_engine
from failgraph.schema.errors import DatabaseError, EngineError, QueryFailedError, UsageError

SERVE = """
import sys, time
from pathlib import Path
from failgraph.graph.client import DatabaseSettings
from failgraph.graph.database import open_database
with open_database(DatabaseSettings(data_dir=Path(sys.argv[1]), engine=sys.argv[2])) as client:
    print(client.engine, flush=True)
    sys.stdin.read()
"""
HOLD = """
import fcntl, sys
lock = open(sys.argv[1], "ab")
fcntl.flock(lock, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def process(script: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run a script that prints a line when it is ready and stops when its input ends."""
    with subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout
        running.stdout.readline()
        try:
            yield running
        finally:
            running.kill()


def serving(settings: DatabaseSettings) -> Any:
    """Serve the database from another process."""
    return process(SERVE, str(settings.data_dir), settings.engine)


def put(client: Client, *ids: str) -> None:
    """Store mechanisms."""
    client.write("restore_nodes", labels="Mechanism", rows=[{"id": each} for each in ids])


def count(client: Client) -> int:
    """Return the number of mechanisms."""
    return sum(row["nodes"] for row in client.read("count_nodes"))


def home(settings: DatabaseSettings) -> Path:
    """Return the directory of the graph."""
    return settings.data_dir / "graph"


def mode(path: Path) -> int:
    """Return the permission bits."""
    return stat.S_IMODE(path.stat().st_mode)


# -- one process


def test_data_is_there_after_reopening(embedded_settings: DatabaseSettings) -> None:
    """What was written stays, and the second opening starts the engine anew."""
    with open_database(embedded_settings) as client:
        put(client, "a")
    with open_database(embedded_settings) as client:
        assert count(client) == 1
        assert client.serves


def test_files_are_private(embedded_settings: DatabaseSettings) -> None:
    """Nobody else may look into the directory, or read the password or the port."""
    with Client.open(embedded_settings):
        expected = (0o700, 0o600, 0o600)
        names = ("password", "serving.json")

        assert expected == (
            mode(home(embedded_settings)),
            *(mode(home(embedded_settings) / n) for n in names),
        )


def test_the_record_goes_with_the_server(embedded_settings: DatabaseSettings) -> None:
    """After an orderly end nothing points to a server that is not there."""
    with Client.open(embedded_settings):
        record = json.loads((home(embedded_settings) / "serving.json").read_text())
        assert os.getpid() == record["process"]

    assert not (home(embedded_settings) / "serving.json").exists()


def test_commits_are_flushed_to_the_disk(embedded_settings: DatabaseSettings) -> None:
    """The engine has really taken the setting, which it would ignore without a word."""
    with Client.open(embedded_settings) as client:
        assert client.durable


def test_files_cannot_be_read_by_a_query(embedded_settings: DatabaseSettings) -> None:
    """LOAD CSV is switched off in the engine, not only refused by the reader of queries."""
    statement = f"LOAD CSV FROM 'file://{__file__}' AS line RETURN line"

    with Client.open(embedded_settings) as client, pytest.raises(QueryFailedError):
        client.define([(statement, engine_module_location())])


def engine_module_location() -> Any:
    """Return some location."""
    from failgraph.schema.errors import Location

    return Location("test")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_it_listens_on_loopback_only(embedded_settings: DatabaseSettings) -> None:
    """No other machine reaches the engine, on no port."""
    before = _listeners()
    with Client.open(embedded_settings):
        opened = _listeners() - before

    assert opened
    assert {address for address, _ in opened} <= {"0100007F", "0000000000000000FFFF00000100007F"}


def _listeners() -> set[tuple[str, str]]:
    """Return address and port of the listening sockets of this process, as the kernel writes them."""
    sockets = {os.readlink(link) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()}
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/self/net/{table}").read_text().splitlines()[1:]:
            parts = line.split()
            if parts[3] == "0A" and f"socket:[{parts[9]}]" in sockets:
                address, port = parts[1].split(":")
                found.add((address, port))
    return found


def test_two_clients_of_one_process_share_the_server(embedded_settings: DatabaseSettings) -> None:
    """The first to close does not take the engine away from the other."""
    first = open_database(embedded_settings)
    with Client.open(embedded_settings) as second:
        put(first, "a")
        first.close()
        assert count(second) == 1
        assert second.serves
    assert not (home(embedded_settings) / "serving.json").exists()


def test_a_port_that_is_taken_meanwhile_is_not_the_end(
    embedded_settings: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program may be faster; the engine then gets another port."""
    free = engine_module._free_port
    with socket.socket() as taken:
        taken.bind((engine_module.HOST, 0))
        taken.listen()
        ports = [taken.getsockname()[1]]
        monkeypatch.setattr(engine_module, "_free_port", lambda: ports.pop() if ports else free())

        with open_database(embedded_settings) as client:
            assert count(client) == 0


def test_a_lost_password_is_replaced(embedded_settings: DatabaseSettings) -> None:
    """The data is not lost with the file that holds the password."""
    with open_database(embedded_settings) as client:
        put(client, "a")
    (home(embedded_settings) / "password").unlink()

    with open_database(embedded_settings) as client:
        assert count(client) == 1


def test_a_wrong_password_file_is_told(embedded_settings: DatabaseSettings) -> None:
    """The message says which file to delete, and that helps."""
    with open_database(embedded_settings):
        pass
    password = home(embedded_settings) / "password"
    password.write_text("something else")

    with pytest.raises(DatabaseError, match=f"login was refused .*delete {password}"):
        open_database(embedded_settings)

    password.unlink()
    with open_database(embedded_settings) as client:
        assert count(client) == 0


def test_a_data_directory_that_is_a_file_is_told(embedded_settings: DatabaseSettings, tmp_path: Path) -> None:
    """The message names it and what to set."""
    (tmp_path / "file").write_text("")

    with pytest.raises(EngineError, match=r"cannot be used .*--data-dir or FAILGRAPH_DATA_DIR"):
        Client.open(replace(embedded_settings, data_dir=tmp_path / "file"))


def test_a_data_directory_with_blanks_works(embedded_settings: DatabaseSettings, tmp_path: Path) -> None:
    """The path goes through the engine's argument list unharmed."""
    with open_database(replace(embedded_settings, data_dir=tmp_path / "my data" / "ü")) as client:
        assert count(client) == 0


def test_an_unknown_engine_is_told(embedded_settings: DatabaseSettings) -> None:
    """The message lists the choices."""
    with pytest.raises(EngineError, match="choose auto, native or jvm"):
        open_engine(embedded_settings.data_dir, "turbo")


def test_a_missing_engine_is_told(
    embedded_settings: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says what to install, and the directory is free again."""
    with monkeypatch.context() as patched:
        patched.setattr(
            engine_module, "PACKAGES", {"native": "no_such_engine", "jvm": "no_such_engine_either"}
        )
        with pytest.raises(EngineError, match=r"install failgraph\[jvm\], or set NEO4J_URI"):
            Client.open(embedded_settings)

    with Client.open(embedded_settings) as client:
        assert client.serves


def test_the_second_engine_is_tried(
    embedded_settings: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the first package is missing, the other one is used."""
    real = engine_module.PACKAGES[_kind(embedded_settings)]
    monkeypatch.setattr(engine_module, "PACKAGES", {"missing": "no_such_engine", "native": real})

    with Client.open(replace(embedded_settings, engine="auto")) as client:
        assert client.engine == "embedded-native"


def _kind(settings: DatabaseSettings) -> str:
    with Client.open(settings) as client:
        return client.engine.removeprefix("embedded-")


# -- two processes


def test_a_second_process_uses_the_server_of_the_first(embedded_settings: DatabaseSettings) -> None:
    """Both see each other's writes."""
    with serving(embedded_settings), open_database(embedded_settings) as client:
        assert not client.serves
        put(client, "a")
        with Client.open(embedded_settings) as third:
            assert count(third) == 1


def test_a_killed_process_loses_nothing(embedded_settings: DatabaseSettings) -> None:
    """What was acknowledged is there for the next process, which starts at once."""
    with serving(embedded_settings) as server, open_database(embedded_settings) as client:
        put(client, *(f"m{number}" for number in range(50)))
        server.kill()
        server.wait()

    with open_database(embedded_settings) as client:
        assert count(client) == 50
        assert client.serves


def test_a_read_survives_the_end_of_the_serving_process(embedded_settings: DatabaseSettings) -> None:
    """The client becomes the server, and goes on."""
    with serving(embedded_settings) as server, open_database(embedded_settings) as client:
        put(client, "a")
        server.kill()
        server.wait()

        assert count(client) == 1
        assert client.serves


def test_a_write_tells_that_the_serving_process_ended(embedded_settings: DatabaseSettings) -> None:
    """Whether it was stored is not known, so it is not repeated; the next call works again."""
    with serving(embedded_settings) as server, open_database(embedded_settings) as client:
        server.kill()
        server.wait()

        with pytest.raises(DatabaseError, match="is gone; run the command again"):
            put(client, "a")

        put(client, "b")
        assert count(client) == 1


def test_a_holder_that_does_not_answer_is_named(
    embedded_settings: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence with process and directory; no waiting for ever."""
    monkeypatch.setattr(engine_module, "SILENT_SECONDS", 0.2)
    with Client.open(embedded_settings):
        pass
    record = {"engine": "native", "port": 9, "process": 4242}
    (home(embedded_settings) / "serving.json").write_text(json.dumps(record))

    with (
        process(HOLD, str(home(embedded_settings) / "lock")),
        pytest.raises(EngineError, match=f"{embedded_settings.data_dir} is held by process 4242") as caught,
    ):
        Client.open(embedded_settings)

    assert "end that process" in str(caught.value)


def test_a_holder_that_says_nothing_is_waited_for_and_then_told(
    embedded_settings: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is just starting gets time; after that the directory is named."""
    monkeypatch.setattr(engine_module, "ATTACH_SECONDS", 0.2)
    home(embedded_settings).mkdir(parents=True)

    with (
        process(HOLD, str(home(embedded_settings) / "lock")),
        pytest.raises(EngineError, match="is held by another process"),
    ):
        Client.open(embedded_settings)


def test_processes_that_start_together_find_each_other(embedded_settings: DatabaseSettings) -> None:
    """One serves, the others connect; none fails."""
    script = SERVE.replace("sys.stdin.read()", "print(len(client.read('applied_migrations')), flush=True)")
    command = [sys.executable, "-c", script, str(embedded_settings.data_dir), embedded_settings.engine]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)
    ]

    results = [(*process.communicate(timeout=120), process.returncode) for process in running]

    assert [error for _, error, _ in results] == [""] * 4
    assert [(out.split()[-1:], code) for out, _, code in results] == [(["1"], 0)] * 4


@pytest.mark.parametrize("how", ["end", "interrupt", "forgotten"])
def test_a_process_ends_silently(embedded_settings: DatabaseSettings, how: str) -> None:
    """The engine prints nothing and keeps no process alive: at the end, on Ctrl-C, or left open."""
    script = SERVE
    if how == "forgotten":
        script = script.replace("with open_database(", "client = open_database(").replace(
            ")) as client:", "))"
        )
        script = script.replace("\n    ", "\n")
    with process(script, str(embedded_settings.data_dir), embedded_settings.engine) as running:
        if how == "interrupt":
            running.send_signal(signal.SIGINT)
        out, errors = running.communicate(timeout=20)

    assert out == ""
    if how == "interrupt":
        assert errors.splitlines()[-1] == "KeyboardInterrupt"
        assert "WARNING" not in errors
    else:
        assert (errors, running.returncode) == ("", 0)


def test_bad_bounds_of_the_address_do_not_reach_the_engine(embedded_settings: DatabaseSettings) -> None:
    """With an address set, the embedded engine is not started at all."""
    with pytest.raises(UsageError):
        Client.open(replace(embedded_settings, uri="nonsense"))

    assert not home(embedded_settings).exists()
