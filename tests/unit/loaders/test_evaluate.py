"""The figures of an evaluation are right on cases small enough to count by hand."""

from __future__ import annotations

import json

import pytest

from failgraph.loaders.baselines import ClassProfile, bm25, majority, signature_vote
from failgraph.loaders.cases import CaseKind, LabelledCase
from failgraph.loaders.evaluate import MATCH, Report, evaluate
from failgraph.loaders.measures import (
    area_under_curve,
    calibration_band,
    calibration_error,
    log_loss,
    macro_f1,
    share,
)
from failgraph.render.evaluation import render_evaluation_markdown, render_evaluation_text
from failgraph.schema.exchange import Answer, Finding, Hypothesis, State, Terms, Unknown, Verdict, Where

PROFILES = (
    ClassProfile("bad-cable", "fabric", "A bad cable loses packets", frozenset({"symbol-errors"})),
    ClassProfile("full-disk", "host", "The disk is full and writes fail", frozenset({"no-space"})),
    ClassProfile("hot-gpu", "gpu", "A GPU is too hot and throttles", frozenset({"throttled"})),
)
CLASSES = {"bad-cable": "fabric", "full-disk": "host", "hot-gpu": "gpu"}


def case(name: str, accept: str = "", *, kind: CaseKind = CaseKind.KNOWN, text: str = "") -> LabelledCase:
    """Return a case that accepts one class, or none."""
    accepted = (accept,) if accept else ()
    layer = CLASSES.get(accept, "other")
    return LabelledCase(
        name, kind, kind is CaseKind.KNOWN and not accept, accepted, (), layer, "here", {"incident.md": text}
    )


def answer(
    order: list[str], probabilities: list[float], none: float, findings: tuple[Finding, ...] = ()
) -> Answer:
    """Return an answer that ranks the classes so."""
    return Answer(
        verdict=Verdict.UNKNOWN if none > probabilities[0] else Verdict.EXPLAINED,
        threshold=0.5,
        hypotheses=tuple(
            Hypothesis(
                class_id=name,
                name=name,
                layer=CLASSES[name],
                kind="fault",
                probability=probability,
                terms=Terms(prior=0.0, structure=0.0),
            )
            for name, probability in zip(order, probabilities, strict=True)
        ),
        unknown=Unknown(probability=none, reason="unlike anything known"),
        findings=findings,
    )


SEEN = Finding(id="f1", observable="no-space", state=State.PRESENT, where=(Where(file="job.log", line=1),))
CASES = {
    "a-right": (
        case("a-right", "bad-cable"),
        answer(["bad-cable", "hot-gpu", "full-disk"], [0.8, 0.1, 0.0], 0.1),
    ),
    "b-second": (
        case("b-second", "full-disk", text="the disk is full, writes fail"),
        answer(["hot-gpu", "full-disk", "bad-cable"], [0.5, 0.3, 0.1], 0.1, (SEEN,)),
    ),
    "c-foreign": (
        case("c-foreign", kind=CaseKind.FOREIGN),
        answer(["hot-gpu", "full-disk", "bad-cable"], [0.1, 0.1, 0.0], 0.8),
    ),
    "d-novel": (case("d-novel"), answer(["hot-gpu", "full-disk", "bad-cable"], [0.5, 0.2, 0.1], 0.2)),
}


@pytest.fixture(scope="module")
def report() -> Report:
    """The evaluation of the four cases."""
    return evaluate([item[0] for item in CASES.values()], lambda item: CASES[item.id][1], PROFILES)


def test_ranking_is_judged_on_covered_cases(report: Report) -> None:
    """First, first three, layer and mean rank count only cases that a class covers."""
    scores = report.methods[0]
    assert scores.method == MATCH
    assert (scores.top1.value, scores.top3.value, scores.layer.value) == (0.5, 1.0, 0.5)
    assert (scores.mean_rank.value, scores.top1.count) == (1.5, 2)
    assert (scores.top1.low, scores.top1.high) == (0.0, 1.0)


