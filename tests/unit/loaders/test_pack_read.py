"""Reading a pack: its folder says what each file holds; every error names file, line, column and what to do."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from failgraph.loaders.packs import read_pack, read_pack_problems, read_pack_source
from failgraph.schema.errors import PackError

SAMPLES = Path(__file__).parents[2] / "samples" / "packs"


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """Return a copy of the small sample pack, to be broken."""
    return Path(shutil.copytree(SAMPLES / "tiny", tmp_path / "tiny"))


def replace(path: Path, old: str, new: str) -> None:
    """Change a text that a file holds exactly once."""
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def test_place_says_layer_and_topic(tiny: Path) -> None:
    """A mechanism's layer, an observable's topic and a class's layer are those of its file."""
    pack = read_pack(tiny)
    assert {item.id: item.layer for item in pack.mechanisms} == {
        "bus-contact-lost": "gpu",
        "engine-stuck": "gpu",
        "gpu-gone": "gpu",
        "job-dies": "job",
    }
    assert [item.topic for item in pack.observables] == ["behaviour", "behaviour", "kernel-log", "kernel-log"]
    assert [item.layer for item in pack.classes] == ["gpu", "gpu"]
    assert [item.topic for item in pack.checks] == ["gpu"]


def test_chain_holds_its_ends(tiny: Path) -> None:
    """A mechanism that only ends a chain is part of it without a line of its own."""
    pack = read_pack(tiny)
    expected = {"bus-contact-lost": ("gpu-gone",), "gpu-gone": ("job-dies",), "job-dies": ()}
    assert expected == dict(pack.classes[0].chain)


def test_order_in_files_does_not_matter(tiny: Path) -> None:
    """The same items in another order are the same pack."""
    before = read_pack(tiny)
    path = tiny / "observables" / "behaviour.yaml"
    first, second = path.read_text().split("\n\n")
    path.write_text(second + "\n" + first + "\n")
    replace(tiny / "classes" / "gpu" / "off-bus.yaml", "[job-ended, xid-79]", "[xid-79, job-ended]")
    assert before == read_pack(tiny)


def test_source_knows_places(tiny: Path) -> None:
    """A pack that was read tells where each of its items, and each part of one, stands."""
    source, _ = read_pack_source(tiny)
    assert source is not None
    actual = [
        str(source.location(*steps)).removeprefix(f"{tiny}/")
        for steps in [
            ("mechanisms", "gpu-gone"),
            ("classes", "off-bus", "expects", "usually", "xid-79"),
            ("classes", "off-bus", "refuters", "xid-79", "because"),
            ("header", "tiny", "name"),
        ]
    ]
    expected = [
        "mechanisms/gpu.yaml:6:1",
        "classes/gpu/off-bus.yaml:11:24",
        "classes/gpu/off-bus.yaml:15:14",
        "pack.yaml:2:7",
    ]
    assert expected == actual


