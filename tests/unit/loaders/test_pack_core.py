"""The knowledge that ships: it is whole, and each signature matches what it must in every engine."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from failgraph.loaders.checks.signatures import compile_signature
from failgraph.loaders.packs import core_pack_path, read_pack
from failgraph.schema.nodes import ClassStatus, ObservableKind
from failgraph.schema.pack import ObservableItem, PackContent

Matches = Callable[[str], bool]


@pytest.fixture(scope="module")
def core() -> PackContent:
    """Return the core pack."""
    return read_pack(core_pack_path())


def test_nothing_is_lost(core: PackContent) -> None:
    """The core pack holds at least the classes, mechanisms, observables and checks that it began with."""
    assert len(core.layers) == 12
    assert len(core.classes) >= 125
    assert len(core.mechanisms) >= 241
    assert len(core.observables) >= 459
    assert len(core.checks) >= 316
    assert len(core.circumstances) >= 105


def test_classes_say_what_is_needed(core: PackContent) -> None:
    """Every accepted class has checks, remedies, preventions, circumstances, sources and presentations."""
    for item in core.classes:
        if item.status is ClassStatus.ACCEPTED:
            assert item.checks
            assert item.remedies
            assert item.preventions
            assert item.circumstances
            assert item.sources
            assert item.presentations


def test_priors_are_relative(core: PackContent) -> None:
    """The priors of the classes have a mean of about 1 and lie within 0.05 and 8."""
    priors = [item.prior for item in core.classes]
    assert 0.9 < sum(priors) / len(priors) < 1.1
    assert min(priors) >= 0.05
    assert max(priors) <= 8.0


def by_re(item: ObservableItem) -> Matches:
    """Return a matcher of Python's own engine."""
    compiled = re.compile(item.signature, re.MULTILINE)
    return lambda text: compiled.search(text) is not None


def by_re2(item: ObservableItem) -> Matches:
    """Return a matcher of RE2."""
    return compile_signature(item.signature)


def by_hyperscan(item: ObservableItem) -> Matches:
    """Return a matcher of Hyperscan."""
    hyperscan: Any = pytest.importorskip("hyperscan")
    database = hyperscan.Database()
    flags = hyperscan.HS_FLAG_MULTILINE | hyperscan.HS_FLAG_SINGLEMATCH
    database.compile(expressions=[item.signature.encode()], ids=[0], elements=1, flags=[flags])

    def matches(text: str) -> bool:
        found: list[int] = []
        database.scan(text.encode(), match_event_handler=lambda *match: found.append(match[0]))
        return bool(found)

    return matches


@cache
def read_in_text() -> tuple[ObservableItem, ...]:
    """Return the observables whose signature is a pattern."""
    kinds = (ObservableKind.LOG, ObservableKind.EVENT)
    return tuple(item for item in read_pack(core_pack_path()).observables if item.kind in kinds)


@pytest.mark.parametrize("engine", [by_re, by_re2, by_hyperscan])
def test_signatures_match_their_examples(engine: Callable[[ObservableItem], Matches]) -> None:
    """Each signature matches all its examples and none of its counter-examples."""
    wrong = []
    for item in read_in_text():
        matches = engine(item)
        wrong += [(item.id, example) for example in item.examples if not matches(example)]
        wrong += [(item.id, example) for example in item.not_examples if matches(example)]
        assert item.examples
    assert wrong == []
