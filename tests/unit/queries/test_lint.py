"""The checks over query files: each finds what it is for, and lets right texts pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from failgraph.queries.header import parse_query
from failgraph.queries.lint import EXEMPT, Text, lint, lint_query, writing_queries_write
from failgraph.queries.query import Query
from failgraph.queries.registry import Registry, all_queries


def query(body: str, *, access: str = "read", columns: str = "", parameters: str = "") -> Query:
    """Return a query of this text; without columns it returns nothing."""
    shape = "rows" if columns else "none"
    header = ["// doc: A query.", f"// access: {access}", f"// shape: {shape}"]
    header += [f"// param: {item}" for item in parameters.split(";") if item]
    header += [f"// column: {item}" for item in columns.split(";") if item]
    return parse_query("\n".join([*header, body]), name="a_query", path="queries/a_query.cypher")


def rules(body: str, **declared: str) -> list[str]:
    """Return the rules that a text breaks."""
    return [problem.rule for problem in lint_query(query(body, **declared))]


RIGHT = [
    "MATCH (o:Observable {id: 'a'})<-[s:SHOWS]-(m:Mechanism) WHERE s.strength > 0.5 AND m.name = 'b'",
    "MATCH (o:Observable&!Symptom|Evidence) WHERE o:Symptom AND o.metric IS NULL",
    "MATCH (a:Mechanism)-[:CAUSES*1..16]->(b)-[:CAUSES*..3]->()-[:AT*2]->(:Layer)",
    "MATCH ((a:Mechanism)-[:CAUSES]->(b)){1,16}(c) WHERE a.id = c.anything",
    "MATCH (p)-[r:CAUSES|SHOWS {id: 'x'}]->(q) WHERE r.word IS NULL",
    "WITH {labels: 1, b: {c: 2}} AS m WHERE m.labels = 1 AND (m.x + 1) * 2 = 3",
    "MATCH (c:FailureClass) WITH c.id AS c WHERE c.whatever = 1",
    "UNWIND [1] AS n MATCH (n:FailureClass) WHERE n.whatever = 1",
    "MATCH (c:FailureClass) WITH c {.id, .name, extra: c.prior} AS d",
    "MATCH (c:FailureClass) CALL (c) { MATCH (c)-[:ROOTED_IN]->(m) WITH c, m MATCH (c)-[:CHECKED_BY]->(m) }",
    "MATCH (c:FailureClass) CALL (c) { MATCH (c)-[:ROOTED_IN]->(m) WITH m MATCH (m)-[:AT]->(:Layer) }",
    "MATCH (c:FailureClass) CALL (c) { WITH * WHERE c.id STARTS WITH 'a' MATCH (c)-[:ROOTED_IN]->(m) }",
]


@pytest.mark.parametrize("body", RIGHT)
def test_right_texts_pass(body: str) -> None:
    """What obeys the rules gives no problem."""
    assert rules(body) == []


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("MATCH (c:FailureClass) SET c.prior = 1", "reading-queries-only-read"),
        ("MATCH (c:FailureKlass)", "labels-are-known"),
        ("MATCH (c) WHERE c:Symptoms", "labels-are-known"),
        ("MATCH (c:Observable&!Evidenze)", "labels-are-known"),
        ("MATCH ()-[:CAUSED]->()", "relation-types-are-known"),
        ("MATCH ()-[:CAUSES|SHOWN]->()", "relation-types-are-known"),
        ("MATCH (c:FailureClass {idd: 1})", "properties-are-known"),
        ("MATCH ()-[r:CAUSES {strenght: 1}]->()", "properties-are-known"),
        ("MATCH (c:FailureClass) WHERE c.titel = 1", "properties-are-known"),
        ("MATCH ()-[r:SHOWS]->() WHERE r.words = 1", "properties-are-known"),
        ("MATCH (c:FailureClass) WITH c {.id, .titel} AS d", "properties-are-known"),
        ("MATCH (a)-[:CAUSES*]->(b)", "paths-are-bounded"),
        ("MATCH (a)-[:CAUSES*2..]->(b)", "paths-are-bounded"),
        ("MATCH (a)-[*]->(b)", "paths-are-bounded"),
        ("MATCH ((a)-[:CAUSES]->(b))+(c)", "paths-are-bounded"),
        ("MATCH ((a)-[:CAUSES]->(b)){2,}(c)", "paths-are-bounded"),
        ("MATCH p = SHORTEST 1 (a)-[:CAUSES*1..3]->(b)", "only-shared-dialect"),
        ("WITH apoc.coll.sort([1]) AS a", "only-shared-dialect"),
        ("MATCH (c:Layer) WITH elementId(c) AS a", "only-shared-dialect"),
        ("MATCH (c:Layer) WITH id(c) AS a", "only-shared-dialect"),
        (
            "MATCH (c:FailureClass) CALL (c) { MATCH (m:Layer) WITH m MATCH (c)-[:ROOTED_IN]->(m) }",
            "subqueries-keep-their-variables",
        ),
    ],
)
def test_wrong_texts_break_their_rule(body: str, rule: str) -> None:
    """Each mistake is found by the check that is for it, and by no other."""
    assert [rule] == rules(body)


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("MERGE (c:Layer {name: 'a'})", "merges-have-ids"),
        ("MATCH (a:Layer), (b:Layer) MERGE (a)-[:AT]->(b)", "merges-have-ids"),
        ("LOAD CSV FROM 'file:///etc/passwd' AS line CREATE (:Layer {id: line[0]})", "only-shared-dialect"),
        ("MATCH (c:Layer) SET c:Layer", "labels-never-change"),
        ("MATCH (c:Layer) REMOVE c:Layer", "labels-never-change"),
        ("MATCH (c:Layer)", "writing-queries-write"),
    ],
)
def test_wrong_writes_break_their_rule(body: str, rule: str) -> None:
    """Mistakes of queries that write are found too."""
    assert [rule] == rules(body, access="write")


def test_a_right_write_passes() -> None:
    """A MERGE by id, with properties set on creation, is right."""
    body = (
        "UNWIND [1] AS row MERGE (n:Observable:Symptom {id: row}) ON CREATE SET n.says = 'a', n += {leak: 1}"
    )

    assert rules(body, access="write") == []
    assert list(writing_queries_write(Text(query(body, access="write")))) == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("MATCH (c:Layer) RETURN c.id AS id, c.rank AS rank ORDER BY id", []),
        ("MATCH (c:Layer) WITH c.id AS id, c.rank AS rank RETURN id, rank ORDER BY id LIMIT 1;", []),
        ("MATCH (c:Layer) RETURN DISTINCT c.id AS id, [c.rank, 1][0] AS rank ORDER BY id", []),
        ("MATCH (c:Layer) RETURN c.rank AS rank, c.id AS id ORDER BY id", ["columns-are-returned"]),
        ("MATCH (c:Layer) RETURN c.id, c.rank AS rank ORDER BY rank", ["columns-are-returned"]),
    ],
)
def test_returned_columns_are_the_declared_ones(body: str, expected: list[str]) -> None:
    """The last RETURN names the declared columns, in their order."""
    assert expected == rules(body, columns="id str;rank int")


def test_a_problem_says_where_and_what() -> None:
    """A problem prints as file, line, column, sentence and rule."""
    problems = lint_query(query("MATCH (c:FailureKlass)"))

    expected = (
        "queries/a_query.cypher:4:10: the label FailureKlass is not in the schema; see schema/nodes.py "
        "[labels-are-known]"
    )
    assert [expected] == [str(problem) for problem in problems]


def test_files_that_cannot_be_loaded_are_problems_too(tmp_path: Path) -> None:
    """Lint goes on after a broken file and reports it."""
    (tmp_path / "a.cypher").write_text("RETURN 1", encoding="utf-8")
    (tmp_path / "b.cypher").write_text(query("MATCH (c:Nothing)").text, encoding="utf-8")

    assert [problem.rule for problem in lint(Registry(tmp_path))] == ["loads", "labels-are-known"]


@pytest.mark.parametrize("shipped", all_queries(), ids=lambda shipped: shipped.name)
def test_shipped_queries_are_right(shipped: Query) -> None:
    """Every shipped query fits the schema and runs on both engines."""
    problems = [p for p in lint_query(shipped) if (shipped.name, p.rule) not in EXEMPT]

    assert list(map(str, problems)) == []


@pytest.mark.parametrize("exempt", EXEMPT, ids="-".join)
def test_exemptions_are_needed(exempt: tuple[str, str]) -> None:
    """An exemption whose query obeys the rule by now is taken away."""
    name, rule = exempt
    found = {
        problem.rule for shipped in all_queries() if shipped.name == name for problem in lint_query(shipped)
    }

    assert rule in found
