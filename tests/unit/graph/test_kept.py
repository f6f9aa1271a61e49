"""Files kept between runs: private, checked, and passed over when they are not sound."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from failgraph.graph import kept

KIND = b"sort 1\n"


def test_what_was_kept_is_loaded_again(tmp_path: Path) -> None:
    """The bytes come back as they were; directory and file are the user's alone."""
    path = tmp_path / "cache" / "thing-1.json"
    kept.save(path, KIND, b"\x00content")

    assert b"\x00content" == kept.load(path, KIND)
    assert (0o700, 0o600) == (stat.S_IMODE(path.parent.stat().st_mode), stat.S_IMODE(path.stat().st_mode))
    assert [path] == list(path.parent.iterdir())


def test_nothing_kept_is_nothing(tmp_path: Path) -> None:
    """A file that does not exist is no error."""
    assert kept.load(tmp_path / "none" / "thing-1.json", KIND) is None


@pytest.mark.parametrize("damage", ["cut", "changed", "other", "empty"])
def test_damaged_file_counts_as_missing(tmp_path: Path, damage: str) -> None:
    """A file that is not what it was is never loaded."""
    path = tmp_path / "thing-1.json"
    kept.save(path, KIND, b"content")
    content = path.read_bytes()
    path.write_bytes(
        {"cut": content[:-2], "changed": content[:-1] + b"x", "other": b"y" * 99, "empty": b""}[damage]
    )

    assert kept.load(path, KIND) is None


def test_file_of_another_kind_counts_as_missing(tmp_path: Path) -> None:
    """A file whose form has changed since is not read."""
    path = tmp_path / "thing-1.json"
    kept.save(path, b"sort 0\n", b"content")

    assert kept.load(path, KIND) is None


def test_file_that_others_can_write_counts_as_missing(tmp_path: Path) -> None:
    """A file that somebody else could have made is not trusted."""
    path = tmp_path / "thing-1.json"
    kept.save(path, KIND, b"content")
    path.chmod(0o666)

    assert kept.load(path, KIND) is None


def test_directory_that_cannot_be_made_does_no_harm(tmp_path: Path) -> None:
    """Where nothing can be kept, nothing is said."""
    (tmp_path / "file").write_text("in the way")
    path = tmp_path / "file" / "thing-1.json"
    kept.save(path, KIND, b"content")

    assert kept.load(path, KIND) is None


def test_few_files_of_a_kind_stay(tmp_path: Path) -> None:
    """Old files go, those of other kinds stay, and the newest is there."""
    (tmp_path / "other-1.json").write_text("")
    for number in range(7):
        kept.save(tmp_path / f"thing-{number}.json", KIND, b"content")

    assert kept.MOST_FILES == len(list(tmp_path.glob("thing-*.json")))
    assert (tmp_path / "other-1.json").exists()
    assert kept.load(tmp_path / "thing-6.json", KIND) == b"content"
