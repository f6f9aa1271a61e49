"""Finds all log signatures of the loaded packs in one pass over text.

The scanner works on blocks of whole lines. An engine names candidates (see :mod:`failgraph.loaders.engines`), and
only those lines are looked at one by one: a signature counts when it matches the line, or, if it looks at the
start of a line, what follows the line's prefix. Confirmation is by RE2, whose time is linear in the line, or by
the standard library where RE2 is not installed. A line is searched without its line end. In a flood of one line
confirmation ends once the engine has proven right often enough.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

from failgraph.loaders.engines import make_engine, re2_options
from failgraph.loaders.signature_cache import Written, parsed_signatures
from failgraph.schema.errors import PackError
from failgraph.schema.lexicon import Lexicon, LexiconEntry
from failgraph.schema.nodes import ObservableKind

SCANNED_KINDS: Final = frozenset({ObservableKind.LOG, ObservableKind.EVENT})
"""Kinds of observables whose signature is a regular expression."""

BLOCK_LINES: Final = 50
"""A multiline signature matches within this many lines."""

BOOT_MARK: Final = "mark:boot"
BOOT_ROW_MARK: Final = "mark:boot-row"
WALL_CLOCK_MARK: Final = "mark:wall-clock"
NCCL_RANK_MARK: Final = "mark:nccl-rank"

MARKS: Final = {
    BOOT_MARK: r"Linux version \d",
    BOOT_ROW_MARK: r"-- (?:Boot [0-9a-f]{8,}|Reboot) --",
    WALL_CLOCK_MARK: r"setting system clock to \d{4}-",
    NCCL_RANK_MARK: r"rank \d+ nranks \d+ cudaDev \d+",
}
"""Lines that readers need besides the signatures: found in the same pass, never reported as findings."""

_TRIALS: Final = 32
# After so many confirmed lines without a false one, an engine that decides exactly is believed for this signature.

PrefixLength = Callable[[bytes], int]
"""Tells how many bytes at the start of a line belong to its prefix (time, host, rank)."""


class Hit(NamedTuple):
    """A signature (or mark) on a line: where the line is in the data, and the position of the signature."""

    start: int
    end: int
    position: int


class Scanner:
    """All log and event signatures of a lexicon, ready to search.

    Args:
        lexicon: the observables; those of other kinds are left out.
        engine: ``auto``, ``hyperscan``, ``re2`` or ``re``. All find the same.
        cache_dir: where parsed signatures and a compiled database may be kept between runs; None keeps none.

    Attributes:
        entries: the observables that are searched for, ordered by id.
        engine: name of the engine in use.

    Raises:
        PackError: a signature cannot be used.
        UsageError: the engine is not known or not installed.
    """

    def __init__(self, lexicon: Lexicon, engine: str = "auto", cache_dir: Path | None = None) -> None:
        self.entries: tuple[LexiconEntry, ...] = tuple(
            sorted((entry for entry in lexicon.entries if entry.kind in SCANNED_KINDS), key=lambda e: e.id)
        )
        written = [Written(entry.id, entry.signature, entry.multiline) for entry in self.entries]
        written += [Written(name, pattern) for name, pattern in MARKS.items()]
        self._signatures = parsed_signatures(written, cache_dir)
        self._engine = make_engine(engine, self._signatures, cache_dir)
        self.engine = self._engine.name
        self._re2: Any = import_module("re2") if self.engine != "re" and find_spec("re2") else None
        self._re2_error: type[Exception] = self._re2.error if self._re2 is not None else re.error
        self._exact: dict[int, Any] = {}
        self._trials = [
            _TRIALS if signature.settled and is_exact else -1
            for signature, is_exact in zip(self._signatures, self._engine.is_exact, strict=True)
        ]

    def name(self, position: int) -> str:
        """Return the observable id (or the name of the mark) at this position."""
        return self._signatures[position].id

    def is_mark(self, position: int) -> bool:
        """Return whether the position is a mark and not an observable."""
        return position >= len(self.entries)

    def is_multiline(self, position: int) -> bool:
        """Return whether the signature is matched over several lines."""
        return self._signatures[position].multiline

    def span(self, position: int, text: bytes) -> tuple[int, int]:
        """Return where a signature matches in a text, (0, 0) if it does not."""
        match = self._compiled(position).search(text)
        return match.span() if match is not None else (0, 0)

    def scan(
        self,
        data: bytes,
        prefix_length: PrefixLength | None = None,
        *,
        start: int = 0,
        end: int | None = None,
    ) -> tuple[list[Hit], list[Hit]]:
        """Search whole lines.

        Args:
            data: holds the lines, each with its line end.
            prefix_length: tells where the text of a line begins; None: at its start.
            start: where the lines begin in ``data``.
            end: where they end; None: at its end.

        Returns:
            The confirmed hits, in order of lines, and the lines near which a multiline signature may match
            (to be settled with :meth:`block_matches`).
        """
        hits: list[Hit] = []
        anchors: list[Hit] = []
        line, line_start, line_end = b"", -1, -1
        seen: set[int] = set()
        for offset, position in sorted(
            self._engine.candidates(data, start, len(data) if end is None else end)
        ):
            if not line_start <= offset <= line_end:
                line_start = data.rfind(b"\n", 0, offset) + 1
                line_end = data.find(b"\n", offset)
                line_end = len(data) if line_end < 0 else line_end
                line = data[line_start:line_end]
                seen = set()
            if position in seen:
                continue
            seen.add(position)
            if self._signatures[position].multiline:
                anchors.append(Hit(line_start, line_end, position))
            elif self._matches_line(position, line, prefix_length):
                hits.append(Hit(line_start, line_end, position))
        hits.sort()  # engines name the signatures of one line in different order
        anchors.sort()
        return hits, anchors

    def block_matches(self, position: int, text: bytes) -> Iterator[tuple[int, int]]:
        """Yield start and end of each match of a multiline signature in the text of a few lines."""
        for match in self._compiled(position).finditer(text):
            yield match.span()

    def matches(self, text: str) -> frozenset[str]:
        """Return the observables whose signature matches a short text: on a line, or over its lines.

        >>> from failgraph.schema.lexicon import Lexicon
        >>> Scanner(Lexicon((), "none"), engine="re").matches("no signatures, no findings")
        frozenset()
        """
        raw = text.encode("utf-8", errors="replace")
        hits, anchors = self.scan(raw if raw.endswith(b"\n") else raw + b"\n")
        found = {hit.position for hit in hits if not self.is_mark(hit.position)}
        for position in {anchor.position for anchor in anchors}:
            if any(True for _ in self.block_matches(position, raw)):
                found.add(position)
        return frozenset(self.entries[position].id for position in found)

    def _matches_line(self, position: int, line: bytes, prefix_length: PrefixLength | None) -> bool:
        if self._trials[position] == 0:
            return True
        exact = self._compiled(position)
        if exact.search(line) is not None:
            if self._trials[position] > 0:
                self._trials[position] -= 1
            return True
        self._trials[position] = -1
        if not self._signatures[position].anchored or prefix_length is None:
            return False
        length = prefix_length(line)
        return length > 0 and exact.search(line[length:]) is not None

    def _compiled(self, position: int) -> Any:
        """Return the exact pattern, compiled when it is first needed: most never are."""
        exact = self._exact.get(position)
        if exact is None:
            exact = self._exact[position] = self._compile(position)
        return exact

    def _compile(self, position: int) -> Any:
        signature = self._signatures[position]
        # RE2 reads bytes as Latin-1 and would also fold the case of bytes that are parts of other characters.
        engine = "Python"
        try:
            if self._re2 is None or (signature.ignore_case and not signature.pattern.isascii()):
                return re.compile(signature.exact, re.MULTILINE)
            engine = "RE2"
            return self._re2.compile(b"(?m)" + signature.exact, re2_options(self._re2))
        except (re.error, self._re2_error) as error:
            raise PackError(
                f"{engine} cannot read the signature {signature.pattern!r} of {signature.id}: {error}"
            ) from error


def default_cache_dir() -> Path:
    """Return the directory where compiled signatures are kept between runs."""
    from platformdirs import user_cache_path

    return user_cache_path("failgraph") / "signatures"
