"""Bad input ends in one clear sentence, and never keeps the good input from being read."""

from __future__ import annotations

import os
import tempfile
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from failgraph.loaders.stream import Limits
from failgraph.schema.errors import FailgraphError, NothingReadError, UsageError
from failgraph.schema.exchange import State, to_json
from tests.small_lexicon import (
    HUNG,
    XID,
    finding_of,
    read_small,
    states_of,
)


def test_empty_directory(tmp_path: Path) -> None:
    """Nothing to read is an error of its own, with its exit code."""
    with pytest.raises(NothingReadError, match="there is no file in") as caught:
        read_small(tmp_path)
    assert 3 == caught.value.exit_code


def test_nothing_readable(tmp_path: Path) -> None:
    """When no file can be read, the message says why for the first ones."""
    (tmp_path / "a").write_bytes(b"\x7fELF" + bytes(100))
    (tmp_path / "b").write_bytes(b"")
    (tmp_path / "c").write_bytes(b"PK\x03\x04")
    (tmp_path / "d").symlink_to("gone")

    with pytest.raises(NothingReadError) as caught:
        read_small(tmp_path)
    assert "a (it is binary), b (it is empty), c (the archive is damaged or ends early) and 1 more" in str(
        caught.value
    )


def test_missing_argument(tmp_path: Path) -> None:
    """A path that is not there is named."""
    with pytest.raises(NothingReadError, match="no such file"):
        read_small(tmp_path / "gone.log")


def test_unreadable_file_is_listed_beside_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file that may not be read does not keep the others from being read."""
    (tmp_path / "a.log").write_text("words\n")
    (tmp_path / "b.log").write_text(f"[    1.000000] {XID}\n")
    really = os.open

    def refuse(path: Path, *rest: int) -> int:
        if Path(path).name == "a.log":
            raise PermissionError(13, "Permission denied")
        return really(path, *rest)

    monkeypatch.setattr(os, "open", refuse)
    incident = read_small(tmp_path)

    assert ("a.log", "unreadable", "it cannot be opened: permission denied") == (
        incident.readings[0].file,
        incident.readings[0].kind,
        incident.readings[0].problem,
    )
    assert {"xid-79": {"present"}} == states_of(incident)


def test_binary_junk_is_not_searched(tmp_path: Path) -> None:
    """Binary files are listed as such, even when a signature is in them."""
    (tmp_path / "core").write_bytes(b"\x7fELF" + bytes(100) + XID.encode() + bytes(100))
    (tmp_path / "log").write_text("words\n")
    incident = read_small(tmp_path)

    assert ["binary", "text"] == [reading.kind for reading in incident.readings]
    assert {} == states_of(incident)


def test_huge_line(tmp_path: Path) -> None:
    """A line of 200 MB is cut, the lines around it are read, and the reading says it."""
    with (tmp_path / "log").open("wb") as file:
        file.write(f"[    1.000000] {XID}\n[    2.000000] x".encode())
        for _ in range(200):
            file.write(b"x" * 1_000_000)
        file.write(f"\n[    3.000000] {HUNG}\n".encode())
    incident = read_small(tmp_path)

    assert {"xid-79", "hung-task"} == {
        str(f.observable) for f in incident.findings if f.state is State.PRESENT
    }
    assert [3] == [where.line for where in finding_of(incident, "hung-task").where]
    assert (3, True, "a line longer than 64 KiB cut") == (
        incident.readings[0].lines,
        incident.readings[0].truncated,
        incident.readings[0].problem,
    )


def test_only_the_beginning_of_a_long_line_is_searched(tmp_path: Path) -> None:
    """What lies behind the limit of a line is not found, wherever the blocks of the file end."""
    (tmp_path / "log").write_text(f"[    1.000000] x{'y' * 100_000}{XID}\n[    2.000000] {HUNG}\n")

    assert "xid-79" not in {f.observable for f in read_small(tmp_path).findings if f.state is State.PRESENT}


def test_invalid_utf8(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 are shown as a mark and disturb nothing."""
    (tmp_path / "log").write_bytes(b"[    1.000000] \xff\xfe " + XID.encode() + b" \xc3\n")

    (where,) = finding_of(read_small(tmp_path), "xid-79").where
    assert f"[    1.000000] \ufffd\ufffd {XID} \ufffd" == where.quote


def test_zip_bomb(tmp_path: Path) -> None:
    """A bomb is left, named, and does not keep the other files from being read."""
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros.log", b"[    1.000000] x\n" * (1 << 20))
    (tmp_path / "log").write_text(f"[    1.000000] {XID}\n")
    incident = read_small(tmp_path, limits=Limits(ratio=50, ratio_from=1 << 20))

    assert {"present"} == states_of(incident)["xid-79"]
    reading = incident.readings[0]
    assert ("bomb.zip/zeros.log", True) == (reading.file, reading.truncated)
    assert reading.problem is not None
    assert "unpacks to over 50 times its size" in reading.problem


