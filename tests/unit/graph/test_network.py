"""The causal network: made from packs, its order, and its most probable paths."""

from __future__ import annotations

from typing import Any

import pytest

from failgraph.graph.network import UNFITTED, Network, best_path, network_of
from failgraph.schema.errors import PackError
from failgraph.schema.pack import PackContent

TWO_WAYS = Network(
    causes=(("root", "long", 0.9), ("long", "end", 0.9), ("root", "end", 0.7), ("end", "after", 0.5)),
    shows=(("end", "trace", 0.75), ("after", "trace", 0.97), ("root", "early", 0.35)),
    leaks={"trace": 0.03, "early": 0.15, "nothing": 0.15},
)


def pack(**parts: Any) -> PackContent:
    """Return a small pack: a root that causes an effect, which shows a trace."""
    content = {
        "header": {"id": "base", "name": "Base", "revision": 1, "summary": "A pack."},
        "mechanisms": [{"id": name, "name": name, "layer": "host"} for name in ("root", "effect", "other")],
        "observables": [observable("trace", "effect")],
        "classes": [failure_class("one", {"root": ["effect"], "effect": []})],
    }
    return PackContent.model_validate({**content, **parts})


def observable(name: str, mechanism: str) -> dict[str, Any]:
    """Return an observable that one mechanism usually shows."""
    return {
        "id": name,
        "kind": "log",
        "says": "It is there",
        "source": "kernel log",
        "signature": "there",
        "specificity": "strong",
        "verified": True,
        "shown_by": [{"mechanism": mechanism, "strength": "usually"}],
    }


def failure_class(name: str, chain: dict[str, list[str]], **changes: Any) -> dict[str, Any]:
    """Return a class whose root is the first mechanism of its chain."""
    return {
        "id": name,
        "name": name,
        "layer": "host",
        "summary": "A class.",
        "root": next(iter(chain)),
        "chain": chain,
        "expects": {"usually": ["trace"]},
        **changes,
    }


def test_network_of_a_pack() -> None:
    """Chains become steps, words become strengths and leaks, and a step without a fit has the usual strength."""
    network = network_of([pack()])
    assert network.causes == (("root", "effect", UNFITTED),)
    assert network.shows == (("effect", "trace", 0.75),)
    assert network.leaks == {"trace": 0.005}
    assert network.parents == {"effect": (("root", UNFITTED),), "root": ()}


def test_fitted_strengths() -> None:
    """A fitted strength is used; the first pack that has one wins, as in the graph."""
    fitted = pack(fitted={"made_by": "a fit", "causes": {"root>effect": 0.25}})
    again = pack(classes=[], observables=[], fitted={"made_by": "a fit", "causes": {"root>effect": 0.5}})
    assert network_of([fitted]).causes == (("root", "effect", 0.25),)
    assert network_of([fitted, again]).causes == (("root", "effect", 0.25),)


def test_only_accepted_classes() -> None:
    """A class that is proposed or retired, by itself or by an adjustment, adds no steps."""
    chain = {"root": ["other"], "other": []}
    classes = [
        failure_class("one", {"root": ["effect"], "effect": []}),
        failure_class("two", chain, status="proposed"),
    ]
    site = pack(classes=[], observables=[], adjustments=[{"target": "one", "status": "retired"}])
    assert network_of([pack(classes=classes)]).causes == (("root", "effect", UNFITTED),)
    assert network_of([pack(classes=classes), site]).causes == ()


def test_undefined_mechanism() -> None:
    """A chain or an observable that names an undefined mechanism is refused."""
    with pytest.raises(PackError, match="no pack defines the mechanism nobody"):
        network_of([pack(observables=[observable("trace", "nobody")])])


def test_circle() -> None:
    """Classes that together form a circle are refused."""
    classes = [
        failure_class("one", {"root": ["effect"], "effect": []}),
        failure_class("two", {"effect": ["root"], "root": []}),
    ]
    with pytest.raises(PackError, match="in a circle"):
        network_of([pack(classes=classes)])


def test_causal_order() -> None:
    """Causes come before effects."""
    order = TWO_WAYS.causal_order
    assert all(order.index(cause) < order.index(effect) for cause, effect, _ in TWO_WAYS.causes)


def test_sources() -> None:
    """The sources of a mechanism are itself and all that leads to it; an unknown one has none."""
    assert TWO_WAYS.sources(["end"]) == {"root", "long", "end"}
    assert TWO_WAYS.sources(["nobody"]) == {"nobody"}


def test_best_path_takes_the_chain_of_the_class() -> None:
    """Steps of the class's own chain are preferred to slightly stronger ones elsewhere."""
    own = {("root", "end"), ("end", "after")}
    assert best_path(TWO_WAYS, "root", "trace", own) == [
        ("root", "end", "CAUSES"),
        ("end", "trace", "SHOWS"),
    ]
    other = {("root", "long"), ("long", "end")}
    assert best_path(TWO_WAYS, "root", "trace", other) == [
        ("root", "long", "CAUSES"),
        ("long", "end", "CAUSES"),
        ("end", "trace", "SHOWS"),
    ]


def test_best_path_of_a_root_that_shows_it() -> None:
    """A root may show the observable itself."""
    assert best_path(TWO_WAYS, "root", "early") == [("root", "early", "SHOWS")]


def test_no_path() -> None:
    """There is no path to what the root does not lead to, or what nothing shows."""
    assert best_path(TWO_WAYS, "after", "early") == []
    assert best_path(TWO_WAYS, "root", "nothing") == []
    assert best_path(TWO_WAYS, "nobody", "trace") == []


def test_equal_paths() -> None:
    """Of equally probable paths the one whose mechanisms come first by id is taken, in any order of the input."""
    causes = (("root", "b", 0.5), ("root", "a", 0.5), ("a", "end", 0.5), ("b", "end", 0.5))
    shows = (("end", "trace", 0.5),)
    for steps in (causes, causes[::-1]):
        network = Network(steps, shows, {"trace": 0.1})
        assert best_path(network, "root", "trace")[0] == ("root", "a", "CAUSES")
