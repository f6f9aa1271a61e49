"""Output of training jobs: launchers, PyTorch, Slurm, Python tracebacks, training steps; ranks interleaved.

Behind a launcher's prefix a line may begin with the time of a logger::

    [E222 16:34:08.164985364 ProcessGroupNCCL.cpp:757] TEXT       PyTorch: month not padded, no year, no zone
    E1130 15:53:30.329000 24164 torch/distributed/...:1028] TEXT  torchrun
    [2026-02-22 16:20:11,482] [INFO] [file:line:func] TEXT        DeepSpeed, Megatron, Python logging
    2026-02-22 16:20:11,482 - root - INFO - TEXT                  Python logging
    [2026-02-22T16:25:38.911] [81234.0] TEXT                      Slurm daemons
    srun: error: gpu-a017: task 136: TEXT                         Slurm
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

from failgraph.loaders.parsers.base import Facts, Kind, share
from failgraph.loaders.parsers.devices import device_in
from failgraph.loaders.parsers.launchers import LauncherPrefixes
from failgraph.loaders.parsers.nccl import LINE as NCCL_LINE
from failgraph.loaders.times import Stamp, clock_stamp, iso_stamp

_C10: Final = re.compile(
    r"\[[IWEF](?P<month>1[0-2]|0?[1-9])(?P<day>[0-3]\d) (?P<clock>\d\d:\d\d:\d\d(?:\.\d{1,9})?) [^\]]{1,200}\] "
)
_OLD_C10: Final = re.compile(r"\[[IWEF] [\w.]{1,80}:\d+\] ")  # before PyTorch 2.2, without a time
_GLOG: Final = re.compile(
    r"[IWEF](?P<month>[01]\d)(?P<day>[0-3]\d) (?P<clock>\d\d:\d\d:\d\d\.\d{1,9}) +\d+ [^\]]{1,300}\] "
)
_LOGGER: Final = re.compile(
    r"(?:\[[A-Za-z_]\w{0,31}\] |(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)[: ])? ?\[?"
    r"(?P<iso>\d{4}-\d\d-\d\d[ T_]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)\]?"
)
_LOGGER_WORDS: Final = re.compile(
    r"(?: ?[-|,:] ?| ?\[[^\]\n]{1,80}\]| ?(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL)\b| - [\w.]{1,80}(?= - ))+ ?"
)
_SRUN_TASK: Final = re.compile(
    r"srun: error: (?P<host>[\w.-]{1,100}): tasks? (?P<rank>\d{1,7})(?P<more>[,\-\d]*): "
)
_STEP_HOST: Final = re.compile(
    r"\*\*\* (?:STEP|JOB) [\d.+_a-z]+ (?:STEPD TERMINATED )?ON (?P<host>[\w.-]{1,100}) "
)
_REPORTED_TIME: Final = re.compile(r" {0,4}time {2,8}: (?P<iso>\d{4}-\d\d-\d\d_\d\d:\d\d:\d\d)\s*$")
_REPORTED_HOST: Final = re.compile(r" {0,4}host {2,8}: (?P<host>[\w.-]{1,253})\s*$")

# A progress bar without a line end, and right behind it what another thread or rank wrote.
_GLUED: Final = re.compile(r"(?P<prefix>\[rank(?P<rank>\d{1,7})\]: ?)\[[IWEF]\d{3,4} \d\d:\d\d:\d\d")
_LONGEST_PROGRESS: Final = 1000

_LINE: Final = re.compile(
    r"\[rank\d|\[[IWEF] [\w.]+:\d+\] |\[[IWEF]\d{3,4} \d\d:\d\d:\d\d|[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ |Traceback \(most recent call last\)"
    r"|  File \"[^\"]+\", line \d+|[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Warning): |srun: |slurmstepd: |slurmd|sbatch: |salloc: "
    r"| ?\[\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d|(?:\[\w+\] )?\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.,]\d{3}\b|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)[: ]"
    r"| iteration +\d+/|steps?: ?\d+|Epoch:? ?\[?\d|epoch:? ?\d|train(?:ing)?[ _]loss|Root Cause \(first observed failure\)"
    r"|(?:  )?(?:time|host|rank|exitcode|error_file|traceback) +: |Failures:|mpirun|--------------------|====================|torchrun|"
    r"terminate called|Fatal Python error|Aborted|Segmentation fault|Bus error|Killed$|python3?: |wandb: |#\d+ \S+ (?:from|in) "
)


_FRAME: Final = re.compile(r"  File \"[^\"]{1,500}\", line \d+")


class JobParser:
    """Reads lines of a job's output.

    Args:
        lines: the first lines of the file.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self._prefixes = LauncherPrefixes(lines)

    def facts(self, line: bytes) -> Facts:
        """Return what the line tells."""
        text = line.decode("latin-1")
        launched = self._prefixes.take(text)
        start, host, rank = launched.start, launched.host, launched.rank
        if match := NCCL_LINE.match(text, start):
            return Facts(
                start=match.end(),
                stamp=(iso_stamp(match["time"]) if match["time"] else None) or launched.stamp,
                host=match["host"],
                rank=rank,
                process=(match["host"], int(match["pid"])),
                device=match["gpu"],
            )
        if not start and (glued := _GLUED.search(text, 0, _LONGEST_PROGRESS)):
            start, rank = glued.end("prefix"), int(glued["rank"])
        stamp, start = _logger_time(text, start)
        if match := _SRUN_TASK.match(text, start):
            host = match["host"]
            rank = int(match["rank"]) if rank is None and not match["more"] else rank
        elif match := _STEP_HOST.search(text, start, start + 300) or _REPORTED_HOST.match(text, start):
            host = host or match["host"]
        elif match := _REPORTED_TIME.match(text, start):
            stamp = iso_stamp(match["iso"])
        return Facts(
            start=start,
            stamp=stamp or launched.stamp,
            host=host,
            rank=rank,
            device=device_in(text[start:]),
        )


