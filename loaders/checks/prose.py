"""Rules about words: what people write is known once, and classes say what an engineer needs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from failgraph.loaders.checks.packset import PackSet, Spot
from failgraph.loaders.packs import PackSource
from failgraph.schema.errors import Location
from failgraph.schema.nodes import ClassStatus

MOST_LINES: Final = 120
"""A class with more lines than this does not fit a screen."""


def phrase_twice(packs: PackSet) -> Iterator[Spot]:
    """No phrase stands for two observables (or two circumstances), and none both says and denies one."""
    first: dict[tuple[str, str], tuple[str, Location]] = {}
    for part, item_id, key, phrase, place in _phrases(packs):
        family = "circumstances" if part == "circumstances" else "observables"
        words = (family, " ".join(phrase.casefold().split()))
        owner = f"`{item_id}` ({key})"
        other = first.setdefault(words, (owner, place))
        if other[1] != place:
            yield Spot(
                place,
                f"the phrase `{phrase}` already stands at {other[0]} ({other[1]}); keep it where it says most",
            )


def _phrases(packs: PackSet) -> Iterator[tuple[str, str, str, str, Location]]:
    def each(
        source: PackSource, part: str, item_id: str, key: str, phrases: tuple[str, ...]
    ) -> Iterator[tuple[str, str, str, str, Location]]:
        for position, phrase in enumerate(phrases):
            yield part, item_id, key, phrase, source.location(part, item_id, key, position)

    for source, observable in packs.observables():
        yield from each(source, "observables", observable.id, "phrases", observable.phrases)
        yield from each(source, "observables", observable.id, "negated", observable.negated)
    for source, adjustment in packs.adjustments():
        yield from each(source, "adjustments", adjustment.target, "phrases", adjustment.phrases)
        yield from each(source, "adjustments", adjustment.target, "negated", adjustment.negated)
    for source, circumstance in packs.circumstances():
        yield from each(source, "circumstances", circumstance.id, "phrases", circumstance.phrases)
        yield from each(source, "circumstances", circumstance.id, "not_phrases", circumstance.not_phrases)


def no_phrases(packs: PackSet) -> Iterator[Spot]:
    """Every observable says how people write it."""
    for source, observable in packs.observables():
        if not observable.phrases:
            yield Spot(
                source.location("observables", observable.id),
                f"`{observable.id}` has no phrases, so prose cannot name it; add how engineers write it",
            )


def bare_class(packs: PackSet) -> Iterator[Spot]:
    """An accepted class says what to look for, how to find out, what to do, and where it comes from."""
    for source, item in packs.classes():
        if item.status is not ClassStatus.ACCEPTED:
            continue
        missing = [key for key in ("expects", "checks", "remedies", "sources") if not getattr(item, key)]
        if missing:
            yield Spot(
                source.location("classes", item.id, "id"),
                f"the class lacks {' and '.join(f'`{key}`' for key in missing)}; add it",
            )


def long_class(packs: PackSet) -> Iterator[Spot]:
    """A class fits a screen."""
    for source, item in packs.classes():
        place = source.location("classes", item.id, "id")
        lines = Path(place.path).read_text(encoding="utf-8").count("\n")
        if lines > MOST_LINES:
            yield Spot(
                Location(place.path, MOST_LINES + 1, 1),
                f"the class has {lines} lines, more than {MOST_LINES}; is it two classes, or too many presentations?",
            )
