"""Keeps the graph in step with knowledge packs: load, unload, export, and the core pack on first use.

A load reads what the graph holds, works out what it shall hold, and writes the difference in one transaction. So
a second load of the same pack writes nothing, a changed pack updates and removes exactly what it owns, and a load
that is stopped leaves the graph as it was. Two loads at once never mix: the one that comes second starts again.

Every command asks :func:`ensure_core_pack`, which usually has nothing to do. What only a load needs is therefore
imported where it is needed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from failgraph.schema.errors import ConflictError, FailgraphError, PackError, UsageError

if TYPE_CHECKING:
    from failgraph.graph.client import Client
    from failgraph.graph.pack_store import Changes, Count
    from failgraph.loaders.pack_rows import PackRows
    from failgraph.schema.pack import PackContent

CORE: Final = "core"
"""Id of the pack that ships with failgraph."""
ROWS_VERSION: Final = 1
"""Raise it when the same pack gives other rows: every pack then counts as changed at its next load."""
ATTEMPTS: Final = 5
"""How often a load starts again because somebody else changed the loaded knowledge meanwhile."""

Report = Callable[[int, int], None]
"""Told how many steps of how many are done."""


def _no_report(done: int, total: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class LoadReport:
    """What a load or unload did.

    Attributes:
        pack: id of the pack.
        revision: its revision now; None when it was unloaded.
        previous_revision: its revision before; None when it was not loaded.
        nodes: how many nodes were touched, by label.
        relations: how many relationships were touched, by type.
    """

    pack: str
    revision: int | None
    previous_revision: int | None
    nodes: Mapping[str, Count] = field(default_factory=dict)
    relations: Mapping[str, Count] = field(default_factory=dict)

    @property
    def unchanged(self) -> bool:
        """Whether the graph already held exactly this."""
        return not self.nodes and not self.relations


def ensure_core_pack(client: Client, on_progress: Report | None = None) -> LoadReport | None:
    """Load the core pack on first use, and a newer revision of it after an update of failgraph.

    Costs one small query when nothing is to do. A database that holds other packs and no core pack is left alone,
    and so is one whose core pack is of this revision or a newer one, whatever it says.

    Returns:
        What was loaded; None when nothing was to do.

    Raises:
        FailgraphError: as :func:`load_pack`.
    """
    revisions = {row["id"]: int(row["revision"]) for row in client.read("packs")}
    if revisions and (CORE not in revisions or revisions[CORE] >= shipped_revision()):
        return None
    from failgraph.loaders.packs import core_pack_path, read_pack

    return load_pack(client, read_pack(core_pack_path()), on_progress)


def shipped_revision() -> int:
    """Return the revision of the core pack that ships with failgraph, without reading the pack."""
    header = Path(__file__).parent / "packs" / CORE / "pack.yaml"
    stated = re.search(r"^revision: (\d+)$", header.read_text(encoding="utf-8"), re.MULTILINE)
    if stated is None:
        raise PackError(f"{header} states no revision; install failgraph again")
    return int(stated[1])


def load_pack(client: Client, content: PackContent, on_progress: Report | None = None) -> LoadReport:
    """Bring the graph in step with a pack, in one transaction.

    Args:
        client: the database.
        content: what the pack says.
        on_progress: told how far it is.

    Raises:
        PackError: the pack requires or refers to what is not loaded, or says something twice.
        ConflictError: another pack defines one of its ids, or it no longer defines what another pack or a stored
            incident needs.
        DatabaseError: the database failed; then nothing was written.
    """
    from failgraph.loaders.canonical import canonical_pack
    from failgraph.loaders.pack_rows import pack_rows

    content = canonical_pack(content)
    said = pack_rows(content, pack_checksum(content))
    return _bring_in_step(client, content.header.id, said, on_progress or _no_report)


def unload_pack(client: Client, pack_id: str, on_progress: Report | None = None) -> LoadReport:
    """Remove all that a pack owns, and what it changed on other packs, in one transaction.

    Raises:
        UsageError: no such pack is loaded.
        ConflictError: another pack requires it, or a stored incident refers to what it owns.
        DatabaseError: the database failed; then nothing was written.
    """
    _check_loaded(pack_id, (row["id"] for row in client.read("packs")))
    return _bring_in_step(client, pack_id, None, on_progress or _no_report)


def export_pack(client: Client, pack_id: str) -> PackContent:
    """Return a loaded pack as its files would say it, in canonical order.

    Raises:
        UsageError: no such pack is loaded.
        DatabaseError: the database failed.
    """
    from failgraph.graph.pack_store import stored_rows
    from failgraph.loaders.pack_content import pack_content

    stored = stored_rows(client)
    _check_loaded(pack_id, (node.id for node in stored.rows.labelled("Pack")))
    return pack_content(stored.rows, pack_id)


def pack_checksum(content: PackContent) -> str:
    """Return the sha256 over a pack's canonical files, their names included."""
    from failgraph.loaders.format import format_pack

    digest = hashlib.sha256(f"failgraph pack rows {ROWS_VERSION}\n".encode())
    for path, text in sorted(format_pack(content).items()):
        digest.update(f"{path} {len(text.encode())}\n{text}".encode())
    return digest.hexdigest()


