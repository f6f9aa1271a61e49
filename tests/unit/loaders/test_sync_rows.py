"""A pack as rows of the graph, and the rows as a pack again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from failgraph.graph.network import Network
from failgraph.graph.pack_store import LEARNT, NodeRow, Rows, node_query, relation_query
from failgraph.loaders.pack_content import pack_content
from failgraph.loaders.pack_plan import wanted_rows
from failgraph.loaders.pack_rows import PackRows, pack_rows, presentation_id, source_id
from failgraph.queries.registry import get_query
from failgraph.schema.errors import PackError
from failgraph.schema.nodes import node_properties
from failgraph.schema.pack import PackContent
from failgraph.schema.relations import relation_id, relation_properties
from tests.small_packs import base_pack, site_pack


def nothing_known(network: Network, mechanisms: Iterable[str]) -> Mapping[str, Mapping[str, float]]:
    """Stand in for the inference: every observable at its leak."""
    return dict.fromkeys(mechanisms, network.leaks)


def base_rows() -> Rows:
    """Return what the graph holds after a load of the base pack."""
    return wanted_rows(Rows(), "base", pack_rows(base_pack(), "checksum"), nothing_known)


def class_item(**changes: Any) -> dict[str, Any]:
    """Return a class of the base pack with some keys changed."""
    return {**base_pack().classes[0].model_dump(mode="json"), **changes}


def said(content: PackContent) -> PackRows:
    """Return the rows of a pack."""
    return pack_rows(content, "checksum")


def test_every_part_of_a_pack_comes_back_from_its_rows() -> None:
    """A pack that uses every key comes back as it went in, lists in their order."""
    assert pack_content(base_rows(), "base") == base_pack()


def test_a_site_pack_comes_back_from_the_rows_of_all_packs() -> None:
    """Adjustments, shared steps and layers of another pack come back too, and the other pack is as before."""
    both = wanted_rows(base_rows(), "site", said(site_pack()), nothing_known)
    assert pack_content(both, "site") == site_pack()
    assert pack_content(both, "base") == base_pack()


def test_a_narrative_describes_its_class() -> None:
    """A narrative is a node of its own that describes its class; one outside all classes describes nothing."""
    rows = base_rows()
    assert [row.id for row in rows.labelled("Narrative")] == [
        "host-loose-riser/10",
        "host-loose-riser/2",
        "outside/1",
    ]
    assert sorted(row.start[1] for row in rows.relations.values() if row.type == "DESCRIBES") == [
        "host-loose-riser/10",
        "host-loose-riser/2",
    ]


def test_a_symptom_is_what_a_person_sees() -> None:
    """Behaviour gets the label Symptom, every other kind Evidence; both are keyed as Observable."""
    found = {row.id: row.label for row in base_rows().labelled("Observable")}
    assert found == {
        "any-xid": "Evidence",
        "boot-clean": "Evidence",
        "replay-count": "Evidence",
        "step-hangs": "Symptom",
        "xid-79": "Evidence",
    }


def test_words_become_numbers() -> None:
    """SHOWS takes its strength from the word, an observable its leak from the specificity."""
    rows = base_rows()
    shows = rows.relations[relation_id("SHOWS", "bus-lost", "xid-79")]
    assert (shows.properties["strength"], shows.properties["word"]) == (0.75, "usually")
    assert rows.nodes["Observable", "xid-79"].properties["leak"] == 0.005


def test_rows_hold_what_the_schema_declares_and_nothing_learnt() -> None:
    """Every row names all properties of its model, so that a load can remove one; learnt counts are never named."""
    for node in base_rows().nodes.values():
        assert node.properties.keys() <= node_properties(node.label) - {"id"}
    for relation in base_rows().relations.values():
        assert relation.properties.keys() == relation_properties(relation.type) - {"id"} - LEARNT


def test_every_kind_of_row_has_its_query() -> None:
    """Labels and types cannot be parameters: each has a query that writes it, with the right labels in its text."""
    both = wanted_rows(base_rows(), "site", said(site_pack()), nothing_known)
    for node in both.nodes.values():
        query = get_query(node_query(node))
        assert query.access == "write"
        assert f":{node.label} {{id" in query.text
    for relation in both.relations.values():
        text = get_query(relation_query(relation)).text
        assert f"(source:{relation.start[0]} " in text
        assert f"(target:{relation.end[0]} " in text
        assert f"[r:{relation.type} " in text


def test_a_metric_is_kept_as_json() -> None:
    """The parsed metric signature is one text property, whatever keys it has."""
    stored = base_rows().nodes["Observable", "replay-count"].properties["metric"]
    assert json.loads(stored) == {"name": "DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "value": 0, "window": "5m"}


def test_each_pack_owns_its_sources() -> None:
    """The same text in two packs is two sources, so unloading one takes nothing from the other."""
    assert source_id("base", "A field report") != source_id("site", "A field report")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("half-lit node", "c/half-lit-node"), ("GPU (80 GB): lost", "c/gpu-80-gb-lost"), (" -a- ", "c/a")],
)
def test_presentations_are_named_in_kebab_case(name: str, expected: str) -> None:
    """The id of a presentation comes from its class and name."""
    assert presentation_id("c", name) == expected


def test_a_node_properties_row_is_plain() -> None:
    """Properties are what both engines store alike: texts, numbers, truth values, lists of texts, or unset."""
    rows = base_rows()
    properties = [row.properties for row in rows.nodes.values()]
    properties += [row.properties for row in rows.relations.values()]
    for value in (value for row in properties for value in row.values()):
        is_texts = isinstance(value, list) and value and all(isinstance(item, str) for item in value)
        assert value is None or isinstance(value, str | int | float | bool) or is_texts


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"presentations": [{"name": n, "description": "d"} for n in ("One face", "one-face")]},
            "pack base defines presentation gpu-driver-stall/one-face twice; rename or remove one",
        ),
        (
            {"expects": {"always": ["xid-79"], "rarely": ["xid-79"]}},
            "class gpu-driver-stall expects observable xid-79 twice; keep one word for it",
        ),
        (
            {"sources": ["A", "A"]},
            (
                "pack base says twice that failure class gpu-driver-stall CITED_FROM source "
                f"{source_id('base', 'A')}; remove one"
            ),
        ),
        (
            {"chain": {"driver-stalls": [], "bus-lost": []}},
            "mechanism bus-lost stands alone in the chain of class gpu-driver-stall; say what causes it, or remove it",
        ),
    ],
)
def test_what_the_graph_cannot_hold_is_refused(changes: dict[str, Any], message: str) -> None:
    """What would be lost or mixed up on the way into the graph is refused in one sentence."""
    with pytest.raises(PackError) as caught:
        said(base_pack(classes=[class_item(**changes)]))
    assert caught.value.message == message


def test_a_mechanism_alone_is_a_chain() -> None:
    """A class whose root causes nothing keeps its one mechanism."""
    content = base_pack(classes=[class_item(chain={"driver-stalls": []}, specialises=[])], narratives=[])
    rows = wanted_rows(Rows(), "base", said(content), nothing_known)
    assert pack_content(rows, "base").classes[0].chain == {"driver-stalls": ()}


def test_a_pack_row_owns_itself() -> None:
    """The node of a pack belongs to the pack, like everything it defines."""
    owners = {row.pack for row in base_rows().nodes.values()}
    assert owners == {"base"}
    assert NodeRow("Pack", "base", {}).pack == "base"
