"""What belongs to the incident's time, and what the silence of a complete log says."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path
from typing import Final

import pytest

from failgraph.schema.errors import UsageError
from failgraph.schema.exchange import State
from tests.small_lexicon import (
    HUNG,
    XID,
    boot_log,
    finding_of,
    read_small,
    small_lexicon,
    states_of,
)

SAMPLES: Final = Path(__file__).parents[2] / "samples"
KERNEL_SOURCES: Final = {entry.id for entry in small_lexicon().entries if entry.source == "kernel log"}


# -- time


def test_window_makes_what_is_outside_stale(tmp_path: Path) -> None:
    """Inside the window a finding is present, outside it is stale; without a known time it counts."""
    lines = [f"2026-02-22T{hour}:00:00Z gpu-a017 kernel: {XID}" for hour in ("10", "16", "22")]
    (tmp_path / "log").write_text("\n".join(lines) + "\n")
    (tmp_path / "raw").write_text(f"[    1.000000] {HUNG}\n")
    incident = read_small(tmp_path, window="2026-02-22T15:30Z/1h")

    assert {"hung-task": {"present"}, "xid-79": {"present", "stale"}} == states_of(incident)
    assert (1, 2) == (finding_of(incident, "xid-79").count, finding_of(incident, "xid-79", State.STALE).count)
    assert incident.window is not None
    assert "2026-02-22T16:30:00Z" == incident.window.end


def test_earlier_boots_are_stale_without_a_window() -> None:
    """Of several boots the last one counts."""
    incident = read_small(SAMPLES / "kernel-log/boots.log")

    assert {"present"} == states_of(incident)["cable-unplugged"]
    assert {"stale"} == states_of(incident)["xid-79"] == states_of(incident)["xid-63"]


def test_crash_and_restart_inside_the_window_are_one_incident() -> None:
    """With a window, lines of the boot that crashed count as well as those after it; older ones do not."""
    incident = read_small(SAMPLES / "kernel-log/boots.log", window="2026-02-22T16:00Z/1h")

    assert {"present"} == states_of(incident)["xid-79"] == states_of(incident)["cable-unplugged"]
    assert {"stale"} == states_of(incident)["xid-63"]


def test_time_without_zone_is_assumed_and_said(tmp_path: Path) -> None:
    """A local time is read in the named zone, and the result says so; a time with a zone needs none."""
    (tmp_path / "log").write_text(f"[Sun Feb 22 16:24:18 2026] {XID}\n")
    incident = read_small(tmp_path, timezone="Europe/Berlin")

    assert "2026-02-22T15:24:18Z" == finding_of(incident, "xid-79").first
    assert "Europe/Berlin" == incident.assumed_timezone
    (tmp_path / "log").write_text(f"2026-02-22T16:24:18+02:00 gpu-a017 kernel: {XID}\n")
    assert None is read_small(tmp_path, timezone="Europe/Berlin").assumed_timezone


def test_year_is_taken_from_what_is_near(tmp_path: Path) -> None:
    """A time without a year is placed by another file, by a note or by the window; without any it stays unknown."""
    (tmp_path / "kern.log").write_text(f"Dec 31 23:59:58 gpu-a017 kernel: {XID}\n")
    assert None is finding_of(read_small(tmp_path), "xid-79").first
    assert (
        "2025-12-31T23:59:58Z"
        == finding_of(read_small(tmp_path, window="2025-12-31T23:30Z/2h"), "xid-79").first
    )

    (tmp_path / "job").write_text("[2026-01-01 00:10:00,000] [INFO] [x.py:1:f] step\n")
    assert "2025-12-31T23:59:58Z" == finding_of(read_small(tmp_path), "xid-79").first
    (tmp_path / "job").unlink()
    (tmp_path / "note.md").write_text("---\nopened: 2025-01-02\n---\nIt hangs.\n")
    assert "2024-12-31T23:59:58Z" == finding_of(read_small(tmp_path), "xid-79").first


def test_window_of_a_note_inside_an_archive(tmp_path: Path) -> None:
    """A note may come behind the logs it speaks of: its window holds for them all the same."""
    members = {
        "a.log": f"2026-02-22T10:00:00Z gpu-a017 kernel: {XID}\n",
        "z.md": "---\nwindow: 2026-02-22T16:00Z/1h\n---\nx\n",
    }
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))

    incident = read_small(tmp_path / "x.tar")
    assert {"xid-79": {"stale"}} == states_of(incident)
    assert 2 == len(incident.readings)


@pytest.mark.parametrize(
    "window", ["soon", "2026-02-22T16:00Z", "2026-02-22T16:00Z/later", "2026-02-22T16:00Z/0h"]
)
def test_wrong_window_is_refused(tmp_path: Path, window: str) -> None:
    """The message shows how a window is written."""
    (tmp_path / "log").write_text("words\n")

    with pytest.raises(UsageError, match="2026-01-02T03:00Z/2h"):
        read_small(tmp_path, window=window)


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../../etc/passwd", "", "+99:00"])
def test_wrong_zone_is_refused(tmp_path: Path, zone: str) -> None:
    """The message shows how a zone is written."""
    with pytest.raises(UsageError, match="Europe/Berlin"):
        read_small(tmp_path, timezone=zone)


# -- what silence says


def test_boot_log_says_what_did_not_happen(tmp_path: Path) -> None:
    """A kernel log from the boot on makes every kernel observable that is not in it absent."""
    (tmp_path / "dmesg").write_text(boot_log(extra=XID))
    incident = read_small(tmp_path)

    absent = {str(f.observable) for f in incident.findings if f.state is State.ABSENT}
    assert KERNEL_SOURCES - {"xid-79"} == absent
    finding = finding_of(incident, "hung-task", State.ABSENT)
    assert (0.95, 1.0, "dmesg", None) == (
        finding.confidence,
        finding.coverage,
        finding.where[0].file,
        finding.where[0].line,
    )
    assert incident.readings[0].complete


@pytest.mark.parametrize(
    "text",
    [
        boot_log().split("\n", 1)[1],
        boot_log(lines=30),
        "".join(
            line + "\n" for line in boot_log(lines=800).splitlines() if "usb" in line or "version" in line
        ),
    ],
    ids=["begins later", "a few lines", "filtered"],
)
def test_excerpt_says_nothing_by_its_silence(tmp_path: Path, text: str) -> None:
    """Without the kernel's first line, with a few lines or when it was filtered, a log proves nothing."""
    (tmp_path / "dmesg").write_text(text)
    incident = read_small(tmp_path)

    assert {} == states_of(incident)
    assert not incident.readings[0].complete


