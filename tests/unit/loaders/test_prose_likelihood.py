"""The text model in use: what it says of a text, and how it is kept."""

from __future__ import annotations

import math
import pickle
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from failgraph.loaders.prose.likelihood import (
    CLASSES_SHOWN,
    LONGEST_TEXT,
    WORDS_SHOWN,
    TextModel,
    WordTable,
    load_text_model,
    save_text_model,
)
from failgraph.schema.errors import PackError
from failgraph.schema.witness import TextWitness


def table(rows: dict[str, list[int]], kind: Any, scale: list[float]) -> WordTable:
    """Return a table of these rows."""
    return WordTable(tuple(rows), np.array(list(rows.values()), kind), np.array(scale, np.float32))


@pytest.fixture
def model() -> TextModel:
    """A model of three classes, made by hand."""
    return TextModel(
        classes=("full-disk", "hot-card", "lost-card"),
        separators=table(
            {
                "bus": [-20, -30, 120, -60],
                "disk": [110, -25, -10, -70],
                "disk full": [127, -5, -15, -40],
                "hot": [-10, 120, -40, -35],
                "licenc": [-50, -45, -50, 127],
            },
            np.int8,
            [0.01, 0.01, 0.01, 0.02],
        ),
        rarity=np.array([1.5, 1.2, 2.0, 1.7, 1.9], np.float32),
        intercepts=np.array([-0.9, -0.8, -0.85, -0.95], np.float32),
        narratives=table({"bus": [0, 0, 200], "disk": [180, 0, 0], "hot": [0, 90, 40]}, np.uint8, [0.01]),
        descriptions=table({"disk": [250, 0, 0], "fan": [0, 240, 0]}, np.uint8, [0.01]),
        sharpness=1.4,
        outside=(2.0, 0.5),
    )


def best(witness: TextWitness) -> str:
    """Return the class that the words speak for most."""
    return max(witness.log_ratios, key=lambda name: witness.log_ratios[name])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The disk is full.", "full-disk"),
        ("hot, HOT, hotter", "hot-card"),
        ("fell off the bus", "lost-card"),
    ],
)
def test_the_words_choose_the_class(model: TextModel, text: str, expected: str) -> None:
    """The class whose words stand in the text comes first."""
    assert expected == best(model.weigh(text))


def test_a_text_weighs_the_same_every_time(model: TextModel) -> None:
    """The same text gives the same numbers and words, to the last digit."""
    text = "disk full, fan hot, off the bus"
    assert model.weigh(text) == model.weigh(text)


def test_log_ratios_are_against_the_mean(model: TextModel) -> None:
    """The ratios of all classes have the mean 1: they say how much likelier than on average."""
    ratios = model.weigh("the disk is full and hot").log_ratios
    assert ("full-disk", "hot-card", "lost-card") == tuple(ratios)
    assert 1.0 == pytest.approx(math.fsum(map(math.exp, ratios.values())) / 3, abs=1e-9)


@pytest.mark.parametrize("text", ["", " \n\t", "xyzzy plugh", "ÄÖ 漢字 \x00\ud800", "....///"])
def test_unknown_words_say_nothing(model: TextModel, text: str) -> None:
    """A text without any known word gives an empty witness, not a guess."""
    assert TextWitness() == model.weigh(text)


def test_words_shown_are_words_of_the_text(model: TextModel) -> None:
    """What weighed most is spelled as the text spells it, only what speaks for the class, the most first."""
    witness = model.weigh("The Disks were full; one was HOT")
    assert witness.words["full-disk"][0] == "disks"
    assert "disks full" not in witness.words["full-disk"]
    assert ("hot",) == witness.words["hot-card"]
    assert set(witness.words) <= set(model.classes)
    assert all(len(words) <= WORDS_SHOWN for words in witness.words.values())
    assert len(witness.words) <= CLASSES_SHOWN


def test_neighbours_count_together(model: TextModel) -> None:
    """A pair of neighbouring words is a word of its own."""
    assert "disk full" in model.weigh("disk full").words["full-disk"]
    assert "disk full" not in model.weigh("full disk").words["full-disk"]


def test_few_words_say_little(model: TextModel) -> None:
    """One known word counts less than several: few words are often common to all reports."""
    one, several = (model.weigh(text).log_ratios["full-disk"] for text in ("disk", "disk full"))
    assert 0.0 < one < several


