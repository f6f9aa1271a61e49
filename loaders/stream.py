"""Reads bytes of any size and shape as blocks of clean, whole lines, with flat memory.

Cleaning makes lines fit for searching and changes no line number: terminal colours are taken out, a carriage return
ends a line of its own (progress bars), ``CR LF`` is one line end, and UTF-16 with a byte order mark becomes UTF-8. Bytes
that are no valid UTF-8 stay as they are until a quote is shown. A line longer than the limit loses its NUL bytes; if it
still is, it is cut and its rest passed over.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, Protocol

from failgraph.loaders.linefeeds import count_line_feeds

KIBI: Final = 1024
MEBI: Final = 1024 * KIBI
GIBI: Final = 1024 * MEBI

_COLOURS: Final = re.compile(
    rb"\x1b(?:\[[0-9;:?<=>]{0,64}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,256}(?:\x07|\x1b\\)?|[()][0-9A-Za-z]|[@-Z\\^_a-z])?"
)
_LONE_RETURN: Final = re.compile(rb"\r")
_BYTE_ORDER_MARKS: Final = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True)
class Limits:
    """How much is read at most. Sizes are bytes; what is beyond a limit is passed over and reported.

    Attributes:
        total: text read in one incident, after decompression.
        file: text read of one file, after decompression.
        line: longest line; the rest of a longer one is passed over.
        block: how much is searched at a time.
        head: how much of a file is looked at to recognise it.
        ratio: how many times its packed size a file may become, once it exceeds ``ratio_from``.
        ratio_from: below this unpacked size, any ratio is fine (a flood of equal lines packs well).
        files: files and members of archives in one incident.
        spool: an archive inside an archive that cannot be read in passing is copied, up to this size.
        depth: archives inside archives.
    """

    total: int = 64 * GIBI
    file: int = 16 * GIBI
    line: int = 64 * KIBI
    block: int = MEBI
    head: int = 64 * KIBI
    ratio: int = 1000
    ratio_from: int = 256 * MEBI
    files: int = 20_000
    spool: int = 256 * MEBI
    depth: int = 2


class Cut(Exception):
    """The rest of a source cannot be read. Caught where sources are read; never leaves the loaders.

    Args:
        reason: why, as a clause that can follow a file name.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Reader(Protocol):
    """Something to read bytes from."""

    def read(self, size: int, /) -> bytes:
        """Return up to ``size`` bytes; none at the end.

        Raises:
            Cut: the rest cannot be read.
        """
        ...


class Peekable:
    """A reader whose beginning can be looked at before it is read; UTF-16 is turned into UTF-8 in passing.

    Args:
        reader: the bytes.
        is_packed: they are decompressed as they are read, which takes time.
    """

    def __init__(self, reader: Reader, *, is_packed: bool = False) -> None:
        self.is_packed = is_packed
        self._reader = reader
        self._held = b""
        self._decoder: codecs.IncrementalDecoder | None = None
        self._begun = False
        self._cut: Cut | None = None

    def peek(self, size: int) -> bytes:
        """Return the first bytes, at most ``size``, without consuming them; a cut shows when they are read."""
        while len(self._held) < size and self._cut is None:
            try:
                chunk = self._next(max(size - len(self._held), 4 * KIBI))
            except Cut as cut:
                self._cut = cut
                break
            if not chunk:
                break
            self._held += chunk
        return self._held[:size]

    def read(self, size: int, /) -> bytes:
        """Return up to ``size`` bytes; none at the end."""
        if self._held:
            chunk, self._held = self._held[:size], self._held[size:]
            return chunk
        if self._cut is not None:
            raise self._cut
        return self._next(size)

    def _next(self, size: int) -> bytes:
        if not self._begun:
            self._begun = True
            return self._first(size)
        while True:
            chunk = self._reader.read(size)
            if self._decoder is None:
                return chunk
            text = self._decoder.decode(chunk, final=not chunk)
            if text or not chunk:
                return text.encode("utf-8", errors="replace")

    def _first(self, size: int) -> bytes:
        chunk = b""
        while len(chunk) < 4:
            more = self._reader.read(max(size, 4))
            if not more:
                break
            chunk += more
        for mark, encoding in _BYTE_ORDER_MARKS:
            if chunk.startswith(mark):
                self._decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
                return self._decoder.decode(chunk[len(mark) :]).encode("utf-8", errors="replace")
        return chunk.removeprefix(codecs.BOM_UTF8)


class Block:
    """Whole lines, each ending in a line feed, and where they stand in the file.

    Args:
        data: holds the lines; what is outside ``start`` and ``end`` belongs to other blocks.
        first_line: number of the first line, from 1.
        returns: places in ``data`` of line feeds that were carriage returns in the file.
        start: where the lines begin in ``data``.
        end: where they end; None: at its end.
    """

    def __init__(
        self,
        data: bytes,
        first_line: int,
        returns: Sequence[int] = (),
        *,
        start: int = 0,
        end: int | None = None,
    ) -> None:
        self.data = data
        self.first_line = first_line
        self.start = start
        self.end = len(data) if end is None else end
        self._returns = returns
        self._counted = (start, 0)  # a place, and the line feeds before it: each byte is counted once

    @property
    def next_line(self) -> int:
        """Number of the line after the block."""
        place, feeds = self._counted
        return self.first_line + feeds + count_line_feeds(self.data, place, self.end) - len(self._returns)

    def line_number(self, offset: int) -> int:
        """Return the number of the line at this place in ``data``; quickest when asked in ascending order."""
        place, feeds = self._counted
        if offset < place:
            place, feeds = self.start, 0
        feeds += count_line_feeds(self.data, place, offset)
        self._counted = (offset, feeds)
        return self.first_line + feeds - bisect_left(self._returns, offset)


