"""Reads everything there is of an incident: files, directories, archives, notes, standard input.

All paths of one call are one incident. Each file is recognised by its content; logs are searched for the signatures
of the loaded packs, prose is attached to their observables, and what proves to be complete also says what is absent.
The result depends on the content and on nothing else: same input, same findings.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from failgraph.loaders.archive import Budget, Leaf, Source, leaves, list_sources
from failgraph.loaders.coverage import counts, fleet_of, is_complete, silence
from failgraph.loaders.ledger import Draft, draft_of, findings_of
from failgraph.loaders.mask import mask, printable
from failgraph.loaders.notes import LONGEST_NOTE, FrontMatter, Note, Passage, read_note
from failgraph.loaders.parsers.base import Kind
from failgraph.loaders.parsers.note import INCIDENT_NOTE, is_own
from failgraph.loaders.parsers.registry import BINARY, EMPTY, UNREADABLE
from failgraph.loaders.parsers.text import PLAIN_TEXT
from failgraph.loaders.passages import PassageReader, ProseReader
from failgraph.loaders.preview import Preview, look_at
from failgraph.loaders.reading import LogReader, Setting
from failgraph.loaders.recognise import recognise
from failgraph.loaders.scanner import Scanner, default_cache_dir
from failgraph.loaders.statements import LARGEST_PROSE, prose_passages
from failgraph.loaders.stream import Cut, Limits, Peekable, shown_size
from failgraph.loaders.tally import FileRecord
from failgraph.loaders.times import Clock, parse_timezone, parse_window, to_iso, window_bounds
from failgraph.schema.errors import NothingReadError
from failgraph.schema.exchange import Context, Incident, Reading, State, Unattached, Window
from failgraph.schema.lexicon import Lexicon

Progress = Callable[[int, int], None]
"""Called with the bytes read so far and the bytes of all files."""

_HOST_KEYS: Final = ("hosts", "nodes", "nnodes", "num_nodes", "number_of_nodes")
_UNREAD_SHOWN: Final = 3
LARGEST_EXCERPT: Final = 16_384
"""Bytes of a file that counts as a part of what somebody tells; a longer one is a log, and only its findings count."""
LARGEST_TOLD: Final = 256 * 1024
"""Characters of what is told in one incident that are kept."""


def read_incident(
    paths: Sequence[Path],
    lexicon: Lexicon,
    *,
    timezone: str | None = None,
    window: str | None = None,
    progress: Progress | None = None,
    phrase_index: ProseReader | None = None,
    scanner: Scanner | None = None,
    limits: Limits | None = None,
) -> Incident:
    """Return what the files of one incident tell.

    Args:
        paths: files, directories and archives; ``-`` is standard input.
        lexicon: the observables of the loaded packs.
        timezone: zone of times that have none; None: the machine's.
        window: the incident's time, ``START/DURATION`` or ``START/END``; None: as a note says, if one does.
        progress: is told how far reading is.
        phrase_index: phrases of the lexicon, where the caller has them already.
        scanner: signatures of the lexicon, where the caller has them already.
        limits: how much is read.

    Raises:
        NothingReadError: no file could be read.
        UsageError: the zone or the window is not right, or a note's front matter.
        PackError: a signature cannot be used, or a note's front matter is not valid YAML.
    """
    reader = _IncidentReader(lexicon, timezone, window, phrase_index, scanner, limits or Limits())
    return reader.read(paths, progress)


def read_text(
    text: str,
    lexicon: Lexicon,
    *,
    timezone: str | None = None,
    window: str | None = None,
    phrase_index: ProseReader | None = None,
    scanner: Scanner | None = None,
    name: str = "text",
) -> Incident:
    """Return what a few words, a pasted log or a whole note tell.

    Args:
        text: what somebody wrote or pasted.
        lexicon: the observables of the loaded packs.
        timezone: zone of times that have none; None: the machine's.
        window: the incident's time; None: as the note says, if it is one.
        phrase_index: phrases of the lexicon, where the caller has them already.
        scanner: signatures of the lexicon, where the caller has them already.
        name: stands for the file in places and messages.

    Raises:
        UsageError: the zone or the window is not right, or a note's front matter.
        PackError: a signature cannot be used, or a note's front matter is not valid YAML.
    """
    reader = _IncidentReader(lexicon, timezone, window, phrase_index, scanner, Limits())
    return reader.read_text(text, name)


class _IncidentReader:
    """Collects what the files of one incident tell."""

    def __init__(
        self,
        lexicon: Lexicon,
        timezone: str | None,
        window: str | None,
        phrases: ProseReader | None,
        scanner: Scanner | None,
        limits: Limits,
    ) -> None:
        self._zone, self._zone_name = parse_timezone(timezone)
        self._given_window = parse_window(window, self._zone) if window is not None else None
        self._lexicon = lexicon
        self._phrases = phrases
        self._scanner = scanner if scanner is not None else Scanner(lexicon, cache_dir=default_cache_dir())
        self._limits = limits
        self._begin(Preview())

    def _begin(self, preview: Preview) -> None:
        """Forget what was read; read what comes with the times that are known now."""
        self._preview = preview
        self._window, self._reference = self._times()
        bounds = window_bounds(self._window) if self._window is not None else None
        self._clock = Clock(self._zone, self._reference)
        self._setting = Setting(self._scanner, self._clock, bounds, self._limits)
        self._readings: list[Reading] = []
        self._records: list[FileRecord] = []
        self._drafts: list[Draft] = []
        self._unattached: list[Unattached] = []
        self._notes: list[FrontMatter] = []
        self._told: list[str] = []

    def read(self, paths: Sequence[Path], progress: Progress | None) -> Incident:
        sources = list_sources(paths)
        self._begin(look_at(sources, self._zone, self._limits))
        self._read_sources(sources, progress)
        if self._times() != (self._window, self._reference) and all(
            source.path is not None for source in sources
        ):
            # A note inside an archive names the window: now that it is known, everything is read with it.
            self._begin(self._preview)
            self._read_sources(sources, progress)
        if not any(
            reading.kind not in (BINARY.name, EMPTY.name, UNREADABLE.name) for reading in self._readings
        ):
            raise _nothing_read(paths, self._readings)
        return self._result()

    def read_text(self, text: str, name: str) -> Incident:
        lines = text.split("\n")
        raw = text.encode("utf-8", errors="replace")
        if is_own(lines):
            note = read_note(raw, name)
            preview = Preview()
            preview.add_note(name, note, self._zone)
            self._begin(preview)
            self._take_note(name, note)
        else:
            self._take_log(name, recognise(raw), Peekable(io.BytesIO(raw)), pasted=True)
        return self._result()

    def _read_sources(self, sources: Iterable[Source], progress: Progress | None) -> None:
        total = sum(source.size for source in sources)
        done = 0

        def on_bytes(count: int) -> None:
            nonlocal done
            done += count
            if progress is not None:
                progress(min(done, total), total)

        budget = Budget(self._limits, on_bytes)
        for source in sources:
            for leaf in leaves(source, budget):
                self._take_leaf(leaf)

    def _times(self) -> tuple[Window | None, datetime | None]:
        """Return the incident's window and a time near it, as far as they are known by now."""
        window = self._given_window or self._preview.window
        if window is not None:
            return window, window_bounds(window)[0]
        return None, self._preview.opened or self._preview.dated

    def _take_leaf(self, leaf: Leaf) -> None:
        if leaf.reader is None:
            self._readings.append(Reading(file=leaf.name, kind=UNREADABLE.name, problem=leaf.problem))
            return
        head = leaf.reader.peek(self._limits.head)
        kind = self._preview.kinds.get(leaf.name) or recognise(head)
        if kind is INCIDENT_NOTE:
            self._read_note(leaf.name, leaf.reader)
        elif kind is EMPTY or kind is BINARY:
            problem = _problem_of(leaf.reader) if kind is EMPTY else None
            shown = kind if problem is None else UNREADABLE
            self._readings.append(Reading(file=leaf.name, kind=shown.name, problem=problem))
        else:
            self._take_log(leaf.name, kind, leaf.reader, pasted=False)

    def _read_note(self, name: str, reader: Peekable) -> None:
        raw, problem = b"", None
        try:
            while len(raw) <= LONGEST_NOTE and (chunk := reader.read(LONGEST_NOTE + 1 - len(raw))):
                raw += chunk
        except Cut as cut:
            problem = cut.reason
        note = self._preview.notes.get(name)
        if note is None:
            note = read_note(raw, name)
            self._preview.add_note(name, note, self._zone)
        self._take_note(name, note, problem)

    def _take_note(self, name: str, note: Note, problem: str | None = None) -> None:
        self._notes.append(note.front)
        passages = PassageReader(name, self._setting, self._phrase_index())
        passages.read(note.passages)
        self._told += [passage.text for passage in note.passages]
        if note.truncated and problem is None:
            problem = f"only the first {shown_size(LONGEST_NOTE)} were read"
        self._take_passages(passages)
        self._readings.append(
            Reading(
                file=name,
                kind=INCIDENT_NOTE.name,
                lines=note.lines,
                truncated=problem is not None,
                problem=problem or "; ".join(passages.notes) or None,
            )
        )

    def _take_log(self, name: str, kind: Kind, reader: Peekable, *, pasted: bool) -> None:
        prose: list[Passage] = []
        if kind is PLAIN_TEXT or pasted:
            raw = reader.peek(LARGEST_PROSE + 1)
            if len(raw) <= LARGEST_PROSE:
                text = raw.decode("utf-8", errors="replace").replace("\r\n", "\n").replace("\r", " ")
                prose = prose_passages(text, strict=not pasted)
        spoken = {number for passage in prose for number in range(passage.line, passage.last_line + 1)}
        if len(excerpt := reader.peek(LARGEST_EXCERPT + 1)) <= LARGEST_EXCERPT:
            self._told.append(excerpt.decode("utf-8", errors="replace"))
        log = LogReader(name, kind, self._setting, excerpt_from=1 if pasted else None, passed_over=spoken)
        record = log.read(reader)
        self._records.append(record)
        window = self._setting.window
        for tally in record.tallies:
            self._drafts.append(
                draft_of(tally, State.PRESENT if counts(tally, record, window) else State.STALE)
            )
        problem = record.problem
        if prose:
            passages = PassageReader(name, self._setting, self._phrase_index())
            passages.read(prose)
            self._take_passages(passages)
            problem = problem or "; ".join(passages.notes) or None
        self._readings.append(
            Reading(
                file=name,
                kind=kind.name,
                lines=record.lines,
                first=to_iso(record.first) if record.first is not None else None,
                last=to_iso(record.last) if record.last is not None else None,
                complete=is_complete(record, window),
                truncated=record.truncated,
                problem=problem,
            )
        )

    def _take_passages(self, passages: PassageReader) -> None:
        self._drafts += passages.drafts
        self._unattached += passages.unattached

    def _phrase_index(self) -> ProseReader:
        if self._phrases is None:
            from failgraph.loaders.prose import PhraseIndex

            self._phrases = PhraseIndex(self._lexicon, default_cache_dir())
        return self._phrases

    def _result(self) -> Incident:
        present = {draft.observable for draft in self._drafts if draft.state is State.PRESENT}
        context = next((front.context for front in self._notes if front.context != Context()), Context())
        fleet = fleet_of(self._records, _hosts_said(context))
        unsaid = silence(self._records, self._scanner.entries, present, self._setting.window, fleet)
        return Incident(
            id=next((front.id for front in self._notes if front.id), None),
            title=next((front.title for front in self._notes if front.title), None),
            findings=findings_of([*self._drafts, *unsaid]),
            unattached=tuple(self._unattached),
            readings=tuple(self._readings),
            text=mask(printable("\n".join(self._told)[:LARGEST_TOLD])) or None,
            context=context,
            window=self._window,
            assumed_timezone=self._zone_name if self._clock.assumed else None,
        )


def _problem_of(reader: Peekable) -> str | None:
    """Return why a file gave nothing, if it is not simply empty."""
    try:
        while reader.read(4096):
            pass
    except Cut as cut:
        return cut.reason
    return None


def _hosts_said(context: Context) -> int:
    """Return the number of hosts that a note's context names; 0 if it names none."""
    said = context.model_extra or {}
    for key in _HOST_KEYS:
        value = said.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return max(0, value)
        if isinstance(value, list):
            return len(value)
    return 0


def _nothing_read(paths: Sequence[Path], readings: Sequence[Reading]) -> NothingReadError:
    shown = ", ".join(str(path) for path in paths)
    if not readings:
        return NothingReadError(
            f"there is no file in {shown}; give files, directories or archives that hold logs or notes"
        )
    reasons = [
        f"{reading.file} ({reading.problem or f'it is {reading.kind}'})"
        for reading in readings[:_UNREAD_SHOWN]
    ]
    more = f" and {len(readings) - _UNREAD_SHOWN} more" if len(readings) > _UNREAD_SHOWN else ""
    return NothingReadError(
        f"nothing could be read in {shown}: {', '.join(reasons)}{more}; give logs or notes as text"
    )
