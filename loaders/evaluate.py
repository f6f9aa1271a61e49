"""Measures a match on labelled cases, beside simple baselines in the same run.

Right, here, is a class that the case accepts. Rankings are judged on the known and covered cases; "none of these"
on foreign and novel ones against those; unexplained cases are only shown, since a known class may well be right.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any, Final

from failgraph.loaders.baselines import ClassProfile, Ranker, bm25, majority, signature_vote
from failgraph.loaders.cases import CaseKind, LabelledCase
from failgraph.loaders.measures import (
    Measure,
    area_under_curve,
    bootstrap,
    brier,
    calibration_band,
    calibration_error,
    log_loss,
    macro_f1,
    mean,
    share,
)
from failgraph.schema.exchange import Answer, State, Verdict, round_floats

Answerer = Callable[[LabelledCase], Answer]
MATCH: Final = "failgraph"
"""Name of the measured match among the methods."""


@dataclass(frozen=True)
class Outcome:
    """What the match said on one case.

    ``rank`` is the place of the best accepted class, counted from 1; None where no class is right. ``findings`` are
    those that count (present or absent), ``unattached`` statements stayed without any.
    """

    case: str
    group: str
    first: str
    first_probability: float
    accepted_probability: float
    rank: int | None
    unknown: float
    verdict: str
    findings: int
    unattached: int
    seconds: float


@dataclass(frozen=True)
class MethodScores:
    """How well one method ranks the classes of the covered cases; the shares are within 0 and 1."""

    method: str
    top1: Measure
    top3: Measure
    top1_or_near: Measure
    layer: Measure
    mean_rank: Measure
    macro_f1: Measure


@dataclass(frozen=True)
class Calibration:
    """How far stated probabilities hold on the covered cases.

    ``brier`` and ``error`` (expected calibration error, ten bins) judge the probability of the first class,
    ``log_loss`` that of all accepted classes together. ``band`` is where the error of a perfectly calibrated model
    of this size lies in 95 of 100 cases.
    """

    brier: float
    log_loss: float
    error: float
    band: tuple[float, float]


@dataclass(frozen=True)
class NoneScores:
    """How "none of these" was used in one group of cases; ``separation`` is its AUROC against the covered ones."""

    group: str
    count: int
    none_first: float
    verdict_unknown: float
    mean_probability: float
    separation: float | None


@dataclass(frozen=True)
class Report:
    """An evaluation: what was measured, on what, and each case's outcome."""

    cases: Mapping[str, int]
    methods: tuple[MethodScores, ...]
    calibration: Calibration
    none: tuple[NoneScores, ...]
    findings_per_case: float
    unattached_per_case: float
    seconds_per_case: float
    seconds_slowest: float
    outcomes: tuple[Outcome, ...]

    def as_data(self) -> dict[str, Any]:
        """Return the report as plain data for JSON; floats have nine significant digits."""
        data: dict[str, Any] = round_floats(asdict(self))
        return data


def group_of(case: LabelledCase) -> str:
    """Return the group a case is judged in: covered, novel, foreign or unexplained."""
    if case.is_covered:
        return "covered"
    if case.kind is CaseKind.KNOWN:
        return "novel"
    return case.kind.value


