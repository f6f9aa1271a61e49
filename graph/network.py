"""The causal network that inference uses: which mechanism causes which, and which observable each one shows.

:func:`network_of` makes it from packs; the store makes it from the rows of a database. What it is asked
while an answer is made needs the standard library only: networkx takes longer to load than a match takes.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Final

from failgraph.schema.errors import PackError
from failgraph.schema.nodes import ClassStatus
from failgraph.schema.pack import ClassItem, PackContent
from failgraph.schema.scales import LEAK_PROBABILITY, STRENGTH_PROBABILITY

Edge = tuple[str, str]
Hop = tuple[str, str, str]

UNFITTED: Final = 0.6
"""Strength of a CAUSES edge that no pack has fitted."""
_DETOUR: Final = 1.0
"""What a step outside the preferred edges costs a path, in natural logarithms of probability (judgement)."""
_LEAST: Final = 1e-12
"""Strengths below are taken as this, so that a path of strength 0 is the last choice and not an error."""


@dataclass(frozen=True)
class Network:
    """Mechanisms that cause one another, and what each leaves behind.

    Args:
        causes: (cause, effect, probability that the cause alone brings the effect about).
        shows: (mechanism, observable, probability that it is seen, where one looks, when the mechanism is active).
        leaks: for every known observable the probability that it is seen although nothing that shows it is active.
    """

    causes: tuple[tuple[str, str, float], ...]
    shows: tuple[tuple[str, str, float], ...]
    leaks: Mapping[str, float]

    @cached_property
    def parents(self) -> Mapping[str, tuple[tuple[str, float], ...]]:
        """The causes of each mechanism with their strength, by id; every mechanism has an entry."""
        found: dict[str, list[tuple[str, float]]] = {mechanism: [] for mechanism, _, _ in self.shows}
        for cause, effect, strength in self.causes:
            found.setdefault(cause, [])
            found.setdefault(effect, []).append((cause, strength))
        return {mechanism: tuple(sorted(found[mechanism])) for mechanism in sorted(found)}

    @cached_property
    def shown_by(self) -> Mapping[str, tuple[tuple[str, float], ...]]:
        """The mechanisms that show each observable with their strength, by id; every observable has an entry."""
        found: dict[str, list[tuple[str, float]]] = {observable: [] for observable in self.leaks}
        for mechanism, observable, strength in self.shows:
            found.setdefault(observable, []).append((mechanism, strength))
        return {observable: tuple(sorted(found[observable])) for observable in sorted(found)}

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """All mechanisms that cause, follow or show something, by id."""
        return tuple(self.parents)

    @cached_property
    def causal_order(self) -> tuple[str, ...]:
        """All mechanisms, causes before effects.

        Raises:
            PackError: mechanisms cause one another in a circle.
        """
        sorter = TopologicalSorter(
            {effect: [cause for cause, _ in causes] for effect, causes in self.parents.items()}
        )
        try:
            return tuple(sorter.static_order())
        except CycleError as error:
            circle = " > ".join(reversed(error.args[1]))
            raise PackError(
                f"mechanisms cause one another in a circle ({circle}); take one step out of a chain"
            ) from error

    def sources(self, mechanisms: Collection[str]) -> frozenset[str]:
        """Return the mechanisms and all their direct and indirect causes."""
        parents = self.parents
        reached: set[str] = set()
        waiting = list(mechanisms)
        while waiting:
            mechanism = waiting.pop()
            if mechanism not in reached:
                reached.add(mechanism)
                waiting.extend(cause for cause, _ in parents.get(mechanism, ()))
        return frozenset(reached)

    def path_tree(self, root: str, preferred: frozenset[Edge]) -> Mapping[str, tuple[float, int, str]]:
        """Return for each mechanism that the root leads to: cost and steps of the best path, and its last cause.

        One pass in causal order does what a search would; it is the part of an answer that every path needs.
        """
        tree = self._path_trees.get((root, preferred))
        if tree is None:
            tree = {root: (0.0, 0, root)}
            for mechanism in self.causal_order:
                ways = [
                    (
                        tree[cause][0]
                        - math.log(max(strength, _LEAST))
                        + (0.0 if (cause, mechanism) in preferred else _DETOUR),
                        tree[cause][1] + 1,
                        cause,
                    )
                    for cause, strength in self.parents[mechanism]
                    if cause in tree
                ]
                if ways and mechanism != root:
                    tree[mechanism] = min(ways)
            self._path_trees[root, preferred] = tree
        return tree

    @cached_property
    def _path_trees(self) -> dict[tuple[str, frozenset[Edge]], dict[str, tuple[float, int, str]]]:
        """The trees that were worked out already."""
        return {}


def network_of(contents: Sequence[PackContent]) -> Network:
    """Return the network of several packs: the union of the chains of all their accepted classes.

    The strength of a step comes from the first pack that has fitted it, as in the graph, else it is
    :data:`UNFITTED`. The status of a
    class is what the last adjustment says, else its own.

    Raises:
        PackError: a chain or an observable names a mechanism that no pack defines, or the chains form a circle.
    """
    known = {mechanism.id for content in contents for mechanism in content.mechanisms}
    fitted: dict[str, float] = {}
    status: dict[str, ClassStatus] = {}
    for content in contents:
        if content.fitted is not None:
            fitted = {**content.fitted.causes, **fitted}
        status.update({item.target: item.status for item in content.adjustments if item.status is not None})
    steps: set[Edge] = set()
    for content in contents:
        for item in content.classes:
            if status.get(item.id, item.status) is ClassStatus.ACCEPTED:
                steps |= chain_edges(item)
    shows: dict[Edge, float] = {}
    leaks: dict[str, float] = {}
    for content in contents:
        for observable in content.observables:
            leaks[observable.id] = LEAK_PROBABILITY[observable.specificity]
            for shown in observable.shown_by:
                shows[shown.mechanism, observable.id] = STRENGTH_PROBABILITY[shown.strength]
    unknown = ({end for step in steps for end in step} | {mechanism for mechanism, _ in shows}) - known
    if unknown:
        raise PackError(f"no pack defines the mechanism {min(unknown)}; define it or mend the reference")
    network = Network(
        causes=tuple(
            (cause, effect, fitted.get(f"{cause}>{effect}", UNFITTED)) for cause, effect in sorted(steps)
        ),
        shows=tuple((*pair, shows[pair]) for pair in sorted(shows)),
        leaks=dict(sorted(leaks.items())),
    )
    _ = network.causal_order  # refuses a circle
    return network


def chain_edges(item: ClassItem) -> frozenset[Edge]:
    """Return the steps of a class's own chain, as (cause, effect)."""
    return frozenset((cause, effect) for cause, effects in item.chain.items() for effect in effects)


def best_path(
    network: Network, root: str, observable: str, preferred_edges: Collection[Edge] = ()
) -> list[Hop]:
    """Return the most probable path from a mechanism to an observable, as (from, to, relation).

    The path with the greatest product of strengths wins, where each CAUSES step outside ``preferred_edges`` (the
    class's own chain) counts as less probable by a fixed factor; then the one with fewer steps; then the one whose
    mechanisms come first by id. Empty: the mechanism does not lead to the observable.
    """
    tree = network.path_tree(root, frozenset(preferred_edges))
    ends = [
        (tree[mechanism][0] - math.log(max(strength, _LEAST)), tree[mechanism][1], mechanism)
        for mechanism, strength in network.shown_by.get(observable, ())
        if mechanism in tree
    ]
    if not ends:
        return []
    mechanism = min(ends)[2]
    hops: list[Hop] = [(mechanism, observable, "SHOWS")]
    while mechanism != root:
        cause = tree[mechanism][2]
        hops.append((cause, mechanism, "CAUSES"))
        mechanism = cause
    return hops[::-1]
