"""Makes the lexicon of readers from packs as read from files; the graph gives the same from what was loaded."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict

from failgraph.schema.errors import PackError
from failgraph.schema.lexicon import Lexicon, LexiconEntry
from failgraph.schema.pack import PackContent


def lexicon_of(contents: Iterable[PackContent]) -> Lexicon:
    """Return the observables of these packs as readers need them, ordered by id.

    Phrases that a pack adds to another pack's observable (``adjustments.yaml``) are appended to its own.

    Raises:
        PackError: two packs define one observable.
    """
    packs = tuple(contents)
    entries: dict[str, LexiconEntry] = {}
    owner: dict[str, str] = {}
    for pack in packs:
        for item in pack.observables:
            if item.id in entries:
                raise PackError(
                    f"the observable {item.id} is defined by the packs {owner[item.id]} and {pack.header.id}; "
                    "rename one"
                )
            owner[item.id] = pack.header.id
            entries[item.id] = LexiconEntry(
                id=item.id,
                kind=item.kind,
                says=item.says,
                source=item.source,
                signature=item.signature,
                specificity=item.specificity,
                multiline=item.multiline,
                phrases=item.phrases,
                negated=item.negated,
                implies=item.implies,
            )
    for pack in packs:
        for adjustment in pack.adjustments:
            entry = entries.get(adjustment.target)
            if entry is None:
                continue  # it adjusts a class
            entries[entry.id] = LexiconEntry(
                **{
                    **asdict(entry),
                    "phrases": entry.phrases + adjustment.phrases,
                    "negated": entry.negated + adjustment.negated,
                }
            )
    ordered = tuple(entries[key] for key in sorted(entries))
    return Lexicon(ordered, checksum_of(ordered))


def checksum_of(entries: Iterable[LexiconEntry]) -> str:
    """Return the sha256 over the entries in their order."""
    text = json.dumps([asdict(entry) for entry in entries], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
