"""Counts what was found while files are read: few numbers per observable, whatever the number of lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from failgraph.loaders.parsers.base import Facts

PLACES: Final = 5
"""So many first places of a finding are kept, and the last."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line where something was found, as it will be shown.

    Attributes:
        file: relative to the argument.
        line: number of the line, from 1.
        quote: the line: masked, shortened, printable.
        at: its time in UTC, where that is known.
        facts: what else the line told.
    """

    file: str
    line: int
    quote: str
    at: datetime | None
    facts: Facts

    @property
    def order(self) -> tuple[str, int]:
        """Files by name, lines by number."""
        return (self.file, self.line)


@dataclass(slots=True)
class Tally:
    """What is known of one observable in one stretch of one file.

    Attributes:
        observable: its id.
        boot: which boot of the machine the lines belong to, counted within the file.
        outside: the lines lie outside the incident's window.
        confidence: chance that the lines were read right.
        count: how many lines (or records a line stands for).
        first: earliest known time.
        last: latest known time.
        places: the first places.
        final: the last place, if it is none of the first.
    """

    observable: str
    boot: int = 0
    outside: bool = False
    confidence: float = 0.0
    count: int = 0
    first: datetime | None = None
    last: datetime | None = None
    places: list[Place] = field(default_factory=list)
    final: Place | None = None

    def add(self, at: datetime | None, repeat: int) -> None:
        """Count a line."""
        self.count += repeat
        if at is not None:
            self.first = at if self.first is None else min(self.first, at)
            self.last = at if self.last is None else max(self.last, at)


@dataclass(slots=True)
class Boot:
    """A stretch of a log between two starts of the machine.

    Attributes:
        line: where it begins.
        at_banner: it begins with the kernel's first line, so nothing of this boot came before.
        start: its first known time.
        wall_clock: what is to be added to seconds since boot to get seconds since 1970.
    """

    line: int
    at_banner: bool = False
    start: datetime | None = None
    wall_clock: float | None = None


@dataclass(slots=True)
class FileRecord:
    """Everything that one file told.

    Attributes:
        file: its name, relative to the argument.
        kind: name of its kind.
        sources: about which observables its silence could be evidence.
        tallies: what was found.
        boots: stretches of the log; one where the log shows no start.
        lines: number of lines.
        first: time of its first line that has one.
        last: time of its last line that has one.
        truncated: a part was not read or was missing.
        problem: why not.
        hosts: machines that its lines name as their writers.
        ranks: size of the largest communicator that it names.
        words: different first words of its kernel lines (a sample): a filtered log has few.
    """

    file: str
    kind: str
    sources: tuple[str, ...] = ()
    tallies: list[Tally] = field(default_factory=list)
    boots: list[Boot] = field(default_factory=lambda: [Boot(1)])
    lines: int = 0
    first: datetime | None = None
    last: datetime | None = None
    truncated: bool = False
    problem: str | None = None
    hosts: set[str] = field(default_factory=set)
    ranks: int = 0
    words: set[str] = field(default_factory=set)
