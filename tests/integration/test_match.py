"""The match as surfaces use it: findings in, answer out, on both engines."""

from __future__ import annotations

import math

import pytest

from failgraph.graph import store
from failgraph.graph.client import Client
from failgraph.graph.match import DETAILED, match
from failgraph.schema.errors import UsageError
from failgraph.schema.exchange import Answer, Finding, HopState, Incident, State, Verdict, Where, to_json


def incident_of(*subjects: str | tuple[str, State]) -> Incident:
    """Return an incident with these observables, present where no state is given."""
    findings = []
    for number, subject in enumerate(subjects, 1):
        observable, state = subject if isinstance(subject, tuple) else (subject, State.PRESENT)
        findings.append(
            Finding(
                id=f"f{number}", observable=observable, state=state, where=(Where(file="log", line=number),)
            )
        )
    return Incident(id="test", title="a test", findings=tuple(findings))


FALLEN = incident_of(
    "xid-79-fallen-off-bus", "smi-device-handle-error", ("xid-48-double-bit-ecc", State.ABSENT)
)


@pytest.fixture(scope="module")
def answer(core_client: Client) -> Answer:
    """The answer for a GPU that fell off the bus."""
    return match(core_client, FALLEN)


def test_probabilities_sum_to_one(answer: Answer) -> None:
    """All classes and the unknown share one unit of probability."""
    total = math.fsum(hypothesis.probability for hypothesis in answer.hypotheses) + answer.unknown.probability

    assert total == pytest.approx(1.0, abs=1e-6)


def test_every_accepted_class_is_scored(answer: Answer, core_client: Client) -> None:
    """The answer ranks each accepted class of the graph exactly once."""
    expected = sorted(row["id"] for row in core_client.read("class_list") if row["status"] == "accepted")

    assert expected == sorted(hypothesis.class_id for hypothesis in answer.hypotheses)


def test_telling_findings_are_explained(core_client: Client) -> None:
    """Two traces that one class leaves, each rare elsewhere, are enough for a verdict."""
    given = match(core_client, incident_of("nccl-shm-failed", "enospc"))

    assert given.hypotheses[0].class_id == "host-shared-memory-too-small"
    assert given.verdict is Verdict.EXPLAINED


def test_terms_add_up_to_the_ranking(answer: Answer) -> None:
    """The printed terms are what the ranking rests on: their differences are the log odds."""
    first, second = answer.hypotheses[:2]
    scores = [item.terms.prior + item.terms.structure + item.terms.refuters for item in (first, second)]

    assert scores[0] - scores[1] == pytest.approx(math.log(first.probability / second.probability), abs=1e-6)


def test_path_starts_at_the_root_and_connects(answer: Answer, core_client: Client) -> None:
    """Each hop starts at the root or where an earlier hop ended, and is an edge of the graph."""
    best = answer.hypotheses[0]
    root = best.path[0].start
    reached = {root}
    for hop in best.path:
        assert hop.start in reached
        reached.add(hop.end)

    known = {
        (row["from_id"], row["to_id"]) for row in core_client.read("class_graph", class_id=best.class_id)
    }
    assert {(hop.start, hop.end) for hop in best.path if hop.relation == "CAUSES"} <= known


def test_observed_hops_cite_present_findings(answer: Answer) -> None:
    """A hop is observed only by findings that are in the input and present."""
    present = {finding.id for finding in FALLEN.findings if finding.state is State.PRESENT}
    observed = [hop for item in answer.hypotheses for hop in item.path if hop.state is HopState.OBSERVED]

    assert observed
    assert all(hop.findings and set(hop.findings) <= present for hop in observed)


def test_an_unsure_reading_is_not_an_observed_hop(core_client: Client) -> None:
    """What was probably misread may move the ranking; a hop that rests on it alone is inferred."""
    unsure = Finding(id="f1", observable="xid-79-fallen-off-bus", confidence=0.3)
    given = match(core_client, Incident(findings=(unsure,)))

    assert HopState.OBSERVED not in {hop.state for hop in given.hypotheses[0].path}


def test_only_the_first_ten_carry_details(answer: Answer) -> None:
    """Ledger, path and checks are given for the first ten and left empty for the rest."""
    assert all(item.path for item in answer.hypotheses[:1])
    assert not any(item.path or item.checks or item.remedies for item in answer.hypotheses[DETAILED:])


