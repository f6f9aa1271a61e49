"""Finds the files of an incident: in directories, in archives and on standard input, in one fixed order.

A name in the result is relative to the argument and never used as a path again; members of archives are read in
passing and never written where their name says. Each real directory and each real file is visited once, links
are followed only inside the directory that was given, and what is no regular file is passed over.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from failgraph.loaders.stream import Cut, Limits, Peekable, Reader, shown_size
from failgraph.loaders.unpack import CONTAINERS, Unpacked, copied, packed_as, tar_members, zip_members

STANDARD_INPUT: Final = "-"

_HEAD: Final = 1024
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Source:
    """A file on this machine.

    Attributes:
        name: relative to the argument, for people.
        path: where it is; None: standard input.
        size: bytes on disk; 0 where that is not known.
        problem: why it cannot be read.
    """

    name: str
    path: Path | None
    size: int = 0
    problem: str | None = None


@dataclass(frozen=True)
class Leaf:
    """A stream of text or other content: a file, or what was packed in one.

    Attributes:
        name: relative to the argument; a member's name follows the archive's.
        reader: its bytes, to be read before the next leaf is asked for; None where there is nothing to read.
        problem: why it, or the rest of its archive, cannot be read.
    """

    name: str
    reader: Peekable | None
    problem: str | None = None


class Budget:
    """What may still be read in this incident, over all files.

    Args:
        limits: how much that is.
        on_bytes: called with the number of bytes whenever some were read from a file.
    """

    def __init__(self, limits: Limits, on_bytes: Callable[[int], None] | None = None) -> None:
        self.limits = limits
        self._left = limits.total
        self._files = limits.files
        self._on_bytes = on_bytes

    def spend(self, count: int) -> None:
        """Take note of text that was read.

        Raises:
            Cut: it was the last that may be read.
        """
        self._left -= count
        if self._left < 0:
            raise Cut(f"all files together are larger than {shown_size(self.limits.total)}")

    def begin_file(self) -> None:
        """Take note of one more file or member.

        Raises:
            Cut: there are too many.
        """
        self._files -= 1
        if self._files < 0:
            raise Cut(f"there are more than {self.limits.files} files")

    def report(self, count: int) -> None:
        """Tell the progress of reading from disk."""
        if self._on_bytes is not None:
            self._on_bytes(count)


def list_sources(paths: Sequence[Path]) -> list[Source]:
    """Return the files of an incident, sorted by name, those that cannot be read among them.

    Args:
        paths: files, directories, or ``-`` for standard input. With several arguments, names begin with the
            argument's own name.
    """
    seen: set[tuple[int, int]] = set()
    sources: list[Source] = []
    prefixes: set[str] = set()
    for path in paths:
        if str(path) == STANDARD_INPUT:
            sources.append(Source(STANDARD_INPUT, None))
            continue
        prefix = ""
        if len(paths) > 1:
            own = shown_name(path.name or path.resolve().name or "root")
            prefix = own
            copy = 1
            while prefix in prefixes:
                copy += 1
                prefix = f"{own}#{copy}"
            prefixes.add(prefix)
        sources.extend(_sources_of(path, prefix, seen))
    return sorted(sources, key=lambda source: (source.path is None, source.name.encode()))


def _sources_of(path: Path, prefix: str, seen: set[tuple[int, int]]) -> Iterator[Source]:
    own = prefix or shown_name(path.name or str(path))
    try:
        status = path.stat()
    except OSError as error:
        yield Source(own, path, problem=_reason(error))
        return
    if stat.S_ISDIR(status.st_mode):
        yield from _walk(path, Path(os.path.realpath(path)), prefix, seen)
    elif stat.S_ISREG(status.st_mode) or _is_given_pipe(path, status):
        if _first_visit(status, seen):
            yield Source(own, path, status.st_size)
    else:
        yield Source(own, path, problem="it is no regular file")


def _walk(directory: Path, root: Path, prefix: str, seen: set[tuple[int, int]]) -> Iterator[Source]:
    """Yield the files below a directory; ``root`` is the real path of the one that was given."""
    pending = [(directory, prefix)]
    while pending:
        current, shown = pending.pop()
        try:
            if not _first_visit(current.stat(), seen):
                continue
            with os.scandir(current) as entries:
                ordered = sorted(entries, key=lambda entry: os.fsencode(entry.name))
        except OSError as error:
            yield Source(shown or ".", current, problem=_reason(error))
            continue
        for entry in ordered:
            name = f"{shown}/{shown_name(entry.name)}" if shown else shown_name(entry.name)
            path = Path(entry.path)
            try:
                status = path.stat()
                outside = entry.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(root)
            except OSError as error:
                yield Source(name, path, problem=_reason(error))
                continue
            if outside:
                yield Source(name, path, problem="it is a link to something outside the directory")
            elif stat.S_ISDIR(status.st_mode):
                if not entry.is_symlink():  # what it links to is visited under its own name
                    pending.append((path, name))
            elif not stat.S_ISREG(status.st_mode):
                yield Source(name, path, problem="it is no regular file")
            elif not entry.is_symlink() and _first_visit(status, seen):
                yield Source(name, path, status.st_size)


def _first_visit(status: os.stat_result, seen: set[tuple[int, int]]) -> bool:
    key = (status.st_dev, status.st_ino)
    if key in seen:
        return False
    seen.add(key)
    return True


def _is_given_pipe(path: Path, status: os.stat_result) -> bool:
    """Return whether this is the end of a pipe that the shell made (``<(command)``), which has a writer."""
    return stat.S_ISFIFO(status.st_mode) and str(path).startswith(("/dev/fd/", "/proc/self/fd/"))


@contextmanager
def open_source(source: Source, budget: Budget) -> Iterator[IO[bytes]]:
    """Open a file of this machine for reading.

    Raises:
        Cut: it cannot be opened, or is no regular file any more.
    """
    if source.path is None:
        yield sys.stdin.buffer
        return
    try:
        # Without O_NONBLOCK the open itself would wait if a pipe was put in the file's place meanwhile.
        handle = os.open(source.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise Cut(_reason(error)) from error
    with os.fdopen(handle, "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        if stat.S_ISFIFO(status.st_mode) and _is_given_pipe(source.path, status):
            os.set_blocking(file.fileno(), True)
        elif not stat.S_ISREG(status.st_mode):
            raise Cut("it is no regular file")
        yield file


def leaves(source: Source, budget: Budget) -> Iterator[Leaf]:
    """Yield what a file holds: itself, or the members of the archive it is.

    Each leaf's reader is good until the next leaf is asked for.
    """
    if source.problem is not None:
        yield Leaf(source.name, None, source.problem)
        return
    try:
        with open_source(source, budget) as file:
            yield from _unfolded(source.name, _FileReader(file, budget), file, budget, budget.limits.depth)
    except Cut as cut:
        yield Leaf(source.name, None, cut.reason)


def _unfolded(
    name: str, reader: Reader, file: IO[bytes] | None, budget: Budget, depth: int
) -> Iterator[Leaf]:
    """Yield the leaves of a stream; ``file`` is the same stream where it can be sought in."""
    budget.begin_file()
    peekable = Peekable(reader)
    kind = packed_as(peekable.peek(_HEAD))
    if kind is None:
        yield Leaf(name, Peekable(_Spending(peekable, budget), is_packed=file is None))
        return
    if depth == 0:
        yield Leaf(name, None, "it is an archive inside an archive inside an archive; unpack it first")
        return
    if kind not in CONTAINERS:
        unpacked = Peekable(Unpacked(peekable, kind, budget.limits))
        inner = packed_as(unpacked.peek(_HEAD))
        if inner == "tar":  # one archive to its user, though two formats
            yield from _members(name, unpacked, None, "tar", budget, depth)
        elif inner is not None:
            yield from _unfolded(name, unpacked, None, budget, depth - 1)
        else:
            yield Leaf(name, Peekable(_Spending(unpacked, budget), is_packed=True))
        return
    yield from _members(name, peekable, file, kind, budget, depth)


def _members(
    name: str, reader: Reader, file: IO[bytes] | None, kind: str, budget: Budget, depth: int
) -> Iterator[Leaf]:
    times: dict[str, int] = {}
    with ExitStack() as stack:
        try:
            if kind == "tar":
                members = tar_members(reader)
            elif file is not None and file.seekable():
                members = zip_members(file, budget.limits)
            else:
                members = zip_members(stack.enter_context(copied(reader, budget.limits)), budget.limits)
            for member in members:
                own = member_name(member.name)
                times[own] = times.get(own, 0) + 1
                shown = f"{name}/{own}" if times[own] == 1 else f"{name}/{own}#{times[own]}"
                if member.reader is None:
                    yield Leaf(shown, None, member.problem)
                    continue
                try:
                    yield from _unfolded(shown, member.reader, None, budget, depth - 1)
                except Cut as cut:
                    if kind == "tar":
                        raise  # the members behind it cannot be found
                    yield Leaf(shown, None, cut.reason)
        except Cut as cut:
            yield Leaf(name, None, cut.reason)


def member_name(name: str) -> str:
    """Return the name of a member as it is shown: relative, without steps upwards.

    >>> member_name("/../../etc/passwd")
    'etc/passwd'
    """
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    return shown_name("/".join(parts)) or "unnamed"


def shown_name(name: str) -> str:
    """Return a file name that can be printed and stored: valid text without control characters."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", os.fsencode(name).decode("utf-8", errors="replace"))


def _reason(error: OSError) -> str:
    words = error.strerror or type(error).__name__
    return f"it cannot be opened: {words[0].lower()}{words[1:]}"


class _FileReader:
    """Reads a file, tells the progress and turns the system's errors into a cut."""

    def __init__(self, file: IO[bytes], budget: Budget) -> None:
        self._file = file
        self._budget = budget

    def read(self, size: int, /) -> bytes:
        try:
            chunk = self._file.read(size)
        except OSError as error:
            raise Cut(f"it cannot be read to its end: {error.strerror}") from error
        self._budget.report(len(chunk))
        return chunk


class _Spending:
    """Counts what is read of a leaf against the budget of the incident."""

    def __init__(self, reader: Reader, budget: Budget) -> None:
        self._reader = reader
        self._budget = budget

    def read(self, size: int, /) -> bytes:
        chunk = self._reader.read(size)
        self._budget.spend(len(chunk))
        return chunk
