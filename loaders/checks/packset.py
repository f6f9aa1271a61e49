"""The packs of one lint run, seen together, and what a rule is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from failgraph.loaders.packs import PackSource
from failgraph.loaders.problem import Problem, Severity
from failgraph.schema.errors import Location
from failgraph.schema.nodes import ClassStatus
from failgraph.schema.pack import (
    AdjustmentItem,
    CheckItem,
    CircumstanceItem,
    ClassItem,
    LayerItem,
    MechanismItem,
    NarrativeItem,
    ObservableItem,
)

NOUN: Final[Mapping[str, str]] = {
    "layers": "layer",
    "mechanisms": "mechanism",
    "observables": "observable",
    "classes": "class",
    "checks": "check",
    "circumstances": "circumstance",
}
"""The parts of a pack that define ids, and what one of them is called."""


@dataclass(frozen=True)
class Spot:
    """What one rule found: the place, and what is wrong and what to do."""

    location: Location
    message: str


@dataclass(frozen=True)
class Rule:
    """A rule: how bad a breach is, and the function that finds breaches; its docstring says the rule.

    A rule that ``needs_all`` would find breaches that are none while a part of a pack cannot be read.
    """

    severity: Severity
    find: Callable[[PackSet], Iterator[Spot]]
    needs_all: bool = False

    @property
    def name(self) -> str:
        """The rule's name in reports: that of its function, with hyphens."""
        return self.find.__name__.replace("_", "-")

    @property
    def says(self) -> str:
        """The rule in one sentence."""
        return (self.find.__doc__ or "").strip()

    def problems(self, packs: PackSet) -> Iterator[Problem]:
        """Yield the breaches of the rule."""
        for spot in self.find(packs):
            yield Problem(spot.location, self.severity, self.name, spot.message)


@dataclass(frozen=True)
class PackSet:
    """Packs that are checked together.

    Attributes:
        sources: the packs, those given first, then those only read because others refer to them.
        expected: P(observable | class) by class and observable, where it was computed.
    """

    sources: Sequence[PackSource]
    expected: Mapping[str, Mapping[str, float]] | None = None

    def ids(self, part: str) -> frozenset[str]:
        """Return the ids that the packs define in a part."""
        return self._ids[part]

    @cached_property
    def _ids(self) -> Mapping[str, frozenset[str]]:
        return {
            part: frozenset(item.id for source in self.sources for item in getattr(source.content, part))
            for part in NOUN
        }

    def layers(self) -> Iterator[tuple[PackSource, LayerItem]]:
        """Yield each layer with its pack."""
        return self._each("layers")

    def mechanisms(self) -> Iterator[tuple[PackSource, MechanismItem]]:
        """Yield each mechanism with its pack."""
        return self._each("mechanisms")

    def observables(self) -> Iterator[tuple[PackSource, ObservableItem]]:
        """Yield each observable with its pack."""
        return self._each("observables")

    def classes(self) -> Iterator[tuple[PackSource, ClassItem]]:
        """Yield each class with its pack."""
        return self._each("classes")

    def checks(self) -> Iterator[tuple[PackSource, CheckItem]]:
        """Yield each check with its pack."""
        return self._each("checks")

    def narratives(self) -> Iterator[tuple[PackSource, NarrativeItem]]:
        """Yield each narrative with its pack."""
        return self._each("narratives")

    def circumstances(self) -> Iterator[tuple[PackSource, CircumstanceItem]]:
        """Yield each circumstance with its pack."""
        return self._each("circumstances")

    def adjustments(self) -> Iterator[tuple[PackSource, AdjustmentItem]]:
        """Yield each adjustment with its pack."""
        return self._each("adjustments")

    def _each(self, part: str) -> Iterator[tuple[PackSource, Any]]:
        for source in self.sources:
            for item in getattr(source.content, part):
                yield source, item

    @cached_property
    def observable(self) -> Mapping[str, ObservableItem]:
        """Every observable by id."""
        return {item.id: item for _, item in self.observables()}

    @cached_property
    def layer_of(self) -> Mapping[str, str]:
        """The layer of each mechanism."""
        return {item.id: item.layer for _, item in self.mechanisms()}

    @cached_property
    def statuses(self) -> Mapping[str, ClassStatus]:
        """The status of each class, as adjusted."""
        status = {item.id: item.status for _, item in self.classes()}
        status.update({item.target: item.status for _, item in self.adjustments() if item.status})
        return status

    def accepted(self) -> Iterator[tuple[PackSource, ClassItem]]:
        """Yield the classes that compete in a match."""
        return (pair for pair in self.classes() if self.statuses[pair[1].id] == ClassStatus.ACCEPTED)
