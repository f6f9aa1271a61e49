"""Turning what a database returns into plain rows."""

from __future__ import annotations

from typing import Any

import neo4j.time
import pytest
from neo4j.spatial import CartesianPoint

from failgraph.graph.values import Table, capped_table, plain, typed_rows
from failgraph.queries.header import parse_query
from failgraph.schema.errors import QueryDefinitionError

QUERY = parse_query(
    "// doc: d\n// access: read\n// shape: rows\n// column: id str\n// column: score float?\nRETURN 1 ORDER BY 1",
    name="q",
    path="queries/q.cypher",
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (1, 1),
        (1.0, 1.0),
        ("ä", "ä"),
        ([1, [2.5, None]], [1, [2.5, None]]),
        ({"b": 1, "a": {"d": 1, "c": 2}}, {"a": {"c": 2, "d": 1}, "b": 1}),
        (b"\x01\xff", "01ff"),
        (neo4j.time.DateTime(2024, 2, 3, 4, 5, 6), "2024-02-03T04:05:06.000000000"),
        (neo4j.time.Date(2024, 2, 3), "2024-02-03"),
        (neo4j.time.Duration(days=1), "P1D"),
        (CartesianPoint((1.0, 2.0)), [1.0, 2.0]),
    ],
)
def test_values_become_plain(value: Any, expected: Any) -> None:
    """Dates become texts, points lists, maps get sorted keys."""
    actual = plain(value)

    assert (type(expected), repr(expected)) == (type(actual), repr(actual))


def test_rows_have_the_declared_columns_and_types() -> None:
    """A whole number of a float column becomes a float, and null stays null where it is allowed."""
    expected = [{"id": "a", "score": 1.0}, {"id": "b", "score": None}]
    actual = list(typed_rows(QUERY, ["id", "score"], [["a", 1], ["b", None]]))

    assert expected == actual
    assert isinstance(actual[0]["score"], float)


def test_no_rows_need_no_columns() -> None:
    """An engine that names no columns for an empty result is understood."""
    assert list(typed_rows(QUERY, [], [])) == []


@pytest.mark.parametrize(
    ("names", "rows", "problem"),
    [
        (["id"], [["a"]], "returns id and declares id, score"),
        (["id", "score"], [["a", "high"]], "column score is declared float\\? and holds 'high'"),
        (["id", "score"], [[None, 1.0]], "column id is declared str and holds None"),
    ],
)
def test_other_columns_or_types_are_refused(names: list[str], rows: list[list[Any]], problem: str) -> None:
    """A query that returns what it does not declare is named with its file."""
    with pytest.raises(QueryDefinitionError, match=f"^queries/q.cypher: .*{problem}"):
        list(typed_rows(QUERY, names, rows))


def test_a_capped_table_reads_one_record_more_and_no_further() -> None:
    """An endless result is cut, and the table says so."""
    records = iter([[n] for n in range(10)])

    assert Table(("n",), [(0,), (1,)], truncated=True) == capped_table(["n"], records, 2)
    assert next(records) == [3]


def test_a_table_that_just_fits_is_not_truncated() -> None:
    """The limit itself is allowed."""
    assert Table(("n",), [(0,)], truncated=False) == capped_table(["n"], [[0]], 1)
