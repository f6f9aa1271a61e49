"""Types, parameters and their checks."""

from __future__ import annotations

from typing import Any

import pytest

from failgraph.queries.query import REQUIRED, Column, Parameter, Query, parse_type
from failgraph.schema.errors import UsageError

QUERY = Query(
    name="find",
    doc="Finds.",
    access="read",
    shape="rows",
    parameters=(
        Parameter("ids", parse_type("list[str]")),
        Parameter("limit", parse_type("int"), 20),
        Parameter("share", parse_type("float?"), None),
        Parameter("exact", parse_type("bool"), False),
        Parameter("extra", parse_type("json"), {}),
    ),
    columns=(Column("id", parse_type("str")),),
    text="",
    path="queries/explain/find.cypher",
)


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("str", "a", True),
        ("str", "\ud800", False),
        ("str", 1, False),
        ("str", None, False),
        ("str?", None, True),
        ("int", 1, True),
        ("int", True, False),
        ("int", 1.0, False),
        ("int", 2**63, False),
        ("int", -(2**63), True),
        ("float", 1, True),
        ("float", 0.5, True),
        ("float", float("nan"), False),
        ("float", float("inf"), False),
        ("float", "1", False),
        ("bool", False, True),
        ("bool", 0, False),
        ("json", {"a": [1, None, {"b": "c"}]}, True),
        ("json", {1: "a"}, False),
        ("json", {"a": {1, 2}}, False),
        ("json", [1], False),
        ("any", [1, "a", None], True),
        ("any", None, True),
        ("any", {"a": object()}, False),
        ("any", ["\udfff"], False),
        ("list[str]", ["a"], True),
        ("list[str]", ("a",), True),
        ("list[str]", "a", False),
        ("list[str]", ["a", None], False),
        ("list[str?]", ["a", None], True),
        ("list[list[any]]", [["a", 1.5, None]], True),
        ("list[list[any]]", [1], False),
        ("list[json]", [{"a": 1}], True),
    ],
)
def test_a_type_accepts_its_values_only(kind: str, value: Any, expected: bool) -> None:
    """Each type takes what can be sent as it, and nothing that merely looks alike."""
    assert expected == parse_type(kind).accepts(value)


@pytest.mark.parametrize("kind", ["str", "int?", "list[str]", "list[list[any]?]?", "json", "list[float?]"])
def test_a_type_prints_as_it_is_written(kind: str) -> None:
    """Spelling and type go both ways."""
    assert kind == str(parse_type(kind))


@pytest.mark.parametrize("kind", ["", "text", "list", "list[]", "list[str", "str??", "Int"])
def test_an_unknown_type_is_refused(kind: str) -> None:
    """A spelling that is no type is an error that lists the types."""
    with pytest.raises(ValueError, match=r"is no type|two question marks"):
        parse_type(kind)


def test_defaults_are_filled_in_and_values_made_normal() -> None:
    """What is not given takes its default, a tuple is sent as a list, a whole number as a float."""
    expected = {"ids": ["a", "b"], "limit": 20, "share": 1.0, "exact": False, "extra": {}}

    assert expected == QUERY.check({"ids": ("a", "b"), "share": 1})
    assert isinstance(QUERY.check({"ids": [], "share": 1})["share"], float)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "query find needs the parameter ids: give a list of texts"),
        ({"ids": "a"}, "parameter ids of query find must be a list of texts; got 'a'"),
        ({"ids": [], "limit": None}, "parameter limit of query find must be a whole number; got None"),
        ({"ids": [], "limt": 3}, "query find has no parameter limt; did you mean limit?"),
        (
            {"ids": [], "nonsense": 3},
            "query find has no parameter nonsense; it takes ids, limit, share, exact, extra",
        ),
    ],
)
def test_wrong_parameters_are_refused_with_what_is_expected(values: dict[str, Any], message: str) -> None:
    """A missing, unknown or wrong parameter is a usage error that says what to give."""
    with pytest.raises(UsageError) as caught:
        QUERY.check(values)

    assert message == caught.value.message


def test_a_long_value_is_shortened_in_the_message() -> None:
    """An error does not repeat a huge value."""
    with pytest.raises(UsageError) as caught:
        QUERY.check({"ids": [1] * 10_000})

    assert len(caught.value.message) < 200


@pytest.mark.parametrize(
    ("assignments", "expected"),
    [
        ({"ids": "a, b,"}, {"ids": ["a", "b"]}),
        ({"ids": '["a,b", "c"]'}, {"ids": ["a,b", "c"]}),
        ({"ids": ""}, {"ids": []}),
        ({"ids": "a", "limit": "3"}, {"limit": 3}),
        ({"ids": "a", "share": "0.5"}, {"share": 0.5}),
        ({"ids": "a", "share": "null"}, {"share": None}),
        ({"ids": "a", "exact": "TRUE"}, {"exact": True}),
        ({"ids": "a", "extra": '{"k": [1]}'}, {"extra": {"k": [1]}}),
    ],
)
def test_texts_are_read_by_their_declared_type(assignments: dict[str, str], expected: dict[str, Any]) -> None:
    """What a command line gives as text becomes the value that it stands for."""
    values = QUERY.read_parameters(assignments)

    assert expected == {name: values[name] for name in expected}


@pytest.mark.parametrize(
    ("name", "text"),
    [("limit", "three"), ("limit", "1.5"), ("share", "nan"), ("exact", "yes"), ("extra", "{"), ("ids", "[1")],
)
def test_a_text_that_does_not_read_is_refused(name: str, text: str) -> None:
    """A text that is no value of the declared type is a usage error that names the parameter."""
    with pytest.raises(UsageError, match=f"parameter {name} of query find must be"):
        QUERY.read_parameters({"ids": "a", name: text})


def test_an_unknown_name_on_the_command_line_is_refused() -> None:
    """A name that is not declared is refused before its text is read."""
    with pytest.raises(UsageError, match="did you mean ids"):
        QUERY.read_parameters({"idz": "["})


def test_a_parameter_prints_with_its_default() -> None:
    """A parameter is shown as its header line has it."""
    assert [str(parameter) for parameter in QUERY.parameters[:2]] == ["ids list[str]", "limit int = 20"]
    assert repr(REQUIRED) == "REQUIRED"


def test_the_topic_of_a_query_is_its_folder() -> None:
    """Folders group queries by what they are about."""
    assert QUERY.topic == "explain"
