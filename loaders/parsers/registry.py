"""All kinds of artefacts, in the order in which they are asked whether a file is theirs."""

from __future__ import annotations

from typing import Final

from failgraph.loaders.parsers.base import Kind
from failgraph.loaders.parsers.job import CONTAINER_JSON, JOB_LOG
from failgraph.loaders.parsers.kernel import KERNEL_LOG
from failgraph.loaders.parsers.kernel_json import KERNEL_JOURNAL, KERNEL_JSON
from failgraph.loaders.parsers.nccl import NCCL_LOG
from failgraph.loaders.parsers.note import INCIDENT_NOTE
from failgraph.loaders.parsers.text import PLAIN_TEXT

KINDS: Final[tuple[Kind, ...]] = (
    INCIDENT_NOTE,
    KERNEL_JOURNAL,
    KERNEL_JSON,
    CONTAINER_JSON,
    KERNEL_LOG,
    NCCL_LOG,
    JOB_LOG,
    PLAIN_TEXT,
)
"""Every kind that is read."""

BINARY: Final = Kind(name="binary", title="binary", reads="nothing: it is not searched")
EMPTY: Final = Kind(name="empty", title="empty file", reads="nothing")
UNREADABLE: Final = Kind(name="unreadable", title="not read", reads="nothing: the reading says why")


def kind_table() -> list[tuple[str, str, str, str]]:
    """Return a row for each kind: name, title, the forms that are read, whose absence a complete file proves."""
    return [(kind.name, kind.title, kind.reads, ", ".join(kind.sources)) for kind in KINDS]
