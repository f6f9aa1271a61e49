"""Exact inference over the causal network: how well each mechanism, taken as the cause, explains the findings.

All functions are pure. ``do m`` means: mechanism ``m`` is active and its own causes are cut off; every other
mechanism follows its causes by noisy-OR with a leak of :data:`~failgraph.schema.scales.MECHANISM_LEAK`, every
observable the mechanisms that show it, with its own leak. All unseen states are summed out exactly. Only where
findings make the tables too wide some of them are simplified, and ``approximations`` says so.

One pass gives the answer for all mechanisms: P(F | do m) is a sum of derivatives of P(F) by the table of m.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from failgraph.graph.network import Network
from failgraph.graph.problem import Case, Evidence, Likelihood, Links, Problem, prepare, value_without
from failgraph.schema.errors import UsageError
from failgraph.schema.scales import MECHANISM_LEAK

__all__ = [
    "Likelihood",
    "Structure",
    "active",
    "expected",
    "expected_base",
    "leave_one_out",
    "structure",
]

_BATCH_CELLS: Final = 1 << 19
"""Largest table times hypotheses worked on at once."""
_CLEARLY: Final = 1e-6
"""An observable is listed as expected when its probability is at least this much above what leaks alone give."""


@dataclass(frozen=True)
class Structure:
    """How well each mechanism explains the findings F, as natural logarithms.

    Args:
        log_leak_only: ln P(F) when nothing is held active; also ln P(F | do m) of every mechanism that is not in
            ``log_given``.
        log_given: ln P(F | do m) for each mechanism m that shows a found observable or leads to one that does.
        approximations: a sentence for each simplification; empty where the numbers are exact.
    """

    log_leak_only: float
    log_given: Mapping[str, float]
    approximations: tuple[str, ...] = ()

    def given(self, mechanism: str) -> float:
        """Return ln P(F | do mechanism) of any mechanism."""
        return self.log_given.get(mechanism, self.log_leak_only)


def structure(network: Network, likelihoods: Iterable[Likelihood]) -> Structure:
    """Return how well each mechanism explains the findings.

    Several likelihoods of one observable are multiplied: they are taken as independent readings of one thing.

    Raises:
        UsageError: an observable is not known, or a likelihood is not a number above 0.
        PackError: mechanisms cause one another in a circle.
    """
    problem = prepare(network, likelihoods)
    log_value, log_given = _weigh(problem)
    return Structure(
        log_leak_only=log_value,
        log_given={mechanism: log_given.get(mechanism, log_value) for mechanism in problem.case.sources},
        approximations=problem.case.approximations,
    )


def _weigh(problem: Problem) -> tuple[float, dict[str, float]]:
    """Return ln P(F), and ln P(F | do m) for each mechanism that the evidence tells something about."""
    result = problem.solve(frozenset(problem.mechanism_factors.values()))
    log_value = float(result.log_value[0]) + problem.case.log_constant
    ratios = [
        float(result.derivative(number)[0, ..., 1].sum()) for number in problem.mechanism_factors.values()
    ]
    return log_value, {
        mechanism: log_value + math.log(ratio)
        for mechanism, ratio in zip(problem.mechanism_factors, ratios, strict=True)
    }


def leave_one_out(
    network: Network, likelihoods: Iterable[Likelihood], mechanisms: Iterable[str]
) -> Mapping[str, Mapping[str, float]]:
    """Return what each finding adds to each hypothesis: ln P(F | do m) - ln P(F without it | do m).

    Returns:
        mechanism -> observable -> natural logarithm of the finding's likelihood given all the other findings and
        ``do m``. Where findings were simplified (see :func:`structure`) it is the sum over their parts.

    Raises:
        UsageError: an observable is not known, or a likelihood is not a number above 0.
        PackError: mechanisms cause one another in a circle.
    """
    free = prepare(network, likelihoods)
    wanted = sorted(set(mechanisms))
    known = free.variables
    hypotheses: list[str | None] = [mechanism for mechanism in wanted if mechanism in known]
    if len(hypotheses) < len(wanted):
        hypotheses.append(None)  # for all that the findings tell nothing about
    gains: dict[str | None, dict[str, float]] = {}
    for clamps in _batches(free, hypotheses):
        problem = free.clamped(clamps)
        result = problem.solve(frozenset(number for number, _ in problem.evidence_factors))
        gains.update((clamp, dict(free.case.constants)) for clamp in clamps)
        for number, items in problem.evidence_factors:
            derivative = result.derivative(number)
            for item in items:
                rests = value_without(derivative, item, items).tolist()
                # The batch is 1 where the clamps do not reach the finding: then the rest is the same for all.
                for clamp, rest in zip(clamps, rests * (len(clamps) // len(rests)), strict=True):
                    gains[clamp][item.observable] -= math.log(rest)
    return {mechanism: gains[mechanism if mechanism in known else None] for mechanism in wanted}


def _batches(problem: Problem, hypotheses: Sequence[str | None]) -> Iterator[tuple[str | None, ...]]:
    """Split the hypotheses so that the widest table times the batch stays bounded."""
    cells = 2 << problem.order.width
    size = min(16, max(1, _BATCH_CELLS // cells))
    for start in range(0, len(hypotheses), size):
        yield tuple(hypotheses[start : start + size])


def active(network: Network, likelihoods: Iterable[Likelihood], root: str) -> Mapping[str, float]:
    """Return P(m active | F, do root) of every mechanism, for showing.

    Exact for the mechanisms that the findings tell something about. The others follow from these causes first,
    with their causes taken as independent.

    Raises:
        UsageError: an observable is not known, or a likelihood is not a number above 0.
        PackError: mechanisms cause one another in a circle.
    """
    problem = prepare(network, likelihoods).clamped((root,))
    result = problem.solve(frozenset(problem.mechanism_factors.values()))
    posterior: dict[str, float] = {}
    for mechanism, number in problem.mechanism_factors.items():
        joint = result.derivative(number) * problem.factors[number].table
        posterior[mechanism] = min(1.0, float(joint[0, ..., 1].sum()))
    posterior[root] = 1.0
    for mechanism in network.causal_order:
        if mechanism not in posterior:
            spared = 1.0 - MECHANISM_LEAK
            for cause, strength in network.parents[mechanism]:
                spared *= 1.0 - posterior[cause] * strength
            posterior[mechanism] = 1.0 - spared
    return dict(sorted(posterior.items()))


def expected(network: Network, mechanisms: Iterable[str] | None = None) -> Mapping[str, Mapping[str, float]]:
    """Return P(observable is there | do m), exact, by mechanism and observable.

    Pairs that are not clearly above what leaks alone give (:func:`expected_base`) are left out.

    Args:
        network: the network.
        mechanisms: those that are wanted, all by default; each has an entry, if only an empty one.

    Raises:
        PackError: mechanisms cause one another in a circle.
    """
    wanted = sorted(set(network.mechanisms if mechanisms is None else mechanisms))
    forecast: dict[str, dict[str, float]] = {mechanism: {} for mechanism in wanted}
    solved: dict[tuple[Links, float], tuple[float, dict[str, float]]] = {}
    for observable, links in network.shown_by.items():
        base, given = _forecast(network, links, network.leaks[observable], solved)
        for mechanism, probability in given.items():
            if mechanism in forecast and probability - base > _CLEARLY:
                forecast[mechanism][observable] = probability
    return forecast


def expected_base(network: Network, observable: str) -> float:
    """Return P(observable is there) when nothing is held active.

    Raises:
        UsageError: the observable is not known.
    """
    if observable not in network.leaks:
        raise UsageError(f"observable {observable} is not known; 'failgraph observable list' names all")
    return _forecast(network, network.shown_by[observable], network.leaks[observable], {})[0]


def _forecast(
    network: Network,
    links: Links,
    leak: float,
    solved: dict[tuple[Links, float], tuple[float, dict[str, float]]],
) -> tuple[float, dict[str, float]]:
    """Return P(seen) of something with these causes under leaks alone, and under do m for each m that matters."""
    if not links:
        return leak, {}
    if len(links) == 1 and (leak or links[0][1] < 1.0):
        # Many observables are shown by one mechanism: what makes it active is worked out once for all of them.
        (mechanism, strength) = links[0]
        base, given = _forecast(network, ((mechanism, 1.0),), 0.0, solved)
        return leak + (1.0 - leak) * strength * base, {
            source: leak + (1.0 - leak) * strength * probability for source, probability in given.items()
        }
    if (links, leak) not in solved:
        seen = Evidence("", links, leak, 1.0, 0.0)
        log_base, log_given = _weigh(Problem(Case(network, (seen,), {}, ())))
        solved[links, leak] = math.exp(log_base), {source: math.exp(log) for source, log in log_given.items()}
    return solved[links, leak]
