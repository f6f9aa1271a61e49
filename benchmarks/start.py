"""How long a command takes from a cold start: the list of commands, and the triage of a small incident.

Run ``python benchmarks/start.py [ROUNDS]`` (7 if not given). Everything runs in new processes, alternating. The data
directory holds the core pack before the clock starts; files are in the page cache.

* ``failgraph --help`` against ``python -c "import typer"``: target at most 3 times.
* ``failgraph triage`` of a small incident: target at most 1.0 s, with the split into start (imports and opening the
  database), query (lexicon and subgraph), read (files) and infer (the rest of the match and printing).
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
EXAMPLE: Final = "examples/memory-scrub-errors"
SPLIT: Final = """
import json, sys, time
began = time.perf_counter()
laps = {"start": 0.0, "query": 0.0, "read": 0.0, "infer": 0.0}
def lap(part, since):
    now = time.perf_counter()
    laps[part] += now - since
    return now
from pathlib import Path
from failgraph.commands.opening import open_knowledge
from failgraph.graph import match, store
from failgraph.graph.client import Client
from failgraph.loaders.incident import read_incident
from failgraph.render.text import render_text
plain_read = Client.read
def timed_read(self, name, /, **parameters):
    since = time.perf_counter()
    try:
        return plain_read(self, name, **parameters)
    finally:
        spent = time.perf_counter() - since
        laps["query"] += spent
        laps[current] -= spent
Client.read = timed_read
current = "start"
with open_knowledge() as client:
    now = lap("start", began)
    current = "query"
    words = store.lexicon(client)
    now = lap("query", now)
    current = "read"
    incident = read_incident([Path(sys.argv[1])], words)
    now = lap("read", now)
    current = "infer"
    render_text(match.match(client, incident))
    lap("infer", now)
print(json.dumps(laps))
"""


def seconds(command: list[str], environment: dict[str, str]) -> float:
    """Return the wall time of a command in a new process."""
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT, env=environment)
    return time.perf_counter() - began


def main() -> None:
    """Measure and print the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    program = [sys.executable, "-m", "failgraph"]
    commands = {
        "python -c 'pass'": [sys.executable, "-c", "pass"],
        "python -c 'import typer'": [sys.executable, "-c", "import typer"],
        "failgraph --help": [*program, "--help"],
        "failgraph triage": [*program, "triage", EXAMPLE],
    }
    with tempfile.TemporaryDirectory() as data:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")}
        environment["FAILGRAPH_DATA_DIR"] = data
        seconds(commands["failgraph triage"], environment)
        times: dict[str, list[float]] = {name: [] for name in commands}
        splits: list[dict[str, float]] = []
        for _ in range(rounds):
            for name, command in commands.items():
                times[name].append(seconds(command, environment))
            done = subprocess.run(
                [sys.executable, "-c", SPLIT, EXAMPLE],
                check=True,
                capture_output=True,
                text=True,
                cwd=ROOT,
                env=environment,
            )
            splits.append(json.loads(done.stdout))
    typer = statistics.median(times["python -c 'import typer'"])
    print(f"{'command':<26} {'median s':>9} {'best s':>9} {'to typer':>9}")
    for name, measured in times.items():
        median = statistics.median(measured)
        print(f"{name:<26} {median:>9.3f} {min(measured):>9.3f} {median / typer:>9.2f}")
    print("\ntriage, split             " + "".join(f"{part:>9}" for part in splits[0]))
    for label, choose in (("median s", statistics.median), ("best s", min)):
        print(
            f"{label:<26}"
            + "".join(f"{choose([split[part] for split in splits]):>9.3f}" for part in splits[0])
        )


if __name__ == "__main__":
    main()
