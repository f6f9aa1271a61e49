"""Decompresses and takes archives apart in passing: bounded, nothing is ever written where a member's name says.

Formats are told by their first bytes. A compressed stream that ends early gives what could be salvaged and then
says that it was cut; a stream that becomes far larger than it was is stopped. The tar reader is our own, because
it must neither seek nor trust a size that a header claims.
"""

from __future__ import annotations

import bz2
import lzma
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any, Final, Protocol

from failgraph.loaders.stream import KIBI, MEBI, Cut, Limits, Reader, shown_size

_MAGIC: Final = (
    ("gz", b"\x1f\x8b\x08"),
    ("xz", b"\xfd7zXZ\x00"),
    ("bz2", b"BZh"),
    ("zst", b"\x28\xb5\x2f\xfd"),
    ("zip", b"PK\x03\x04"),
    ("zip", b"PK\x05\x06"),
)
_TAR_RECORD: Final = 512
_LONGEST_NAME: Final = 64 * KIBI
_LARGEST_DIRECTORY: Final = 32 * MEBI
_XZ_MEMORY: Final = 256 * MEBI
_ZSTD_WINDOW: Final = 128 * MEBI
_ZSTD_PIECE: Final = KIBI
_READ: Final = 64 * KIBI
_LONGEST_MAGIC: Final = 16

CONTAINERS: Final = frozenset({"tar", "zip"})
"""Formats that hold named members; the others hold one stream."""


def packed_as(head: bytes) -> str | None:
    """Return the format a file is packed in, by its first bytes: gz, xz, bz2, zst, zip, tar; None: not packed."""
    for name, magic in _MAGIC:
        if head.startswith(magic) and (name != "bz2" or head[4:10] in (b"1AY&SY", b"\x17rE8P\x90")):
            return name
    if len(head) >= _TAR_RECORD and head[0] and _tar_checksum_fits(head[:_TAR_RECORD]):
        return "tar"
    return None


class Unpacked:
    """The bytes of a compressed stream, made as they are read.

    Args:
        packed: the compressed bytes.
        kind: gz, xz, bz2 or zst.
        limits: how large and how many times larger it may become.
    """

    def __init__(self, packed: Reader, kind: str, limits: Limits) -> None:
        self._counted = _Counted(packed)
        self._limits = limits
        self._given = 0
        self._reader: Reader = _Zstd(self._counted) if kind == "zst" else _Members(self._counted, kind)

    def read(self, size: int, /) -> bytes:
        """Return up to ``size`` bytes; none at the end.

        Raises:
            Cut: the stream is damaged, ends early or becomes too large.
        """
        chunk = self._reader.read(size)
        self._given += len(chunk)
        _refuse_bomb(self._given, self._counted.count, self._limits)
        return chunk


def _refuse_bomb(unpacked: int, packed: int, limits: Limits) -> None:
    if unpacked > limits.ratio_from and unpacked > limits.ratio * packed:
        raise Cut(
            f"it unpacks to over {limits.ratio} times its size and was left after {shown_size(unpacked)}"
        )


class _Counted:
    """Counts what is read."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.count = 0

    def read(self, size: int, /) -> bytes:
        chunk = self._reader.read(size)
        self.count += len(chunk)
        return chunk


class _Decompressor(Protocol):
    """What the three decompressors of the standard library share, brought to one form."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def feed(self, data: bytes, size: int) -> bytes: ...

    @property
    def hungry(self) -> bool: ...


class _Zlib:
    def __init__(self) -> None:
        self._inner = zlib.decompressobj(31)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    @property
    def hungry(self) -> bool:
        return not self._inner.unconsumed_tail

    def feed(self, data: bytes, size: int) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, size)


class _Buffered:
    """bz2 and lzma keep their own input."""

    def __init__(self, inner: bz2.BZ2Decompressor | lzma.LZMADecompressor) -> None:
        self._inner = inner

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    @property
    def hungry(self) -> bool:
        return self._inner.needs_input

    def feed(self, data: bytes, size: int) -> bytes:
        return self._inner.decompress(data, size)


_MAKERS: Final[dict[str, Callable[[], Any]]] = {
    "gz": _Zlib,
    "bz2": lambda: _Buffered(bz2.BZ2Decompressor()),
    "xz": lambda: _Buffered(lzma.LZMADecompressor(memlimit=_XZ_MEMORY)),
}


