"""The check that a user's Cypher only reads."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from failgraph.queries.readonly import FORBIDDEN, check_read_only
from failgraph.schema.errors import ReadOnlyError, UsageError

READS = [
    "MATCH (n) RETURN n",
    "match (n:Observable) where n.id = $set return n.set, n . create, n.`delete` limit 1;",
    "MATCH (n:Set {create: 1})-[:DELETE]->() RETURN n {.remove, .drop, merge: 2}",
    "RETURN 'CREATE (n)' AS a, \"x'; DELETE\" AS b // SET n.x = 1",
    "RETURN 'it\\'s; CREATE' /* DROP ' */ AS `SET n`",
    "MATCH (start)-[:CAUSES*1..3]->(stop) RETURN start, stop",
    "CALL { MATCH (n) RETURN n } RETURN n",
    "MATCH (n) CALL (n) { RETURN n.id AS id } RETURN id",
    "MATCH (n) OPTIONAL CALL (n) { RETURN 1 AS one } RETURN one",
    "MATCH (n) WHERE EXISTS { (n)--() } RETURN COUNT { (n)--() }, COLLECT { MATCH (n) RETURN n.id }",
    "EXPLAIN MATCH (n) RETURN n",
    "RETURN '\\u00e4' AS a",
    "RETURN n.created, creates, settings, offset(1)",
    "RETURN date('2025-01-01').year AS year, $p.set, [1, 2][0].load",
]


@pytest.mark.parametrize("text", READS)
def test_reading_passes(text: str) -> None:
    """Words in strings, comments, names, labels, properties and map keys are harmless."""
    check_read_only(text)


@pytest.mark.parametrize(
    ("text", "word", "line", "column"),
    [
        ("CREATE (n)", "CREATE", 1, 1),
        ("MATCH (n)\n  set n.x = 1", "set", 2, 3),
        ("MATCH (n) DETACH DELETE n", "DETACH", 1, 11),
        ("MATCH (n) DELETE n", "DELETE", 1, 11),
        ("MATCH (n) REMOVE n.x", "REMOVE", 1, 11),
        ("MERGE (n {id: 1}) RETURN n", "MERGE", 1, 1),
        ("INSERT (n)", "INSERT", 1, 1),
        ("FOREACH (x IN [1] | CREATE (n))", "FOREACH", 1, 1),
        ("LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line", "LOAD", 1, 1),
        ("DROP INDEX a", "DROP", 1, 1),
        ("ALTER DATABASE a SET ACCESS READ ONLY", "ALTER", 1, 1),
        ("SHOW USERS", "SHOW", 1, 1),
        ("USE system MATCH (n) RETURN n", "USE", 1, 1),
        ("GRANT ROLE a TO b", "GRANT", 1, 1),
        ("DENY READ {*} ON GRAPH * TO b", "DENY", 1, 1),
        ("REVOKE ROLE a FROM b", "REVOKE", 1, 1),
        ("TERMINATE TRANSACTIONS 'a'", "TERMINATE", 1, 1),
        ("START DATABASE a", "START", 1, 1),
        ("STOP  /* x */ DATABASE a", "STOP", 1, 1),
        ("CALL db.labels()", "CALL", 1, 1),
        ("CALL db.labels", "CALL", 1, 1),
        ("MATCH (n) CALL (n) RETURN n", "CALL", 1, 11),
        ("MATCH (n) CALL { RETURN 1 AS x } IN TRANSACTIONS RETURN n", "TRANSACTIONS", 1, 37),
        (
            "MATCH (n) CALL (n) { RETURN 1 AS x } IN 3 CONCURRENT TRANSACTIONS OF 2 ROWS RETURN n",
            "TRANSACTIONS",
            1,
            54,
        ),
        ("RETURN 1; CREATE (n)", "a second statement after ';'", 1, 9),
        ("RETURN 1;\n/* x */ RETURN 2", "a second statement after ';'", 1, 9),
        # A comment or a string that ends where it seems not to.
        ("RETURN 'a' /* ' */ CREATE (n) /* ' */", "CREATE", 1, 20),
        ("RETURN 1 // a\rCREATE (n)", "CREATE", 1, 15),
        ("RETURN 1 /* /* */ CREATE (n) // */", "CREATE", 1, 19),
        ("RETURN `a`` b` CREATE (n)", "CREATE", 1, 16),
        ("RETURN 'a\\\\' CREATE (n) //'", "CREATE", 1, 14),
        # Numbers that end in a dot or run into a word.
        ("RETURN 1.CREATE (n)", "CREATE", 1, 10),
        ("RETURN 1CREATE (n)", "CREATE", 1, 9),
        ("RETURN [1..CREATE]", "CREATE", 1, 12),
        # Letters that turn into others when a parser makes them big.
        ("MATCH (n) ſet n.x = 1", "ſet", 1, 11),
        ("ınsert (n)", "ınsert", 1, 1),
        ("ＣＲＥＡＴＥ (n)", "ＣＲＥＡＴＥ", 1, 1),
        ("CREATE\u00a0(n)", "CREATE", 1, 1),
        # Escapes that one reader replaces before it looks for strings, and another afterwards.
        ("\\u0043REATE (n)", "the escape \\u0043", 1, 1),
        ("RETURN '\\u0027 CREATE (n) //'", "the escape \\u0027", 1, 9),
        ("RETURN '\\\\u0027 CREATE (n) //'", "the escape \\u0027", 1, 10),
        ("RETURN '\\uu0027 CREATE (n) //'", "the escape \\uu0027", 1, 9),
        ("RETURN 1 // \\u000a CREATE (n)", "the escape \\u000a", 1, 13),
        ("RETURN 1 /* \\u002a\\u002f CREATE (n) */", "the escape \\u002a", 1, 13),
        ("RETURN `a\\u0060 CREATE (n) //`", "the escape \\u0060", 1, 10),
        ("RETURN 1 // a\u2028CREATE (n)", "a comment with an unusual line end", 1, 10),
    ],
)
def test_more_than_reading_is_refused_with_word_and_place(
    text: str, word: str, line: int, column: int
) -> None:
    """Every way to write, to change the schema or to call a procedure is refused where it stands."""
    with pytest.raises(ReadOnlyError) as caught:
        check_read_only(text)

    location = caught.value.location
    assert location is not None
    assert (line, column) == (location.line, location.column)
    assert caught.value.message.startswith(f"{word} is not allowed in a query that only reads; ")


@pytest.mark.parametrize("text", ["RETURN 'a", 'RETURN "a', "RETURN `a", "RETURN 1 /* a", "RETURN '\\'"])
def test_what_has_no_end_is_refused(text: str) -> None:
    """A text whose strings or comments have no end could hold anything."""
    with pytest.raises(ReadOnlyError, match="has no end"):
        check_read_only(text)


@pytest.mark.parametrize("text", ["", "  \n", ";", "// CREATE", "/* */ ;"])
def test_an_empty_text_is_a_usage_error(text: str) -> None:
    """Without a word there is no query."""
    with pytest.raises(UsageError, match="the query is empty"):
        check_read_only(text)


words = st.sampled_from(sorted(FORBIDDEN)).flatmap(
    lambda word: st.sampled_from([word, word.lower(), word.title(), word.swapcase().title()])
)
blanks = st.sampled_from([" ", "\n", "\t", "\r\n", " /* SET */ ", " // it's\n", "/**/", "\u00a0"])
harmless = st.sampled_from(
    [
        "MATCH (n)",
        "RETURN 1",
        "WITH n",
        "'a'",
        '"b\\""',
        "`c``d`",
        "n.id",
        "{a: 1}",
        "[1, 2]",
        "$p",
        "1.5",
        ")",
        "]",
    ]
)
quotes = st.sampled_from([("'", "'"), ('"', '"'), ("`", "`"), ("/*", "*/"), ("// ", "\n")])


@settings(deadline=None)
@given(st.lists(harmless, min_size=1), blanks, words, blanks)
def test_a_forbidden_word_after_anything_is_refused(
    before: list[str], first: str, word: str, second: str
) -> None:
    """Whatever stands before it, a clause's word that follows is found."""
    with pytest.raises(ReadOnlyError):
        check_read_only(" ".join(before) + first + word + second + "(n)")


