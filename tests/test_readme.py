"""What the documentation says is true: its commands run, its output is current, nothing is left out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from failgraph import cli
from failgraph.settings import SETTINGS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
LINES = [
    line
    for block in re.findall(r"^```sh test\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
]
ANSWER = re.compile(r'<!-- answer: (.*?), until "(.*?)" -->\n```text\n(.*?)```', re.DOTALL)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment of somebody who has just installed failgraph."""
    names = {setting.name for setting in SETTINGS}
    clean = {name: value for name, value in os.environ.items() if name not in names}
    clean["FAILGRAPH_DATA_DIR"] = str(tmp_path_factory.mktemp("readme"))
    clean["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{clean['PATH']}"
    return clean


def shell(command: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a line of the README as it stands."""
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("command", LINES)
def test_commands_of_the_readme_run(command: str, environment: dict[str, str]) -> None:
    """Every command of a block marked for it runs, prints something, and complains about nothing."""
    done = shell(command, environment)
    assert done.returncode == 0, done.stderr
    assert (done.stdout + done.stderr).strip()


def test_the_answer_in_the_readme_is_real(environment: dict[str, str]) -> None:
    """The answer that the README shows is what failgraph prints; ``make docs`` prints it anew."""
    ((command, heading, shown),) = ANSWER.findall(README)
    printed, found, _ = shell(command, environment).stdout.partition(f"\n{heading}")
    assert found
    assert shown == printed


def leaves(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Give every command that does something, with the words that call it."""
    parts = getattr(command, "commands", {})
    if not parts:
        yield " ".join(words), command
    for name, part in parts.items():
        yield from leaves(part, (*words, name))


def all_leaves() -> list[tuple[str, Any]]:
    """Return every command of the command line."""
    root = typer.main.get_group(cli.app)
    return [
        leaf for name in cli.COMMANDS for leaf in leaves(cli.load_command(name, root), ("failgraph", name))
    ]


def test_every_command_has_help_with_an_example() -> None:
    """A command's help says what it does and shows a line to copy that starts with its own name."""
    lacking = [
        words
        for words, command in all_leaves()
        if not re.search(rf"\b{re.escape(words)}\b", command.help or "")
    ]
    assert lacking == []


def test_every_option_has_help() -> None:
    """Every argument and option says what it is."""
    lacking = [
        f"{words} {parameter.name}"
        for words, command in all_leaves()
        for parameter in command.params
        if not getattr(parameter, "help", None)
    ]
    assert lacking == []


def test_every_command_is_in_the_readme() -> None:
    """The README's table names every command."""
    lacking = []
    for words, _ in all_leaves():
        _, group, *rest = words.split()
        row = next((line for line in README.splitlines() if line.startswith(f"| `failgraph {group}")), "")
        if not row or (rest and not re.search(rf"[ `]{rest[0]}\b", row)):
            lacking.append(words)
    assert lacking == []


def test_every_setting_is_in_the_readme() -> None:
    """The README's table of settings is the table of the code."""
    rows = [f"| `{setting.name}` | {setting.default} | {setting.meaning} |" for setting in SETTINGS]
    assert [row for row in rows if row not in README.splitlines()] == []


def test_made_pages_are_current() -> None:
    """The pages of docs/ that are made from the code say what the code says."""
    done = subprocess.run(
        [sys.executable, ROOT / "docs/generate.py", "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.parametrize(
    "page",
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").glob("*.md"),
    ],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_links_lead_somewhere(page: Path) -> None:
    """Every link to a file of the project leads to one."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
    broken = [
        target
        for target in targets
        if not re.match(r"[a-z]+:", target) and not (page.parent / target).exists()
    ]
    assert broken == []
