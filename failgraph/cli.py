"""The command line: joins the commands, and turns every error into one line and an exit code.

A command's module is imported when that command is invoked, not before: ``failgraph --help`` needs only the
table :data:`COMMANDS`.

Exit codes: 0 answered, 1 a bug of failgraph, 2 usage, 3 nothing could be read, 4 database unreachable, 5 pack
invalid, 6 partly done, 7 conflict or refused, 130 interrupted.
"""

from __future__ import annotations

import copy
import gc
import importlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from failgraph import __version__
from failgraph.schema.errors import FailgraphError
from failgraph.settings import Invocation, invocation, set_invocation


@dataclass(frozen=True)
class CommandEntry:
    """Where a command is and what the list of commands says about it."""

    target: str
    summary: str


COMMANDS: Final = {
    "triage": CommandEntry("triage:triage", "Explain an incident from its files."),
    "explain": CommandEntry("explain:explain", "Explain an incident from a few words."),
    "match": CommandEntry("match:match", "Explain an incident from findings in JSON."),
    "class": CommandEntry("catalogue:class_app", "List and show failure classes."),
    "observable": CommandEntry(
        "catalogue:observable_app", "List and show observables: symptoms and evidence."
    ),
    "mechanism": CommandEntry("catalogue:mechanism_app", "List and show mechanisms: the steps of causes."),
    "query": CommandEntry("query:app", "List, show and run queries, shipped or your own."),
    "pack": CommandEntry("pack:app", "Check, load, list, export and fit knowledge packs."),
    "db": CommandEntry("database:app", "Look after the database."),
    "eval": CommandEntry("evaluate:evaluate", "Measure the matching on labelled cases."),
    "schema": CommandEntry("schema:schema", "Print or write the JSON Schemas."),
    "doctor": CommandEntry("doctor:doctor", "Say whether everything failgraph needs is there."),
}
"""Every command in the order of the list; ``target`` is module:attribute under ``failgraph.commands``."""

COLLECT_AFTER: Final = (100_000, 20, 50)
"""Thresholds of the garbage collector for one command, which lives for seconds."""

GLOBAL_OPTIONS: Final = ("data_dir", "debug", "quiet", "verbose", "no_color")
"""Options that stand before or after the command's name."""


EVERYWHERE: Final = "Also: --data-dir, --debug, -q, -v, --no-color, as failgraph --help describes them."


class LazyGroup(TyperGroup):
    """A group that knows its commands by name, and imports one when it is invoked."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return what the list of commands needs: name and summary, without importing the command."""
        entry = COMMANDS.get(cmd_name)
        return TyperCommand(name=cmd_name, help=entry.summary) if entry else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the real command for the first argument; a typing error gets suggestions."""
        if not self.commands:
            self.commands = {name: self.get_command(ctx, name) for name in COMMANDS}
        name, command, rest = super().resolve_command(ctx, args)
        if name is None or command is None:
            return name, command, rest
        return name, load_command(name, self), rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command; a reader that closes its end of the pipe is no error."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from error
        return result

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line; errors end it with one line on stderr and their exit code."""
        set_invocation(Invocation())
        _print_anything()
        try:
            return super().main(*args, **kwargs)
        except FailgraphError as error:
            _complain(str(error), error)
            sys.exit(error.exit_code)
        except Exception as error:  # noqa: BLE001 - the outermost edge: whatever is left is our bug, and is said to be
            hint = "" if invocation().debug else "; run it again with --debug and report what it prints"
            _complain(f"this is a bug in failgraph ({type(error).__name__}: {error}){hint}.", error)
            sys.exit(1)


