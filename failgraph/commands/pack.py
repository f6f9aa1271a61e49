"""``failgraph pack``: check, load, list, export and fit knowledge packs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from failgraph.commands.output import TableFormat

if TYPE_CHECKING:
    from failgraph.graph.client import Client
    from failgraph.loaders.sync import LoadReport

PACK_EXIT: Final = 5
WORST_SHOWN: Final = 20
"""How many residuals ``pack fit`` lists."""

app = typer.Typer(no_args_is_help=True, help="Check, load, list, export and fit knowledge packs.")

PathsArgument = Annotated[
    list[Path] | None,
    typer.Argument(metavar="PATH", help="Folders of packs [the pack that ships].", show_default=False),
]
PathArgument = Annotated[Path, typer.Argument(metavar="PATH", help="Folder of a pack.")]


@app.command()
def lint(paths: PathsArgument = None) -> None:
    """Check packs and print all problems at once, each with its place and what to do.

    Exit code 5 when there is an error; warnings are for an expert to judge. Several packs are checked as one set.

    Example:
        failgraph pack lint our-site
    """
    from failgraph.commands.output import note, write
    from failgraph.loaders.check import Severity
    from failgraph.loaders.check import lint as find_problems
    from failgraph.render.escape import terminal

    problems = find_problems(_or_core(paths))
    for problem in problems:
        write(terminal(f"{problem.location}: {problem.severity}: {problem.message} ({problem.rule})") + "\n")
    errors = sum(problem.severity is Severity.ERROR for problem in problems)
    note(f"{_counted(errors, 'error')}, {_counted(len(problems) - errors, 'warning')}.")
    if errors:
        raise typer.Exit(PACK_EXIT)


@app.command("format")
def format_files(
    path: PathArgument,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit code 5 when a file is not in its form.")
    ] = False,
) -> None:
    """Bring the files of a pack into their one form, and print which were changed.

    Example:
        failgraph pack format our-site --check
    """
    from failgraph.commands.output import note, write
    from failgraph.loaders.format import changed_files, format_pack, write_pack
    from failgraph.loaders.packs import read_pack
    from failgraph.render.escape import terminal

    content = read_pack(path)
    changed = changed_files(format_pack(content), path) if check else write_pack(content, path)
    for relative in changed:
        write(terminal(str(path / relative)) + "\n")
    note(f"{_counted(len(changed), 'file')} {'to change' if check else 'changed'}.")
    if check and changed:
        raise typer.Exit(PACK_EXIT)


@app.command("list")
def list_packs(
    output: Annotated[TableFormat, typer.Option("--format", help="text or json.")] = TableFormat.TEXT,
) -> None:
    """List the loaded packs.

    Example:
        failgraph pack list
    """
    from failgraph.commands.opening import open_knowledge
    from failgraph.commands.output import write
    from failgraph.graph.pack_store import pack_heads, pack_sizes

    with open_knowledge() as client:
        heads, sizes = pack_heads(client), pack_sizes(client)
    if output is TableFormat.JSON:
        rows = [
            {
                "id": head.id,
                "name": head.name,
                "revision": head.revision,
                "summary": head.summary,
                "requires": list(head.requires),
                "checksum": head.checksum,
                "classes": sizes[head.id].classes,
                "mechanisms": sizes[head.id].mechanisms,
                "observables": sizes[head.id].observables,
                "checks": sizes[head.id].checks,
            }
            for head in heads
        ]
        write(json.dumps(rows, ensure_ascii=False, indent=2) + "\n")
        return
    _write_table(
        ("pack", "revision", "classes", "mechanisms", "observables", "checks", "name"),
        [
            (
                head.id,
                str(head.revision),
                str(sizes[head.id].classes),
                str(sizes[head.id].mechanisms),
                str(sizes[head.id].observables),
                str(sizes[head.id].checks),
                head.name,
            )
            for head in heads
        ],
    )


@app.command()
def load(paths: PathsArgument = None) -> None:
    """Bring the graph in step with packs, and say what changed.

    Packs are checked first, and loaded so that each finds the packs it requires; each in one transaction. The same
    pack again changes nothing; a changed one updates and removes exactly what it owns.

    Example:
        failgraph pack load our-site
    """
    from failgraph.commands.output import progress
    from failgraph.loaders.sync import CORE, load_pack, read_sound_packs

    contents = read_sound_packs(_or_core(paths))
    brings_core = any(content.header.id == CORE for content in contents)
    with _opened(with_core=not brings_core) as client:
        for content in contents:
            with progress(f"Loading pack {content.header.id}") as report:
                done = load_pack(client, content, report)
            _write_report(done)


@app.command()
def unload(pack: Annotated[str, typer.Argument(metavar="ID", help="Id of a loaded pack.")]) -> None:
    """Remove all that a pack owns from the graph, and what it changed on other packs.

    Refused while another pack requires it, or a stored incident refers to what it owns.

    Example:
        failgraph pack unload our-site
    """
    from failgraph.commands.output import progress
    from failgraph.loaders.sync import unload_pack

    with _opened(with_core=False) as client, progress(f"Unloading pack {pack}") as report:
        done = unload_pack(client, pack, report)
    _write_report(done)


@app.command()
def export(
    pack: Annotated[str, typer.Argument(metavar="ID", help="Id of a loaded pack.")],
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to write; made when missing.")],
    yes: Annotated[
        bool, typer.Option("--yes", help="Write into a folder that holds something else.")
    ] = False,
) -> None:
    """Write the files of a loaded pack; what was loaded comes back byte for byte.

    A folder that already holds this pack is brought to what the graph says.

    Example:
        failgraph pack export core core-copy
    """
    from failgraph.commands.opening import open_knowledge
    from failgraph.commands.output import note
    from failgraph.loaders.format import write_pack
    from failgraph.loaders.sync import export_pack

    if not yes:
        _check_target(directory, pack)
    with open_knowledge() as client:
        content = export_pack(client, pack)
    changed = write_pack(content, directory)
    note(f"{_counted(len(changed), 'file')} changed in {directory}.")


@app.command()
def fit(
    path: PathArgument,
    required: Annotated[
        list[Path] | None,
        typer.Option(
            "--with", metavar="PATH", help="Folder of a pack it requires, beside the one that ships."
        ),
    ] = None,
) -> None:
    """Fit the strengths of a pack's chains to its experts' words, and write them to its fitted.yaml.

    Prints how far the probabilities are from the words, and the pairs that are furthest. The steps of packs that it
    requires keep their strengths.

    Example:
        failgraph pack fit our-site
    """
    from failgraph.commands.output import write
    from failgraph.graph.fit import fit as fit_strengths
    from failgraph.loaders.format import write_pack
    from failgraph.loaders.packs import read_pack
    from failgraph.loaders.sync import read_required
    from failgraph.render.escape import terminal

    content = read_pack(path)
    result = fit_strengths(content, others=read_required(content, required or ()))
    changed = write_pack(content.model_copy(update={"fitted": result.numbers}), path)
    for name, figure in result.numbers.figures.items():
        write(f"{name:<12} {figure:g}\n")
    if result.residuals:
        write("\nwanted   got  class, observable and the expert's word; the furthest first\n")
    for residual in result.residuals[:WORST_SHOWN]:
        got = f"{residual.got:.2f}" if residual.reachable else "never"
        pair = terminal(f"{residual.class_id} {residual.observable} {residual.word}")
        write(f"{residual.wanted:6.2f} {got:>5}  {pair}\n")
    write("\n" + terminal(f"changed: {', '.join(changed) or 'nothing'}") + "\n")


@app.command()
def train(
    path: PathArgument,
    required: Annotated[
        list[Path] | None,
        typer.Option(
            "--with", metavar="PATH", help="Folder of a pack it requires, beside the one that ships."
        ),
    ] = None,
) -> None:
    """Train the text model of a pack's narratives, and write it into the pack's folder.

    Prints how well the model tells narratives that it has not seen. Needs scikit-learn: pip install
    'failgraph[build]'.

    Example:
        failgraph pack train our-reports
    """
    from failgraph.commands.output import write
    from failgraph.loaders.packs import TEXT_MODEL, read_pack
    from failgraph.loaders.prose.likelihood import save_text_model
    from failgraph.loaders.prose.training import train as train_model
    from failgraph.loaders.sync import read_required

    content = read_pack(path)
    model, figures = train_model([*read_required(content, required or ()), content])
    save_text_model(model, path / TEXT_MODEL)
    write(f"narratives                  {figures.narratives}\n")
    write(f"right class first           {figures.first:.1%}\n")
    write(f"in the first three          {figures.first_three:.1%}\n")
    write(f"AUROC of outside all        {figures.outside_auroc:.3f}\n")


def _or_core(paths: Sequence[Path] | None) -> list[Path]:
    """Return the given folders, or that of the pack that ships."""
    from failgraph.loaders.packs import core_pack_path

    return list(paths) if paths else [core_pack_path()]


@contextmanager
def _opened(*, with_core: bool) -> Iterator[Client]:
    """Give a client of the migrated database; with the core pack, or as it is."""
    from failgraph.commands.opening import open_knowledge
    from failgraph.graph.database import open_database
    from failgraph.settings import database_settings

    with open_knowledge() if with_core else open_database(database_settings()) as client:
        yield client


def _check_target(directory: Path, pack: str) -> None:
    """Refuse to write into a folder that holds something else than this pack."""
    from failgraph.loaders.packs import read_pack_problems
    from failgraph.schema.errors import ConflictError, Location

    if not directory.exists() or (directory.is_dir() and not any(directory.iterdir())):
        return
    content = read_pack_problems(directory)[0]
    found = content.header.id if content else None
    if found != pack:
        holds = f"the pack {found}" if found else "something that is no pack"
        raise ConflictError(
            f"the folder holds {holds}; name an empty one, or add --yes to write there and remove its other "
            ".yaml files",
            location=Location(str(directory)),
        )


def _write_report(done: LoadReport) -> None:
    """Print what a load or unload did."""
    from failgraph.commands.output import write

    if done.revision is None:
        head = f"pack {done.pack}: unloaded"
    elif done.unchanged:
        head = f"pack {done.pack}: revision {done.revision} is loaded already, nothing changed"
    elif done.previous_revision is None:
        head = f"pack {done.pack}: revision {done.revision} loaded"
    else:
        head = f"pack {done.pack}: revision {done.previous_revision} brought to revision {done.revision}"
    write(head + "\n")
    rows = [
        (name, *(str(number) if number else "" for number in (count.added, count.changed, count.removed)))
        for counts in (done.nodes, done.relations)
        for name, count in counts.items()
    ]
    if rows:
        _write_table(("", "added", "changed", "removed"), rows)


def _write_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows in columns, numbers to the right; text from packs is shown as it is, never obeyed."""
    import io

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from failgraph.commands.output import colored, width, write
    from failgraph.render.escape import terminal

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for place, column in enumerate(columns):
        numbers = bool(rows) and all(row[place].replace(".", "").isdigit() or not row[place] for row in rows)
        table.add_column(column, justify="right" if numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(terminal(cell)) for cell in row))
    buffer = io.StringIO()
    console = Console(
        file=buffer,
        width=width(),
        force_terminal=colored(),
        color_system="standard" if colored() else None,
        highlight=False,
    )
    console.print(table)
    write("\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n")


def _counted(number: int, what: str) -> str:
    """Return a number with its noun.

    >>> _counted(1, "file"), _counted(0, "file")
    ('1 file', '0 files')
    """
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