@settings(deadline=None)
@given(quotes, words, st.text(alphabet="ab ;(){}[]=.,$\n", max_size=20))
def test_a_forbidden_word_in_quotes_passes(quote: tuple[str, str], word: str, rest: str) -> None:
    """What stands in a string, a quoted name or a comment is no clause."""
    if quote[0] == "// ":
        rest = rest.replace("\n", " ")
    check_read_only(f"RETURN 1 AS a {quote[0]} {word} {rest}{quote[1]}")


@settings(deadline=None)
@given(words, st.sampled_from(["n.{}", "(n:{})", "{{{}: 1}}", "n {{.{}}}", "${}", "[:{}]"]))
def test_a_forbidden_word_as_a_name_passes(word: str, place: str) -> None:
    """What stands where only a name can stand is no clause."""
    check_read_only("RETURN " + place.format(word))


@settings(deadline=None)
@given(st.text(max_size=60) | st.text(alphabet="'\"`\\/*\n u0027{}().:;$CREATEset1", max_size=60))
def test_any_text_is_passed_or_refused(text: str) -> None:
    """Nothing that is typed ends in anything but the two errors."""
    with suppress(ReadOnlyError, UsageError):
        check_read_only(text)


@settings(deadline=None)
@given(
    st.text(alphabet="'\"`\\/*\n\r a1.:$", max_size=12), words, st.text(alphabet="'\"`\\/*\n a", max_size=8)
)
def test_a_word_passes_only_inside_quotes_or_as_a_name(before: str, word: str, after: str) -> None:
    """A text that passes hides the word from a second, simpler reader too: it is not code for either."""
    text = f"RETURN {before} {word} {after}"
    try:
        check_read_only(text)
    except ReadOnlyError:
        return
    code, found, _ = _code_of(text).partition(word)
    assert not found or code.rstrip()[-1] in (".", ":")


def _code_of(text: str) -> str:
    """Return the text without strings, quoted names and comments, read character by character."""
    code, at = [], 0
    while at < len(text):
        if text[at] in "'\"`":
            quote, at = text[at], at + 1
            while at < len(text) and text[at] != quote:
                at += 2 if text[at] == "\\" and quote != "`" else 1
            at += 1
        elif text.startswith("/*", at):
            end = text.find("*/", at + 2)
            at = len(text) if end < 0 else end + 2
        elif text.startswith("//", at):
            while at < len(text) and text[at] not in "\r\n":
                at += 1
        else:
            code.append(text[at])
            at += 1
    return "".join(code)
