"""Parsed signatures kept between runs, as plain JSON in the user's cache directory.

The key covers the signatures as written and the code that parses them, so a stale file is never used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from failgraph.graph import kept
from failgraph.loaders import signature as parser
from failgraph.loaders.signature import Signature, parse_signature

_KIND: Final = b"failgraph parsed 1\n"


class Written(NamedTuple):
    """A signature as a pack states it."""

    id: str
    pattern: str
    multiline: bool = False


def parsed_signatures(written: Sequence[Written], directory: Path | None) -> list[Signature]:
    """Return the signatures parsed, in their order.

    Args:
        written: the signatures as packs state them.
        directory: where the parsed ones are kept between runs; None keeps none.

    Raises:
        PackError: one cannot be read.
    """
    if directory is None:
        return _parse(written)
    text = json.dumps(written, ensure_ascii=True).encode()
    key = hashlib.sha256(Path(parser.__file__).read_bytes() + b"\0" + text).hexdigest()[:32]
    path = directory / f"parsed-{key}.json"
    body = kept.load(path, _KIND)
    if body is not None:
        return [
            Signature(
                *named,
                exact=exact.encode(),
                relaxed=relaxed.encode(),
                literals=tuple(literal.encode() for literal in literals),
                ignore_case=ignore_case,
                anchored=anchored,
                settled=settled,
            )
            for named, (exact, relaxed, literals, ignore_case, anchored, settled) in zip(
                written, json.loads(body), strict=True
            )
        ]
    signatures = _parse(written)
    rows = [
        (
            each.exact.decode(),
            each.relaxed.decode(),
            [literal.decode() for literal in each.literals],
            each.ignore_case,
            each.anchored,
            each.settled,
        )
        for each in signatures
    ]
    kept.save(path, _KIND, json.dumps(rows).encode())
    return signatures


def _parse(written: Sequence[Written]) -> list[Signature]:
    return [parse_signature(each.id, each.pattern, multiline=each.multiline, check=False) for each in written]
