"""What inference means: clamping, leaks, findings that say nothing, side effects, and inputs that are refused."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace

import pytest

from failgraph.graph import problem
from failgraph.graph.infer import (
    Likelihood,
    Structure,
    active,
    expected,
    expected_base,
    leave_one_out,
    structure,
)
from failgraph.graph.network import Network
from failgraph.schema.errors import PackError, UsageError
from tests.unit.graph.reference import random_findings, random_network

LEAK = 0.001
CHAIN = Network(
    causes=(("dust", "heat", 0.8), ("heat", "throttle", 0.5)),
    shows=(("heat", "hot", 0.9), ("throttle", "slow", 0.7), ("dust", "slow", 0.2)),
    leaks={"hot": 0.03, "slow": 0.15, "green": 0.4},
)


def test_no_findings() -> None:
    """Without findings every mechanism explains them with certainty, and none is listed."""
    assert structure(CHAIN, ()) == Structure(log_leak_only=0.0, log_given={})


def test_direct_effect() -> None:
    """A clamped mechanism shows its trace with its strength, on top of the leak."""
    seen = structure(CHAIN, [Likelihood("hot", 1.0, 1e-9)])
    assert math.exp(seen.log_given["heat"]) == pytest.approx(1 - 0.97 * 0.1, rel=1e-8)


def test_effect_through_a_chain() -> None:
    """A clamped mechanism spreads along its effects, each of which also has a leak of its own."""
    seen = structure(CHAIN, [Likelihood("hot", 1.0, 1e-9)])
    heat = 1 - (1 - LEAK) * 0.2
    assert math.exp(seen.log_given["dust"]) == pytest.approx(heat * (1 - 0.97 * 0.1) + (1 - heat) * 0.03)


def test_clamping_cuts_causes_off() -> None:
    """Under ``do m`` nothing is learnt about the causes of m, so their strength does not matter."""
    stronger = replace(CHAIN, causes=(("dust", "heat", 0.1), ("heat", "throttle", 0.5)))
    found = [Likelihood("hot", 1.0, 1e-6)]
    before, after = structure(CHAIN, found).log_given["heat"], structure(stronger, found).log_given["heat"]
    assert after == pytest.approx(before, rel=1e-12)


def test_two_traces_of_one_mechanism_are_not_two_witnesses() -> None:
    """A second trace of a mechanism that is active anyway adds no more than its own strength."""
    network = Network((), (("m", "a", 0.97), ("m", "b", 0.97)), {"a": 0.005, "b": 0.005})
    one = structure(network, [Likelihood("a", 1.0, 1e-6)])
    both = structure(network, [Likelihood("a", 1.0, 1e-6), Likelihood("b", 1.0, 1e-6)])
    gain = both.log_leak_only - one.log_leak_only
    assert gain > math.log(0.15)  # the first trace has made m likely; by leak alone this would be ln .005


def test_other_mechanisms_count_as_leak_only() -> None:
    """A mechanism that no finding leads back to explains them as well as no mechanism at all."""
    seen = structure(CHAIN, [Likelihood("hot", 1.0, 0.01)])
    assert sorted(seen.log_given) == ["dust", "heat"]
    assert seen.given("throttle") == seen.log_leak_only


def test_observable_that_nothing_shows() -> None:
    """A trace of the healthy state has its leak under every hypothesis."""
    seen = structure(CHAIN, [Likelihood("green", 0.9, 0.1)])
    assert seen.log_given == {}
    assert math.exp(seen.log_leak_only) == pytest.approx(0.4 * 0.9 + 0.6 * 0.1)


def test_finding_that_says_nothing() -> None:
    """Equal likelihoods change no hypothesis against another, yet its sources are listed."""
    seen = structure(CHAIN, [Likelihood("hot", 0.5, 0.5)])
    assert seen.log_given == {"dust": seen.log_leak_only, "heat": seen.log_leak_only}


def test_contradictory_findings_multiply() -> None:
    """Two readings of one observable are taken as independent: their likelihoods multiply."""
    twice = structure(CHAIN, [Likelihood("hot", 0.9, 0.1), Likelihood("hot", 0.2, 1.0)])
    once = structure(CHAIN, [Likelihood("hot", 0.18, 0.1)])
    assert twice.log_given == pytest.approx(once.log_given, rel=1e-12)


def test_scale_of_a_likelihood() -> None:
    """Only the ratio of on and off orders the hypotheses; a common factor moves all alike, even a tiny one."""
    seen = structure(CHAIN, [Likelihood("hot", 0.9, 0.1), Likelihood("slow", 0.9, 0.1)])
    tiny = structure(CHAIN, [Likelihood("hot", 9e-201, 1e-201), Likelihood("slow", 9e-201, 1e-201)])
    assert tiny.log_given["dust"] - tiny.log_leak_only == pytest.approx(
        seen.log_given["dust"] - seen.log_leak_only, rel=1e-12
    )


def test_extreme_likelihoods() -> None:
    """Findings that are all but impossible end in a finite logarithm."""
    network = random_network(3, 9, 30)
    seen = structure(network, [Likelihood(observable, 1.0, 1e-300) for observable in network.leaks])
    assert all(math.isfinite(value) for value in (*seen.log_given.values(), seen.log_leak_only))


def test_strengths_of_zero_and_one() -> None:
    """Sure and impossible steps are allowed."""
    network = Network(
        (("a", "b", 1.0), ("a", "c", 0.0)), (("b", "x", 1.0), ("c", "y", 1.0)), {"x": 0.1, "y": 0.1}
    )
    seen = structure(network, [Likelihood("x", 1.0, 1e-12), Likelihood("y", 1e-12, 1.0)])
    assert math.exp(seen.log_given["a"]) == pytest.approx((1 - LEAK) * 0.9, rel=1e-9)


@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan])
def test_likelihood_that_is_no_weight(value: float) -> None:
    """A likelihood must be a number above 0."""
    with pytest.raises(UsageError, match="likelihoods of observable hot must be numbers above 0"):
        structure(CHAIN, [Likelihood("hot", value, 1.0)])


def test_unknown_observable() -> None:
    """An observable that the network does not know is refused by name."""
    with pytest.raises(UsageError, match="observable cold is not known"):
        structure(CHAIN, [Likelihood("cold", 1.0, 0.1)])
    with pytest.raises(UsageError, match="observable cold is not known"):
        expected_base(CHAIN, "cold")


def test_circle() -> None:
    """Mechanisms that cause one another are refused, with the circle."""
    circle = replace(CHAIN, causes=(*CHAIN.causes, ("throttle", "dust", 0.1)))
    with pytest.raises(PackError, match="in a circle"):
        structure(circle, [Likelihood("hot", 1.0, 0.1)])


def test_leave_one_out_of_independent_findings() -> None:
    """What a finding adds is its own likelihood where the others tell nothing about it."""
    gains = leave_one_out(
        CHAIN, [Likelihood("hot", 0.9, 0.1), Likelihood("green", 0.8, 0.2)], ["heat", "throttle"]
    )
    chance = 1 - 0.97 * 0.1
    assert gains["heat"]["hot"] == pytest.approx(math.log(0.9 * chance + 0.1 * (1 - chance)))
    assert gains["throttle"]["green"] == pytest.approx(math.log(0.8 * 0.4 + 0.2 * 0.6))


def test_leave_one_out_names_every_hypothesis() -> None:
    """Every mechanism asked for has an entry, also one that the network does not have."""
    gains = leave_one_out(CHAIN, [Likelihood("hot", 0.9, 0.1)], ["heat", "nobody"])
    assert sorted(gains) == ["heat", "nobody"]
    assert gains["nobody"]["hot"] == pytest.approx(
        structure(CHAIN, [Likelihood("hot", 0.9, 0.1)]).log_leak_only
    )


def test_active() -> None:
    """The root is active for sure; a trace makes its mechanism likely; what follows is forecast."""
    posterior = active(CHAIN, [Likelihood("hot", 1.0, 1e-6)], "dust")
    heat = 1 - (1 - LEAK) * 0.2
    seen = heat * (1 - 0.97 * 0.1)
    assert posterior["dust"] == 1.0
    assert posterior["heat"] == pytest.approx(seen / (seen + (1 - heat) * 0.03), rel=1e-5)
    assert posterior["throttle"] == pytest.approx(1 - (1 - LEAK) * (1 - posterior["heat"] * 0.5))


def test_expected_leaves_out_what_is_not_clearly_above_the_leak() -> None:
    """A mechanism lists what it makes more likely; everything else has its base probability."""
    given = expected(CHAIN)
    assert sorted(given["throttle"]) == ["slow"]
    assert sorted(given["dust"]) == ["hot", "slow"]
    assert expected_base(CHAIN, "green") == 0.4
    assert expected_base(CHAIN, "hot") == pytest.approx(0.03, rel=0.1)


def test_expected_of_some_mechanisms() -> None:
    """Only the mechanisms asked for are listed, each of them."""
    assert expected(CHAIN, ["throttle", "nobody"]) == {
        "throttle": {"slow": expected(CHAIN)["throttle"]["slow"]},
        "nobody": {},
    }


def test_order_of_the_input_does_not_matter() -> None:
    """The same network and findings in another order give the same bytes."""
    network = random_network(11, 30, 25, causes=0.1)
    findings = random_findings(11, list(network.leaks))
    turned = Network(network.causes[::-1], network.shows[::-1], dict(reversed(list(network.leaks.items()))))
    assert structure(network, findings) == structure(turned, findings[::-1])
    assert leave_one_out(network, findings, ["m001", "m020"]) == leave_one_out(
        turned, findings[::-1], ["m020", "m001"]
    )


def test_every_run_gives_the_same_bytes(pytestconfig: pytest.Config) -> None:
    """The seed of Python's hashing, which orders sets, changes nothing."""
    program = (
        "from tests.unit.graph.reference import random_findings, random_network\n"
        "from failgraph.graph.infer import structure\n"
        "network = random_network(5, 25, 20, causes=0.15)\n"
        "print(repr(structure(network, random_findings(5, list(network.leaks)))))\n"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(pytestconfig.rootpath)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(answers) == 1


def test_too_wide_is_simplified_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the width that is feasible, links of findings are weighed by themselves, and the answer names them."""
    network = random_network(2, 10, 14, causes=0.2, most_shown_by=8)
    findings = random_findings(2, list(network.leaks))
    exact = structure(network, findings)
    monkeypatch.setattr(problem, "WIDEST", exact_width(network, findings) - 1)
    narrow = structure(network, findings)
    assert exact.approximations == ()
    assert len(narrow.approximations) == 1
    assert narrow.approximations[0].startswith(
        "weighed as if at most one mechanism that shows it were active: o0"
    )
    assert narrow.log_given.keys() == exact.log_given.keys()


def exact_width(network: Network, findings: tuple[Likelihood, ...]) -> int:
    """Return the treewidth at which these findings are weighed exactly."""
    return problem.prepare(network, findings).order.width


def test_simplified_finding_is_exact_for_one_mechanism(monkeypatch: pytest.MonkeyPatch) -> None:
    """A simplified finding keeps its likelihood under every hypothesis with at most one active mechanism."""
    network = Network((), (("a", "x", 0.7), ("b", "x", 0.4), ("c", "x", 0.2)), {"x": 0.03})
    found = [Likelihood("x", 0.1, 1.0)]
    exact = structure(network, found)
    monkeypatch.setattr(problem, "WIDEST", 0)
    narrow = structure(network, found)
    assert narrow.approximations != ()
    for mechanism in "abc":
        # With a leak of .001 each, two at once are rare.
        assert narrow.log_given[mechanism] == pytest.approx(exact.log_given[mechanism], abs=1e-3)
    gains = leave_one_out(network, found, ["a"])
    assert gains["a"]["x"] == pytest.approx(exact.log_given["a"], abs=2e-3)


def test_network_alone_too_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the mechanisms alone are too wide, inference stays exact and takes its time."""
    network = random_network(4, 8, 3, most_shown_by=1)
    findings = random_findings(4, list(network.leaks))
    exact = structure(network, findings)
    monkeypatch.setattr(problem, "WIDEST", 0)
    assert structure(network, findings) == exact
