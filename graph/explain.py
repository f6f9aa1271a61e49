"""From a ranking to an answer: path, ledger, contrast and checks of a class. Pure.

Everything here only says what the ranking rests on; nothing here changes a probability.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from failgraph.graph.network import Network, best_path
from failgraph.graph.score import refuter_logs
from failgraph.graph.store import ClassDetails, ClassHead, Refuter, Subgraph
from failgraph.schema.exchange import CheckHint, Finding, Hop, HopState, State, Support
from failgraph.schema.scales import EXPECTED_FROM

NOTEWORTHY = 0.05
"""A log ratio nearer to 0 than this says nothing either way."""
EXPLAINS_FROM = 1.5
"""A class explains a present finding when it makes it at least this many times as likely as chance."""
OBSERVED_FROM = 0.5
"""A hop counts as observed when its finding was read right with at least this chance; else it is inferred."""
COST_WEIGHT: Mapping[str, float] = {"seconds": 1.0, "minutes": 3.0, "hours": 12.0, "drain": 40.0}
"""How much information a check must bring to be worth its cost, relative to a look of seconds (judgement)."""
CHECKS_SHOWN = 5


@dataclass(frozen=True)
class Ledger:
    """What speaks for and against one class, and what it leads one to expect but nobody has seen."""

    supporting: tuple[Support, ...]
    refuting: tuple[Support, ...]
    missing: tuple[Support, ...]


def _present_by_observable(
    findings: Iterable[Finding], least_confidence: float = 0.0
) -> Mapping[str, tuple[str, ...]]:
    """Return the ids of the present findings of each observable that were read well enough."""
    found: dict[str, list[str]] = {}
    for finding in findings:
        if (
            finding.observable is not None
            and finding.state is State.PRESENT
            and finding.confidence >= least_confidence
        ):
            found.setdefault(finding.observable, []).append(finding.id)
    return {observable: tuple(sorted(ids)) for observable, ids in sorted(found.items())}


def speaking(findings: Iterable[Finding]) -> Mapping[str, Finding]:
    """Return the finding that stands for each observable in a ledger: present before absent, then by id."""
    standing: dict[str, Finding] = {}
    for finding in sorted(findings, key=lambda item: (item.state is not State.PRESENT, item.id)):
        if finding.observable is not None and finding.state in (State.PRESENT, State.ABSENT):
            standing.setdefault(finding.observable, finding)
    return standing


def explains(knowledge: Subgraph, class_id: str, observable: str) -> bool:
    """Tell whether the class makes the observable clearly more likely than chance does."""
    leak = knowledge.observables[observable].leak
    return knowledge.probability(class_id, observable) >= EXPLAINS_FROM * leak


def expected_unseen(details: ClassDetails, findings: Sequence[Finding]) -> tuple[str, ...]:
    """Return what the class leads one to expect and nobody has found, most expected first."""
    seen = {finding.observable for finding in findings if finding.state in (State.PRESENT, State.ABSENT)}
    unseen = [
        (-probability, observable)
        for observable, probability in details.expects.items()
        if probability >= EXPECTED_FROM and observable not in seen
    ]
    return tuple(observable for _, observable in sorted(unseen))


def causal_path(
    head: ClassHead, details: ClassDetails, knowledge: Subgraph, findings: Sequence[Finding]
) -> tuple[Hop, ...]:
    """Return the hops from the class's root to each trace it explains or leads one to expect.

    A hop is *observed* when its target is an observable that was found present and read well enough
    (``OBSERVED_FROM``), or a mechanism that shows one; *missing* when its target was expected (at least
    ``EXPECTED_FROM``) and is absent or was not checked; else *inferred*. Hops come in causal order, each once.
    """
    present = _present_by_observable(findings)
    sure = _present_by_observable(findings, OBSERVED_FROM)
    absent = {f.observable for f in findings if f.observable is not None and f.state is State.ABSENT}
    unseen = set(expected_unseen(details, findings))
    targets = [
        observable
        for observable in sorted(set(present) | absent | unseen)
        if observable in knowledge.observables
        and (
            explains(knowledge, head.id, observable)
            if observable in present
            else details.expects.get(observable, 0.0) >= EXPECTED_FROM
        )
    ]
    shown = _shown_findings(knowledge.network, sure)
    hops: dict[tuple[str, str], Hop] = {}
    for target in sorted(targets, key=lambda observable: (observable not in present, observable)):
        for start, end, relation in best_path(knowledge.network, head.root, target, details.chain):
            if relation == "SHOWS":
                ids = sure.get(end, ())
                unsure = HopState.INFERRED if end in present else HopState.MISSING
                state = HopState.OBSERVED if ids else unsure
            else:
                ids = shown.get(end, ())
                state = HopState.OBSERVED if ids else HopState.INFERRED
            hops.setdefault(
                (start, end),
                Hop.model_validate(
                    {"from": start, "to": end, "relation": relation, "state": state, "findings": ids}
                ),
            )
    return _in_causal_order(head.root, list(hops.values()))


def _shown_findings(
    network: Network, present: Mapping[str, tuple[str, ...]]
) -> Mapping[str, tuple[str, ...]]:
    shown: dict[str, set[str]] = {}
    for mechanism, observable, _ in network.shows:
        shown.setdefault(mechanism, set()).update(present.get(observable, ()))
    return {mechanism: tuple(sorted(ids)) for mechanism, ids in shown.items()}


def _in_causal_order(root: str, hops: Sequence[Hop]) -> tuple[Hop, ...]:
    """Walk from the root depth first, traces of a mechanism before what it causes."""
    following: dict[str, list[Hop]] = {}
    for hop in hops:
        following.setdefault(hop.start, []).append(hop)
    ordered: list[Hop] = []
    seen: set[tuple[str, str]] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        nexts = sorted(
            following.get(node, ()),
            key=lambda hop: (hop.relation == "CAUSES", hop.state is HopState.MISSING, hop.end),
        )
        fresh = [hop for hop in nexts if (hop.start, hop.end) not in seen]
        ordered += fresh
        seen.update((hop.start, hop.end) for hop in fresh)
        stack += [hop.end for hop in reversed(fresh) if hop.relation == "CAUSES"]
    return tuple(ordered)


def ledger(
    head: ClassHead,
    details: ClassDetails,
    knowledge: Subgraph,
    findings: Sequence[Finding],
    gains: Mapping[str, float],
    base_rates: Mapping[str, float],
) -> Ledger:
    """Return what speaks for and against a class.

    Args:
        head: the class.
        details: its details.
        knowledge: subgraph that covers the findings and what the class expects.
        findings: all findings of the incident.
        gains: natural log of how much each scored observable changed the class's likelihood against its base
            rate, given all other findings.
        base_rates: probability of each observable over all classes.
    """
    by_observable = speaking(findings)
    supporting: list[Support] = []
    refuting: list[Support] = []
    refuted: dict[str, Refuter] = {
        refuter.observable: refuter
        for refuter in knowledge.refuters
        if refuter.class_id == head.id
        and refuter.observable in by_observable
        and by_observable[refuter.observable].state.value == refuter.when
    }
    for observable, finding in sorted(by_observable.items()):
        gain = gains.get(observable, 0.0)
        refuter = refuted.get(observable)
        because = refuter.because if refuter else None
        if refuter and refuter.when == "present":
            # The ranking takes a present refuter beside the structure; the line says the whole effect.
            gain += refuter_logs([(head.id, refuter.factor, finding.confidence)])[head.id]
        line = Support(observable=observable, finding=finding.id, log_ratio=gain, because=because)
        if because is not None or gain < -NOTEWORTHY:
            refuting.append(line)
        elif gain > NOTEWORTHY:
            why = _why(head, details, knowledge, observable)
            supporting.append(line.model_copy(update={"because": why}))
    missing = [
        Support(
            observable=observable,
            finding=None,
            log_ratio=math.log(details.expects[observable] / base_rates[observable]),
        )
        for observable in expected_unseen(details, findings)
        if observable in base_rates
    ]
    return Ledger(
        supporting=tuple(sorted(supporting, key=lambda line: (-line.log_ratio, line.observable or ""))),
        refuting=tuple(sorted(refuting, key=lambda line: (line.log_ratio, line.observable or ""))),
        missing=tuple(sorted(missing, key=lambda line: (-line.log_ratio, line.observable or ""))),
    )


def _why(head: ClassHead, details: ClassDetails, knowledge: Subgraph, observable: str) -> str | None:
    """Return the expert's reason for the last hop to the observable, if one is stored."""
    path = best_path(knowledge.network, head.root, observable, details.chain)
    return knowledge.because.get((path[-1][0], observable)) if path else None


