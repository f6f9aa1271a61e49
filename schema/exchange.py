"""What goes into a match and what comes out: the same models for command line, API and library.

Times are ISO 8601 strings in UTC. Probabilities are within 0 and 1, log ratios are natural logarithms.
An :class:`Answer` holds no clock time, no duration and no absolute path; :func:`to_json` rounds its floats to
nine significant digits, so the same input gives the same bytes on every engine and matcher.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, model_validator

SCHEMA_VERSION: Final = 1
SIGNIFICANT_DIGITS: Final = 9


class Exchange(BaseModel):
    """What all exchange models share: frozen, and unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class State(StrEnum):
    """The five states of a finding."""

    PRESENT = "present"
    ABSENT = "absent"
    NOT_CHECKED = "not_checked"
    COULD_NOT_CHECK = "could_not_check"
    STALE = "stale"


class Where(Exchange):
    """One place a finding was read: the file relative to the argument, and what the line itself tells."""

    file: str
    line: int | None = Field(default=None, ge=1)
    quote: str | None = Field(default=None, description="the masked line or clause, shortened")
    time: str | None = None
    host: str | None = None
    rank: int | None = None
    device: str | None = Field(default=None, description="PCI address, interface, GPU index as printed")


class FindingInput(Exchange):
    """A finding as somebody hands it in: an observable or a circumstance, and how it stands."""

    observable: str | None = None
    circumstance: str | None = None
    state: State = State.PRESENT
    confidence: float = Field(default=1.0, gt=0.0, le=1.0, description="chance that it was read right")
    coverage: float = Field(
        default=1.0, ge=0.0, le=1.0, description="share of the affected fleet and window looked at"
    )
    count: int = Field(default=1, ge=1)
    first: str | None = None
    last: str | None = None
    where: tuple[Where, ...] = ()

    @model_validator(mode="after")
    def _names_one_thing(self) -> FindingInput:
        if (self.observable is None) == (self.circumstance is None):
            raise ValueError("a finding names either an observable or a circumstance")
        return self

    @property
    def subject(self) -> str:
        """The id of the observable or circumstance."""
        return self.observable or self.circumstance or ""


class Finding(FindingInput):
    """A finding in an answer; ``id`` is unique within it."""

    id: str


class Change(Exchange):
    """Something that changed at the site before the incident."""

    at: str | None = None
    what: str


class Context(Exchange):
    """What is known around an incident."""

    model_config = ConfigDict(frozen=True, extra="allow")
    changes: tuple[Change, ...] = ()


class Window(Exchange):
    """The time that belongs to the incident; findings outside are stale."""

    start: str
    end: str


class MatchInput(Exchange):
    """The body of ``failgraph match -`` and ``POST /v1/match``."""

    schema_version: int = SCHEMA_VERSION
    incident: str | None = Field(default=None, description="a name for the answer")
    findings: tuple[FindingInput, ...] = ()
    circumstances: tuple[FindingInput, ...] = ()
    context: Context = Context()
    text: str | None = Field(default=None, description="prose to be read for findings")
    window: Window | None = None

    @model_validator(mode="after")
    def _knows_version(self) -> MatchInput:
        if self.schema_version != SCHEMA_VERSION:
            raise ValueError(
                f"schema_version {self.schema_version} is not known; this version reads {SCHEMA_VERSION}"
            )
        return self


class Suggestion(Exchange):
    """A near but too weak attachment."""

    observable: str
    score: float


class Unattached(Exchange):
    """A statement that could not be attached to anything known, with the nearest observables."""

    text: str
    where: Where
    nearest: tuple[Suggestion, ...] = ()


class Reading(Exchange):
    """What one file was taken for, and what it could have told."""

    file: str
    kind: str
    lines: int = 0
    first: str | None = None
    last: str | None = None
    complete: bool = Field(default=False, description="silence of this file is evidence")
    truncated: bool = False
    problem: str | None = Field(default=None, description="why it, or a part, could not be read")


class Incident(Exchange):
    """One incident as read, before any match."""

    id: str | None = None
    title: str | None = None
    findings: tuple[Finding, ...] = ()
    unattached: tuple[Unattached, ...] = ()
    readings: tuple[Reading, ...] = ()
    text: str | None = Field(
        default=None, description="what was told, masked: notes, prose and short excerpts"
    )
    context: Context = Context()
    window: Window | None = None
    assumed_timezone: str | None = Field(default=None, description="set when a source had no zone")


class HopState(StrEnum):
    """How far a hop of a path rests on what was seen."""

    OBSERVED = "observed"
    INFERRED = "inferred"
    MISSING = "missing"


