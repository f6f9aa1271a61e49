r"""Refuses Cypher that does more than read.

This is the first of two fences: the caller also runs the text in a transaction that is always rolled back. So
the check may refuse too much (a variable named ``set`` must be written in backticks), never too little. It reads
tokens, not a grammar: a clause can only start with its keyword, and a word is harmless only where no clause can
start: after the dot of a property, after the colon of a label, before the colon of a map key.

Unicode escapes are where engines differ: Neo4j replaces ``\uXXXX`` before it looks for strings and comments, other
engines afterwards. A text passes only if both readings are the same.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from itertools import pairwise
from typing import Final

from failgraph.queries.tokens import Kind, Token, closing, locate, tokenize
from failgraph.schema.errors import QueryDefinitionError, ReadOnlyError, UsageError

PATH: Final = "query text"

FORBIDDEN: Final = frozenset(
    {
        # data
        *("CREATE", "INSERT", "MERGE", "SET", "DELETE", "DETACH", "NODETACH", "REMOVE", "FOREACH", "LOAD"),
        # schema, databases, users
        *("DROP", "ALTER", "RENAME", "GRANT", "DENY", "REVOKE", "SHOW", "USE", "TERMINATE"),
        *("ENABLE", "DRYRUN", "DEALLOCATE", "REALLOCATE", "TRANSACTION", "TRANSACTIONS", "PERIODIC"),
    }
)
"""Words that start a clause which does more than read, or which no reading query needs."""

_OWNERS: Final = frozenset({Kind.WORD, Kind.QUOTED, Kind.PARAMETER, Kind.STRING})
_ESCAPE = re.compile(r"\\u+([0-9a-fA-F]{4})")
_LINE_ENDS: Final = frozenset("\v\f\x1c\x1d\x1e\x85\u2028\u2029")
"""Characters that some readers take for the end of a line, so that a comment could end earlier than it seems."""
_STRUCTURAL: Final = frozenset("'\"`\\/*\r\n") | _LINE_ENDS


def check_read_only(text: str) -> None:
    """Return if the text only reads.

    Raises:
        UsageError: the text holds no query.
        ReadOnlyError: the text writes, changes the schema, calls a procedure, holds several statements, or hides
            what it does; with the word and its line and column.

    >>> check_read_only("MATCH (n) WHERE n.set = 'CREATE' RETURN n")
    >>> check_read_only("MATCH (n) DETACH DELETE n")
    Traceback (most recent call last):
    failgraph.schema.errors.ReadOnlyError: query text:1:11: DETACH is not allowed in a query that only reads; ...
    """
    try:
        everything = tokenize(text, path=PATH, comments=True)
    except QueryDefinitionError as error:
        raise ReadOnlyError(error.message, location=error.location) from error
    _refuse_escapes(text, everything)
    _refuse_hidden_line_ends(text, everything)
    tokens = [token for token in everything if token.kind is not Kind.COMMENT]
    if not any(token.kind is Kind.WORD for token in tokens):
        raise UsageError("the query is empty; write one, for example MATCH (c:FailureClass) RETURN c.id")
    _refuse_second_statement(text, tokens)
    for index, token in enumerate(tokens):
        if token.kind is Kind.WORD and not _is_name(tokens, index):
            _refuse_word(text, tokens, index)


def _refuse(text: str, token: Token, word: str, reason: str) -> None:
    raise ReadOnlyError(
        f"{word} is not allowed in a query that only reads; {reason}",
        location=locate(text, token.start, PATH),
    )


def _keyword(word: str) -> str:
    """Return the word as a parser may read it: without accents and odd letter forms, in upper case.

    >>> _keyword("ſet")
    'SET'
    """
    plain = unicodedata.normalize("NFKD", word)
    return "".join(letter for letter in plain if not unicodedata.combining(letter)).upper()


def _is_name(tokens: list[Token], index: int) -> bool:
    """Tell whether the word stands where only a name can stand: property, label or map key."""
    before = tokens[index - 1] if index else None
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    if before and before.is_symbol(":"):
        return True
    if after and after.is_symbol(":"):
        return True
    if before and before.is_symbol(".") and index > 1:
        # After a number the dot could be its end, so only what can own a property counts, and n {.name}.
        owner = tokens[index - 2]
        return owner.kind in _OWNERS or owner.is_symbol(")", "]", "}", "{", ",")
    return False


def _refuse_word(text: str, tokens: list[Token], index: int) -> None:
    token = tokens[index]
    keyword = _keyword(token.text)
    if keyword in FORBIDDEN:
        _refuse(text, token, token.text, "remove it, or put a name that is spelled so in backticks")
    if keyword == "CALL" and not _calls_subquery(tokens, index):
        _refuse(text, token, token.text, "procedures cannot be called; only CALL { ... } is")
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    if keyword in ("START", "STOP") and following and _keyword(following.text) == "DATABASE":
        _refuse(text, token, token.text, "remove it")


def _calls_subquery(tokens: list[Token], index: int) -> bool:
    """Tell whether CALL at this index opens a subquery: ``CALL {`` or ``CALL (names) {``."""
    opening = index + 1
    if opening < len(tokens) and tokens[opening].is_symbol("("):
        opening = closing(tokens, opening) + 1
    return opening < len(tokens) and tokens[opening].is_symbol("{")


def _refuse_second_statement(text: str, tokens: list[Token]) -> None:
    for token, following in pairwise(tokens):
        if token.is_symbol(";") and not following.is_symbol(";"):
            _refuse(text, token, "a second statement after ';'", "run one statement at a time")


def _refuse_escapes(text: str, tokens: list[Token]) -> None:
    """Refuse unicode escapes outside strings and quoted names, and those that could end one."""
    starts = [token.start for token in tokens]
    for escape in _ESCAPE.finditer(text):
        around = tokens[bisect_right(starts, escape.start()) - 1]
        harmless = around.kind in (Kind.STRING, Kind.QUOTED) and chr(int(escape[1], 16)) not in _STRUCTURAL
        if not harmless:
            marker = Token(Kind.SYMBOL, escape[0], escape.start())
            _refuse(text, marker, f"the escape {escape[0]}", "write the character itself")


def _refuse_hidden_line_ends(text: str, tokens: list[Token]) -> None:
    for token in tokens:
        if token.kind is Kind.COMMENT and token.text.startswith("//") and _LINE_ENDS & set(token.text):
            _refuse(text, token, "a comment with an unusual line end", "use plain line ends")
