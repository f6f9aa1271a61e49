"""The stems of the catalogue's phrases kept between runs, as plain JSON in the user's cache directory.

Only the reading of the phrases is kept, which takes most of the time; the key covers the phrases and the code that
reads them, so a stale file is never used. Where the cache cannot be read or written, the phrases are read again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from failgraph.graph import kept

_KIND: Final = b"failgraph phrases 1\n"
_READERS: Final = ("codes.py", "synonyms.py", "tokens.py")


@cache
def _code_checksum() -> bytes:
    """Return a checksum of the modules that turn text into stems."""
    digest = hashlib.sha256()
    for name in _READERS:
        digest.update(Path(__file__).with_name(name).read_bytes())
    return digest.digest()


def _path(directory: Path, texts: Sequence[str]) -> Path:
    digest = hashlib.sha256(_code_checksum())
    digest.update("\0".join(texts).encode("utf-8", "surrogatepass"))
    return directory / f"phrases-{digest.hexdigest()[:32]}.json"


def load_stems(directory: Path, texts: Sequence[str]) -> list[frozenset[str]] | None:
    """Return the kept stems of these texts, or None where there is no sound file of this user."""
    body = kept.load(_path(directory, texts), _KIND)
    if body is None:
        return None
    rows = json.loads(body)
    return [frozenset(row.split(" ")) if row else frozenset() for row in rows]


def save_stems(directory: Path, texts: Sequence[str], stems: Sequence[frozenset[str]]) -> None:
    """Keep the stems of these texts; a directory that cannot be written is passed over in silence."""
    body = json.dumps([" ".join(sorted(row)) for row in stems]).encode()
    kept.save(_path(directory, texts), _KIND, body)
