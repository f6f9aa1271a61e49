"""What the graph holds of knowledge packs, as plain rows: read them, compare them, write what differs.

A row is a node or a relationship that a pack owns, with the properties of its model in ``schema``. All changes
of one load are written in one transaction, which ends when somebody else changed the loaded knowledge meanwhile.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from failgraph.graph.client import Client
from failgraph.schema import nodes, relations
from failgraph.schema.errors import ConflictError

BATCH: Final = 1000
"""Rows that one statement writes: the fastest size on the embedded engine, and a small message on any."""

READ_ATTEMPTS: Final = 5
"""How often the rows are read again because they changed meanwhile."""

PACK_NODES: Final[tuple[type[nodes.Node], ...]] = (
    nodes.Pack,
    nodes.Layer,
    nodes.Mechanism,
    nodes.Symptom,
    nodes.Evidence,
    nodes.FailureClass,
    nodes.Presentation,
    nodes.Circumstance,
    nodes.Narrative,
    nodes.Check,
    nodes.Remedy,
    nodes.Prevention,
    nodes.Source,
)
PACK_RELATIONS: Final[tuple[type[relations.PackRelation], ...]] = (
    relations.At,
    relations.Causes,
    relations.Shows,
    relations.Expects,
    relations.Refutes,
    relations.Implies,
    relations.RootedIn,
    relations.Specialises,
    relations.ComesWith,
    relations.PresentsAs,
    relations.Includes,
    relations.Lacks,
    relations.Describes,
    relations.Reveals,
    relations.CheckedBy,
    relations.RepairedBy,
    relations.PreventedBy,
    relations.CitedFrom,
    relations.Adjusts,
)
LEARNT: Final = frozenset(relations.LearntRelation.model_fields) - frozenset(
    relations.PackRelation.model_fields
)
"""Properties that incidents teach. No pack states them, so no load touches them."""

_NODE_MODELS: Final = {model.labels[-1]: model for model in PACK_NODES}
_RELATION_MODELS: Final = {model.type: model for model in PACK_RELATIONS}

NodeKey = tuple[str, str]
"""The label within which an id is unique, and the id."""


@dataclass(frozen=True)
class NodeRow:
    """One node. ``label`` is the last of its model's labels; properties are without the id, None where unset."""

    label: str
    id: str
    properties: Mapping[str, Any]

    @property
    def key(self) -> NodeKey:
        """What identifies the node."""
        return (_NODE_MODELS[self.label].labels[0], self.id)

    @property
    def pack(self) -> str:
        """The id of the pack that owns it; a pack owns itself."""
        return self.id if self.label == "Pack" else str(self.properties["pack"])


@dataclass(frozen=True)
class RelationRow:
    """One relationship; properties are without the id, None where unset."""

    type: str
    id: str
    start: NodeKey
    end: NodeKey
    properties: Mapping[str, Any]

    @property
    def pack(self) -> str:
        """The id of the pack that owns it."""
        return str(self.properties["pack"])


@dataclass
class Rows:
    """Nodes by their key and relationships by their id."""

    nodes: dict[NodeKey, NodeRow] = field(default_factory=dict)
    relations: dict[str, RelationRow] = field(default_factory=dict)

    def labelled(self, label: str) -> Iterator[NodeRow]:
        """Return the nodes within this label, ordered by id."""
        return (self.nodes[key] for key in sorted(key for key in self.nodes if key[0] == label))

    def typed(self, relation_type: str) -> Iterator[RelationRow]:
        """Return the relationships of this type, ordered by id."""
        found = (row for row in self.relations.values() if row.type == relation_type)
        return iter(sorted(found, key=lambda row: row.id))


@dataclass(frozen=True)
class PackHead:
    """What is known of a loaded pack without reading what it owns."""

    id: str
    name: str
    revision: int
    summary: str
    requires: tuple[str, ...]
    checksum: str


@dataclass(frozen=True)
class PackSize:
    """How much a loaded pack owns."""

    classes: int
    mechanisms: int
    observables: int
    checks: int


def node_row(model: nodes.Node) -> NodeRow:
    """Return the row of a node model."""
    return NodeRow(
        type(model).labels[-1], model.id, _unset_empty(model.model_dump(mode="json", exclude={"id"}))
    )