def test_link_loop(tmp_path: Path) -> None:
    """A directory that contains itself is read once."""
    (tmp_path / "log").write_text(f"[    1.000000] {XID}\n")
    (tmp_path / "again").symlink_to(tmp_path)

    assert 1 == finding_of(read_small(tmp_path), "xid-79").count


def test_secret_in_a_log_line(tmp_path: Path) -> None:
    """A secret on a line that is quoted is hidden."""
    (tmp_path / "log").write_text(
        "[rank0]: OSError: [Errno 28] No space left on device: s3://key:hunter2@bucket token=ghp_abcdefghijklmnopqrstuv\n"
        "[rank0]: done\n"
    )
    (tmp_path / "note.md").write_text("## Observed\n\n- the password=hunter2 is right\n")
    text = to_json(read_small(tmp_path))

    assert "hunter2" not in text
    assert "ghp_" not in text
    assert "s3://key:[masked: password]@bucket token=[masked: secret]" in text


def test_terminal_controls_in_a_log_line(tmp_path: Path) -> None:
    """Nothing that a line can contain reaches a terminal as a command."""
    (tmp_path / "log").write_bytes(
        b"[    1.000000] " + XID.encode() + b"\x1b]0;title\x07\x1b[2J\x9b31m\x08\x7f\xe2\x80\xae\n"
    )
    incident = read_small(tmp_path)

    quotes = [where.quote or "" for where in finding_of(incident, "xid-79").where]
    assert [f"[    1.000000] {XID}\ufffd31m"] == quotes
    assert not [character for character in incident.text or "" if character < " " and character != "\n"]


def test_bad_note_names_its_line(tmp_path: Path) -> None:
    """An unknown key in a note ends the run with file and line."""
    (tmp_path / "note.md").write_text("---\nopened: 2026-01-02\nsevrity: high\n---\n## Observed\n- x\n")

    with pytest.raises(UsageError) as caught:
        read_small(tmp_path)
    assert str(caught.value).startswith("note.md:3:1: a note has no key `sevrity`")


def test_bad_window_in_a_note_names_the_note(tmp_path: Path) -> None:
    """A window in a note that cannot be read names the note."""
    (tmp_path / "note.md").write_text("---\nwindow: soon\n---\nx\n")

    with pytest.raises(FailgraphError, match=r"^note.md: 'soon' is no window"):
        read_small(tmp_path)


def test_bad_json_lines(tmp_path: Path) -> None:
    """Lines of a journal that are no records, or records of odd shape, are searched as they are."""
    lines = [
        '{"__REALTIME_TIMESTAMP": "1", "MESSAGE": "x"}',
        '{"__REALTIME_TIMESTAMP": "99999999999999999999", "_BOOT_ID": 7, "MESSAGE": {"a": 1}}',
        '{"__REALTIME_TIMESTAMP": ' + "[" * 5000,
        f'{{"__REALTIME_TIMESTAMP": "1771777458285060", "MESSAGE": "{XID}"',
        "[1, 2]",
        '{"__REALTIME_TIMESTAMP": "1771777458285060", "MESSAGE": [300, -1], "_HOSTNAME": null}',
    ]
    (tmp_path / "journal").write_text("\n".join(lines) + "\n")
    incident = read_small(tmp_path)

    assert "kernel-log-journal" == incident.readings[0].kind
    assert {"xid-79": {"present"}} == states_of(incident)


SAMPLE_BYTES: Final = [
    path.read_bytes()
    for path in sorted((Path(__file__).parents[2] / "samples").glob("*-*/*"))
    if not path.name.endswith(".json")
]
JUNK: Final = st.sampled_from(
    [
        b"\n",
        b"\r",
        b"\0" * 50,
        b"\x1b[",
        b'"',
        b"[" * 40,
        b"---\n",
        b"9" * 20,
        b"\xff\xfe",
        b"0001-01-01T00:00:00+14:00 h kernel: ",
    ]
)


@given(
    st.sampled_from(SAMPLE_BYTES),
    st.lists(st.tuples(st.floats(0, 1), JUNK | st.binary(max_size=12), st.integers(0, 60)), max_size=8),
    st.sampled_from(["UTC", "+14:00", "-12:00"]),
)
@settings(max_examples=80, deadline=None, database=None)
def test_nothing_a_file_can_contain_breaks_reading(
    raw: bytes, changes: list[tuple[float, bytes, int]], zone: str
) -> None:
    """However a file is damaged, reading it ends in findings or in one of our own errors."""
    for place, piece, removed in changes:
        at = int(place * len(raw))
        raw = raw[:at] + piece + raw[at + removed :]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        path.write_bytes(raw)
        with suppress(FailgraphError):
            read_small(path, timezone=zone)
