"""Rules about ids: what is referred to exists, once, and is used."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from failgraph.loaders.checks.packset import NOUN, PackSet, Spot
from failgraph.loaders.packs import PackSource
from failgraph.loaders.yaml_file import Step
from failgraph.schema.errors import Location
from failgraph.schema.pack import ClassItem

Reference = tuple[PackSource, str, str, tuple[Step, ...], str, str]
"""Pack, part and id of what refers; the steps to the reference in it; the parts it may be in; its id."""


def unknown_reference(packs: PackSet) -> Iterator[Spot]:
    """Every id that is referred to is defined in one of the packs."""
    for source, part, item_id, steps, targets, reference in _references(packs):
        wanted = targets.split()
        if any(reference in packs.ids(target) for target in wanted):
            continue
        known = sorted(frozenset().union(*(packs.ids(target) for target in wanted)))
        near = difflib.get_close_matches(reference, known, n=1)
        advice = f"did you mean `{near[0]}`?" if near else "define it, or correct the id"
        noun = " or ".join(NOUN[target] for target in wanted)
        # Without steps the item's place itself is the reference: its file's name, or its key.
        path = (*steps, reference) if steps else ()
        location = source.location(part, item_id, *path, of_key=True)
        yield Spot(location, f"there is no {noun} `{reference}`; {advice}")


def _references(packs: PackSet) -> Iterator[Reference]:
    for source, mechanism in packs.mechanisms():
        yield source, "mechanisms", mechanism.id, (), "layers", mechanism.layer
    for source, observable in packs.observables():
        for shown in observable.shown_by:
            yield source, "observables", observable.id, ("shown_by",), "mechanisms", shown.mechanism
        for broader in observable.implies:
            yield source, "observables", observable.id, ("implies",), "observables", broader
    for source, failure_class in packs.classes():
        for steps, targets, reference in _class_references(failure_class):
            yield source, "classes", failure_class.id, steps, targets, reference
    for source, check in packs.checks():
        for revealed in check.reveals:
            yield source, "checks", check.id, ("reveals",), "observables circumstances", revealed
    for source, narrative in packs.narratives():
        if narrative.describes is not None:
            yield source, "narratives", narrative.id, (), "classes", narrative.describes
        for circumstance in narrative.circumstances:
            yield source, "narratives", narrative.id, ("circumstances",), "circumstances", circumstance
        for observable_id in narrative.observables:
            yield source, "narratives", narrative.id, ("observables",), "observables", observable_id
    for source, adjustment in packs.adjustments():
        yield source, "adjustments", adjustment.target, (), "classes observables", adjustment.target


def _class_references(item: ClassItem) -> Iterator[tuple[tuple[Step, ...], str, str]]:
    yield ("root",), "mechanisms", item.root
    named: set[str] = set()
    for cause, effects in item.chain.items():
        for steps, mechanism in ((("chain",), cause), *((("chain", cause), effect) for effect in effects)):
            if mechanism not in named and mechanism != item.root:
                named.add(mechanism)
                yield steps, "mechanisms", mechanism
    for word, observables in item.expects.items():
        for observable in observables:
            yield ("expects", word.value), "observables", observable
    for refuter in item.refuters:
        yield ("refuters",), "observables", refuter.observable
    for face in item.presentations:
        for key in ("shows", "lacks"):
            for observable in getattr(face, key):
                yield ("presentations", face.name, key), "observables", observable
    for circumstance in item.circumstances:
        yield ("circumstances",), "circumstances", circumstance
    for check in item.checks:
        yield ("checks",), "checks", check
    for parent in item.specialises:
        yield ("specialises",), "classes", parent


def duplicate_id(packs: PackSet) -> Iterator[Spot]:
    """No id is defined by two packs, and no alias names another class."""
    for part in NOUN:
        first: dict[str, PackSource] = {}
        for source in packs.sources:
            for item in getattr(source.content, part):
                other = first.setdefault(item.id, source)
                if other is not source:
                    yield Spot(
                        source.location(part, item.id),
                        f"{NOUN[part]} `{item.id}` is already defined by pack `{other.content.header.id}` "
                        f"({other.location(part, item.id)}); rename it, or adjust the other in adjustments.yaml",
                    )
    for source, item in packs.classes():
        for alias in item.aliases:
            if alias in packs.ids("classes"):
                yield Spot(
                    source.location("classes", item.id, "aliases", alias),
                    f"alias `{alias}` is the id of a class; remove the alias or rename the class",
                )


def duplicate_pack(packs: PackSet) -> Iterator[Spot]:
    """No two packs have one id."""
    first: dict[str, PackSource] = {}
    for source in packs.sources:
        pack_id = source.content.header.id
        other = first.setdefault(pack_id, source)
        if other is not source:
            yield Spot(
                source.location("header", pack_id, "id"),
                f"pack id `{pack_id}` is also that of {other.root}; rename one of the two",
            )


def missing_pack(packs: PackSet) -> Iterator[Spot]:
    """Every pack that is required is there."""
    known = {source.content.header.id for source in packs.sources}
    for source in packs.sources:
        header = source.content.header
        for wanted in header.requires:
            if wanted not in known:
                yield Spot(
                    source.location("header", header.id, "requires", wanted),
                    f"required pack `{wanted}` is not here; name its folder too, or remove the requirement",
                )


def misplaced_class(packs: PackSet) -> Iterator[Spot]:
    """A class stands in the folder of its root mechanism's layer."""
    for source, item in packs.classes():
        layer = packs.layer_of.get(item.root, item.layer)
        if layer != item.layer:
            yield Spot(
                source.location("classes", item.id, "root"),
                f"root `{item.root}` is of layer {layer}, but the class stands in classes/{item.layer}; "
                f"move the file to classes/{layer}",
            )


