"""Headers of query files."""

from __future__ import annotations

import pytest

from failgraph.queries.header import parse_query
from failgraph.queries.query import REQUIRED, Column, Parameter, parse_type
from failgraph.schema.errors import QueryDefinitionError

HEADER = """\
// doc:    Classes that explain what was seen, best
//         first.
// access: read
// shape:  rows
// param:  ids     list[str]          ids of what was seen
// param:  spaces  list[str] = ["a"]  where to look
// param:  limit   int = 20
// param:  layer   str?               only this layer
// column: id      str                of the class
// column: score   float
"""
BODY = """\

// A free comment with a $comment: it declares nothing.
UNWIND $ids AS id
MATCH (c:FailureClass {id: id, pack: '$text', name: $layer})
WHERE c.pack IN $spaces
RETURN c.id AS id, 1.0 AS score
ORDER BY id
LIMIT $limit
"""


def refusal(text: str, name: str = "find") -> tuple[str, int]:
    """Return message and line of the refusal of a file."""
    with pytest.raises(QueryDefinitionError) as caught:
        parse_query(text, name=name, path="queries/find.cypher")
    assert caught.value.location is not None
    assert caught.value.location.path == "queries/find.cypher"
    return caught.value.message, caught.value.location.line


def test_a_header_becomes_a_query() -> None:
    """Every declaration is read; the text is the whole file, so that line numbers stay right."""
    query = parse_query(HEADER + BODY, name="find", path="queries/find.cypher")

    texts = parse_type("list[str]")
    assert query.doc == "Classes that explain what was seen, best first."
    assert (query.name, query.access, query.shape) == ("find", "read", "rows")
    assert (
        Parameter("ids", texts, REQUIRED, "ids of what was seen"),
        Parameter("spaces", texts, ["a"], "where to look"),
        Parameter("limit", parse_type("int"), 20),
        Parameter("layer", parse_type("str?"), None, "only this layer"),
    ) == query.parameters
    assert (
        Column("id", parse_type("str"), "of the class"),
        Column("score", parse_type("float")),
    ) == query.columns
    assert query.text == HEADER + BODY


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ("// access: read\n", "", "the header has no access", 1),
        ("// shape:  rows\n", "", "the header has no shape", 1),
        ("// doc:    Classes", "// dox:    Classes", "the header key 'dox' is not known", 1),
        ("// access: read", "// access: reads", "'reads' is no access", 3),
        ("// shape:  rows", "// shape:  many", "'many' is no shape", 4),
        ("// shape:  rows", "// shape:  rows\n// shape:  row", "the header key 'shape' stands twice", 5),
        ("// shape:  rows", "// shape:", "the header key 'shape' has no value", 4),
        ("list[str]          ids", "list[text]         ids", "'text' is no type", 5),
        ("// param:  limit   int", "// param:  Limit   int", "declares nothing", 7),
        ("// param:  limit   int = 20", "// param:  limit", "declares nothing", 7),
        ("int = 20", "int = x", "the default of limit is not JSON", 7),
        ("int = 20", 'int = "x"', "the default of limit must be a whole number", 7),
        ("// param:  limit ", "// param:  ids ", "the parameter ids is declared twice", 7),
        ("// column: score ", "// column: id ", "the column id is declared twice", 10),
        ("// column: score", "// just words", "this header line is no", 10),
        ("LIMIT $limit", "LIMIT 5", "the parameter limit is declared and not used", 7),
        ("LIMIT $limit", "LIMIT $limit + $more", "the parameter $more is used and not declared", 18),
        ("ORDER BY id\n", "", "rows need an order", 16),
        ("RETURN c.id AS id, 1.0 AS score\n", "WITH c.id AS id\n", "a query of shape rows needs a RETURN", 1),
        ("'$text'", "'$text", "the string that starts here has no end", 14),
    ],
)
def test_a_wrong_file_is_refused_at_its_line(old: str, new: str, message: str, line: int) -> None:
    """Each mistake is one sentence with file and line."""
    text = HEADER + BODY
    assert text.count(old) == 1

    found, at = refusal(text.replace(old, new))

    assert message in found
    assert line == at


@pytest.mark.parametrize(
    ("shape", "columns", "message"),
    [
        ("rows", "", "a query of shape rows has columns"),
        ("row", "", "a query of shape row has columns"),
        ("value", "", "a query of shape value has exactly one column"),
        ("value", "// column: a int\n// column: b int\n", "a query of shape value has exactly one column"),
        ("none", "// column: a int\n", "a query of shape none returns nothing"),
    ],
)
def test_shape_and_columns_fit(shape: str, columns: str, message: str) -> None:
    """A shape says how many columns there are."""
    header = f"// doc: It counts.\n// access: read\n// shape: {shape}\n{columns}"

    assert message in refusal(header + "RETURN 1 AS a ORDER BY a")[0]


def test_a_query_without_rows_needs_no_return() -> None:
    """A write of shape none ends with its last clause."""
    text = "// doc: Forgets.\n// access: write\n// shape: none\nMATCH (i:Incident) DETACH DELETE i\n"

    assert parse_query(text, name="forget", path="queries/forget.cypher").shape == "none"


@pytest.mark.parametrize("name", ["Find", "find-it", "1find", "find it"])
def test_a_file_name_that_is_no_query_name_is_refused(name: str) -> None:
    """Names are lower case with underscores."""
    assert "is no query name" in refusal(HEADER + BODY, name)[0]
