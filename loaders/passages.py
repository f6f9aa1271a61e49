"""Reads the passages of notes and texts: code is searched as an excerpt of a log, prose is attached and searched."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, Protocol

from failgraph.loaders.coverage import counts
from failgraph.loaders.ledger import Draft, draft_of
from failgraph.loaders.mask import quote
from failgraph.loaders.notes import Part, Passage
from failgraph.loaders.parsers.base import Facts
from failgraph.loaders.parsers.devices import device_in
from failgraph.loaders.parsers.note import INCIDENT_NOTE
from failgraph.loaders.parsers.text import PLAIN_TEXT
from failgraph.loaders.reading import IN_TEXT, LogReader, Setting
from failgraph.loaders.recognise import recognise_lines
from failgraph.loaders.stream import Peekable
from failgraph.loaders.tally import Place
from failgraph.schema.exchange import State, Unattached, Where

if TYPE_CHECKING:
    from failgraph.loaders.prose import Attachment


class ProseReader(Protocol):
    """Attaches prose to observables; :class:`failgraph.loaders.prose.PhraseIndex` does."""

    def attach(self, text: str, state: State = State.PRESENT) -> list[Attachment]:
        """Return one attachment for each statement of the text."""
        ...


_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_LEAST_WORDS: Final = 2  # a date or a job's number says nothing that could be attached


class PassageReader:
    """Reads the passages of one file.

    Args:
        name: the file, relative to the argument.
        setting: what all files are read with.
        phrases: the phrases of the observables.

    Attributes:
        drafts: what was found.
        unattached: statements that could not be attached to anything.
        notes: what was not read, for people.
    """

    def __init__(self, name: str, setting: Setting, phrases: ProseReader) -> None:
        self._name = name
        self._setting = setting
        self._phrases = phrases
        self.drafts: list[Draft] = []
        self.unattached: list[Unattached] = []
        self.notes: list[str] = []

    def read(self, passages: Iterable[Passage]) -> None:
        """Read passages, in order."""
        for passage in passages:
            if passage.part is Part.CODE:
                self._read_code(passage)
            else:
                self._read_prose(passage)

    def _read_code(self, passage: Passage) -> None:
        lines = [
            line.encode("utf-8", errors="replace").decode("latin-1") for line in passage.text.split("\n")
        ]
        kind = recognise_lines(lines)
        if kind is INCIDENT_NOTE or (kind.parser is None and kind.records is None):
            kind = PLAIN_TEXT
        reader = LogReader(self._name, kind, self._setting, excerpt_from=passage.line)
        record = reader.read(Peekable(io.BytesIO(passage.text.encode("utf-8", errors="replace"))))
        for tally in record.tallies:
            is_current = counts(tally, record, self._setting.window)
            self.drafts.append(draft_of(tally, State.PRESENT if is_current else State.STALE))

    def _read_prose(self, passage: Passage) -> None:
        logged = self._signatures_in(passage)
        denied: set[str] = set()
        for attachment in self._phrases.attach(passage.text, passage.state):
            if attachment.note:
                self.notes.append(attachment.note)
            self._take(attachment, passage, logged, denied)
        for observable, lines in logged.items():
            if observable in denied:  # "no 'GPU has fallen off the bus' in dmesg"
                continue
            draft = Draft(observable, passage.state, IN_TEXT, count=len(lines))
            for number, text in lines:
                draft.add_place(self._place(number, text, device_in(text)))
            self.drafts.append(draft)

    def _signatures_in(self, passage: Passage) -> dict[str, list[tuple[int, str]]]:
        """Return the observables whose signature matches a line of the passage, with number and text of the line."""
        scanner = self._setting.scanner
        data = passage.text.encode("utf-8", errors="replace") + b"\n"
        found: dict[str, list[tuple[int, str]]] = {}
        for hit in scanner.scan(data)[0]:
            if not scanner.is_mark(hit.position):
                number = min(passage.line + data.count(b"\n", 0, hit.start), passage.last_line)
                text = data[hit.start : hit.end].decode("utf-8", errors="replace")
                found.setdefault(scanner.name(hit.position), []).append((number, text))
        return found

    def _take(
        self,
        attachment: Attachment,
        passage: Passage,
        logged: dict[str, list[tuple[int, str]]],
        denied: set[str],
    ) -> None:
        first = passage.line + passage.text.count("\n", 0, attachment.offset)
        number = min(first, passage.last_line)
        for finding in attachment.findings:
            if finding.observable in logged:
                # The signature is the better witness that it is spoken of, the words of whether it was there.
                if finding.state is passage.state:
                    continue
                denied.add(finding.observable)
            draft = Draft(finding.observable, finding.state, min(1.0, max(finding.confidence, 0.01)))
            draft.add_place(self._place(number, attachment.text, None))
            self.drafts.append(draft)
        last = number + attachment.text.count("\n")
        is_log = any(number <= place <= last for lines in logged.values() for place, _ in lines)
        says_something = len(_WORD.findall(attachment.text)) >= _LEAST_WORDS
        if says_something and not attachment.findings and not attachment.note and not is_log:
            self.unattached.append(
                Unattached(
                    text=quote(attachment.text),
                    where=Where(file=self._name, line=number),
                    nearest=attachment.nearest,
                )
            )

    def _place(self, number: int, text: str, device: str | None) -> Place:
        return Place(self._name, number, quote(text), None, Facts(device=device))
