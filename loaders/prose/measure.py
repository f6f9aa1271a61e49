"""How well prose is attached: every phrase of the catalogue read without itself.

A phrase that is found again by the others of its observable counts as right (so does an observable that it implies
or that implies it), a negated one only as absent. Sentences that state nothing of the catalogue may be given as
well: whatever is attached to them is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from failgraph.loaders.prose.index import PhraseTable
from failgraph.loaders.prose.weights import chance
from failgraph.schema.lexicon import Lexicon

EDGES: Final = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Lower edges of the confidence bins."""


@dataclass(frozen=True)
class Bin:
    """Attachments of one range of confidence: from where on, how many, and how many were right."""

    lowest: float
    count: int
    right: int

    @property
    def precision(self) -> float:
        """The share that was right; 0 without any."""
        return self.right / self.count if self.count else 0.0


@dataclass(frozen=True)
class PhraseReport:
    """What reading every phrase without itself gave; ``first`` and ``first_three`` count phrases."""

    phrases: int
    first: int
    first_three: int
    bins: tuple[Bin, ...]
    foreign: tuple[Bin, ...]

    def precision(self, threshold: float) -> float:
        """Return the share of right ones among attachments of at least this confidence."""
        chosen = [part for part in self.bins if part.lowest >= threshold]
        count = sum(part.count for part in chosen)
        return sum(part.right for part in chosen) / count if count else 0.0

    def recall(self, threshold: float) -> float:
        """Return the share of phrases that are rightly attached with at least this confidence."""
        right = sum(part.right for part in self.bins if part.lowest >= threshold)
        return right / self.phrases if self.phrases else 0.0


def leave_one_phrase_out(lexicon: Lexicon, foreign: Sequence[str] = ()) -> PhraseReport:
    """Return how well each phrase of the lexicon is attached by all the others.

    Args:
        lexicon: the observables of the loaded packs.
        foreign: sentences that state none of them.
    """
    from failgraph.loaders.prose.tokens import stems_of

    table = PhraseTable(lexicon)
    tested = first = first_three = 0
    counts, right = [0] * len(EDGES), [0] * len(EDGES)
    for place, phrase in enumerate(table.phrases):
        if phrase.field not in ("phrase", "negated"):
            continue
        tested += 1
        candidates = table.candidates(phrase.stems, without=place)
        hits = [candidate.entry in table.related(phrase.entry) for candidate in candidates[:3]]
        first += hits[:1] == [True]
        first_three += any(hits)
        if candidates:
            part = _bin(chance(candidates[0]))
            counts[part] += 1
            right[part] += hits[0]
    wrong = [0] * len(EDGES)
    for text in foreign:
        if candidates := table.candidates(stems_of(text)):
            wrong[_bin(chance(candidates[0]))] += 1
    return PhraseReport(
        phrases=tested,
        first=first,
        first_three=first_three,
        bins=tuple(Bin(*parts) for parts in zip(EDGES, counts, right, strict=True)),
        foreign=tuple(Bin(edge, count, 0) for edge, count in zip(EDGES, wrong, strict=True)),
    )


def _bin(confidence: float) -> int:
    return max(place for place, edge in enumerate(EDGES) if confidence >= edge)
