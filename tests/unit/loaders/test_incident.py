"""An incident directory becomes findings: counts, confidence, places, notes and prose."""

from __future__ import annotations

import gzip
import io
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from failgraph.loaders.incident import read_text
from failgraph.loaders.scanner import Scanner
from failgraph.loaders.stream import Limits
from failgraph.schema.exchange import to_json
from tests.small_lexicon import (
    HUNG,
    XID,
    WholePhrases,
    boot_log,
    finding_of,
    read_small,
    small_lexicon,
    small_scanner,
    states_of,
)


def test_findings_are_numbered_in_order(tmp_path: Path) -> None:
    """Findings come by observable and state, with ids f1, f2 and so on."""
    (tmp_path / "log").write_text(f"[    1.000000] {XID}\n[    2.000000] {HUNG}\n")

    assert [("f1", "hung-task"), ("f2", "xid-79")] == [
        (f.id, f.observable) for f in read_small(tmp_path).findings
    ]


def test_files_of_one_incident_are_counted_together(tmp_path: Path) -> None:
    """One finding counts all lines of all files; the first five places and the last one are kept."""
    for name in ("a", "b", "c"):
        lines = [f"2026-02-22T16:24:{second:02d}Z {name} kernel: {XID}\n" for second in range(4)]
        (tmp_path / f"{name}.log").write_text("".join(lines))

    finding = finding_of(read_small(tmp_path), "xid-79")
    assert 12 == finding.count
    assert ("2026-02-22T16:24:00Z", "2026-02-22T16:24:03Z") == (finding.first, finding.last)
    assert [("a.log", 1), ("a.log", 2), ("a.log", 3), ("a.log", 4), ("b.log", 1), ("c.log", 4)] == [
        (where.file, where.line) for where in finding.where
    ]


def test_flood_costs_little_and_is_counted_exactly(tmp_path: Path) -> None:
    """A hundred thousand lines of one message are one finding with the right count, first and last time."""
    lines = [
        f"2026-02-22T{8 + number // 10000:02d}:{number // 1000 % 10:02d}:{number % 60:02d}Z gpu-a017 kernel: {XID}\n"
        for number in range(100_000)
    ]
    (tmp_path / "log").write_text("".join(lines))

    finding = finding_of(read_small(tmp_path), "xid-79")
    assert 100_000 == finding.count
    assert ("2026-02-22T08:00:00Z", "2026-02-22T17:09:39Z") == (finding.first, finding.last)
    assert [1, 2, 3, 4, 5, 100_000] == [where.line for where in finding.where]


def test_confidence_is_that_of_the_source(tmp_path: Path) -> None:
    """A log of the right kind is believed, one of another kind a little less, plain text less still."""
    (tmp_path / "kernel").write_text(f"[    1.000000] {XID}\n[    2.000000] usb 1-1: new device\n")
    (tmp_path / "job").write_text(f"[rank0]: {HUNG}\n[rank1]: step\n")
    (tmp_path / "paste").write_text("x;y\n" * 9 + "No space left on device\n")
    incident = read_small(tmp_path)

    assert [1.0, 0.95, 0.9] == [
        finding_of(incident, name).confidence for name in ("xid-79", "hung-task", "disk-full")
    ]


def test_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    """The result depends on the content alone: not on the order of the directory, the engine or the name of the path."""
    for folder, names in (("one", ("b", "a")), ("two", ("a", "b"))):
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / name).write_text(f"[    1.000000] {XID} {name}\n")
    expected = to_json(read_small(tmp_path / "one"))

    assert expected == to_json(read_small(tmp_path / "two"))
    for engine in ("re2", "re"):
        assert expected == to_json(
            read_small(tmp_path / "one", scanner=Scanner(small_lexicon(), engine=engine))
        )


def test_no_absolute_path_is_given_out(tmp_path: Path) -> None:
    """Whatever was named, the result names files relative to it."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/log").write_text(f"[    1.000000] {XID}\n")
    (tmp_path / "in/broken").symlink_to(tmp_path / "gone")
    (tmp_path / "in/a.zip").write_bytes(b"PK\x03\x04")

    for paths in ([tmp_path / "in"], [tmp_path / "in/log"], [tmp_path / "in", tmp_path / "in/log"]):
        assert str(tmp_path) not in to_json(read_small(*paths))


def test_everything_in_an_archive_is_the_same_incident(tmp_path: Path) -> None:
    """A packed directory gives what the directory gives."""
    content = {"note.md": "## Observed\n\n- all ranks hang\n", "host/dmesg": f"[    1.000000] {XID}\n"}
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for name, text in content.items():
            archive.writestr(name, text)

    incident = read_small(tmp_path / "x.zip")
    assert {"hang": {"present"}, "xid-79": {"present"}} == states_of(incident)
    assert ["x.zip/host/dmesg", "x.zip/note.md"] == [reading.file for reading in incident.readings]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dash reads standard input, packed or not."""
    for data in (f"[    1.000000] {XID}\n".encode(), gzip.compress(f"[    1.000000] {XID}\n".encode())):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        incident = read_small(Path("-"))
        assert {"xid-79": {"present"}} == states_of(incident)
        assert ["-"] == [where.file for where in finding_of(incident, "xid-79").where]


