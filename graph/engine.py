"""Starts the embedded engine, or finds the process that runs it. The only module that knows the engine packages.

The engine is ArcadeDB: a native library (package ``arcadedb``), or the same engine on a bundled Java runtime
(package ``arcadedb_embedded``). Both speak Bolt, so that everything else of failgraph meets one driver.

One process at a time may open the files. It holds a lock, serves Bolt on the loopback interface and leaves its
port and process id in a file; another process that finds the lock taken connects to that port. Inside
``DATA_DIR/graph`` (mode 0700) stand::

    lock            held by the serving process, released by the system when it ends
    serving.json    port and process id of the serving process (mode 0600)
    password        random, made once (mode 0600)
    server/         configuration and data of the engine
    log/            the engine's log; it prints nothing
"""

from __future__ import annotations

import atexit
import fcntl
import json
import os
import secrets
import shlex
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import IO, Any, Final

from failgraph.graph.imports import without_modules
from failgraph.schema.errors import EngineError

HOST: Final = "127.0.0.1"
USERNAME: Final = "root"
DATABASE: Final = "failgraph"
PACKAGES: Final = {"native": "arcadedb", "jvm": "arcadedb_embedded"}
ATTACH_SECONDS: Final = 20.0
"""How long to wait for a process that is just starting the engine."""
SILENT_SECONDS: Final = 3.0
"""How long to try a recorded server that does not answer."""
FLUSH_SETTING: Final = "arcadedb.txWalFlush"
FLUSH_FULL: Final = 2
"""Every commit is on the disk before it is acknowledged."""


@dataclass(frozen=True)
class Endpoint:
    """Where the embedded engine listens, and the login. ``kind`` is native or jvm."""

    kind: str
    port: int
    password: str = field(repr=False)
    directory: Path
    process: int

    @property
    def uri(self) -> str:
        """The address for the driver."""
        return f"bolt://{HOST}:{self.port}"


class EmbeddedEngine:
    """A running engine: served by this process (``serves``) or by another one.

    Made by :func:`open_engine`; :meth:`close` it. Several openings of one directory in a process share one
    server, which stops with the last of them.
    """

    def __init__(self, endpoint: Endpoint, server: _Server | None) -> None:
        self.endpoint = endpoint
        self._server = server

    @property
    def serves(self) -> bool:
        """Whether this process runs the engine."""
        return self._server is not None

    @property
    def durable(self) -> bool | None:
        """Whether each commit is on the disk before it is acknowledged; None where another process serves."""
        return None if self._server is None else _flushes(self._server.handle)

    def close(self) -> None:
        """Let go of the engine; the last opening of a serving process stops it."""
        server, self._server = self._server, None
        if server is not None:
            server.release()


def open_engine(
    data_dir: Path,
    kind: str = "auto",
    *,
    command_timeout: float = 60.0,
    meanwhile: Callable[[], object] = lambda: None,
) -> EmbeddedEngine:
    """Start the engine on this data directory, or connect to the process that has it.

    Args:
        data_dir: created when it does not exist.
        kind: native, jvm, or auto (native where it is installed and loads, else jvm).
        command_timeout: seconds after which the engine ends any query; fixed by the first start in a process.
        meanwhile: work to do in another thread while the engine starts, which needs little of Python.

    Raises:
        EngineError: no engine is installed, it cannot start, or another process holds the files and does not
            answer.
    """
    home = _prepare_home(data_dir)
    with _registry_lock:
        server = _registry.get(home)
        if server is not None:
            server.users += 1
            return EmbeddedEngine(server.endpoint, server)
        deadline: float | None = None
        while True:
            lock = _try_lock(home)
            if lock is not None:
                server = _start(home, lock, kind, command_timeout, meanwhile)
                _registry[home] = server
                return EmbeddedEngine(server.endpoint, server)
            endpoint = _recorded(home)
            if endpoint is not None and _answers(endpoint.port):
                return EmbeddedEngine(endpoint, None)
            now = time.monotonic()
            if deadline is None:
                deadline = now + (ATTACH_SECONDS if endpoint is None else SILENT_SECONDS)
            if now > deadline:
                raise _held(home, endpoint)
            time.sleep(0.05)


def password_file(data_dir: Path) -> Path:
    """Return where the random password of a data directory stands."""
    return data_dir / "graph" / "password"