class _Members:
    """Compressed members one after the other, as gzip, bzip2 and xz allow (a bug report has dozens)."""

    def __init__(self, packed: Reader, kind: str) -> None:
        self._packed = packed
        self._kind = kind
        self._current: _Decompressor = _MAKERS[kind]()
        self._rest = b""
        self._done = False

    def read(self, size: int, /) -> bytes:
        while not self._done:
            if self._current.eof:
                self._next_member()
                continue
            data, ended = b"", False
            if self._current.hungry:
                data, self._rest = (self._rest or self._packed.read(_READ)), b""
                ended = not data
            try:
                chunk = self._current.feed(data, size)
            except (zlib.error, lzma.LZMAError, OSError) as error:
                raise Cut(f"the compressed data is damaged ({error})") from error
            if chunk:
                return chunk
            if ended and not self._current.eof:
                raise Cut("the compressed data ends early")
        return b""

    def _next_member(self) -> None:
        """Begin the next member, if one follows; anything else behind a member is padding."""
        rest = self._current.unused_data.lstrip(b"\0")
        while len(rest) < _LONGEST_MAGIC:
            more = self._packed.read(_READ)
            if not more:
                break
            rest = (rest + more).lstrip(b"\0")
        self._done = packed_as(rest[:_LONGEST_MAGIC]) != self._kind
        self._current, self._rest = _MAKERS[self._kind](), rest


class _Zstd:
    """Zstandard frames one after the other; fed in small pieces, because each byte may become many."""

    def __init__(self, packed: Reader) -> None:
        import zstandard

        self._error = zstandard.ZstdError
        self._maker = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
        self._packed = packed
        self._current = self._maker.decompressobj()
        self._in = b""
        self._out = b""

    def read(self, size: int, /) -> bytes:
        while not self._out:
            if self._current.eof:
                self._in = self._current.unused_data + self._in
                self._current = self._maker.decompressobj()
                self._fill()
                if packed_as(self._in[:_LONGEST_MAGIC]) != "zst":
                    return b""
            self._fill()
            if not self._in:
                raise Cut("the compressed data ends early")
            piece, self._in = self._in[:_ZSTD_PIECE], self._in[_ZSTD_PIECE:]
            try:
                self._out = self._current.decompress(piece)
            except self._error as error:
                raise Cut(f"the compressed data is damaged ({error})") from error
        chunk, self._out = self._out[:size], self._out[size:]
        return chunk

    def _fill(self) -> None:
        if len(self._in) < _ZSTD_PIECE:
            self._in += self._packed.read(_READ)


class Member:
    """A member of an archive: its name as the archive says it, and its bytes until the next member is asked for.

    Attributes:
        name: never used as a path on this machine.
        reader: the bytes; None where there is nothing to read.
        problem: why it cannot be read.
    """

    def __init__(self, name: str, reader: Reader | None, problem: str | None = None) -> None:
        self.name = name
        self.reader = reader
        self.problem = problem


def tar_members(archive: Reader) -> Iterator[Member]:
    """Yield the regular files of a tar stream, in its order.

    Raises:
        Cut: the archive is damaged or ends early; members before that were given.
    """
    name = b""
    size_said: int | None = None
    while True:
        header = _exactly(archive, _TAR_RECORD)
        if not header.strip(b"\0"):
            return
        if len(header) < _TAR_RECORD or not _tar_checksum_fits(header):
            raise Cut("the archive is damaged or ends early")
        size = _tar_number(header[124:136]) if size_said is None else size_said
        kind = header[156:157]
        body = _Limited(archive, size)
        if kind in (b"L", b"x", b"g", b"K"):
            if size > (_LONGEST_NAME if kind in b"LK" else MEBI):
                raise Cut("the archive has an oversized header")
            content = _exactly(body, size)
            if kind == b"L":
                name = content.rstrip(b"\0")
            elif kind == b"x":
                said = _pax_records(content)
                name = said.get(b"path", name)
                size_said = int(said[b"size"]) if said.get(b"size", b"").isdigit() else None
        else:
            prefix = header[345:500].rstrip(b"\0") if header[257:263] == b"ustar\0" else b""
            plain = header[:100].split(b"\0", 1)[0]
            name = name or (prefix + b"/" + plain if prefix else plain)
            shown = name.decode("utf-8", errors="replace")
            if kind in (b"0", b"\0", b"7") and not shown.endswith("/"):
                yield Member(shown, body)
            elif kind == b"S":
                yield Member(shown, None, "it is a sparse file")
            name, size_said = b"", None
        body.skip()
        _exactly(archive, -size % _TAR_RECORD)


