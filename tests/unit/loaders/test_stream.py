"""Lines of any length, with any line end and any junk in them, come out clean and with their right numbers."""

from __future__ import annotations

import io
from itertools import chain, repeat
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from failgraph.loaders.linefeeds import count_line_feeds
from failgraph.loaders.stream import Cut, Limits, Lines, Peekable, read_ahead, shown_size

SMALL: Final = Limits(line=20, block=16)


def lines_of(raw: bytes, limits: Limits | None = None, *, ahead: bool = False) -> list[tuple[int, bytes]]:
    """Return number and text of every line."""
    limits = limits or Limits()
    found = []
    blocks = Lines(Peekable(io.BytesIO(raw)), limits)
    for block in read_ahead(blocks, limits.block) if ahead else blocks:
        start = block.start
        while start < block.end:
            end = block.data.index(b"\n", start)
            found.append((block.line_number(start), block.data[start:end]))
            start = end + 1
    return found


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"one\ntwo\n", [(1, b"one"), (2, b"two")]),
        (b"no end", [(1, b"no end")]),
        (b"a\r\nb\r\n", [(1, b"a"), (2, b"b")]),
        (b"10%\r20%\rdone\nnext\n", [(1, b"10%"), (1, b"20%"), (1, b"done"), (2, b"next")]),
        (b"\x1b[31mred\x1b[0m text\x1b]0;title\x07\n", [(1, b"red text")]),
        (b"\n\n\n", [(1, b""), (2, b""), (3, b"")]),
        (b"", []),
        (b"\xef\xbb\xbfmark\n", [(1, b"mark")]),
        ("mark\nü\n".encode("utf-16"), [(1, b"mark"), (2, "ü".encode())]),
        ("mark\n".encode("utf-16-be").join([b"\xfe\xff", b""]), [(1, b"mark")]),
        (b"\xff\xfeo\x00k\x00\x00", [(1, "ok\N{REPLACEMENT CHARACTER}".encode())]),
        (b"bad \xff utf-8\n", [(1, b"bad \xff utf-8")]),
    ],
)
def test_lines_are_clean_and_numbered(raw: bytes, expected: list[tuple[int, bytes]]) -> None:
    """Line ends, colours and byte order marks are understood; line numbers are those of the file."""
    assert expected == lines_of(raw)


@given(
    st.lists(
        st.sampled_from([b"a", b"bc", b"\n", b"\r", b"\r\n", b"d" * 7, b" ", b"\xff", "é".encode()]),
        max_size=60,
    ),
    st.integers(min_value=1, max_value=40),
)
@settings(max_examples=300, deadline=None, database=None)
def test_blocks_change_nothing(pieces: list[bytes], size: int) -> None:
    """However the bytes are cut into blocks, the lines and their numbers are the same."""
    raw = b"".join(pieces)
    text = raw.replace(b"\r\n", b"\n")
    expected = []
    for number, line in enumerate(text.split(b"\n"), start=1):
        expected += [(number, part) for part in line.split(b"\r")]
    # What follows the last line end of the file is a line only if there is something.
    if expected and expected[-1][1] == b"":
        expected.pop()

    assert expected == lines_of(raw, Limits(block=size))
    assert expected == lines_of(raw, Limits(block=size), ahead=True)


@pytest.mark.parametrize("block", [1, 7, 16, 64, 1000])
def test_long_line_is_cut_and_its_rest_passed_over(block: int) -> None:
    """A line over the limit keeps its beginning, wherever the blocks end; the lines behind it are read."""
    limits = Limits(line=20, block=block)
    reader = Lines(io.BytesIO(b"short\n" + b"x" * 500 + b"\nafter\n"), limits)
    found = [(b.first_line, b.data[b.start : b.end]) for b in reader]

    assert b"short\n" + b"x" * 20 + b"\nafter\n" == b"".join(data for _, data in found)
    assert 1 == reader.long_lines
    assert 3 == reader.lines


def test_endless_line_needs_no_memory() -> None:
    """Two gigabytes without a line end are passed over piece by piece; only the beginning is given out."""

    class Endless:
        def __init__(self) -> None:
            self.pieces = chain(repeat(b"x" * (1 << 24), 128), [b"\nlast\n"])

        def read(self, size: int, /) -> bytes:
            return next(self.pieces, b"")

    reader = Lines(Endless(), Limits())

    assert [64 * 1024 + 1, 5] == [block.end - block.start for block in reader]
    assert 1 == reader.long_lines
    assert 2 == reader.lines


def test_nul_bytes_do_not_hide_what_follows() -> None:
    """A block of NUL bytes as a crash leaves it does not count as a long line."""
    raw = b"\0" * 5000 + b"Linux version 6.8\n"

    assert [(1, b"Linux version 6.8")] == [
        (number, line.lstrip(b"\0")) for number, line in lines_of(raw, SMALL)
    ]


def test_file_beyond_the_limit_is_left() -> None:
    """Of a larger file only the beginning is read, and it is said."""
    reader = Lines(io.BytesIO(b"line\n" * 1000), Limits(file=100, block=50))

    assert 20 >= sum(block.data.count(b"\n") for block in reader)
    assert "only the first 100 bytes were read" == reader.problem


def test_cut_is_kept_for_the_reader() -> None:
    """What could be read before a source broke off is given; then the reason stands in the problem."""

    class Broken:
        def __init__(self) -> None:
            self.pieces = [b"one\nt", b"wo\nthr"]

        def read(self, size: int, /) -> bytes:
            if not self.pieces:
                raise Cut("the disk is gone")
            return self.pieces.pop(0)

    source = Peekable(Broken())
    assert b"one\ntwo\nthr" == source.peek(100)
    reader = Lines(source, Limits())
    text = b"".join(block.data[block.start : block.end] for block in reader)

    assert b"one\ntwo\nthr\n" == text
    assert "the disk is gone" == reader.problem


@pytest.mark.parametrize("size", [10, 100_000, 2_000_000])
def test_line_feeds_are_counted_alike(size: int) -> None:
    """Small and large pieces are counted in different ways with one result."""
    data = b"ab\ncd" * size

    assert data[3 : 5 * size - 2].count(b"\n") == count_line_feeds(data, 3, 5 * size - 2)


def test_line_numbers_in_any_order() -> None:
    """Line numbers may be asked for backwards, too."""
    (block,) = Lines(io.BytesIO(b"a\nb\nc\nd\n"), Limits())

    assert [4, 1, 3, 2] == [block.line_number(place) for place in (6, 0, 4, 2)]
    assert 5 == block.next_line


@pytest.mark.parametrize(
    ("size", "expected"), [(12, "12 bytes"), (2048, "2 KiB"), (3 << 20, "3 MiB"), (5 << 30, "5 GiB")]
)
def test_sizes_read_well(size: int, expected: str) -> None:
    """Sizes are shown in the unit that people use."""
    assert expected == shown_size(size)
