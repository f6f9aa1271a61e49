"""The nodes of the graph: one frozen model per label, and with it every property a node may have.

``labels`` of a model are its labels in the graph; each model's fields are the node's properties. Property
values are strings, numbers, booleans or lists of strings: both engines store those alike. A field that is None
(or an empty list) is not stored. ``pack`` names the pack that owns the node.
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from failgraph.schema.scales import Specificity


class ObservableKind(StrEnum):
    """Where an observable shows itself: to a person (behaviour) or to an instrument (the others)."""

    BEHAVIOUR = "behaviour"
    LOG = "log"
    EVENT = "event"
    METRIC = "metric"


class ClassKind(StrEnum):
    """A fault needs a repair; a benign class looks like a fault and is none."""

    FAULT = "fault"
    BENIGN = "benign"


class ClassStatus(StrEnum):
    """Only accepted classes compete in a match."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    RETIRED = "retired"


class CheckCost(StrEnum):
    """What a check costs; drain: a node, link or job is out of service meanwhile."""

    SECONDS = "seconds"
    MINUTES = "minutes"
    HOURS = "hours"
    DRAIN = "drain"


class IncidentStatus(StrEnum):
    """What is known of an incident's cause."""

    OPEN = "open"
    CONFIRMED = "confirmed"
    UNEXPLAINED = "unexplained"


