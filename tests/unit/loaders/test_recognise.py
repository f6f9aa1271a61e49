"""A file is known by its content, whatever its name; junk is not taken for text."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final

import pytest

from failgraph.loaders.parsers.registry import KINDS
from failgraph.loaders.recognise import is_binary, recognise, sample_lines

SAMPLES: Final = Path(__file__).parents[2] / "samples"


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"", "empty"),
        (b"\n \n\t\n", "empty"),
        (bytes(5000), "binary"),
        (b"\x7fELF\x02\x01\x01" + bytes(100), "binary"),
        (b"%PDF-1.7\nlooks like text\n" * 9, "binary"),
        (b"\x80\x02}q\x00(X\x07\x00\x00\x00versionq\x01", "binary"),
        (random.Random(1).randbytes(5000), "binary"),
        ("déjà vu, naïve café\n".encode("latin-1") * 9, "text"),
        (b"just some words\n", "text"),
        (b'{"a": 1}\n', "text"),
        (b"# nThread 1 nGpus 8\n# Using devices\n#  Rank  0 Group  0\n", "text"),
        (b"a,b,c\n1,2,3\n", "text"),
        (b"## Observed\n- it hangs\n", "incident-note"),
        (b"---\nopened: 2026-01-02\n---\nIt hangs.\n", "incident-note"),
        (b"---\nlayout: page\n---\nIt hangs.\n", "incident-note"),
        (b"# A\n\n## What happened\n\nwords\n\n## Impact\n\nwords\n", "incident-note"),
        (b"---\nkey: value\nno end of it\n", "text"),
        (b"[    1.000000] usb 1-1: new device\n" * 3, "kernel-log"),
        (b"\0" * 3000 + b"Feb 22 16:31:02 gpu-a017 kernel: Linux version 6.8\n", "kernel-log"),
        (b"\x1b[33m[    1.000000]\x1b[0m usb 1-1: new device\r\n" * 3, "kernel-log"),
        (
            b"Feb 22 16:31:02 gpu-a017 slurmd[12]: launch\nFeb 22 16:31:02 gpu-a017 kernel: usb\n",
            "kernel-log",
        ),
        (b"h1:1:2 [0] NCCL INFO cudaDriverVersion 12040\n", "nccl-log"),
        (b"[rank0]: Traceback (most recent call last):\n", "job-log"),
        (b"INFO:root:step 1\nINFO:root:step 2\n", "job-log"),
    ],
)
def test_kind_by_content(head: bytes, kind: str) -> None:
    """The first bytes tell the kind."""
    assert kind == recognise(head).name


def test_job_log_with_some_nccl_lines() -> None:
    """A job's output stays one when NCCL writes into it; a log that is mostly NCCL's is NCCL's."""
    job = b"[rank0]: step 1\n[rank0]: step 2\n[rank0]: step 3\n"
    nccl = b"h1:1:2 [0] NCCL INFO Connected all rings\n"

    assert "job-log" == recognise(job + nccl).name
    assert "nccl-log" == recognise(nccl * 20).name


def test_utf16_is_text() -> None:
    """Text that Windows tools saved with a byte order mark is read as what it says."""
    from io import BytesIO

    from failgraph.loaders.stream import Peekable

    raw = "[    1.000000] usb 1-1: new device\r\n[    2.000000] usb 1-2: new device\r\n".encode("utf-16")

    assert "kernel-log" == recognise(Peekable(BytesIO(raw)).peek(65536)).name
    assert is_binary(raw[2:])


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_recognition_survives_a_cut_anywhere(kind: object) -> None:
    """A head that ends in the middle of a line or of a character never fails."""
    for path in sorted((SAMPLES / getattr(kind, "name", "")).glob("*")):
        raw = path.read_bytes()
        for end in range(0, min(len(raw), 2000), 97):
            recognise(raw[:end])


def test_last_line_of_a_full_head_is_left_out() -> None:
    """A head of the full size ends in the middle of a line, which would look like something else."""
    line = b"[    1.000000] usb 1-1: new device\n"
    head = (line * 3000)[: 64 * 1024]

    assert {line[:-1].decode()} == set(sample_lines(head))
