"""Narratives in a pack: written first reports, by class and number."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from failgraph.loaders.check import lint
from failgraph.loaders.format import format_directory, format_pack, write_pack
from failgraph.loaders.packs import TEXT_MODEL, core_pack_path, read_pack, shipped_pack_path
from failgraph.schema.errors import PackError

TOLD = Path(__file__).parents[2] / "samples" / "packs" / "told"


@pytest.fixture
def told(tmp_path: Path) -> Path:
    """Return a copy of the sample pack with narratives, to be changed."""
    return Path(shutil.copytree(TOLD, tmp_path / "told"))


def replace(path: Path, old: str, new: str) -> None:
    """Change a text that a file holds exactly once."""
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def problems_of(folder: Path) -> list[str]:
    """Return the problems of a pack as text, its folder's path shortened, other than those of form."""
    found = [str(problem) for problem in lint([folder]) if problem.rule != "form"]
    return [problem.replace(f"{folder}/", f"{folder.name}/") for problem in found]


def test_a_narrative_is_of_its_class_and_topic() -> None:
    """A narrative's topic is its file; its id says which class it tells of, or that none explains it."""
    pack = read_pack(TOLD)
    assert {item.topic for item in pack.narratives if item.describes} == {"node"}
    assert [(item.topic, item.describes) for item in pack.narratives[-2:]] == [("outside", None)] * 2
    assert [item.describes for item in pack.narratives[:4]] == ["full-disk"] * 4


def test_a_narrative_with_what_was_checked_is_one_text() -> None:
    """What was checked and found normal belongs to the words of a report."""
    narrative = next(item for item in read_pack(TOLD).narratives if item.id == "full-disk/3")
    assert narrative.whole == f"{narrative.text}\nother nodes have free space"


@pytest.mark.parametrize(
    "wrong", ["full-disk", "full-disk/0", "full-disk/01", "full-disk/x", "Full/1", "a/b/1"]
)
def test_id_of_a_narrative(told: Path, wrong: str) -> None:
    """An id that is no class and number is refused with its place."""
    replace(told / "narratives" / "node.yaml", "hot-card/1:\n", f"{wrong}:\n")
    with pytest.raises(PackError, match=r"narratives/node\.yaml:14:"):
        read_pack(told)


def test_a_narrative_without_words(told: Path) -> None:
    """A narrative must say something."""
    path = told / "narratives" / "outside.yaml"
    path.write_text(path.read_text() + "outside/3:\n  style: ticket\n")
    with pytest.raises(PackError, match=r"narratives/outside\.yaml:\d+:\d+.*text"):
        read_pack(told)


def test_narratives_are_sorted_by_class_and_number(told: Path) -> None:
    """Narratives stand by class and then by number, 2 before 10, whatever the order they were written in."""
    path = told / "narratives" / "node.yaml"
    expected = path.read_text()
    first = "full-disk/10:"
    start, end = expected.index(first), expected.index("hot-card/1:")
    path.write_text(expected[start:end] + expected[:start] + expected[end:])
    assert [item.id for item in read_pack(told).narratives[:4]] == [
        "full-disk/1",
        "full-disk/2",
        "full-disk/3",
        "full-disk/10",
    ]
    assert format_directory(told) == ["narratives/node.yaml"]
    assert expected == path.read_text()


def test_what_a_narrative_states_is_sorted(told: Path) -> None:
    """The marks of a narrative have no order; its words and what was checked keep theirs."""
    path = told / "narratives" / "node.yaml"
    expected = path.read_text()
    path.write_text(
        expected.replace("[scope.one-gpu, scope.one-host]", "[scope.one-host, scope.one-gpu]").replace(
            "    - other nodes have free space\n", "    - zones are free\n    - all disks have room\n"
        )
    )
    assert format_directory(told) == ["narratives/node.yaml"]
    text = path.read_text()
    assert "[scope.one-gpu, scope.one-host]" in text
    assert "    - zones are free\n    - all disks have room\n" in text


def test_the_shipped_reports_are_in_their_form() -> None:
    """The written reports that ship are canonical: an export of them gives the same bytes."""
    root = shipped_pack_path("reports")
    written = {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in root.rglob("*.yaml")
    }
    assert written == format_pack(read_pack(root))


def test_the_text_model_is_no_part_of_the_pack(told: Path) -> None:
    """A text model in the pack's folder is not read, not complained of, and survives a format."""
    (told / TEXT_MODEL).write_bytes(b"a model")
    assert read_pack(TOLD) == read_pack(told)
    assert format_directory(told) == []
    write_pack(read_pack(told), told)
    assert (told / TEXT_MODEL).read_bytes() == b"a model"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "hot-card/1:\n",
            "hot-cart/1:\n",
            "told/narratives/node.yaml:14:1: error: there is no class `hot-cart`; did you mean `hot-card`?",
        ),
        (
            "[scope.one-gpu, scope.one-host]",
            "[scope.one-gpu, scope.one-hots]",
            "told/narratives/node.yaml:28:34: error: there is no circumstance `scope.one-hots`; did you mean `scope.one-",
        ),
        (
            "[no-room]",
            "[no-rom]",
            "told/narratives/node.yaml:5:17: error: there is no observable `no-rom`; did you mean `no-room`?",
        ),
    ],
    ids=["class", "circumstance", "observable"],
)
def test_what_a_narrative_names_is_defined(told: Path, old: str, new: str, expected: str) -> None:
    """The class, the circumstances and the observables of a narrative must be known; the nearest is named."""
    assert problems_of(told) == []
    replace(told / "narratives" / "node.yaml", old, new)
    (problem,) = problems_of(told)
    assert problem.startswith(expected)


def test_shipped_reports() -> None:
    """The written reports that ship fit the core pack: lint finds nothing wrong with them."""
    problems = lint([core_pack_path(), shipped_pack_path("reports")])
    assert [str(problem) for problem in problems if problem.severity == "error"] == []
    assert [str(problem) for problem in problems if "/reports/" in str(problem.location)] == []
