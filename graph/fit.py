"""The strength of each CAUSES step, fitted so that the network says what the experts say of whole classes.

An expert gives a word for P(observable | class); the network has one strength per step and shares the steps between
classes. Here the strengths are found that come closest, by descent along the gradient of a quick forecast in which
the causes of a mechanism are taken as independent. After each round the exact inference says how far the forecast
is off for each pair, and the next round aims as far beside. SHOWS strengths stay the experts' words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from failgraph.graph.infer import expected, expected_base
from failgraph.graph.network import UNFITTED, Network, chain_edges, network_of
from failgraph.schema.nodes import ClassStatus
from failgraph.schema.pack import ClassItem, FittedNumbers, PackContent
from failgraph.schema.scales import MECHANISM_LEAK, STRENGTH_PROBABILITY

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]

LOWEST: Final = 0.02
HIGHEST: Final = 0.98
_DIGITS: Final = 4
_PULL: Final = 0.005
"""Weight of (strength - 0.6) squared against the squared error of a pair: it decides what the words leave open."""
_STEPS: Final = 150
"""Descent steps in each round."""


@dataclass(frozen=True)
class Residual:
    """One word of an expert and what the network makes of it; ``got`` is exact.

    ``reachable`` is false where no mechanism that shows the observable follows from the class's root: then no
    strength can help, and the class's chain or the observable's ``shown_by`` lacks something.
    """

    class_id: str
    observable: str
    word: str
    wanted: float
    got: float
    reachable: bool = True


@dataclass(frozen=True)
class FitResult:
    """The fitted numbers, ready for ``fitted.yaml``, and every pair, worst first.

    ``numbers.causes`` has every step of the pack's chains, those that are fixed or not fitted too.
    """

    numbers: FittedNumbers
    residuals: tuple[Residual, ...]


def fit(content: PackContent, *, others: Sequence[PackContent] = (), rounds: int = 3) -> FitResult:
    """Return the strengths of the CAUSES steps of a pack.

    Deterministic. A step that no word depends on gets the strength that unfitted steps have.

    Args:
        content: the pack. Its own fitted numbers are not looked at.
        others: packs that it requires. Their steps keep their strengths.
        rounds: how often the exact inference corrects the forecast.

    Raises:
        PackError: the packs do not make a network, see :func:`~failgraph.graph.network.network_of`.
    """
    network = network_of([*others, content.model_copy(update={"fitted": None})])
    accepted = [item for item in content.classes if item.status is ClassStatus.ACCEPTED]
    classes = sorted(accepted, key=lambda item: item.id)
    fixed = {edge for other in others for item in other.classes for edge in chain_edges(item)}
    own = {edge for item in classes for edge in chain_edges(item)} - fixed
    pairs = _pairs(network, classes)
    aims = [pair for pair in pairs if pair.reachable]
    roots = sorted({item.root for item in classes})
    root_of = {item.id: item.root for item in classes}
    if aims and own:
        forecast = _Forecast(
            network, roots, own, [(root_of[pair.class_id], pair.observable) for pair in aims]
        )
        wanted = np.array([pair.wanted for pair in aims])
        beside = np.zeros(len(aims))
        best: tuple[float, Network] | None = None
        for _ in range(rounds):
            forecast.descend(wanted + beside)
            candidate = forecast.network(network)
            got = np.array([pair.got for pair in _measured(candidate, aims, root_of)])
            error = float(np.square(got - wanted).sum())
            if best is None or error < best[0]:
                best = (error, candidate)
            beside = forecast.probabilities()[0] - got
        if best is not None:
            network = best[1]
    residuals = sorted(
        _measured(network, pairs, root_of),
        key=lambda pair: (-abs(pair.got - pair.wanted), pair.class_id, pair.observable),
    )
    strengths = {(cause, effect): strength for cause, effect, strength in network.causes}
    causes = {
        f"{cause}>{effect}": round(strengths.get((cause, effect), UNFITTED), _DIGITS)
        for cause, effect in sorted({edge for item in content.classes for edge in chain_edges(item)})
    }
    numbers = FittedNumbers(made_by="failgraph pack fit", figures=_figures(residuals), causes=causes)
    return FitResult(numbers, tuple(residuals))


def _pairs(network: Network, classes: Sequence[ClassItem]) -> list[Residual]:
    """Return every word of the classes, with what has to be reached and whether it can be."""
    pairs = []
    for item in classes:
        for word, observables in sorted(item.expects.items()):
            for observable in sorted(observables):
                links = [mechanism for mechanism, _ in network.shown_by.get(observable, ())]
                reachable = item.root in network.sources(links)
                wanted = STRENGTH_PROBABILITY[word]
                pairs.append(Residual(item.id, observable, str(word), wanted, 0.0, reachable))
    return pairs


def _measured(network: Network, pairs: Sequence[Residual], root_of: dict[str, str]) -> list[Residual]:
    """Return the pairs with what the exact inference gives."""
    given = expected(network, set(root_of.values()))
    return [
        replace(
            pair,
            got=given[root_of[pair.class_id]].get(pair.observable)
            or (expected_base(network, pair.observable) if pair.observable in network.leaks else 0.0),
        )
        for pair in pairs
    ]


def _figures(residuals: Sequence[Residual]) -> dict[str, float]:
    """Return the figures of a fit: errors are differences of probabilities, over the pairs that can be reached."""
    errors = [abs(pair.got - pair.wanted) for pair in residuals if pair.reachable]
    count = len(errors)
    figures = {"pairs": float(count), "unreachable": float(len(residuals) - count)}
    if errors:
        figures |= {
            "rmse": round(math.sqrt(math.fsum(error * error for error in errors) / count), _DIGITS),
            "within_0.1": round(sum(1 for error in errors if error <= 0.1) / count, _DIGITS),
            "within_0.2": round(sum(1 for error in errors if error <= 0.2) / count, _DIGITS),
            "worst": round(max(errors), _DIGITS),
        }
    return figures


class _Links:
    """Weighted links from some columns to others, sorted by target, for noisy-OR over all rows at once."""

    def __init__(self, links: Sequence[tuple[int, int, int]]) -> None:
        """Take (source column, target column, number of the weight), and group them."""
        links = sorted(links, key=lambda link: (link[1], link[0]))
        self.source: Numbers = np.array([link[0] for link in links], dtype=np.intp)
        self.weight: Numbers = np.array([link[2] for link in links], dtype=np.intp)
        target = np.array([link[1] for link in links], dtype=np.intp)
        self.targets, self.starts = np.unique(target, return_index=True)
        self.target_of: Numbers = np.searchsorted(self.targets, target)
        self.by_source: Numbers = np.lexsort((target, self.source))
        self.sources, self.source_starts = np.unique(self.source[self.by_source], return_index=True)

    def spared(self, active: Array, weights: Array) -> tuple[Array, Array]:
        """Return P(no link fires) per row and target, and what each link leaves, per row and link."""
        left = 1.0 - active[:, self.source] * weights[self.weight]
        return np.multiply.reduceat(left, self.starts, axis=1), left

    def backward(
        self, active: Array, weights: Array, spared: Array, left: Array, slope: Array
    ) -> tuple[Array, Array]:
        """Return slopes by the sources (rows and ``sources``) and by the links' weights, from those by ``spared``."""
        by_left = (slope * spared)[:, self.target_of] / left
        by_active = -by_left * weights[self.weight]
        by_weight = -(by_left * active[:, self.source]).sum(axis=0)
        return np.add.reduceat(by_active[:, self.by_source], self.source_starts, axis=1), by_weight


