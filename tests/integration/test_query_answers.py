"""What the shipped queries answer: compared with the same question asked in Python, or with a small graph."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from failgraph.graph.client import Client
from failgraph.loaders.sync import load_pack
from tests.small_packs import base_pack, site_pack

NONE_PRIOR = 0.2
PRESENT = ["nccl-peer-closed", "xid-79-fallen-off-bus", "rendezvous-timeout", "no-hardware-error-logged"]
ABSENT = ["xid-119-gsp-rpc-timeout", "gsp-rpc-rate-limited"]


def naive_bayes(
    client: Client, present: Sequence[str], absent: Sequence[str]
) -> dict[str, tuple[float, float]]:
    """Return log score and probability of each class, by the formula of the query, computed in Python."""
    priors = {row["id"]: row["prior"] for row in client.read("class_list") if row["status"] == "accepted"}
    total = sum(priors.values())
    scores = {name: math.log((1 - NONE_PRIOR) * prior / total) for name, prior in priors.items()}
    refuted = dict.fromkeys(priors, 1.0)
    for observable in [*present, *absent]:
        shown = client.read("observable_show", observable_id=observable)[0]
        expected = {item[0]: item[1] for item in shown["classes"]}
        chances = {name: expected.get(name, shown["leak"]) for name in priors}
        mean = sum(prior / total * chances[name] for name, prior in priors.items())
        for name, chance in chances.items():
            ratio = chance / mean if observable in present else (1 - chance) / (1 - mean)
            scores[name] += math.log(ratio)
        for item in shown["refutes"]:
            if observable in present and item["when"] == "present":
                refuted[item["class"]] *= 0.2 if item["factor"] is None else item["factor"]
    scores = {name: score + math.log(max(refuted[name], 0.02)) for name, score in scores.items()}
    evidence = NONE_PRIOR + sum(math.exp(score) for score in scores.values())
    return {name: (score, math.exp(score) / evidence) for name, score in scores.items()}


def test_match_classes_is_naive_bayes(core_clients: Client) -> None:
    """The ranking computed in the database is that of the formula, for every class, best first."""
    rows = core_clients.read("match_classes", present=PRESENT, absent=ABSENT, none_prior=NONE_PRIOR)
    expected = naive_bayes(core_clients, PRESENT, ABSENT)

    assert sorted(expected) == sorted(row["class_id"] for row in rows)
    for row in rows:
        score, probability = expected[row["class_id"]]
        assert row["log_score"] == pytest.approx(score, abs=1e-9)
        assert row["probability"] == pytest.approx(probability, rel=1e-9)
    assert sorted((row["log_score"] for row in rows), reverse=True) == [row["log_score"] for row in rows]


def test_match_classes_without_findings_gives_the_priors(core_clients: Client) -> None:
    """With nothing seen the probabilities are the shares of the priors, and sum to 1 less the prior of none."""
    rows = core_clients.read("match_classes", present=[], none_prior=NONE_PRIOR)

    assert sum(row["probability"] for row in rows) == pytest.approx(1 - NONE_PRIOR)
    assert all(row["supported"] == [] for row in rows)


def test_the_subgraph_is_complete(core_clients: Client) -> None:
    """One row has all accepted classes and steps, and what concerns the given observables only."""
    row = core_clients.read("match_subgraph", observables=["nccl-peer-closed", "unknown"])[0]
    counts = {item["name"]: item["count"] for item in core_clients.read("graph_counts")}
    shown = core_clients.read("observable_show", observable_id="nccl-peer-closed")[0]

    assert counts["FailureClass"] == len(row["classes"])
    assert counts["Mechanism"] == len(row["mechanisms"])
    assert counts["CAUSES"] == len(row["causes"])
    assert [["nccl-peer-closed", shown["leak"], shown["specificity"], shown["kind"]]] == row["leaks"]
    assert sorted(item["mechanism"] for item in shown["shown_by"]) == sorted(item[0] for item in row["shows"])
    expected = sorted((item[0], "nccl-peer-closed", item[1]) for item in shown["classes"])
    assert expected == sorted(map(tuple, row["expects"]))


def test_a_path_leads_through_the_chain(core_clients: Client) -> None:
    """The path starts at the root, each hop continues the last, and stays in the class's own chain."""
    hops = core_clients.read("path_to_symptom", class_id="gpu-engine-hang", observable="nccl-peer-closed")
    shown = core_clients.read("class_show", class_id="gpu-engine-hang")[0]

    assert shown["root"]["id"] == hops[0]["from_id"]
    assert [hop["to_id"] for hop in hops[:-1]] == [hop["from_id"] for hop in hops[1:]]
    assert ["CAUSES"] * (len(hops) - 1) + ["SHOWS"] == [hop["relation"] for hop in hops]
    assert all(hop["in_chain"] for hop in hops)
    assert hops[-1]["to_id"] == "nccl-peer-closed"


