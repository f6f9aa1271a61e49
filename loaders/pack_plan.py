"""What the graph shall hold once a pack is loaded or unloaded, from what it holds now. Pure.

Most rows belong to one pack and are replaced with it. Two kinds are worked out from what all packs say together:

- A step of a chain is one ``CAUSES`` relationship, however many packs' classes have it. ``classes`` lists them all.
  It belongs to the first of these packs, where a required pack comes before those that require it. Its strength is
  what the first pack says that has fitted it, else :data:`~failgraph.graph.network.UNFITTED`: the fit of a pack
  repeats the strengths of the packs it requires, which may be newer by now.
- ``EXPECTS`` follows from the steps of all accepted classes, so it is worked out anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from failgraph.graph.chains import cycles
from failgraph.graph.network import UNFITTED, Network
from failgraph.graph.pack_store import NodeKey, RelationRow, Rows, relation_row
from failgraph.loaders.pack_rows import PackRows, Pair, adjustment_rows, describe
from failgraph.schema import relations
from failgraph.schema.errors import ConflictError, PackError
from failgraph.schema.nodes import ClassStatus
from failgraph.schema.relations import relation_id
from failgraph.schema.scales import Strength

LEAST_EXPECTED: Final = 0.002
"""An observable is stored as expected of a class from this probability above its leak on."""
DIGITS: Final = 12
"""Significant digits of a stored probability, so that the last bits of another machine change nothing."""

Probabilities = Callable[[Network, Iterable[str]], Mapping[str, Mapping[str, float]]]
"""Network and mechanisms to P(observable | mechanism is active), by mechanism and observable."""


def wanted_rows(stored: Rows, pack: str, said: PackRows | None, probabilities: Probabilities) -> Rows:
    """Return all rows that the graph shall hold.

    Args:
        stored: what it holds now.
        pack: id of the pack that is loaded or unloaded.
        said: what the pack says; None when it is unloaded.
        probabilities: the exact inference over the network of all packs.

    Raises:
        PackError: the pack requires or refers to what is not loaded, or closes a causal circle.
        ConflictError: another pack defines one of its ids, or needs what it no longer defines.
    """
    union = _Union()
    for key, node in stored.nodes.items():
        if node.pack != pack:
            union.rows.nodes[key] = node
    for id_, relation in stored.relations.items():
        if relation.type in ("CAUSES", "EXPECTS"):
            _keep_statements(union, stored, relation, pack)
        elif relation.pack != pack:
            union.rows.relations[id_] = relation
    if said is not None:
        _add(union, pack, said)
    _check_requirements(union, pack)
    for row in adjustment_rows(pack, said.adjustments if said else (), union.rows.nodes):
        union.rows.relations[row.id] = row
    _check_references(union, pack)
    _check_circles(union, pack)
    union.rows.relations.update((row.id, row) for row in _causes(union))
    union.rows.relations.update((row.id, row) for row in list(_expects(union, probabilities)))
    return union.rows


@dataclass
class _Union:
    """The rows of all packs, and what they say of shared and derived relationships."""

    rows: Rows = field(default_factory=Rows)
    steps: dict[Pair, set[str]] = field(default_factory=dict)
    words: dict[Pair, Strength] = field(default_factory=dict)

    def pack_of(self, class_id: str) -> str:
        return self.rows.nodes["FailureClass", class_id].pack

    @cached_property
    def required(self) -> Mapping[str, frozenset[str]]:
        """The packs that each pack requires, directly or not."""
        direct = {node.id: tuple(node.properties["requires"] or ()) for node in self.rows.labelled("Pack")}
        reached: dict[str, frozenset[str]] = {}
        for pack, requires in direct.items():
            found: set[str] = set()
            frontier = list(requires)
            while frontier:
                following = frontier.pop()
                if following not in found:
                    found.add(following)
                    frontier.extend(direct.get(following, ()))
            reached[pack] = frozenset(found)
        return reached

    def in_order(self, packs: Iterable[str]) -> list[str]:
        """Return packs with the required ones first; the order of two never depends on a third."""
        return sorted(packs, key=lambda pack: (len(self.required[pack]), pack))


def _keep_statements(union: _Union, stored: Rows, relation: RelationRow, leaving: str) -> None:
    """Keep what the classes of other packs say by a CAUSES or EXPECTS relationship."""
    pair = (relation.start[1], relation.end[1])
    if relation.type == "CAUSES":
        stay = {
            class_id
            for class_id in relation.properties["classes"] or ()
            if stored.nodes["FailureClass", class_id].pack != leaving
        }
        if stay:
            union.steps[pair] = stay
    elif relation.pack != leaving and relation.properties["word"] is not None:
        union.words[pair] = Strength(relation.properties["word"])


def _add(union: _Union, pack: str, said: PackRows) -> None:
    for key, node in said.rows.nodes.items():
        other = union.rows.nodes.get(key)
        if other is not None:
            change = (
                "; change it in adjustments.yaml, or" if key[0] in ("FailureClass", "Observable") else ";"
            )
            raise ConflictError(
                f"{describe(key)} is defined by pack {other.pack} and by pack {pack}{change} give it another id "
                f"in {pack}"
            )
        union.rows.nodes[key] = node
    union.rows.relations.update(said.rows.relations)
    for pair, classes in said.steps.items():
        union.steps.setdefault(pair, set()).update(classes)
    union.words.update(said.words)


def _check_requirements(union: _Union, pack: str) -> None:
    loaded = {node.id for node in union.rows.labelled("Pack")}
    for node in union.rows.labelled("Pack"):
        for missing in sorted(set(node.properties["requires"] or ()) - loaded):
            if node.id == pack:
                raise PackError(
                    f"pack {pack} requires pack {missing}, which is not loaded; load {missing} first"
                )
            raise ConflictError(f"pack {node.id} requires pack {missing}; unload {node.id} first")
    if pack in union.required.get(pack, ()):
        circle = ", ".join(sorted({pack, *union.required[pack]}))
        raise PackError(f"pack {pack} requires itself, through {circle}; remove one of the requirements")


@dataclass(frozen=True)
class _Reference:
    """A pack's node that needs another node."""

    pack: str
    user: NodeKey
    used: NodeKey


