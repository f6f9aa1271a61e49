"""The fit of CAUSES strengths to what the experts say of whole classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from failgraph.graph.fit import HIGHEST, LOWEST, _Forecast, fit
from failgraph.graph.infer import expected
from failgraph.graph.network import UNFITTED, network_of
from failgraph.schema.pack import PackContent
from tests.unit.graph.reference import random_network
from tests.unit.graph.test_network import failure_class, observable, pack


def chain_pack(word: str, **changes: Any) -> PackContent:
    """Return a pack whose class has one word for the trace of its effect."""
    classes = [failure_class("one", {"root": ["effect"], "effect": []}, expects={word: ["trace"]})]
    return pack(classes=classes, **changes)


def test_one_step() -> None:
    """A step gets the strength at which the class shows its trace as often as the expert says."""
    result = fit(chain_pack("sometimes"))
    (residual,) = result.residuals
    assert list(result.numbers.causes) == ["root>effect"]
    assert residual.got == pytest.approx(0.35, abs=0.01)
    network = network_of([chain_pack("sometimes", fitted=result.numbers.model_dump())])
    assert expected(network, ["root"])["root"]["trace"] == pytest.approx(residual.got)


def test_what_the_words_leave_open() -> None:
    """A step that no word depends on keeps the strength of unfitted steps."""
    classes = [
        failure_class(
            "one",
            {"root": ["effect", "other"], "effect": [], "other": []},
            expects={"sometimes": ["trace"]},
        )
    ]
    assert fit(pack(classes=classes)).numbers.causes["root>other"] == UNFITTED


def test_strengths_stay_within_bounds() -> None:
    """A word that no strength can reach ends at the bound, and the residual says so."""
    result = fit(chain_pack("always"))
    assert result.numbers.causes["root>effect"] == HIGHEST
    assert result.residuals[0].wanted == 0.97
    assert result.residuals[0].got == pytest.approx(0.75, abs=0.02)
    assert fit(chain_pack("rarely")).numbers.causes["root>effect"] >= LOWEST


def test_unreachable_observable() -> None:
    """A word about an observable that the root does not lead to cannot be fitted: it is reported."""
    result = fit(
        pack(
            observables=[observable("trace", "effect"), observable("alien", "other")],
            classes=[
                failure_class(
                    "one",
                    {"root": ["effect"], "effect": []},
                    expects={"usually": ["trace"], "sometimes": ["alien"]},
                )
            ],
        )
    )
    unreachable = [pair for pair in result.residuals if not pair.reachable]
    assert [(pair.class_id, pair.observable, pair.word) for pair in unreachable] == [
        ("one", "alien", "sometimes")
    ]
    assert unreachable[0].got == pytest.approx(0.005, abs=0.001)
    assert result.numbers.figures["unreachable"] == 1.0
    assert result.numbers.figures["pairs"] == 1.0


def test_steps_of_other_packs_stay() -> None:
    """A pack that requires another fits its own steps only, over the other's strengths."""
    base = chain_pack("usually", fitted={"made_by": "a fit", "causes": {"root>effect": 0.5}})
    site = pack(
        header={"id": "site", "name": "Site", "revision": 1, "summary": "A pack.", "requires": ["base"]},
        mechanisms=[{"id": "switch", "name": "switch", "layer": "fabric"}],
        observables=[],
        classes=[
            failure_class(
                "two", {"switch": ["root"], "root": ["effect"], "effect": []}, expects={"rarely": ["trace"]}
            )
        ],
    )
    result = fit(site, others=[base])
    assert list(result.numbers.causes) == ["root>effect", "switch>root"]
    assert result.numbers.causes["root>effect"] == 0.5
    assert result.residuals[0].got == pytest.approx(0.08, abs=0.01)


def test_classes_that_are_not_accepted() -> None:
    """A proposed class has no say; its steps are listed with the strength of unfitted ones."""
    classes = [failure_class("one", {"root": ["effect"], "effect": []}, status="proposed")]
    result = fit(pack(classes=classes))
    assert result.residuals == ()
    assert dict(result.numbers.causes) == {"root>effect": UNFITTED}


def test_same_numbers_every_time() -> None:
    """A fit is deterministic."""
    assert fit(chain_pack("sometimes")) == fit(chain_pack("sometimes"))


def test_gradient() -> None:
    """The slopes by the strengths are those of finite differences, also past held roots and shared steps."""
    network = random_network(8, 12, 10, causes=0.3)
    roots = ["m000", "m002", "m005"]
    pairs = [
        (root, observable) for root in roots for observable in network.leaks if network.shown_by[observable]
    ]
    forecast = _Forecast(network, roots, {(cause, effect) for cause, effect, _ in network.causes}, pairs)
    weights = np.linspace(-1.0, 1.0, len(pairs))
    slopes = forecast.gradient(forecast.probabilities()[1], weights)
    for place in range(len(network.causes)):
        before = forecast.strength[place]
        values = []
        for moved in (before + 1e-6, before - 1e-6):
            forecast.strength[place] = moved
            values.append(float((forecast.probabilities()[0] * weights).sum()))
        forecast.strength[place] = before
        assert slopes[place] == pytest.approx((values[0] - values[1]) / 2e-6, abs=1e-7)
