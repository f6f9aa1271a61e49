"""What launchers put in front of the lines of a job: ranks, hosts, streams and times, one after the other.

::

    137: TEXT                                   srun --label
    [1,3]<stdout>:TEXT                          Open MPI (job, rank); [prterun-host-1@1,3]<stderr>: in version 5
    [default1]:[rank1]:TEXT                     torchrun --tee (local rank), PyTorch (global rank)
    (pid=309914) TEXT                           Ray; (train pid=309914, ip=192.0.2.17) TEXT
    gpu-a017: TEXT                              pdsh, when most lines begin with a host
    2026-02-22T16:24:18.1Z stdout F TEXT        container runtime; kubectl logs --timestamps without "stdout F"
    [pod/train-3/worker] TEXT                   kubectl logs --prefix
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from failgraph.loaders.parsers.base import share
from failgraph.loaders.times import Stamp, iso_stamp

_MOST: Final = 0.5
_LONGEST_CHAIN: Final = 6

_LABEL: Final = re.compile(r" {0,6}(?P<rank>\d{1,6}): ")
_PDSH: Final = re.compile(r"(?P<host>(?=[^:\s]{0,63}\d)[A-Za-z][\w.-]{0,62}): ")
_OPEN_MPI: Final = re.compile(
    r"(?:[A-Z][a-z]{2} [A-Z][a-z]{2} {1,2}\d\d? \d\d:\d\d:\d\d \d{4})?"
    r"\[(?:[\w.@-]{1,100}@)?\d{1,10},(?P<rank>\d{1,7})\](?:\[[^\]]{0,80}\])?<(?:stdout|stderr|stddiag)>: ?"
)
_TORCHRUN: Final = re.compile(r"\[[A-Za-z_]\w{0,31}?(?P<local>\d{1,4})\]:")
_RANK: Final = re.compile(r"\[rank(?P<rank>\d{1,7})\]: ?")
_RAY: Final = re.compile(
    r"\((?:[\w.<>:-]{1,80} )?pid=(?P<pid>\d{1,9})(?:, ip=(?P<host>[0-9a-fA-F.:]{3,45}))?\) ?(?:\[repeated \d+x[^\]]{0,40}\] ?)?"
)
_CONTAINER: Final = re.compile(
    r"(?P<iso>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}(?:Z|[+-]\d\d:\d\d)) (?:(?:stdout|stderr) [FP] )?"
)
_POD: Final = re.compile(r"\[pod/[\w./-]{1,253}\] ")
_NCCL_FOLLOWS: Final = re.compile(
    r"(?:\[[\d: .-]{10,30}\] )?[\w.-]{1,253}:\d+:\d+ \[\d+\] |\[rank\d|Traceback \(most"
)


@dataclass(frozen=True, slots=True)
class Launched:
    """What the prefixes of a line told, and where the line's own text begins."""

    start: int = 0
    stamp: Stamp | None = None
    host: str | None = None
    rank: int | None = None


class LauncherPrefixes:
    """Takes the launchers' prefixes off the lines of one file.

    Args:
        lines: the first lines: bare labels and hosts are believed only where most lines have them.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self._labelled = share(lines, lambda line: _LABEL.match(line) is not None) >= _MOST
        self._hosted = share(lines, lambda line: _PDSH.match(line) is not None) >= _MOST

    def take(self, text: str) -> Launched:
        """Return what stands in front of a line."""
        start = 0
        stamp: Stamp | None = None
        host: str | None = None
        rank: int | None = None
        for _ in range(_LONGEST_CHAIN):
            if match := _CONTAINER.match(text, start):
                stamp = iso_stamp(match["iso"])
            elif match := _RANK.match(text, start) or _OPEN_MPI.match(text, start):
                rank = int(match["rank"])
            elif match := _RAY.match(text, start):
                host = match["host"] or host
            elif (match := _LABEL.match(text, start)) and (
                self._labelled or _NCCL_FOLLOWS.match(text, match.end())
            ):
                rank = int(match["rank"])
            elif self._hosted and start == 0 and (match := _PDSH.match(text)):
                host = match["host"]
            elif not (match := _TORCHRUN.match(text, start) or _POD.match(text, start)):
                break
            start = match.end()
        return Launched(start, stamp, host, rank)