# -- a small graph


@pytest.fixture
def small(client: Client) -> Client:
    """The small base pack, and a site pack that retires its riser class and adds phrases."""
    load_pack(client, base_pack())
    load_pack(client, site_pack())
    return client


def adjust(client: Client, pack: str, label: str, target: str, **changes: Any) -> None:
    """Store one more pack that adjusts a class or an observable."""
    client.write(
        "restore_nodes",
        labels="Pack",
        rows=[{"id": pack, "name": pack, "revision": 1, "summary": "-", "checksum": "-"}],
    )
    identity = f"ADJUSTS:{pack}>{target}"
    row = {"id": identity, "source": pack, "target": target}
    properties = {"id": identity, "pack": pack, **changes}
    client.write(
        "restore_relations", pattern=f"Pack ADJUSTS {label}", rows=[{**row, "properties": properties}]
    )


def ids(rows: Sequence[dict[str, Any]], column: str = "class_id") -> list[str]:
    """Return one column."""
    return [row[column] for row in rows]


def test_only_accepted_classes_compete(small: Client) -> None:
    """A proposed class, and one that a site pack retires, are in no ranking; in lists they stand with their status."""
    assert ids(small.read("match_classes", present=["xid-79"])) == ["host-bent-shelf"]
    assert ids(small.read("what_explains", symptom="xid-79")) == ["host-bent-shelf"]
    subgraph = small.read("match_subgraph", observables=["xid-79"])[0]
    assert ids(subgraph["classes"], "id") == ["host-bent-shelf"]
    statuses = {row["id"]: (row["status"], row["prior"]) for row in small.read("class_list")}
    assert statuses == {
        "gpu-driver-stall": ("proposed", 1.0),
        "host-bent-shelf": ("accepted", 1.0),
        "host-loose-riser": ("retired", 2.0),
    }


def test_the_pack_with_the_greatest_id_wins(small: Client) -> None:
    """Of several adjustments each property is taken from the last pack, by id, that gives it."""
    adjust(small, "zebra", "FailureClass", "host-loose-riser", status="accepted")
    adjust(small, "a-first", "FailureClass", "host-loose-riser", status="proposed", prior=9.0)

    shown = small.read("class_show", class_id="host-loose-riser")[0]
    assert (shown["status"], shown["prior"]) == ("accepted", 2.0)
    rows = small.read("match_classes", present=[], none_prior=0.4)
    shares = {row["class_id"]: row["probability"] for row in rows}
    assert shares == pytest.approx({"host-loose-riser": 0.4, "host-bent-shelf": 0.2})
    priors = {
        item["id"]: item["prior"] for item in small.read("match_subgraph", observables=[])[0]["classes"]
    }
    assert priors == {"host-loose-riser": 2.0, "host-bent-shelf": 1.0}


