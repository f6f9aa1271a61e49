"""Counts line feeds quickly: every hit in a large log needs the number of its line.

``bytes.count`` looks at one byte after the other, which for a whole log takes half as long as the search for all
signatures. NumPy compares many at once. It is loaded with the first large piece; a match needs it later anyway.
"""

from __future__ import annotations

import sys
from typing import Final

_LARGE: Final = 512 * 1024
_SMALL: Final = 16 * 1024
_CODE: Final = 10


def count_line_feeds(data: bytes, start: int, end: int) -> int:
    r"""Return the number of line feeds between two places.

    >>> count_line_feeds(b"one\ntwo\nthree", 0, 5)
    1
    """
    size = end - start
    if size < _SMALL or (size < _LARGE and "numpy" not in sys.modules):
        return data.count(b"\n", start, end)
    import numpy

    return int(numpy.count_nonzero(numpy.frombuffer(data, numpy.uint8, size, start) == _CODE))
