"""NCCL logs: ``[TIME ]HOST:PID:TID [GPU] [FILE:LINE [(FUNC) ]]NCCL LEVEL TEXT``, behind any launcher's prefix.

No line names a rank; a launcher may, or the Init lines of the same process do (see :func:`rank_of_init`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from failgraph.loaders.parsers.base import Facts, Kind, share
from failgraph.loaders.parsers.launchers import LauncherPrefixes
from failgraph.loaders.times import iso_stamp

LINE: Final = re.compile(
    r"(?:\[(?P<time>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d{1,9})?)\] ?)?"
    r"(?P<host>[A-Za-z0-9][\w.-]{0,252}):(?P<pid>\d{1,9}):(?P<tid>\d{1,9}) \[(?P<gpu>\d{1,3})\] "
    r"(?:\S{1,200}:\d+ (?:\(\w{1,100}\) )?)?NCCL (?P<level>[A-Z]{4,7}) ?"
)
_OTHER: Final = re.compile(r"NCCL version \d|(?:\S{1,200}:\d+ (?:\(\w{1,100}\) )?)?NCCL (?:INFO|WARN|ERROR) ")
_INIT: Final = re.compile(r"rank (?P<rank>\d{1,7}) nranks (?P<size>\d{1,7}) cudaDev (?P<gpu>\d{1,3})")


class InitLine(NamedTuple):
    """The process, its rank in a communicator, and the communicator's size."""

    process: tuple[str, int]
    rank: int
    size: int


class NcclParser:
    """Reads lines of an NCCL log.

    Args:
        lines: the first lines of the file.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self._prefixes = LauncherPrefixes(lines)

    def facts(self, line: bytes) -> Facts:
        """Return what the line tells."""
        text = line.decode("latin-1")
        launched = self._prefixes.take(text)
        match = LINE.match(text, launched.start)
        if match is None:
            return Facts(start=launched.start, stamp=launched.stamp, host=launched.host, rank=launched.rank)
        return Facts(
            start=match.end(),
            stamp=(iso_stamp(match["time"]) if match["time"] else None) or launched.stamp,
            host=match["host"],
            rank=launched.rank,
            process=(match["host"], int(match["pid"])),
            device=match["gpu"],
        )


def rank_of_init(line: bytes, facts: Facts) -> InitLine | None:
    """Return the rank that an Init line gives its process; None if it is no such line.

    A process has a rank in each communicator; the one in the largest is taken for its global rank.
    """
    match = _INIT.search(line.decode("latin-1"))
    if match is None or facts.process is None:
        return None
    return InitLine(facts.process, int(match["rank"]), int(match["size"]))


def nccl_score(lines: Sequence[str]) -> float:
    """Return how well these lines fit an NCCL log."""
    prefixes = LauncherPrefixes(lines)

    def fits(line: str) -> bool:
        start = prefixes.take(line).start
        return LINE.match(line, start) is not None or _OTHER.match(line, start) is not None

    return share(lines, fits)


NCCL_LOG: Final = Kind(
    name="nccl-log",
    title="NCCL log",
    reads="NCCL_DEBUG output of all versions since 2.12, with or without times, behind the prefix of a launcher",
    sources=("NCCL log", "NCCL log (SHARP plugin)"),
    score=nccl_score,
    parser=NcclParser,
)
