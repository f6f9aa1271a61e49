"""Causal chains in memory: cycles, what a root does not lead to, and a quick forecast."""

from __future__ import annotations

import pytest

from failgraph.graph.chains import cycles, forecast, out_of_reach


def test_no_cycle() -> None:
    """A chain that only branches and joins has no cycle."""
    assert cycles([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]) == []


def test_each_cycle_once() -> None:
    """One cycle is shown for each set of mechanisms that cause one another, from its first id on."""
    edges = [("c", "a"), ("a", "b"), ("b", "c"), ("x", "y"), ("y", "x"), ("z", "z"), ("a", "x")]
    assert cycles(edges) == [["a", "b", "c"], ["x", "y"], ["z"]]


def test_out_of_reach() -> None:
    """What the root does not lead to is named; without the root, everything."""
    chain = {"root": ["a"], "a": [], "b": ["a"], "c": ["b"]}
    assert out_of_reach("root", chain) == ["b", "c"]
    assert out_of_reach("gone", chain) == ["a", "b", "c", "root"]


def test_forecast() -> None:
    """Parents combine by noisy-OR; an edge without a strength of its own has the usual one."""
    chain = {"root": ["a", "b"], "a": ["end"], "b": ["end"], "end": []}
    expected = {"root": 1.0, "a": 0.5, "b": 0.9, "end": 1.0 - (1.0 - 0.25) * (1.0 - 0.45)}
    assert expected == pytest.approx(forecast("root", chain, {("root", "b"): 0.9}, 0.5))


def test_forecast_of_a_cycle() -> None:
    """A chain with a cycle gives no more than its root."""
    assert forecast("a", {"a": ["b"], "b": ["a"]}, {}, 0.5) == {"a": 1.0}
