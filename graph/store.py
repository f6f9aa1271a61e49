"""Rows of the shipped queries as typed values: what a match needs to know, one function a question.

No logic beyond shaping: what is ranked, weighed or explained is decided in ``match`` and ``explain``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from failgraph.graph.client import Client
from failgraph.graph.network import Network
from failgraph.schema.exchange import CheckHint, SimilarIncident
from failgraph.schema.lexicon import Lexicon, LexiconEntry
from failgraph.schema.nodes import ObservableKind
from failgraph.schema.scales import Specificity


def lexicon(client: Client) -> Lexicon:
    """Return all observables of the loaded packs, as readers of artefacts and prose see them."""
    entries = tuple(
        LexiconEntry(
            id=row["id"],
            kind=ObservableKind(row["kind"]),
            says=row["says"],
            source=row["source"],
            signature=row["signature"],
            specificity=Specificity(row["specificity"]),
            multiline=bool(row["multiline"]),
            phrases=tuple(row["phrases"]),
            negated=tuple(row["negated"]),
            implies=tuple(sorted(row["implies"])),
        )
        for row in sorted(client.read("lexicon"), key=lambda row: str(row["id"]))
    )
    digest = hashlib.sha256(repr(entries).encode()).hexdigest()
    return Lexicon(entries=entries, checksum=digest)


@dataclass(frozen=True)
class ClassHead:
    """What every accepted class brings to a match."""

    id: str
    name: str
    kind: str
    prior: float
    root: str
    layer: str
    aliases: tuple[str, ...]


@dataclass(frozen=True)
class ObservableHead:
    """What an observable brings to a match."""

    id: str
    leak: float
    specificity: str
    kind: str


@dataclass(frozen=True)
class Refuter:
    """One REFUTES relationship."""

    observable: str
    class_id: str
    when: str
    because: str
    factor: float | None


@dataclass(frozen=True)
class Subgraph:
    """What exact inference needs for a set of observables; all tuples are ordered by id."""

    classes: tuple[ClassHead, ...]
    layers: Mapping[str, str]
    network: Network
    observables: Mapping[str, ObservableHead]
    expects: Mapping[tuple[str, str], float]
    refuters: tuple[Refuter, ...]
    implies: tuple[tuple[str, str], ...]
    because: Mapping[tuple[str, str], str]

    def probability(self, class_id: str, observable: str) -> float:
        """Return P(observable is seen | class): the stored value, else the observable's leak."""
        return self.expects.get((class_id, observable), self.observables[observable].leak)


def subgraph(client: Client, observables: Iterable[str]) -> Subgraph:
    """Return what a match of these observables needs, in one round trip; unknown ids are left out."""
    row = client.read("match_subgraph", observables=sorted(set(observables)))[0]
    classes = tuple(
        ClassHead(
            id=item["id"],
            name=item["name"],
            kind=item["kind"],
            prior=float(item["prior"]),
            root=item["root"],
            layer=item["layer"],
            aliases=tuple(item["aliases"] or ()),
        )
        for item in sorted(row["classes"], key=lambda item: str(item["id"]))
    )
    layers = dict(sorted(tuple(item) for item in row["mechanisms"]))
    causes = tuple(sorted((item[0], item[1], float(item[2])) for item in row["causes"]))
    return _subgraph(row, classes, layers, causes)


def widened(client: Client, knowledge: Subgraph, observables: Iterable[str]) -> Subgraph:
    """Return what :func:`subgraph` returns for these observables, with the classes and steps that are known.

    Args:
        client: the database.
        knowledge: a subgraph for other observables.
        observables: all that are wanted now; unknown ids are left out.
    """
    row = client.read("match_observables", observables=sorted(set(observables)))[0]
    return _subgraph(row, knowledge.classes, knowledge.layers, knowledge.network.causes)


def _subgraph(
    row: Mapping[str, Any],
    classes: tuple[ClassHead, ...],
    layers: Mapping[str, str],
    causes: tuple[tuple[str, str, float], ...],
) -> Subgraph:
    """Join what is true of all matches with what a row says of some observables."""
    shows = sorted(tuple(item) for item in row["shows"])
    leaks = sorted(tuple(item) for item in row["leaks"])
    return Subgraph(
        classes=classes,
        layers=layers,
        network=Network(
            causes=causes,
            shows=tuple((item[0], item[1], float(item[2])) for item in shows),
            leaks={item[0]: float(item[1]) for item in leaks},
        ),
        observables={
            item[0]: ObservableHead(id=item[0], leak=float(item[1]), specificity=item[2], kind=item[3])
            for item in leaks
        },
        expects={
            (item[0], item[1]): float(item[2]) for item in sorted(tuple(entry) for entry in row["expects"])
        },
        refuters=tuple(
            Refuter(item[0], item[1], item[2], item[3], None if item[4] is None else float(item[4]))
            for item in sorted(row["refutes"], key=lambda item: (item[0], item[1], item[2]))
        ),
        implies=tuple(sorted((item[0], item[1]) for item in row["implies"])),
        because={(item[0], item[1]): item[3] for item in shows if len(item) > 3 and item[3]},
    )


@dataclass(frozen=True)
class ClassDetails:
    """What the answer shows of one class beside its score."""

    summary: str
    chain: frozenset[tuple[str, str]]
    expects: Mapping[str, float]
    checks: tuple[CheckHint, ...]
    remedies: tuple[str, ...]
    preventions: tuple[str, ...]


def class_details(client: Client, class_ids: Sequence[str]) -> Mapping[str, ClassDetails]:
    """Return the details of these classes by id."""
    rows = client.read("class_details", class_ids=list(class_ids))
    return {
        row["class_id"]: ClassDetails(
            summary=row["summary"],
            chain=frozenset((step[0], step[1]) for step in row["chain"]),
            expects={item[0]: float(item[1]) for item in row["expects"]},
            checks=tuple(
                CheckHint(
                    id=check["id"],
                    command=check["command"],
                    cost=check["cost"],
                    safe=bool(check["safe"]),
                    read_it=check["read_it"],
                    reveals=tuple(sorted(check["reveals"])),
                )
                for check in sorted(row["checks"], key=lambda check: str(check["id"]))
            ),
            remedies=tuple(row["remedies"]),
            preventions=tuple(row["preventions"]),
        )
        for row in rows
    }


def similar_incidents(
    client: Client, observables: Sequence[str], spaces: Sequence[str], exclude: str | None = None
) -> tuple[SimilarIncident, ...]:
    """Return stored incidents that share present findings, most telling first."""
    rows = client.read(
        "similar_incidents", observables=list(observables), spaces=list(spaces), exclude=exclude
    )
    return tuple(
        SimilarIncident(
            incident=row["incident_id"],
            title=row["title"],
            score=row["score"],
            shared=tuple(sorted(row["shared"])),
            causes=tuple(sorted(row["causes"])),
        )
        for row in rows
    )


def put_incident(client: Client, incident: Mapping[str, Any], findings: Sequence[Mapping[str, Any]]) -> None:
    """Store one incident with its evidence ledger; the same id again replaces nothing and adds nothing."""
    client.write("incident_put", incident=dict(incident), findings=[dict(finding) for finding in findings])
