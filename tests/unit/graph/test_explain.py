"""What an answer says of a ranking: the ledger of a class, and the checks to make next."""

from __future__ import annotations

import math

import pytest

from failgraph.graph import explain
from failgraph.graph.network import Network
from failgraph.graph.store import ClassDetails, ClassHead, ObservableHead, Refuter, Subgraph
from failgraph.schema.exchange import CheckHint, Finding, State

HEAD = ClassHead(id="one", name="One", kind="fault", prior=1.0, root="root", layer="host", aliases=())


def check(name: str, cost: str, *reveals: str) -> CheckHint:
    """Return a check that reveals these observables."""
    return CheckHint(id=name, command=name, cost=cost, safe=True, read_it="as it says", reveals=reveals)


def details(expects: dict[str, float], *checks: CheckHint) -> ClassDetails:
    """Return the details of a class that expects these observables."""
    return ClassDetails(
        summary="", chain=frozenset(), expects=expects, checks=checks, remedies=(), preventions=()
    )


def knowledge(*refuters: Refuter) -> Subgraph:
    """Return a subgraph in which the class's root shows one trace."""
    return Subgraph(
        classes=(HEAD,),
        layers={"root": "host"},
        network=Network(causes=(), shows=(("root", "trace", 0.75),), leaks={"trace": 0.03, "other": 0.03}),
        observables={name: ObservableHead(name, 0.03, "strong", "log") for name in ("trace", "other")},
        expects={("one", "trace"): 0.75},
        refuters=refuters,
        implies=(),
        because={},
    )


def book(findings: list[Finding], gains: dict[str, float], *refuters: Refuter) -> explain.Ledger:
    """Return the ledger of the class for these findings."""
    return explain.ledger(
        HEAD,
        details({"trace": 0.75}),
        knowledge(*refuters),
        findings,
        gains,
        {"trace": 0.05, "other": 0.03},
    )


def test_a_present_refuter_is_told_with_its_whole_effect() -> None:
    """The line of a present refuter holds what the structure and the refuter's own factor do together."""
    refuter = Refuter("other", "one", "present", "it cannot be both", 0.1)
    found = book([Finding(id="f1", observable="other")], {"other": -0.5}, refuter)

    assert [("other", "it cannot be both")] == [(line.observable, line.because) for line in found.refuting]
    assert math.log(0.1) - 0.5 == pytest.approx(found.refuting[0].log_ratio)


def test_an_absent_refuter_weighs_only_through_the_structure() -> None:
    """Absence is weighed once, by the structure; the expert's reason is told beside it."""
    refuter = Refuter("trace", "one", "absent", "it is always there", 0.1)
    found = book([Finding(id="f1", observable="trace", state=State.ABSENT)], {"trace": -1.25}, refuter)

    assert [(-1.25, "it is always there")] == [(line.log_ratio, line.because) for line in found.refuting]


def test_of_conflicting_findings_the_present_one_stands_in_the_ledger() -> None:
    """One line an observable: of present and absent at once the line names what was seen."""
    absent = Finding(id="f1", observable="trace", state=State.ABSENT)
    present = Finding(id="f2", observable="trace")
    found = book([absent, present], {"trace": 1.0})

    assert ["f2"] == [line.finding for line in found.supporting]


def test_next_checks_come_from_both_classes_each_once() -> None:
    """Checks of the best and of the runner-up are ranked together by what they tell for their cost."""
    shared, dear = check("shared", "seconds", "trace"), check("dear", "hours", "other")
    useless = check("useless", "seconds", "nothing")
    best = details({"trace": 0.5}, dear, shared, useless)
    other = details({"other": 0.9}, shared, check("cheap", "seconds", "other"))
    leaks = {"trace": 0.1, "other": 0.1}

    assert ["cheap", "shared", "dear"] == [item.id for item in explain.next_checks(best, other, [], leaks)]
    assert ["shared", "dear"] == [item.id for item in explain.worthwhile_checks(best, other, [], leaks)]


def test_next_checks_leave_out_what_was_looked_at() -> None:
    """A check that reveals only what is known already is not proposed again."""
    best = details({"trace": 0.5}, check("shared", "seconds", "trace"))
    seen = Finding(id="f1", observable="trace", state=State.ABSENT)

    assert () == explain.next_checks(best, None, [seen], {"trace": 0.1})
