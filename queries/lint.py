"""Checks over query files that go beyond their header: does the text fit the schema, and does it run on both engines.

Each check is a small function that takes a :class:`Text` and yields problems; :func:`lint` runs them all over all
files and stops at none. What a check cannot derive (a variable that was renamed on the way) it lets pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from failgraph.queries.pattern import NodePattern, Pattern, RelationPattern, find_patterns
from failgraph.queries.query import Query
from failgraph.queries.readonly import check_read_only
from failgraph.queries.registry import Registry
from failgraph.queries.tokens import Kind, Token, closing, locate, tokenize
from failgraph.schema.errors import Location, QueryDefinitionError, ReadOnlyError
from failgraph.schema.nodes import LABELS, node_properties
from failgraph.schema.relations import RELATION_TYPES, relation_properties

_ADMINISTRATION = (
    "an administration command that ends a runaway query on Neo4j; the embedded engine never gets it"
)
EXEMPT: Mapping[tuple[str, str], str] = {
    ("running_transactions", "reading-queries-only-read"): _ADMINISTRATION,
    ("running_transactions", "only-shared-dialect"): _ADMINISTRATION,
    ("terminate_transaction", "reading-queries-only-read"): _ADMINISTRATION,
}
"""Queries that need not obey a rule, by query and rule, and why."""

FORBIDDEN_NAMESPACES = ("apoc", "gds", "dbms")
FORBIDDEN_FUNCTIONS = ("elementid", "id")


@dataclass(frozen=True)
class QueryProblem:
    """One thing that is wrong in a query file; ``rule`` is the name of the check in kebab-case."""

    location: Location
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.location}: {self.message} [{self.rule}]"


@dataclass(frozen=True)
class Text:
    """A query as the checks see it."""

    query: Query

    @cached_property
    def tokens(self) -> list[Token]:
        """The tokens, without comments."""
        return tokenize(self.query.text, path=self.query.path)

    @cached_property
    def patterns(self) -> list[Pattern]:
        """The node and relationship patterns, in the order of the text."""
        return find_patterns(self.tokens)

    def at(self, token: Token) -> Location:
        """Where a token stands."""
        return locate(self.query.text, token.start, self.query.path)


Check = Callable[[Text], Iterator[tuple[Token, str]]]


def reading_queries_only_read(text: Text) -> Iterator[tuple[Token, str]]:
    """A query with access read passes the check that users' queries pass."""
    if text.query.access != "read":
        return
    try:
        check_read_only(text.query.text)
    except ReadOnlyError as error:
        line = error.location.line if error.location else 1
        column = error.location.column if error.location else 1
        found = [token for token in text.tokens if text.at(token) == Location(text.query.path, line, column)]
        yield (found or text.tokens)[0], error.message


def writing_queries_write(text: Text) -> Iterator[tuple[Token, str]]:
    """A query with access write has a clause that writes."""
    writes = ("CREATE", "MERGE", "SET", "DELETE", "REMOVE", "DROP", "FOREACH")
    if text.query.access == "write" and not any(token.is_word(*writes) for token in text.tokens):
        yield text.tokens[0], "the query is declared to write and does not; declare access read"


def labels_are_known(text: Text) -> Iterator[tuple[Token, str]]:
    """Every label is one of the schema's."""
    for pattern in text.patterns:
        if isinstance(pattern, NodePattern):
            for label in pattern.labels:
                if label.name not in LABELS:
                    yield label, f"the label {label.name} is not in the schema; see schema/nodes.py"


def relation_types_are_known(text: Text) -> Iterator[tuple[Token, str]]:
    """Every relationship type is one of the schema's."""
    for pattern in text.patterns:
        if isinstance(pattern, RelationPattern):
            for name in pattern.types:
                if name.name not in RELATION_TYPES:
                    yield name, f"the type {name.name} is not in the schema; see schema/relations.py"


def properties_are_known(text: Text) -> Iterator[tuple[Token, str]]:
    """Every property of a pattern's map, and of a variable with a known label or type, is one of the schema's."""
    for pattern in text.patterns:
        known = _pattern_properties([pattern])
        for key in pattern.keys:
            if known and key.name not in known:
                yield key, f"the property {key.name} is not one of {_owners([pattern])}; see schema/"
    bindings = _bindings(text)
    for owner, name in _property_uses(text.tokens):
        patterns = bindings.get(owner.name, [])
        known = _pattern_properties(patterns)
        if known and name.name not in known:
            yield name, f"the property {name.name} is not one of {_owners(patterns)}; see schema/"


def _pattern_properties(patterns: Iterable[Pattern]) -> frozenset[str]:
    """Return the properties that any of the patterns' labels or types may have; empty if one is not derivable."""
    known: set[str] = set()
    for pattern in patterns:
        if isinstance(pattern, NodePattern):
            found = frozenset[str]().union(*(node_properties(label.name) for label in pattern.labels))
        else:
            found = frozenset[str]().union(*(relation_properties(name.name) for name in pattern.types))
        known |= found
    return frozenset(known)