def own_adjustment(packs: PackSet) -> Iterator[Spot]:
    """Adjustments change other packs; a pack's own items are changed where they stand."""
    for source, item in packs.adjustments():
        own = {*_ids(source.content.classes), *_ids(source.content.observables)}
        if item.target in own:
            yield Spot(
                source.location("adjustments", item.target),
                f"`{item.target}` is this pack's own; change it where it is defined and remove this entry",
            )


def unused_mechanism(packs: PackSet) -> Iterator[Spot]:
    """Every mechanism is part of a class's chain."""
    used = {mechanism for _, item in packs.classes() for mechanism in item.chain}
    for source, item in packs.mechanisms():
        if item.id not in used:
            yield _unused(source.location("mechanisms", item.id), item.id, "no class has it in its chain")


def unused_observable(packs: PackSet) -> Iterator[Spot]:
    """Every observable speaks for or against something."""
    used: set[str] = set()
    for _, item in packs.classes():
        used.update(observable for group in item.expects.values() for observable in group)
        used.update(refuter.observable for refuter in item.refuters)
    for source, observable in packs.observables():
        if observable.id not in used and not observable.shown_by:
            yield _unused(
                source.location("observables", observable.id),
                observable.id,
                "nothing shows it, and no class expects it or is refuted by it",
            )


def _unused(location: Location, item_id: str, why: str) -> Spot:
    return Spot(location, f"`{item_id}` is not used: {why}; use it or remove it")


def _ids(items: Iterable[object]) -> set[str]:
    return {str(getattr(item, "id", "")) for item in items}


def stale_fit(packs: PackSet) -> Iterator[Spot]:
    """The fitted strengths are those of the chains as they stand."""
    for source in packs.sources:
        fitted = source.content.fitted
        if fitted is None:
            continue
        edges = {
            f"{cause}>{effect}"
            for item in source.content.classes
            for cause, effects in item.chain.items()
            for effect in effects
        }
        differ = sorted(edges ^ set(fitted.causes))
        if differ:
            yield Spot(
                source.location("fitted", "fitted", "causes"),
                f"the chains changed since the fit ({len(differ)} edges differ, first `{differ[0]}`); "
                "run `failgraph pack fit`",
            )