def _references(union: _Union) -> Iterator[_Reference]:
    for row in union.rows.relations.values():
        # Of most relationships the pack owns the start; of some (SHOWS, REFUTES) it owns the end.
        start = union.rows.nodes.get(row.start)
        user, used = (row.start, row.end) if start and start.pack == row.pack else (row.end, row.start)
        yield _Reference(row.pack, user, used)
    for pair, classes in union.steps.items():
        for class_id in sorted(classes):
            for mechanism in pair:
                yield _Reference(
                    union.pack_of(class_id), ("FailureClass", class_id), ("Mechanism", mechanism)
                )
    for class_id, observable in union.words:
        yield _Reference(union.pack_of(class_id), ("FailureClass", class_id), ("Observable", observable))


def _check_references(union: _Union, pack: str) -> None:
    """Refuse references to what does not exist, or to packs that are not required."""
    for reference in _references(union):
        used = union.rows.nodes.get(reference.used)
        if used is None and reference.pack == pack:
            raise PackError(
                f"{describe(reference.user)} of pack {pack} refers to {describe(reference.used)}, which no loaded "
                "pack defines; correct the id, or load the pack that defines it first"
            )
        if used is None:
            raise ConflictError(
                f"{describe(reference.user)} of pack {reference.pack} needs {describe(reference.used)} of pack {pack}; "
                f"change or unload {reference.pack} first"
            )
        if used.pack != reference.pack and used.pack not in union.required[reference.pack]:
            raise PackError(
                f"{describe(reference.user)} of pack {reference.pack} refers to {describe(reference.used)} of pack "
                f"{used.pack}; add {used.pack} to its requires"
            )


def _check_circles(union: _Union, pack: str) -> None:
    """Refuse chains that lead back to where they started, though each pack by itself may be sound."""
    for circle in cycles(union.steps):
        raise PackError(
            f"with pack {pack} the chains lead in a circle: {' > '.join([*circle, circle[0]])}; remove one of its steps"
        )


def _causes(union: _Union) -> Iterator[RelationRow]:
    fitted: dict[str, float] = {}
    for pack in union.in_order(union.required):
        text = union.rows.nodes["Pack", pack].properties["fitted"]
        for step, strength in ({} if text is None else json.loads(text)["causes"]).items():
            fitted.setdefault(step, strength)
    for cause, effect in sorted(union.steps):
        classes = sorted(union.steps[cause, effect])
        owner = union.in_order({union.pack_of(class_id) for class_id in classes})[0]
        yield relation_row(
            relations.Causes(
                id=relation_id("CAUSES", cause, effect),
                pack=owner,
                strength=fitted.get(f"{cause}>{effect}", UNFITTED),
                classes=tuple(classes),
            ),
            cause,
            effect,
        )


def _accepted(union: _Union) -> frozenset[str]:
    """Return the classes that compete in a match: what the last pack says that adjusts a class wins."""
    status = {node.id: node.properties["status"] for node in union.rows.labelled("FailureClass")}
    adjusted = {
        (row.pack, row.end[1]): row.properties["status"]
        for row in union.rows.typed("ADJUSTS")
        if row.properties["status"] is not None
    }
    for pack in union.in_order({pack for pack, _ in adjusted}):
        status.update({target: stated for (by, target), stated in adjusted.items() if by == pack})
    return frozenset(class_id for class_id, stated in status.items() if stated == ClassStatus.ACCEPTED)


def _network(union: _Union, accepted: frozenset[str]) -> Network:
    """Return the network of the accepted classes' chains."""
    return Network(
        causes=tuple(
            (row.start[1], row.end[1], float(row.properties["strength"]))
            for row in union.rows.typed("CAUSES")
            if not accepted.isdisjoint(row.properties["classes"])
        ),
        shows=tuple(
            (row.start[1], row.end[1], float(row.properties["strength"])) for row in union.rows.typed("SHOWS")
        ),
        leaks={node.id: float(node.properties["leak"]) for node in union.rows.labelled("Observable")},
    )


def _expects(union: _Union, probabilities: Probabilities) -> Iterator[RelationRow]:
    """Return what each class leads one to see; of a class that is not accepted, only what its expert said."""
    roots = {row.start[1]: row.end[1] for row in union.rows.typed("ROOTED_IN")}
    accepted = _accepted(union)
    network = _network(union, accepted)
    given = probabilities(network, sorted(set(roots.values()))) if roots else {}
    for class_id in sorted(roots):
        for observable in sorted(network.leaks):
            probability = given[roots[class_id]].get(observable, network.leaks[observable])
            word = union.words.get((class_id, observable))
            is_expected = class_id in accepted and probability - network.leaks[observable] > LEAST_EXPECTED
            if word is None and not is_expected:
                continue
            yield relation_row(
                relations.Expects(
                    id=relation_id("EXPECTS", class_id, observable),
                    pack=union.pack_of(class_id),
                    probability=float(f"{probability:.{DIGITS}g}"),
                    word=word,
                ),
                class_id,
                observable,
            )
