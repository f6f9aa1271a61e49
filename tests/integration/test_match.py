"""The match as surfaces use it: findings in, answer out, on both engines."""

from __future__ import annotations

import math

import pytest

from failgraph.graph import store
from failgraph.graph.client import Client
from failgraph.graph.match import DETAILED, match
from failgraph.schema.errors import UsageError
from failgraph.schema.exchange import Answer, Finding, HopState, Incident, State, Verdict, Where, to_json
from failgraph.schema.witness import TextWitness


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


def test_next_checks_are_those_of_the_two_best(answer: Answer) -> None:
    """The answer names checks of the best class and the runner-up, each once, and none of others."""
    offered = {check.id for item in answer.hypotheses[:2] for check in item.checks}
    named = [check.id for check in answer.next_checks]

    assert named
    assert len(named) == len(set(named))
    assert set(named) <= offered


def test_the_answer_names_the_queries_behind_it(answer: Answer) -> None:
    """What was read from the graph can be run again by its name, the lexicon of the reading included."""
    expected = ["lexicon", "match_subgraph", "class_details", "similar_incidents"]

    assert expected == [query.name for query in answer.queries]


def test_circumstances_are_said_not_to_be_weighed(core_client: Client) -> None:
    """A circumstance that is handed in stays listed, changes nothing, and the answer says that it did not."""
    scope = Finding(id="f2", circumstance="scope.gpu-pair-or-link")
    plain = incident_of("enospc")
    with_scope = match(core_client, plain.model_copy(update={"findings": (*plain.findings, scope)}))

    assert ("circumstances are listed, but not weighed yet: scope.gpu-pair-or-link",) == (
        with_scope.approximations
    )
    assert [item.probability for item in match(core_client, plain).hypotheses] == [
        item.probability for item in with_scope.hypotheses
    ]


def test_contrast_counts_what_was_read_badly_for_less(core_client: Client) -> None:
    """A finding that may be misread tells two classes apart less than a sure one."""

    def apart(confidence: float) -> float:
        finding = Finding(id="f1", observable="nccl-shm-failed", confidence=confidence)
        contrast = match(core_client, Incident(findings=(finding,))).contrast
        assert contrast is not None
        return contrast.differing[0].log_ratio

    assert 0.0 < apart(0.5) < apart(1.0)


def test_contrast_counts_an_implied_finding_once(core_client: Client) -> None:
    """A broader observable beside its narrower one is no second difference between two classes."""
    entries = store.lexicon(core_client).entries
    narrow, broad = next((entry.id, entry.implies[0]) for entry in entries if entry.implies)
    contrast = match(core_client, incident_of(narrow, broad)).contrast

    assert contrast is not None
    assert broad not in [line.observable for line in contrast.differing]


def test_a_graph_without_classes_is_refused(embedded_client: Client) -> None:
    """Without an accepted class nothing can be ranked: one sentence says what to do."""
    with pytest.raises(UsageError, match="pack load"):
        match(embedded_client, Incident())


STORY = "Set-up of the communicator fails in the container: no space left on /dev/shm, 64 MB is too small."


@pytest.fixture(scope="module")
def reading() -> TextWitness:
    """How a report reads that tells of too little shared memory, by the model that ships."""
    from failgraph.loaders.prose.witness import text_witness

    found = text_witness(Incident(text=STORY))
    assert found is not None
    return found


def test_prose_gives_every_class_a_text_term(core_client: Client, reading: TextWitness) -> None:
    """With a text witness each class carries what the words say of it; without one no class does."""
    told = match(core_client, incident_of("enospc"), text=reading)
    silent = match(core_client, incident_of("enospc"))

    assert dict(reading.log_ratios) == pytest.approx(
        {item.class_id: item.terms.text for item in told.hypotheses}
    )
    assert {None} == {item.terms.text for item in silent.hypotheses}


def test_without_prose_an_answer_is_as_before(core_client: Client) -> None:
    """No text witness means the plain sum: terms and probabilities do not know of the text model."""
    given = match(core_client, FALLEN, text=None)

    assert to_json(match(core_client, FALLEN)) == to_json(given)
    assert not any(item.words for item in given.hypotheses)


def test_prose_counts_toward_its_class(core_client: Client, reading: TextWitness) -> None:
    """Words alone, without one finding, put the class first that is reported in such words."""
    given = match(core_client, Incident(), text=reading)

    assert given.hypotheses[0].class_id == "host-shared-memory-too-small"
    total = math.fsum(item.probability for item in given.hypotheses) + given.unknown.probability
    assert total == pytest.approx(1.0, abs=1e-6)


def test_words_are_shown_for_the_first_ten_only(core_client: Client, reading: TextWitness) -> None:
    """The words that weighed most are given where details are, and are those of the witness."""
    given = match(core_client, incident_of("enospc"), text=reading)
    shown = {item.class_id: item.words for item in given.hypotheses if item.words}

    assert given.hypotheses[0].words
    assert shown.items() <= dict(reading.words).items()
    assert not any(item.words for item in given.hypotheses[DETAILED:])


def test_an_unknown_trouble_told_in_words_raises_the_unknown(core_client: Client) -> None:
    """What reads like a trouble outside all classes makes *none of these* likelier."""
    plain = match(core_client, incident_of("enospc"), text=TextWitness())
    outside = match(core_client, incident_of("enospc"), text=TextWitness(none=5.0))

    assert outside.unknown.probability > plain.unknown.probability


def test_a_text_witness_of_other_classes_is_harmless(core_client: Client) -> None:
    """A model that knows a class which the graph does not have, or lacks one that it has, still gives an answer."""
    given = match(core_client, incident_of("enospc"), text=TextWitness(log_ratios={"no-such-class": 9.0}))

    assert {0.0} == {item.terms.text for item in given.hypotheses}


def test_same_bytes_with_prose_on_both_engines(
    core_clients: Client, core_client: Client, reading: TextWitness
) -> None:
    """With a text witness too the answer is the same, byte for byte, whatever the engine."""
    assert to_json(match(core_client, FALLEN, text=reading)) == to_json(
        match(core_clients, FALLEN, text=reading)
    )