def _owners(patterns: Iterable[Pattern]) -> str:
    names = {
        token.name
        for pattern in patterns
        for token in (pattern.labels if isinstance(pattern, NodePattern) else pattern.types)
    }
    return " or ".join(sorted(names))


def _bindings(text: Text) -> dict[str, list[Pattern]]:
    """Return the labelled patterns of each variable, without variables that also mean something else."""
    bound: dict[str, list[Pattern]] = {}
    for pattern in text.patterns:
        has_names = pattern.labels if isinstance(pattern, NodePattern) else pattern.types
        if pattern.variable and has_names:
            bound.setdefault(pattern.variable.name, []).append(pattern)
    for token, following in pairwise(text.tokens):
        renamed = following.name if token.is_word("AS") else token.name if following.is_word("IN") else None
        if renamed is not None:
            bound.pop(renamed, None)
    return bound


def _property_uses(tokens: list[Token]) -> Iterator[tuple[Token, Token]]:
    """Yield owner and property of every ``owner.property`` and ``owner {.property}``."""
    names = (Kind.WORD, Kind.QUOTED)
    for index, (owner, mark) in enumerate(pairwise(tokens)):
        before = tokens[index - 1] if index else None
        if owner.kind not in names or (before and before.is_symbol(".")):
            continue
        if mark.is_symbol(".") and index + 2 < len(tokens):
            after = tokens[index + 3] if index + 3 < len(tokens) else None
            if tokens[index + 2].kind in names and not (after and after.is_symbol("(")):
                yield owner, tokens[index + 2]
        elif mark.is_symbol("{"):
            end = closing(tokens, index + 1)
            for place in range(index + 2, end - 1):
                if tokens[place].is_symbol(".") and tokens[place - 1].is_symbol("{", ","):
                    yield owner, tokens[place + 1]


def paths_are_bounded(text: Text) -> Iterator[tuple[Token, str]]:
    """A path of variable length has an upper bound."""
    for pattern in text.patterns:
        if isinstance(pattern, RelationPattern) and pattern.unbounded:
            yield pattern.unbounded, "the path has no upper bound; write *1..N"
    for index, token in enumerate(text.tokens):
        if token.is_symbol("(") and _is_unbounded_group(text.tokens, index):
            yield token, "the repeated pattern has no upper bound; write {1,N}"


def _is_unbounded_group(tokens: list[Token], opening: int) -> bool:
    """Tell whether a quantified pattern ``((a)-[..]->(b))+`` starts here that is repeated without bound."""
    end = closing(tokens, opening)
    inside = tokens[opening + 1 : end]
    is_path = any(
        first.is_symbol("-", "<-", "->") and second.is_symbol("[", "(", "-")
        for first, second in pairwise(inside)
    )
    if not is_path or not inside or not inside[0].is_symbol("(") or end + 1 >= len(tokens):
        return False
    after = tokens[end + 1 : end + 5]
    if after[0].is_symbol("+", "*"):
        return True
    return after[0].is_symbol("{") and any(
        first.is_symbol(",") and second.is_symbol("}") for first, second in pairwise(after)
    )


def only_shared_dialect(text: Text) -> Iterator[tuple[Token, str]]:
    """Nothing that only one of the engines has, nothing that reads files, no internal ids."""
    for index, token in enumerate(text.tokens):
        before = text.tokens[index - 1] if index else None
        after = text.tokens[index + 1] if index + 1 < len(text.tokens) else None
        if token.kind is not Kind.WORD or (before and before.is_symbol(".", ":")):
            continue
        if token.is_word("SHORTEST") or (token.is_word("LOAD") and after and after.is_word("CSV")):
            yield token, f"{token.text} does not run on both engines; use shortestPath() or a parameter"
        if token.is_word("FULLTEXT", "YIELD"):
            yield token, f"{token.text} does not run alike on both engines; read through plain patterns"
        if token.text.lower() in FORBIDDEN_NAMESPACES and after and after.is_symbol("."):
            yield token, f"{token.text}.* does not run on both engines; use plain Cypher"
        if token.text.lower() in FORBIDDEN_FUNCTIONS and after and after.is_symbol("("):
            yield token, f"{token.text}() is not stable on both engines; look up by the property id"


def merges_have_ids(text: Text) -> Iterator[tuple[Token, str]]:
    """A MERGE of a node or a relationship names the property id in its map."""
    for pattern in text.patterns:
        created = isinstance(pattern, RelationPattern) or bool(pattern.labels)
        if pattern.clause == "MERGE" and created and "id" not in {key.name for key in pattern.keys}:
            yield pattern.opening, "MERGE by the unique id: put {id: ...} into the pattern"


