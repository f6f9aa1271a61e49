"""Rules about causes: chains are sound, classes can be told apart, and what is expected can come about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from failgraph.graph.chains import cycles, forecast, out_of_reach
from failgraph.loaders.checks.packset import PackSet, Spot
from failgraph.loaders.packs import PackSource
from failgraph.schema.pack import ClassItem
from failgraph.schema.scales import STRENGTH_PROBABILITY, Strength

REACHED_STRONGLY: Final = 0.2
"""A class that leads to an observable more often than this is not refuted by it."""


def cycle(packs: PackSet) -> Iterator[Spot]:
    """The union of all chains has no cycle."""
    holders: dict[tuple[str, str], tuple[PackSource, ClassItem]] = {}
    for source, item in packs.classes():
        for cause, effects in item.chain.items():
            for effect in effects:
                holders.setdefault((cause, effect), (source, item))
    for loop in cycles(holders):
        steps = list(zip(loop, [*loop[1:], loop[0]], strict=True))
        # The class that closes the loop: the one that holds its last step.
        source, item = holders[steps[-1]]
        told = "; ".join(f"{cause} > {effect} in {holders[cause, effect][1].id}" for cause, effect in steps)
        yield Spot(
            source.location("classes", item.id, "chain", *steps[-1]),
            f"these mechanisms cause one another ({told}); remove one of the steps",
        )


def implies_cycle(packs: PackSet) -> Iterator[Spot]:
    """No observable implies itself, directly or over others."""
    holders: dict[tuple[str, str], PackSource] = {
        (item.id, broader): source for source, item in packs.observables() for broader in item.implies
    }
    for loop in cycles(holders):
        step = (loop[-1], loop[0])
        yield Spot(
            holders[step].location("observables", step[0], "implies", step[1]),
            f"these observables imply one another ({' > '.join([*loop, loop[0]])}); keep only the specific to the broad",
        )


def root_outside_chain(packs: PackSet) -> Iterator[Spot]:
    """The root of a class is in its chain."""
    for source, item in packs.classes():
        if item.root not in item.chain:
            yield Spot(
                source.location("classes", item.id, "root"),
                f"root `{item.root}` is not in the chain; add it with what it causes",
            )


def loose_chain(packs: PackSet) -> Iterator[Spot]:
    """Every mechanism of a chain is reached from its root."""
    for source, item in packs.classes():
        if item.root not in item.chain:
            continue
        for mechanism in out_of_reach(item.root, item.chain):
            yield Spot(
                source.location("classes", item.id, "chain", mechanism, of_key=True),
                f"`{mechanism}` is in the chain, but `{item.root}` does not lead to it; add what causes it, or remove it",
            )


def shared_root(packs: PackSet) -> Iterator[Spot]:
    """No two accepted classes share a root mechanism: they could never be told apart."""
    first: dict[str, tuple[PackSource, ClassItem]] = {}
    for source, item in packs.accepted():
        other_source, other = first.setdefault(item.root, (source, item))
        if other is not item:
            yield Spot(
                source.location("classes", item.id, "root"),
                f"root `{item.root}` is also that of `{other.id}` "
                f"({other_source.location('classes', other.id, 'root')}); "
                "give one of them a mechanism of its own, named by what physically differs",
            )


def unreachable_expectation(packs: PackSet) -> Iterator[Spot]:
    """What a class expects is shown by a mechanism of its own chain."""
    for source, item in packs.classes():
        for word, observables in item.expects.items():
            for observable in observables:
                known = packs.observable.get(observable)
                if known and not any(shown.mechanism in item.chain for shown in known.shown_by):
                    shows = ", ".join(shown.mechanism for shown in known.shown_by) or "nothing"
                    yield Spot(
                        source.location("classes", item.id, "expects", word.value, observable),
                        f"`{observable}` is expected, but no mechanism of this chain shows it ({shows} does); "
                        "add the mechanism to the chain, or to `shown_by` of the observable",
                    )


def expected_twice(packs: PackSet) -> Iterator[Spot]:
    """A class names an observable under one strength word only, and once."""
    for source, item in packs.classes():
        seen: dict[str, Strength] = {}
        for word, observables in item.expects.items():
            for observable in observables:
                if observable in seen:
                    yield Spot(
                        source.location("classes", item.id, "expects", word.value, observable),
                        f"`{observable}` is expected twice (`{seen[observable].value}` and `{word.value}`); keep one",
                    )
                seen.setdefault(observable, word)


def shown_by_nothing(packs: PackSet) -> Iterator[Spot]:
    """Every observable is shown by a mechanism, unless it only speaks against classes."""
    refutes = {refuter.observable for _, item in packs.classes() for refuter in item.refuters}
    for source, observable in packs.observables():
        if not observable.shown_by and observable.id not in refutes:
            yield Spot(
                source.location("observables", observable.id),
                f"no mechanism shows `{observable.id}`, so it can explain nothing; add `shown_by`",
            )


def shown_by_twice(packs: PackSet) -> Iterator[Spot]:
    """An observable names a mechanism once."""
    for source, observable in packs.observables():
        seen: set[str] = set()
        for shown in observable.shown_by:
            if shown.mechanism in seen:
                yield Spot(
                    source.location("observables", observable.id, "shown_by", shown.mechanism),
                    f"`{shown.mechanism}` shows `{observable.id}` twice; keep one strength",
                )
            seen.add(shown.mechanism)


def refuted_by_itself(packs: PackSet) -> Iterator[Spot]:
    """A class is not refuted by what its own chain brings about."""
    strengths: dict[tuple[str, str], float] = {}
    for source in packs.sources:
        if source.content.fitted:
            for edge, strength in source.content.fitted.causes.items():
                cause, _, effect = edge.partition(">")
                strengths[cause, effect] = strength
    for source, item in packs.accepted():
        present = [refuter.observable for refuter in item.refuters if refuter.when == "present"]
        if not present:
            continue
        if packs.expected is not None and item.id in packs.expected:
            chances = packs.expected[item.id]
        else:
            chances = _chances(packs, item, strengths)
        for observable in present:
            chance = chances.get(observable, 0.0)
            if chance > REACHED_STRONGLY:
                yield Spot(
                    source.location("classes", item.id, "refuters", observable),
                    f"`{observable}` is to speak against the class, whose own chain shows it with probability "
                    f"{chance:.2f}; remove the refuter, or give the chain a narrower mechanism",
                )


def _chances(packs: PackSet, item: ClassItem, strengths: Mapping[tuple[str, str], float]) -> dict[str, float]:
    active = forecast(item.root, item.chain, strengths, STRENGTH_PROBABILITY[Strength.USUALLY])
    chances = {}
    for refuter in item.refuters:
        spared = 1.0
        observable = packs.observable.get(refuter.observable)
        for shown in observable.shown_by if observable else ():
            spared *= 1.0 - active.get(shown.mechanism, 0.0) * STRENGTH_PROBABILITY[shown.strength]
        chances[refuter.observable] = 1.0 - spared
    return chances


def refuter_against_presentation(packs: PackSet) -> Iterator[Spot]:
    """That an observable is absent does not refute a class one of whose presentations lacks it."""
    for source, item in packs.classes():
        for refuter in item.refuters:
            lacking = [face.name for face in item.presentations if refuter.observable in face.lacks]
            if refuter.when == "absent" and lacking:
                yield Spot(
                    source.location("classes", item.id, "refuters", refuter.observable),
                    f"the absence of `{refuter.observable}` is to speak against the class, but its presentation "
                    f"`{lacking[0]}` lacks it; remove the refuter or correct the presentation",
                )


def shows_and_lacks(packs: PackSet) -> Iterator[Spot]:
    """A presentation does not both show and lack an observable."""
    for source, item in packs.classes():
        for face in item.presentations:
            for observable in sorted(set(face.shows) & set(face.lacks)):
                yield Spot(
                    source.location("classes", item.id, "presentations", face.name, "lacks", observable),
                    f"presentation `{face.name}` both shows and lacks `{observable}`; keep one",
                )
