"""Cypher text as tokens: enough to tell code from strings, names and comments; not a parser.

Both readers of a text (the loader with its lint, and the read-only check) stand on this one lexer, so that they
agree on where a string or a comment ends.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from failgraph.schema.errors import Location, QueryDefinitionError


class Kind(Enum):
    """What a token is."""

    WORD = "word"
    QUOTED = "quoted name"
    STRING = "string"
    NUMBER = "number"
    PARAMETER = "parameter"
    SYMBOL = "symbol"
    COMMENT = "comment"


class Token(NamedTuple):
    """One token; ``start`` counts characters from 0, ``text`` is the source as written."""

    kind: Kind
    text: str
    start: int

    @property
    def name(self) -> str:
        """What the token names: a word as it is, a quoted name and a parameter without their marks."""
        text = self.text.removeprefix("$") if self.kind is Kind.PARAMETER else self.text
        if text.startswith("`"):
            return text[1:-1].replace("``", "`")
        return text

    def is_word(self, *words: str) -> bool:
        """Tell whether the token is one of these words, in upper or lower case; quoted names never are."""
        return self.kind is Kind.WORD and self.text.upper() in words

    def is_symbol(self, *symbols: str) -> bool:
        """Tell whether the token is one of these symbols."""
        return self.kind is Kind.SYMBOL and self.text in symbols


# A number never swallows letters other than those of an exponent or of a base: "1CREATE" must stay two tokens.
_TOKEN = re.compile(
    r"""
      (?P<COMMENT>   //[^\r\n]* | /\*.*?\*/ )
    | (?P<STRING>    '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" )
    | (?P<QUOTED>    `(?:[^`]|``)*` )
    | (?P<PARAMETER> \$(?:\w+|`(?:[^`]|``)*`) )
    | (?P<NUMBER>    0x[0-9a-fA-F]+ | 0o[0-7]+
                   | (?:\d+(?:_\d+)*)(?:\.\d+)?(?:[eE][+-]?\d+)? | \.\d+(?:[eE][+-]?\d+)? )
    | (?P<WORD>      [^\W\d]\w* )
    | (?P<SYMBOL>    \.\. | :: | -> | <- | <= | >= | <> | =~ | \+= | \|\| | [^\s\w'"`] )
    | (?P<SPACE>     \s+ )
    """,
    re.VERBOSE | re.DOTALL,
)
_UNTERMINATED = {"'": "string", '"': "string", "`": "quoted name"}


def position(text: str, start: int) -> tuple[int, int]:
    r"""Return line and column, both from 1, of a character position.

    >>> position("RETURN 1\nORDER BY 2", 11)
    (2, 3)
    """
    line = text.count("\n", 0, start) + 1
    return line, start - (text.rfind("\n", 0, start) + 1) + 1


def locate(text: str, start: int, path: str) -> Location:
    """Return the location of a character position in the text of this file."""
    line, column = position(text, start)
    return Location(path, line, column)


def tokenize(text: str, *, path: str = "query text", comments: bool = False) -> list[Token]:
    """Return the tokens of a Cypher text, without comments unless they are asked for.

    Args:
        text: the Cypher text.
        path: how errors name the text.
        comments: keep the comments as tokens.

    Raises:
        QueryDefinitionError: a string, quoted name or comment has no end, or a character means nothing here.

    >>> [token.text for token in tokenize("RETURN n.set, 'a // b' // end")]
    ['RETURN', 'n', '.', 'set', ',', "'a // b'"]
    """
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        # An opening of a comment that matched as a plain symbol has no end.
        unterminated = match is not None and match.group() == "/" and text.startswith("/*", at)
        if match is None or unterminated:
            what = "comment" if unterminated else _UNTERMINATED.get(text[at])
            message = (
                f"the {what} that starts here has no end; close it"
                if what
                else f"the character {text[at]!r} means nothing in Cypher; remove it"
            )
            raise QueryDefinitionError(message, location=locate(text, at, path))
        group = match.lastgroup
        if group != "SPACE" and (comments or group != "COMMENT"):
            tokens.append(Token(Kind[group or ""], match.group(), at))
        at = match.end()
    return tokens


def closing(tokens: list[Token], opening: int) -> int:
    """Return the index of the bracket that closes the one at ``opening``, or the number of tokens if none does."""
    pairs = {"(": ")", "[": "]", "{": "}"}
    expected: list[str] = []
    for index in range(opening, len(tokens)):
        token = tokens[index]
        if token.kind is not Kind.SYMBOL:
            continue
        if token.text in pairs:
            expected.append(pairs[token.text])
        elif expected and token.text == expected[-1]:
            expected.pop()
            if not expected:
                return index
    return len(tokens)
