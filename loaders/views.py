"""A block of a file as it is searched: its lines as they are, or the text of the records that its lines hold.

Both kinds of view have ``data`` and, in it, ``start`` and ``end`` of whole lines; a place is an offset in ``data`` at
which a line begins.
"""

from __future__ import annotations

from dataclasses import replace

from failgraph.loaders.parsers.base import Facts, LineParser, RecordReader
from failgraph.loaders.stream import Block


def line_facts(parser: LineParser, line: bytes) -> Facts:
    """Return what a line tells; NUL bytes before it, as a crash leaves them, are part of its prefix."""
    text = line.lstrip(b"\0")
    facts = parser.facts(text)
    skipped = len(line) - len(text)
    return replace(facts, start=facts.start + skipped) if skipped else facts


class LineView:
    """Lines as they are.

    Args:
        block: the lines.
        parser: reads single lines, when they are asked for.
    """

    def __init__(self, block: Block, parser: LineParser) -> None:
        self._block = block
        self._parser = parser
        self.data, self.start, self.end = block.data, block.start, block.end

    def number(self, start: int) -> int:
        """Return the number of the line that begins here."""
        return self._block.line_number(start)

    def facts(self, start: int) -> Facts:
        """Return what the line that begins here tells."""
        return line_facts(self._parser, self.data[start : self.data.find(b"\n", start)])

    def prefix_length(self, line: bytes) -> int:
        """Return where the text of a line begins."""
        return line_facts(self._parser, line).start


class RecordView:
    """The text of the records that the lines of a block hold.

    Args:
        block: the lines.
        records: reads lines into records, across blocks.
    """

    def __init__(self, block: Block, records: RecordReader) -> None:
        texts: list[bytes] = []
        self._facts: list[Facts] = []
        self._numbers: list[int] = []
        start = block.start
        for line in block.data[block.start : block.end].split(b"\n")[:-1]:
            for text, facts in records.read(line):
                texts.append(text.replace(b"\n", b" ").replace(b"\r", b" "))
                self._facts.append(facts)
                self._numbers.append(block.line_number(start))
            start += len(line) + 1
        self.data = b"".join(text + b"\n" for text in texts)
        self.start, self.end = 0, len(self.data)
        self._lines = Block(self.data, 0)

    def number(self, start: int) -> int:
        """Return the number of the file's line that holds the text that begins here."""
        return self._numbers[self._lines.line_number(start)]

    def facts(self, start: int) -> Facts:
        """Return what the record tells."""
        return self._facts[self._lines.line_number(start)]

    def prefix_length(self, line: bytes) -> int:
        """Return 0: the text of a record has no prefix of its own."""
        return 0


View = LineView | RecordView
