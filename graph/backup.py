"""Writes everything that failgraph stored into one file, and puts it back; on either engine, from either engine.

The file is gzip'd JSON lines: a header, then the nodes, then the relationships, each group sorted. It holds no
clock time, so the same content gives the same bytes, whichever engine it comes from. The record of migrations
stays out of it; the header names the last one instead.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import heapq
import json
import os
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import IO, Any, Final

from failgraph.graph.client import Client
from failgraph.graph.database import is_empty, reset
from failgraph.graph.migrate import migration_state
from failgraph.schema.errors import ConflictError, FailgraphError, Location, PartialError, UsageError
from failgraph.schema.migration import shipped_migrations
from failgraph.schema.nodes import NODES, Migration
from failgraph.schema.relations import RELATIONS

FORMAT: Final = "failgraph-backup"
FORMAT_VERSION: Final = 1
BATCH: Final = 1_000
"""Rows written in one transaction."""
SORTED_LINES: Final = 100_000
"""Lines sorted in memory at once; more are merged from temporary files."""
LONGEST_LINE: Final = 32 * 1024 * 1024
"""Characters; a longer line is no line of a backup."""

Progress = Callable[[int, int], None]

_LABELS: Final = {frozenset(model.labels): model.labels for model in NODES if model is not Migration}
_KEY_LABELS: Final = {label: labels[0] for labels in _LABELS.values() for label in labels}
_PATTERNS: Final = frozenset(
    f"{start} {model.type} {end}" for model in RELATIONS for start, end in model.ends
)


@dataclass(frozen=True)
class BackupHeader:
    """The first line of a backup: number of nodes by label and of relationships by type, sha256 of the rest."""

    schema: str
    nodes: dict[str, int]
    relations: dict[str, int]
    checksum: str

    @property
    def total(self) -> int:
        """Nodes and relationships together."""
        return sum(self.nodes.values()) + sum(self.relations.values())


def write_backup(client: Client, path: Path, on_progress: Progress | None = None) -> BackupHeader:
    """Write a backup; the file appears when it is complete, and replaces one of that name.

    Args:
        client: the database.
        path: the file; only its owner may read it.
        on_progress: is called with the lines done and 0, because the total is not known.

    Raises:
        UsageError: the file cannot be written there.
        ConflictError: the database holds something that this version of failgraph does not know.
    """
    state = migration_state(client)
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as folder:
            body = Path(folder) / "body"
            counted = _Counted(on_progress)
            digest = hashlib.sha256()
            with body.open("w", encoding="utf-8", newline="\n") as stream:
                for line in chain(
                    _sorted_lines(counted.nodes(client.stream("all_nodes")), Path(folder)),
                    _sorted_lines(counted.relations(client.stream("all_relations")), Path(folder)),
                ):
                    stream.write(line)
                    digest.update(line.encode())
            last = state.applied[-1].id if state.applied else ""
            header = BackupHeader(last, dict(counted.labels), dict(counted.types), digest.hexdigest())
            draft = Path(folder) / "backup"
            _compress(header, body, draft)
            draft.replace(path)
    except OSError as error:
        raise UsageError(
            f"The backup cannot be written to {path} ({error.strerror}); name another file."
        ) from error
    return header


def restore_backup(
    client: Client, path: Path, *, replace: bool = False, on_progress: Progress | None = None
) -> BackupHeader:
    """Put a backup into the database. The whole file is checked before anything is written.

    Args:
        client: the database; migrated.
        path: a file that :func:`write_backup` made.
        replace: delete what failgraph has stored there before; without it the database must be empty.
        on_progress: is called with the lines done and their number.

    Raises:
        UsageError: the file cannot be read, or is no complete backup.
        ConflictError: the database is not empty, or the backup is of a newer failgraph.
        PartialError: the database failed half-way; a part of the backup is stored.
    """
    header = verify_backup(path)
    known = {migration.id for migration in shipped_migrations()}
    if header.schema and header.schema not in known:
        raise ConflictError(
            f"{path} is a backup of a newer failgraph (schema {header.schema}); install that version to restore it."
        )
    if not replace and not is_empty(client):
        raise ConflictError(
            f"The database {client.address} is not empty; restore with --yes to delete what failgraph has stored in it."
        )
    done = 0
    try:
        if replace:
            reset(client)
        for query, parameters, count in _batches(_body(path)):
            client.write(query, **parameters)
            done += count
            if on_progress:
                on_progress(done, header.total)
    except (FailgraphError, KeyboardInterrupt) as error:
        raise PartialError(
            f"The restore of {path} stopped after {done} of {header.total} lines ({error or 'interrupted'}); the "
            "database now holds a part of it: run the restore again with --yes."
        ) from error
    return header


def verify_backup(path: Path) -> BackupHeader:
    """Read a backup from end to end and return its header.

    Raises:
        UsageError: the file cannot be read, or is no complete backup; with the line.
    """
    labels: Counter[str] = Counter()
    types: Counter[str] = Counter()
    digest = hashlib.sha256()
    header = _read_header(path)
    for number, line in _lines(path):
        if number - 1 > header.total:
            break
        digest.update(line.encode())
        entry = _entry(line, Location(str(path), number))
        if "type" in entry:
            types[entry["type"]] += 1
        else:
            labels[":".join(entry["labels"])] += 1
    if (dict(labels), dict(types), digest.hexdigest()) != (header.nodes, header.relations, header.checksum):
        raise UsageError(f"{path} is damaged: its content does not fit its checksum; use another backup.")
    return header


# -- writing


@dataclass
class _Counted:
    """Turns rows into lines and counts them."""

    on_progress: Progress | None
    labels: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)

    def nodes(self, rows: Iterable[dict[str, Any]]) -> Iterator[str]:
        for row in rows:
            # Somebody may have added labels of their own on a shared server; they are not ours to keep.
            labels = _LABELS.get(frozenset(label for label in row["labels"] if label in _KEY_LABELS))
            if labels is None:
                raise ConflictError(
                    f"The node {row['properties'].get('id')!r} has the labels {':'.join(row['labels'])}, which this "
                    "version of failgraph does not know; delete it, or install the version that made it."
                )
            self.labels[":".join(labels)] += 1
            yield _line({"labels": labels, "properties": row["properties"]})
            self._report()

    def relations(self, rows: Iterable[dict[str, Any]]) -> Iterator[str]:
        for row in rows:
            start, end = _key_label(row["source_labels"]), _key_label(row["target_labels"])
            if f"{start} {row['type']} {end}" not in _PATTERNS:
                continue  # somebody else's: it only shares the name of its type
            self.types[row["type"]] += 1
            yield _line(
                {
                    "type": row["type"],
                    "source": [start, row["source"]],
                    "target": [end, row["target"]],
                    "properties": row["properties"],
                }
            )
            self._report()

    def _report(self) -> None:
        done = self.labels.total() + self.types.total()
        if self.on_progress and done % BATCH == 0:
            self.on_progress(done, 0)


def _key_label(labels: Iterable[str]) -> str:
    return next((_KEY_LABELS[label] for label in labels if label in _KEY_LABELS), "")


def _line(entry: dict[str, Any]) -> str:
    return (
        json.dumps(entry, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False) + "\n"
    )


def _sorted_lines(lines: Iterator[str], folder: Path) -> Iterator[str]:
    """Yield the lines sorted, however many there are."""
    with contextlib.ExitStack() as stack:
        runs: list[Iterable[str]] = []
        batch: list[str] = []
        for line in lines:
            batch.append(line)
            if len(batch) == SORTED_LINES:
                stream = stack.enter_context(
                    tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n", dir=folder)
                )
                stream.writelines(sorted(batch))
                stream.seek(0)
                runs.append(stream)
                batch = []
        yield from heapq.merge(*runs, sorted(batch))


def _compress(header: BackupHeader, body: Path, draft: Path) -> None:
    first = {"format": FORMAT, "version": FORMAT_VERSION, **vars(header)}
    with open(draft, "wb", opener=_private) as file:
        # Neither a name nor a time: the same content gives the same bytes.
        with (
            gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed,
            body.open("rb") as stream,
        ):
            packed.write(_line(first).encode())
            while chunk := stream.read(1 << 20):
                packed.write(chunk)
        file.flush()
        os.fsync(file.fileno())


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


# -- reading


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines after the header with their numbers."""
    with _opened(path) as stream:
        stream.readline(LONGEST_LINE)
        number = 1
        while line := stream.readline(LONGEST_LINE):
            number += 1
            if not line.endswith("\n"):
                raise UsageError(
                    "the line does not end; the backup is damaged, use another one",
                    location=Location(str(path), number),
                )
            yield number, line


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[str]]:
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as stream:
            yield stream
    except (EOFError, zlib.error, gzip.BadGzipFile, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no backup, or a damaged one ({error}); use another one.") from error
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror or error}); check its name and mode."
        ) from error


