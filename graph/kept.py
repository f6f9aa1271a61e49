"""Files kept between runs in the user's cache directory: private, checked, and never needed.

A kept file holds its name for what it is, a checksum and plain bytes; whoever keeps something decides how they
read, and never unpickles them. A file that is damaged, of another kind, or that somebody else could have written
counts as missing. Where nothing can be read or written, the work is done again and nobody is told.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Final

MOST_FILES: Final = 4
"""So many files of one kind stay in a directory, the newest."""
_WRITABLE_BY_OTHERS: Final = 0o022


def load(path: Path, kind: bytes) -> bytes | None:
    """Return what was kept under this name; None where there is no sound file of this user.

    Args:
        path: as given to :func:`save`.
        kind: what the file must say it is, with the version of its form.
    """
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_uid != os.getuid() or status.st_mode & _WRITABLE_BY_OTHERS:
                return None
            content = file.read()
    except OSError:
        return None
    head = len(kind)
    body = content[head + 32 :]
    if content[:head] != kind or content[head : head + 32] != hashlib.sha256(body).digest():
        return None
    return body


def save(path: Path, kind: bytes, body: bytes) -> None:
    """Keep bytes under this name, readable by this user only; older files of the same kind go.

    Args:
        path: its directory is made when it does not exist; its name is ``KIND-KEY.SUFFIX``.
        kind: what the file is, with the version of its form.
        body: what is kept.
    """
    stem = path.name.partition("-")[0]
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # The name appears only with the whole content behind it, so no reader meets a half-written file.
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f"{stem}-", delete=False) as file:
            file.write(kind + hashlib.sha256(body).digest() + body)
        os.replace(file.name, path)
        kept = sorted(path.parent.glob(f"{stem}-*{path.suffix}"), key=lambda other: other.stat().st_mtime)
        for old in kept[:-MOST_FILES]:
            old.unlink(missing_ok=True)
    except OSError:
        return
