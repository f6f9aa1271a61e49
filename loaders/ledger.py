"""Brings what was found in files, notes and silence into one list of findings, one per observable and state."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from failgraph.loaders.tally import PLACES, FileRecord, Place, Tally
from failgraph.loaders.times import to_iso
from failgraph.schema.exchange import Finding, State, Where


@dataclass
class Draft:
    """A finding while it is put together.

    Attributes:
        observable: its id.
        state: how it stands.
        confidence: chance that it was read right.
        coverage: share of the affected machines and time that were looked at.
        count: how many lines or statements say so.
        first: earliest known time.
        last: latest known time.
        wheres: places, with their order.
    """

    observable: str
    state: State
    confidence: float = 1.0
    coverage: float = 1.0
    count: int = 1
    first: datetime | None = None
    last: datetime | None = None
    wheres: list[tuple[tuple[str, int], Where]] = field(default_factory=list)

    def add_place(self, place: Place) -> None:
        """Add a line."""
        self.wheres.append((place.order, where_of(place)))

    def add_file(self, record: FileRecord) -> None:
        """Add a file as a whole, for what was looked for in it and not found."""
        host = next(iter(record.hosts)) if len(record.hosts) == 1 else None
        self.wheres.append(((record.file, 0), Where(file=record.file, host=host)))
        self.first = earliest(self.first, record.first)
        self.last = latest(self.last, record.last)

    def merge(self, other: Draft) -> None:
        """Add what another draft says of the same observable and state."""
        self.confidence = max(self.confidence, other.confidence)
        self.coverage = max(self.coverage, other.coverage)
        self.count += other.count
        self.first = earliest(self.first, other.first)
        self.last = latest(self.last, other.last)
        self.wheres += other.wheres


def where_of(place: Place) -> Where:
    """Return a place as it is given out."""
    facts = place.facts
    return Where(
        file=place.file,
        line=place.line,
        quote=place.quote,
        time=to_iso(place.at) if place.at is not None else None,
        host=facts.host,
        rank=facts.rank,
        device=facts.device,
    )


def draft_of(tally: Tally, state: State) -> Draft:
    """Return the draft of what was counted in one file."""
    draft = Draft(
        tally.observable,
        state,
        confidence=tally.confidence,
        count=tally.count,
        first=tally.first,
        last=tally.last,
    )
    for place in tally.places:
        draft.add_place(place)
    if tally.final is not None:
        draft.add_place(tally.final)
    return draft


def findings_of(drafts: Iterable[Draft]) -> tuple[Finding, ...]:
    """Return the findings, ordered by observable and state, with ids f1, f2 and so on."""
    merged: dict[tuple[str, str], Draft] = {}
    for draft in drafts:
        key = (draft.observable, draft.state.value)
        if key in merged:
            merged[key].merge(draft)
        else:
            merged[key] = draft
    return tuple(
        Finding(
            id=f"f{position}",
            observable=draft.observable,
            state=draft.state,
            confidence=draft.confidence,
            coverage=draft.coverage,
            count=draft.count,
            first=to_iso(draft.first) if draft.first is not None else None,
            last=to_iso(draft.last) if draft.last is not None else None,
            where=_shown(draft),
        )
        for position, (_, draft) in enumerate(sorted(merged.items()), start=1)
    )


def _shown(draft: Draft) -> tuple[Where, ...]:
    """Return the first places and the last one."""
    ordered = [where for _, where in sorted(draft.wheres, key=lambda item: item[0])]
    return tuple(ordered if len(ordered) <= PLACES else [*ordered[:PLACES], ordered[-1]])


def earliest(one: datetime | None, other: datetime | None) -> datetime | None:
    """Return the earlier of two times, where known."""
    return min((at for at in (one, other) if at is not None), default=None)


def latest(one: datetime | None, other: datetime | None) -> datetime | None:
    """Return the later of two times, where known."""
    return max((at for at in (one, other) if at is not None), default=None)
