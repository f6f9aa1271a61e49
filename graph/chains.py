"""Causal chains as directed graphs in memory: cycles, reach, and a quick forecast of what a root brings about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def cycles(edges: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return one cycle for each set of mechanisms that cause one another, as mechanisms in order; often none."""
    import networkx

    graph = networkx.DiGraph(sorted(edges))
    found = []
    for component in networkx.strongly_connected_components(graph):
        part = graph.subgraph(sorted(component))
        if len(component) > 1 or networkx.number_of_selfloops(part):
            loop = [start for start, _ in networkx.find_cycle(part, source=min(component))]
            first = loop.index(min(loop))
            found.append(loop[first:] + loop[:first])
    return sorted(found)


def out_of_reach(root: str, chain: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the mechanisms of a chain that its root does not lead to, sorted; all of them without a root."""
    import networkx

    graph: Any = networkx.DiGraph()
    graph.add_nodes_from(chain)
    graph.add_edges_from((cause, effect) for cause, effects in chain.items() for effect in effects)
    if root not in graph:
        return sorted(graph)
    return sorted(set(graph) - {root} - networkx.descendants(graph, root))


def forecast(
    root: str,
    chain: Mapping[str, Sequence[str]],
    strength: Mapping[tuple[str, str], float],
    usual: float,
) -> dict[str, float]:
    """Return the probability of each mechanism when the root is active, parents taken as independent.

    A quick noisy-OR forecast within one chain, without leaks; the inference proper is exact. A chain with a cycle
    gives the root alone.

    Args:
        root: the mechanism that is active.
        chain: mechanism to the mechanisms that it causes.
        strength: probability that a cause brings an effect about, by (cause, effect).
        usual: the strength of an edge that is not in ``strength``.
    """
    import networkx

    graph = networkx.DiGraph((cause, effect) for cause, effects in chain.items() for effect in effects)
    active = {root: 1.0}
    if not networkx.is_directed_acyclic_graph(graph):
        return active
    for mechanism in networkx.topological_sort(graph):
        if mechanism == root:
            continue
        spared = 1.0
        for cause in graph.predecessors(mechanism):
            spared *= 1.0 - active.get(cause, 0.0) * strength.get((cause, mechanism), usual)
        active[mechanism] = 1.0 - spared
    return active