def test_absent_finding_speaks_against(core_client: Client) -> None:
    """Looking for a class's main trace in vain lowers the class."""
    seen = match(core_client, incident_of("nccl-shm-failed"))
    sought = match(core_client, incident_of("nccl-shm-failed", ("enospc", State.ABSENT)))

    def of(given: Answer) -> float:
        return next(
            item.probability for item in given.hypotheses if item.class_id == "host-shared-memory-too-small"
        )

    assert of(sought) < of(seen)


@pytest.mark.parametrize("state", [State.NOT_CHECKED, State.COULD_NOT_CHECK, State.STALE])
def test_silent_states_change_nothing(core_client: Client, state: State) -> None:
    """Not checked, could not check and stale are listed, and weigh nothing."""
    plain = match(core_client, incident_of("enospc"))
    listed = match(core_client, incident_of("enospc", ("xid-79-fallen-off-bus", state)))

    assert [item.probability for item in plain.hypotheses] == [item.probability for item in listed.hypotheses]
    assert [finding.state for finding in listed.findings] == [State.PRESENT, state]


def test_implied_findings_count_once(core_client: Client) -> None:
    """A broader observable that a narrower one always brings along adds nothing."""
    narrow, broad = next(
        (entry.id, entry.implies[0]) for entry in store.lexicon(core_client).entries if entry.implies
    )
    alone = match(core_client, incident_of(narrow))
    both = match(core_client, incident_of(narrow, broad))

    assert [item.probability for item in alone.hypotheses] == pytest.approx(
        [item.probability for item in both.hypotheses], abs=1e-9
    )


def test_nothing_found_is_unknown(core_client: Client) -> None:
    """Without any finding nothing is explained, and the reason says so."""
    given = match(core_client, Incident())

    assert given.verdict is Verdict.UNKNOWN
    assert given.unknown.reason == "nothing was found that speaks for any class"


def test_unknown_observable_is_refused_with_its_neighbours(core_client: Client) -> None:
    """A typing error in an id is answered with near ids, not with a wrong ranking."""
    with pytest.raises(UsageError, match="xid-79-fallen-off-bus"):
        match(core_client, incident_of("xid-79-falen-off-bus"))


def test_conflicting_findings_are_both_kept(core_client: Client) -> None:
    """Present and absent at once stay listed, and weaken each other."""
    conflict = match(core_client, incident_of("nccl-shm-failed", ("nccl-shm-failed", State.ABSENT)))
    present = match(core_client, incident_of("nccl-shm-failed"))

    assert [finding.state for finding in conflict.findings] == [State.PRESENT, State.ABSENT]
    assert conflict.hypotheses[0].probability < present.hypotheses[0].probability


def test_contrast_names_the_runner_up_and_a_finding_that_turns_it(core_client: Client) -> None:
    """The flip finding, once assumed, really turns the order of the two best classes."""
    given = match(core_client, incident_of("enospc"))

    assert given.contrast is not None
    assert given.contrast.flip is not None
    assert given.contrast.flip_state is not None
    turned = match(core_client, incident_of("enospc", (given.contrast.flip, given.contrast.flip_state)))
    order = [item.class_id for item in turned.hypotheses]
    assert order.index(given.contrast.other) < order.index(given.contrast.best)


def test_same_bytes_on_both_engines(core_clients: Client, answer: Answer) -> None:
    """The answer is the same, byte for byte, whatever the engine and however often."""
    assert to_json(answer) == to_json(match(core_clients, FALLEN))


def test_similar_incidents_are_found_within_their_space(embedded_client: Client) -> None:
    """Stored incidents with shared findings are shown, and never those of another space."""
    from failgraph.loaders.sync import ensure_core_pack

    ensure_core_pack(embedded_client)
    found = [
        {"observable": "nccl-shm-failed", "state": "present", "confidence": 1.0, "coverage": 1.0, "count": 1}
    ]
    for identity, space in (("ours", "default"), ("theirs", "other")):
        store.put_incident(
            embedded_client, {"id": identity, "title": identity, "space": space, "status": "open"}, found
        )

    given = match(embedded_client, incident_of("nccl-shm-failed"))

    assert [item.incident for item in given.similar] == ["ours"]