class Node(BaseModel):
    """What every node has: a string id that is unique within its first label."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
    labels: ClassVar[tuple[str, ...]]

    id: str = Field(min_length=1, description="stable id")


class PackNode(Node):
    """A node that a knowledge pack owns."""

    pack: str = Field(description="id of the pack that owns the node")
    note: str | None = Field(default=None, description="a remark for editors")


class Pack(Node):
    """(:Pack): a loaded knowledge pack."""

    labels = ("Pack",)
    name: str
    revision: int
    summary: str
    requires: tuple[str, ...] = ()
    checksum: str = Field(description="sha256 over the canonical files; a load of the same changes nothing")
    fitted: str | None = Field(
        default=None, description="what its fitted.yaml says, as JSON; CAUSES.strength is taken from here"
    )


class Catalogue(Node):
    """(:Catalogue): one node, id ``catalogue``, that counts the changes of the loaded knowledge.

    Every load raises ``generation`` and ends when somebody else raised it meanwhile, so two loads never mix.
    """

    labels = ("Catalogue",)
    generation: int


class Layer(PackNode):
    """(:Layer): one of the twelve layers, from the facility up to the job."""

    labels = ("Layer",)
    name: str
    rank: int = Field(description="1 is the lowest")


class Mechanism(PackNode):
    """(:Mechanism): one step of a causal process."""

    labels = ("Mechanism",)
    name: str
    summary: str | None = None


class Observable(PackNode):
    """What Symptom and Evidence share; never stored by itself."""

    labels: ClassVar[tuple[str, ...]] = ("Observable",)
    kind: ObservableKind
    topic: str = Field(default="general", description="the pack file that defines it")
    says: str = Field(description="plain meaning")
    source: str = Field(description="where it is seen")
    signature: str = Field(
        description="log, event: regular expression (RE2); metric: expression; behaviour: prose"
    )
    multiline: bool | None = Field(default=None, description="the signature spans lines of one block")
    specificity: Specificity
    leak: float = Field(description="probability that it is seen although nothing that shows it is active")
    verified: bool = Field(description="the exact text or counter name was seen in source or a real log")
    verification: str | None = None
    seen_in: str | None = None
    because: str | None = Field(default=None, description="why its mechanisms show it")
    phrases: tuple[str, ...] = Field(default=(), description="how engineers write that it is there")
    negated: tuple[str, ...] = Field(
        default=(), description="how they write that they looked and it is not there"
    )
    examples: tuple[str, ...] = Field(default=(), description="lines the signature must match")
    not_examples: tuple[str, ...] = Field(default=(), description="lines it must not match")
    metric: str | None = Field(default=None, description="the parsed metric signature, as JSON")


class Symptom(Observable):
    """(:Observable:Symptom): what a person complains about; kind behaviour."""

    labels = ("Observable", "Symptom")


class Evidence(Observable):
    """(:Observable:Evidence): what an instrument shows; kinds log, event, metric."""

    labels = ("Observable", "Evidence")


class FailureClass(PackNode):
    """(:FailureClass): a named cause."""

    labels = ("FailureClass",)
    name: str
    summary: str
    kind: ClassKind = ClassKind.FAULT
    status: ClassStatus = ClassStatus.ACCEPTED
    revision: int = 1
    prior: float = Field(default=1.0, description="relative base rate, mean 1 over the core pack")
    aliases: tuple[str, ...] = Field(default=(), description="older ids that still name this class")


class Presentation(PackNode):
    """(:Presentation): one of the faces a class can show; id is ``class-id/name-in-kebab-case``."""

    labels = ("Presentation",)
    name: str
    description: str


class Circumstance(PackNode):
    """(:Circumstance): how, where and when it happens and what helps; id is ``dimension.value``."""

    labels = ("Circumstance",)
    dimension: str
    means: str
    phrases: tuple[str, ...] = ()
    not_phrases: tuple[str, ...] = Field(
        default=(), description="sentences that look alike and do not state it"
    )
    base_rate: float | None = None


class Narrative(PackNode):
    """(:Narrative): how an incident of a class may first be reported; written, never an incident."""

    labels = ("Narrative",)
    topic: str = "general"
    text: str
    style: str | None = None
    presentation: str | None = None
    checked: tuple[str, ...] = ()
    circumstances: tuple[str, ...] = Field(default=(), description="ids of what the writer says it states")
    observables: tuple[str, ...] = Field(default=(), description="ids of what the writer says it shows")


class Check(PackNode):
    """(:Check): a command or a look that reveals evidence."""

    labels = ("Check",)
    topic: str = Field(default="general", description="the pack file that defines it")
    command: str
    where: str
    needs: str
    cost: CheckCost
    safe: bool = Field(description="does not disturb a job on the same node, link or allocation")
    read_it: str = Field(description="how to read the result")


class Remedy(PackNode):
    """(:Remedy): what repairs a class; id is ``class-id/remedy/N``."""

    labels = ("Remedy",)
    text: str


class Prevention(PackNode):
    """(:Prevention): what stops a class coming back; id is ``class-id/prevention/N``."""

    labels = ("Prevention",)
    text: str


class Source(PackNode):
    """(:Source): where a piece of knowledge comes from; the id is a hash of pack and locator."""

    labels = ("Source",)
    locator: str
    title: str | None = None


class Incident(Node):
    """(:Incident): one real event."""

    labels = ("Incident",)
    space: str = "default"
    title: str
    status: IncidentStatus = IncidentStatus.OPEN
    opened: str | None = Field(default=None, description="ISO 8601, UTC")
    closed: str | None = None
    context: str | None = Field(default=None, description="JSON object")
    checksum: str | None = Field(default=None, description="sha256 of what was added")


class Artefact(Node):
    """(:Artefact): one ingested file of an incident."""

    labels = ("Artefact",)
    space: str = "default"
    sha256: str
    kind: str
    host: str | None = None
    first: str | None = None
    last: str | None = None
    truncated: bool = False


class Entity(Node):
    """(:Entity): a rank, gpu, nic, host, switch, rack, image ... of a site."""

    labels = ("Entity",)
    space: str = "default"
    kind: str
    name: str


class Migration(Node):
    """(:Migration): one applied migration, with its checksum."""

    labels = ("Migration",)
    name: str
    checksum: str
    applied: str = Field(description="ISO 8601, UTC")


NODES: tuple[type[Node], ...] = (
    Layer,
    Mechanism,
    Symptom,
    Evidence,
    FailureClass,
    Presentation,
    Circumstance,
    Narrative,
    Check,
    Remedy,
    Prevention,
    Source,
    Pack,
    Catalogue,
    Incident,
    Artefact,
    Entity,
    Migration,
)
"""Every node model whose instances are stored."""

LABELS: frozenset[str] = frozenset(label for model in NODES for label in model.labels)


def node_properties(label: str) -> frozenset[str]:
    """Return the property names a node with this label may have (empty: no such label)."""
    return frozenset(name for model in NODES if label in model.labels for name in model.model_fields)
