"""From a network and findings to the factors of :mod:`failgraph.graph.elimination`.

Only the mechanisms that a finding can tell something about are kept: those that show a found observable, and their
direct and indirect causes. A mechanism with few causes gets a plain table, one with many an OR variable; likewise
an observable. All entries are sums and products of numbers of at least 0.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np

from failgraph.graph.elimination import Evaluation, Factor, Order, evaluate, find_order
from failgraph.graph.joins import Table
from failgraph.graph.network import Network
from failgraph.schema.errors import UsageError
from failgraph.schema.scales import MECHANISM_LEAK

WIDEST: Final = 15
"""Treewidth up to which inference stays exact: tables of 2 ** 16 numbers, some tens of milliseconds."""
_PLAIN_CAUSES: Final = 4
"""Causes up to which a noisy-OR is a plain table; measured on the core catalogue, 3 and 5 are a little worse."""

_TAKEN_OUT: Final = 3
"""Links that are taken out at once, for each step of width that is too much: fewer are slower, hardly better."""

Links = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Likelihood:
    """One finding.

    Args:
        observable: its id.
        on: the chance of what was read, given that the observable is there; above 0, any common scale with ``off``.
        off: the same, given that it is not there.
    """

    observable: str
    on: float
    off: float


@dataclass(frozen=True)
class Evidence:
    """A finding, or a part of one, with the mechanisms that show it.

    Args:
        observable: id of the observable.
        links: the mechanisms that show it, with strength, by id.
        leak: probability that it is there although none of them is active.
        on: likelihood if it is there, ``off`` if not; the larger of the two is 1.
        off: see ``on``.
    """

    observable: str
    links: Links
    leak: float
    on: float
    off: float

    @property
    def none(self) -> float:
        """The likelihood when none of the mechanisms is active."""
        return self.on * self.leak + self.off * (1.0 - self.leak)

    def alone(self, strength: float) -> float:
        """Return the likelihood when one mechanism that shows it with this strength is active."""
        there = self.leak + (1.0 - self.leak) * strength
        return self.on * there + self.off * (1.0 - there)

    def loss(self, link: tuple[str, float]) -> float:
        """Return the most that a factor of its own for a link changes the log likelihood, two links active."""
        changes = []
        for other in self.links:
            if other != link:
                both = self.alone(1.0 - (1.0 - link[1]) * (1.0 - other[1]))
                changes.append(both * self.none / (self.alone(link[1]) * self.alone(other[1])))
        return max((abs(math.log(change)) for change in changes), default=0.0)

    @property
    def size(self) -> int:
        """The size of its factor, see :class:`~failgraph.graph.elimination.Factor`."""
        least = min(value for value in (self.on, self.off, self.none) if value > 0.0)
        return 1 + int(-math.log10(least) / 12.0)


@dataclass(frozen=True)
class Case:
    """The findings of one inference, checked and brought to one scale.

    Args:
        network: the network.
        evidence: the findings that can tell something, by observable id.
        constants: for each found observable the natural logarithm of what it contributes under every hypothesis.
        sources: every mechanism that shows a found observable, and their causes, by id.
        approximations: one sentence for each simplification, empty where the result is exact.
    """

    network: Network
    evidence: tuple[Evidence, ...]
    constants: Mapping[str, float]
    sources: tuple[str, ...]
    approximations: tuple[str, ...] = ()

    @property
    def log_constant(self) -> float:
        """Natural logarithm of what all findings contribute under every hypothesis."""
        return math.fsum(self.constants.values())


def prepare(network: Network, likelihoods: Iterable[Likelihood]) -> Problem:
    """Check the findings and return the problem, simplified if it is too wide for exact inference.

    Several likelihoods of one observable are multiplied: they are taken as independent readings of one thing.

    Raises:
        UsageError: an observable is not known, or a likelihood is not a number above 0.
        PackError: mechanisms cause one another in a circle.
    """
    _ = network.causal_order  # refuses a circle
    weights: dict[str, tuple[float, float]] = {}
    constants: dict[str, float] = {}
    for item in likelihoods:
        if item.observable not in network.leaks:
            raise UsageError(
                f"observable {item.observable} is not known; 'failgraph observable list' names all"
            )
        if not (0.0 < item.on < math.inf and 0.0 < item.off < math.inf):
            raise UsageError(f"the likelihoods of observable {item.observable} must be numbers above 0")
        on, off = weights.get(item.observable, (1.0, 1.0))
        top = max(on * item.on, off * item.off)
        constants[item.observable] = constants.get(item.observable, 0.0) + math.log(top)
        weights[item.observable] = (on * item.on / top, off * item.off / top)
    evidence = []
    shown: set[str] = set()
    for observable in sorted(weights):
        links = network.shown_by[observable]
        shown.update(mechanism for mechanism, _ in links)
        found = Evidence(observable, links, network.leaks[observable], *weights[observable])
        if links and found.on != found.off:
            evidence.append(found)
        else:
            constants[observable] += math.log(found.none)
    case = Case(
        network, tuple(evidence), dict(sorted(constants.items())), tuple(sorted(network.sources(shown)))
    )
    return _narrowed(Problem(case))


@dataclass
class Problem:
    """The factors of one case under one or several clamps.

    Args:
        case: the case.
        clamps: for each entry of the batch the mechanism that is held active with its causes cut off, or ``None``.
        known_order: the elimination order, where it is known from other clamps.
    """

    case: Case
    clamps: tuple[str | None, ...] = (None,)
    known_order: Order | None = None
    variables: dict[str, int] = field(init=False)
    or_variables: list[int] = field(init=False, default_factory=list)
    factors: list[Factor] = field(init=False, default_factory=list)
    mechanism_factors: dict[str, int] = field(init=False, default_factory=dict)
    evidence_factors: list[tuple[int, tuple[Evidence, ...]]] = field(init=False, default_factory=list)
    evidence_variables: list[tuple[int, ...]] = field(init=False, default_factory=list)
    count: int = field(init=False)

    def __post_init__(self) -> None:
        links = [mechanism for item in self.case.evidence for mechanism, _ in item.links]
        mechanisms = sorted(self.case.network.sources(links))
        self.variables = {mechanism: number for number, mechanism in enumerate(mechanisms)}
        self.count = len(mechanisms)
        for mechanism in mechanisms:
            self._add_mechanism(mechanism)
        plain: dict[tuple[str, ...], list[Evidence]] = {}
        for item in self.case.evidence:
            mechanisms_of = tuple(mechanism for mechanism, _ in item.links)
            self.evidence_variables.append(tuple(self.variables[mechanism] for mechanism in mechanisms_of))
            if len(mechanisms_of) <= _PLAIN_CAUSES:
                plain.setdefault(mechanisms_of, []).append(item)
            else:
                self._add_wide(item)
        for mechanisms_of, items in plain.items():
            table = plain_table(*items)
            variables = tuple(self.variables[mechanism] for mechanism in mechanisms_of)
            size = sum(item.size for item in items)
            self.evidence_factors.append((len(self.factors), tuple(items)))
            self.factors.append(Factor(variables, table, size=size))

    def _new_variable(self, *, is_or: bool) -> int:
        number = self.count
        self.count += 1
        if is_or:
            self.or_variables.append(number)
        return number

    def _add_parts(self, variable: int, links: Links, *, is_or: bool) -> None:
        for mechanism, strength in links:
            none = ((1.0, 1.0 - strength), (0.0, strength)) if is_or else ((1.0, 1.0), (1.0, 1.0 - strength))
            self.factors.append(Factor((variable, self.variables[mechanism]), np.array((none,))))

    def _add_mechanism(self, mechanism: str) -> None:
        links = self.case.network.parents[mechanism]
        own = self.variables[mechanism]
        whole = -1
        if len(links) <= _PLAIN_CAUSES:
            off, on = noisy_or(links, MECHANISM_LEAK)
            variables = (*(self.variables[cause] for cause, _ in links), own)
            table = np.array((off, on)).T.reshape((1,) + (2,) * len(variables))
        else:
            whole = self._new_variable(is_or=True)
            variables = (whole, own)
            table = np.array((((1.0 - MECHANISM_LEAK, MECHANISM_LEAK), (0.0, 1.0)),))
        if mechanism in self.clamps:
            table = np.repeat(table, len(self.clamps), axis=0)
            for entry, clamp in enumerate(self.clamps):
                if clamp == mechanism:
                    table[entry, ..., 0], table[entry, ..., 1] = 0.0, 1.0
        self.mechanism_factors[mechanism] = len(self.factors)
        self.factors.append(Factor(variables, table, whole))
        if whole >= 0:
            self._add_parts(whole, links, is_or=True)

    def _add_wide(self, item: Evidence) -> None:
        """Add a finding that many mechanisms show.

        If it speaks for them, the OR matters: ``none`` if none has shown it, ``on`` if one has. If it speaks
        against them, its likelihood is a sum of two products, and no OR is needed.
        """
        is_or = item.on > item.off
        variable = self._new_variable(is_or=is_or)
        weights = (item.none, item.on) if is_or else (item.on, (item.off - item.on) * (1.0 - item.leak))
        self.evidence_factors.append((len(self.factors), (item,)))
        whole = variable if is_or else -1
        table = np.array((weights,))
        self.factors.append(Factor((variable,), table, whole, item.size))
        self._add_parts(variable, item.links, is_or=is_or)
        self.evidence_variables[-1] += (variable,)

    @cached_property
    def order(self) -> Order:
        """The elimination order; it is the same for all clamps."""
        return self.known_order or find_order(self.count, [factor.variables for factor in self.factors])

    def clamped(self, clamps: tuple[str | None, ...]) -> Problem:
        """Return the same problem under other clamps."""
        return Problem(self.case, clamps, self.order)

    def solve(self, wanted: Collection[int] = ()) -> Evaluation:
        """Return the value of the factors, and the derivatives by the factors with the wanted numbers."""
        return evaluate(self.count, self.or_variables, self.factors, wanted=wanted, order=self.order)


def noisy_or(links: Links, leak: float) -> tuple[list[float], list[float]]:
    """Return P(off) and P(on) for all states of the causes, the last cause changing fastest.

    >>> noisy_or((("a", 0.5),), 0.25)
    ([0.75, 0.375], [0.25, 0.625])
    """
    off, on = [1.0 - leak], [leak]
    for _, strength in links:
        on = [value for one, none in zip(on, off, strict=True) for value in (one, one + none * strength)]
        off = [value for none in off for value in (none, none * (1.0 - strength))]
    return off, on


def plain_table(*items: Evidence) -> Table:
    """Return the product of the likelihoods of findings that the same mechanisms show, for all states of these.

    Shape ``(1, 2, ..., 2)``, one axis per mechanism by id.
    """
    table = np.ones(1 << len(items[0].links))
    for item in items:
        off, on = noisy_or(item.links, item.leak)
        table *= [item.on * there + item.off * gone for there, gone in zip(on, off, strict=True)]
    return table.reshape((1,) + (2,) * len(items[0].links))


def value_without(derivative: Table, item: Evidence, items: Sequence[Evidence]) -> Table:
    """Return P(F without one finding) / P(F) for each entry of the batch.

    Args:
        derivative: derivative of ln P(F) by the factor that the finding is in.
        item: the finding.
        items: all findings of that factor.
    """
    batch = derivative.shape[0]
    if len(item.links) <= _PLAIN_CAUSES:
        others = [other for other in items if other is not item]
        if others:
            derivative = derivative * plain_table(*others)
    elif item.on <= item.off:
        derivative = derivative[:, :1]  # the weights of a finding that says nothing are 1 and 0
    total: Table = derivative.reshape(batch, -1).sum(axis=1)
    return total


def _narrowed(problem: Problem) -> Problem:
    """Return the problem, with links of findings taken out of their tables until exact inference is feasible.

    A link that is taken out becomes a factor of its own: the finding keeps its exact likelihood as long as at most
    one of the mechanisms that show it is active. Links go in the order of what this can change at most, where the
    tables are too wide first, so a finding that tells much is touched last.
    """
    touched: set[str] = set()
    while problem.order.width > WIDEST:
        losses = _losses(problem)
        if not losses:
            break  # the network alone is wider: then only time and memory are the limit
        evidence = list(problem.case.evidence)
        constants = dict(problem.case.constants)
        for _, place, link in losses[: _TAKEN_OUT * (1 + problem.order.width - WIDEST)]:
            item = evidence[place]
            if len(item.links) < 2:
                continue
            touched.add(item.observable)
            evidence[place] = replace(item, links=tuple(other for other in item.links if other != link))
            evidence.append(replace(item, links=(link,)))
            constants[item.observable] -= math.log(item.none)
        problem = Problem(replace(problem.case, evidence=tuple(evidence), constants=constants))
    if touched:
        told = f"weighed as if at most one mechanism that shows it were active: {', '.join(sorted(touched))}"
        problem.case = replace(problem.case, approximations=(told,))
    return problem


def _losses(problem: Problem) -> list[tuple[float, int, tuple[str, float]]]:
    """Return links that can be taken out as (loss, number of the finding, link), smallest loss first.

    Only those within too wide tables, if there are any.
    """
    too_wide = 0
    for cluster in problem.order.clusters:
        if cluster.bit_count() > WIDEST + 1:
            too_wide |= cluster
    inside: list[tuple[float, int, tuple[str, float]]] = []
    elsewhere: list[tuple[float, int, tuple[str, float]]] = []
    for place, (item, variables) in enumerate(
        zip(problem.case.evidence, problem.evidence_variables, strict=True)
    ):
        if len(item.links) < 2:
            continue
        is_inside = sum(1 for variable in variables if too_wide >> variable & 1) > 1
        for link in item.links:
            within = is_inside and too_wide >> problem.variables[link[0]] & 1
            (inside if within else elsewhere).append((item.loss(link), place, link))
    return sorted(inside or elsewhere)