def relation_row(
    model: relations.PackRelation, start: str, end: str, end_label: str | None = None
) -> RelationRow:
    """Return the row of a relationship model between two ids.

    Args:
        model: the relationship.
        start: id of the node it starts at, within the model's first pair of labels.
        end: id of the node it ends at.
        end_label: the label of the end, for a type that has several.
    """
    start_label, only_end_label = type(model).ends[0]
    properties = _unset_empty(model.model_dump(mode="json", exclude={"id", *LEARNT}))
    return RelationRow(
        type(model).type, model.id, (start_label, start), (end_label or only_end_label, end), properties
    )


def _unset_empty(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {name: None if value == [] else value for name, value in properties.items()}


def pack_heads(client: Client) -> tuple[PackHead, ...]:
    """Return the loaded packs, ordered by id."""
    return tuple(
        PackHead(
            id=row["id"],
            name=row["name"],
            revision=row["revision"],
            summary=row["summary"],
            requires=tuple(row["requires"]),
            checksum=row["checksum"],
        )
        for row in client.read("packs")
    )


def pack_sizes(client: Client) -> Mapping[str, PackSize]:
    """Return how much each loaded pack owns, by its id."""
    return {
        row["id"]: PackSize(row["classes"], row["mechanisms"], row["observables"], row["checks"])
        for row in client.read("pack_sizes")
    }


def generation(client: Client) -> int:
    """Return how often the loaded knowledge has changed."""
    rows = client.read("catalogue_generation")
    return int(rows[0]["generation"]) if rows else 0


@dataclass(frozen=True)
class Stored:
    """All that the loaded packs own, and the :func:`generation` of which it is true."""

    rows: Rows
    generation: int


def stored_rows(client: Client) -> Stored:
    """Return all that the loaded packs own, as it stood at one moment.

    Raises:
        ConflictError: it kept changing while it was read.
    """
    for _ in range(READ_ATTEMPTS):
        before = generation(client)
        rows = _read_rows(client)
        if generation(client) == before:
            return Stored(rows, before)
    raise ConflictError(
        "the loaded knowledge keeps changing while it is read; wait for the other loads and try again"
    )


def _read_rows(client: Client) -> Rows:
    rows = Rows()
    for record in client.read("pack_nodes"):
        label = next(label for label in _NODE_MODELS if label in record["labels"])
        names = _NODE_MODELS[label].model_fields.keys() - {"id"}
        node = NodeRow(label, record["properties"]["id"], _properties(record["properties"], names))
        rows.nodes[node.key] = node
    for record in client.read("pack_relations"):
        model = _RELATION_MODELS[record["type"]]
        start = (model.ends[0][0], record["source"])
        names = model.model_fields.keys() - {"id"} - LEARNT
        for end in record["ends"]:
            end_label = next(label for _, label in model.ends if label in end["labels"])
            properties = _properties(end["properties"], names)
            id_ = end["properties"]["id"]
            rows.relations[id_] = RelationRow(record["type"], id_, start, (end_label, end["id"]), properties)
    for record in client.read("pack_expects"):
        start = ("FailureClass", record["class_id"])
        gathered = zip(record["observables"], record["probabilities"], record["words"], strict=True)
        for observable, probability, word in gathered:
            id_ = relations.relation_id("EXPECTS", record["class_id"], observable)
            properties = {"pack": record["pack"], "probability": probability, "word": word or None}
            rows.relations[id_] = RelationRow("EXPECTS", id_, start, ("Observable", observable), properties)
    return rows


def _properties(stored: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return _unset_empty({name: stored.get(name) for name in names})


def nodes_of_incidents(client: Client, keys: Iterable[NodeKey]) -> Mapping[NodeKey, int]:
    """Return which of these nodes stored incidents refer to, and how many do."""
    asked = {key for key in keys if key[0] in ("Observable", "Circumstance", "FailureClass")}
    if not asked:
        return {}
    records = client.read("nodes_of_incidents", ids=sorted({key[1] for key in asked}))
    found = {(label, row["id"]): int(row["incidents"]) for row in records for label in row["labels"]}
    return {key: found[key] for key in sorted(asked & found.keys())}


@dataclass(frozen=True)
class Count:
    """How many nodes of a label or relationships of a type a load touched."""

    added: int = 0
    changed: int = 0
    removed: int = 0


@dataclass(frozen=True)
class Changes:
    """What has to be written so that the graph holds the wanted rows.

    A relationship of a removed node goes with it and is not listed; ``counts`` has it, by label and by type.
    """

    put_nodes: tuple[NodeRow, ...]
    put_relations: tuple[RelationRow, ...]
    removed_nodes: tuple[NodeKey, ...]
    removed_relations: tuple[str, ...]
    node_counts: Mapping[str, Count]
    relation_counts: Mapping[str, Count]

    @property
    def size(self) -> int:
        """How many rows are written or removed."""
        return (
            len(self.put_nodes)
            + len(self.put_relations)
            + len(self.removed_nodes)
            + len(self.removed_relations)
        )


def changes(stored: Rows, wanted: Rows) -> Changes:
    """Return what differs between the rows that are stored and those that are wanted."""
    # A label never changes after creation: a symptom that becomes evidence is removed and made again.
    relabelled = {
        key
        for key, row in wanted.nodes.items()
        if key in stored.nodes and stored.nodes[key].label != row.label
    }
    removed_nodes = (stored.nodes.keys() - wanted.nodes.keys()) | relabelled
    put_nodes = [
        row for key, row in wanted.nodes.items() if key in relabelled or stored.nodes.get(key) != row
    ]
    removed_relations = {
        id_
        for id_, row in stored.relations.items()
        if id_ not in wanted.relations or _ends(row) != _ends(wanted.relations[id_])
    }
    put_relations = [
        row
        for id_, row in wanted.relations.items()
        if stored.relations.get(id_) != row or row.start in relabelled or row.end in relabelled
    ]
    return Changes(
        put_nodes=tuple(put_nodes),
        put_relations=tuple(put_relations),
        removed_nodes=tuple(sorted(removed_nodes)),
        removed_relations=tuple(
            sorted(
                id_
                for id_ in removed_relations
                if not {stored.relations[id_].start, stored.relations[id_].end} & removed_nodes
            )
        ),
        node_counts=_counts(
            [row.label for row in put_nodes if row.key not in stored.nodes],
            [row.label for row in put_nodes if row.key in stored.nodes],
            [stored.nodes[key].label for key in removed_nodes - relabelled],
        ),
        relation_counts=_counts(
            [row.type for row in put_relations if row.id not in stored.relations],
            [row.type for row in put_relations if row.id in stored.relations],
            [stored.relations[id_].type for id_ in stored.relations.keys() - wanted.relations.keys()],
        ),
    )


def _ends(row: RelationRow) -> tuple[NodeKey, NodeKey]:
    return (row.start, row.end)


def _counts(added: list[str], changed: list[str], removed: list[str]) -> dict[str, Count]:
    tallies = Counter(added), Counter(changed), Counter(removed)
    return {name: Count(*(tally[name] for tally in tallies)) for name in sorted(set().union(*tallies))}


Step = tuple[str, Mapping[str, Any]]


def write_steps(difference: Changes, expected_generation: int) -> list[Step]:
    """Return the shipped queries, with parameters, that write the changes; their order matters."""
    steps: list[Step] = [("advance_catalogue", {"expected": expected_generation})]
    if difference.removed_relations:
        steps.append(("remove_relations", {"ids": dict.fromkeys(difference.removed_relations, True)}))
    for label in sorted({label for label, _ in difference.removed_nodes}):
        ids = [id_ for key_label, id_ in difference.removed_nodes if key_label == label]
        steps.append(("remove_nodes", {"label": label, "ids": dict.fromkeys(ids, True)}))
    by_query: dict[str, list[dict[str, Any]]] = {}
    for node in difference.put_nodes:
        by_query.setdefault(node_query(node), []).append({"id": node.id, **node.properties})
    for relation in difference.put_relations:
        by_query.setdefault(relation_query(relation), []).append(
            {
                "id": relation.id,
                "source": relation.start[1],
                "target": relation.end[1],
                "properties": dict(relation.properties),
            }
        )
    for query, rows in by_query.items():
        steps.extend((query, {"rows": rows[first : first + BATCH]}) for first in range(0, len(rows), BATCH))
    return steps


def node_query(row: NodeRow) -> str:
    """Return the name of the query that stores a node like this: labels cannot be parameters."""
    return f"merge_{_snake_case(row.label)}"


def relation_query(row: RelationRow) -> str:
    """Return the name of the query that stores a relationship like this."""
    several_ends = len({end for _, end in _RELATION_MODELS[row.type].ends}) > 1
    return f"link_{row.type.lower()}" + (f"_{_snake_case(row.end[0])}" if several_ends else "")


def _snake_case(label: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", label).lower()


def write_changes(client: Client, difference: Changes, expected_generation: int) -> None:
    """Write the changes in one transaction.

    Args:
        client: the database.
        difference: what to write.
        expected_generation: that of the stored rows which the changes were worked out from.

    Raises:
        FailgraphError: it failed, and nothing was written; also when the loaded knowledge changed meanwhile.
    """
    client.write_all(write_steps(difference, expected_generation))