@pytest.mark.parametrize(
    ("window", "complete"),
    [("2026-02-22T16:10Z/30m", True), ("2026-02-22T15:10Z/30m", False), ("2026-02-22T16:30Z/1h", False)],
)
def test_log_that_covers_the_window(tmp_path: Path, window: str, complete: bool) -> None:
    """A log is complete for a window when its times enclose it."""
    (tmp_path / "kern.log").write_text(boot_log().split("\n", 1)[1])

    assert complete == read_small(tmp_path, window=window).readings[0].complete


def test_stale_and_absent_at_once(tmp_path: Path) -> None:
    """Seen long ago and not in the window: both are said."""
    (tmp_path / "kern.log").write_text(boot_log(at="2026-02-22T15", extra=XID) + boot_log().split("\n", 1)[1])

    assert {"stale", "absent"} == states_of(read_small(tmp_path, window="2026-02-22T16:10Z/30m"))["xid-79"]


@pytest.mark.parametrize(
    ("others", "coverage"),
    [
        ("", 1.0),
        (
            "[2026-02-22 16:00:00] gpu-b1:1:2 [0] NCCL WARN x\n[2026-02-22 16:00:00] gpu-b2:1:2 [0] NCCL WARN x\n",
            1 / 3,
        ),
        (
            "h:1:2 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 512 cudaDev 0 nvmlDev 0 - Init START\n",
            1 / 64,
        ),
    ],
)
def test_coverage_is_the_share_of_the_hosts(tmp_path: Path, others: str, coverage: float) -> None:
    """One host's log says little about many: hosts and ranks that other files name count."""
    (tmp_path / "dmesg").write_text(boot_log())
    if others:
        (tmp_path / "nccl").write_text(others)

    assert coverage == pytest.approx(finding_of(read_small(tmp_path), "xid-79", State.ABSENT).coverage)


def test_coverage_by_the_context_of_a_note(tmp_path: Path) -> None:
    """A note says how many nodes there are."""
    (tmp_path / "a.log").write_text(boot_log(host="gpu-a017"))
    (tmp_path / "b.log").write_text(boot_log(host="gpu-a018.cluster"))
    (tmp_path / "note.md").write_text("---\ncontext: {nodes: 8}\n---\nx\n")

    assert 0.25 == finding_of(read_small(tmp_path), "xid-79", State.ABSENT).coverage


def test_log_that_names_no_host(tmp_path: Path) -> None:
    """When nothing tells how many hosts there are, a log covers half of what is unknown."""
    raw = "".join(
        f"[{number:5d}.000000] {line.split('kernel: ')[1]}\n"
        for number, line in enumerate(boot_log().splitlines())
    )
    (tmp_path / "dmesg").write_text(raw)

    assert 0.5 == finding_of(read_small(tmp_path), "xid-79", State.ABSENT).coverage


def test_cut_log_could_not_be_checked(tmp_path: Path) -> None:
    """A log that ends early leaves open what is not in it."""
    packed = gzip.compress(boot_log(lines=4000, extra=HUNG).encode())
    (tmp_path / "dmesg.gz").write_bytes(packed[:-50])
    incident = read_small(tmp_path)

    assert {"could_not_check"} == states_of(incident)["xid-79"]
    assert {"present"} == states_of(incident)["hung-task"]
    assert (True, "the compressed data ends early") == (
        incident.readings[0].truncated,
        incident.readings[0].problem,
    )


def test_complete_log_outweighs_a_cut_one(tmp_path: Path) -> None:
    """Where one log is complete, a cut one of the same kind leaves nothing open; both are listed."""
    (tmp_path / "a").write_text(boot_log())
    (tmp_path / "b.gz").write_bytes(gzip.compress(boot_log(lines=4000).encode())[:-50])

    assert {"absent"} == states_of(read_small(tmp_path))["xid-79"]
