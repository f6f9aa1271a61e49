"""The three search engines: given a block of lines, each names every place where a signature may match.

An engine returns *candidates*, which may be too many but never too few; the scanner confirms each on its line.
So the engines differ in speed only, never in what is found.

=========== ==================== =============================================================
engine      package              how
=========== ==================== =============================================================
hyperscan   ``hyperscan``        all signatures at once over the whole block (the fastest)
re2         ``google-re2``       a set of all signatures over 4 KiB, then over its lines
re          standard library     a search for each signature's fixed text (slow, always there)
=========== ==================== =============================================================

The compiled Hyperscan database is kept in a cache directory: a private file with a checksum, never a pickle. A
file that is damaged, of another version or not the user's own is not used but made anew.
"""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Protocol

from failgraph.graph import kept
from failgraph.loaders.signature import Signature
from failgraph.schema.errors import PackError, UsageError

ENGINE_NAMES: Final = ("hyperscan", "re2", "re")
"""All engines, the preferred one first."""

_PACKAGES: Final = {"hyperscan": "hyperscan", "re2": "google-re2"}
_RE2_BLOCK: Final = 4096
_RE2_MEMORY: Final = 512 * 1024 * 1024  # a ceiling; with too little, a set would silently find nothing
_CACHE_MAGIC: Final = b"failgraph signatures 1\n"

Candidate = tuple[int, int]
"""A place inside a line that may match (offset in the block) and the position of the signature."""


class Engine(Protocol):
    """What the scanner needs of an engine.

    Attributes:
        name: of the engine.
        is_exact: for each signature, whether a candidate is a line that the relaxed form matches.
    """

    name: str
    is_exact: list[bool]

    def candidates(self, data: bytes, start: int, end: int) -> list[Candidate]:
        """Return every place where a signature may match, in no particular order.

        Args:
            data: holds the lines.
            start: where they begin.
            end: where they end, with the last one's line end.
        """
        ...


def available_engines() -> dict[str, str]:
    """Return the engines that can be used here and the version of each, the preferred one first."""
    import platform
    from importlib import metadata

    return {
        name: metadata.version(_PACKAGES[name]) if name in _PACKAGES else platform.python_version()
        for name in ENGINE_NAMES
        if _is_installed(name)
    }


def _is_installed(name: str) -> bool:
    return name not in _PACKAGES or find_spec(name) is not None


def make_engine(name: str, signatures: Sequence[Signature], cache_dir: Path | None) -> Engine:
    """Return an engine for these signatures.

    Args:
        name: ``hyperscan``, ``re2``, ``re``, or ``auto`` for the best that is installed.
        signatures: what to search for.
        cache_dir: where the compiled database of Hyperscan is kept; None keeps none.

    Raises:
        UsageError: there is no such engine, or its package is not installed.
        PackError: an engine cannot read a signature.
    """
    if name == "auto":
        name = next(filter(_is_installed, ENGINE_NAMES))
    if name not in ENGINE_NAMES:
        raise UsageError(f"there is no search engine {name!r}; use auto, {', '.join(ENGINE_NAMES)}")
    if not _is_installed(name):
        raise UsageError(
            f"the search engine {name} needs the package {_PACKAGES[name]}, which is not installed"
        )
    if name == "hyperscan":
        return HyperscanEngine(signatures, cache_dir)
    return Re2Engine(signatures) if name == "re2" else LiteralEngine(signatures)


