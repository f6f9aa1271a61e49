"""Rows of the graph as a knowledge pack again: the reverse of :mod:`failgraph.loaders.pack_rows`. Pure."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

from failgraph.graph.pack_store import NodeRow, RelationRow, Rows
from failgraph.loaders.canonical import canonical_pack
from failgraph.schema.pack import (
    AdjustmentItem,
    CheckItem,
    CircumstanceItem,
    ClassItem,
    FittedNumbers,
    LayerItem,
    MechanismItem,
    MetricSignature,
    NarrativeItem,
    ObservableItem,
    PackContent,
    PackHeader,
    PresentationItem,
    RefuterItem,
    ShownBy,
)
from failgraph.schema.scales import Strength


def pack_content(rows: Rows, pack_id: str) -> PackContent:
    """Return a pack as its files would say it, in canonical order.

    Args:
        rows: the rows of all loaded packs; a pack's classes may stand in the layers of another.
        pack_id: which pack; it must be among the rows.
    """
    return canonical_pack(_Pack(rows, pack_id).content())


class _Pack:
    """One pack among the rows, with its relationships by type and end."""

    def __init__(self, rows: Rows, pack_id: str) -> None:
        self.rows = rows
        self.id = pack_id
        self.leaving: dict[tuple[str, str], list[RelationRow]] = defaultdict(list)
        self.reaching: dict[tuple[str, str], list[RelationRow]] = defaultdict(list)
        self.steps: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for row in rows.relations.values():
            self.leaving[row.type, row.start[1]].append(row)
            self.reaching[row.type, row.end[1]].append(row)
        for row in rows.typed("CAUSES"):
            for class_id in row.properties["classes"] or ():
                self.steps[class_id][row.start[1]].append(row.end[1])

    def owned(self, label: str) -> list[NodeRow]:
        return [node for node in self.rows.labelled(label) if node.pack == self.id]

    def ends(self, relation_type: str, start: str) -> tuple[str, ...]:
        return tuple(row.end[1] for row in self.leaving[relation_type, start])

    def content(self) -> PackContent:
        pack = self.rows.nodes["Pack", self.id]
        fitted = pack.properties["fitted"]
        return PackContent(
            header=PackHeader(id=pack.id, **_given(pack, "name", "revision", "summary", "requires")),
            layers=tuple(
                LayerItem(id=node.id, **_given(node, "name", "rank", "note")) for node in self.owned("Layer")
            ),
            mechanisms=tuple(
                MechanismItem(
                    id=node.id,
                    layer=self.ends("AT", node.id)[0],
                    **_given(node, "name", "summary", "note"),
                )
                for node in self.owned("Mechanism")
            ),
            observables=tuple(self._observable(node) for node in self.owned("Observable")),
            classes=tuple(self._class(node) for node in self.owned("FailureClass")),
            checks=tuple(
                CheckItem(
                    id=node.id,
                    reveals=self.ends("REVEALS", node.id),
                    **_given(node, "topic", "command", "where", "needs", "cost", "safe", "read_it", "note"),
                )
                for node in self.owned("Check")
            ),
            circumstances=tuple(
                CircumstanceItem(
                    id=node.id, **_given(node, "means", "phrases", "not_phrases", "base_rate", "note")
                )
                for node in self.owned("Circumstance")
            ),
            narratives=tuple(
                NarrativeItem(
                    id=node.id,
                    **_given(
                        node,
                        "topic",
                        "style",
                        "presentation",
                        "text",
                        "checked",
                        "circumstances",
                        "observables",
                        "note",
                    ),
                )
                for node in self.owned("Narrative")
            ),
            adjustments=tuple(
                AdjustmentItem(target=row.end[1], **_given(row, "prior", "status", "phrases", "negated"))
                for row in self.leaving["ADJUSTS", self.id]
            ),
            fitted=None if fitted is None else FittedNumbers(**json.loads(fitted)),
        )

    def _observable(self, node: NodeRow) -> ObservableItem:
        metric = node.properties["metric"]
        return ObservableItem(
            id=node.id,
            metric=None if metric is None else MetricSignature(**json.loads(metric)),
            shown_by=tuple(
                ShownBy(mechanism=row.start[1], strength=row.properties["word"], **_given(row, "because"))
                for row in self.reaching["SHOWS", node.id]
            ),
            implies=self.ends("IMPLIES", node.id),
            **_given(
                node,
                "topic",
                "kind",
                "says",
                "source",
                "signature",
                "multiline",
                "specificity",
                "verified",
                "verification",
                "seen_in",
                "because",
                "phrases",
                "negated",
                "examples",
                "not_examples",
                "note",
            ),
        )

    def _class(self, node: NodeRow) -> ClassItem:
        (root,) = self.ends("ROOTED_IN", node.id)
        words: dict[str, list[str]] = defaultdict(list)
        for row in self.leaving["EXPECTS", node.id]:
            if row.properties["word"] is not None:
                words[row.properties["word"]].append(row.end[1])
        sources = sorted(self.leaving["CITED_FROM", node.id], key=lambda row: int(row.properties["position"]))
        return ClassItem(
            id=node.id,
            layer=self.ends("AT", root)[0],
            specialises=self.ends("SPECIALISES", node.id),
            root=root,
            chain={root: (), **{cause: tuple(effects) for cause, effects in self.steps[node.id].items()}},
            expects={Strength(word): tuple(observables) for word, observables in words.items()},
            refuters=tuple(
                RefuterItem(observable=row.start[1], **_given(row, "when", "because", "factor"))
                for row in self.reaching["REFUTES", node.id]
            ),
            presentations=tuple(
                PresentationItem(
                    shows=self.ends("INCLUDES", face),
                    lacks=self.ends("LACKS", face),
                    **_given(self.rows.nodes["Presentation", face], "name", "description"),
                )
                for face in self.ends("PRESENTS_AS", node.id)
            ),
            circumstances={
                row.end[1]: row.properties["probability"] for row in self.leaving["COMES_WITH", node.id]
            },
            checks=self.ends("CHECKED_BY", node.id),
            remedies=self._texts("Remedy", "REPAIRED_BY", node.id),
            preventions=self._texts("Prevention", "PREVENTED_BY", node.id),
            sources=tuple(self.rows.nodes[row.end].properties["locator"] for row in sources),
            **_given(node, "name", "summary", "kind", "status", "revision", "prior", "aliases", "note"),
        )

    def _texts(self, label: str, relation_type: str, class_id: str) -> tuple[str, ...]:
        """Return the texts of nodes whose ids end in their number, in that order."""
        ids = sorted(self.ends(relation_type, class_id), key=lambda id_: int(id_.rsplit("/", 1)[1]))
        return tuple(self.rows.nodes[label, id_].properties["text"] for id_ in ids)


def _given(row: NodeRow | RelationRow, *names: str) -> dict[str, Any]:
    """Return the properties with these names that are set; the others have the item's default."""
    return {name: row.properties[name] for name in names if row.properties[name] is not None}