def _logger_time(text: str, start: int) -> tuple[Stamp | None, int]:
    if match := _C10.match(text, start) or _GLOG.match(text, start):
        return clock_stamp(int(match["month"]), int(match["day"]), match["clock"]), match.end()
    if match := _OLD_C10.match(text, start):
        return None, match.end()
    if match := _LOGGER.match(text, start):
        stamp = iso_stamp(match["iso"])
        words = _LOGGER_WORDS.match(text, match.end())
        return stamp, words.end() if words else match.end()
    return None, start


def job_score(lines: Sequence[str]) -> float:
    """Return how well these lines fit a job's output."""
    prefixes = LauncherPrefixes(lines)

    traced = any(_FRAME.search(line) for line in lines)

    def fits(line: str) -> bool:
        start = prefixes.take(line).start
        if start > 0 or _LINE.match(line) is not None or NCCL_LINE.match(line) is not None:
            return True
        return traced and line.startswith("    ")  # source text below a frame

    # An NCCL log fits a job's output as well, so the more special kind is to win.
    return 0.95 * share(lines, fits)


class ContainerRecords:
    """Reads the JSON lines of a container runtime: ``{"log": "...", "stream": "stderr", "time": "..."}``."""

    def __init__(self) -> None:
        self._parser = JobParser(())

    def read(self, line: bytes) -> list[tuple[bytes, Facts]]:
        """Return the text of the line's record."""
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            return [(line, Facts())]
        if not isinstance(record, dict) or not isinstance(record.get("log"), str):
            return [(line, Facts())]
        stamp = iso_stamp(str(record.get("time", "")))
        found = []
        for text in record["log"].rstrip("\n").split("\n"):
            raw = text.encode("utf-8", errors="replace")
            own = self._parser.facts(raw)
            found.append((raw, own if own.stamp or stamp is None else _with_stamp(own, stamp)))
        return found


def _with_stamp(facts: Facts, stamp: Stamp) -> Facts:
    return Facts(facts.start, stamp, facts.uptime, facts.host, facts.rank, facts.process, facts.device)


def container_score(lines: Sequence[str]) -> float:
    """Return how well these lines fit the JSON lines of a container runtime."""
    return share(lines, lambda line: line.startswith("{") and '"log":' in line and '"stream":' in line)


JOB_LOG: Final = Kind(
    name="job-log",
    title="job log",
    reads="stdout and stderr of jobs: torchrun, mpirun and srun prefixes, PyTorch and Slurm messages, Python tracebacks, ranks interleaved",
    sources=("job log",),
    score=job_score,
    parser=JobParser,
)
CONTAINER_JSON: Final = Kind(
    name="job-log-json",
    title="job log as a container runtime keeps it",
    reads="JSON lines with log, stream and time",
    sources=("job log",),
    score=container_score,
    records=ContainerRecords,
)
