"""The commands from end to end, on both engines, with the core pack loaded."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from failgraph import cli
from failgraph.graph.client import Client
from failgraph.schema.exchange import Answer
from failgraph.settings import SETTINGS

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = sorted(path.parent.name for path in (ROOT / "examples").glob("*/incident.md"))
Run = Callable[..., Any]


@pytest.fixture
def run(core_clients: Client, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line in this process, on the database of the test."""
    for setting in SETTINGS:
        monkeypatch.delenv(setting.name, raising=False)
    if core_clients.embedded:
        monkeypatch.setenv("FAILGRAPH_DATA_DIR", core_clients.address)
        monkeypatch.setenv("FAILGRAPH_ENGINE", core_clients.engine.removeprefix("embedded-"))
    else:
        server = request.getfixturevalue("neo4j_settings")
        for name in ("uri", "username", "password", "database"):
            if value := getattr(server, name):
                monkeypatch.setenv(f"NEO4J_{name.upper()}", value)
    monkeypatch.chdir(ROOT)

    def invoke(*arguments: str, stdin: str | bytes | None = None) -> Any:
        return CliRunner().invoke(cli.app, list(arguments), input=stdin)

    return invoke


def answer_of(done: Any) -> Answer:
    """Return the answer that a command printed as JSON."""
    assert (done.exit_code, done.stderr) == (0, "")
    return Answer.model_validate_json(done.stdout)


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_are_explained(example: str, run: Run) -> None:
    """The class that was confirmed for an example comes first, and its path rests on the example's files."""
    answer = answer_of(run("triage", f"examples/{example}", "--format", "json"))
    note = (ROOT / "examples" / example / "incident.md").read_text(encoding="utf-8")
    accepted = re.search(r"accept: \[([^\]]*)\]", note)
    assert accepted is not None
    best = answer.hypotheses[0]
    assert best.class_id in accepted[1].split(", ")
    assert "observed" in {hop.state.value for hop in best.path}
    assert answer.incident == example
    total = sum(item.probability for item in answer.hypotheses) + answer.unknown.probability
    assert total == pytest.approx(1.0, abs=1e-6)


def test_nothing_local_is_in_an_answer(run: Run) -> None:
    """An answer names files relative to the argument, and no time of its own making."""
    done = run("triage", str(ROOT / "examples/memory-scrub-errors"), "--format", "json")
    assert str(ROOT) not in done.stdout
    assert {reading.file for reading in answer_of(done).readings} == {"incident.md", "kern.log"}


@pytest.mark.parametrize("output", ["text", "json", "md"])
def test_the_same_input_gives_the_same_bytes(output: str, run: Run) -> None:
    """Two runs print the same."""
    arguments = ("triage", "examples/container-shared-memory", "--format", output)
    assert run(*arguments).stdout == run(*arguments).stdout


def test_explain_understands_a_sentence(run: Run) -> None:
    """A few words give an answer of the same form."""
    words = "NCCL watchdog timeout on all ranks, one rank idle at 0% GPU util"
    answer = answer_of(run("explain", words, "--format", "json"))
    assert "present" in {finding.state.value for finding in answer.findings}
    assert [reading.file for reading in answer.readings] == ["text"]


def test_explain_reads_standard_input(run: Run) -> None:
    """``-`` reads what is piped in; broken UTF-8 does not stop it."""
    line = b"kernel: NVRM: Xid (PCI:0000:52:00): 79, GPU has fallen off the bus. \xff\xfe\n"
    answer = answer_of(run("explain", "-", "--format", "json", stdin=line))
    assert "present" in {finding.state.value for finding in answer.findings}


def test_explain_triage_and_match_agree(run: Run, tmp_path: Path) -> None:
    """The same findings name the same class, however they come in; prose weighs only where there is some."""
    triage = answer_of(run("triage", "examples/container-shared-memory", "--format", "json"))
    handed_in = {
        "findings": [
            {
                key: value
                for key, value in finding.items()
                if key in ("observable", "state", "confidence", "coverage")
            }
            for finding in json.loads(triage.model_dump_json())["findings"]
        ]
    }
    file = tmp_path / "findings.json"
    file.write_text(json.dumps(handed_in), encoding="utf-8")
    from_file = answer_of(run("match", str(file), "--format", "json"))
    from_pipe = answer_of(run("match", "-", "--format", "json", stdin=json.dumps(handed_in)))
    assert from_file == from_pipe
    assert from_file.hypotheses[0].class_id == triage.hypotheses[0].class_id
    assert all(item.terms.text is None for item in from_file.hypotheses)
    assert all(item.terms.text is not None for item in triage.hypotheses)


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ("{", "standard input is no JSON"),
        ('{"findings": [{"observable": "enospc", "state": "gone"}]}', "$.findings[0].state: input should be"),
        (
            '{"findings": [{"observable": "enospc", "colour": 1}]}',
            "$.findings[0].colour: there is no such key",
        ),
        ('{"findings": [{}]}', "$.findings[0]: a finding names either an observable or a circumstance"),
        ('{"schema_version": 9}', "$: schema_version 9 is not known"),
        ('{"findings": [{"observable": "no-such-observable"}]}', "no-such-observable"),
        ("[" * 100_000, "recursion limit exceeded"),
        ('{"context": {"a": NaN}}', "is no JSON"),
    ],
)
def test_wrong_json_is_one_sentence(document: str, complaint: str, run: Run) -> None:
    """What is wrong with the input is said with its place, exit code 2, and nothing is printed."""
    done = run("match", "-", stdin=document)
    assert (done.exit_code, done.stdout) == (2, "")
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1


