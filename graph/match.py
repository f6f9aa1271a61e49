"""One incident in, one answer out: the only door to a match, for every surface.

``match`` asks the graph for what the findings touch, weighs every accepted class exactly, and assembles the
answer. Pure parts live elsewhere: ``infer`` (structure), ``score`` (combination), ``explain`` (panels).
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from failgraph.graph import explain, infer, score, store
from failgraph.graph.client import Client
from failgraph.schema.errors import UsageError
from failgraph.schema.exchange import (
    Answer,
    Contrast,
    Finding,
    Hypothesis,
    Incident,
    QueryUsed,
    State,
    Support,
    Unknown,
)
from failgraph.schema.witness import TextWitness

DETAILED = 10
"""So many hypotheses carry path, ledger, checks and remedies."""
FLIP_CANDIDATES = 3
"""So many unseen observables are tried exactly as the finding that would turn best and runner-up."""
DIFFERING_SHOWN = 5
SIGNED_KINDS = ("log", "event")
SIGNED_CONFIDENCE = 0.9
"""A finding of these kinds that was read this surely was matched by its signature; prose is hardly ever so sure."""


@dataclass(frozen=True)
class _Evidence:
    """The findings that count, one likelihood an observable, and what was left out of the count."""

    likelihoods: tuple[infer.Likelihood, ...]
    base_rates: Mapping[str, float]
    counted_elsewhere: tuple[str, ...]


def match(
    client: Client,
    incident: Incident,
    *,
    text: TextWitness | None = None,
    spaces: Sequence[str] = ("default",),
) -> Answer:
    """Return the answer for one incident.

    Args:
        client: a client of a migrated database with at least one pack.
        incident: the findings as read, and what was read.
        text: how the report reads as a whole, where there is prose and a model of it.
        spaces: spaces whose stored incidents may be shown as similar.

    Raises:
        UsageError: a finding names an observable that no loaded pack knows, or no class is accepted.
    """
    findings = incident.findings
    named = sorted({f.observable for f in findings if f.observable is not None})
    knowledge = store.subgraph(client, named)
    _refuse_unknown(client, named, knowledge)
    if not knowledge.classes:
        raise UsageError(
            "The graph holds no accepted failure class; load a pack with 'failgraph pack load PATH' first."
        )
    ranked = _rank(knowledge, findings, text)
    ranking, evidence = ranked.ranking, ranked.evidence

    top = [entry.class_id for entry in ranking.classes[:DETAILED]]
    details = store.class_details(client, top)
    wanted = set(named)
    for class_id in top:
        wanted.update(explain.expected_unseen(details[class_id], findings))
    candidates = _flip_candidates(details, top, findings)
    wider = store.widened(client, knowledge, wanted | set(candidates))
    rates = _base_rates(wider)
    heads = {head.id: head for head in wider.classes}
    left_out = infer.leave_one_out(
        knowledge.network, evidence.likelihoods, sorted({heads[class_id].root for class_id in top})
    )

    leaks = {item.id: item.leak for item in wider.observables.values()}
    hypotheses = []
    for position, entry in enumerate(ranking.classes):
        head = heads[entry.class_id]
        hypothesis = Hypothesis(
            class_id=head.id,
            name=head.name,
            layer=head.layer,
            kind=head.kind,
            probability=entry.probability,
            terms=entry.terms,
        )
        if position < DETAILED:
            gains = {
                observable: gain - _log_base(evidence, observable)
                for observable, gain in left_out[head.root].items()
            }
            book = explain.ledger(head, details[head.id], wider, findings, gains, rates)
            rival = details[top[1 if position == 0 else 0]] if len(top) > 1 else None
            hypothesis = hypothesis.model_copy(
                update={
                    "path": explain.causal_path(head, details[head.id], wider, findings),
                    "supporting": book.supporting,
                    "refuting": book.refuting,
                    "missing": book.missing,
                    "checks": explain.worthwhile_checks(details[head.id], rival, findings, leaks),
                    "words": text.words.get(head.id, ()) if text else (),
                    "remedies": details[head.id].remedies,
                    "preventions": details[head.id].preventions,
                }
            )
        hypotheses.append(hypothesis)

    present = sorted({f.observable for f in findings if f.observable and f.state is State.PRESENT})
    best = ranking.classes[0].class_id
    return Answer(
        incident=incident.id,
        title=incident.title,
        verdict=ranking.verdict,
        threshold=score.EXPLAINED_FROM,
        hypotheses=tuple(hypotheses),
        unknown=Unknown(probability=ranking.unknown, reason=ranking.unknown_reason),
        contrast=_contrast(wider, findings, text, ranked, candidates),
        next_checks=explain.next_checks(
            details[best], details[top[1]] if len(top) > 1 else None, findings, leaks
        ),
        findings=findings,
        unexplained=tuple(
            finding.id
            for finding in findings
            if finding.observable is not None
            and finding.state is State.PRESENT
            and not explain.explains(wider, best, finding.observable)
        ),
        unattached=incident.unattached,
        readings=incident.readings,
        similar=store.similar_incidents(client, present, spaces, exclude=incident.id) if present else (),
        queries=_queries_used(named, present, top, spaces),
        approximations=(*ranked.approximations, *_not_weighed(findings)),
        context=incident.context,
        assumed_timezone=incident.assumed_timezone,
    )


def _not_weighed(findings: Sequence[Finding]) -> tuple[str, ...]:
    """Say which findings are listed and take no part in the ranking, so that nobody takes them for weighed."""
    named = sorted({finding.circumstance for finding in findings if finding.circumstance is not None})
    return (f"circumstances are listed, but not weighed yet: {', '.join(named)}",) if named else ()


def _counts(finding: Finding) -> bool:
    return finding.state in (State.PRESENT, State.ABSENT)


def _refuse_unknown(client: Client, named: Sequence[str], knowledge: store.Subgraph) -> None:
    unknown = [observable for observable in named if observable not in knowledge.observables]
    if unknown:
        known = [row["id"] for row in client.read("lexicon")]
        near = difflib.get_close_matches(unknown[0], known, n=3)
        hint = f"; near: {', '.join(near)}" if near else ""
        raise UsageError(
            f"No loaded pack has an observable {unknown[0]!r}{hint}; 'failgraph observable list' names all."
        )


def _base_rates(knowledge: store.Subgraph) -> Mapping[str, float]:
    """Return the probability of each observable over all classes, weighted by their priors."""
    total = math.fsum(head.prior for head in knowledge.classes)
    lifts = dict.fromkeys(knowledge.observables, 0.0)
    priors = {head.id: head.prior for head in knowledge.classes}
    for (class_id, observable), probability in knowledge.expects.items():
        if class_id in priors:
            lifts[observable] += (
                priors[class_id] / total * (probability - knowledge.observables[observable].leak)
            )
    return {observable: knowledge.observables[observable].leak + lift for observable, lift in lifts.items()}


def _evidence(knowledge: store.Subgraph, findings: Sequence[Finding], *, with_text: bool) -> _Evidence:
    """Turn the findings that count into one likelihood an observable.

    Where the prose is a witness of its own, a finding that was read from prose counts in part only
    (``score.PROSE_SHARE``): its words are weighed there too. What a signature matched counts fully. Findings of one observable multiply (a conflict weakens both). What a more specific finding implies is not
    counted again: a broader one that is present, or a narrower one that is absent.
    """
    rates = _base_rates(knowledge)
    on: dict[str, float] = {}
    off: dict[str, float] = {}
    states: dict[str, set[State]] = {}
    for finding in findings:
        if finding.observable is None:
            continue
        pair = score.likelihood_of(
            finding.state, finding.confidence, finding.coverage, rates[finding.observable]
        )
        if pair is None:
            continue
        by_signature = (
            knowledge.observables[finding.observable].kind in SIGNED_KINDS
            and finding.confidence >= SIGNED_CONFIDENCE
        )
        share = score.PROSE_SHARE if with_text and not by_signature else 1.0
        on[finding.observable] = on.get(finding.observable, 1.0) * pair[0] ** share
        off[finding.observable] = off.get(finding.observable, 1.0) * pair[1] ** share
        states.setdefault(finding.observable, set()).add(finding.state)
    restated = set()
    for narrow, broad in knowledge.implies:
        if states.get(narrow) == {State.PRESENT} and states.get(broad) == {State.PRESENT}:
            restated.add(broad)
        if states.get(broad) == {State.ABSENT} and states.get(narrow) == {State.ABSENT}:
            restated.add(narrow)
    counted = sorted(set(on) - restated)
    return _Evidence(
        likelihoods=tuple(
            infer.Likelihood(observable, on[observable], off[observable]) for observable in counted
        ),
        base_rates=rates,
        counted_elsewhere=tuple(sorted(restated)),
    )


def _log_base(evidence: _Evidence, observable: str) -> float:
    """Return ln of how likely the reading of one observable is by its base rate."""
    entry = next(item for item in evidence.likelihoods if item.observable == observable)
    rate = evidence.base_rates[observable]
    return math.log(entry.on * rate + entry.off * (1.0 - rate))


@dataclass(frozen=True)
class _Ranked:
    """A ranking with what the inference left out."""

    ranking: score.Ranking
    evidence: _Evidence
    approximations: tuple[str, ...]


def _rank(knowledge: store.Subgraph, findings: Sequence[Finding], text: TextWitness | None) -> _Ranked:
    """Weigh every accepted class exactly."""
    evidence = _evidence(knowledge, findings, with_text=text is not None)
    structure = infer.structure(knowledge.network, evidence.likelihoods)
    base = math.fsum(_log_base(evidence, item.observable) for item in evidence.likelihoods)
    given = {mechanism: structure.given(mechanism) for mechanism in knowledge.layers}
    present: dict[str, float] = {}
    for finding in findings:
        if finding.observable is not None and finding.state is State.PRESENT:
            present[finding.observable] = max(finding.confidence, present.get(finding.observable, 0.0))
    ranking = score.combine(
        priors={head.id: head.prior for head in knowledge.classes},
        structure={head.id: given[head.root] - base for head in knowledge.classes},
        refuters=score.refuter_logs(
            (refuter.class_id, refuter.factor, present[refuter.observable])
            for refuter in knowledge.refuters
            if refuter.when == "present" and refuter.observable in present
        ),
        none=score.none_of_these(list(given.values()), base, len(evidence.likelihoods)),
        text=text.log_ratios if text else None,
        none_text=text.none if text else 0.0,
        weights=score.WITH_TEXT if text else None,
    )
    return _Ranked(ranking, evidence, structure.approximations)


def _flip_candidates(
    details: Mapping[str, store.ClassDetails], top: Sequence[str], findings: Sequence[Finding]
) -> tuple[str, ...]:
    """Return the unseen observables on which the two best classes differ most."""
    if len(top) < 2:
        return ()
    best, other = details[top[0]].expects, details[top[1]].expects
    seen = {f.observable for f in findings if _counts(f)}
    apart = [
        (-abs(best.get(observable, 0.0) - other.get(observable, 0.0)), observable)
        for observable in sorted(set(best) | set(other))
        if observable not in seen
    ]
    return tuple(observable for _, observable in sorted(apart)[:FLIP_CANDIDATES])


def _contrast(
    knowledge: store.Subgraph,
    findings: Sequence[Finding],
    text: TextWitness | None,
    ranked: _Ranked,
    candidates: Sequence[str],
) -> Contrast | None:
    """Say what tells the best class from the runner-up, and try which unseen finding would turn them."""
    ranking = ranked.ranking
    if len(ranking.classes) < 2:
        return None
    best, other = ranking.classes[0].class_id, ranking.classes[1].class_id
    standing = explain.speaking(findings)
    differing = []
    for item in ranked.evidence.likelihoods:
        mine, theirs = (knowledge.probability(class_id, item.observable) for class_id in (best, other))
        ratio = math.log(
            (item.on * mine + item.off * (1.0 - mine)) / (item.on * theirs + item.off * (1.0 - theirs))
        )
        if abs(ratio) >= explain.NOTEWORTHY:
            finding_id = standing[item.observable].id
            differing.append(Support(observable=item.observable, finding=finding_id, log_ratio=ratio))
    differing.sort(key=lambda line: (-abs(line.log_ratio), line.observable or ""))
    flip, flip_state = None, None
    for observable in candidates:
        state = (
            State.PRESENT
            if knowledge.probability(other, observable) > knowledge.probability(best, observable)
            else State.ABSENT
        )
        assumed = Finding(id="assumed", observable=observable, state=state)
        turned = {
            entry.class_id: entry.probability
            for entry in _rank(knowledge, [*findings, assumed], text).ranking.classes
        }
        if turned[other] > turned[best]:
            flip, flip_state = observable, state
            break
    return Contrast(
        best=best, other=other, differing=tuple(differing[:DIFFERING_SHOWN]), flip=flip, flip_state=flip_state
    )


def _queries_used(
    named: Sequence[str], present: Sequence[str], top: Sequence[str], spaces: Sequence[str]
) -> tuple[QueryUsed, ...]:
    used = [
        QueryUsed(name="lexicon", parameters={}),
        QueryUsed(name="match_subgraph", parameters={"observables": list(named)}),
        QueryUsed(name="class_details", parameters={"class_ids": list(top)}),
    ]
    if present:
        used.append(
            QueryUsed(
                name="similar_incidents", parameters={"observables": list(present), "spaces": list(spaces)}
            )
        )
    return tuple(used)
