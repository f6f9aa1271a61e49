"""Writes the pages of docs/ that are made from the code: ``make docs``; ``--check`` only says which are stale.

docs/commands.md      the help of every command
docs/queries.md       every shipped query, from its header
docs/graph-model.md   every label, relationship type and property
docs/schema/*.json    JSON Schemas of what goes in and comes out

It also prints the answer anew that README.md shows, up to the heading that its marker names.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.update(COLUMNS="80", NO_COLOR="1", LC_ALL="C.UTF-8")

import typer

from failgraph import cli
from failgraph.commands.schema import schema_files
from failgraph.queries.query import REQUIRED, Query
from failgraph.queries.registry import all_queries
from failgraph.render.graph_model import graph_model_page

DOCS = Path(__file__).parent
HEADER = "Made from the code by `make docs`; do not edit it by hand.\n"


def commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Give a command and all below it, with the words that call each."""
    yield path, command
    for name, part in getattr(command, "commands", {}).items():
        yield from commands(part, (*path, name))


def commands_page() -> str:
    """Return the page of all commands: the help of each as it is printed."""
    root = typer.main.get_group(cli.app)
    context = root.make_context("failgraph", [], resilient_parsing=True)
    parts = [f"# Commands\n\n{HEADER}", block("failgraph", context.get_help())]
    for name in cli.COMMANDS:
        loaded = cli.load_command(name, root)
        for path, command in commands(loaded, ("failgraph", name)):
            help_context = command.make_context(" ".join(path), [], parent=context, resilient_parsing=True)
            help_context.parent = None
            parts.append(block(" ".join(path), command.get_help(help_context)))
    return "\n".join(parts)


def block(title: str, text: str) -> str:
    """Return a section with a text as it is printed."""
    lines = "\n".join(line.rstrip() for line in text.strip().splitlines())
    return f"## {title}\n\n```text\n{lines}\n```\n"


def queries_page() -> str:
    """Return the page of all shipped queries."""
    introduction = (
        f"# Shipped queries\n\n{HEADER}\n"
        "Each is one file under `queries/`. `failgraph query show NAME` prints it, "
        "`failgraph query run NAME --param KEY=VALUE` runs one that reads.\n"
    )
    parts = [introduction]
    folders: dict[str, list[Query]] = {}
    for query in all_queries():
        folders.setdefault(Path(query.path).parent.name, []).append(query)
    for folder, queries in sorted(folders.items()):
        parts.append(f"## {folder}\n")
        parts += [query_section(query) for query in sorted(queries, key=lambda query: query.name)]
    return "\n".join(parts)


def query_section(query: Query) -> str:
    """Return what the header of one query says."""
    lines = [f"### {query.name}", "", f"{query.doc} ({query.access}, {query.shape})", ""]
    for heading, items in (("takes", query.parameters), ("gives", query.columns)):
        if items:
            lines += [f"| {heading} | type | meaning |", "| --- | --- | --- |"]
        for item in items:
            default = getattr(item, "default", REQUIRED)
            kind = f"`{item.type}`" + ("" if default is REQUIRED else f" = `{json.dumps(default)}`")
            lines.append(f"| `{item.name}` | {kind} | {item.description or ''} |")
        if items:
            lines.append("")
    return "\n".join(lines)


def with_answer(readme: str) -> str:
    """Return the README with the answer it shows as failgraph prints it now."""
    marker = re.compile(r'(<!-- answer: (.*?), until "(.*?)" -->\n```text\n)(?:.*?)```', re.DOTALL)

    def printed(match: re.Match[str]) -> str:
        with tempfile.TemporaryDirectory() as data:
            answer = subprocess.run(  # noqa: S603 - the command stands in our own README
                [sys.executable, "-m", *match[2].split()],
                cwd=DOCS.parent,
                env={**os.environ, "FAILGRAPH_DATA_DIR": data, "NEO4J_URI": ""},
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        return f"{match[1]}{answer.partition(chr(10) + match[3])[0]}```"

    return marker.sub(printed, readme)


def pages() -> dict[Path, str]:
    """Return every page by its path."""
    made = {
        DOCS / "commands.md": commands_page(),
        DOCS / "queries.md": queries_page(),
        DOCS / "graph-model.md": graph_model_page(),
    }
    made |= {DOCS / "schema" / name: text for name, text in schema_files().items()}
    return {path: text.rstrip("\n") + "\n" for path, text in made.items()}


def main() -> None:
    """Write the pages, or with --check name those that are not current and end with 1."""
    stale = []
    for path, text in pages().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(path)
            if "--check" not in sys.argv:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    if "--check" not in sys.argv:
        readme = DOCS.parent / "README.md"
        readme.write_text(with_answer(readme.read_text(encoding="utf-8")), encoding="utf-8")
    for path in stale:
        print(path.relative_to(DOCS.parent))
    if stale and "--check" in sys.argv:
        sys.exit("These pages are not current; run: make docs")


if __name__ == "__main__":
    main()
