"""A first look at the files of an incident: what they are, and the times that tell how to read the others.

Notes may name the incident's window, and times without a year can only be placed next to one that has it. Both
must be known before the logs are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Final

from failgraph.loaders.archive import Budget, Source, open_source
from failgraph.loaders.notes import LONGEST_NOTE, Note, read_note
from failgraph.loaders.parsers.base import Kind
from failgraph.loaders.parsers.note import INCIDENT_NOTE
from failgraph.loaders.parsers.registry import BINARY, EMPTY
from failgraph.loaders.reading import first_time
from failgraph.loaders.recognise import recognise, sample_lines
from failgraph.loaders.stream import Cut, Limits, Peekable
from failgraph.loaders.times import Clock, parse_moment, parse_window
from failgraph.loaders.unpack import packed_as
from failgraph.schema.errors import Location, UsageError
from failgraph.schema.exchange import Window

_LINES: Final = 20


@dataclass
class Preview:
    """What a first look tells.

    Attributes:
        kinds: kind of each plain file, by name.
        notes: the notes among them, by name.
        window: the incident's time, as the first note says it.
        opened: when it was opened, as the first note says it.
        dated: latest time with a year at the beginning of a file.
    """

    kinds: dict[str, Kind] = field(default_factory=dict)
    notes: dict[str, Note] = field(default_factory=dict)
    window: Window | None = None
    opened: datetime | None = None
    dated: datetime | None = None

    def add_note(self, name: str, note: Note, zone: tzinfo) -> None:
        """Take what a note says of the incident's time; the first one that says it counts.

        Raises:
            UsageError: it says it wrongly.
        """
        self.notes[name] = note
        front = note.front
        if self.window is None and front.window_text is not None:
            try:
                self.window = parse_window(front.window_text, zone)
            except UsageError as error:
                raise UsageError(error.message, location=Location(name)) from error
        for said in (front.opened, front.closed):
            if self.opened is None and said is not None:
                self.opened = parse_moment(said, zone)


def look_at(sources: Sequence[Source], zone: tzinfo, limits: Limits) -> Preview:
    """Return what a first look at the plain files tells; archives and standard input are not looked into.

    Raises:
        UsageError: the front matter of a note is wrong.
        PackError: the front matter of a note is not the YAML that failgraph takes.
    """
    preview = Preview()
    budget = Budget(limits)
    clock = Clock(zone)
    for source in sources:
        if source.problem is not None or source.path is None or not source.size:
            continue
        try:
            with open_source(source, budget) as file:
                reader = Peekable(file)
                head = reader.peek(limits.head)
                if packed_as(head) is not None:
                    continue
                kind = preview.kinds[source.name] = recognise(head)
                if kind is INCIDENT_NOTE:
                    preview.add_note(source.name, read_note(reader.peek(LONGEST_NOTE + 1), source.name), zone)
        except (Cut, OSError):
            continue  # it is met again, and reported, when it is read
        if kind in (INCIDENT_NOTE, BINARY, EMPTY):
            continue
        if (at := first_time(sample_lines(head)[:_LINES], kind, clock)) is not None:
            preview.dated = at if preview.dated is None else max(preview.dated, at)
    return preview
