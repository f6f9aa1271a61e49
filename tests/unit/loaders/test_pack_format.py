"""Canonical form: one text for one content, written whole or not at all."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from failgraph.loaders.canonical import canonical_pack, causal_order
from failgraph.loaders.format import changed_files, format_directory, format_pack, write_pack
from failgraph.loaders.packs import core_pack_path, read_pack
from failgraph.schema.errors import PackError
from failgraph.schema.pack import ClassItem, PackContent

SAMPLES = Path(__file__).parents[2] / "samples" / "packs"


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """Return a copy of the small sample pack."""
    return Path(shutil.copytree(SAMPLES / "tiny", tmp_path / "tiny"))


def files_of(folder: Path) -> dict[str, str]:
    """Return the files of a folder by relative path."""
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize(
    "folder",
    [SAMPLES / "tiny", SAMPLES / "site", SAMPLES / "told", core_pack_path()],
    ids=["tiny", "site", "told", "core"],
)
def test_files_are_a_function_of_the_content(folder: Path) -> None:
    """Reading a canonical pack and writing it gives the same bytes."""
    assert files_of(folder) == format_pack(read_pack(folder))


def test_order_of_the_content_does_not_matter() -> None:
    """Content whose unordered parts are shuffled, as from a graph, gives the same bytes."""
    pack = read_pack(core_pack_path())
    expected = format_pack(pack)
    assert expected == format_pack(shuffled(pack, random.Random(7)))


def shuffled(pack: PackContent, dice: random.Random) -> PackContent:
    """Return the pack with everything shuffled that has no order of its own."""

    def mixed(items: Any) -> tuple[Any, ...]:
        return tuple(dice.sample(list(items), len(items)))

    def mixed_mapping(items: Any) -> dict[Any, Any]:
        return {
            key: mixed(items[key]) if isinstance(items[key], tuple) else items[key] for key in mixed(items)
        }

    def mixed_class(item: ClassItem) -> ClassItem:
        return item.model_copy(
            update={
                "chain": mixed_mapping(item.chain),
                "expects": mixed_mapping(item.expects),
                "circumstances": mixed_mapping(item.circumstances),
                "refuters": mixed(item.refuters),
                "checks": mixed(item.checks),
                "presentations": tuple(
                    face.model_copy(update={"shows": mixed(face.shows), "lacks": mixed(face.lacks)})
                    for face in mixed(item.presentations)
                ),
            }
        )

    return pack.model_copy(
        update={
            "layers": mixed(pack.layers),
            "mechanisms": mixed(pack.mechanisms),
            "observables": mixed(
                [
                    item.model_copy(update={"shown_by": mixed(item.shown_by), "implies": mixed(item.implies)})
                    for item in pack.observables
                ]
            ),
            "classes": mixed([mixed_class(item) for item in pack.classes]),
            "checks": mixed(
                [item.model_copy(update={"reveals": mixed(item.reveals)}) for item in pack.checks]
            ),
            "circumstances": mixed(pack.circumstances),
        }
    )


def test_canonical_content_equals_what_is_read() -> None:
    """Content rebuilt in another order equals the content that is read, once in canonical order."""
    pack = read_pack(core_pack_path())
    assert pack == canonical_pack(shuffled(pack, random.Random(11)))


def test_chain_in_causal_order() -> None:
    """Causes stand before effects, those near the root first, then by id."""
    item = ClassItem.model_validate(
        {
            "id": "x",
            "layer": "gpu",
            "name": "x",
            "summary": "x",
            "root": "r",
            "chain": {"z": ["end"], "r": ["z", "a"], "a": ["b"], "b": ["end"]},
            "expects": {},
        }
    )
    assert causal_order(item) == ["r", "a", "z", "b", "end"]


def test_chain_with_a_cycle_is_still_written() -> None:
    """A chain that is not sound keeps each mechanism once, so that lint can speak of it."""
    item = ClassItem.model_validate(
        {
            "id": "x",
            "layer": "gpu",
            "name": "x",
            "summary": "x",
            "root": "gone",
            "chain": {"b": ["a"], "a": ["b"], "loose": []},
            "expects": {},
        }
    )
    assert causal_order(item) == ["loose", "a", "b"]


def test_defaults_are_left_out() -> None:
    """A class of the usual kind, status, revision and prior does not say so."""
    text = format_pack(read_pack(SAMPLES / "tiny"))["classes/gpu/stuck-engine.yaml"]
    expected = (
        "id: stuck-engine\n"
        "name: Stuck engine\n"
        "summary: An engine of the GPU stops.\n"
        "root: engine-stuck\n"
        "chain:\n"
        "  engine-stuck: [job-dies]\n"
        "expects:\n"
        "  sometimes: [xid-any]\n"
        "refuters:\n"
        "  - observable: temperature-high\n"
        "    when: present\n"
        "    because: Heat points to a throttle instead.\n"
        "checks: [read-kernel-log]\n"
        "remedies:\n"
        "  - Restart the job.\n"
        "sources:\n"
        "  - A public report\n"
    )
    assert expected == text


def test_format_says_what_changes(tiny: Path) -> None:
    """Formatting names the files it changes; with check it names them and leaves them alone."""
    path = tiny / "mechanisms" / "gpu.yaml"
    canonical = path.read_text()
    path.write_text(
        "# a remark\n" + canonical.replace("name: The GPU no longer", "name:   'The GPU no longer") + "'\n"
    )
    untidy = path.read_text()
    path.write_text(untidy.replace("answers\n'", "answers'"))
    untidy = path.read_text()
    assert format_directory(tiny, check=True) == ["mechanisms/gpu.yaml"]
    assert untidy == path.read_text()
    assert format_directory(tiny) == ["mechanisms/gpu.yaml"]
    assert canonical == path.read_text()
    assert format_directory(tiny) == []


def test_stale_files_are_removed(tiny: Path) -> None:
    """A file whose items are gone is removed, with its folder; files that are not of a pack stay."""
    (tiny / ".gitignore").write_text("x")
    pack = read_pack(tiny)
    (tiny / "classes" / "nic").mkdir()
    (tiny / "classes" / "nic" / "old.yaml").write_text("id: old\n")
    assert write_pack(pack, tiny) == ["classes/nic/old.yaml"]
    assert not (tiny / "classes" / "nic").exists()
    assert (tiny / ".gitignore").exists()


def test_write_into_a_new_folder(tmp_path: Path) -> None:
    """A pack can be written where nothing is yet."""
    pack = read_pack(SAMPLES / "tiny")
    written = write_pack(pack, tmp_path / "new" / "tiny")
    assert sorted(files_of(SAMPLES / "tiny")) == written
    assert files_of(SAMPLES / "tiny") == files_of(tmp_path / "new" / "tiny")


def test_invalid_pack_is_left_alone(tiny: Path) -> None:
    """Nothing is written when a pack cannot be read."""
    (tiny / "mechanisms" / "gpu.yaml").write_text("a: no\n")
    before = files_of(tiny)
    with pytest.raises(PackError):
        format_directory(tiny)
    assert before == files_of(tiny)


def test_failing_write_leaves_the_old_file(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a file cannot be replaced, the old one stays whole and no half-written one is left."""
    pack = read_pack(tiny)
    (tiny / "pack.yaml").write_text("id: tiny\nname: Older\nrevision: 1\nsummary: Older.\n")
    before = files_of(tiny)

    def fail(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device", str(target))

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(PackError, match=r"pack\.yaml: cannot write the pack \(No space left on device\)"):
        write_pack(pack, tiny)
    assert before == files_of(tiny)
    assert changed_files(format_pack(pack), tiny) == ["pack.yaml"]
