"""Starts a Neo4j for the tests: a container where Docker answers, else the server's libraries by Maven and Java."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from platformdirs import user_cache_path

HERE: Final = Path(__file__).parent
DEFAULT_VERSION: Final = "5.26.12"
START_SECONDS: Final = 120


class Neo4jUnavailableError(Exception):
    """There is no way to run a Neo4j here; the text says what is missing."""


@dataclass(frozen=True)
class Neo4jServer:
    """A running server without a login."""

    uri: str
    version: str


@contextmanager
def start_neo4j(directory: Path, version: str = DEFAULT_VERSION) -> Iterator[Neo4jServer]:
    """Run a server with its data in a directory, or in a container; stop it at the end.

    Raises:
        Neo4jUnavailableError: neither a Docker engine nor Java and Maven are here, or the server does not start.
    """
    if _docker_answers():
        with _container(version) as server:
            yield server
        return
    java = _find_java(21 if int(version.partition(".")[0]) >= 2025 else 17)
    jars = _fetch_jars(version)
    with _process(java, jars, directory, version) as server:
        yield server


# -- a container


def _docker_answers() -> bool:
    """Ask the engine for its health over its socket; the docker package leaks a socket when nothing answers."""
    host = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    scheme, _, address = host.partition("://")
    family = socket.AF_UNIX if scheme == "unix" else socket.AF_INET
    target = (
        address if scheme == "unix" else (address.rpartition(":")[0], int(address.rpartition(":")[2] or 2375))
    )
    try:
        with socket.socket(family) as connection:
            connection.settimeout(5)
            connection.connect(target)
            connection.sendall(b"GET /_ping HTTP/1.0\r\nHost: docker\r\n\r\n")
            return b"OK" in connection.recv(4096)
    except OSError:
        return False


@contextmanager
def _container(version: str) -> Iterator[Neo4jServer]:
    from testcontainers.core.container import DockerContainer
    from testcontainers.core.waiting_utils import wait_for_logs

    container = DockerContainer(f"neo4j:{version}").with_env("NEO4J_AUTH", "none").with_exposed_ports(7687)
    with container:
        wait_for_logs(container, "Started.", timeout=START_SECONDS)
        host, port = container.get_container_host_ip(), container.get_exposed_port(7687)
        yield Neo4jServer(f"bolt://{host}:{port}", version)


# -- the server's libraries


def _find_java(least: int) -> str:
    """Return the oldest Java that is new enough, of JAVA_HOME, PATH and the usual folders."""
    candidates = [
        *([Path(os.environ["JAVA_HOME"]) / "bin" / "java"] if os.environ.get("JAVA_HOME") else []),
        *([Path(found)] if (found := shutil.which("java")) else []),
        *sorted(Path("/usr/lib/jvm").glob("*/bin/java")),
        *sorted(Path("/Library/Java/JavaVirtualMachines").glob("*/Contents/Home/bin/java")),
    ]
    versions: dict[Path, int] = {}
    for candidate in candidates:
        resolved = candidate.resolve()
        if resolved not in versions and resolved.exists():
            answer = subprocess.run([resolved, "-version"], capture_output=True, text=True, check=False)
            match = re.search(r'version "(\d+)', answer.stderr)
            versions[resolved] = int(match[1]) if match else 0
    fitting = [(version, str(java)) for java, version in versions.items() if version >= least]
    if not fitting:
        raise Neo4jUnavailableError(f"no Docker engine answers and there is no Java {least} or newer")
    return min(fitting)[1]


def _fetch_jars(version: str) -> Path:
    """Return the folder of the server's libraries, fetched once per version into the user's cache."""
    cache = user_cache_path("failgraph") / "test-servers"
    jars = cache / f"neo4j-{version}"
    if jars.is_dir():
        return jars
    maven = shutil.which("mvn")
    if maven is None:
        raise Neo4jUnavailableError("no Docker engine answers and there is no Maven (mvn)")
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f"neo4j-{version}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if jars.is_dir():
            return jars
        with tempfile.TemporaryDirectory(dir=cache) as work:
            shutil.copy(HERE / "pom.xml", work)
            draft = Path(work) / "lib"
            command = [maven, "-q", "-B", f"-Dneo4j.version={version}", "dependency:copy-dependencies"]
            fetched = subprocess.run(
                [*command, f"-DoutputDirectory={draft}"],
                cwd=work,
                capture_output=True,
                text=True,
                check=False,
            )
            if fetched.returncode:
                reason = re.sub(r"\x1b\[[0-9;]*m", "", fetched.stdout).strip().partition("\n")[0]
                raise Neo4jUnavailableError(f"Maven cannot fetch Neo4j {version}: {reason[:300]}")
            draft.rename(jars)
    return jars


@contextmanager
def _process(java: str, jars: Path, directory: Path, version: str) -> Iterator[Neo4jServer]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = directory / "server.log"
    with log.open("w") as errors:
        # Start quickly rather than run fast: tests are short.
        options = ["-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", f"{jars}/*"]
        command = [java, *options, str(HERE / "Serve.java"), str(directory), str(port)]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=directory
        )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        if not any(line.strip() == "ready" for line in process.stdout):
            raise Neo4jUnavailableError(f"Neo4j {version} does not start: {log.read_text()[-500:]}")
        yield Neo4jServer(f"bolt://127.0.0.1:{port}", version)
    finally:
        # An orderly stop takes ten seconds, and the data is thrown away.
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()
