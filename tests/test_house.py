"""The rules of the house that no linter knows: directions, homes, names, and text that stays out of Python."""

from __future__ import annotations

import ast
import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import failgraph

ROOT = Path(__file__).parent.parent
ROOMS = ("graph", "schema", "loaders", "queries")
SOURCE_FOLDERS = ("failgraph", *ROOMS)
MAX_LINES = 500

HOMES = {
    "arcadedb": ("graph/engine.py",),
    "arcadedb_embedded": ("graph/engine.py",),
    "hyperscan": ("loaders/",),
    "markdown_it": ("loaders/",),
    "neo4j": ("graph/client.py",),
    "networkx": ("graph/",),
    "numpy": ("graph/", "loaders/prose/", "loaders/linefeeds.py"),
    "platformdirs": ("failgraph/settings.py", "loaders/scanner.py"),
    "re2": ("loaders/",),
    "rich": ("failgraph/",),
    "typer": ("failgraph/cli.py", "failgraph/commands/"),
    "yaml": ("loaders/yaml_file.py",),
    "zstandard": ("loaders/",),
}
"""Where each library may be imported: a file, or a folder and everything in it."""

NAMES_THAT_SAY_NOTHING = {"common", "helper", "helpers", "misc", "tools", "util", "utils"}
CYPHER = re.compile(
    r"\b(?:MATCH|MERGE|CREATE)\s*\(|\bUNWIND\s+\$|\bDETACH\s+DELETE\b|\bRETURN\s+\w+\.\w+|\)-\[:\w+\]->\("
)
EXEMPTION = re.compile(
    r"(?:noqa: [A-Z]+[0-9]+(?:, ?[A-Z]+[0-9]+)*|type: ignore\[[\w-]+(?:, ?[\w-]+)*\])\W+\w+"
)
LOCAL_PATHS = re.compile("|".join(("/wor" + "k/(?:main|shared)", r"\.\./sha" + "red", "/tm" + "p/w/")))


def python_files(*folders: str) -> list[Path]:
    """Return the Python files of some folders of the checkout, each once."""
    return sorted(
        path
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
        if not any((ROOT / folder / part).is_symlink() for part in path.relative_to(ROOT / folder).parts[:1])
    )