def installed() -> dict[str, str]:
    """Return the versions of the engine packages that are installed, by kind."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for kind, package in PACKAGES.items():
        with suppress(PackageNotFoundError):
            found[kind] = version(package.replace("_", "-"))
    return found


# -- one server per directory and process


@dataclass
class _Server:
    """The engine of one directory, run by this process."""

    endpoint: Endpoint
    handle: Any
    lock: IO[bytes]
    users: int = 1

    def release(self) -> None:
        with _registry_lock:
            self.users -= 1
            if self.users == 0:
                self.stop()

    def stop(self) -> None:
        home = self.endpoint.directory
        _registry.pop(home, None)
        try:
            (home / "serving.json").unlink(missing_ok=True)
            with _engine_errors(home):
                self.handle.stop()
        finally:
            self.lock.close()


_registry: Final[dict[Path, _Server]] = {}
_registry_lock: Final = threading.RLock()


def _stop_all() -> None:
    """Stop what is still open when Python exits; the Java runtime would keep the process alive."""
    for server in list(_registry.values()):
        with suppress(EngineError):
            server.stop()


# -- files


def _prepare_home(data_dir: Path) -> Path:
    """Return the directory of the graph, made private."""
    home = data_dir.expanduser().resolve() / "graph"
    try:
        home.mkdir(parents=True, exist_ok=True)
        home.chmod(0o700)
    except OSError as error:
        raise EngineError(
            f"The data directory {data_dir} cannot be used ({error.strerror}); "
            "name another one with --data-dir or FAILGRAPH_DATA_DIR."
        ) from error
    return home


def _try_lock(home: Path) -> IO[bytes] | None:
    """Return the locked file, or None when another process holds it."""
    try:
        lock = (home / "lock").open("ab")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            return None
    except OSError as error:
        raise EngineError(
            f"The lock file in {home} cannot be used ({error.strerror}); "
            "name another data directory with --data-dir or FAILGRAPH_DATA_DIR."
        ) from error
    return lock


def _write_private(path: Path, text: str) -> None:
    """Write a file that only its owner reads; readers see all of it or nothing."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.new")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
    draft.replace(path)