class Lines:
    """The lines of a reader, block by block.

    Attributes:
        size: bytes read so far, as they came.
        long_lines: how many lines were cut.
        problem: why reading ended early; None while it has not.
    """

    def __init__(self, reader: Reader, limits: Limits) -> None:
        self._reader = reader
        self._limits = limits
        self._last: Block | None = None
        self.size = 0
        self.long_lines = 0
        self.problem: str | None = None

    @property
    def lines(self) -> int:
        """Number of lines in the blocks given out so far."""
        return self._last.next_line - 1 if self._last is not None else 0

    def __iter__(self) -> Iterator[Block]:
        held = b""  # the beginning of a line whose end was not read yet
        skipping = False
        while chunk := self._chunk():
            if skipping:
                end = chunk.find(b"\n")
                if end < 0:
                    continue
                chunk, skipping = chunk[end + 1 :], False
            # A carriage return at the very end may be half of a line end.
            cut = max(chunk.rfind(b"\n"), chunk.rfind(b"\r", 0, max(len(chunk) - 1, 0))) + 1
            if held and not cut:
                held += chunk
            elif held:
                # The line that was begun is a block of its own, so that the large rest need not be copied.
                first = _line_end(chunk, cut)
                yield self._block(held + chunk[:first])
                if first < cut:
                    yield self._block(chunk, first, cut)
                held = chunk[cut:]
            else:
                if cut:
                    yield self._block(chunk, 0, cut)
                held = chunk[cut:]
            if len(held) > self._limits.line:
                held = held.replace(b"\0", b"")  # a crashed node leaves blocks of them, and text right behind
            if len(held) > self._limits.line and not held.endswith(b"\r"):
                self.long_lines += 1
                yield self._block(held[: self._limits.line] + b"\n")
                held, skipping = b"", True
        if held:
            yield self._block(held if held.endswith(b"\r") else held + b"\n")

    def _chunk(self) -> bytes:
        try:
            chunk = self._reader.read(self._limits.block)
        except Cut as cut:
            self.problem = cut.reason
            return b""
        self.size += len(chunk)
        if self.size > self._limits.file:
            self.problem = f"only the first {shown_size(self._limits.file)} were read"
            return b""
        return chunk

    def _block(self, data: bytes, start: int = 0, end: int | None = None) -> Block:
        end = len(data) if end is None else end
        returns: Sequence[int] = ()
        has_colours = data.find(b"\x1b", start, end) >= 0
        has_returns = data.find(b"\r", start, end) >= 0
        if has_colours or has_returns or self._has_long_line(data, start, end):
            data = data[start:end]
            if has_colours:
                data = _COLOURS.sub(b"", data)
            if has_returns:
                data = data.replace(b"\r\n", b"\n")
                returns = [match.start() for match in _LONE_RETURN.finditer(data)]
                data = data.replace(b"\r", b"\n")
            data, returns = self._with_short_lines(data, returns)
            start, end = 0, len(data)
        # The line feeds of the last block are counted only now: most were when its lines were asked for.
        self._last = Block(data, self.lines + 1, returns, start=start, end=end)
        return self._last

    def _has_long_line(self, data: bytes, start: int, end: int) -> bool:
        """Return whether a line is longer than the limit; looking for one touches little of the data."""
        longest = self._limits.line
        while start + longest < end:
            feed = data.rfind(b"\n", start, start + longest + 1)
            if feed < 0:
                return True
            start = feed + 1
        return False

    def _with_short_lines(self, data: bytes, returns: Sequence[int]) -> tuple[bytes, Sequence[int]]:
        """Cut lines that are longer than the limit, when they are so without NUL bytes."""
        longest = self._limits.line
        start = 0
        while start + longest < len(data):
            end = data.rfind(b"\n", start, start + longest + 1)
            if end >= 0:
                start = end + 1
                continue
            end = data.find(b"\n", start)
            line = data[start:end].replace(b"\0", b"")
            if len(line) > longest:
                self.long_lines += 1
                line = line[:longest]
            removed = end - start - len(line)
            data = data[:start] + line + data[end:]
            returns = [place - removed if place >= end else place for place in returns]
            start += len(line) + 1
        return data, returns


def _line_end(chunk: bytes, cut: int) -> int:
    """Return the place behind the first line end, at ``cut`` at the latest."""
    feed = chunk.find(b"\n", 0, cut)
    first = cut if feed < 0 else feed + 1
    lone = chunk.find(b"\r", 0, first)
    if lone < 0:
        return first
    return min(first, lone + 2 if chunk[lone + 1 : lone + 2] == b"\n" else lone + 1)


def read_ahead(blocks: Iterable[Block], large: int) -> Iterator[Block]:
    """Yield the blocks while the next one is decompressed and cleaned in another thread.

    Decompression leaves the interpreter free, so on two processors it costs no time beside the search. A file of one
    small block is read without a thread.

    Args:
        blocks: the blocks.
        large: a first block of at least half this size is followed by others.
    """
    source = iter(blocks)
    first = next(source, None)
    if first is None:
        return
    yield first
    if (first.end - first.start) * 2 < large:
        yield from source
        return
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="read") as pool:
        coming = pool.submit(next, source, None)
        while (block := coming.result()) is not None:
            coming = pool.submit(next, source, None)
            yield block


def shown_size(size: int) -> str:
    """Return a size for a sentence.

    >>> shown_size(3 * 1024 * 1024)
    '3 MiB'
    """
    for unit, name in ((GIBI, "GiB"), (MEBI, "MiB"), (KIBI, "KiB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return f"{size} bytes"