class Hop(Exchange):
    """One step of a causal path; ``relation`` is CAUSES or SHOWS."""

    start: str = Field(alias="from")
    end: str = Field(alias="to")
    relation: str
    state: HopState
    findings: tuple[str, ...] = ()

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Support(Exchange):
    """One line of a class's ledger: a finding (or an expected one that is missing) and its weight.

    ``log_ratio`` is the natural logarithm of how much the finding changed the class's likelihood against its
    base rate, given all the other findings; below 0 it speaks against.
    """

    observable: str | None = None
    circumstance: str | None = None
    finding: str | None = None
    log_ratio: float
    because: str | None = None


class CheckHint(Exchange):
    """A check to make, how to run it and how to read it."""

    id: str
    command: str
    cost: str
    safe: bool
    read_it: str
    reveals: tuple[str, ...] = ()


class Terms(Exchange):
    """The parts of a class's score, as natural logarithms; terms of later work are absent."""

    prior: float
    structure: float
    refuters: float = 0.0
    circumstances: float | None = None
    text: float | None = None


class Hypothesis(Exchange):
    """One failure class in an answer. Only the first ten carry path, ledger, checks and remedies."""

    class_id: str
    name: str
    layer: str
    kind: str
    probability: float
    terms: Terms
    path: tuple[Hop, ...] = ()
    supporting: tuple[Support, ...] = ()
    refuting: tuple[Support, ...] = ()
    missing: tuple[Support, ...] = ()
    checks: tuple[CheckHint, ...] = ()
    words: tuple[str, ...] = Field(
        default=(), description="words of the report that weighed most for the class"
    )
    remedies: tuple[str, ...] = ()
    preventions: tuple[str, ...] = ()


class Unknown(Exchange):
    """The hypothesis that no known class is the cause."""

    probability: float
    reason: str


class Contrast(Exchange):
    """What tells the best class from the runner-up, and the finding that would turn them."""

    best: str
    other: str
    differing: tuple[Support, ...] = Field(default=(), description="log_ratio: of the best against the other")
    flip: str | None = Field(default=None, description="observable whose presence or absence turns the order")
    flip_state: State | None = None


class SimilarIncident(Exchange):
    """A stored incident that shares findings; score is the sum of the shared findings' rarity."""

    incident: str
    title: str
    score: float
    shared: tuple[str, ...]
    causes: tuple[str, ...] = ()


class QueryUsed(Exchange):
    """The Cypher behind a panel: name of the shipped query and its parameters."""

    name: str
    parameters: dict[str, Any]


class Verdict(StrEnum):
    """What automation may act on."""

    EXPLAINED = "explained"
    AMBIGUOUS = "ambiguous"
    UNKNOWN = "unknown"


class Answer(Exchange):
    """The answer of a match; the same from every surface."""

    schema_version: int = SCHEMA_VERSION
    incident: str | None = None
    title: str | None = None
    verdict: Verdict
    threshold: float
    hypotheses: tuple[Hypothesis, ...]
    unknown: Unknown
    contrast: Contrast | None = None
    next_checks: tuple[CheckHint, ...] = Field(
        default=(),
        description="checks of the best class and the runner-up that tell them apart best for their cost",
    )
    findings: tuple[Finding, ...] = ()
    unexplained: tuple[str, ...] = Field(
        default=(), description="ids of findings the best class does not explain"
    )
    unattached: tuple[Unattached, ...] = ()
    readings: tuple[Reading, ...] = ()
    similar: tuple[SimilarIncident, ...] = ()
    queries: tuple[QueryUsed, ...] = ()
    approximations: tuple[str, ...] = ()
    context: Context = Context()
    assumed_timezone: str | None = None


def round_floats(value: Any) -> Any:
    """Return the value with every float rounded to nine significant digits.

    >>> round_floats({"p": 0.12345678949})
    {'p': 0.123456789}
    """
    if isinstance(value, float):
        return float(f"{value:.{SIGNIFICANT_DIGITS}g}")
    if isinstance(value, dict):
        return {key: round_floats(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [round_floats(item) for item in value]
    return value


def to_json(model: Exchange) -> str:
    """Return the canonical JSON of an exchange model: fixed key order, rounded floats, one final newline."""
    data = round_floats(model.model_dump(mode="json", by_alias=True))
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


def json_schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schemas of what failgraph takes and gives, by file stem."""
    return {
        "match-input": MatchInput.model_json_schema(by_alias=True),
        "answer": Answer.model_json_schema(by_alias=True),
        "incident": Incident.model_json_schema(by_alias=True),
    }
