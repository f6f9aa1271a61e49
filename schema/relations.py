"""The relationships of the graph: one frozen model per type, its pattern drawn above it.

``id`` of a relationship is built by :func:`relation_id` from its type and both ends, and is unique within the
type; that is what makes a MERGE safe on both engines. Fields other than ``id`` are its properties.
"""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from failgraph.schema.scales import Strength


def relation_id(relation_type: str, start: str, end: str) -> str:
    """Return the id of the relationship of this type between two nodes.

    >>> relation_id("CAUSES", "feed-lost", "node-power-off")
    'CAUSES:feed-lost>node-power-off'
    """
    return f"{relation_type}:{start}>{end}"


class Relation(BaseModel):
    """What every relationship has."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
    type: ClassVar[str]
    ends: ClassVar[tuple[tuple[str, str], ...]]

    id: str


class PackRelation(Relation):
    """A relationship that a knowledge pack owns."""

    pack: str


class LearntRelation(PackRelation):
    """A relationship whose number is learnt: shipped value, and counts for and against from incidents."""

    alpha: float | None = Field(default=None, description="learnt trials in which the target followed")
    beta: float | None = Field(default=None, description="learnt trials in which it did not")


# (:Mechanism)-[:AT]->(:Layer)
class At(PackRelation):
    """Where a mechanism happens."""

    type = "AT"
    ends = (("Mechanism", "Layer"),)


# (:Mechanism)-[:CAUSES]->(:Mechanism)
class Causes(LearntRelation):
    """How a mechanism spreads."""

    type = "CAUSES"
    ends = (("Mechanism", "Mechanism"),)
    strength: float = Field(description="probability that the cause alone brings the effect about; fitted")
    classes: tuple[str, ...] = Field(default=(), description="classes whose own chain has this step")


# (:Mechanism)-[:SHOWS]->(:Observable)
class Shows(LearntRelation):
    """The trace a mechanism leaves."""

    type = "SHOWS"
    ends = (("Mechanism", "Observable"),)
    strength: float = Field(description="probability that it is seen, where one looks, when active")
    word: Strength = Field(description="the expert's word that the strength comes from")
    because: str | None = None


# (:FailureClass)-[:EXPECTS]->(:Observable)
class Expects(PackRelation):
    """What a class leads one to see: derived from the structure when a pack is loaded, exact.

    ``probability`` is P(observable | class); ``word`` is what the expert said of the pair, if anything.
    """

    type = "EXPECTS"
    ends = (("FailureClass", "Observable"),)
    probability: float
    word: Strength | None = None


# (:Observable)-[:REFUTES]->(:FailureClass)
class Refutes(PackRelation):
    """What speaks against a class."""

    type = "REFUTES"
    ends = (("Observable", "FailureClass"),)
    when: str = Field(description="present or absent")
    because: str
    factor: float | None = Field(default=None, description="multiplies the class when present")


# (:Observable)-[:IMPLIES]->(:Observable)
class Implies(PackRelation):
    """A more specific finding that always also matches a broader one: they count once."""

    type = "IMPLIES"
    ends = (("Observable", "Observable"),)


# (:FailureClass)-[:ROOTED_IN]->(:Mechanism)
class RootedIn(PackRelation):
    """Where a class starts."""

    type = "ROOTED_IN"
    ends = (("FailureClass", "Mechanism"),)


# (:FailureClass)-[:SPECIALISES]->(:FailureClass)
class Specialises(PackRelation):
    """Kinship of classes."""

    type = "SPECIALISES"
    ends = (("FailureClass", "FailureClass"),)


# (:FailureClass or :Mechanism)-[:COMES_WITH]->(:Circumstance)
class ComesWith(LearntRelation):
    """What is usual around a class or mechanism."""

    type = "COMES_WITH"
    ends = (("FailureClass", "Circumstance"), ("Mechanism", "Circumstance"))
    probability: float


# (:FailureClass)-[:PRESENTS_AS]->(:Presentation)
class PresentsAs(PackRelation):
    """One face of a class."""

    type = "PRESENTS_AS"
    ends = (("FailureClass", "Presentation"),)


# (:Presentation)-[:INCLUDES]->(:Observable)
class Includes(PackRelation):
    """What a presentation shows."""

    type = "INCLUDES"
    ends = (("Presentation", "Observable"),)


# (:Presentation)-[:LACKS]->(:Observable)
class Lacks(PackRelation):
    """What a presentation does not show, or what is not collected there."""

    type = "LACKS"
    ends = (("Presentation", "Observable"),)


# (:Narrative)-[:DESCRIBES]->(:FailureClass)
class Describes(PackRelation):
    """How a class is reported."""

    type = "DESCRIBES"
    ends = (("Narrative", "FailureClass"),)


# (:Check)-[:REVEALS]->(:Observable or :Circumstance)
class Reveals(PackRelation):
    """How to find out."""

    type = "REVEALS"
    ends = (("Check", "Observable"), ("Check", "Circumstance"))


# (:FailureClass)-[:CHECKED_BY]->(:Check)
class CheckedBy(PackRelation):
    """A check that the class's expert names for it."""

    type = "CHECKED_BY"
    ends = (("FailureClass", "Check"),)


