"""The shape of a knowledge pack: what its YAML files say, once parsed.

A pack is a folder::

    pack.yaml                        PackHeader: id, name, revision, summary, requires
    layers.yaml                      layers (core pack only, a site pack may add)
    mechanisms/<layer>.yaml          mechanisms of that layer
    observables/<topic>.yaml         observables, with the mechanisms that show them
    classes/<layer>/<class-id>.yaml  one failure class a file
    checks/<topic>.yaml              checks and what each reveals
    circumstances/<dimension>.yaml   the circumstances of one dimension
    narratives/<topic>.yaml          first reports, written to show how classes are told; never incidents
    adjustments.yaml                 what a site pack changes on another pack's classes and observables
    fitted.yaml                      numbers made by ``failgraph pack fit``; never edited by hand

Mechanisms, observables, circumstances and checks are defined once and referred to by id.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

from failgraph.schema.nodes import CheckCost, ClassKind, ClassStatus, ObservableKind
from failgraph.schema.scales import Specificity, Strength

ID_PATTERN: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=80)]
NarrativeId = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*/[1-9][0-9]*$", max_length=90)
]
CircumstanceId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+\.[a-z0-9-]+$", max_length=80)]
OUTSIDE: Final = "outside"
"""Stands for a class in the id of a narrative that no class explains."""
Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
RawText = Annotated[str, StringConstraints(min_length=1)]
"""Text in which blanks at either end count: a regular expression."""
Probability = Annotated[float, Field(ge=0.0, le=1.0)]


class PackItem(BaseModel):
    """What every part of a pack shares: frozen, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class PackHeader(PackItem):
    """``pack.yaml``."""

    id: Id
    name: Text
    revision: int = Field(ge=1)
    summary: Text
    requires: tuple[Id, ...] = ()


class LayerItem(PackItem):
    """One layer."""

    id: Id
    name: Text
    rank: int = Field(ge=1)
    note: str | None = None


class MechanismItem(PackItem):
    """One step of a causal process. Its layer is the file it stands in."""

    id: Id
    name: Text
    layer: Id
    summary: str | None = None
    note: str | None = None


class ShownBy(PackItem):
    """A mechanism that leaves the trace, and how often."""

    mechanism: Id
    strength: Strength
    because: str | None = None


