"""Other ways to the numbers of the inference: enumeration, and the textbook factorisation with 80 digits.

Neither shares code with the product. The second one uses what the product avoids: an extra variable with weights
of +1 and -1 for each noisy-OR, which is right with enough digits only.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from decimal import Decimal, localcontext

import numpy as np

from failgraph.graph.infer import Likelihood
from failgraph.graph.network import Network

LEAK = 0.001


def probability_by_enumeration(
    network: Network, likelihoods: Sequence[Likelihood], clamp: str | None
) -> float:
    """Return P(F | do clamp), summed over all states of all mechanisms (up to about 12 of them)."""
    mechanisms = list(network.mechanisms)
    terms = []
    for states in itertools.product((False, True), repeat=len(mechanisms)):
        active = {mechanism for mechanism, state in zip(mechanisms, states, strict=True) if state}
        term = 1.0
        for mechanism in mechanisms:
            chance = _noisy_or(network.causes, mechanism, active, LEAK)
            if mechanism == clamp:
                chance = 1.0
            term *= chance if mechanism in active else 1.0 - chance
        for item in likelihoods:
            chance = _noisy_or(network.shows, item.observable, active, network.leaks[item.observable])
            term *= item.on * chance + item.off * (1.0 - chance)
        terms.append(term)
    return math.fsum(terms)


def _noisy_or(edges: Sequence[tuple[str, str, float]], target: str, active: set[str], leak: float) -> float:
    spared = 1.0 - leak
    for cause, effect, strength in edges:
        if effect == target and cause in active:
            spared *= 1.0 - strength
    return 1.0 - spared


def log_probability_with_many_digits(
    network: Network, likelihoods: Sequence[Likelihood], clamp: str | None, digits: int = 80
) -> float:
    """Return ln P(F | do clamp) with the textbook factorisation in decimal arithmetic."""
    with localcontext() as context:
        context.prec = digits
        return float(_eliminate(_factors(network, likelihoods, clamp)).ln())


_Factor = tuple[tuple[str, ...], "np.ndarray[tuple[int, ...], np.dtype[np.object_]]"]


def _factors(network: Network, likelihoods: Sequence[Likelihood], clamp: str | None) -> list[_Factor]:
    kept = {cause for cause, shown, _ in network.shows for item in likelihoods if shown == item.observable}
    while True:
        more = {cause for cause, effect, _ in network.causes if effect in kept} - kept
        if not more:
            break
        kept |= more
    factors: list[_Factor] = []
    one = Decimal(1)
    for mechanism in sorted(kept):
        if mechanism == clamp:
            factors.append(((mechanism,), np.array([Decimal(0), one])))
            continue
        spared = one - Decimal(LEAK)
        extra = f"or {mechanism}"
        factors.append(((extra, mechanism), np.array([[Decimal(0), one], [spared, -spared]])))
        factors += [
            ((extra, cause), np.array([[one, one], [one, one - Decimal(strength)]]))
            for cause, effect, strength in network.causes
            if effect == mechanism
        ]
    for item in likelihoods:
        on, off = Decimal(item.on), Decimal(item.off)
        spared = one - Decimal(network.leaks[item.observable])
        extra = f"seen {item.observable}"
        factors.append(((extra,), np.array([on, (off - on) * spared])))
        factors += [
            ((extra, cause), np.array([[one, one], [one, one - Decimal(strength)]]))
            for cause, shown, strength in network.shows
            if shown == item.observable
        ]
    return factors


def _eliminate(factors: list[_Factor]) -> Decimal:
    value = Decimal(1)
    variables = {variable for scope, _ in factors for variable in scope}
    while variables:
        joint = {
            variable: sorted({other for scope, _ in factors if variable in scope for other in scope})
            for variable in variables
        }
        variable = min(sorted(variables), key=lambda name: len(joint[name]))
        scope = tuple(joint[variable])
        product = np.full((2,) * len(scope), Decimal(1))
        for names, table in factors:
            if variable in names:
                order = sorted(range(len(names)), key=lambda place: scope.index(names[place]))
                shape = tuple(2 if name in names else 1 for name in scope)
                product = product * table.transpose(order).reshape(shape)
        factors = [(names, table) for names, table in factors if variable not in names]
        rest = tuple(name for name in scope if name != variable)
        summed = product.sum(axis=scope.index(variable))
        variables.discard(variable)
        if rest:
            factors.append((rest, summed))
        else:
            value *= summed
    return value


def random_network(
    seed: int, mechanisms: int, observables: int, *, causes: float = 0.5, most_shown_by: int = 6
) -> Network:
    """Return a random network; the same seed gives the same network."""
    draw = random.Random(seed)
    names = [f"m{number:03}" for number in range(mechanisms)]
    leaks = {f"o{number:03}": draw.choice((0.15, 0.03, 0.005, 0.0005)) for number in range(observables)}
    return Network(
        causes=tuple(
            (cause, effect, draw.uniform(0.02, 0.98))
            for place, effect in enumerate(names)
            for cause in names[:place]
            if draw.random() < causes
        ),
        shows=tuple(
            (mechanism, observable, draw.choice((0.97, 0.75, 0.35, 0.08)))
            for observable in leaks
            for mechanism in draw.sample(names, draw.randint(0, min(most_shown_by, mechanisms)))
        ),
        leaks=leaks,
    )


def random_findings(seed: int, observables: Sequence[str]) -> tuple[Likelihood, ...]:
    """Return a random finding for each observable: present or absent, more or less sure."""
    draw = random.Random(seed)
    kinds = ((1.0, 1e-6), (0.951, 0.001), (0.1, 1.0), (1e-6, 1.0), (0.4, 0.4), (3.0, 0.2))
    return tuple(Likelihood(observable, *draw.choice(kinds)) for observable in observables)