def zip_members(archive: IO[bytes], limits: Limits) -> Iterator[Member]:
    """Yield the files of a zip archive, by name.

    Args:
        archive: the archive, in which one can seek.
        limits: how many times larger a member may become.

    Raises:
        Cut: the archive is damaged.
    """
    _refuse_large_directory(archive)
    try:
        with zipfile.ZipFile(archive) as opened:
            for info in sorted(opened.infolist(), key=lambda item: (item.filename, item.header_offset)):
                if info.is_dir():
                    continue
                if info.flag_bits & 1:
                    yield Member(info.filename, None, "it is encrypted")
                    continue
                try:
                    with opened.open(info) as stream:
                        yield Member(info.filename, _ZipStream(stream, info.compress_size, limits))
                except (NotImplementedError, zipfile.BadZipFile) as error:
                    yield Member(info.filename, None, f"the archive is damaged here ({error})")
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise Cut(f"the archive is damaged ({error})") from error


def copied(reader: Reader, limits: Limits) -> IO[bytes]:
    """Return a seekable copy of a stream, in memory if it is small, else in a temporary file without a name.

    Raises:
        Cut: it is larger than the limit for copies.
    """
    copy = tempfile.SpooledTemporaryFile(max_size=8 * MEBI)  # noqa: SIM115 - the caller closes it
    size = 0
    while chunk := reader.read(_READ):
        size += len(chunk)
        if size > limits.spool:
            copy.close()
            raise Cut(f"an archive inside an archive is larger than {shown_size(limits.spool)}")
        copy.write(chunk)
    copy.seek(0)
    return copy


class _ZipStream:
    """A member of a zip archive."""

    def __init__(self, stream: IO[bytes], packed: int, limits: Limits) -> None:
        self._stream = stream
        self._packed = packed
        self._limits = limits
        self._given = 0

    def read(self, size: int, /) -> bytes:
        try:
            chunk = self._stream.read(size)
        except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError) as error:
            raise Cut(f"the compressed data is damaged ({error})") from error
        self._given += len(chunk)
        _refuse_bomb(self._given, self._packed, self._limits)
        return chunk


class _Limited:
    """The next ``size`` bytes of a reader."""

    def __init__(self, reader: Reader, size: int) -> None:
        self._reader = reader
        self._left = size

    def read(self, size: int, /) -> bytes:
        if not self._left:
            return b""
        chunk = self._reader.read(min(size, self._left))
        if not chunk:
            raise Cut("the archive ends early")
        self._left -= len(chunk)
        return chunk

    def skip(self) -> None:
        while self._left:
            self.read(_READ)


def _exactly(reader: Reader, size: int) -> bytes:
    """Return ``size`` bytes, or fewer at the end."""
    parts: list[bytes] = []
    while size:
        chunk = reader.read(size)
        if not chunk:
            break
        parts.append(chunk)
        size -= len(chunk)
    return b"".join(parts)


def _tar_number(field: bytes) -> int:
    if field[0] in (0x80, 0xFF):
        value = int.from_bytes(field[1:], "big")
        if field[0] == 0xFF or value >= 1 << 62:
            raise Cut("the archive is damaged")
        return value
    text = field.split(b"\0", 1)[0].strip()
    try:
        return int(text, 8) if text else 0
    except ValueError as error:
        raise Cut("the archive is damaged") from error


def _tar_checksum_fits(header: bytes) -> bool:
    try:
        said = int(header[148:156].split(b"\0", 1)[0].strip() or b"x", 8)
    except ValueError:
        return False
    return said == sum(header[:148]) + 8 * 0x20 + sum(header[156:_TAR_RECORD])


def _pax_records(content: bytes) -> dict[bytes, bytes]:
    records: dict[bytes, bytes] = {}
    while content:
        length_text, _, _ = content.partition(b" ")
        if not length_text.isdigit() or not 0 < int(length_text) <= len(content):
            break
        key, _, value = content[len(length_text) + 1 : int(length_text) - 1].partition(b"=")
        records[key] = value
        content = content[int(length_text) :]
    return records


def _refuse_large_directory(archive: IO[bytes]) -> None:
    """The list of members is read at once; look at its size first."""
    archive.seek(0, 2)
    size = archive.tell()
    archive.seek(max(0, size - 66 * KIBI))
    tail = archive.read()
    end = tail.rfind(b"PK\x05\x06")
    if end < 0 or len(tail) < end + 22:
        raise Cut("the archive is damaged or ends early")
    directory = int.from_bytes(tail[end + 12 : end + 16], "little")
    if directory == 0xFFFFFFFF:
        place = tail.rfind(b"PK\x06\x06", 0, end)
        directory = int.from_bytes(tail[place + 40 : place + 48], "little") if place >= 0 else directory
    if directory > _LARGEST_DIRECTORY:
        raise Cut(f"the list of its members is larger than {shown_size(_LARGEST_DIRECTORY)}")
    archive.seek(0)
