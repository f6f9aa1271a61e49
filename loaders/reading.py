"""Reads one log, block by block, into a :class:`~failgraph.loaders.tally.FileRecord`.

Blocks are searched whole; only lines with a hit, and a few at both ends of the file, are taken apart. So the time
goes into the search and not into lines that say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final, NamedTuple

from failgraph.loaders.blockmatch import BlockMatcher
from failgraph.loaders.mask import quote
from failgraph.loaders.parsers.base import Facts, Kind
from failgraph.loaders.parsers.kernel import KERNEL_SOURCE
from failgraph.loaders.parsers.nccl import rank_of_init
from failgraph.loaders.parsers.text import TextParser
from failgraph.loaders.recognise import sample_lines
from failgraph.loaders.scanner import BOOT_MARK, BOOT_ROW_MARK, NCCL_RANK_MARK, WALL_CLOCK_MARK, Hit, Scanner
from failgraph.loaders.stream import Block, Limits, Lines, Peekable, read_ahead, shown_size
from failgraph.loaders.tally import PLACES, Boot, FileRecord, Place, Tally
from failgraph.loaders.times import Clock, epoch_stamp, iso_stamp
from failgraph.loaders.views import LineView, RecordView, View

RIGHT_SOURCE: Final = 1.0
"""Confidence of a signature in a log of the kind that writes it."""
OTHER_SOURCE: Final = 0.95
"""Confidence of a signature in a log of another kind."""
IN_TEXT: Final = 0.9
"""Confidence of a signature in plain text or in a note."""

_TIMED: Final = 10  # so many lines of a finding are asked for their time; of the rest only the last
_VIEWS_KEPT: Final = 16  # every other one may be a single line
_ENDS: Final = 100  # so many lines at each end are looked at for times, hosts and words
_MOST_PROCESSES: Final = 100_000
_WALL_CLOCK: Final = re.compile(r"setting system clock to (\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?: ?UTC|Z)")
_HEADER_ROW: Final = re.compile(r"-- (?:Logs begin|Journal begins)|\s*$")
_WORD: Final = re.compile(rb"[A-Za-z_][\w-]{1,40}")
_REPEATED: Final = b"message repeated "


@dataclass(frozen=True)
class Setting:
    """What all files of an incident are read with.

    Attributes:
        scanner: the signatures.
        clock: turns printed times into UTC.
        window: start and end of the incident, where known.
        limits: how much is read.
    """

    scanner: Scanner
    clock: Clock
    window: tuple[datetime, datetime] | None = None
    limits: Limits = field(default_factory=Limits)


class _Seen(NamedTuple):
    """The last line of a finding."""

    number: int
    line: bytes
    facts: Facts


def first_time(lines: Sequence[str], kind: Kind, clock: Clock) -> datetime | None:
    """Return the first time with a year in these lines."""
    told: Iterable[Facts]
    if kind.records is not None:
        records = kind.records()
        told = (own for line in lines for _, own in records.read(line.encode("latin-1")))
    else:
        parser = kind.parser(lines) if kind.parser is not None else TextParser(lines)
        told = (parser.facts(line.encode("latin-1")) for line in lines)
    for facts in told:
        if facts.stamp is not None and facts.stamp.has_year:
            return clock.utc(facts.stamp)
    return None


class LogReader:
    """Reads one file of a kind that has lines.

    Args:
        name: the file, relative to the argument.
        kind: what it was recognised as.
        setting: what all files are read with.
        excerpt_from: the lines are an excerpt inside another file, and this is the number of the first: its
            silence says nothing, and it is believed like text.
        passed_over: numbers of lines whose hits do not count here.
    """

    def __init__(
        self,
        name: str,
        kind: Kind,
        setting: Setting,
        *,
        excerpt_from: int | None = None,
        passed_over: Collection[int] = (),
    ) -> None:
        self._kind = kind
        self._first_line = excerpt_from or 1
        self._sources = () if excerpt_from is not None else kind.sources
        self._passed_over = passed_over
        self._setting = setting
        self._scanner = setting.scanner
        self._record = FileRecord(name, kind.name, self._sources)
        self._tallies: dict[tuple[int, int, bool], Tally] = {}
        self._last: dict[tuple[int, int, bool], _Seen] = {}
        self._flooded: dict[tuple[int, int, bool], tuple[View, int]] = {}
        self._ranks: dict[tuple[str, int], tuple[int, int]] = {}
        self._has_boots = KERNEL_SOURCE in kind.sources
        self._boundary = -1
        self._header = 0
        self._early: Facts | None = None
        self._near: datetime | None = None
        self._head: list[str] = []

    def read(self, reader: Peekable) -> FileRecord:
        """Read the file to its end, or as far as it can be read."""
        record, limits = self._record, self._setting.limits
        head = sample_lines(reader.peek(limits.head))
        while self._header < len(head) and _HEADER_ROW.match(head[self._header]):
            self._header += 1
        self._parser = self._kind.parser(head) if self._kind.parser else TextParser(head)
        self._head = head
        own_parser = None if self._kind.records else self._parser
        blocks = BlockMatcher(self._scanner, own_parser, self._take_block_match)
        lines = Lines(reader, limits)
        recent: list[View] = []
        blocks_read = read_ahead(lines, limits.block) if reader.is_packed else iter(lines)
        for view in self._views(blocks_read):
            if not recent:
                self._look_at_start(view)
            blocks.begin(view)
            hits, anchors = self._scanner.scan(view.data, view.prefix_length, start=view.start, end=view.end)
            for hit in sorted(hits + anchors) if anchors else hits:
                self._take(hit, view, blocks)
            blocks.end(view)
            recent = [*recent[1 - _VIEWS_KEPT :], view]
            self._settle_floods(recent)
        blocks.finish()
        self._settle_floods(())
        looked_at = 0
        for view in recent[::-1]:
            looked_at += self._look_at_end(view, _ENDS - looked_at)
        record.lines = lines.lines
        record.truncated = lines.problem is not None or lines.long_lines > 0
        record.problem = lines.problem
        if lines.long_lines and record.problem is None:
            count = "a line" if lines.long_lines == 1 else f"{lines.long_lines} lines"
            record.problem = f"{count} longer than {shown_size(limits.line)} cut"
        self._finish()
        return record

    def _views(self, blocks: Iterator[Block]) -> Iterator[View]:
        records = self._kind.records() if self._kind.records else None
        for block in blocks:
            if records is None:
                yield LineView(block, self._parser)
            else:
                view = RecordView(block, records)
                if view.data:
                    yield view

    def _take(self, hit: Hit, view: View, blocks: BlockMatcher) -> None:
        """Take a line with a signature or a mark on it."""
        if self._passed_over and view.number(hit.start) in self._passed_over:
            return
        if self._scanner.is_mark(hit.position):
            self._take_mark(hit, view)
            return
        if self._scanner.is_multiline(hit.position):
            blocks.add(hit, view)
            return
        boot = len(self._record.boots) - 1
        key = (hit.position, boot, False)
        tally = self._tallies.get(key)
        is_flood = self._setting.window is None and tally is not None and tally.count >= _TIMED
        if is_flood and tally is not None and view.data.find(_REPEATED, hit.start, hit.end) < 0:
            tally.count += 1  # whatever the line says, it has been said
            self._flooded[key] = (view, hit.start)
            return
        line = view.data[hit.start : hit.end]
        self._count(hit.position, boot, view.number(hit.start), line, view.facts(hit.start))

    def _settle_floods(self, kept: Collection[View]) -> None:
        """Look up the last lines of floods, except in views that are kept: most are not the last for long."""
        for key, (view, start) in list(self._flooded.items()):
            if view not in kept:
                line = view.data[start : view.data.find(b"\n", start)]
                self._last[key] = _Seen(view.number(start), line, view.facts(start))
                del self._flooded[key]

    def _take_block_match(self, position: int, number: int, text: bytes, facts: Facts) -> None:
        self._count(position, len(self._record.boots) - 1, number, text, facts)

    def _count(self, position: int, boot: int, number: int, line: bytes, facts: Facts) -> None:
        at = self._time(facts, boot)
        window = self._setting.window
        outside = window is not None and at is not None and not window[0] <= at <= window[1]
        key = (position, boot, outside)
        self._flooded.pop(key, None)
        tally = self._tallies.get(key)
        if tally is None:
            tally = self._tallies[key] = Tally(self._scanner.entries[position].id, boot, outside)
        tally.add(at, facts.repeat)
        source = self._scanner.entries[position].source
        tally.confidence = max(tally.confidence, self._confidence(source, facts))
        if facts.host is not None:
            self._record.hosts.add(facts.host)
        if len(tally.places) < PLACES:
            tally.places.append(self._place(position, number, line, facts, at))
        else:
            self._last[key] = _Seen(number, line, facts)

    def _confidence(self, source: str, facts: Facts) -> float:
        if not self._sources:
            return IN_TEXT
        if source not in self._sources:
            return OTHER_SOURCE
        # Any program can write "NVRM: Xid" into the system's log.
        return OTHER_SOURCE if source == KERNEL_SOURCE and not facts.kernel else RIGHT_SOURCE

    def _place(self, position: int, number: int, line: bytes, facts: Facts, at: datetime | None) -> Place:
        text = line.decode("utf-8", errors="replace")
        around = self._scanner.span(position, line)
        return Place(self._record.file, number + self._first_line - 1, quote(text, around), at, facts)

    def _time(self, facts: Facts, boot: int) -> datetime | None:
        if facts.stamp is not None:
            return self._setting.clock.utc(facts.stamp, None if facts.stamp.has_year else self._year_near())
        wall_clock = self._record.boots[boot].wall_clock
        if facts.uptime is None or wall_clock is None:
            return None
        stamp = epoch_stamp(wall_clock + facts.uptime)
        return stamp.at if stamp is not None else None

    def _year_near(self) -> datetime | None:
        """Return a time of this file that has a year, which tells that of its other lines."""
        if self._setting.window is not None:
            return None
        if self._head:
            self._near = first_time(self._head, self._kind, self._setting.clock)
            self._head = []
        return self._near

    def _take_mark(self, hit: Hit, view: View) -> None:
        number = view.number(hit.start)
        name = self._scanner.name(hit.position)
        line = view.data[hit.start : hit.end]
        facts = view.facts(hit.start)
        if name == NCCL_RANK_MARK:
            self._take_rank(line, facts)
        elif not self._has_boots:
            return
        elif name == BOOT_ROW_MARK and line.startswith(b"-- "):
            self._begin_boot(number, facts, at_banner=False)
        elif name == BOOT_MARK and line.startswith(b"Linux version ", facts.start):
            self._begin_boot(number, facts, at_banner=True)
        elif (
            name == WALL_CLOCK_MARK and facts.uptime is not None and self._record.boots[-1].wall_clock is None
        ):
            match = _WALL_CLOCK.search(line.decode("latin-1"))
            stamp = iso_stamp(match[1]) if match is not None else None
            if stamp is not None:
                at = stamp.at.replace(tzinfo=UTC)
                self._record.boots[-1].wall_clock = at.timestamp() - facts.uptime

    def _take_rank(self, line: bytes, facts: Facts) -> None:
        init = rank_of_init(line, facts)
        if init is None:
            return
        self._record.hosts.add(init.process[0])
        self._record.ranks = max(self._record.ranks, init.size)
        known = self._ranks.get(init.process)
        if (known is None and len(self._ranks) < _MOST_PROCESSES) or (
            known is not None and known[1] < init.size
        ):
            self._ranks[init.process] = (init.rank, init.size)

    def _begin_boot(self, number: int, facts: Facts, *, at_banner: bool) -> None:
        boots = self._record.boots
        at_start = number == self._header + 1 and len(boots) == 1
        if not at_start and number - self._boundary > 1:
            boots.append(Boot(number))
        # A row of the journal and the kernel's own first line behind it are one boundary.
        boots[-1].at_banner = boots[-1].at_banner or at_banner
        boots[-1].start = boots[-1].start or self._time(facts, len(boots) - 1)
        self._boundary = number

    def _look_at_start(self, view: View) -> None:
        start = view.start
        for _ in range(_ENDS):
            end = view.data.find(b"\n", start, view.end)
            if end < 0:
                break
            facts = view.facts(start)
            self._learn(facts, view.data[start:end])
            if self._record.first is None:
                self._record.first = self._time(facts, 0)
                if self._early is None and facts.uptime is not None:
                    self._early = facts
            start = end + 1

    def _look_at_end(self, view: View, most: int) -> int:
        end, looked_at = view.end, 0
        while looked_at < most and end > view.start:
            start = max(view.data.rfind(b"\n", view.start, end - 1) + 1, view.start)
            facts = view.facts(start)
            self._learn(facts, view.data[start : end - 1])
            if self._record.last is None:
                self._record.last = self._time(facts, len(self._record.boots) - 1)
            end = start
            looked_at += 1
        return looked_at

    def _learn(self, facts: Facts, line: bytes) -> None:
        if facts.host is not None:
            self._record.hosts.add(facts.host)
        if facts.kernel and (match := _WORD.search(line, facts.start)):
            self._record.words.add(match[0].decode("latin-1"))

    def _finish(self) -> None:
        record = self._record
        if record.first is None and self._early is not None:
            record.first = self._time(self._early, 0)
        for key, seen in self._last.items():
            position, boot, _ = key
            at = self._time(seen.facts, boot)
            tally = self._tallies[key]
            tally.add(at, 0)
            tally.final = self._place(position, seen.number, seen.line, seen.facts, at)
        for key in sorted(self._tallies):
            tally = self._tallies[key]
            tally.places = [self._with_rank(place) for place in sorted(tally.places, key=lambda p: p.order)]
            tally.final = self._with_rank(tally.final) if tally.final is not None else None
            record.tallies.append(tally)

    def _with_rank(self, place: Place) -> Place:
        """Fill in the rank that the Init lines of the same process gave it."""
        process = place.facts.process
        if place.facts.rank is not None or process is None or process not in self._ranks:
            return place
        return replace(place, facts=replace(place.facts, rank=self._ranks[process][0]))