def labels_never_change(text: Text) -> Iterator[tuple[Token, str]]:
    """No label is set or removed: on one engine the node moves."""
    for pattern in text.patterns:
        if isinstance(pattern, NodePattern) and pattern.clause in ("SET", "REMOVE"):
            yield pattern.opening, "labels are given at creation only; keep the state in a property"


def subqueries_keep_their_variables(text: Text) -> Iterator[tuple[Token, str]]:
    """In ``CALL (x) { ... }`` every inner WITH lists x: one engine forgets it otherwise."""
    for index, token in enumerate(text.tokens):
        if (
            not token.is_word("CALL")
            or index + 1 >= len(text.tokens)
            or not text.tokens[index + 1].is_symbol("(")
        ):
            continue
        end = closing(text.tokens, index + 1)
        names = [name.name for name in text.tokens[index + 2 : end] if name.kind in (Kind.WORD, Kind.QUOTED)]
        body = text.tokens[end + 1 : closing(text.tokens, end + 1)]
        for place, inner in enumerate(body):
            if not inner.is_word("WITH") or (place and body[place - 1].is_word("STARTS", "ENDS")):
                continue
            listed = {item.name for item in _clause(body, place)}
            later = {item.name for item in _branch(body, place) if item.kind in (Kind.WORD, Kind.QUOTED)}
            missing = [name for name in names if name in later and not listed & {name, "*"}]
            if missing:
                yield inner, f"this WITH must list the imported {', '.join(missing)}, which is used after it"


def _branch(tokens: list[Token], start: int) -> list[Token]:
    """Return the tokens after a clause's first word, up to the next UNION."""
    end = next((i for i in range(start, len(tokens)) if tokens[i].is_word("UNION")), len(tokens))
    return tokens[start + 1 : end]


_CLAUSES = (
    "MATCH",
    "OPTIONAL",
    "UNWIND",
    "WITH",
    "RETURN",
    "CALL",
    "ORDER",
    "SKIP",
    "LIMIT",
    "WHERE",
    "UNION",
)
_WRITES = ("MERGE", "CREATE", "SET", "DELETE", "DETACH", "REMOVE", "FOREACH")


def _clause(tokens: list[Token], start: int) -> list[Token]:
    """Return the tokens of the clause that starts here, up to the next clause."""
    end = start + 1
    while end < len(tokens) and not tokens[end].is_word(*_CLAUSES, *_WRITES):
        end += 1
    return tokens[start + 1 : end]


def columns_are_returned(text: Text) -> Iterator[tuple[Token, str]]:
    """The last RETURN gives exactly the declared columns, in their order."""
    if text.query.shape == "none":
        return
    start = max(index for index, token in enumerate(text.tokens) if token.is_word("RETURN"))
    returned = _returned_names(text.tokens[start + 1 :])
    declared = [column.name for column in text.query.columns]
    if returned != declared:
        yield text.tokens[start], f"it returns {', '.join(returned)} and declares {', '.join(declared)}"


def _returned_names(tokens: list[Token]) -> list[str]:
    """Return the column names of a RETURN's items."""
    names: list[str] = []
    item: list[Token] = []
    depth = 0
    for token in [*tokens, Token(Kind.SYMBOL, ",", 0)]:
        if token.is_symbol("(", "[", "{"):
            depth += 1
        elif token.is_symbol(")", "]", "}"):
            depth -= 1
        ends = depth == 0 and (token.is_symbol(",", ";") or token.is_word("ORDER", "SKIP", "LIMIT", "UNION"))
        if not ends:
            item.append(token)
            continue
        if item:
            aliased = len(item) > 2 and item[-2].is_word("AS")
            names.append(
                item[-1].name if aliased else "".join(part.text for part in item).removeprefix("DISTINCT")
            )
        item = []
        if not token.is_symbol(","):
            break
    return names


CHECKS: tuple[Check, ...] = (
    reading_queries_only_read,
    writing_queries_write,
    labels_are_known,
    relation_types_are_known,
    properties_are_known,
    paths_are_bounded,
    only_shared_dialect,
    merges_have_ids,
    labels_never_change,
    subqueries_keep_their_variables,
    columns_are_returned,
)
"""Every check over one query."""


def lint_query(query: Query) -> list[QueryProblem]:
    """Return all problems of one query, exempt or not, in the order of the text."""
    text = Text(query)
    problems = [
        QueryProblem(text.at(token), check.__name__.replace("_", "-"), message)
        for check in CHECKS
        for token, message in check(text)
    ]
    return sorted(problems, key=lambda problem: (problem.location, problem.rule, problem.message))


def lint(registry: Registry) -> list[QueryProblem]:
    """Return the problems of all query files that are not exempt, those that cannot be loaded included."""
    problems: list[QueryProblem] = []
    for name in registry.names():
        try:
            found = lint_query(registry.get(name))
        except QueryDefinitionError as error:
            found = [QueryProblem(error.location or Location(name), "loads", error.message)]
        problems.extend(problem for problem in found if (name, problem.rule) not in EXEMPT)
    return problems
