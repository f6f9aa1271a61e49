"""``failgraph query``: the shipped queries, and the user's own Cypher, which can only read."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Final

import typer

from failgraph.commands.output import TableFormat
from failgraph.schema.errors import ReadOnlyError, UsageError

GAP: Final = 2
"""Blanks between two columns."""

TOPICS: Final = ("explain", "match", "report", "incident")
"""Folders of queries in the order of the list; the others, which the product works with, follow."""

app = typer.Typer(no_args_is_help=True, help="List, show and run queries, shipped or your own.")

FormatOption = Annotated[TableFormat, typer.Option("--format", help="text or json.")]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of a shipped query.")]


@app.command("list")
def list_queries(output: FormatOption = TableFormat.TEXT) -> None:
    """List the shipped queries, those that answer questions first.

    Example:
        failgraph query list
    """
    from failgraph.commands.output import write
    from failgraph.queries.registry import all_queries

    queries = sorted(all_queries(), key=lambda query: (_topic_rank(query.topic), query.name))
    if output is TableFormat.JSON:
        write(_json([_described(query) for query in queries]))
    else:
        cells = [(query.topic, query.name, query.access, query.doc) for query in queries]
        write(_table_text(("topic", "query", "access", "what it is for"), cells))


@app.command("show")
def show_query(name: NameArgument, output: FormatOption = TableFormat.TEXT) -> None:
    """Show a shipped query: what it takes, what it gives, and its Cypher.

    Example:
        failgraph query show what_explains
    """
    from failgraph.commands.output import write
    from failgraph.queries.registry import get_query

    query = get_query(name)
    if output is TableFormat.JSON:
        write(_json({**_described(query), "text": query.text}))
    else:
        write(query.text.rstrip() + "\n")


@app.command("run")
def run_query(
    name: NameArgument,
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", metavar="NAME=VALUE", help="A parameter; lists as JSON or a,b,c."),
    ] = None,
    output: FormatOption = TableFormat.TEXT,
) -> None:
    """Run a shipped query that reads.

    Example:
        failgraph query run what_explains --param symptom=nccl-watchdog-timeout
    """
    from failgraph.commands.opening import open_knowledge
    from failgraph.commands.output import write
    from failgraph.queries.registry import get_query

    query = get_query(name)
    if query.access != "read":
        raise ReadOnlyError(
            f"query {name} writes, and the command line only reads with it; see failgraph --help"
        )
    values = query.read_parameters(_assignments(param))
    with open_knowledge() as client:
        rows = client.read(name, **values)
    columns = tuple(column.name for column in query.columns)
    if output is TableFormat.JSON:
        write(_json(rows))
    else:
        write(_rows_text(columns, [[row[column] for column in columns] for row in rows]))


@app.command("cypher")
def run_cypher(
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="One Cypher statement; - reads it from the input.")
    ],
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", metavar="NAME=VALUE", help="A parameter; JSON where it reads as JSON."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1_000_000, help="Most rows to return.")] = 1000,
    timeout: Annotated[
        float | None,
        typer.Option(
            "--timeout", min=0.001, help="Seconds after which the query is ended.", show_default=False
        ),
    ] = None,
    output: FormatOption = TableFormat.TEXT,
) -> None:
    """Run Cypher of your own; whatever would do more than read is refused.

    Example:
        failgraph query cypher "MATCH (c:FailureClass) WHERE c.kind = 'benign' RETURN c.id ORDER BY c.id"
    """
    from failgraph.commands.opening import open_knowledge
    from failgraph.commands.output import note, write
    from failgraph.queries.readonly import check_read_only
    from failgraph.settings import database_settings

    cypher = sys.stdin.read() if text == "-" else text
    # Refused before a database is opened: the answer does not depend on it.
    check_read_only(cypher)
    values = {name: _free_value(value) for name, value in _assignments(param).items()}
    seconds = database_settings().query_timeout if timeout is None else timeout
    with open_knowledge() as client:
        table = client.run_read_only(cypher, values, timeout=seconds, limit=limit)
    if output is TableFormat.JSON:
        write(_json({"columns": table.columns, "rows": table.rows, "truncated": table.truncated}))
    else:
        write(_rows_text(table.columns, table.rows))
    if table.truncated:
        note(f"There are more rows than {limit}; --limit shows more.")


def _topic_rank(topic: str) -> tuple[int, str]:
    return (TOPICS.index(topic) if topic in TOPICS else len(TOPICS), topic)


def _described(query: Any) -> dict[str, Any]:
    """Return what a query declares, as JSON."""
    parameters = []
    for parameter in query.parameters:
        described = {"name": parameter.name, "type": str(parameter.type), "required": parameter.required}
        if not parameter.required:
            described["default"] = parameter.default
        parameters.append({**described, "description": parameter.description})
    return {
        "name": query.name,
        "topic": query.topic,
        "doc": query.doc,
        "access": query.access,
        "shape": query.shape,
        "parameters": parameters,
        "columns": [
            {"name": column.name, "type": str(column.type), "description": column.description}
            for column in query.columns
        ],
        "path": query.path,
    }


def _assignments(param: Iterable[str] | None) -> dict[str, str]:
    """Return the values of ``name=value`` options by name.

    >>> _assignments(["symptom=xid-79", "limit=3"])
    {'symptom': 'xid-79', 'limit': '3'}
    """
    values: dict[str, str] = {}
    for assignment in param or ():
        name, equals, value = assignment.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--param {assignment!r} is no assignment; write --param name=value")
        if name.strip() in values:
            raise UsageError(f"--param {name.strip()} is given twice; give it once (lists as a,b,c)")
        values[name.strip()] = value
    return values


def _free_value(text: str) -> Any:
    """Return a value for the user's own Cypher, which declares no types: JSON, or else the text itself.

    >>> _free_value("3"), _free_value("xid-79")
    (3, 'xid-79')
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _json(value: Any) -> str:
    from failgraph.schema.exchange import round_floats

    return json.dumps(round_floats(value), ensure_ascii=False, indent=2) + "\n"


