"""What readers of artefacts and prose need to know of the catalogue, taken from the graph in one query."""

from __future__ import annotations

from dataclasses import dataclass

from failgraph.schema.nodes import ObservableKind
from failgraph.schema.scales import Specificity


@dataclass(frozen=True)
class LexiconEntry:
    """One observable as a reader sees it.

    ``signature`` is an RE2 regular expression for kinds log and event, an expression for metrics and prose for
    behaviour. ``implies`` are broader observables that a match of this one always also matches.
    """

    id: str
    kind: ObservableKind
    says: str
    source: str
    signature: str
    specificity: Specificity
    multiline: bool = False
    phrases: tuple[str, ...] = ()
    negated: tuple[str, ...] = ()
    implies: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lexicon:
    """All observables of the loaded packs, ordered by id; ``checksum`` changes when any entry does."""

    entries: tuple[LexiconEntry, ...]
    checksum: str