class _Forecast:
    """P(observable | do root) for many roots at once, causes taken as independent, and its gradient."""

    def __init__(
        self,
        network: Network,
        roots: Sequence[str],
        free: set[tuple[str, str]],
        pairs: Sequence[tuple[str, str]],
    ) -> None:
        order = network.causal_order
        column = {mechanism: place for place, mechanism in enumerate(order)}
        depth: dict[str, int] = {}
        for mechanism in order:
            depth[mechanism] = 1 + max((depth[cause] for cause, _ in network.parents[mechanism]), default=-1)
        self.edges = [(cause, effect) for cause, effect, _ in network.causes]
        self.strength: Array = np.array([strength for _, _, strength in network.causes])
        self.free: Numbers = np.array(
            [place for place, edge in enumerate(self.edges) if edge in free], dtype=np.intp
        )
        self.strength[self.free] = UNFITTED
        levels: dict[int, list[tuple[int, int, int]]] = {}
        for place, (cause, effect) in enumerate(self.edges):
            levels.setdefault(depth[effect], []).append((column[cause], column[effect], place))
        self.levels = [_Links(levels[level]) for level in sorted(levels)]
        row = {root: place for place, root in enumerate(roots)}
        self.held = np.zeros((len(roots), len(order)), dtype=bool)
        for root in roots:
            if root in column:
                self.held[row[root], column[root]] = True
        seen = sorted({observable for _, observable in pairs})
        place_of = {observable: place for place, observable in enumerate(seen)}
        shows = [
            (column[mechanism], place_of[observable], place)
            for place, (mechanism, observable, _) in enumerate(network.shows)
            if observable in place_of
        ]
        self.shows = _Links(shows)
        self.shown: Array = np.array([strength for _, _, strength in network.shows])
        self.unleaked: Array = np.array([1.0 - network.leaks[observable] for observable in seen])
        self.row: Numbers = np.array([row[root] for root, _ in pairs], dtype=np.intp)
        self.observable: Numbers = np.array([place_of[observable] for _, observable in pairs], dtype=np.intp)

    def probabilities(self) -> tuple[Array, _Pass]:
        """Return P(observable | do root) of each pair, and what the backward pass needs."""
        active = np.where(self.held, 1.0, MECHANISM_LEAK)
        levels = []
        for links in self.levels:
            spared, left = links.spared(active, self.strength)
            now = 1.0 - (1.0 - MECHANISM_LEAK) * spared
            active[:, links.targets] = np.where(self.held[:, links.targets], 1.0, now)
            levels.append((spared, left))
        spared, left = self.shows.spared(active, self.shown)
        seen = 1.0 - self.unleaked * spared
        return seen[self.row, self.observable], _Pass(active, levels, spared, left)

    def gradient(self, values: _Pass, slope: Array) -> Array:
        """Return the slopes by the strengths, from the slopes by the probabilities of the pairs."""
        by_seen = np.zeros(values.shows_spared.shape)
        np.add.at(by_seen, (self.row, self.observable), slope)
        by_active = np.zeros(values.active.shape)
        by_source, _ = self.shows.backward(
            values.active, self.shown, values.shows_spared, values.shows_left, -self.unleaked * by_seen
        )
        by_active[:, self.shows.sources] += by_source
        by_strength = np.zeros(self.strength.shape)
        for links, (spared, left) in zip(self.levels[::-1], values.levels[::-1], strict=True):
            at_targets = np.where(self.held[:, links.targets], 0.0, by_active[:, links.targets])
            by_source, by_weight = links.backward(
                values.active, self.strength, spared, left, -(1.0 - MECHANISM_LEAK) * at_targets
            )
            by_active[:, links.sources] += by_source
            by_strength[links.weight] += by_weight
        return by_strength

    def descend(self, wanted: Array) -> None:
        """Move the free strengths so that the probabilities come near the wanted ones.

        Each strength has its own step, which grows while the sign of its slope stays and shrinks when it turns
        (resilient propagation): nothing to tune, and the order of magnitude of the slopes does not matter.
        """
        step = np.full(len(self.free), 0.05)
        before = np.zeros(len(self.free))
        for _ in range(_STEPS):
            got, values = self.probabilities()
            slope = self.gradient(values, 2.0 * (got - wanted))[self.free]
            slope += 2.0 * _PULL * (self.strength[self.free] - UNFITTED)
            turned = slope * before < 0.0
            step = np.where(turned, step * 0.5, np.where(slope * before > 0.0, step * 1.2, step))
            step = np.clip(step, 1e-5, 0.1)
            before = np.where(turned, 0.0, slope)
            moved = self.strength[self.free] - np.sign(before) * step
            self.strength[self.free] = np.clip(moved, LOWEST, HIGHEST)

    def network(self, template: Network) -> Network:
        """Return the network with the strengths of now, rounded."""
        return replace(
            template,
            causes=tuple(
                (cause, effect, round(float(strength), _DIGITS))
                for (cause, effect), strength in zip(self.edges, self.strength, strict=True)
            ),
        )


@dataclass(frozen=True)
class _Pass:
    """What one forward pass leaves for the backward pass."""

    active: Array
    levels: list[tuple[Array, Array]]
    shows_spared: Array
    shows_left: Array
