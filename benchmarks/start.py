"""How long a command takes from a cold start: the list of commands, and the triage of a small incident.

Run ``python benchmarks/start.py [ROUNDS]`` (7 if not given). Everything runs in new processes, alternating. The data
directory holds the core pack before the clock starts; modules are compiled, and files are in the page cache.

* ``failgraph --help`` against ``python -c "import typer"``: target at most 3 times.
* ``failgraph triage`` of a small incident: target at most 1.0 s, with the split into start (imports and opening the
  database), query (lexicon and subgraph), read (files) and infer (the rest: match, printing, closing). The split is
  of the same code with a clock around its parts.

Times are on the clock, and for whole commands on the processor too, which other work on the machine disturbs less.
"""

from __future__ import annotations

import json
import os
import resource
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
laps = {"start": 0.0, "query": 0.0, "read": 0.0}
inside = []
def timed(part, work):
    # A part within another belongs to the outer one.
    def run(*arguments, **options):
        if inside:
            return work(*arguments, **options)
        inside.append(part)
        since = time.perf_counter()
        try:
            return work(*arguments, **options)
        finally:
            laps[part] += time.perf_counter() - since
            inside.pop()
    return run
from contextlib import contextmanager
from pathlib import Path
from failgraph.commands import answering, opening
from failgraph.commands.output import AnswerFormat
plain_open = opening.open_knowledge
@contextmanager
def timed_open(*arguments):
    inside.append("start")
    with plain_open(*arguments) as client:
        from failgraph.graph import lexicon_cache
        from failgraph.graph.client import Client
        lexicon_cache.kept_lexicon = timed("query", lexicon_cache.kept_lexicon)
        Client.read = timed("query", Client.read)
        inside.pop()
        laps["start"] = time.perf_counter() - began
        yield client
opening.open_knowledge = timed_open
def read(lexicon):
    from failgraph.loaders.incident import read_incident
    return read_incident([Path(sys.argv[1])], lexicon)
answering.answer_incident(timed("read", read), AnswerFormat.TEXT, 5)
laps["infer"] = time.perf_counter() - began - sum(laps.values())
print(json.dumps(laps), file=sys.stderr)
"""


def seconds(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Return the seconds of a command in a new process, on the clock and on the processor."""
    began, used = time.perf_counter(), _processor_seconds()
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT, env=environment)
    return time.perf_counter() - began, _processor_seconds() - used


def _processor_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


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
        environment["FAILGRAPH_DATA_DIR"] = str(Path(data, "failgraph"))
        # Compiled modules are kept, as in any installation, also where this environment says not to.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment["PYTHONPYCACHEPREFIX"] = str(Path(data, "compiled"))
        for command in commands.values():
            seconds(command, environment)
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
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
            splits.append(json.loads(done.stderr))
    typer = statistics.median(clock for clock, _ in times["python -c 'import typer'"])
    print(f"{rounds} rounds, median (best)\n")
    print("| command | clock s | processor s | clock, times `import typer` |")
    print("|---|---:|---:|---:|")
    for name, measured in times.items():
        clock, processor = zip(*measured, strict=True)
        print(
            f"| `{name}` | {statistics.median(clock):.3f} ({min(clock):.3f}) | "
            f"{statistics.median(processor):.3f} ({min(processor):.3f}) | {statistics.median(clock) / typer:.2f} |"
        )
    print(f"\n| `failgraph triage`, clock s | {' | '.join(splits[0])} |")
    print("|---|" + "---:|" * len(splits[0]))
    for label, choose in (("median", statistics.median), ("best", min)):
        print(
            f"| {label} | "
            + " | ".join(f"{choose([split[part] for split in splits]):.3f}" for part in splits[0])
            + " |"
        )


if __name__ == "__main__":
    main()
