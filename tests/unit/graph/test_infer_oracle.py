"""Inference against others: enumeration, pgmpy, and the textbook factorisation with 80 digits."""

from __future__ import annotations

import itertools
import math
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from failgraph.graph import joins, problem
from failgraph.graph.elimination import find_order
from failgraph.graph.infer import (
    Likelihood,
    active,
    expected,
    expected_base,
    leave_one_out,
    structure,
)
from failgraph.graph.network import Network, network_of
from tests.unit.graph.reference import (
    LEAK,
    log_probability_with_many_digits,
    probability_by_enumeration,
    random_findings,
    random_network,
)

EXACT = 1e-9


@some.composite
def networks_with_findings(draw: some.DrawFn) -> tuple[Network, list[Likelihood]]:
    """Draw a small network and findings of all its observables."""
    mechanisms = [f"m{number}" for number in range(draw(some.integers(1, 7)))]
    strength = some.floats(0.0, 1.0)
    causes = tuple(
        (cause, effect, draw(strength))
        for place, effect in enumerate(mechanisms)
        for cause in mechanisms[:place]
        if draw(some.booleans())
    )
    leaks = {f"o{number}": draw(some.floats(5e-4, 0.5)) for number in range(draw(some.integers(1, 4)))}
    shows = tuple(
        (mechanism, observable, draw(strength))
        for observable in leaks
        for mechanism in mechanisms
        if draw(some.booleans())
    )
    weight = some.floats(1e-6, 1.0)
    findings = [Likelihood(observable, draw(weight), draw(weight)) for observable in leaks]
    return Network(causes, shows, leaks), findings


@pytest.mark.parametrize("plain_causes", [0, 2, 4])
@settings(derandomize=True, deadline=None, max_examples=40)
@given(drawn=networks_with_findings())
def test_any_small_network(plain_causes: int, drawn: tuple[Network, list[Likelihood]]) -> None:
    """Structure agrees with enumeration, whether a noisy-OR is a plain table or an OR variable."""
    network, findings = drawn
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(problem, "_PLAIN_CAUSES", plain_causes)
        seen = structure(network, findings)
    assert math.exp(seen.log_leak_only) == pytest.approx(
        probability_by_enumeration(network, findings, None), rel=EXACT
    )
    for mechanism in network.mechanisms:
        assert math.exp(seen.given(mechanism)) == pytest.approx(
            probability_by_enumeration(network, findings, mechanism), rel=EXACT
        )


@pytest.mark.parametrize("seed", range(6))
def test_everything_by_enumeration(seed: int) -> None:
    """Structure, leave-one-out, posteriors and forecasts agree with enumeration on denser networks."""
    network = random_network(seed, 9, 6, most_shown_by=7)
    findings = random_findings(seed, list(network.leaks))
    mechanisms = network.mechanisms
    seen, gains = structure(network, findings), leave_one_out(network, findings, mechanisms)
    forecast = expected(network)
    root = mechanisms[0]
    posterior = active(network, findings, root)
    for mechanism in mechanisms:
        value = probability_by_enumeration(network, findings, mechanism)
        assert math.exp(seen.given(mechanism)) == pytest.approx(value, rel=EXACT)
        for finding in findings:
            rest = [other for other in findings if other is not finding]
            gain = math.log(value / probability_by_enumeration(network, rest, mechanism))
            assert gains[mechanism][finding.observable] == pytest.approx(gain, abs=EXACT)
    for observable in network.leaks:
        there = [Likelihood(observable, 1.0, 0.0)]
        base = probability_by_enumeration(network, there, None)
        assert expected_base(network, observable) == pytest.approx(base, rel=EXACT)
        for mechanism in mechanisms:
            chance = probability_by_enumeration(network, there, mechanism)
            listed = forecast[mechanism].get(observable)
            assert chance == pytest.approx(
                base if listed is None else listed, rel=EXACT, abs=2e-6 * (listed is None)
            )
    shows = (*network.shows, *((mechanism, f"is {mechanism}", 1.0) for mechanism in mechanisms))
    leaks = {**network.leaks, **{f"is {mechanism}": 0.0 for mechanism in mechanisms}}
    transparent = Network(network.causes, shows, leaks)
    whole = probability_by_enumeration(network, findings, root)
    for mechanism in seen.log_given:
        joint = probability_by_enumeration(
            transparent, [*findings, Likelihood(f"is {mechanism}", 1.0, 0.0)], root
        )
        assert posterior[mechanism] == pytest.approx(joint / whole, rel=EXACT)


