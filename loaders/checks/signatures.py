"""Rules about signatures: they compile, match their examples, and leave their counter-examples alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from failgraph.loaders.checks.packset import PackSet, Spot
from failgraph.loaders.packs import PackSource
from failgraph.loaders.signature import parse_signature
from failgraph.schema.errors import PackError
from failgraph.schema.nodes import ObservableKind
from failgraph.schema.pack import ObservableItem

_READ_IN_TEXT = (ObservableKind.LOG, ObservableKind.EVENT)


def compile_signature(signature: str) -> Callable[[str], bool]:
    """Return a function that tells whether a text matches, by RE2; ``^`` and ``$`` are those of each line.

    Raises:
        ValueError: RE2 does not take the signature; the text says why.
    """
    import re2

    options: Any = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile("(?m)" + signature, options)
    except re2.error as error:
        reason = error.args[0] if error.args else error
        raise ValueError(reason.decode() if isinstance(reason, bytes) else str(reason)) from error
    return lambda text: compiled.search(text) is not None


def _read_in_text(packs: PackSet) -> Iterator[tuple[PackSource, ObservableItem]]:
    return (pair for pair in packs.observables() if pair[1].kind in _READ_IN_TEXT)


def bad_signature(packs: PackSet) -> Iterator[Spot]:
    """Every log and event signature is a regular expression that RE2 takes."""
    for source, item in _read_in_text(packs):
        try:
            compile_signature(item.signature)
            # The scanner also takes only what all its engines read alike.
            parse_signature(item.id, item.signature, multiline=item.multiline)
        except ValueError as error:
            why = f"the signature does not compile: {error}; RE2 has no look-around and no back-references"
        except PackError as error:
            why = error.message
        else:
            continue
        yield Spot(source.location("observables", item.id, "signature"), why)


def missing_example(packs: PackSet) -> Iterator[Spot]:
    """Every log and event signature has a line that it must match."""
    for source, item in _read_in_text(packs):
        if not item.examples:
            yield Spot(
                source.location("observables", item.id),
                f"`{item.id}` has no example; add a real line that its signature must match under `examples`",
            )


def wrong_example(packs: PackSet) -> Iterator[Spot]:
    """A signature matches all its examples and none of its counter-examples."""
    for source, item in _read_in_text(packs):
        try:
            matches = compile_signature(item.signature)
        except ValueError:
            continue  # told by bad_signature
        for position, example in enumerate(item.examples):
            if not matches(example):
                yield Spot(
                    source.location("observables", item.id, "examples", position),
                    "the signature does not match this example; correct one of the two",
                )
        for position, example in enumerate(item.not_examples):
            if matches(example):
                yield Spot(
                    source.location("observables", item.id, "not_examples", position),
                    "the signature matches this counter-example; narrow it",
                )


def spans_lines(packs: PackSet) -> Iterator[Spot]:
    """A signature that needs more than one line says so, and one that does not, does not."""
    for source, item in _read_in_text(packs):
        several = [position for position, example in enumerate(item.examples) if "\n" in example]
        if several and not item.multiline:
            yield Spot(
                source.location("observables", item.id, "examples", several[0]),
                "this example has several lines; add `multiline: true`, or keep the line that matters",
            )
        elif item.multiline and item.examples and not several:
            yield Spot(
                source.location("observables", item.id, "multiline"),
                "`multiline` is set, but no example has several lines; add one, or remove `multiline`",
            )


def kind_and_keys(packs: PackSet) -> Iterator[Spot]:
    """Only log and event observables have examples; only metrics have a metric."""
    for source, item in packs.observables():
        if item.kind not in _READ_IN_TEXT and (item.examples or item.not_examples or item.multiline):
            yield Spot(
                source.location("observables", item.id, "kind"),
                f"kind {item.kind.value} is not read by a pattern; remove examples and `multiline`, or make it a log",
            )
        if (item.metric is not None) != (item.kind is ObservableKind.METRIC):
            yield Spot(
                source.location("observables", item.id, "kind"),
                "kind metric and the key `metric` go together; add what is missing or remove the other",
            )


def implies_mismatch(packs: PackSet) -> Iterator[Spot]:
    """What a specific observable implies matches the specific one's examples too."""
    for source, item in _read_in_text(packs):
        for broader in item.implies:
            other = packs.observable.get(broader)
            if other is None or other.kind not in _READ_IN_TEXT:
                continue
            try:
                matches = compile_signature(other.signature)
            except ValueError:
                continue  # told by bad_signature
            if not all(matches(example) for example in item.examples):
                yield Spot(
                    source.location("observables", item.id, "implies", broader),
                    f"`{broader}` does not match the examples of `{item.id}`; widen its signature or remove `implies`",
                )