def worthwhile_checks(
    best: ClassDetails, other: ClassDetails | None, findings: Sequence[Finding], leaks: Mapping[str, float]
) -> tuple[CheckHint, ...]:
    """Return the checks of a class that tell most against its rival, for their cost.

    The worth of a check is the sum, over what it reveals and nobody has looked at, of how far the probabilities
    under both classes lie apart (under chance, where there is no rival), divided by the weight of its cost.
    """
    return _by_worth(best.checks, best, other, findings, leaks)


def next_checks(
    best: ClassDetails, other: ClassDetails | None, findings: Sequence[Finding], leaks: Mapping[str, float]
) -> tuple[CheckHint, ...]:
    """Return the checks of two classes together that tell most between them, for their cost; each once."""
    both = {check.id: check for check in (*best.checks, *(other.checks if other else ()))}
    return _by_worth(both.values(), best, other, findings, leaks)


def _by_worth(
    checks: Iterable[CheckHint],
    best: ClassDetails,
    other: ClassDetails | None,
    findings: Sequence[Finding],
    leaks: Mapping[str, float],
) -> tuple[CheckHint, ...]:
    """Return the checks that are worth anything, those that tell most for their cost first."""
    known = {f.observable for f in findings if f.state in (State.PRESENT, State.ABSENT)}

    def worth(check: CheckHint) -> float:
        apart = 0.0
        for observable in check.reveals:
            if observable in known:
                continue
            leak = leaks.get(observable, 0.0)
            rival = other.expects.get(observable, leak) if other else leak
            apart += abs(best.expects.get(observable, leak) - rival)
        return apart / COST_WEIGHT[check.cost]

    ranked = sorted(((-worth(check), check.id, check) for check in checks), key=lambda item: item[:2])
    return tuple(check for negative, _, check in ranked if negative < 0)[:CHECKS_SHOWN]
