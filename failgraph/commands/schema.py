"""``failgraph schema``: the JSON Schemas of what failgraph takes and gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def schema_files() -> dict[str, str]:
    """Return the JSON Schemas as file name to text; ``docs/schema/`` holds the same files."""
    from failgraph.schema.exchange import json_schemas

    return {
        f"{stem}.schema.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        for stem, schema in sorted(json_schemas().items())
    }


def schema(
    directory: Annotated[
        Path | None,
        typer.Argument(
            metavar="DIRECTORY", help="Where to write one file each; without it they are printed."
        ),
    ] = None,
    graph: Annotated[
        bool, typer.Option("--graph", help="Print the page of labels, relationships and properties instead.")
    ] = False,
) -> None:
    """Print or write the JSON Schemas of what failgraph takes and gives.

    Example:
        failgraph schema docs/schema
    """
    from failgraph.commands.output import write
    from failgraph.schema.errors import UsageError

    if graph:
        from failgraph.render.graph_model import graph_model_page

        write(graph_model_page())
        return
    files = schema_files()
    if directory is None:
        write(json.dumps({name: json.loads(text) for name, text in files.items()}, indent=2) + "\n")
        return
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (directory / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"The schemas cannot be written to {directory}: {error.strerror}; name a directory you may write to."
        ) from error
    write("".join(f"{directory / name}\n" for name in files))