class MetricSignature(PackItem):
    """``aggregation(name[window]) comparison value``, parsed."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)
    name: Text


class ObservableItem(PackItem):
    """One observable. Its topic is the file it stands in. ``because`` explains ``shown_by`` as a whole."""

    id: Id
    topic: Id = "general"
    kind: ObservableKind
    says: Text
    source: Text
    signature: RawText
    multiline: bool = False
    specificity: Specificity
    verified: bool
    verification: str | None = None
    seen_in: str | None = None
    shown_by: tuple[ShownBy, ...] = ()
    because: str | None = None
    implies: tuple[Id, ...] = ()
    metric: MetricSignature | None = None
    phrases: tuple[Text, ...] = ()
    negated: tuple[Text, ...] = ()
    examples: tuple[str, ...] = ()
    not_examples: tuple[str, ...] = ()
    note: str | None = None


class RefuterItem(PackItem):
    """What speaks against a class."""

    observable: Id
    when: Literal["present", "absent"]
    because: Text
    factor: Probability | None = None


class PresentationItem(PackItem):
    """One face of a class."""

    name: Text
    description: Text
    shows: tuple[Id, ...] = ()
    lacks: tuple[Id, ...] = ()


class ClassItem(PackItem):
    """One failure class. Its layer, that of its root mechanism, is the folder it stands in.

    ``chain`` maps each mechanism of the class's own chain to the mechanisms it causes there, those that cause
    nothing included; the union of all chains is the graph that inference uses. ``expects`` is the expert's word
    for P(observable | class).
    """

    id: Id
    layer: Id
    name: Text
    summary: Text
    kind: ClassKind = ClassKind.FAULT
    status: ClassStatus = ClassStatus.ACCEPTED
    revision: int = Field(default=1, ge=1)
    prior: float = Field(default=1.0, gt=0.0)
    aliases: tuple[Id, ...] = ()
    specialises: tuple[Id, ...] = ()
    root: Id
    chain: Mapping[Id, tuple[Id, ...]]
    expects: Mapping[Strength, tuple[Id, ...]]
    refuters: tuple[RefuterItem, ...] = ()
    presentations: tuple[PresentationItem, ...] = ()
    circumstances: Mapping[CircumstanceId, Probability] = Field(default_factory=dict)
    checks: tuple[Id, ...] = ()
    remedies: tuple[Text, ...] = ()
    preventions: tuple[Text, ...] = ()
    sources: tuple[Text, ...] = ()
    note: str | None = None

    @field_validator("chain")
    @classmethod
    def _holds_leaves(cls, chain: Mapping[Id, tuple[Id, ...]]) -> Mapping[Id, tuple[Id, ...]]:
        """Add the mechanisms that are only named as effects, so that every mechanism is a key."""
        complete = dict(chain)
        for effects in chain.values():
            for effect in effects:
                complete.setdefault(effect, ())
        return complete


class CheckItem(PackItem):
    """A command or look, and the observables and circumstances that are known after it.

    Its topic is the file it stands in.
    """

    id: Id
    topic: Id = "general"
    command: Text
    where: Text
    needs: Text
    cost: CheckCost
    safe: bool
    reveals: tuple[str, ...]
    read_it: Text
    note: str | None = None


class CircumstanceItem(PackItem):
    """How, where or when an incident happens, or what helps. Its dimension is the file it stands in."""

    id: CircumstanceId
    means: Text
    phrases: tuple[Text, ...] = ()
    not_phrases: tuple[Text, ...] = ()
    base_rate: Probability | None = None
    note: str | None = None


class NarrativeItem(PackItem):
    """A written first report. Its id is ``class-id/number``, or ``outside/number`` for a trouble of no class.

    ``circumstances`` and ``observables`` are what the report states, as its writer marked them.
    """

    id: NarrativeId
    topic: Id
    style: str | None = None
    presentation: str | None = None
    text: Text
    checked: tuple[Text, ...] = ()
    circumstances: tuple[CircumstanceId, ...] = ()
    observables: tuple[Id, ...] = ()
    note: str | None = None

    @property
    def describes(self) -> str | None:
        """The class that is reported; None: a trouble outside all classes."""
        name = self.id.rpartition("/")[0]
        return None if name == OUTSIDE else name

    @property
    def whole(self) -> str:
        """The report with what was checked, as one text."""
        return "\n".join((self.text, *self.checked))


class AdjustmentItem(PackItem):
    """What a site pack changes on a class or an observable of another pack."""

    target: Id
    prior: float | None = Field(default=None, gt=0.0)
    status: ClassStatus | None = None
    phrases: tuple[Text, ...] = ()
    negated: tuple[Text, ...] = ()


class FittedNumbers(PackItem):
    """``fitted.yaml``: CAUSES strengths by ``cause>effect``, with the figures of the fit."""

    made_by: str
    figures: Mapping[str, float] = Field(default_factory=dict)
    causes: Mapping[str, Probability] = Field(default_factory=dict)


class PackContent(PackItem):
    """A whole pack."""

    header: PackHeader
    layers: tuple[LayerItem, ...] = ()
    mechanisms: tuple[MechanismItem, ...] = ()
    observables: tuple[ObservableItem, ...] = ()
    classes: tuple[ClassItem, ...] = ()
    checks: tuple[CheckItem, ...] = ()
    circumstances: tuple[CircumstanceItem, ...] = ()
    narratives: tuple[NarrativeItem, ...] = ()
    adjustments: tuple[AdjustmentItem, ...] = ()
    fitted: FittedNumbers | None = None
