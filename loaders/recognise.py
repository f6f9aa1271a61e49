"""Tells what a file is by its content; its name plays no part."""

from __future__ import annotations

import re
from typing import Final

from failgraph.loaders.parsers.base import Kind
from failgraph.loaders.parsers.registry import BINARY, EMPTY, KINDS
from failgraph.loaders.stream import Limits, Lines

SAMPLE_LINES: Final = 200
"""So many of the first lines are looked at."""

_LONGEST: Final = 2000  # of a line; what a line is shows at its start
_MAGIC: Final = (
    b"\x7fELF",
    b"\x89PNG",
    b"%PDF-",
    b"GIF8",
    b"\xff\xd8\xff",
    b"SQLite format 3\0",
    b"\xca\xfe\xba\xbe",
    b"\x80\x02",
    b"\x80\x03",
    b"\x80\x04",
    b"\x80\x05",
)
_CONTROL: Final = re.compile(rb"[\x01-\x06\x0e-\x1a\x1c-\x1f\x7f]")
_NUL_BLOCK: Final = re.compile(rb"\0{8,}")


def recognise(head: bytes) -> Kind:
    """Return the kind of a file.

    Args:
        head: its first bytes, 64 KiB or all of it.
    """
    return recognise_lines(sample_lines(head)) if not is_binary(head) else (BINARY if head else EMPTY)


def recognise_lines(lines: list[str]) -> Kind:
    """Return the kind of a text that begins with these lines."""
    if not any(line.strip() for line in lines):
        return EMPTY
    # max keeps the first of equals: the order of the registry.
    return max(KINDS, key=lambda kind: kind.score(lines))


def sample_lines(head: bytes) -> list[str]:
    """Return the first lines of a file, cleaned, as Latin-1; a last line that may be cut is left out."""
    data = b"".join(block.data[block.start : block.end] for block in Lines(_Bytes(head), Limits()))
    lines = data.split(b"\n")[:-1]
    if len(lines) > 1 and not head.endswith((b"\n", b"\r")):
        lines = lines[:-1] if len(head) >= Limits().head else lines
    return [line.lstrip(b"\0")[:_LONGEST].decode("latin-1") for line in lines[:SAMPLE_LINES]]


def is_binary(head: bytes) -> bool:
    """Return whether the bytes are no text: known formats, many control characters, hardly any valid UTF-8."""
    if not head:
        return True
    if head.startswith(_MAGIC):
        return True
    text = _NUL_BLOCK.sub(b"", head)
    if not text.strip(b"\0"):
        return True
    if text.count(b"\0") * 20 > len(text):
        return True
    if len(_CONTROL.findall(text)) * 50 > len(text):
        return True
    damaged = text.decode("utf-8", errors="replace").count("\N{REPLACEMENT CHARACTER}")
    return damaged * 4 > len(text)


class _Bytes:
    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, size: int, /) -> bytes:
        chunk, self._data = self._data[:size], self._data[size:]
        return chunk