class HyperscanEngine:
    """All signatures in one database; a block is scanned in one call."""

    name = "hyperscan"

    def __init__(self, signatures: Sequence[Signature], cache_dir: Path | None) -> None:
        self._hyperscan: Any = import_module("hyperscan")
        self._lock = threading.Lock()  # a database's working memory serves one scan at a time
        self.from_cache = False
        self.is_exact = [True] * len(signatures)
        expressions = [signature.relaxed for signature in signatures]
        flags = [self._flags(signature) for signature in signatures]
        path = cache_dir / f"signatures-{self._key(expressions, flags)}.bin" if cache_dir else None
        database = self._load(path) if path else None
        if database is None:
            database = self._compile(signatures, expressions, flags)
            if path:
                kept.save(path, _CACHE_MAGIC, self._hyperscan.dumpb(database))
        else:
            self.from_cache = True
        self._database = database

    def candidates(self, data: bytes, start: int, end: int) -> list[Candidate]:
        """Return every place where a signature may match, in no particular order."""
        found: list[Candidate] = []
        append = found.append

        before = start - 1  # the end of a match lies behind it, perhaps on the line end

        def on_match(position: int, _start: int, match_end: int, _flags: int, _context: object) -> None:
            append((before + match_end, position))

        with self._lock:
            self._database.scan(memoryview(data)[start:end], match_event_handler=on_match)
        return found

    def _flags(self, signature: Signature) -> int:
        flags: int = self._hyperscan.HS_FLAG_MULTILINE
        return flags | self._hyperscan.HS_FLAG_CASELESS if signature.ignore_case else flags

    def _compile(self, signatures: Sequence[Signature], expressions: list[bytes], flags: list[int]) -> Any:
        if not expressions:
            expressions, flags = [rb"\x00failgraph\x00"], [0]  # a database cannot be empty
        try:
            return self._built(expressions, flags)
        except self._hyperscan.error:
            pass
        # A signature is too large or too odd: let the engine simplify it, or search for its fixed text.
        for position, signature in enumerate(signatures):
            for expression, extra in (
                (signature.relaxed, 0),
                (signature.relaxed, self._hyperscan.HS_FLAG_PREFILTER),
                (b"|".join(_escape(text) for text in signature.literals), 0),
            ):
                try:
                    self._built([expression], [flags[position] | extra])
                except self._hyperscan.error:
                    continue
                self.is_exact[position] = expression is signature.relaxed and not extra
                expressions[position] = expression
                flags[position] |= extra
                break
            else:
                raise PackError(
                    f"Hyperscan cannot read the signature {signature.pattern!r} of {signature.id}"
                )
        return self._built(expressions, flags)

    def _built(self, expressions: list[bytes], flags: list[int]) -> Any:
        database = self._hyperscan.Database(mode=self._hyperscan.HS_MODE_BLOCK)
        database.compile(expressions=expressions, ids=list(range(len(expressions))), flags=flags)
        return database

    def _key(self, expressions: list[bytes], flags: list[int]) -> str:
        digest = hashlib.sha256()
        for part in (self._hyperscan.__version__, os.uname().machine, sys.platform):
            digest.update(part.encode() + b"\0")
        for expression, flag in zip(expressions, flags, strict=True):
            digest.update(b"%d %s\0" % (flag, expression))
        return digest.hexdigest()[:32]

    def _load(self, path: Path) -> Any:
        body = kept.load(path, _CACHE_MAGIC)
        if body is None:
            return None
        try:
            database = self._hyperscan.loadb(body, self._hyperscan.HS_MODE_BLOCK)
            database.scratch = self._hyperscan.Scratch(database)
        except self._hyperscan.error:  # made for another processor
            return None
        return database


class Re2Engine:
    """A set of all signatures, asked first for 4 KiB and then, where something is in there, line by line."""

    name = "re2"

    def __init__(self, signatures: Sequence[Signature]) -> None:
        re2: Any = import_module("re2")
        self._set = re2.Set.SearchSet(re2_options(re2))
        for signature in signatures:
            flags = b"(?im)" if signature.ignore_case else b"(?m)"
            try:
                self._set.Add(flags + signature.relaxed)
            except re2.error as error:
                raise PackError(
                    f"RE2 cannot read the signature {signature.pattern!r} of {signature.id}: {error}"
                ) from error
        self._empty = not signatures
        self.is_exact = [True] * len(signatures)
        self._set.Compile()

    def candidates(self, data: bytes, start: int, end: int) -> list[Candidate]:
        """Return every place where a signature may match, in no particular order."""
        found: list[Candidate] = []
        if self._empty:
            return found
        while start < end:
            stop = data.find(b"\n", min(start + _RE2_BLOCK, end - 1), end) + 1 or end
            part = data[start:stop]
            if self._set.Match(part):
                offset = start
                for line in part.split(b"\n"):
                    found.extend((offset, position) for position in self._set.Match(line) or ())
                    offset += len(line) + 1
            start = stop
        return found


class LiteralEngine:
    """A search for the fixed text of each signature; a signature without any makes every line a candidate."""

    name = "re"

    def __init__(self, signatures: Sequence[Signature]) -> None:
        self._exact: dict[bytes, list[int]] = {}
        self._any_case: dict[bytes, list[int]] = {}
        self._every_line: list[int] = []
        self.is_exact = [False] * len(signatures)
        for position, signature in enumerate(signatures):
            if not signature.literals:
                self._every_line.append(position)
            table = self._any_case if signature.ignore_case else self._exact
            for text in signature.literals:
                table.setdefault(text, []).append(position)

    def candidates(self, data: bytes, start: int, end: int) -> list[Candidate]:
        """Return every place where a signature may match, in no particular order."""
        found: list[Candidate] = []
        self._search(data, start, end, self._exact, found)
        if self._any_case:
            self._search(data.lower(), start, end, self._any_case, found)
        if self._every_line:
            offset = start
            for line in data[start:end].split(b"\n"):
                found.extend((offset, position) for position in self._every_line)
                offset += len(line) + 1
        return found

    @staticmethod
    def _search(
        data: bytes, start: int, end: int, table: dict[bytes, list[int]], found: list[Candidate]
    ) -> None:
        for text, positions in table.items():
            offset = data.find(text, start, end)
            while offset >= 0:
                found.extend((offset, position) for position in positions)
                line_end = data.find(b"\n", offset, end)
                offset = data.find(text, line_end, end) if line_end >= 0 else -1


def re2_options(re2: Any) -> Any:
    """Return the options under which RE2 reads bytes as ``re`` does: one byte, one character."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = _RE2_MEMORY
    options.log_errors = False
    return options


def _escape(text: bytes) -> bytes:
    return b"".join(b"\\x%02x" % byte for byte in text)