CLASS = "classes/gpu/off-bus.yaml"


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (CLASS, "summary:", "sumary:", f"{CLASS}:3:1: unknown key `sumary`; did you mean `summary`?"),
        (
            CLASS,
            "prior: 2.5",
            "zzz: 1",
            f"{CLASS}:4:1: unknown key `zzz`; use one of id, name, summary, kind",
        ),
        (
            CLASS,
            "prior: 2.5",
            "prior: -1",
            f"{CLASS}:4:8: `prior` does not fit: input should be greater than 0",
        ),
        (
            CLASS,
            "prior: 2.5",
            "prior: high",
            f"{CLASS}:4:8: `prior` does not fit: input should be a valid number",
        ),
        (
            CLASS,
            "name: GPU off the bus",
            "name: 42",
            f"{CLASS}:2:7: `name` must be text, not the number `42`",
        ),
        (
            CLASS,
            "name: GPU off the bus",
            "name: true",
            f"{CLASS}:2:7: `name` must be text, not the truth value",
        ),
        (CLASS, "name: GPU off the bus", "name:", f"{CLASS}:2:6: `name` must be text, not nothing"),
        (CLASS, "name: GPU off the bus", "name: ' '", f"{CLASS}:2:7: `name` is empty; write something"),
        (CLASS, "name: GPU off the bus\n", "", f"{CLASS}:1:1: `name` is missing; add it"),
        (CLASS, "prior: 2.5", "layer: gpu", f"{CLASS}:4:1: `layer` is given by the place of the item"),
        (
            CLASS,
            "usually:",
            "mostly:",
            f"{CLASS}:11:3: `mostly` is not known for `mostly`; use `always`, `usually`",
        ),
        (
            CLASS,
            "when: absent",
            "when: gone",
            f"{CLASS}:14:11: `gone` is not known for `when`; use `present` or",
        ),
        (CLASS, "    when: absent\n", "", f"{CLASS}:13:5: `when` is missing; add it"),
        (CLASS, "when: absent", "whem: absent", f"{CLASS}:14:5: unknown key `whem`; did you mean `when`?"),
        (CLASS, "shows: [xid-79]", "shows: xid-79", f"{CLASS}:19:12: `shows` must be a list, not `xid-79`"),
        (
            CLASS,
            "root: bus-contact-lost",
            "root: Bus Lost",
            f"{CLASS}:5:7: `Bus Lost` is not an id; write small",
        ),
        (
            CLASS,
            "helps.power-cycle: 0.8",
            "power-cycle: 0.8",
            f"{CLASS}:26:17: `power-cycle` is not an id; write dim",
        ),
        (
            CLASS,
            "helps.power-cycle: 0.8",
            "helps.power-cycle: 8",
            f"{CLASS}:26:36: `helps.power-cycle` does not fit",
        ),
        (
            CLASS,
            "id: off-bus",
            "id: of-bus",
            f"{CLASS}:1:5: class `of-bus` stands in off-bus.yaml; name both alike",
        ),
        (
            CLASS,
            "id: off-bus\n",
            "id: off-bus\nid: x\n",
            f"{CLASS}:2:1: key `id` stands twice (first on line 1)",
        ),
        (
            CLASS,
            "  always:",
            "\talways:",
            f"{CLASS}:10:1: a tab stands where spaces belong; indent with spaces",
        ),
        ("mechanisms/gpu.yaml", "gpu-gone:", "Gpu_Gone:", "mechanisms/gpu.yaml:6:1: `Gpu_Gone` is not an id"),
        (
            "mechanisms/gpu.yaml",
            "gpu-gone:",
            "job-dies:",
            "mechanisms/job.yaml:1:1: `job-dies` is defined twice",
        ),
        (
            "mechanisms/job.yaml",
            "\n  name: The",
            " The",
            "mechanisms/job.yaml:1:11: `job-dies` must hold keys and",
        ),
        ("circumstances/scope.yaml", "scope.one-gpu:", "face.one-gpu:", "its id must begin with `scope.`"),
        (
            "checks/gpu.yaml",
            "cost: seconds",
            "cost: cheap",
            "checks/gpu.yaml:5:9: `cheap` is not known for `cost`",
        ),
        ("pack.yaml", "revision: 3", "revision: 0", "pack.yaml:3:11: `revision` does not fit"),
    ],
)
def test_wrong_item(tiny: Path, file: str, old: str, new: str, message: str) -> None:
    """Whatever does not fit is told with file, line and column of the very key or value."""
    replace(tiny / file, old, new)
    with pytest.raises(PackError) as caught:
        read_pack(tiny)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("file", "raw", "message"),
    [
        ("mechanisms/nic.yaml", b"", "mechanisms/nic.yaml:1:1: the file is empty"),
        (
            "mechanisms/nic.yaml",
            b"\x7fELF\x00",
            "mechanisms/nic.yaml:1:1: a control character stands in the file",
        ),
        (
            "mechanisms/nic.yaml",
            b"a:\n  name: caf\xe9\n",
            "mechanisms/nic.yaml:2:12: byte 0xe9 is not UTF-8 text",
        ),
        ("mechanisms/nic.yaml", b"a: &x {name: b}\nc: *x\n", "mechanisms/nic.yaml:1:4: `&x` is an anchor"),
        (
            "mechanisms/nic.yaml",
            b"- a\n",
            "mechanisms/nic.yaml:1:1: the file must be a mapping of keys to values",
        ),
        ("mechanisms/NIC.yaml", b"a: {name: b}\n", "mechanisms/NIC.yaml: this file has no place in a pack"),
        ("readme.md", b"hello", "readme.md: this file has no place in a pack; remove it, or move it"),
        ("mechanisms/gpu.yml", b"a: {name: b}\n", "mechanisms/gpu.yml: this file has no place in a pack"),
        ("classes/top.yaml", b"id: top\n", "classes/top.yaml: this file has no place in a pack"),
    ],
)
def test_wrong_file(tiny: Path, file: str, raw: bytes, message: str) -> None:
    """A file that is empty, binary, not UTF-8, no mapping or in no place of a pack is refused."""
    (tiny / file).write_bytes(raw)
    with pytest.raises(PackError) as caught:
        read_pack(tiny)
    assert message in str(caught.value)


