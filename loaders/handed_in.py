"""Turns what another program hands in (:class:`~failgraph.schema.exchange.MatchInput`) into an incident.

Findings stay as they are said, but for three things: their times become UTC, what they quote is masked as every
quote is, and what lies outside the window is stale. Text is read for more findings, as ``failgraph explain`` does.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from failgraph.loaders.incident import read_text
from failgraph.loaders.mask import mask, quote
from failgraph.loaders.times import parse_moment, to_iso, window_bounds
from failgraph.schema.errors import UsageError
from failgraph.schema.exchange import (
    Finding,
    FindingInput,
    Incident,
    MatchInput,
    State,
    Unattached,
    Where,
    Window,
)
from failgraph.schema.lexicon import Lexicon

TEXT_NAME = "text"
"""Stands for the file in places that point into the handed-in text."""


def incident_from_input(handed_in: MatchInput, lexicon: Lexicon) -> Incident:
    """Return the incident that was handed in.

    Args:
        handed_in: findings, circumstances, context, text and window.
        lexicon: the observables of the loaded packs.

    Raises:
        UsageError: a time is not written in ISO 8601.
    """
    bounds = window_bounds(handed_in.window) if handed_in.window else None
    window = Window(start=to_iso(bounds[0]), end=to_iso(bounds[1])) if bounds else None
    if bounds and bounds[1] < bounds[0]:
        raise UsageError("$.window ends before it starts; swap start and end.")
    said = [
        *_findings(handed_in.findings, "findings", bounds),
        *_findings(handed_in.circumstances, "circumstances", bounds),
    ]
    unattached: tuple[Unattached, ...] = ()
    zone = None
    told = None
    if handed_in.text and handed_in.text.strip():
        span = f"{window.start}/{window.end}" if window else None
        read = read_text(handed_in.text, lexicon, window=span, name=TEXT_NAME)
        said += read.findings
        unattached, zone, told = read.unattached, read.assumed_timezone, read.text
    ordered = sorted(said, key=lambda finding: (finding.subject, finding.state.value))
    return Incident(
        id=mask(handed_in.incident) if handed_in.incident else None,
        findings=tuple(
            Finding.model_validate({**finding.model_dump(), "id": f"f{position}"})
            for position, finding in enumerate(ordered, start=1)
        ),
        unattached=unattached,
        text=told,
        context=handed_in.context,
        window=window,
        assumed_timezone=zone,
    )


def _findings(
    findings: Iterable[FindingInput], part: str, bounds: tuple[datetime, datetime] | None
) -> Iterable[FindingInput]:
    for position, finding in enumerate(findings):
        path = f"$.{part}[{position}]"
        first, last = _moment(finding.first, f"{path}.first"), _moment(finding.last, f"{path}.last")
        outside = bounds is not None and (
            _after(first or last, bounds[1]) or _after(bounds[0], last or first)
        )
        yield finding.model_copy(
            update={
                "state": State.STALE if outside and finding.state is State.PRESENT else finding.state,
                "first": to_iso(first) if first else None,
                "last": to_iso(last) if last else None,
                "where": tuple(_masked(where) for where in finding.where),
            }
        )


def _moment(text: str | None, path: str) -> datetime | None:
    if text is None:
        return None
    at = parse_moment(text, UTC)
    if at is None:
        raise UsageError(f"{path}: {text!r} is no time; write it in ISO 8601, as 2026-03-01T10:00:00Z.")
    return at


def _after(one: datetime | None, other: datetime | None) -> bool:
    return one is not None and other is not None and one > other


def _masked(where: Where) -> Where:
    return where.model_copy(
        update={"file": mask(where.file), "quote": quote(where.quote) if where.quote is not None else None}
    )
