"""A knowledge pack as rows of the graph. Pure: no database, and the rows of one pack say all that its files say.

Two relationships are shared or derived, so a pack only makes statements about them, and
:mod:`failgraph.loaders.pack_plan` turns the statements of all packs into rows: the steps of chains (``CAUSES``) and
what classes lead one to see (``EXPECTS``).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from failgraph.graph.pack_store import NodeRow, RelationRow, Rows, node_row, relation_row
from failgraph.schema import nodes, relations
from failgraph.schema.errors import PackError
from failgraph.schema.nodes import ObservableKind
from failgraph.schema.pack import AdjustmentItem, CheckItem, ClassItem, ObservableItem, PackContent
from failgraph.schema.relations import relation_id
from failgraph.schema.scales import LEAK_PROBABILITY, STRENGTH_PROBABILITY, Strength

Pair = tuple[str, str]


@dataclass
class PackRows:
    """What one pack says.

    Attributes:
        rows: the nodes and relationships that it owns.
        steps: cause and effect of each step in a chain of its classes, with the ids of these classes.
        words: class and observable, with the expert's word for how often the class shows it.
        adjustments: what it changes on nodes of other packs; the label of a target is known there only.
    """

    rows: Rows = field(default_factory=Rows)
    steps: dict[Pair, set[str]] = field(default_factory=dict)
    words: dict[Pair, Strength] = field(default_factory=dict)
    adjustments: tuple[AdjustmentItem, ...] = ()


def pack_rows(content: PackContent, checksum: str) -> PackRows:
    """Return what a pack says.

    Args:
        content: the pack.
        checksum: of its canonical files.

    Raises:
        PackError: something is said twice, or not in a way that the graph can hold.
    """
    made = PackRows(adjustments=content.adjustments)
    pack = content.header.id
    for node in _nodes(content, checksum):
        if node.key in made.rows.nodes:
            raise PackError(f"pack {pack} defines {describe(node.key)} twice; rename or remove one")
        made.rows.nodes[node.key] = node
    for relation in _relations(content):
        if relation.id in made.rows.relations:
            raise PackError(
                f"pack {pack} says twice that {describe(relation.start)} {relation.type} {describe(relation.end)}; "
                "remove one"
            )
        made.rows.relations[relation.id] = relation
    for item in content.classes:
        _check_chain(item)
        for cause, effects in item.chain.items():
            for effect in effects:
                made.steps.setdefault((cause, effect), set()).add(item.id)
        for word, observables in item.expects.items():
            for observable in observables:
                if (item.id, observable) in made.words:
                    raise PackError(
                        f"class {item.id} expects observable {observable} twice; keep one word for it"
                    )
                made.words[item.id, observable] = word
    return made


def describe(key: tuple[str, str]) -> str:
    """Return a node in words.

    >>> describe(("FailureClass", "gpu-engine-hang"))
    'failure class gpu-engine-hang'
    """
    label = re.sub(r"(?<!^)(?=[A-Z])", " ", key[0]).lower()
    return f"{label} {key[1]}"


def presentation_id(class_id: str, name: str) -> str:
    """Return the id of a presentation.

    >>> presentation_id("facility-power-feed-loss", "Half-lit node")
    'facility-power-feed-loss/half-lit-node'
    """
    return f"{class_id}/{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')}"


def source_id(pack: str, locator: str) -> str:
    """Return the id of a source: the same text in two packs is two sources, so each pack owns its own."""
    return hashlib.sha256(f"{pack}\n{locator}".encode()).hexdigest()[:16]


def _check_chain(item: ClassItem) -> None:
    """Refuse a chain with a mechanism that no step touches: the graph would forget it."""
    touched = {item.root}.union(*((cause, *effects) for cause, effects in item.chain.items() if effects))
    for mechanism in item.chain:
        if mechanism not in touched:
            raise PackError(
                f"mechanism {mechanism} stands alone in the chain of class {item.id}; say what causes it, or remove it"
            )


def _nodes(content: PackContent, checksum: str) -> Iterator[NodeRow]:
    pack = content.header.id
    header, fitted = content.header, content.fitted
    yield node_row(
        nodes.Pack(
            **header.model_dump(),
            checksum=checksum,
            fitted=None if fitted is None else _json(fitted.model_dump(mode="json")),
        )
    )
    for layer in content.layers:
        yield node_row(nodes.Layer(**layer.model_dump(), pack=pack))
    for mechanism in content.mechanisms:
        yield node_row(nodes.Mechanism(**mechanism.model_dump(exclude={"layer"}), pack=pack))
    for observable in content.observables:
        yield _observable_node(observable, pack)
    for circumstance in content.circumstances:
        dimension = circumstance.id.split(".", 1)[0]
        yield node_row(nodes.Circumstance(**circumstance.model_dump(), dimension=dimension, pack=pack))
    for check in content.checks:
        yield node_row(nodes.Check(**check.model_dump(exclude={"reveals"}), pack=pack))
    for narrative in content.narratives:
        yield node_row(nodes.Narrative(**narrative.model_dump(), pack=pack))
    for item in content.classes:
        yield from _class_nodes(item, pack)
    for locator in sorted({locator for item in content.classes for locator in item.sources}):
        yield node_row(nodes.Source(id=source_id(pack, locator), pack=pack, locator=locator))


def _observable_node(item: ObservableItem, pack: str) -> NodeRow:
    model = nodes.Symptom if item.kind is ObservableKind.BEHAVIOUR else nodes.Evidence
    given = item.model_dump(exclude={"shown_by", "implies", "multiline", "metric"})
    return node_row(
        model(
            **given,
            pack=pack,
            multiline=True if item.multiline else None,
            metric=None if item.metric is None else _json(item.metric.model_dump(mode="json")),
            leak=LEAK_PROBABILITY[item.specificity],
        )
    )


def _class_nodes(item: ClassItem, pack: str) -> Iterator[NodeRow]:
    yield node_row(
        nodes.FailureClass(
            id=item.id,
            pack=pack,
            note=item.note,
            name=item.name,
            summary=item.summary,
            kind=item.kind,
            status=item.status,
            revision=item.revision,
            prior=item.prior,
            aliases=item.aliases,
        )
    )
    for face in item.presentations:
        yield node_row(
            nodes.Presentation(
                id=presentation_id(item.id, face.name),
                pack=pack,
                name=face.name,
                description=face.description,
            )
        )
    for number, text in enumerate(item.remedies, start=1):
        yield node_row(nodes.Remedy(id=f"{item.id}/remedy/{number}", pack=pack, text=text))
    for number, text in enumerate(item.preventions, start=1):
        yield node_row(nodes.Prevention(id=f"{item.id}/prevention/{number}", pack=pack, text=text))


def _relations(content: PackContent) -> Iterator[RelationRow]:
    pack = content.header.id
    for mechanism in content.mechanisms:
        yield _relation(relations.At, mechanism.id, mechanism.layer, pack)
    for observable in content.observables:
        yield from _observable_relations(observable, pack)
    for check in content.checks:
        yield from _check_relations(check, pack)
    for narrative in content.narratives:
        if narrative.describes is not None:
            yield _relation(relations.Describes, narrative.id, narrative.describes, pack)
    for item in content.classes:
        yield from _class_relations(item, pack)


def _observable_relations(item: ObservableItem, pack: str) -> Iterator[RelationRow]:
    for shown in item.shown_by:
        id_ = relation_id("SHOWS", shown.mechanism, item.id)
        strength = STRENGTH_PROBABILITY[shown.strength]
        yield relation_row(
            relations.Shows(id=id_, pack=pack, strength=strength, word=shown.strength, because=shown.because),
            shown.mechanism,
            item.id,
        )
    for broader in item.implies:
        yield _relation(relations.Implies, item.id, broader, pack)


def _check_relations(item: CheckItem, pack: str) -> Iterator[RelationRow]:
    for revealed in item.reveals:
        end_label = "Circumstance" if "." in revealed else "Observable"
        id_ = relation_id("REVEALS", item.id, revealed)
        yield relation_row(relations.Reveals(id=id_, pack=pack), item.id, revealed, end_label)


def _class_relations(item: ClassItem, pack: str) -> Iterator[RelationRow]:
    yield _relation(relations.RootedIn, item.id, item.root, pack)
    for other in item.specialises:
        yield _relation(relations.Specialises, item.id, other, pack)
    for refuter in item.refuters:
        yield relation_row(
            relations.Refutes(
                id=relation_id("REFUTES", refuter.observable, item.id),
                pack=pack,
                when=refuter.when,
                because=refuter.because,
                factor=refuter.factor,
            ),
            refuter.observable,
            item.id,
        )
    for face in item.presentations:
        face_id = presentation_id(item.id, face.name)
        yield _relation(relations.PresentsAs, item.id, face_id, pack)
        for shown in face.shows:
            yield _relation(relations.Includes, face_id, shown, pack)
        for lacking in face.lacks:
            yield _relation(relations.Lacks, face_id, lacking, pack)
    for circumstance, probability in item.circumstances.items():
        id_ = relation_id("COMES_WITH", item.id, circumstance)
        yield relation_row(
            relations.ComesWith(id=id_, pack=pack, probability=probability), item.id, circumstance
        )
    for check in item.checks:
        yield _relation(relations.CheckedBy, item.id, check, pack)
    for number in range(1, len(item.remedies) + 1):
        yield _relation(relations.RepairedBy, item.id, f"{item.id}/remedy/{number}", pack)
    for number in range(1, len(item.preventions) + 1):
        yield _relation(relations.PreventedBy, item.id, f"{item.id}/prevention/{number}", pack)
    for position, locator in enumerate(item.sources, start=1):
        source = source_id(pack, locator)
        id_ = relation_id("CITED_FROM", item.id, source)
        yield relation_row(relations.CitedFrom(id=id_, pack=pack, position=position), item.id, source)


def _relation(model: type[relations.PackRelation], start: str, end: str, pack: str) -> RelationRow:
    """Return a relationship without properties of its own."""
    return relation_row(model(id=relation_id(model.type, start, end), pack=pack), start, end)


def adjustment_rows(
    pack: str, adjustments: Iterable[AdjustmentItem], known: Mapping[tuple[str, str], NodeRow]
) -> Iterator[RelationRow]:
    """Return what a pack changes on nodes of other packs.

    Args:
        pack: id of the pack.
        adjustments: what it says.
        known: the nodes of all packs.

    Raises:
        PackError: a target is unknown, the pack's own, or has no such property.
    """
    for item in adjustments:
        label = _adjusted_label(pack, item)
        target = known.get((label, item.target))
        if target is None:
            raise PackError(
                f"pack {pack} adjusts {describe((label, item.target))}, which no loaded pack defines; correct the id"
            )
        if target.pack == pack:
            raise PackError(
                f"pack {pack} adjusts its own {describe(target.key)}; change it where it is defined instead"
            )
        yield relation_row(
            relations.Adjusts(
                id=relation_id("ADJUSTS", pack, item.target),
                pack=pack,
                prior=item.prior,
                status=item.status,
                phrases=item.phrases,
                negated=item.negated,
            ),
            pack,
            item.target,
            label,
        )


def _adjusted_label(pack: str, item: AdjustmentItem) -> str:
    """Return the label of the node that an adjustment means: only classes have a prior, only observables phrases."""
    of_class = item.prior is not None or item.status is not None
    of_observable = bool(item.phrases or item.negated)
    if of_class == of_observable:
        raise PackError(
            f"pack {pack} must change either prior and status of a class or phrases of an observable under "
            f"{item.target}; write one of the two"
        )
    return "FailureClass" if of_class else "Observable"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
