"""What the silence of a file says: nothing, unless the file is proven to be complete.

A kernel log is complete for the time since a boot when it begins at that boot's first line, and for a window when
its first and last time enclose the window. Then each observable of its source that was not found is *absent*, with
the share of the affected hosts that were looked at. A file that was cut says *could not check*. Excerpts, pastes and
logs that look filtered say nothing. The tests for an excerpt are on the safe side on purpose: a wrong *absent* costs
more than a missing one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from failgraph.loaders.ledger import Draft
from failgraph.loaders.parsers.kernel import KERNEL_SOURCE
from failgraph.loaders.parsers.nccl import NCCL_LOG
from failgraph.loaders.tally import PLACES, FileRecord, Tally
from failgraph.schema.exchange import State
from failgraph.schema.lexicon import LexiconEntry

ABSENCE_CONFIDENCE: Final = 0.95
"""Chance that a complete log would have shown it: messages are rate limited, levels are set too low."""
UNKNOWN_FLEET_COVERAGE: Final = 0.5
"""Coverage when no file says how many hosts are affected."""
BOOT_LINES: Final = 100
"""A log that begins at a boot is longer than this; a shorter one is an excerpt."""
WINDOW_LINES: Final = 50
"""A log that covers a window is longer than this; a shorter one is an excerpt."""
KERNEL_WORDS: Final = 6
"""A kernel log that was not filtered has lines of at least so many parts of the kernel."""
USUAL_GPUS: Final = 8
"""GPUs of a host, to tell a number of hosts from a number of ranks."""

Window = tuple[datetime, datetime]


@dataclass(frozen=True)
class Fleet:
    """The affected machines, as far as the files name them.

    Attributes:
        hosts: their short names.
        size: how many there are at least; 0: nothing is known.
    """

    hosts: frozenset[str]
    size: int


def fleet_of(records: Iterable[FileRecord], said: int = 0) -> Fleet:
    """Return the affected machines: those named, or more if ranks or a note speak of more.

    Args:
        records: the files.
        said: number of hosts in a note's context; 0: not said.
    """
    hosts: set[str] = set()
    ranks = 0
    for record in records:
        hosts.update(map(short_host, record.hosts))
        ranks = max(ranks, record.ranks)
    return Fleet(frozenset(hosts), max(len(hosts), -(-ranks // USUAL_GPUS), said))


def short_host(name: str) -> str:
    """Return a host's name without its domain; addresses stay whole.

    >>> short_host("gpu-a017.cluster.example"), short_host("192.0.2.17")
    ('gpu-a017', '192.0.2.17')
    """
    first = name.split(".", 1)[0]
    return name if first.isdigit() else first.lower()


def counts(tally: Tally, record: FileRecord, window: Window | None) -> bool:
    """Return whether lines belong to the incident; if not, they are stale.

    Without a window only the last boot counts. With one, lines whose time is known count when it lies inside,
    whatever the boot: a crash and the restart after it are one incident. Of lines without a time, those of the last
    boot that overlaps the window count.
    """
    if tally.outside:
        return False
    if len(record.boots) == 1 or (window is not None and tally.first is not None):
        return True
    overlapping = _overlapping_boots(record, window)
    return bool(overlapping) and tally.boot == overlapping[-1]


def is_complete(record: FileRecord, window: Window | None) -> bool:
    """Return whether what is not in the file did not happen (in the window, or since the last boot)."""
    if not record.sources or record.truncated:
        return False
    if record.kind == NCCL_LOG.name:
        return False  # most of its lines have no time, and its level is not known
    is_kernel = KERNEL_SOURCE in record.sources
    if is_kernel and len(record.words) < KERNEL_WORDS:
        return False
    if window is None:
        return is_kernel and record.boots[-1].at_banner and record.lines - record.boots[-1].line >= BOOT_LINES
    if record.lines < WINDOW_LINES or record.first is None or record.last is None:
        return False
    boots = _overlapping_boots(record, window)
    starts_early = record.first <= window[0] or (
        is_kernel and bool(boots) and record.boots[boots[0]].at_banner
    )
    return starts_early and record.last >= window[1]


def silence(
    records: Sequence[FileRecord],
    entries: Sequence[LexiconEntry],
    present: Collection[str],
    window: Window | None,
    fleet: Fleet,
) -> list[Draft]:
    """Return what complete files show to be absent and what cut files leave open.

    Args:
        records: the files.
        entries: the observables that are searched for in logs.
        present: observables that were found.
        window: the incident's time, where known.
        fleet: the affected machines.
    """
    drafts: list[Draft] = []
    sources = sorted({source for record in records for source in record.sources})
    for source in sources:
        own = [record for record in records if source in record.sources]
        complete = [record for record in own if is_complete(record, window)]
        cut = [record for record in own if record.truncated]
        if not complete and not cut:
            continue
        state = State.ABSENT if complete else State.COULD_NOT_CHECK
        coverage = _coverage(complete, fleet) if complete else 0.0
        for entry in entries:
            if entry.source == source and entry.id not in present:
                draft = Draft(entry.id, state, ABSENCE_CONFIDENCE if complete else 1.0, coverage)
                for record in (complete or cut)[:PLACES]:
                    draft.add_file(record)
                drafts.append(draft)
    return drafts


def _coverage(complete: Sequence[FileRecord], fleet: Fleet) -> float:
    named = {short_host(host) for record in complete for host in record.hosts}
    looked_at = max(len(named), len(complete) if not named else 1)
    if not fleet.size:
        return UNKNOWN_FLEET_COVERAGE
    return min(1.0, looked_at / fleet.size)


def _overlapping_boots(record: FileRecord, window: Window | None) -> list[int]:
    """Return the boots that overlap the window, in order; without a window, or without any times, the last one."""
    last = len(record.boots) - 1
    if window is None or (last > 0 and all(boot.start is None for boot in record.boots[1:])):
        return [last]
    overlapping = []
    for position, boot in enumerate(record.boots):
        start = boot.start or (record.first if position == 0 else None)
        end = record.boots[position + 1].start if position < last else record.last
        if (start is None or start <= window[1]) and (end is None or end >= window[0]):
            overlapping.append(position)
    return overlapping
