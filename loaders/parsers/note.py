"""Tells an incident note (Markdown) from other text; :mod:`failgraph.loaders.notes` reads it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from failgraph.loaders.parsers.base import Kind

NOTE_KEYS: Final = frozenset(
    {
        "id",
        "title",
        "opened",
        "closed",
        "status",
        "space",
        "context",
        "window",
        "cause",
        "confirmed_by",
        "interventions",
        "timeline",
        "entities",
        "fix",
        "prevention",
        "sources",
    }
)
"""Keys of a note's front matter."""

_COMMON_KEYS: Final = frozenset({"id", "title", "status", "sources", "space"})
_KEY: Final = re.compile(r"([A-Za-z_][\w-]*):(?:\s|$)")
_OWN_HEADING: Final = re.compile(
    r"#{1,6} +(?:observed|checked and normal|learnt later|learned later)\s*#*\s*$", re.IGNORECASE
)
_HEADING: Final = re.compile(r"#{2,6} +\w[^#]{0,120}$")
_FENCE: Final = re.compile(r" {0,3}(?:```|~~~)")
_LONGEST_FRONT_MATTER: Final = 400


def front_matter_end(lines: Sequence[str]) -> int | None:
    """Return the position of the line that ends the front matter; None if the text has none."""
    if not lines or lines[0].rstrip() != "---":
        return None
    for position, line in enumerate(lines[1:_LONGEST_FRONT_MATTER], start=1):
        if line.rstrip() in ("---", "..."):
            return position
    return None


def is_own(lines: Sequence[str]) -> bool:
    """Return whether the text is one of our notes, so that its front matter must be right."""
    end = front_matter_end(lines)
    if end is not None:
        keys = {match[1] for line in lines[1:end] if (match := _KEY.match(line))}
        if keys & (NOTE_KEYS - _COMMON_KEYS):
            return True
    return any(_OWN_HEADING.match(line) for line in lines)


def note_score(lines: Sequence[str]) -> float:
    """Return how well these lines fit a note: our own headings or keys, or Markdown with headings."""
    if is_own(lines):
        return 1.0
    headings = sum(1 for line in lines if _HEADING.match(line))
    if front_matter_end(lines) is not None or headings >= 2 or (headings and any(map(_FENCE.match, lines))):
        return 0.55
    return 0.0


INCIDENT_NOTE: Final = Kind(
    name="incident-note",
    title="incident note",
    reads="Markdown with front matter, with the sections Observed, Checked and normal, Learnt later, or with other headings",
    score=note_score,
)