def test_huge_file(tiny: Path) -> None:
    """A huge file is refused before it fills the memory."""
    with (tiny / "mechanisms" / "nic.yaml").open("wb") as stream:
        stream.truncate(3 * 1024**3)
    with pytest.raises(PackError, match=r"mechanisms/nic\.yaml: the file is larger than 8 MB"):
        read_pack(tiny)


def test_missing_header(tiny: Path) -> None:
    """A folder without pack.yaml is no pack."""
    (tiny / "pack.yaml").unlink()
    with pytest.raises(
        PackError, match=r"pack\.yaml: pack\.yaml is missing; write one with id, name, revision"
    ):
        read_pack(tiny)


def test_missing_folder(tmp_path: Path) -> None:
    """A path without a folder is told as such."""
    with pytest.raises(
        PackError, match=r"gone: there is no folder here; name a folder that holds pack\.yaml"
    ):
        read_pack(tmp_path / "gone")


def test_links_out_of_the_pack(tiny: Path, tmp_path: Path) -> None:
    """Links that lead out of the pack are refused, a link to a folder always; links within are followed."""
    outside = tmp_path / "outside.yaml"
    outside.write_text("a: {name: b}\n")
    (tiny / "mechanisms" / "nic.yaml").symlink_to(outside)
    (tiny / "mechanisms" / "loop").symlink_to(tiny)
    (tiny / "checks" / "again.yaml").symlink_to(tiny / "checks" / "gpu.yaml")
    content, problems = read_pack_problems(tiny)
    assert content is not None
    assert [
        (
            f"{tiny}/checks/gpu.yaml:1:1: error: `read-kernel-log` is defined twice "
            f"(also at {tiny}/checks/again.yaml:1:1); rename or remove one [duplicate-id]"
        ),
        (
            f"{tiny}/mechanisms/loop: error: this is a link that may lead out of the pack; "
            "put a copy of the file in its place [files]"
        ),
        (
            f"{tiny}/mechanisms/nic.yaml: error: this is a link that may lead out of the pack; "
            "put a copy of the file in its place [files]"
        ),
    ] == [str(problem) for problem in problems]


def test_pipe_in_the_pack(tiny: Path) -> None:
    """A named pipe is refused instead of waited for."""
    os.mkfifo(tiny / "mechanisms" / "nic.yaml")
    with pytest.raises(PackError, match=r"nic\.yaml: this is not a regular file; remove it"):
        read_pack(tiny)


def test_hidden_files_are_skipped(tiny: Path) -> None:
    """Hidden files and folders, such as those of git, are no part of a pack."""
    before = read_pack(tiny)
    (tiny / ".git").mkdir()
    (tiny / ".git" / "config").write_text("x")
    (tiny / ".gitignore").write_text("x")
    assert before == read_pack(tiny)


def test_all_problems_at_once(tiny: Path) -> None:
    """All problems of all files are collected, sorted by place; what could be read is there."""
    replace(tiny / CLASS, "prior: 2.5", "prior: -1")
    replace(tiny / CLASS, "when: absent", "when: gone")
    (tiny / "mechanisms" / "job.yaml").write_text("a: no\n")
    content, problems = read_pack_problems(tiny)
    assert content is not None
    assert [item.id for item in content.classes] == ["stuck-engine"]
    places = [str(problem.location).removeprefix(f"{tiny}/") for problem in problems]
    assert [f"{CLASS}:4:8", f"{CLASS}:14:11", "mechanisms/job.yaml:1:4"] == places


def test_first_problem_says_how_many_more(tiny: Path) -> None:
    """The error of reading is the first problem by place, and says how many more there are."""
    replace(tiny / CLASS, "prior: 2.5", "prior: -1")
    replace(tiny / CLASS, "when: absent", "when: gone")
    with pytest.raises(
        PackError, match=r"off-bus\.yaml:4:8: .* \(and 1 more; `failgraph pack lint` lists them\)"
    ):
        read_pack(tiny)


def test_fitted_numbers_may_be_absent(tiny: Path) -> None:
    """A pack that was never fitted has no fitted numbers."""
    assert read_pack(tiny).fitted is not None
    (tiny / "fitted.yaml").unlink()
    assert read_pack(tiny).fitted is None
