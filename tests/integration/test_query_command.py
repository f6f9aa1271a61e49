"""``failgraph query``: what it lists, shows, runs and refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner

from failgraph import cli
from failgraph.graph.client import Client
from failgraph.queries.registry import all_queries, get_query

Run = Callable[..., Any]


@pytest.fixture
def run(core_client: Client, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command against the core pack on the embedded engine."""
    for name in ("NEO4J_URI", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def invoke(*arguments: str, stdin: str | None = None) -> Any:
        options = ["--data-dir", core_client.address, "query"]
        return CliRunner().invoke(cli.app, [*options, *arguments], input=stdin)

    return invoke


def test_list_has_every_query(run: Run) -> None:
    """Each shipped query is listed once with its line, those that answer questions first."""
    lines = run("list").stdout.splitlines()
    listed = json.loads(run("list", "--format", "json").stdout)

    assert sorted(query.name for query in all_queries()) == sorted(line.split()[1] for line in lines[1:])
    assert lines[1].startswith("explain")
    described = next(item for item in listed if item["name"] == "what_explains")
    assert described["parameters"][0] == {
        "name": "symptom",
        "type": "str",
        "required": True,
        "description": "id of the observable",
    }
    assert described["parameters"][1]["default"] == 20


def test_show_prints_the_file(run: Run) -> None:
    """What is shown is the query as it is sent, header included."""
    assert run("show", "what_explains").stdout == get_query("what_explains").text
    shown = json.loads(run("show", "what_explains", "--format", "json").stdout)
    assert shown["text"] == get_query("what_explains").text


def test_run_gives_rows(run: Run, core_client: Client) -> None:
    """Parameters are read by their declared types, and the rows are those of the client."""
    done = run("run", "what_separates", "-p", "class_a=gpu-engine-hang", "-p", "class_b=gpu-gsp-rpc-timeout")
    as_json = run("run", "layer_list", "--format", "json")
    table = run("run", "what_explains", "--param", "symptom=nccl-peer-closed", "--param", "limit=2")

    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0].split()[:2] == ["observable_id", "says"]
    assert done.stdout.splitlines()[1].endswith("kernel-gpu-xid")
    assert json.loads(as_json.stdout) == core_client.read("layer_list")
    lines = table.stdout.splitlines()
    assert lines[0].split()[:2] == ["class_id", "name"]
    assert len(lines) == 3


def test_what_nests_is_printed_one_under_the_other(run: Run) -> None:
    """A row with lists of lists or maps is printed a column a line, an item a line."""
    lines = run("run", "class_details", "-p", "class_ids=gpu-engine-hang").stdout.splitlines()

    assert lines[0] == "class_id       gpu-engine-hang"
    assert any(line.startswith('checks         {"') for line in lines)


def test_run_takes_lists(run: Run) -> None:
    """A list is written with commas or as JSON."""
    short = run("run", "match_classes", "-p", "present=nccl-peer-closed,rendezvous-timeout", "-p", "limit=1")
    long = run(
        "run", "match_classes", "-p", 'present=["nccl-peer-closed", "rendezvous-timeout"]', "-p", "limit=1"
    )

    assert short.exit_code == 0
    assert short.stdout == long.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("show", "what_explain"), 2, "there is no query 'what_explain'; did you mean what_explains"),
        (("run", "what_explains"), 2, "query what_explains needs the parameter symptom"),
        (("run", "what_explains", "-p", "symptom"), 2, "--param 'symptom' is no assignment"),
        (("run", "what_explains", "-p", "symptom=a", "-p", "symptom=b"), 2, "--param symptom is given twice"),
        (
            ("run", "what_explains", "-p", "symptom=a", "-p", "limit=few"),
            2,
            "limit of query what_explains must be",
        ),
        (("run", "incident_delete", "-p", "incident_id=a"), 7, "query incident_delete writes"),
        (("cypher", "MATCH (n) DETACH DELETE n"), 7, "query text:1:11: DETACH is not allowed"),
        (("cypher", "CALL db.labels()"), 7, "query text:1:1: CALL is not allowed"),
        (("cypher", " "), 2, "the query is empty"),
        (("cypher", "MATCH (n) RETURN"), 4, "The query was refused"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    arguments: tuple[str, ...], code: int, message: str, run: Run
) -> None:
    """A wrong name, parameter or text ends with one line and its exit code."""
    done = run(*arguments)

    assert done.exit_code == code
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_cypher_of_ones_own_reads(run: Run) -> None:
    """A statement runs with its parameters; JSON has columns and rows, also of equal names."""
    text = "MATCH (c:FailureClass) WHERE c.id = $id RETURN c.id AS id, $n AS n, [1, null] AS list"
    done = run("cypher", text, "-p", "id=gpu-engine-hang", "-p", "n=3", "--format", "json")

    assert json.loads(done.stdout) == {
        "columns": ["id", "n", "list"],
        "rows": [["gpu-engine-hang", 3, [1, None]]],
        "truncated": False,
    }


def test_cypher_is_read_from_the_input(run: Run) -> None:
    """A dash stands for standard input."""
    done = run("cypher", "-", stdin="RETURN 'a' AS b // end\n")

    assert (done.exit_code, done.stdout) == (0, "b\na\n")


def test_rows_are_capped_and_it_is_said(run: Run) -> None:
    """More rows than the limit are cut, with a remark."""
    done = run("cypher", "MATCH (c:FailureClass) RETURN c.id AS id ORDER BY id", "--limit", "2")

    assert len(done.stdout.splitlines()) == 3
    assert done.stderr == "There are more rows than 2; --limit shows more.\n"


def test_no_rows_are_said_to_be_none(run: Run) -> None:
    """An empty result is a remark, and no table."""
    done = run("cypher", "MATCH (c:FailureClass {id: 'unknown'}) RETURN c.id AS id")

    assert (done.stdout, done.stderr) == ("", "No rows.\n")


def test_text_from_the_graph_is_never_obeyed(run: Run) -> None:
    """Terminal controls in a value are shown, not sent."""
    done = run("cypher", "RETURN $text AS text", "-p", "text=red\x1b[31m")

    assert done.stdout == "text\nred\\x1b[31m\n"
