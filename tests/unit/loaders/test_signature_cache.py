"""Parsed signatures kept between runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from failgraph.loaders import signature_cache
from failgraph.loaders.packs import core_pack_path, read_pack
from failgraph.loaders.scanner import SCANNED_KINDS
from failgraph.loaders.signature_cache import Written, parsed_signatures


def _core() -> list[Written]:
    return [
        Written(item.id, item.signature, item.multiline)
        for item in read_pack(core_pack_path()).observables
        if item.kind in SCANNED_KINDS
    ] + [Written("accents", "(?i)Größe läuft \\d+")]


def test_kept_signatures_are_those_that_were_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All signatures of the core pack come back equal, without being parsed again."""
    written = _core()
    expected = parsed_signatures(written, None)
    assert expected == parsed_signatures(written, tmp_path)
    monkeypatch.setattr(signature_cache, "parse_signature", None)

    assert expected == parsed_signatures(written, tmp_path)


@pytest.mark.parametrize("content", [b"", b"[]", b"failgraph parsed 1\n" + bytes(32) + b"[]"])
def test_damaged_file_is_made_anew(tmp_path: Path, content: bytes) -> None:
    """A file that is not sound is not read, and then it is sound again."""
    written = [Written("oom", "Out of memory: Killed")]
    expected = parsed_signatures(written, tmp_path)
    (path,) = tmp_path.iterdir()
    sound = path.read_bytes()
    path.write_bytes(content)

    assert expected == parsed_signatures(written, tmp_path)
    assert sound == path.read_bytes()


def test_changed_signature_is_parsed_anew(tmp_path: Path) -> None:
    """A signature that says something else does not meet the old file."""
    parsed_signatures([Written("oom", "Out of memory")], tmp_path)

    (changed,) = parsed_signatures([Written("oom", "Killed process")], tmp_path)

    assert b"Killed process" == changed.exact