def read_sound_packs(paths: Sequence[Path]) -> list[PackContent]:
    """Return the packs in some folders, checked as lint checks them, in an order in which they can be loaded.

    A pack that requires another one which is neither among them nor the core pack is checked by the load only.

    Raises:
        PackError: the first problem, with its place, and how many more there are.
    """
    from failgraph.loaders.check import Severity, lint
    from failgraph.loaders.packs import read_pack

    contents = [read_pack(path) for path in paths]
    at_hand = {content.header.id for content in contents} | {CORE}
    is_named_twice = len({content.header.id for content in contents}) < len(contents)
    if is_named_twice or all(at_hand.issuperset(content.header.requires) for content in contents):
        errors = [problem for problem in lint(paths) if problem.severity is Severity.ERROR]
        if errors:
            more = (
                f" (and {len(errors) - 1} more; `failgraph pack lint` lists them)" if len(errors) > 1 else ""
            )
            raise PackError(errors[0].message + more, location=errors[0].location)
    return in_load_order(contents)


def read_required(content: PackContent, paths: Sequence[Path]) -> list[PackContent]:
    """Return the packs that a pack requires, directly or not, in an order in which they can be loaded.

    Args:
        content: the pack.
        paths: folders of packs to look in, beside the pack that ships.

    Raises:
        UsageError: a required pack is not among them.
        PackError: one of them is not valid.
    """
    from failgraph.loaders.packs import core_pack_path, read_pack

    known = {pack.header.id: pack for pack in map(read_pack, paths)}
    found: dict[str, PackContent] = {}
    waiting = list(content.header.requires)
    while waiting:
        pack = waiting.pop()
        if pack == CORE and pack not in known:
            known[pack] = read_pack(core_pack_path())
        if pack not in known:
            raise UsageError(f"pack {pack} is required; name its folder with --with")
        if pack not in found:
            found[pack] = known[pack]
            waiting.extend(known[pack].header.requires)
    return in_load_order(found.values())


def in_load_order(contents: Iterable[PackContent]) -> list[PackContent]:
    """Return packs with the required ones before those that require them, else by id."""
    waiting = {
        content.header.id: content for content in sorted(contents, key=lambda content: content.header.id)
    }
    ordered: list[PackContent] = []
    while waiting:
        ready = [
            pack
            for pack, content in waiting.items()
            if not set(content.header.requires) & (waiting.keys() - {pack})
        ]
        # Packs that require each other are left to the load, which refuses them and says why.
        for pack in ready or list(waiting):
            ordered.append(waiting.pop(pack))
    return ordered


def _check_loaded(pack_id: str, loaded: Iterable[str]) -> None:
    known = sorted(loaded)
    if pack_id not in known:
        raise UsageError(
            f"pack {pack_id} is not loaded; loaded are {', '.join(known) or 'none'}: see `failgraph pack list`"
        )


def _bring_in_step(client: Client, pack: str, said: PackRows | None, report: Report) -> LoadReport:
    """Write what differs, and start again when somebody else changed the loaded knowledge meanwhile."""
    from failgraph.graph.infer import expected
    from failgraph.graph.pack_store import changes, generation, pack_heads, stored_rows, write_changes
    from failgraph.loaders.pack_plan import wanted_rows

    node = said.rows.nodes["Pack", pack] if said else None
    revision = node.properties["revision"] if node else None
    for attempt in range(1, ATTEMPTS + 1):
        head = next((head for head in pack_heads(client) if head.id == pack), None)
        previous = head.revision if head else None
        if node and head and head.checksum == node.properties["checksum"]:
            break
        report(0, 3)
        stored = stored_rows(client)
        report(1, 3)
        difference = changes(stored.rows, wanted_rows(stored.rows, pack, said, expected))
        _keep_incidents_whole(client, pack, difference)
        report(2, 3)
        try:
            write_changes(client, difference, stored.generation)
        except FailgraphError:
            if attempt == ATTEMPTS or generation(client) == stored.generation:
                raise
            continue
        report(3, 3)
        return LoadReport(pack, revision, previous, difference.node_counts, difference.relation_counts)
    return LoadReport(pack, revision, previous)


def _keep_incidents_whole(client: Client, pack: str, difference: Changes) -> None:
    """Refuse to remove what stored incidents refer to: their evidence would go with it."""
    from failgraph.graph.pack_store import nodes_of_incidents
    from failgraph.loaders.pack_rows import describe

    for key, incidents in nodes_of_incidents(client, difference.removed_nodes).items():
        raise ConflictError(
            f"{describe(key)} of pack {pack} cannot go, since {incidents} stored incident(s) refer to it; keep it "
            "(a class may have status retired)"
        )
