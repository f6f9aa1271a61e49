"""From findings to probabilities: likelihoods, refuters, none of these, the sum, and the verdict."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from failgraph.graph.score import (
    EFFECTS,
    LEAST_LIKELIHOOD,
    NOTHING,
    UNLIKE,
    WITH_TEXT,
    NoneTerm,
    Ranking,
    Weights,
    combine,
    likelihood_of,
    none_of_these,
    refuter_logs,
    verdict,
)
from failgraph.schema.exchange import State, Verdict
from failgraph.schema.scales import NONE_PRIOR, REFUTER_FLOOR

NEUTRAL = NoneTerm(0.0, UNLIKE)


def test_present() -> None:
    """A present finding was read right, or it was misread and says what chance says."""
    assert likelihood_of(State.PRESENT, 0.9, 1.0, 0.2) == pytest.approx((0.9 + 0.1 * 0.2, 0.1 * 0.2))


def test_absent() -> None:
    """An absent finding speaks against, as far as it was read right and was looked for everywhere."""
    assert likelihood_of(State.ABSENT, 0.8, 0.5, 0.2) == pytest.approx((0.6, 1.0))


def test_nothing_is_ruled_out() -> None:
    """No reading, however sure, makes anything impossible."""
    assert likelihood_of(State.PRESENT, 1.0, 1.0, 0.2) == (1.0, LEAST_LIKELIHOOD)
    assert likelihood_of(State.ABSENT, 1.0, 1.0, 0.2) == (LEAST_LIKELIHOOD, 1.0)


@pytest.mark.parametrize("state", [State.NOT_CHECKED, State.COULD_NOT_CHECK, State.STALE])
def test_states_that_say_nothing(state: State) -> None:
    """What was not checked, could not be checked or is stale is no factor."""
    assert likelihood_of(state, 1.0, 1.0, 0.2) is None


def test_refuters() -> None:
    """A present refuter multiplies by 0.2 to the power of its confidence, or by its own factor."""
    logs = refuter_logs([("a", None, 0.5), ("b", 0.4, 1.0)])
    assert logs == pytest.approx({"a": 0.5 * math.log(0.2), "b": math.log(0.4)})


def test_floor_of_refuters() -> None:
    """All refuters of a class together do not go below the floor, and a factor of 0 is no death sentence."""
    logs = refuter_logs([("a", None, 1.0), ("a", None, 1.0), ("a", None, 1.0), ("b", 0.0, 1.0)])
    assert logs == pytest.approx({"a": math.log(REFUTER_FLOOR), "b": math.log(REFUTER_FLOOR)})


def test_none_without_findings() -> None:
    """Without findings none of these is as likely as before, and the reason says so."""
    assert none_of_these([0.0, 0.0], 0.0, 0) == NoneTerm(0.0, NOTHING)
    assert none_of_these([], -1.0, 1) == NoneTerm(0.0, NOTHING)


def test_none_unlike_anything() -> None:
    """Where every mechanism does worse than chance, half of chance remains."""
    term = none_of_these([-50.0, -60.0], -10.0, 3)
    assert term.reason == UNLIKE
    assert term.log_ratio == pytest.approx(math.log(0.5))


def test_none_known_effects() -> None:
    """Where some mechanism explains the findings, its share of the mean counts."""
    term = none_of_these([-10.0, -1000.0], -20.0, 3)
    assert term.reason == EFFECTS
    assert term.log_ratio == pytest.approx(math.log(0.5 + 0.25 * math.exp(10.0)))


def test_priors_alone() -> None:
    """With nothing found the priors are the answer: relative ones, beside that of none of these."""
    ranking = combine({"a": 3.0, "b": 1.0}, {"a": 0.0, "b": 0.0}, {}, NEUTRAL)
    shares = {entry.class_id: entry.probability for entry in ranking.classes}
    assert shares == pytest.approx({"a": 0.75 * (1 - NONE_PRIOR), "b": 0.25 * (1 - NONE_PRIOR)})
    assert ranking.unknown == pytest.approx(NONE_PRIOR)


def test_terms_add_up() -> None:
    """The parts of a score explain the odds between two classes, weights and temperature included."""
    weights = Weights(structure=0.5, circumstances=2.0, text=0.25, temperature=1.5)
    ranking = combine(
        {"a": 1.0, "b": 2.0},
        {"a": 4.0, "b": 1.0},
        {"a": -1.0},
        NEUTRAL,
        circumstances={"a": 0.3},
        text={"b": 0.8},
        weights=weights,
    )
    by_id = {entry.class_id: entry for entry in ranking.classes}

    def logit(class_id: str) -> float:
        terms = by_id[class_id].terms
        assert terms.circumstances is not None
        assert terms.text is not None
        return (
            terms.prior
            + 0.5 * terms.structure
            + terms.refuters
            + 2.0 * terms.circumstances
            + 0.25 * terms.text
        ) / 1.5

    odds = math.log(by_id["a"].probability / by_id["b"].probability)
    assert odds == pytest.approx(logit("a") - logit("b"))


def test_witnesses_that_are_not_weighed() -> None:
    """Terms of witnesses that were not asked are absent, not zero."""
    terms = combine({"a": 1.0}, {"a": 0.0}, {}, NEUTRAL).classes[0].terms
    assert (terms.circumstances, terms.text) == (None, None)


def test_equals_are_ordered_by_id() -> None:
    """Classes with the same probability come in the order of their ids."""
    ranking = combine({"b": 1.0, "a": 1.0}, {"a": 1.0, "b": 1.0}, {}, NEUTRAL)
    assert [entry.class_id for entry in ranking.classes] == ["a", "b"]


def test_bias_of_none() -> None:
    """The bias moves the odds of none of these alone."""
    plain = combine({"a": 1.0}, {"a": 0.0}, {}, NEUTRAL)
    biased = combine({"a": 1.0}, {"a": 0.0}, {}, NEUTRAL, weights=Weights(none_bias=1.0))

    def odds(ranking: Ranking) -> float:
        return math.log(ranking.unknown / ranking.classes[0].probability)

    assert odds(biased) - odds(plain) == pytest.approx(1.0)


@settings(derandomize=True, deadline=None)
@given(
    structures=some.lists(some.floats(-2000.0, 2000.0), min_size=1, max_size=30),
    none=some.floats(-2000.0, 2000.0),
)
def test_probabilities_sum_to_one(structures: list[float], none: float) -> None:
    """Classes and none of these sum to 1, however far the scores lie apart."""
    names = [f"c{number:02}" for number in range(len(structures))]
    ranking = combine(
        dict.fromkeys(names, 1.0), dict(zip(names, structures, strict=True)), {}, NoneTerm(none, UNLIKE)
    )
    total = math.fsum(entry.probability for entry in ranking.classes) + ranking.unknown
    assert total == pytest.approx(1.0, abs=1e-9)
    probabilities = [entry.probability for entry in ranking.classes]
    assert probabilities == pytest.approx(sorted(probabilities, reverse=True))


@pytest.mark.parametrize(
    ("best", "unknown", "expected"),
    [
        ([0.8, 0.1], 0.1, Verdict.EXPLAINED),
        ([0.72, 0.26], 0.02, Verdict.AMBIGUOUS),
        ([0.6, 0.1], 0.3, Verdict.AMBIGUOUS),
        ([0.3, 0.2], 0.5, Verdict.UNKNOWN),
        ([0.9], 0.1, Verdict.EXPLAINED),
        ([], 1.0, Verdict.UNKNOWN),
    ],
)
def test_verdict(best: list[float], unknown: float, expected: Verdict) -> None:
    """A clear lead is explained, none of these in front is unknown, the rest is ambiguous."""
    assert verdict(best, unknown) is expected


def test_threshold_of_the_verdict() -> None:
    """The least probability of an explained incident can be set."""
    assert verdict([0.6, 0.1], 0.3, threshold=0.5) is Verdict.EXPLAINED


PRIORS = {"a": 1.0, "b": 1.0, "c": 2.0}
STRUCTURE = {"a": 1.0, "b": 0.5, "c": 0.0}


def odds(ranking: Ranking, one: str, other: str | None) -> float:
    """Return the natural log odds of a class against another, or against *none* (None)."""
    found = {entry.class_id: entry.probability for entry in ranking.classes}
    return math.log(found[one] / (ranking.unknown if other is None else found[other]))


def test_text_is_a_term_of_every_class() -> None:
    """With prose each class has a text term, 0 where it is not named; without prose none has one."""
    told = combine(PRIORS, STRUCTURE, {}, NEUTRAL, text={"a": 1.5, "b": -2.0})
    assert {"a": 1.5, "b": -2.0, "c": 0.0} == {entry.class_id: entry.terms.text for entry in told.classes}
    silent = combine(PRIORS, STRUCTURE, {}, NEUTRAL)
    assert [entry.terms.text for entry in silent.classes] == [None] * 3


def test_text_moves_the_odds_by_its_weight() -> None:
    """What the prose says adds to the log odds, times the weight of the text."""
    text = {"a": 1.5, "b": -2.0}
    for weight in (0.0, 0.9, 1.0):
        weights = Weights(text=weight)
        plain = combine(PRIORS, STRUCTURE, {}, NEUTRAL, weights=weights)
        told = combine(PRIORS, STRUCTURE, {}, NEUTRAL, text=text, weights=weights)
        assert odds(told, "a", "b") - odds(plain, "a", "b") == pytest.approx(3.5 * weight)
        assert odds(told, "a", None) - odds(plain, "a", None) == pytest.approx(1.5 * weight)


def test_text_of_outside_raises_none_of_these() -> None:
    """What the prose says of troubles outside all classes counts for *none*, by its own weight, and for no class."""
    weights = Weights(text=0.9, none_text=0.4)
    plain = combine(PRIORS, STRUCTURE, {}, NEUTRAL, text={}, weights=weights)
    told = combine(PRIORS, STRUCTURE, {}, NEUTRAL, text={}, none_text=2.0, weights=weights)
    assert told.unknown > plain.unknown
    assert odds(plain, "a", None) - odds(told, "a", None) == pytest.approx(0.8)
    assert odds(plain, "a", "b") == pytest.approx(odds(told, "a", "b"))


@settings(max_examples=50, deadline=None)
@given(
    text=some.dictionaries(some.sampled_from("abc"), some.floats(-700, 700)),
    none_text=some.floats(-700, 700),
)
def test_any_text_gives_probabilities(text: dict[str, float], none_text: float) -> None:
    """However strongly the prose speaks, the classes and *none* share one unit of probability."""
    told = combine(PRIORS, STRUCTURE, {}, NEUTRAL, text=text, none_text=none_text, weights=WITH_TEXT)
    assert math.fsum([told.unknown, *(entry.probability for entry in told.classes)]) == pytest.approx(1.0)