def load_command(name: str, root: TyperGroup) -> Any:
    """Import a command and return it, with the global options added to it and to everything below it.

    Args:
        name: a key of :data:`COMMANDS`.
        root: the group that holds the global options.
    """
    module, attribute = COMMANDS[name].target.split(":")
    target = getattr(importlib.import_module(f"failgraph.commands.{module}"), attribute)
    if isinstance(target, typer.Typer):
        target.rich_markup_mode = None
        command: Any = typer.main.get_group(target)
        command.name = name
    else:
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name)(target)
        command = typer.main.get_command(single)
    shared = [_anywhere(option) for option in root.params if option.name in GLOBAL_OPTIONS]
    for part in _with_parts(command):
        if part.help:
            part.help = keep_layout(part.help)
        if not getattr(part, "commands", None):
            part.epilog = part.epilog or EVERYWHERE
        taken = {flag for option in part.params for flag in option.opts}
        part.params.extend(copy.copy(option) for option in shared if not taken.intersection(option.opts))
    return command


def keep_layout(help_text: str) -> str:
    r"""Return help text in which paragraphs with indented lines (examples) are marked not to be re-wrapped.

    >>> keep_layout("Do it.\n\nExample:\n    failgraph doctor")
    'Do it.\n\n\x08\nExample:\n    failgraph doctor'
    """
    paragraphs = re.split(r"\n[ \t]*\n", help_text)
    return "\n\n".join(
        f"\b\n{text}" if re.search(r"^\s{2,}\S", text, re.MULTILINE) and not text.startswith("\b") else text
        for text in paragraphs
    )


def _with_parts(command: Any) -> Iterator[Any]:
    yield command
    for part in getattr(command, "commands", {}).values():
        yield from _with_parts(part)


def _anywhere(option: Any) -> Any:
    """Return a copy of a global option for use behind the command's name: it is noted, not handed to it."""
    twin = copy.copy(option)
    twin.hidden = True
    twin.expose_value = False
    twin.is_eager = True
    twin.default = None

    def note(ctx: Any, param: Any, value: Any) -> Any:
        if value is not None and value is not False:
            _note_option(option.name, value)
        return value

    twin.callback = note
    return twin


def _note_option(name: str, value: Any) -> None:
    from dataclasses import replace

    changes: dict[str, Any] = {
        "data_dir": {"data_dir": value},
        "debug": {"debug": True},
        "quiet": {"verbosity": -1},
        "verbose": {"verbosity": 1},
        "no_color": {"color": False},
    }[name]
    set_invocation(replace(invocation(), **changes))


def _complain(sentence: str, error: BaseException) -> None:
    from failgraph.render.escape import terminal

    if invocation().debug:
        import traceback

        traceback.print_exception(error)
    print(f"failgraph: error: {terminal(sentence)}", file=sys.stderr)


def _print_anything() -> None:
    """Let characters that the output cannot encode be printed as escapes instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Callable[..., None] | None = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"failgraph {__version__}")
        raise typer.Exit


app = typer.Typer(
    name="failgraph",
    cls=LazyGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 answered, 1 bug, 2 usage, 3 nothing read, 4 database, 5 pack, 6 partial, "
    "7 refused, 130 interrupted.",
)


@app.callback()
def failgraph(
    data_dir: Annotated[
        Path | None,
        typer.Option("--data-dir", help="Where the embedded engine keeps its data.", show_default=False),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Only the answer: no progress, no notes.")
    ] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Say more.")] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="No colour; NO_COLOR does the same.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and stop.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Root-cause knowledge of GPU training clusters: which known failure explains this incident, and how.

    Start with: failgraph triage DIRECTORY, or failgraph explain "what you see".
    """
    set_invocation(
        Invocation(
            data_dir=data_dir,
            debug=debug,
            verbosity=-1 if quiet else 1 if verbose else 0,
            color=not no_color,
        )
    )


def main() -> None:
    """Run the command line; the entry point of ``failgraph`` and ``python -m failgraph``."""
    # Imports and packs make objects that stay, so looking for garbage among them so often only takes time.
    gc.set_threshold(*COLLECT_AFTER)
    app(prog_name="failgraph")
