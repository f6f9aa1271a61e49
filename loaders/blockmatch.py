"""Settles multiline signatures: each is matched over the lines around a line that holds its fixed text.

Only lines of the same host and rank count, because ranks interleave; the lines are tried as they are and without
their prefixes. A match spans at most :data:`~failgraph.loaders.scanner.BLOCK_LINES` lines. What lies at the end of
a block of the file waits for the next one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from failgraph.loaders.parsers.base import Facts, LineParser
from failgraph.loaders.scanner import BLOCK_LINES, Hit, Scanner
from failgraph.loaders.views import View

_AROUND: Final = BLOCK_LINES - 1
_BLOCKS_KEPT: Final = 3  # every other block may be a single line
_MOST_ANCHORS: Final = 2000
"""So many places of one signature are tried in one file; a file with more repeats itself."""

OnMatch = Callable[[int, int, bytes, Facts], None]
"""Called with the position of the signature, the number of the first line, the matched text and the facts."""


@dataclass
class _Anchor:
    """A line that holds the fixed text of a signature, and the lines around it."""

    position: int
    number: int
    facts: Facts
    line: bytes
    before: list[bytes]
    after: list[bytes]


class BlockMatcher:
    """Collects the lines around anchors over the blocks of one file.

    Args:
        scanner: the signatures.
        parser: reads the prefix of a line; None where lines have none.
        on_match: called for each match.
    """

    def __init__(self, scanner: Scanner, parser: LineParser | None, on_match: OnMatch) -> None:
        self._scanner = scanner
        self._parser = parser
        self._on_match = on_match
        self._earlier: list[View] = []
        self._waiting: list[_Anchor] = []
        self._tried: Counter[int] = Counter()
        self._found: set[tuple[int, int]] = set()

    def begin(self, view: View) -> None:
        """Take the next block of the file; call before the anchors in it are added."""
        if not self._waiting:
            return
        following = _first_lines(view, view.start, _AROUND)
        still_waiting = []
        for anchor in self._waiting:
            anchor.after += following[: _AROUND - len(anchor.after)]
            if len(anchor.after) < _AROUND:
                still_waiting.append(anchor)
            else:
                self._settle(anchor)
        self._waiting = still_waiting

    def add(self, hit: Hit, view: View) -> None:
        """Take a line of the current block that holds the fixed text of a signature."""
        self._tried[hit.position] += 1
        if self._tried[hit.position] > _MOST_ANCHORS:
            return
        before = _last_lines(view, hit.start, _AROUND)
        for earlier in reversed(self._earlier):
            before = _last_lines(earlier, earlier.end, _AROUND - len(before)) + before
        anchor = _Anchor(
            hit.position,
            view.number(hit.start),
            view.facts(hit.start),
            view.data[hit.start : hit.end],
            before,
            _first_lines(view, hit.end + 1, _AROUND),
        )
        if len(anchor.after) < _AROUND:
            self._waiting.append(anchor)
        else:
            self._settle(anchor)

    def end(self, view: View) -> None:
        """Take leave of a block: its last lines may be needed for anchors in the next."""
        self._earlier = [*self._earlier[1 - _BLOCKS_KEPT :], view]

    def finish(self) -> None:
        """Settle what waits for lines that will not come."""
        for anchor in self._waiting:
            self._settle(anchor)
        self._waiting = []

    def _settle(self, anchor: _Anchor) -> None:
        own = (anchor.facts.host, anchor.facts.rank)
        kept: list[tuple[int, bytes, int]] = []
        middle = 0
        first = anchor.number - len(anchor.before)
        for offset, line in enumerate([*anchor.before, anchor.line, *anchor.after]):
            facts = self._parser.facts(line) if self._parser is not None else None
            is_anchor = offset == len(anchor.before)
            if is_anchor:
                middle = len(kept)
            if is_anchor or facts is None or (facts.host, facts.rank) == own:
                kept.append((first + offset, line, facts.start if facts is not None else 0))
        for lines in ([line for _, line, _ in kept], [line[start:] for _, line, start in kept]):
            text = b"\n".join(lines)
            for start, end in self._scanner.block_matches(anchor.position, text):
                begins, ends = text.count(b"\n", 0, start), text.count(b"\n", 0, end)
                if begins <= middle <= ends and ends - begins < BLOCK_LINES:
                    number = kept[begins][0]
                    if (anchor.position, number) not in self._found:
                        self._found.add((anchor.position, number))
                        self._on_match(anchor.position, number, text[start:end], anchor.facts)
                    return


def _first_lines(view: View, start: int, count: int) -> list[bytes]:
    lines: list[bytes] = []
    while len(lines) < count and start < view.end:
        end = view.data.find(b"\n", start, view.end)
        end = view.end if end < 0 else end
        lines.append(view.data[start:end])
        start = end + 1
    return lines


def _last_lines(view: View, end: int, count: int) -> list[bytes]:
    """Return the lines before the place ``end``, at which a line begins."""
    lines: list[bytes] = []
    while len(lines) < count and end > view.start:
        start = max(view.data.rfind(b"\n", view.start, end - 1) + 1, view.start)
        lines.append(view.data[start : end - 1])
        end = start
    return lines[::-1]
