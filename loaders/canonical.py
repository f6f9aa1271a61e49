"""The canonical order within a knowledge pack: whatever has no order of its own is sorted.

Lists in which the expert's order says something (phrases, examples, remedies, preventions, sources, aliases) keep
it. So a pack that was exported from the graph equals the pack that was loaded into it.
"""

from __future__ import annotations

from typing import Final

from failgraph.schema.pack import ClassItem, NarrativeItem, ObservableItem, PackContent
from failgraph.schema.scales import Strength

STRENGTH_ORDER: Final = tuple(Strength)
"""Strength words, the strongest first."""


def canonical_pack(content: PackContent) -> PackContent:
    """Return the same pack with everything that has no order of its own sorted."""
    return content.model_copy(
        update={
            "header": content.header.model_copy(update={"requires": tuple(sorted(content.header.requires))}),
            "layers": tuple(sorted(content.layers, key=lambda layer: (layer.rank, layer.id))),
            "mechanisms": tuple(sorted(content.mechanisms, key=lambda item: item.id)),
            "observables": tuple(
                sorted(map(_canonical_observable, content.observables), key=lambda item: item.id)
            ),
            "classes": tuple(sorted(map(_canonical_class, content.classes), key=lambda item: item.id)),
            "checks": tuple(
                sorted(
                    (
                        item.model_copy(update={"reveals": tuple(sorted(item.reveals))})
                        for item in content.checks
                    ),
                    key=lambda item: item.id,
                )
            ),
            "circumstances": tuple(sorted(content.circumstances, key=lambda item: item.id)),
            "narratives": tuple(sorted(map(_canonical_narrative, content.narratives), key=narrative_order)),
            "adjustments": tuple(sorted(content.adjustments, key=lambda item: item.target)),
        }
    )


def narrative_order(item: NarrativeItem) -> tuple[str, int]:
    """Return what narratives are sorted by: the class, then the number."""
    name, _, number = item.id.rpartition("/")
    return name, int(number)


def _canonical_narrative(item: NarrativeItem) -> NarrativeItem:
    return item.model_copy(
        update={
            "circumstances": tuple(sorted(item.circumstances)),
            "observables": tuple(sorted(item.observables)),
        }
    )


def _canonical_observable(item: ObservableItem) -> ObservableItem:
    return item.model_copy(
        update={
            "shown_by": tuple(sorted(item.shown_by, key=lambda shown: (shown.mechanism, shown.strength))),
            "implies": tuple(sorted(item.implies)),
        }
    )


def _canonical_class(item: ClassItem) -> ClassItem:
    return item.model_copy(
        update={
            "specialises": tuple(sorted(item.specialises)),
            "chain": {cause: tuple(sorted(item.chain[cause])) for cause in causal_order(item)},
            "expects": {
                word: tuple(sorted(item.expects[word])) for word in STRENGTH_ORDER if item.expects.get(word)
            },
            "refuters": tuple(
                sorted(item.refuters, key=lambda refuter: (refuter.when, refuter.observable, refuter.because))
            ),
            "presentations": tuple(
                presentation.model_copy(
                    update={
                        "shows": tuple(sorted(presentation.shows)),
                        "lacks": tuple(sorted(presentation.lacks)),
                    }
                )
                for presentation in sorted(item.presentations, key=lambda face: (face.name, face.description))
            ),
            "circumstances": dict(sorted(item.circumstances.items())),
            "checks": tuple(sorted(item.checks)),
        }
    )


def causal_order(item: ClassItem) -> list[str]:
    """Return the mechanisms of a class's chain, causes before effects, near the root first, then by id.

    A chain that is not sound (a cycle, a part that hangs loose) still gives each mechanism once.
    """
    depth = {item.root: 0} if item.root in item.chain else {}
    frontier = list(depth)
    while frontier:
        following = []
        for cause in frontier:
            for effect in item.chain[cause]:
                if effect not in depth:
                    depth[effect] = depth[cause] + 1
                    following.append(effect)
        frontier = following
    waits = dict.fromkeys(item.chain, 0)
    for effects in item.chain.values():
        for effect in effects:
            waits[effect] += 1
    order: list[str] = []
    left = set(item.chain)
    far = len(item.chain)
    while left:
        ready = [mechanism for mechanism in left if waits[mechanism] <= 0] or left
        chosen = min(ready, key=lambda mechanism: (depth.get(mechanism, far), mechanism))
        order.append(chosen)
        left.remove(chosen)
        for effect in item.chain[chosen]:
            waits[effect] -= 1
    return order