def name_of(path: Path) -> str:
    """Return a path as the test's name and messages show it."""
    return path.relative_to(ROOT).as_posix()


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imported_modules(path: Path) -> Iterator[tuple[str, int]]:
    """Give every imported module of a file with its line."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield ("." * node.level + (node.module or ""), node.lineno)


SOURCES = python_files(*SOURCE_FOLDERS)
ALL_PYTHON = python_files(*SOURCE_FOLDERS, "tests", "benchmarks")


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_are_links(room: str) -> None:
    """The four rooms are joined to the package by relative links, which Windows or an upload may have broken."""
    link = ROOT / "failgraph" / room
    assert link.is_symlink(), (
        f"failgraph/{room} is no link; check it out again with symbolic links switched on"
    )
    assert Path("..") / room == link.readlink()


def test_imports_go_one_way() -> None:
    """Imports go from the front door to the schema and never back."""
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", ALL_PYTHON, ids=name_of)
def test_imports_are_absolute(path: Path) -> None:
    """Rooms are imported as ``failgraph.<room>``: a bare name would make a second copy of every class."""
    wrong = [
        f"line {line}: {module}"
        for module, line in imported_modules(path)
        if module.startswith(".") or module.partition(".")[0] in ROOMS
    ]
    assert wrong == []


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_each_library_has_one_home(path: Path) -> None:
    """A library is imported where its home is, and nowhere else."""
    wrong = [
        f"line {line}: {module} belongs to {', '.join(HOMES[module.partition('.')[0]])}"
        for module, line in imported_modules(path)
        if module.partition(".")[0] in HOMES and not name_of(path).startswith(HOMES[module.partition(".")[0]])
    ]
    assert wrong == []


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_python_holds_no_cypher(path: Path) -> None:
    """Every Cypher text is a file of queries/ or schema/migrations/; docstrings and errors may show some."""
    tree = tree_of(path)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    said = {id(part) for node in ast.walk(tree) if isinstance(node, ast.Raise) for part in ast.walk(node)}
    wrong = [
        f"line {node.lineno}: {node.value[:60]!r}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings | said
        and CYPHER.search(node.value)
    ]
    assert wrong == []


@pytest.mark.parametrize("path", ALL_PYTHON, ids=name_of)
def test_files_stay_readable(path: Path) -> None:
    """No file grows beyond what one reads in one sitting, and its name says what is inside."""
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MAX_LINES, f"{lines} lines; split it by what it is about"
    assert path.stem not in NAMES_THAT_SAY_NOTHING


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_wide_excepts_have_a_reason(path: Path) -> None:
    """A bare except is refused; a wide one re-raises, or says on its line why it must be wide."""
    lines = path.read_text(encoding="utf-8").splitlines()
    wrong = []
    for node in ast.walk(tree_of(path)):
        if not isinstance(node, ast.ExceptHandler):
            continue
        caught = ast.unparse(node.type) if node.type else ""
        wide = not caught or re.search(r"\b(Base)?Exception\b", caught)
        passes_on = isinstance(node.body[-1], ast.Raise)
        if wide and not passes_on and (not caught or "#" not in lines[node.lineno - 1]):
            wrong.append(f"line {node.lineno}: except {caught}")
    assert wrong == []


@pytest.mark.parametrize("path", ALL_PYTHON, ids=name_of)
def test_exemptions_have_a_reason(path: Path) -> None:
    """A noqa or type-ignore names its rule and says why on the same line."""
    wrong = []
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type != tokenize.COMMENT or not re.search(r"noqa|type: ignore", token.string):
                continue
            if not EXEMPTION.search(token.string):
                wrong.append(f"line {token.start[0]}: {token.string}")
    assert wrong == []


def test_nothing_names_the_workshop() -> None:
    """No file of the project names a path of the place where it was built."""
    wrong = [
        name_of(path)
        for pattern in ("*.py", "*.md", "*.cypher", "*.yaml", "*.toml", "*.java", "*.xml", "Makefile", "run")
        for path in ROOT.rglob(pattern)
        if not path.relative_to(ROOT).parts[0].startswith((".v", ".g", ".m", "build"))
        and LOCAL_PATHS.search(path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert wrong == []


MODULES = sorted(module.name for module in pkgutil.walk_packages(failgraph.__path__, "failgraph."))


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_docstring_examples_run(name: str) -> None:
    """Every example in a docstring does what it shows."""
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    assert failed == 0, f"run: python -m doctest {module.__file__}"


def test_data_files_are_packaged() -> None:
    """Every file of the rooms that is no Python is named by a pattern of package-data, so a wheel has it."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = settings["tool"]["setuptools"]["package-data"]
    packaged = {
        path.resolve()
        for package, globs in patterns.items()
        for pattern in globs
        for path in (ROOT / package.removeprefix("failgraph.").replace(".", "/")).glob(pattern)
    }
    missing = [
        name_of(path)
        for folder in SOURCE_FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc") and path.resolve() not in packaged
    ]
    assert missing == []


@pytest.mark.parametrize("folder", SOURCE_FOLDERS)
def test_every_folder_with_python_is_a_package(folder: str) -> None:
    """A folder without __init__.py would silently be missing from the wheel."""
    missing = [
        name_of(path)
        for path in sorted({file.parent for file in python_files(folder)})
        if not (path / "__init__.py").exists()
    ]
    assert missing == []


def test_wheel_holds_everything(tmp_path: Path) -> None:
    """A wheel built from the checkout holds every Python and data file of the package."""
    pytest.importorskip("setuptools", minversion="77", reason="building a wheel needs setuptools 77")
    import shutil
    import zipfile

    copied = tmp_path / "checkout"
    copied.mkdir()
    for name in (*SOURCE_FOLDERS, "pyproject.toml", "README.md", "LICENSE"):
        source, target = ROOT / name, copied / name
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    build = "import setuptools.build_meta as b, sys; print(b.build_wheel(sys.argv[1]))"
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", build, str(tmp_path)],
        cwd=copied,
        check=True,
        capture_output=True,
    )
    held = set(zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist())
    expected = {
        f"failgraph/{path.relative_to(ROOT).as_posix()}".replace("failgraph/failgraph/", "failgraph/")
        for folder in SOURCE_FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert expected - held == set()
