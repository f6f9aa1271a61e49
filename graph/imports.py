"""Keeps optional packages of a library from being imported with it.

The database driver and the embedded engine both import numpy, pandas and pyarrow when they find them, only to
accept their types as parameters. failgraph sends plain values, and a command that runs one query must not wait
for half a second of imports.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _Names(threading.local):
    """The top-level names that this thread does not find."""

    hidden: frozenset[str] = frozenset()


class _Blinkers(MetaPathFinder):
    """Finds nothing, and says so at once for the names that are hidden in this thread."""

    def __init__(self) -> None:
        self.names = _Names()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] in self.names.hidden:
            raise ModuleNotFoundError(f"{fullname} is hidden here on purpose", name=fullname)
        return None


_blinkers = _Blinkers()


@contextmanager
def without_modules(*names: str) -> Iterator[None]:
    """Make imports of these top-level names fail in this thread, as if they were not installed.

    A module that is imported already stays visible, and other threads see everything.

    >>> with without_modules("tabnanny"):
    ...     import tabnanny
    Traceback (most recent call last):
    ModuleNotFoundError: tabnanny is hidden here on purpose
    """
    if _blinkers not in sys.meta_path:
        sys.meta_path.insert(0, _blinkers)
    before = _blinkers.names.hidden
    _blinkers.names.hidden = before | frozenset(names)
    try:
        yield
    finally:
        _blinkers.names.hidden = before