def _rows_text(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return rows as a table; one under the other where they nest, or are wider than the terminal."""
    from failgraph.commands.output import note, width

    if not rows:
        note("No rows.")
        return ""
    cells = [[_cell(value) for value in row] for row in rows]
    natural = sum(max(map(len, column)) + GAP for column in zip(columns, *cells, strict=True))
    is_wide = sys.stdout.isatty() and natural > width()
    if is_wide or any(_nests(value) for row in rows for value in row):
        return _records_text(columns, rows)
    return _table_text(columns, cells)


def _nests(value: Any) -> bool:
    """Tell whether a value is a map, or a list that holds lists or maps."""
    if isinstance(value, list):
        return any(isinstance(item, list | Mapping) for item in value)
    return isinstance(value, Mapping)


def _cell(value: Any) -> str:
    """Return a value as text on one line: a plain list with commas, anything deeper as JSON.

    >>> _cell(["a", 1.5]), _cell({"a": [None]}), _cell(True), _cell(None)
    ('a, 1.5', '{"a": [null]}', 'true', '')
    """
    from failgraph.render.escape import terminal
    from failgraph.schema.exchange import round_floats

    if value is None:
        return ""
    if isinstance(value, list) and not _nests(value):
        return ", ".join(map(_cell, value))
    return terminal(value if isinstance(value, str) else json.dumps(round_floats(value), ensure_ascii=False))


def _table_text(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """Return cells in columns, one line a row, without cutting anything."""
    table = [list(columns), *map(list, cells)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = (
        "".join(cell.ljust(size + GAP) for cell, size in zip(line, widths, strict=True)).rstrip()
        for line in table
    )
    return "".join(f"{line}\n" for line in lines)


def _records_text(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return rows one under the other, a column a line; a list has a line for each of its items."""
    size = max(map(len, columns))
    records = []
    for row in rows:
        lines = []
        for column, value in zip(columns, row, strict=True):
            items = [_cell(item) for item in value] if isinstance(value, list) else [_cell(value)]
            for number, item in enumerate(items or [""]):
                lines.append(f"{(column if number == 0 else '').ljust(size + GAP)}{item}".rstrip())
        records.append("".join(f"{line}\n" for line in lines))
    return "\n".join(records)