def _recorded(home: Path) -> Endpoint | None:
    """Return what the serving process has written about itself, if it has."""
    try:
        record = json.loads((home / "serving.json").read_text(encoding="utf-8"))
        password = (home / "password").read_text(encoding="utf-8")
        return Endpoint(str(record["engine"]), int(record["port"]), password, home, int(record["process"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def _answers(port: int) -> bool:
    try:
        with socket.create_connection((HOST, port), timeout=1.0):
            return True
    except OSError:
        return False


def _held(home: Path, endpoint: Endpoint | None) -> EngineError:
    process = f"process {endpoint.process}" if endpoint else "another process"
    return EngineError(
        f"The data directory {home.parent} is held by {process}, which does not answer; "
        "end that process, or name another directory with --data-dir or FAILGRAPH_DATA_DIR."
    )


# -- start


def _start(
    home: Path, lock: IO[bytes], kind: str, command_timeout: float, meanwhile: Callable[[], object]
) -> _Server:
    try:
        with _engine_errors(home):
            (home / "serving.json").unlink(missing_ok=True)
            password = _password(home)
            _configure(home, command_timeout)
            is_new = not (home / "server" / "databases" / DATABASE).exists()
            handle, port, kind = _start_kind(home, password, kind, meanwhile)
            if is_new and not _flushes(handle):
                handle.stop()
                raise EngineError(
                    f"The embedded engine ({kind}) does not write commits to the disk as it was told to; "
                    "install the version of the engine that failgraph names."
                )
            endpoint = Endpoint(kind, port, password, home, os.getpid())
            record = {"engine": kind, "port": port, "process": endpoint.process}
            _write_private(home / "serving.json", json.dumps(record))
    except BaseException:
        lock.close()
        raise
    if not _registry:
        # Registered after the engine's own hooks, so it runs before them.
        atexit.unregister(_stop_all)
        atexit.register(_stop_all)
    return _Server(endpoint, handle, lock)


def _password(home: Path) -> str:
    path = home / "password"
    with suppress(FileNotFoundError):
        return path.read_text(encoding="utf-8")
    # The engine takes a password only when it makes its user file, so a lost password needs a new one.
    (home / "server" / "config" / "server-users.jsonl").unlink(missing_ok=True)
    password = secrets.token_urlsafe(32)
    _write_private(path, password)
    return password


def _configure(home: Path, command_timeout: float) -> None:
    """Set what the engine reads from the environment at its first call; later calls change nothing."""
    log = home / "log"
    log.mkdir(exist_ok=True)
    arguments = [
        "-Xmx1g",
        f"-D{FLUSH_SETTING}={FLUSH_FULL}",
        f"-Darcadedb.command.timeout={round(command_timeout * 1000)}",
        "-Darcadedb.opencypher.loadCsv.allowFileUrls=false",
        "-Darcadedb.opencypher.loadCsv.allowRemoteUrls=false",
        "-Darcadedb.serverMetrics=false",
        # Many rounds of hashing guard passwords that can be guessed; ours is 256 random bits.
        "-Darcadedb.server.saltIterations=1",
    ]
    os.environ["ARCADEDB_LOG_CONSOLE"] = "0"
    os.environ["ARCADEDB_LOG_DIR"] = str(log)
    os.environ["ARCADEDB_NATIVE_ISOLATE_ARGS"] = " ".join(arguments)
    os.environ["ARCADEDB_JVM_ERROR_FILE"] = str(log / "crash-%p.log")
    os.environ["ARCADEDB_JVM_ARGS"] = shlex.join(
        [
            *arguments,
            f"-Darcadedb.server.logsDirectory={log}",
            f"-Djava.util.logging.config.file={log / 'java-logging.properties'}",
        ]
    )


def _start_kind(
    home: Path, password: str, kind: str, meanwhile: Callable[[], object]
) -> tuple[Any, int, str]:
    """Return the started server, its port and the kind of engine."""
    if kind not in ("auto", *PACKAGES):
        raise EngineError(f"There is no embedded engine {kind!r}; choose auto, native or jvm.")
    kinds = list(PACKAGES) if kind == "auto" else [kind]
    causes = []
    for candidate in kinds:
        try:
            with without_modules("numpy", "pandas", "pyarrow"):
                package = import_module(PACKAGES[candidate])
            if candidate == "jvm":
                _write_java_logging(home / "log")
            helper = threading.Thread(target=meanwhile)
            helper.start()
            try:
                handle, port = _serve(package, home, password, quiet=candidate == "jvm")
            finally:
                helper.join()
        except (ImportError, OSError) as error:
            causes.append(f"{candidate}: {error}")
        else:
            return handle, port, candidate
    raise EngineError(
        f"No embedded engine can be loaded ({'; '.join(causes)}); "
        "install failgraph[jvm], or set NEO4J_URI to use a Neo4j server."
    )


def _serve(package: ModuleType, home: Path, password: str, *, quiet: bool) -> tuple[Any, int]:
    """Start the server on a free port; another one is tried when somebody takes it first."""
    for attempt in range(5):
        port = _free_port()
        config = {
            "host": HOST,
            "http_port": 0,  # cannot be switched off; it answers nothing without the password
            "server_plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
            "bolt_port": port,
            "server_defaultDatabases": f"{DATABASE}[{USERNAME}]",
        }
        try:
            with _silence() if quiet else nullcontext(), without_modules("numpy", "pandas", "pyarrow"):
                server = package.create_server(str(home / "server"), password, config=config)
            with _silence() if quiet else nullcontext():
                server.start()
        except package.ArcadeDBError as error:
            if "Unable to listen" not in str(error) or attempt == 4:
                raise
        else:
            return server, port
    raise AssertionError("unreachable")


def _flushes(handle: Any) -> bool:
    """Read back whether the engine has taken the setting for durable commits: it ignores what it does not know."""
    rows = handle.get_database(DATABASE).query("sql", "SELECT settings FROM schema:database").to_list()
    settings = {entry["key"]: entry["value"] for entry in rows[0]["settings"]}
    return bool(settings.get(FLUSH_SETTING) == FLUSH_FULL)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _write_java_logging(log: Path) -> None:
    """The Java runtime takes its log settings from a file; without one it logs to the console."""
    (log / "java-logging.properties").write_text(
        "handlers = java.util.logging.FileHandler\n"
        ".level = INFO\n"
        f"java.util.logging.FileHandler.pattern = {log.as_posix()}/arcadedb.log\n"
        "java.util.logging.FileHandler.formatter = com.arcadedb.log.LogFormatter\n"
        "java.util.logging.FileHandler.limit = 10000000\n"
        "java.util.logging.FileHandler.count = 3\n",
        encoding="utf-8",
    )


@contextmanager
def _silence() -> Iterator[None]:
    """Send the process's standard error nowhere: the Java runtime prints a warning before it can be told not to."""
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(nowhere)
        os.close(kept)


@contextmanager
def _engine_errors(home: Path) -> Iterator[None]:
    """Translate errors of the engine packages, whose class is known only after their import."""
    try:
        yield
    except EngineError:
        raise
    except OSError as error:
        raise EngineError(f"The data directory {home.parent} cannot be used: {error}.") from error
    except Exception as error:
        if type(error).__name__ != "ArcadeDBError":
            raise
        if "LockException" in str(error) or "locked by another process" in str(error):
            raise _held(home, None) from error
        reason = str(error).partition("\n")[0]
        raise EngineError(
            f"The embedded engine cannot work on {home.parent}: {reason}; see the log in {home / 'log'}."
        ) from error