def test_phrases_of_site_packs_are_added(small: Client) -> None:
    """An observable's own phrases come first, then those of site packs by pack id."""
    adjust(small, "a-first", "Observable", "xid-79", phrases=["a card is gone"])
    entry = next(row for row in small.read("lexicon") if row["id"] == "xid-79")
    shown = small.read("observable_show", observable_id="xid-79")[0]

    own = [phrase for phrase in entry["phrases"] if phrase not in ("a card is gone", "card 79 alarm")]
    assert [*own, "a card is gone", "card 79 alarm"] == entry["phrases"]
    assert entry["phrases"] == shown["phrases"]
    assert "no card alarm" in entry["negated"]
    assert entry["implies"] == ["any-xid"]


def test_implications_are_followed_between_given_observables(small: Client) -> None:
    """The narrower and the broader of two given observables are named together."""
    both = small.read("match_subgraph", observables=["any-xid", "xid-79"])[0]
    one = small.read("match_subgraph", observables=["xid-79"])[0]

    assert both["implies"] == [["xid-79", "any-xid"]]
    assert one["implies"] == []


def test_a_path_leaves_the_chain_only_where_it_must(small: Client) -> None:
    """Where the class's own chain does not reach the observable, steps of other classes are used and marked."""
    hops = small.read("path_to_symptom", class_id="host-bent-shelf", observable="step-hangs")

    steps = [(hop["from_id"], hop["to_id"], hop["in_chain"]) for hop in hops]
    assert steps[:2] == [("shelf-bends", "riser-loose", True), ("riser-loose", "bus-lost", True)]
    assert not all(in_chain for _, _, in_chain in steps)
    assert hops[-1]["to_id"] == "step-hangs"


def test_the_blast_radius_has_the_fewest_steps(small: Client) -> None:
    """Everything downstream is listed once, with its distance."""
    rows = small.read("blast_radius", mechanism="shelf-bends", hops=2)

    assert {(row["distance"], row["kind"], row["id"]) for row in rows} == {
        (0, "mechanism", "shelf-bends"),
        (1, "mechanism", "riser-loose"),
        (1, "observable", "shelf-alarm"),
        (2, "mechanism", "bus-lost"),
        (2, "observable", "replay-count"),
    }


def test_classes_without_prevention_are_accepted_faults(small: Client) -> None:
    """The site's class has no prevention; a proposed or retired one is not asked about."""
    assert ids(small.read("classes_without_prevention")) == ["host-bent-shelf"]


def test_a_mechanism_names_the_classes_that_share_it(small: Client) -> None:
    """The class that starts at a mechanism and those that pass it are told apart."""
    rows = small.read("classes_sharing_mechanism", mechanism="riser-loose")
    shown = small.read("mechanism_show", mechanism_id="riser-loose")[0]

    assert [(row["class_id"], row["role"]) for row in rows] == [
        ("host-loose-riser", "root"),
        ("host-bent-shelf", "step"),
    ]
    assert (rows[1]["causes"], rows[1]["caused_by"]) == (["bus-lost"], ["shelf-bends"])
    assert shown["rooted"] == ["host-loose-riser"]
    assert shown["classes"] == ["host-bent-shelf", "host-loose-riser"]


# -- incidents


def put(
    client: Client, identity: str, present: Sequence[str], *, absent: Sequence[str] = (), **properties: Any
) -> None:
    """Store an incident with these findings."""
    states = [(item, "present") for item in present] + [(item, "absent") for item in absent]
    client.write(
        "incident_put",
        incident={"id": identity, "title": f"About {identity}", "status": "open", **properties},
        findings=[
            {"observable": item, "state": state, "confidence": 0.9, "coverage": 1.0} for item, state in states
        ],
    )


def test_rare_findings_count_most_and_equals_are_newest_first(small: Client) -> None:
    """The score is the sum of the shared findings' rarity; of equals the newest comes first, then by id."""
    put(small, "old", ["any-xid"], opened="2025-01-01T00:00:00Z")
    put(small, "new", ["any-xid"], opened="2025-02-01T00:00:00Z")
    put(small, "undated", ["any-xid"])
    put(small, "rare", ["shelf-alarm"], opened="2024-01-01T00:00:00Z")
    put(small, "both", ["any-xid", "shelf-alarm"], absent=["xid-79"])

    rows = small.read("similar_incidents", observables=["any-xid", "shelf-alarm", "xid-79", "unknown"])

    assert ids(rows, "incident_id") == ["both", "rare", "new", "old", "undated"]
    assert rows[0]["shared"] == ["any-xid", "shelf-alarm"]
    assert rows[0]["score"] == pytest.approx(math.log(6 / 5) + math.log(6 / 3))
    assert rows[1]["score"] == pytest.approx(math.log(6 / 3))


