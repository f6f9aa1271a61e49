"""How the command line loads its commands and ends: options, errors, exit codes."""

from __future__ import annotations

import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from failgraph import __version__, cli, settings
from failgraph.schema import errors
from failgraph.schema.errors import FailgraphError, Location

HEAVY = {
    "arcadedb",
    "hyperscan",
    "markdown_it",
    "neo4j",
    "networkx",
    "numpy",
    "pydantic",
    "re2",
    "rich",
    "yaml",
}


@pytest.fixture
def invented(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., Any]], None]:
    """Put a function in place of the command ``doctor``."""

    def put(function: Callable[..., Any]) -> None:
        module = types.ModuleType("failgraph.commands.invented")
        module.__dict__["command"] = function
        monkeypatch.setitem(sys.modules, "failgraph.commands.invented", module)
        monkeypatch.setitem(
            cli.COMMANDS, "doctor", cli.CommandEntry("invented:command", "An invented command.")
        )

    return put


def run(*arguments: str) -> Any:
    """Run the command line in this process."""
    return CliRunner().invoke(cli.app, list(arguments))


def test_help_lists_every_command_and_imports_none() -> None:
    """The list of commands needs no command's module and no heavy library."""
    script = (
        "import sys\nfrom failgraph.cli import main\nsys.argv = ['failgraph', '--help']\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 0\n"
        "print(*(name for name in sys.modules), sep='\\n', file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert HEAVY & loaded == set()
    assert {name for name in loaded if name.startswith("failgraph.commands.")} == set()
    assert [name for name in cli.COMMANDS if f"\n  {name} " not in done.stdout] == []


@pytest.mark.parametrize("name", list(cli.COMMANDS))
def test_summaries_fit_the_list(name: str) -> None:
    """A summary is one sentence that is not cut short at 80 columns."""
    assert len(cli.COMMANDS[name].summary) <= 60
    assert cli.COMMANDS[name].summary.endswith(".")


def test_version() -> None:
    """--version prints the version and stops."""
    done = run("--version")
    assert (done.exit_code, done.stdout) == (0, f"failgraph {__version__}\n")


def test_unknown_command_gets_a_suggestion() -> None:
    """A typing error ends with exit code 2 and the nearest command."""
    done = run("tirage")
    assert done.exit_code == 2
    assert "No such command 'tirage'. Did you mean 'triage'?" in done.stderr


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.FailgraphError, 1),
        (errors.UsageError, 2),
        (errors.NothingReadError, 3),
        (errors.DatabaseError, 4),
        (errors.EngineError, 4),
        (errors.QueryTimeoutError, 4),
        (errors.PackError, 5),
        (errors.PartialError, 6),
        (errors.ConflictError, 7),
        (errors.MigrationError, 7),
    ],
)
def test_an_error_is_one_line_and_a_code(
    kind: type[FailgraphError], code: int, invented: Callable[[Callable[..., Any]], None]
) -> None:
    """An error on purpose prints one line on stderr, with its place, and ends with its code."""

    def command() -> None:
        raise kind("this is wrong;\ndo that.", location=Location("a.yaml", 3, 5))

    invented(command)
    done = run("doctor")
    assert (done.exit_code, done.stdout) == (code, "")
    assert done.stderr == "failgraph: error: a.yaml:3:5: this is wrong; do that.\n"


def test_an_error_cannot_act_on_the_terminal(invented: Callable[[Callable[..., Any]], None]) -> None:
    """Control characters in a message, from a file name for instance, are shown as escapes."""

    def command() -> None:
        raise errors.UsageError("no file \x1b]0;title\x07")

    invented(command)
    assert run("doctor").stderr == "failgraph: error: no file \\x1b]0;title\\x07\n"


def test_a_bug_says_so(invented: Callable[[Callable[..., Any]], None]) -> None:
    """What nobody expected is our bug: one sentence, exit code 1, no traceback."""

    def command() -> None:
        raise KeyError("lost")

    invented(command)
    done = run("doctor")
    assert done.exit_code == 1
    assert done.stderr == (
        "failgraph: error: this is a bug in failgraph (KeyError: 'lost'); "
        "run it again with --debug and report what it prints.\n"
    )


@pytest.mark.parametrize("arguments", [("--debug", "doctor"), ("doctor", "--debug")])
def test_debug_shows_where(
    arguments: tuple[str, ...], invented: Callable[[Callable[..., Any]], None]
) -> None:
    """--debug, before or after the command, prints the traceback."""

    def command() -> None:
        raise KeyError("lost")

    invented(command)
    done = run(*arguments)
    assert done.exit_code == 1
    assert done.stderr.startswith("Traceback (most recent call last):\n")


def test_an_interrupt_ends_with_130(invented: Callable[[Callable[..., Any]], None]) -> None:
    """Control-C ends with the code shells expect."""

    def command() -> None:
        raise KeyboardInterrupt

    invented(command)
    assert run("doctor").exit_code == 130


def test_global_options_before_and_after(invented: Callable[[Callable[..., Any]], None]) -> None:
    """Global options stand before or after the command's name and are forgotten after the run."""
    seen = []

    def command(name: Annotated[str, typer.Argument()]) -> None:
        seen.append((name, settings.invocation()))

    invented(command)
    assert run("--data-dir", "/srv/one", "-q", "doctor", "x").exit_code == 0
    assert run("doctor", "--data-dir", "/srv/two", "-v", "x", "--no-color").exit_code == 0
    assert run("doctor", "x").exit_code == 0
    assert seen == [
        ("x", settings.Invocation(data_dir=Path("/srv/one"), verbosity=-1)),
        ("x", settings.Invocation(data_dir=Path("/srv/two"), verbosity=1, color=False)),
        ("x", settings.Invocation()),
    ]


def test_a_closed_pipe_is_no_error() -> None:
    """A reader that has seen enough ends the command quietly."""
    script = "import sys; from failgraph.cli import main; sys.argv = ['failgraph', 'schema']; main()"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        if process.stdout is None or process.stderr is None:
            pytest.fail("the process has no pipes")
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=60) == 0


def test_help_of_a_command_keeps_its_example(invented: Callable[[Callable[..., Any]], None]) -> None:
    """An example in a docstring stands in the help as it was written."""

    def command() -> None:
        """Do it.

        Example:
            failgraph doctor
            failgraph doctor --format json
        """

    invented(command)
    done = run("doctor", "-h")
    assert "  Example:\n      failgraph doctor\n      failgraph doctor --format json\n" in done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion_knows_the_commands(shell: str) -> None:
    """Completion offers commands by their names."""
    script = "import sys; from failgraph.cli import main; sys.argv = ['failgraph']; main()"
    environment = {
        "_FAILGRAPH_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": "failgraph tri",
        "COMP_CWORD": "1",
        "_TYPER_COMPLETE_ARGS": "failgraph tri",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=False
    )
    assert "triage" in done.stdout