def test_none_of_these_is_judged_by_group(report: Report) -> None:
    """The probability of none is compared between covered and other cases."""
    figures = {item.group: (item.count, item.none_first, item.separation) for item in report.none}
    assert figures == {
        "covered": (2, 0.0, None),
        "novel": (1, 0.0, 1.0),
        "foreign": (1, 1.0, 1.0),
        "unexplained": (0, 0.0, None),
    }


def test_outcomes_keep_the_order_of_the_cases(report: Report) -> None:
    """There is one outcome a case, in order, also when several run at once."""
    threads = evaluate([item[0] for item in CASES.values()], lambda item: CASES[item.id][1], PROFILES, jobs=3)
    names = [[outcome.case for outcome in one.outcomes] for one in (report, threads)]
    assert names == [list(CASES), list(CASES)]


def test_calibration_of_the_first_class(report: Report) -> None:
    """Brier score and calibration error judge the first class's probability, log loss the accepted one's."""
    assert report.calibration.brier == pytest.approx((0.2**2 + 0.5**2) / 2)
    assert report.calibration.error == pytest.approx((0.2 + 0.5) / 2)
    assert report.calibration.log_loss == pytest.approx(log_loss([0.8, 0.3]))


def test_baselines_rank_all_classes() -> None:
    """BM25 follows the words, the vote the artefacts, the majority the other cases; all rank every class."""
    item, answered = CASES["b-second"]
    cases = [entry for entry, _ in CASES.values()]
    orders = [
        rank(item, answered) for rank in (bm25(PROFILES), signature_vote(PROFILES), majority(PROFILES, cases))
    ]
    assert [order[0] for order in orders] == ["full-disk", "full-disk", "bad-cable"]
    assert [sorted(order) for order in orders] == [sorted(CLASSES)] * 3


def test_findings_of_the_note_are_no_signature_hits() -> None:
    """What prose gave does not vote in the signature baseline."""
    told = SEEN.model_copy(update={"where": (Where(file="incident.md", line=3),)})
    item = CASES["b-second"][0]
    assert signature_vote(PROFILES)(item, answer(list(CLASSES), [0.3] * 3, 0.1, (told,))) == tuple(
        sorted(CLASSES)
    )


def test_reports_render(report: Report) -> None:
    """Text, Markdown and JSON hold every method and group."""
    text, markdown, data = (
        render_evaluation_text(report),
        render_evaluation_markdown(report),
        json.loads(json.dumps(report.as_data())),
    )
    for name in (MATCH, "BM25 over class texts", "foreign", "b-second"):
        assert name in text
        assert name.replace("-", "") in markdown.replace("\\", "").replace("-", "")
    assert [item["method"] for item in data["methods"]] == [scores.method for scores in report.methods]


def test_no_case_at_all_is_no_error() -> None:
    """An evaluation of nothing has empty figures."""
    empty = evaluate([], lambda item: CASES["a-right"][1], PROFILES)
    assert (empty.cases["covered"], empty.methods[0].top1.count, empty.seconds_slowest) == (0, 0, 0.0)


def test_share_interval_is_repeatable() -> None:
    """The same numbers give the same interval, which holds the mean."""
    values = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0]
    measure = share(values)
    assert measure == share(values)
    assert measure.low <= measure.value <= measure.high


def test_calibration_error_of_a_calibrated_forecast_lies_in_the_band() -> None:
    """A forecast that holds lies inside the band that chance gives."""
    probabilities = [0.5] * 100
    low, high = calibration_band(probabilities)
    right = [place % 2 == 0 for place in range(100)]
    assert calibration_error(probabilities, right) <= high
    assert 0.0 <= low < high < 0.2


def test_macro_f1_counts_classes_alike() -> None:
    """A rare class weighs as much as a frequent one."""
    assert macro_f1(["a", "a", "a", "b"], ["a", "a", "a", "c"]) == pytest.approx(0.5)


def test_area_needs_both_sides() -> None:
    """Without positives or negatives there is no area."""
    assert (area_under_curve([], [0.5]), area_under_curve([0.9], [0.1])) == (None, 1.0)
