"""Kernel logs as JSON: ``journalctl -o json`` (one object a line) and ``dmesg -J`` (one document).

Both are read line by line, so a file of any size needs no memory. A field of the journal is a text, a list of
bytes when it is no valid UTF-8, null when it was too long, or a list of these when it occurred more than once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from failgraph.loaders.parsers.base import Facts, Kind, share
from failgraph.loaders.parsers.devices import device_in
from failgraph.loaders.parsers.kernel import KERNEL_SOURCE
from failgraph.loaders.times import epoch_stamp

_TIME: Final = re.compile(r'\s*"time": *(\d{1,10}(?:\.\d{1,9})?)')
_MESSAGE: Final = re.compile(r'\s*"msg": *("(?:[^"\\]|\\.)*")')


class JournalRecords:
    """Reads lines of ``journalctl -o json``; a new boot is told by a line of its own, as in the text form."""

    def __init__(self) -> None:
        self._boot: str | None = None

    def read(self, line: bytes) -> list[tuple[bytes, Facts]]:
        """Return the text lines of the record."""
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            return [(line, Facts())]
        if not isinstance(record, dict):
            return [(line, Facts())]
        found: list[tuple[bytes, Facts]] = []
        boot = _text(record.get("_BOOT_ID"))
        if boot and boot != self._boot:
            if self._boot is not None and re.fullmatch(r"[0-9a-f]{8,64}", boot):
                found.append((f"-- Boot {boot} --".encode(), Facts()))
            self._boot = boot
        micros = _text(record.get("__REALTIME_TIMESTAMP")) or ""
        stamp = epoch_stamp(int(micros) / 1e6) if micros.isdecimal() and len(micros) < 20 else None
        host = _text(record.get("_HOSTNAME"))
        # Only the kernel's own transport is believed: any program can write "NVRM: Xid" into the journal.
        is_kernel = _text(record.get("_TRANSPORT")) == "kernel"
        for text in (_text(record.get("MESSAGE")) or "").split("\n"):
            facts = Facts(stamp=stamp, host=host or None, device=device_in(text), kernel=is_kernel)
            found.append((text.encode("utf-8", errors="replace"), facts))
        return found


class DmesgRecords:
    """Reads the lines of the one document that ``dmesg -J`` writes."""

    def __init__(self) -> None:
        self._uptime: float | None = None

    def read(self, line: bytes) -> list[tuple[bytes, Facts]]:
        """Return the text of the record that this line completes."""
        text = line.decode("utf-8", errors="replace")
        if match := _TIME.match(text):
            self._uptime = float(match[1])
            return []
        match = _MESSAGE.match(text)
        if match is None:
            return []
        try:
            message = str(json.loads(match[1]))
        except ValueError:
            message = match[1]
        found = []
        for part in message.split("\n"):
            facts = Facts(uptime=self._uptime, device=device_in(part), kernel=True)
            found.append((part.encode("utf-8", errors="replace"), facts))
        return found


def _text(value: Any) -> str | None:
    """Return a field of the journal as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        if all(isinstance(item, int) and 0 <= item < 256 for item in value):
            return bytes(value).decode("utf-8", errors="replace")
        return "\n".join(part for item in value if (part := _text(item)) is not None)
    return None


def journal_score(lines: Sequence[str]) -> float:
    """Return how well these lines fit ``journalctl -o json``."""
    return share(lines, lambda line: line.startswith("{") and '"__REALTIME_TIMESTAMP"' in line)


def dmesg_score(lines: Sequence[str]) -> float:
    """Return how well these lines fit ``dmesg -J``."""
    return 1.0 if any('"dmesg":' in line for line in lines[:3]) and lines[0].startswith("{") else 0.0


KERNEL_JOURNAL: Final = Kind(
    name="kernel-log-journal",
    title="kernel log as JSON of the journal",
    reads="journalctl -o json, one object a line",
    sources=(KERNEL_SOURCE, "journal"),
    score=journal_score,
    records=JournalRecords,
)
KERNEL_JSON: Final = Kind(
    name="kernel-log-json",
    title="kernel log as JSON of dmesg",
    reads="dmesg -J",
    sources=(KERNEL_SOURCE,),
    score=dmesg_score,
    records=DmesgRecords,
)