def test_troubles_outside_all_classes_are_told(model: TextModel) -> None:
    """Words that only troubles outside the classes have raise what stands for none of them."""
    assert model.weigh("the licence, the disk").none > model.weigh("the disk").none


def test_a_table_without_the_words_is_left_out(model: TextModel) -> None:
    """A word that only the descriptions know is enough, and then nothing is said of *outside*."""
    witness = model.weigh("fan")
    assert best(witness) == "hot-card"
    assert witness.none == pytest.approx(0.5 / 6)


def test_a_text_of_any_length_takes_bounded_time(model: TextModel) -> None:
    """What stands beyond the longest text is not read, so it changes nothing and costs nothing."""
    head = ("disk full " * (LONGEST_TEXT // 10))[:LONGEST_TEXT]
    expected = model.weigh(head)
    started = time.perf_counter()
    assert expected == model.weigh(head + "hot bus " * 1_000_000)
    assert time.perf_counter() - started < 10.0


def test_one_endless_word_is_no_trouble(model: TextModel) -> None:
    """A word as long as the longest text ends, and is unknown."""
    assert TextWitness() == model.weigh("a" * LONGEST_TEXT * 2)


def test_a_kept_model_says_the_same(model: TextModel, tmp_path: Path) -> None:
    """A model that was written and read weighs as before, and is written to the same bytes again."""
    save_text_model(model, tmp_path / "one.npz")
    read = load_text_model(tmp_path / "one.npz")
    save_text_model(read, tmp_path / "two.npz")
    text = "disk full, fan hot, off the bus"
    assert model.weigh(text) == read.weigh(text)
    assert model.classes == read.classes
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def refused(path: Path) -> str:
    """Return what is said when a file is no model."""
    with pytest.raises(PackError, match="failgraph pack train") as raised:
        load_text_model(path)
    assert str(path) == str(raised.value.location)
    return str(raised.value)


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    """Without the file the error names its path and how to make it."""
    assert "no text model" in refused(tmp_path / "none.npz")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no archive",
        b"PK\x03\x04",
        b"\x93NUMPY\x01\x00v\x00{",
        b"\x00" * 999,
    ],
)
def test_a_foreign_file_is_refused(tmp_path: Path, content: bytes) -> None:
    """A file that is something else is refused with its path."""
    path = tmp_path / "model.npz"
    path.write_bytes(content)
    assert "no text model" in refused(path)


def test_a_lone_array_is_refused(tmp_path: Path) -> None:
    """One array, which is no archive, is refused with its path."""
    path = tmp_path / "model.npz"
    with path.open("wb") as file:
        np.save(file, np.zeros(3))
    assert "no text model" in refused(path)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_model_cut_short_is_refused(model: TextModel, tmp_path: Path, share: float) -> None:
    """A file of which the end is missing is refused with its path."""
    path = tmp_path / "model.npz"
    save_text_model(model, path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    assert "no text model" in refused(path)


def test_a_damaged_model_is_refused(model: TextModel, tmp_path: Path) -> None:
    """Bytes that changed within the archive are noticed by its checksums."""
    path = tmp_path / "model.npz"
    save_text_model(model, path)
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        entry = archive.getinfo("separators_stored.npy")
    start = entry.header_offset + 30 + len(entry.filename) + 20
    for place in range(start, start + entry.compress_size // 2):
        content[place] ^= 0xFF
    path.write_bytes(bytes(content))
    assert "no text model" in refused(path)


def test_another_archive_of_arrays_is_refused(tmp_path: Path) -> None:
    """Arrays of something else are refused: the wanted ones are missing."""
    np.savez(tmp_path / "model.npz", weights=np.zeros(3))
    assert "no text model" in refused(tmp_path / "model.npz")


class Trap:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.write_text, (self.path, "sprung")


def test_nothing_is_ever_unpickled(model: TextModel, tmp_path: Path) -> None:
    """Objects in an archive, or a pickle in place of it, are refused unopened."""
    trap = Trap(tmp_path / "sprung")
    path = tmp_path / "model.npz"
    save_text_model(model, path)
    with np.load(path) as arrays:
        kept = dict(arrays)
    np.savez(path, **{**kept, "classes": np.array([trap], object)})
    refused(path)
    path.write_bytes(pickle.dumps(trap))
    refused(path)
    assert not (tmp_path / "sprung").exists()
