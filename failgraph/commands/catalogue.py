"""``failgraph class``, ``observable`` and ``mechanism``: the catalogue, read from the graph."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from failgraph.commands.output import TableFormat
from failgraph.schema.errors import UsageError

if TYPE_CHECKING:
    from failgraph.graph.client import Client
    from failgraph.render.sheet import Sheet

SUGGESTIONS: Final = 3

class_app = typer.Typer(no_args_is_help=True, add_completion=False, help="List and show failure classes.")
observable_app = typer.Typer(
    no_args_is_help=True, add_completion=False, help="List and show observables: symptoms and evidence."
)
mechanism_app = typer.Typer(
    no_args_is_help=True, add_completion=False, help="List and show mechanisms: the steps of causes."
)


class SheetFormat(StrEnum):
    """How one thing is printed."""

    TEXT = "text"
    MARKDOWN = "md"
    JSON = "json"


class ClassFormat(StrEnum):
    """How a class is printed or drawn."""

    TEXT = "text"
    MERMAID = "mermaid"
    DOT = "dot"
    MARKDOWN = "md"
    JSON = "json"


class Kind(StrEnum):
    """Kinds of observables."""

    BEHAVIOUR = "behaviour"
    LOG = "log"
    EVENT = "event"
    METRIC = "metric"


LayerOption = Annotated[str | None, typer.Option("--layer", help="Only this layer.")]
ListOption = Annotated[TableFormat, typer.Option("--format", help="text or json.")]
SheetOption = Annotated[SheetFormat, typer.Option("--format", help="text, md or json.")]


@class_app.command("list")
def class_list(layer: LayerOption = None, output: ListOption = TableFormat.TEXT) -> None:
    """List failure classes, by the layer they start in.

    Example:
        failgraph class list --layer host
    """
    from failgraph.commands.opening import open_knowledge

    with open_knowledge() as client:
        _check_layer(client, layer)
        rows = client.read("class_list", layer=layer)
    _write_list(rows, output, [(row["id"], row["layer"], row["name"] + _remarks(row)) for row in rows])


@class_app.command("show")
def class_show(
    class_id: Annotated[str, typer.Argument(metavar="ID", help="Id of a class.")],
    output: Annotated[
        ClassFormat, typer.Option("--format", help="text, md, json, or a drawing: mermaid or dot.")
    ] = ClassFormat.TEXT,
) -> None:
    """Show a failure class: how it spreads, what one sees, what speaks against it, what to do.

    Example:
        failgraph class show host-shared-memory-too-small --format mermaid
    """
    from failgraph.commands.opening import open_knowledge
    from failgraph.commands.output import write
    from failgraph.render.catalogue import class_drawing, class_sheet

    with open_knowledge() as client:
        row = _row(client, "class", client.read("class_show", class_id=class_id), class_id, "class_list")
        steps = client.read("class_graph", class_id=row["id"])
    if output is ClassFormat.JSON:
        write(_json({**row, "graph": steps}))
    elif output is ClassFormat.MERMAID:
        from failgraph.render.drawing import mermaid_drawing

        write(mermaid_drawing(class_drawing(row, steps)))
    elif output is ClassFormat.DOT:
        from failgraph.render.drawing import dot_drawing

        write(dot_drawing(class_drawing(row, steps)))
    else:
        _write_sheet(class_sheet(row), SheetFormat(output.value))


@observable_app.command("list")
def observable_list(
    kind: Annotated[Kind | None, typer.Option("--kind", help="Only this kind.")] = None,
    output: ListOption = TableFormat.TEXT,
) -> None:
    """List observables: what a person complains about, and what instruments show.

    Example:
        failgraph observable list --kind log
    """
    from failgraph.commands.opening import open_knowledge

    with open_knowledge() as client:
        rows = client.read("observable_list", kind=kind.value if kind else None)
    _write_list(rows, output, [(row["id"], row["kind"], row["says"]) for row in rows])


@observable_app.command("show")
def observable_show(
    observable_id: Annotated[str, typer.Argument(metavar="ID", help="Id of an observable.")],
    output: SheetOption = SheetFormat.TEXT,
) -> None:
    """Show an observable: where it is seen, which mechanisms show it, which classes explain it.

    Example:
        failgraph observable show nccl-shm-failed
    """
    from failgraph.commands.opening import open_knowledge
    from failgraph.render.catalogue import observable_sheet

    with open_knowledge() as client:
        rows = client.read("observable_show", observable_id=observable_id)
        row = _row(client, "observable", rows, observable_id, "observable_list")
    _write(row, observable_sheet(row), output)


@mechanism_app.command("list")
def mechanism_list(layer: LayerOption = None, output: ListOption = TableFormat.TEXT) -> None:
    """List mechanisms, by layer.

    Example:
        failgraph mechanism list --layer nvlink
    """
    from failgraph.commands.opening import open_knowledge

    with open_knowledge() as client:
        _check_layer(client, layer)
        rows = client.read("mechanism_list", layer=layer)
    _write_list(rows, output, [(row["id"], row["layer"], row["name"]) for row in rows])


@mechanism_app.command("show")
def mechanism_show(
    mechanism_id: Annotated[str, typer.Argument(metavar="ID", help="Id of a mechanism.")],
    output: SheetOption = SheetFormat.TEXT,
) -> None:
    """Show a mechanism: what brings it about, what it brings about, what traces it leaves.

    Example:
        failgraph mechanism show shm-too-small
    """
    from failgraph.commands.opening import open_knowledge
    from failgraph.render.catalogue import mechanism_sheet

    with open_knowledge() as client:
        rows = client.read("mechanism_show", mechanism_id=mechanism_id)
        row = _row(client, "mechanism", rows, mechanism_id, "mechanism_list")
    _write(row, mechanism_sheet(row), output)


def _check_layer(client: Client, layer: str | None) -> None:
    if layer is None:
        return
    layers = [row["id"] for row in client.read("layer_list")]
    if layer not in layers:
        raise UsageError(f"There is no layer {layer!r}; the layers are {', '.join(layers)}.")


def _row(
    client: Client, what: str, rows: Sequence[dict[str, Any]], wanted: str, listing: str
) -> dict[str, Any]:
    """Return the one row, or say which ids are near the one that was asked for."""
    if rows:
        return rows[0]
    from difflib import get_close_matches

    near = get_close_matches(wanted, [row["id"] for row in client.read(listing)], n=SUGGESTIONS, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"failgraph {what} list shows all."
    raise UsageError(f"There is no {what} {wanted!r}; {hint}")


def _remarks(row: dict[str, Any]) -> str:
    remarks = [row[key] for key, usual in (("kind", "fault"), ("status", "accepted")) if row[key] != usual]
    return f" ({', '.join(remarks)})" if remarks else ""


def _write(row: dict[str, Any], sheet: Sheet, output: SheetFormat) -> None:
    from failgraph.commands.output import write

    if output is SheetFormat.JSON:
        write(_json(row))
    else:
        _write_sheet(sheet, output)


def _write_sheet(sheet: Sheet, output: SheetFormat) -> None:
    from failgraph.commands.output import surface, write
    from failgraph.render.sheet import sheet_markdown, sheet_text

    write(sheet_markdown(sheet) if output is SheetFormat.MARKDOWN else sheet_text(sheet, surface()))


def _write_list(
    rows: Sequence[dict[str, Any]], output: TableFormat, shown: Iterable[tuple[str, str, str]]
) -> None:
    from failgraph.commands.output import surface, write
    from failgraph.render.sheet import list_text

    if output is TableFormat.JSON:
        write(_json(rows))
    else:
        write(list_text(list(shown), surface(), cut=sys.stdout.isatty()))


def _json(value: Any) -> str:
    from failgraph.schema.exchange import round_floats

    return json.dumps(round_floats(value), ensure_ascii=False, indent=2) + "\n"