def test_what_was_not_seen_is_not_shared(small: Client) -> None:
    """A finding that is absent in either incident makes them no more alike."""
    put(small, "clean", [], absent=["xid-79"])

    assert small.read("similar_incidents", observables=["xid-79"]) == []
    assert small.read("similar_incidents", incident="clean") == []


def test_similar_incidents_are_of_the_given_spaces(small: Client) -> None:
    """Incidents of other spaces are never shown; the default is the default space."""
    put(small, "here", ["xid-79"])
    put(small, "there", ["xid-79"], space="secret")

    assert ids(small.read("similar_incidents", observables=["xid-79"]), "incident_id") == ["here"]
    rows = small.read("similar_incidents", observables=["xid-79"], spaces=["secret"])
    assert ids(rows, "incident_id") == ["there"]
    assert small.read("incident_get", incident_id="there") == []
    assert [
        small.read("incident_count")[0]["incidents"],
        small.read("incident_count", spaces=["secret"])[0]["incidents"],
    ] == [2, 1]


def test_an_incident_is_not_like_itself(small: Client) -> None:
    """A stored incident that is asked about, or one that is left out, is not in the rows."""
    put(small, "this", ["xid-79", "any-xid"])
    put(small, "that", ["xid-79"])
    put(small, "other", ["any-xid"])

    assert ids(small.read("similar_incidents", incident="this"), "incident_id") == ["other", "that"]
    rows = small.read("similar_incidents", observables=["xid-79"], exclude="that")
    assert ids(rows, "incident_id") == ["this"]


def test_an_incident_is_stored_once(small: Client) -> None:
    """The same id again changes nothing that is stored, and adds only findings of other observables."""
    put(small, "one", ["xid-79"], opened="2025-01-01T00:00:00Z")
    first = small.read("incident_get", incident_id="one")
    put(small, "one", ["xid-79"], opened="2026-01-01T00:00:00Z")

    assert first == small.read("incident_get", incident_id="one")
    assert [
        (item["subject"], item["state"], item["confidence"], item["count"]) for item in first[0]["findings"]
    ] == [("xid-79", "present", 0.9, 1)]


def test_circumstances_are_findings_too(small: Client) -> None:
    """A finding names an observable or a circumstance; what is unknown is left out."""
    finding = {"state": "present", "confidence": 1.0, "coverage": 1.0}
    small.write(
        "incident_put",
        incident={"id": "one", "title": "One", "status": "open"},
        findings=[
            {**finding, "circumstance": "helps.reseat", "count": 3},
            {**finding, "observable": "xid-79", "first": "2025-01-01T00:00:00Z"},
            {**finding, "observable": "unknown"},
        ],
    )
    found = small.read("incident_get", incident_id="one")[0]["findings"]

    assert [(item["subject"], item["count"], item["first"]) for item in found] == [
        ("helps.reseat", 3, None),
        ("xid-79", 1, "2025-01-01T00:00:00Z"),
    ]


def test_an_incident_without_findings_is_stored(small: Client) -> None:
    """An incident may hold nothing but its title; forgotten, it is gone and knowledge stays."""
    put(small, "bare", [])
    assert ids(small.read("incident_get", incident_id="bare"), "id") == ["bare"]

    put(small, "full", ["xid-79"])
    small.write("incident_delete", incident_id="full")
    assert small.read("incident_get", incident_id="full") == []
    assert ids(small.read("observable_show", observable_id="xid-79"), "id") == ["xid-79"]