def evaluate(
    cases: Sequence[LabelledCase],
    answer: Answerer,
    profiles: Sequence[ClassProfile],
    *,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Return the figures of a match and of the baselines over labelled cases.

    Args:
        cases: the cases; the report keeps their order, however many run at once.
        answer: the match; called from several threads when ``jobs`` is above 1.
        profiles: the classes, for the baselines and for the layers.
        jobs: how many cases are answered at once.
        progress: called with how many cases are done, and of how many.
    """

    def timed(case: LabelledCase) -> tuple[LabelledCase, Answer, float]:
        started = time.perf_counter()
        answered = answer(case)
        return case, answered, time.perf_counter() - started

    done = []
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        for position, item in enumerate(pool.map(timed, cases) if jobs > 1 else map(timed, cases), start=1):
            done.append(item)
            if progress:
                progress(position, len(cases))
    return report_of(done, profiles)


def report_of(
    answered: Sequence[tuple[LabelledCase, Answer, float]], profiles: Sequence[ClassProfile]
) -> Report:
    """Return the figures over cases that are already answered.

    Args:
        answered: case, answer, seconds.
        profiles: the classes, for the baselines and for the layers.
    """
    cases = [case for case, _, _ in answered]
    outcomes = tuple(_outcome(case, answer, seconds) for case, answer, seconds in answered)
    rankers: dict[str, Ranker] = {
        MATCH: lambda case, answer: tuple(hypothesis.class_id for hypothesis in answer.hypotheses),
        "majority class": majority(profiles, cases),
        "BM25 over class texts": bm25(profiles),
        "signature hits counted": signature_vote(profiles),
    }
    covered = [(case, answer) for case, answer, _ in answered if case.is_covered]
    layers = {profile.id: profile.layer for profile in profiles}
    groups = [group_of(case) for case in cases]
    return Report(
        cases={group: groups.count(group) for group in ("covered", "novel", "foreign", "unexplained")},
        methods=tuple(_method_scores(name, ranker, covered, layers) for name, ranker in rankers.items()),
        calibration=_calibration([outcome for outcome in outcomes if outcome.group == "covered"]),
        none=tuple(_none_scores(group, outcomes) for group in ("covered", "novel", "foreign", "unexplained")),
        findings_per_case=mean([outcome.findings for outcome in outcomes]),
        unattached_per_case=mean([outcome.unattached for outcome in outcomes]),
        seconds_per_case=mean([outcome.seconds for outcome in outcomes]),
        seconds_slowest=max((outcome.seconds for outcome in outcomes), default=0.0),
        outcomes=outcomes,
    )


def _outcome(case: LabelledCase, answer: Answer, seconds: float) -> Outcome:
    first = answer.hypotheses[0] if answer.hypotheses else None
    order = [hypothesis.class_id for hypothesis in answer.hypotheses]
    return Outcome(
        case=case.id,
        group=group_of(case),
        first=first.class_id if first else "",
        first_probability=first.probability if first else 0.0,
        accepted_probability=sum(h.probability for h in answer.hypotheses if h.class_id in case.accept),
        rank=_rank(order, case.accept),
        unknown=answer.unknown.probability,
        verdict=answer.verdict.value,
        findings=sum(finding.state in (State.PRESENT, State.ABSENT) for finding in answer.findings),
        unattached=len(answer.unattached),
        seconds=seconds,
    )


def _rank(order: Sequence[str], accept: Sequence[str]) -> int | None:
    """Return the place of the best accepted class, from 1; None when none is ranked."""
    return next((place for place, name in enumerate(order, start=1) if name in accept), None)


def _method_scores(
    name: str,
    ranker: Ranker,
    covered: Sequence[tuple[LabelledCase, Answer]],
    layers: Mapping[str, str],
) -> MethodScores:
    """Return how well a ranking does on the covered cases."""
    orders = [(case, ranker(case, answer)) for case, answer in covered]
    firsts = [order[0] if order else "" for _, order in orders]
    ranks = [_rank(order, case.accept) or len(order) + 1 for case, order in orders]
    truths = [
        first if first in case.accept else case.accept[0]
        for (case, _), first in zip(orders, firsts, strict=True)
    ]
    pairs = list(zip(firsts, truths, strict=True))
    return MethodScores(
        method=name,
        top1=share([float(rank == 1) for rank in ranks]),
        top3=share([float(rank <= 3) for rank in ranks]),
        top1_or_near=share(
            [
                float(first in case.accept or first in case.near)
                for (case, _), first in zip(orders, firsts, strict=True)
            ]
        ),
        layer=share(
            [
                float(layers.get(first) == case.root_layer)
                for (case, _), first in zip(orders, firsts, strict=True)
            ]
        ),
        mean_rank=share([float(rank) for rank in ranks]),
        macro_f1=bootstrap(pairs, _pairs_f1, resamples=200),
    )


def _pairs_f1(pairs: Sequence[Any]) -> float:
    return macro_f1([first for first, _ in pairs], [truth for _, truth in pairs])


def _calibration(covered: Sequence[Outcome]) -> Calibration:
    probabilities = [outcome.first_probability for outcome in covered]
    right = [outcome.rank == 1 for outcome in covered]
    return Calibration(
        brier=brier(probabilities, right),
        log_loss=log_loss([outcome.accepted_probability for outcome in covered]),
        error=calibration_error(probabilities, right),
        band=calibration_band(probabilities),
    )


def _none_scores(group: str, outcomes: Sequence[Outcome]) -> NoneScores:
    members = [outcome for outcome in outcomes if outcome.group == group]
    covered = [outcome.unknown for outcome in outcomes if outcome.group == "covered"]
    return NoneScores(
        group=group,
        count=len(members),
        none_first=mean([float(outcome.unknown > outcome.first_probability) for outcome in members]),
        verdict_unknown=mean([float(outcome.verdict == Verdict.UNKNOWN.value) for outcome in members]),
        mean_probability=mean([outcome.unknown for outcome in members]),
        separation=None
        if group == "covered"
        else area_under_curve([outcome.unknown for outcome in members], covered),
    )
