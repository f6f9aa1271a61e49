"""Finds the node and relationship patterns in a Cypher text's tokens, well enough to check them against the schema."""

from __future__ import annotations

from dataclasses import dataclass

from failgraph.queries.tokens import Kind, Token, closing

_NAMES = (Kind.WORD, Kind.QUOTED)
_CLAUSE_WORDS = (
    *("MATCH", "MERGE", "CREATE", "WITH", "RETURN", "UNWIND", "WHERE", "CALL", "SET", "REMOVE", "DELETE"),
    *("FOREACH", "ON", "ORDER", "UNION"),
)


@dataclass(frozen=True)
class NodePattern:
    """``(variable:Label {key: ...})``, or a label test ``variable:Label`` in an expression.

    ``clause`` is the keyword of the clause it stands in; ``opening`` is its first token.
    """

    opening: Token
    clause: str
    variable: Token | None
    labels: tuple[Token, ...]
    keys: tuple[Token, ...]


@dataclass(frozen=True)
class RelationPattern:
    """``[variable:TYPE*1..3 {key: ...}]``; ``unbounded`` is the star of a length without upper bound."""

    opening: Token
    clause: str
    variable: Token | None
    types: tuple[Token, ...]
    keys: tuple[Token, ...]
    unbounded: Token | None


Pattern = NodePattern | RelationPattern


def find_patterns(tokens: list[Token]) -> list[Pattern]:
    """Return all patterns in the order of the text."""
    patterns: list[Pattern] = []
    clause = ""
    maps = _map_literals(tokens)
    for index, token in enumerate(tokens):
        before = tokens[index - 1] if index else None
        if token.is_word(*_CLAUSE_WORDS) and not (before and before.is_symbol(".", ":")):
            # ON CREATE SET and ON MATCH SET belong to their MERGE; the SET decides.
            clause = token.text.upper()
        elif token.is_symbol("[") and before and before.is_symbol("-", "<-"):
            patterns.append(_relation(tokens, index, clause))
        elif token.is_symbol("(") and _opens_node(tokens, index):
            patterns.append(_node(tokens, index, clause))
        elif token.is_symbol(":") and index not in maps and _tests_label(tokens, index):
            labels = _label_names(tokens, index, len(tokens))
            patterns.append(NodePattern(tokens[index - 1], clause, tokens[index - 1], labels, ()))
    return patterns


def _map_literals(tokens: list[Token]) -> set[int]:
    """Return the indexes of the colons that separate a map's key from its value."""
    colons: set[int] = set()
    openings: list[str] = []
    for index, token in enumerate(tokens):
        if token.is_symbol("(", "[", "{"):
            openings.append(token.text)
        elif token.is_symbol(")", "]", "}") and openings:
            openings.pop()
        elif (
            token.is_symbol(":")
            and openings
            and openings[-1] == "{"
            and tokens[index - 2].is_symbol("{", ",")
        ):
            colons.add(index)
    return colons


def _opens_node(tokens: list[Token], index: int) -> bool:
    """Tell whether a parenthesis opens a node pattern with a label, or with a variable next to an arrow."""
    inside = tokens[index + 1 : index + 3]
    if len(inside) == 2 and inside[0].is_symbol(":"):
        return True
    return len(inside) == 2 and inside[0].kind in _NAMES and inside[1].is_symbol(":")


def _tests_label(tokens: list[Token], index: int) -> bool:
    """Tell whether a colon outside maps and brackets tests or sets a label: ``n:Label``."""
    if index < 2 or tokens[index - 1].kind not in _NAMES:
        return False
    opens_pattern = tokens[index - 2].is_symbol("(") and _opens_node(tokens, index - 2)
    goes_on = tokens[index - 2].is_symbol("[", ":", "|", "&")
    return not opens_pattern and not goes_on


def _node(tokens: list[Token], opening: int, clause: str) -> NodePattern:
    end = closing(tokens, opening)
    place = opening + 1
    variable = tokens[place] if tokens[place].kind in _NAMES else None
    colon = place + 1 if variable else place
    labels = _label_names(tokens, colon, end)
    return NodePattern(tokens[opening], clause, variable, labels, _map_keys(tokens, colon, end))


def _relation(tokens: list[Token], opening: int, clause: str) -> RelationPattern:
    end = closing(tokens, opening)
    place = opening + 1
    variable = tokens[place] if place < end and tokens[place].kind in _NAMES else None
    place += 1 if variable else 0
    types = _label_names(tokens, place, end) if tokens[place].is_symbol(":") else ()
    star = next((i for i in range(place, end) if tokens[i].is_symbol("*")), None)
    brace = next((i for i in range(place, end) if tokens[i].is_symbol("{")), end)
    unbounded = tokens[star] if star is not None and star < brace and not _is_bounded(tokens, star) else None
    return RelationPattern(tokens[opening], clause, variable, types, _map_keys(tokens, place, end), unbounded)


def _is_bounded(tokens: list[Token], star: int) -> bool:
    """Tell whether a length has an upper bound: ``*3``, ``*..3`` and ``*1..3`` have, ``*`` and ``*1..`` have not."""
    place = star + 1
    has_number = tokens[place].kind is Kind.NUMBER
    place += 1 if has_number else 0
    if tokens[place].is_symbol(".."):
        return tokens[place + 1].kind is Kind.NUMBER
    return has_number


def _label_names(tokens: list[Token], colon: int, end: int) -> tuple[Token, ...]:
    """Return the names of a label or type expression that starts at the colon, such as ``:A|B`` or ``:A&!B``."""
    names: list[Token] = []
    expects_name = True
    for token in tokens[colon + 1 : end]:
        if expects_name and token.kind in _NAMES:
            names.append(token)
            expects_name = False
        elif token.is_symbol("|", "&", ":"):
            expects_name = True
        elif not token.is_symbol("!", "(", ")", "%") or (token.is_symbol(")") and expects_name):
            break
    return tuple(names)


def _map_keys(tokens: list[Token], start: int, end: int) -> tuple[Token, ...]:
    """Return the keys of the map literal that stands directly in the pattern."""
    opening = next((i for i in range(start, end) if tokens[i].is_symbol("{", "WHERE")), None)
    if opening is None or any(token.is_word("WHERE") for token in tokens[start:opening]):
        return ()
    return tuple(
        tokens[i - 1]
        for i in range(opening + 2, closing(tokens, opening))
        if tokens[i].is_symbol(":") and tokens[i - 2].is_symbol("{", ",") and tokens[i - 1].kind in _NAMES
    )
