"""The lexer of Cypher texts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from failgraph.queries.tokens import Kind, closing, position, tokenize
from failgraph.schema.errors import QueryDefinitionError


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("'it''s'", [Kind.STRING, Kind.STRING]),
        (r"'it\'s'", [Kind.STRING]),
        ("\"a 'b' // c\"", [Kind.STRING]),
        ("`a``b c`", [Kind.QUOTED]),
        ("$name $`a b`", [Kind.PARAMETER, Kind.PARAMETER]),
        ("1 1.5 1e3 0xFF .5 1_000", [Kind.NUMBER] * 6),
        ("1CREATE", [Kind.NUMBER, Kind.WORD]),
        ("[1..3]", [Kind.SYMBOL, Kind.NUMBER, Kind.SYMBOL, Kind.NUMBER, Kind.SYMBOL]),
        ("a // b\n/* c */ d", [Kind.WORD, Kind.WORD]),
        ("größe", [Kind.WORD]),
    ],
)
def test_tokens_have_the_right_kinds(text: str, kinds: list[Kind]) -> None:
    """Strings, quoted names, parameters, numbers and words are told apart, and comments are left out."""
    assert kinds == [token.kind for token in tokenize(text)]


def test_comments_are_kept_when_asked_for() -> None:
    """A comment is a token of its own on request."""
    tokens = tokenize("a // b", comments=True)

    assert [token.kind for token in tokens] == [Kind.WORD, Kind.COMMENT]


def test_names_are_without_their_marks() -> None:
    """A quoted name and a parameter name the thing itself."""
    assert [token.name for token in tokenize("`a``b` $limit $`a b` x")] == ["a`b", "limit", "a b", "x"]


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ("a\n  'b", "the string that starts here has no end", 2, 3),
        ("`b", "the quoted name that starts here has no end", 1, 1),
        ("a /* b", "the comment that starts here has no end", 1, 3),
    ],
)
def test_what_has_no_end_is_refused_with_its_place(text: str, message: str, line: int, column: int) -> None:
    """An unterminated string, name or comment is an error at its first character."""
    with pytest.raises(QueryDefinitionError, match=message) as caught:
        tokenize(text, path="queries/x.cypher")

    location = caught.value.location
    assert location is not None
    assert ("queries/x.cypher", line, column) == (location.path, location.line, location.column)


@pytest.mark.parametrize(("text", "expected"), [("( [ '(' { } ] ) x", 6), ("( [ ]", 3)])
def test_brackets_are_closed_by_their_own_kind(text: str, expected: int) -> None:
    """The closing bracket is found across nested brackets and strings; without one the end is returned."""
    assert expected == closing(tokenize(text), 0)


@settings(deadline=None)
@given(st.text(alphabet="ab'\"`/*\\ \n$1.é-;", max_size=40))
def test_tokens_cover_the_text(text: str) -> None:
    """Tokens are pieces of the text in order; between them stands nothing but blanks."""
    try:
        tokens = tokenize(text, comments=True)
    except QueryDefinitionError:
        return
    end = 0
    for token in tokens:
        assert not text[end : token.start].strip()
        assert token.text == text[token.start : token.start + len(token.text)]
        end = token.start + len(token.text)
    assert not text[end:].strip()


@settings(deadline=None)
@given(st.text(alphabet="ab\n", max_size=30), st.integers(0, 29))
def test_positions_count_lines_and_columns(text: str, start: int) -> None:
    """Line and column lead back to the character."""
    if start >= len(text):
        return
    line, column = position(text, start)

    assert text[start] == (text.split("\n")[line - 1] + "\n")[column - 1]
