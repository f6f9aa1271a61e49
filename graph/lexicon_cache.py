"""The lexicon kept between runs, as plain JSON in the user's cache directory.

To read 459 observables out of the graph takes longer than all the rest of a start. What they say is settled by
the loaded packs: each pack has a checksum over its files, and a load changes graph and checksums in one
transaction. So the checksums are asked for, in one small query, and the lexicon of just these packs is kept.

Only the embedded engine's lexicon is kept: on a server somebody may edit the graph by other ways than a load.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from failgraph.graph import kept
from failgraph.graph.store import lexicon
from failgraph.queries.registry import get_query
from failgraph.schema.lexicon import Lexicon, LexiconEntry
from failgraph.schema.nodes import ObservableKind
from failgraph.schema.scales import Specificity

if TYPE_CHECKING:
    from failgraph.graph.client import Client

_KIND: Final = b"failgraph lexicon 1\n"


def kept_lexicon(client: Client, directory: Path) -> Lexicon:
    """Return what :func:`failgraph.graph.store.lexicon` returns, from the cache where it is there.

    Args:
        client: a client of a migrated database.
        directory: where the lexicon is kept between runs.

    Raises:
        DatabaseError: the database failed.
    """
    if not client.embedded:
        return lexicon(client)
    key = _key(client)
    path = directory / f"lexicon-{key}.json"
    body = kept.load(path, _KIND)
    if body is not None:
        return _unpacked(body)
    words = lexicon(client)
    if _key(client) == key:  # else packs changed while it was read
        kept.save(path, _KIND, _packed(words))
    return words


def _key(client: Client) -> str:
    """Return a checksum over the loaded packs and the query that reads the lexicon."""
    packs = [[row["id"], row["checksum"]] for row in client.read("packs")]
    generation = client.read("catalogue_generation")
    text = json.dumps([get_query("lexicon").text, packs, generation])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _packed(words: Lexicon) -> bytes:
    rows = [
        [
            entry.id,
            entry.kind.value,
            entry.says,
            entry.source,
            entry.signature,
            entry.specificity.value,
            entry.multiline,
            entry.phrases,
            entry.negated,
            entry.implies,
        ]
        for entry in words.entries
    ]
    return json.dumps({"checksum": words.checksum, "entries": rows}).encode()


def _unpacked(body: bytes) -> Lexicon:
    data = json.loads(body)
    kinds = {kind.value: kind for kind in ObservableKind}
    specificities = {specificity.value: specificity for specificity in Specificity}
    entries = tuple(
        LexiconEntry(
            id_,
            kinds[kind],
            says,
            source,
            signature,
            specificities[specificity],
            multiline,
            tuple(phrases),
            tuple(negated),
            tuple(implies),
        )
        for id_, kind, says, source, signature, specificity, multiline, phrases, negated, implies in data[
            "entries"
        ]
    )
    return Lexicon(entries=entries, checksum=data["checksum"])