# (:FailureClass)-[:REPAIRED_BY]->(:Remedy)
class RepairedBy(PackRelation):
    """What to do."""

    type = "REPAIRED_BY"
    ends = (("FailureClass", "Remedy"),)


# (:FailureClass)-[:PREVENTED_BY]->(:Prevention)
class PreventedBy(PackRelation):
    """What stops it coming back."""

    type = "PREVENTED_BY"
    ends = (("FailureClass", "Prevention"),)


# (:FailureClass)-[:CITED_FROM]->(:Source)
class CitedFrom(PackRelation):
    """Provenance of a claim."""

    type = "CITED_FROM"
    ends = (("FailureClass", "Source"),)
    position: int = Field(description="order in the pack file, from 1")


# (:Pack)-[:ADJUSTS]->(:FailureClass or :Observable)
class Adjusts(PackRelation):
    """What a site pack changes on a node of another pack; readers apply it over the node's own values."""

    type = "ADJUSTS"
    ends = (("Pack", "FailureClass"), ("Pack", "Observable"))
    prior: float | None = None
    status: str | None = None
    phrases: tuple[str, ...] = ()
    negated: tuple[str, ...] = ()


# (:Incident)-[:FOUND]->(:Observable or :Circumstance)
class Found(Relation):
    """One line of an incident's evidence ledger."""

    type = "FOUND"
    ends = (("Incident", "Observable"), ("Incident", "Circumstance"))
    space: str = "default"
    state: str
    confidence: float
    coverage: float
    first: str | None = None
    last: str | None = None
    count: int = 1


# (:Incident)-[:INSTANCE_OF]->(:FailureClass)
class InstanceOf(Relation):
    """The confirmed cause of an incident."""

    type = "INSTANCE_OF"
    ends = (("Incident", "FailureClass"),)
    space: str = "default"
    confirmed_by: str
    at: str | None = None


# (:Incident)-[:INVOLVES]->(:Entity)
class Involves(Relation):
    """Who was hit, and in which role."""

    type = "INVOLVES"
    ends = (("Incident", "Entity"),)
    space: str = "default"
    role: str


# (:Incident)-[:HOLDS]->(:Artefact)
class Holds(Relation):
    """A file of an incident."""

    type = "HOLDS"
    ends = (("Incident", "Artefact"),)
    space: str = "default"


# (:Entity)-[:PART_OF]->(:Entity)
class PartOf(Relation):
    """Topology: containment."""

    type = "PART_OF"
    ends = (("Entity", "Entity"),)
    space: str = "default"


# (:Entity)-[:CONNECTED_TO]->(:Entity)
class ConnectedTo(Relation):
    """Topology: a link."""

    type = "CONNECTED_TO"
    ends = (("Entity", "Entity"),)
    space: str = "default"


RELATIONS: tuple[type[Relation], ...] = (
    At,
    Causes,
    Shows,
    Expects,
    Refutes,
    Implies,
    RootedIn,
    Specialises,
    ComesWith,
    PresentsAs,
    Includes,
    Lacks,
    Describes,
    Reveals,
    CheckedBy,
    RepairedBy,
    PreventedBy,
    CitedFrom,
    Adjusts,
    Found,
    InstanceOf,
    Involves,
    Holds,
    PartOf,
    ConnectedTo,
)
"""Every relationship model."""

RELATION_TYPES: frozenset[str] = frozenset(model.type for model in RELATIONS)


def relation_properties(relation_type: str) -> frozenset[str]:
    """Return the property names a relationship of this type may have (empty: no such type)."""
    return frozenset(
        name for model in RELATIONS if model.type == relation_type for name in model.model_fields
    )