def _read_header(path: Path) -> BackupHeader:
    with _opened(path) as stream:
        line = stream.readline(LONGEST_LINE)
    try:
        header = json.loads(line)
        if header.pop("format") != FORMAT:
            raise ValueError
        version = header.pop("version")
        if version != FORMAT_VERSION:
            raise ConflictError(
                f"{path} is a backup of version {version}, and this failgraph reads version {FORMAT_VERSION}; "
                "install the version that wrote it."
            )
        found = BackupHeader(**header)
        counts = [*found.nodes.values(), *found.relations.values()]
        if not all(isinstance(count, int) for count in counts):
            raise ValueError
        return found
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} is no backup that failgraph wrote; name one.") from error


def _entry(line: str, location: Location) -> dict[str, Any]:
    """Return the checked content of a line.

    Raises:
        UsageError: it is neither a node nor a relationship of failgraph.
    """
    try:
        entry: dict[str, Any] = json.loads(line)
        properties = entry["properties"]
        is_known = (
            f"{entry['source'][0]} {entry['type']} {entry['target'][0]}" in _PATTERNS
            if "type" in entry
            else tuple(entry["labels"]) in _LABELS.values()
        )
        if is_known and isinstance(properties, dict) and isinstance(properties.get("id"), str):
            return entry
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        pass
    raise UsageError(
        "this is neither a node nor a relationship of failgraph; the backup is damaged, use another one",
        location=location,
    )


def _body(path: Path) -> Iterator[dict[str, Any]]:
    return (_entry(line, Location(str(path), number)) for number, line in _lines(path))


def _batches(entries: Iterable[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any], int]]:
    """Yield the restoring query, its parameters and the number of lines; each batch holds one kind only."""
    kind: tuple[str, str, str] | None = None
    rows: list[dict[str, Any]] = []
    for entry in entries:
        if "type" in entry:
            (start, source), (end, target) = entry["source"], entry["target"]
            found = ("restore_relations", "pattern", f"{start} {entry['type']} {end}")
            properties = entry["properties"]
            row = {"id": properties["id"], "source": source, "target": target, "properties": properties}
        else:
            found = ("restore_nodes", "labels", ":".join(entry["labels"]))
            row = entry["properties"]
        if kind is not None and (found != kind or len(rows) == BATCH):
            yield kind[0], {kind[1]: kind[2], "rows": rows}, len(rows)
            rows = []
        kind = found
        rows.append(row)
    if kind is not None:
        yield kind[0], {kind[1]: kind[2], "rows": rows}, len(rows)
