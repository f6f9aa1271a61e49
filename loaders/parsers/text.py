"""Everything else that is text: lines are searched for signatures, and a leading time or prefix is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from failgraph.loaders.parsers.base import Facts, Kind
from failgraph.loaders.parsers.devices import device_in
from failgraph.loaders.parsers.job import JobParser
from failgraph.loaders.parsers.kernel import kernel_facts
from failgraph.loaders.times import MONTHS, clock_stamp

_DATED: Final = re.compile(
    rf"\[(?P<month>{'|'.join(MONTHS)}) (?P<day>\d\d?) (?P<year>\d{{4}}) (?P<clock>\d\d:\d\d:\d\d)\] (?:\[[A-Z]+\] )?(?:\[tid \d+\] )?"
)


class TextParser:
    """Reads lines that may be of any kind.

    Args:
        lines: the first lines of the file.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self._job = JobParser(lines)

    def facts(self, line: bytes) -> Facts:
        """Return what the line tells."""
        text = line.decode("latin-1")
        if match := _DATED.match(text):  # fabric manager
            stamp = clock_stamp(MONTHS[match["month"]], int(match["day"]), match["clock"], int(match["year"]))
            return Facts(start=match.end(), stamp=stamp, device=device_in(text[match.end() :]))
        kernel = kernel_facts(text)
        return kernel if kernel.start or kernel.kernel else self._job.facts(line)


PLAIN_TEXT: Final = Kind(
    name="text",
    title="plain text",
    reads="any other text: outputs of tools, pasted lines, prose",
    score=lambda lines: 0.45,
    parser=TextParser,
)