def test_progress_ends_at_the_total(tmp_path: Path) -> None:
    """The progress goes up to the size of all files."""
    (tmp_path / "a").write_text(f"[    1.000000] {XID}\n" * 1000)
    (tmp_path / "b").write_text("words\n")
    told: list[tuple[int, int]] = []

    read_small(tmp_path, progress=lambda done, total: told.append((done, total)))
    total = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert told == sorted(told)
    assert (total, total) == told[-1]


def test_signatures_over_several_lines_of_one_rank(tmp_path: Path) -> None:
    """Lines of other ranks in between do not matter; more than fifty lines apart is no match."""
    block = ["Remapped Rows", "  Correctable Error : 0", "  Pending : Yes"]
    mixed = [f"[rank{rank}]: {line}" for line in block for rank in (0, 1)]
    (tmp_path / "job").write_text("\n".join(["[rank0]: start"] * 5 + mixed) + "\n")

    finding = finding_of(read_small(tmp_path), "remap-pending")
    assert 2 == finding.count
    assert [(6, 0), (7, 1)] == [(where.line, where.rank) for where in finding.where]

    (tmp_path / "job").write_text(
        "[rank0]: Remapped Rows\n" + "[rank1]: x\n" * 60 + "[rank0]: Pending : Yes\n"
    )
    assert {} == states_of(read_small(tmp_path))


@pytest.mark.parametrize("block", [64, 100, 1000])
def test_signatures_over_the_end_of_a_block(tmp_path: Path, block: int) -> None:
    """Where the file is cut into blocks does not matter for what spans lines."""
    text = "".join(f"filler {number}\n" for number in range(30))
    (tmp_path / "smi").write_text(f"{text}    Remapped Rows\n        Pending : Yes\n{text}")

    finding = finding_of(read_small(tmp_path, limits=Limits(block=block)), "remap-pending")
    assert [31] == [where.line for where in finding.where]


# -- notes and prose


def test_prose_and_signature_in_one_statement(tmp_path: Path) -> None:
    """A denied log text is absent, however it is quoted; a quoted line under Observed is present."""
    (tmp_path / "note.md").write_text(
        "## Observed\n\n- no `No space left on device` anywhere\n- `CUDA error: uncorrectable ECC error` on rank 3\n"
    )

    assert {"disk-full": {"absent"}, "ecc-error": {"present"}} == states_of(read_small(tmp_path))


def test_unattached_statements_are_kept(tmp_path: Path) -> None:
    """What could not be attached is given out with its place and the nearest observables."""
    (tmp_path / "note.md").write_text("## Observed\n\n- the fans are loud\n- 2026-02-22\n")
    (statement,) = read_small(tmp_path).unattached

    assert ("the fans are loud", 3, ("hang",)) == (
        statement.text,
        statement.where.line,
        tuple(near.observable for near in statement.nearest),
    )


def test_typed_words() -> None:
    """A few words at a prompt are prose, a pasted line is searched, and neither proves an absence."""
    options: dict[str, Any] = {"scanner": small_scanner(), "phrase_index": WholePhrases(), "timezone": "UTC"}

    assert {"hang": {"present"}} == states_of(read_text("ranks hang", small_lexicon(), **options))
    mixed = read_text(f"ranks hang and dmesg says\n[    1.000000] {XID}\n", small_lexicon(), **options)
    assert {"hang": {"present"}, "xid-79": {"present"}} == states_of(mixed)
    assert {} == states_of(read_text(boot_log(), small_lexicon(), **options))
    note = read_text(
        "---\nid: x\nwindow: 2026-02-22T16:00Z/1h\n---\n## Observed\n- ranks hang\n",
        small_lexicon(),
        **options,
    )
    assert ("x", {"hang": {"present"}}) == (note.id, states_of(note))