@pytest.fixture(scope="module")
def pgmpy() -> SimpleNamespace:
    """The parts of pgmpy that are used; its import warns about its own parts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.inference import VariableElimination
        from pgmpy.models import DiscreteBayesianNetwork
    return SimpleNamespace(
        TabularCPD=TabularCPD, VariableElimination=VariableElimination, Model=DiscreteBayesianNetwork
    )


@pytest.mark.filterwarnings("ignore")  # pgmpy's own
@pytest.mark.parametrize("seed", range(4))
def test_pgmpy_agrees(pgmpy: SimpleNamespace, seed: int) -> None:
    """An independent library with a do-operator of its own gives the same probabilities."""
    network = random_network(100 + seed, 7, 3, most_shown_by=5)
    findings = random_findings(seed, list(network.leaks))
    model = pgmpy_model(pgmpy, network)
    seen = structure(network, findings)
    for mechanism in network.mechanisms:
        cut = model.do([mechanism])
        joint = pgmpy.VariableElimination(cut).query(
            list(network.leaks), evidence={mechanism: 1}, show_progress=False
        )
        total = 0.0
        for states in itertools.product((0, 1), repeat=len(findings)):
            weights = [item.on if state else item.off for item, state in zip(findings, states, strict=True)]
            state_of = {item.observable: state for item, state in zip(findings, states, strict=True)}
            total += math.prod(weights) * float(joint.get_value(**state_of))
        assert math.exp(seen.given(mechanism)) == pytest.approx(total, rel=EXACT)


def pgmpy_model(pgmpy: SimpleNamespace, network: Network) -> Any:
    """Return the network as a pgmpy model with full conditional tables."""
    parents = {mechanism: network.parents[mechanism] for mechanism in network.mechanisms}
    leaks = dict.fromkeys(parents, LEAK) | dict(network.leaks)
    parents |= dict(network.shown_by)
    model = pgmpy.Model()
    model.add_nodes_from(parents)
    model.add_edges_from((cause, effect) for effect, links in parents.items() for cause, _ in links)
    for effect, links in parents.items():
        off = [
            (1.0 - leaks[effect])
            * math.prod(1.0 - strength for (_, strength), state in zip(links, states, strict=True) if state)
            for states in itertools.product((0, 1), repeat=len(links))
        ]
        table = [off, [1.0 - value for value in off]]
        model.add_cpds(pgmpy.TabularCPD(effect, 2, table, [cause for cause, _ in links], [2] * len(links)))
    model.check_model()
    return model


@pytest.fixture(scope="module")
def core_network() -> Network:
    """The network of the core pack."""
    from failgraph.loaders.packs import core_pack_path, read_pack

    return network_of([read_pack(core_pack_path())])


@pytest.mark.parametrize("seed", [0, 3])
def test_no_digit_is_lost_on_the_core_pack(core_network: Network, seed: int) -> None:
    """Twenty strong findings that have nothing to do with each other, P(F) near e**-100, stay exact to 1e-12."""
    draw = np.random.default_rng(seed)
    strong = [
        observable
        for observable, links in core_network.shown_by.items()
        if links and core_network.leaks[observable] <= 0.005
    ]
    findings = [
        Likelihood(str(observable), 1.0, 1e-6) for observable in draw.choice(strong, 20, replace=False)
    ]
    seen = structure(core_network, findings)
    best = max(seen.log_given, key=seen.log_given.__getitem__)
    for clamp in (None, best, min(seen.log_given)):
        value = seen.log_leak_only if clamp is None else seen.given(clamp)
        assert value == pytest.approx(
            log_probability_with_many_digits(core_network, findings, clamp), abs=1e-12 * abs(value)
        )


def test_no_digit_is_lost_in_nested_noisy_ors() -> None:
    """Effects with many causes each, one behind the other, seen at the far end only: still exact to 1e-12."""
    depth, side = 8, 5
    causes, shows, leaks = [], [], {}
    for level in range(depth):
        for other in range(side):
            causes.append((f"side{level}-{other}", f"step{level}", 0.3))
            shows.append((f"side{level}-{other}", f"quiet{level}-{other}", 0.9))
            leaks[f"quiet{level}-{other}"] = 0.0005
        if level:
            causes.append((f"step{level - 1}", f"step{level}", 0.9))
        shows.append((f"step{level}", f"loud{level}", 0.97))
        leaks[f"loud{level}"] = 0.0005
    network = Network(tuple(causes), tuple(shows), leaks)
    findings = [
        Likelihood(observable, 1.0, 1e-6)
        if observable.startswith("loud")
        else Likelihood(observable, 1e-6, 1.0)
        for observable in leaks
    ]
    seen = structure(network, findings)
    for clamp in ("step0", "step7", "side3-2"):
        assert seen.given(clamp) == pytest.approx(
            log_probability_with_many_digits(network, findings, clamp), abs=1e-11
        )


@pytest.mark.parametrize("kinds", list(itertools.product(range(3), repeat=3)))
def test_or_join_in_pieces(kinds: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """A join in thirds, which large tables take, equals the join at once."""
    draw = np.random.default_rng(1)
    left, right = draw.random((2, 2, 2, 2, 2)), draw.random((1, 2, 2, 1, 2))
    axes = tuple(zip((1, 2, 4), kinds, strict=True))
    at_once = joins.or_join(left, right, axes, 54.0)
    monkeypatch.setattr(joins, "_SPLIT_ABOVE", 0)
    assert np.allclose(joins.or_join(left, right, axes, 54.0), at_once, rtol=1e-14, atol=0.0)


def test_elimination_order() -> None:
    """The order removes what joins the fewest strangers first, and lower numbers before higher ones."""
    order = find_order(5, [(0, 1), (1, 2), (2, 3), (3, 0), (4,)])
    assert order.variables == (4, 0, 1, 2, 3)
    assert order.width == 2