def test_nothing_readable_ends_with_3(run: Run, tmp_path: Path) -> None:
    """An empty directory and a missing file are said, with exit code 3."""
    assert run("triage", str(tmp_path)).exit_code == 3
    assert run("triage", str(tmp_path / "missing")).exit_code == 3
    assert run("match", str(tmp_path / "missing")).exit_code == 3


def test_an_unknown_zone_or_window_ends_with_2(run: Run) -> None:
    """A wrong --tz or --window is a usage error that shows how to write it."""
    for option in (("--tz", "Mars/Olympus"), ("--window", "yesterday")):
        done = run("triage", "examples/memory-scrub-errors", *option)
        assert (done.exit_code, done.stdout) == (2, "")


def test_classes_are_listed_and_shown(run: Run) -> None:
    """The list narrows to a layer; a class shows its root, its traces and what to do."""
    listed = run("class", "list", "--layer", "host", "--format", "json")
    names = {row["id"] for row in json.loads(listed.stdout)}
    assert "host-shared-memory-too-small" in names
    assert {name.partition("-")[0] for name in names} == {"host"}
    shown = run("class", "show", "host-shared-memory-too-small").stdout
    for words in ("shm-too-small", "nccl-shm-failed", "Repair", "Prevention"):
        assert words in shown


@pytest.mark.parametrize(
    ("output", "first"),
    [("mermaid", "---\ntitle:"), ("dot", "digraph failure {"), ("md", "# "), ("json", "{")],
)
def test_a_class_can_be_drawn_and_exported(output: str, first: str, run: Run) -> None:
    """A class's failure graph comes as a drawing, a page or data."""
    done = run("class", "show", "gpu-fell-off-bus", "--format", output)
    if done.exit_code == 2:
        done = run("class", "show", "host-shared-memory-too-small", "--format", output)
    assert done.exit_code == 0
    assert done.stdout.startswith(first)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("observable", "show", "nccl-shm-failed"), "shm"),
        (("mechanism", "show", "shm-too-small"), "init-failure"),
        (("observable", "list", "--kind", "log"), "nccl-shm-failed"),
    ],
)
def test_the_catalogue_is_shown(arguments: tuple[str, ...], words: str, run: Run) -> None:
    """Observables and mechanisms can be looked up."""
    done = run(*arguments)
    assert (done.exit_code, done.stderr) == (0, "")
    assert words in done.stdout


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        (("class", "show", "host-shared-memory-to-small"), "host-shared-memory-too-small"),
        (("observable", "show", "nccl-shm-faild"), "nccl-shm-failed"),
        (("mechanism", "show", "shm-too-smal"), "shm-too-small"),
        (("class", "list", "--layer", "hots"), "host"),
    ],
)
def test_an_unknown_id_gets_the_nearest(arguments: tuple[str, ...], near: str, run: Run) -> None:
    """A typing error ends with exit code 2 and what was probably meant."""
    done = run(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert near in done.stderr


def test_doctor_finds_the_database(run: Run, core_clients: Client) -> None:
    """The doctor names engine and packs, ends with 0, and never prints a password."""
    done = run("doctor")
    assert done.exit_code == 0
    assert core_clients.engine in done.stdout
    assert "core (revision" in done.stdout
    password = os.environ.get("NEO4J_PASSWORD")
    assert password is None or password not in done.stdout


def test_a_database_that_is_not_there_ends_with_4(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """An address where nothing answers is one sentence and exit code 4."""
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:1")
    for arguments in (("explain", "job hangs"), ("class", "list")):
        done = run(*arguments)
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (4, "", 1)
    assert run("doctor").exit_code == 4
