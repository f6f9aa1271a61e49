"""What every parser of an artefact shares: a kind, how it is recognised, and what one line tells.

A parser is pure: it gets lines and gives facts. It never opens a file, and it does not search for signatures;
the readers do both. Lines come as bytes without their line end and are read as Latin-1, so that a character is a
byte and positions fit; only what is shown to people is decoded as UTF-8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from failgraph.loaders.times import Stamp


@dataclass(frozen=True, slots=True)
class Facts:
    """What a line tells besides its text.

    Attributes:
        start: where the text begins, behind times, hosts, ranks and other prefixes (in bytes).
        stamp: the wall-clock time as printed.
        uptime: seconds since boot.
        host: the machine that wrote it.
        rank: global rank of the process that wrote it.
        process: host and process id, where the line has no rank but others of the process may.
        device: PCI address, interface or GPU index as printed.
        repeat: how many such lines this one stands for.
        kernel: written by the kernel.
    """

    start: int = 0
    stamp: Stamp | None = None
    uptime: float | None = None
    host: str | None = None
    rank: int | None = None
    process: tuple[str, int] | None = None
    device: str | None = None
    repeat: int = 1
    kernel: bool = False


class LineParser(Protocol):
    """Reads single lines of one file."""

    def facts(self, line: bytes) -> Facts:
        """Return what the line tells."""
        ...


class RecordReader(Protocol):
    """Reads lines that hold records (JSON) into the text lines that the records stand for."""

    def read(self, line: bytes) -> list[tuple[bytes, Facts]]:
        """Return the text lines of the records that this line completes, none while one is incomplete."""
        ...


@dataclass(frozen=True)
class Kind:
    """A kind of artefact.

    Attributes:
        name: stable id, shown in a reading.
        title: what people call it.
        reads: the forms that are read, for the documentation.
        sources: ``source`` of the observables about which a complete file of this kind is evidence by silence.
        score: how well the first lines of a file fit, within 0 and 1.
        parser: makes a line parser, given the first lines; None where lines are not parsed.
        records: makes a record reader, for kinds whose lines hold records.
    """

    name: str
    title: str
    reads: str
    sources: tuple[str, ...] = ()
    score: Callable[[Sequence[str]], float] = lambda lines: 0.0
    parser: Callable[[Sequence[str]], LineParser] | None = None
    records: Callable[[], RecordReader] | None = None


def share(lines: Sequence[str], fits: Callable[[str], bool]) -> float:
    """Return the share of the lines that are not blank which fit."""
    told = [line for line in lines if line.strip()]
    return sum(1 for line in told if fits(line)) / len(told) if told else 0.0
