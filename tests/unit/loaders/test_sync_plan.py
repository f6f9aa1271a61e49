"""What the graph shall hold after a load, and what has to be written for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from failgraph.graph.network import UNFITTED, Network
from failgraph.graph.pack_store import Changes, Count, Rows, changes, write_steps
from failgraph.loaders.pack_content import pack_content
from failgraph.loaders.pack_plan import wanted_rows
from failgraph.loaders.pack_rows import pack_rows
from failgraph.schema.errors import ConflictError, FailgraphError, PackError
from failgraph.schema.pack import PackContent
from tests.small_packs import base_pack, site_pack


def reach(network: Network, mechanisms: Iterable[str]) -> Mapping[str, Mapping[str, float]]:
    """Stand in for the inference: one half for every observable that a mechanism or its effects show."""
    given: dict[str, Mapping[str, float]] = {}
    for mechanism in mechanisms:
        reached = {mechanism}
        for _ in network.causes:
            reached |= {effect for cause, effect, _ in network.causes if cause in reached}
        shown = {observable for shows, observable, _ in network.shows if shows in reached}
        given[mechanism] = {id_: 0.5 if id_ in shown else leak for id_, leak in network.leaks.items()}
    return given


def loaded(*contents: PackContent, into: Rows | None = None) -> Rows:
    """Return what the graph holds after loads of these packs, one after the other."""
    rows = into or Rows()
    for content in contents:
        rows = wanted_rows(rows, content.header.id, pack_rows(content, repr(content)), reach)
    return rows


def unloaded(rows: Rows, pack: str) -> Rows:
    """Return what the graph holds after a pack was unloaded."""
    return wanted_rows(rows, pack, None, reach)


def applied(stored: Rows, difference: Changes) -> Rows:
    """Return what a graph with the stored rows holds once the changes are written, as a database would."""
    gone = set(difference.removed_nodes)
    kept = {
        id_: row
        for id_, row in stored.relations.items()
        if id_ not in difference.removed_relations and not {row.start, row.end} & gone
    }
    nodes = {key: row for key, row in stored.nodes.items() if key not in gone}
    nodes.update((row.key, row) for row in difference.put_nodes)
    kept.update((row.id, row) for row in difference.put_relations)
    return Rows(nodes, kept)


def items(content: PackContent, part: str, change: Callable[[list[dict[str, Any]]], object]) -> PackContent:
    """Return a base pack with one part changed in place."""
    data = content.model_dump(mode="json")
    change(data[part])
    return base_pack(**{key: value for key, value in data.items() if value})


def without(id_: str) -> Callable[[list[dict[str, Any]]], object]:
    """Return a change that removes an item."""

    def change(part: list[dict[str, Any]]) -> None:
        part[:] = [item for item in part if item["id"] != id_]

    return change


def with_key(id_: str, **keys: Any) -> Callable[[list[dict[str, Any]]], object]:
    """Return a change that sets keys of an item."""

    def change(part: list[dict[str, Any]]) -> None:
        for item in part:
            if item["id"] == id_:
                item.update(keys)

    return change


EDITS = (
    ("mechanisms", with_key("bus-lost", name="The card is gone", summary=None)),
    (
        "observables",
        with_key("xid-79", phrases=["card gone"], implies=[], note="New.", specificity="generic"),
    ),
    ("observables", with_key("step-hangs", kind="log", signature="stuck")),
    ("observables", without("boot-clean")),
    ("classes", with_key("host-loose-riser", refuters=[], sources=["A field report"], remedies=["Do it."])),
    (
        "classes",
        with_key("host-loose-riser", chain={"riser-loose": ["bus-lost"], "bus-lost": ["job-aborts"]}),
    ),
    (
        "classes",
        with_key("gpu-driver-stall", root="bus-lost", layer="gpu", chain={"bus-lost": ["job-aborts"]}),
    ),
    ("classes", without("gpu-driver-stall")),
    ("checks", without("kernel-log")),
    ("checks", with_key("look-at-riser", reveals=["xid-79", "scope.one-gpu"])),
    ("circumstances", with_key("scope.one-gpu", base_rate=0.25, note=None)),
    ("layers", with_key("gpu", name="Accelerator")),
)
"""Edits of the base pack; some only make sense together (a refuter refers to boot-clean)."""


def edited(chosen: Iterable[int]) -> PackContent:
    """Return the base pack after some of the edits."""
    content = base_pack()
    for index in chosen:
        part, change = EDITS[index]
        content = items(content, part, change)
    return content


@settings(deadline=None)
@given(st.sets(st.integers(0, len(EDITS) - 1)), st.booleans())
def test_a_changed_pack_leaves_what_a_fresh_load_of_it_gives(chosen: set[int], with_site: bool) -> None:
    """Whatever changed in a pack, the written differences lead to the rows of a fresh load, no more and no less."""
    content = edited(sorted(chosen))
    others = [site_pack()] if with_site else []
    before = loaded(base_pack(), *others)
    try:
        wanted = loaded(content, into=before)
    except FailgraphError as refused:
        with pytest.raises(type(refused)):
            loaded(content, *others)
        return
    assert applied(before, changes(before, wanted)) == wanted
    assert wanted == loaded(content, *others)
    assert pack_content(wanted, "base") == content


@settings(deadline=None)
@given(st.sets(st.integers(0, len(EDITS) - 1)))
def test_counts_say_how_many_rows_are_touched(chosen: set[int]) -> None:
    """Added less removed is the growth of the graph, and the same pack again touches nothing."""
    before = loaded(base_pack())
    try:
        wanted = loaded(edited(sorted(chosen)), into=before)
    except FailgraphError:
        return
    difference = changes(before, wanted)
    nodes, relations = difference.node_counts.values(), difference.relation_counts.values()
    assert sum(c.added - c.removed for c in nodes) == len(wanted.nodes) - len(before.nodes)
    assert sum(c.added - c.removed for c in relations) == len(wanted.relations) - len(before.relations)
    assert changes(wanted, wanted).size == 0


def test_a_pack_that_is_unloaded_leaves_no_trace() -> None:
    """Unloading gives back the graph from before the load, shared steps and expectations included."""
    before = loaded(base_pack())
    assert unloaded(loaded(base_pack(), site_pack()), "site") == before
    assert unloaded(before, "base") == Rows()


def test_the_order_of_loads_does_not_matter() -> None:
    """Two packs that do not know each other give the same graph, whichever came first."""
    header = {"id": "other", "name": "Other", "revision": 1, "summary": "s", "requires": ["base"]}
    other = site_pack(
        header=header,
        mechanisms=[],
        observables=[],
        fitted=None,
        adjustments=[],
        classes=[
            {
                "id": "gpu-other",
                "layer": "gpu",
                "name": "n",
                "summary": "s",
                "root": "bus-lost",
                "chain": {"bus-lost": ["job-aborts"], "riser-loose": ["bus-lost"]},
                "expects": {"always": ["any-xid"]},
            }
        ],
    )
    assert loaded(base_pack(), site_pack(), other) == loaded(base_pack(), other, site_pack())


def test_a_shared_step_is_one_relationship_with_all_its_classes() -> None:
    """A step belongs to the required pack, with its strength; the other pack's class counts while that is loaded."""
    id_ = "CAUSES:riser-loose>bus-lost"
    alone = loaded(base_pack())
    both = loaded(site_pack(), into=alone)
    assert alone.relations[id_].properties == {
        "pack": "base",
        "strength": 0.85,
        "classes": ["host-loose-riser"],
    }
    assert both.relations[id_].properties == {
        "pack": "base",
        "strength": 0.85,
        "classes": ["host-bent-shelf", "host-loose-riser"],
    }


def test_a_step_that_its_owner_drops_passes_to_the_other_pack() -> None:
    """When the required pack no longer has a step or a fit, the pack that still does has both."""
    smaller = items(
        base_pack(),
        "classes",
        with_key("host-loose-riser", root="bus-lost", layer="gpu", chain={"bus-lost": ["job-aborts"]}),
    ).model_copy(update={"fitted": None})
    step = loaded(smaller, into=loaded(base_pack(), site_pack())).relations["CAUSES:riser-loose>bus-lost"]
    assert step.properties == {"pack": "site", "strength": 0.1, "classes": ["host-bent-shelf"]}


def test_an_unfitted_step_has_the_usual_strength() -> None:
    """A step that no pack fitted gets one strength for all."""
    assert loaded(base_pack()).relations["CAUSES:bus-lost>driver-stalls"].properties["strength"] == UNFITTED


def test_expectations_hold_words_and_what_exceeds_the_leak() -> None:
    """EXPECTS has every pair with an expert's word, and every pair whose probability is above the leak."""
    rows = loaded(base_pack())
    found = {
        row.end[1]: (row.properties["probability"], row.properties["word"])
        for row in rows.typed("EXPECTS")
        if row.start[1] == "host-loose-riser"
    }
    assert found == {
        "any-xid": (0.5, None),
        "replay-count": (0.5, "sometimes"),
        "step-hangs": (0.5, "sometimes"),
        "xid-79": (0.5, "usually"),
    }


def test_only_accepted_classes_spread() -> None:
    """A class that is not accepted keeps its expert's words, adds no steps to the network and expects no more."""
    adjusting = loaded(
        base_pack(), renamed("new", adjustments=[{"target": "host-loose-riser", "status": "retired"}])
    )
    found = {
        row.id: (row.properties["probability"], row.properties["word"]) for row in adjusting.typed("EXPECTS")
    }
    assert found == {
        "EXPECTS:gpu-driver-stall>step-hangs": (0.5, "always"),
        "EXPECTS:host-loose-riser>replay-count": (0.5, "sometimes"),
        "EXPECTS:host-loose-riser>step-hangs": (0.15, "sometimes"),
        "EXPECTS:host-loose-riser>xid-79": (0.005, "usually"),
    }
    accepting = loaded(
        base_pack(), renamed("new", adjustments=[{"target": "gpu-driver-stall", "status": "accepted"}])
    )
    assert "EXPECTS:gpu-driver-stall>any-xid" in accepting.relations


def test_a_word_without_a_path_keeps_its_relationship() -> None:
    """What an expert said is kept even where the structure gives no more than the leak."""
    content = items(base_pack(), "classes", with_key("gpu-driver-stall", expects={"rarely": ["boot-clean"]}))
    row = loaded(content).relations["EXPECTS:gpu-driver-stall>boot-clean"]
    assert row.properties == {"pack": "base", "probability": 0.15, "word": "rarely"}


def renamed(pack: str, **changes: Any) -> PackContent:
    """Return a pack without content of its own but the changes."""
    header = {"id": pack, "name": "n", "revision": 1, "summary": "s", "requires": ["base"]}
    empty: dict[str, Any] = {
        "mechanisms": [],
        "observables": [],
        "classes": [],
        "adjustments": [],
        "fitted": None,
    }
    return site_pack(**{**empty, "header": header, **changes})


MECHANISM = {"id": "bus-lost", "name": "n", "layer": "gpu"}
OBSERVABLE = next(item for item in base_pack().observables if item.id == "xid-79")
CLASS = {
    "id": "gpu-new",
    "layer": "gpu",
    "name": "n",
    "summary": "s",
    "root": "bus-lost",
    "chain": {"bus-lost": ["job-aborts"]},
    "expects": {},
}


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (
            renamed("new", mechanisms=[MECHANISM]),
            ConflictError,
            "mechanism bus-lost is defined by pack base and by pack new; give it another id in new",
        ),
        (
            renamed("new", observables=[OBSERVABLE]),
            ConflictError,
            (
                "observable xid-79 is defined by pack base and by pack new; change it in adjustments.yaml, or give "
                "it another id in new"
            ),
        ),
        (
            renamed("new", classes=[{**CLASS, "root": "gone"}]),
            PackError,
            (
                "failure class gpu-new of pack new refers to mechanism gone, which no loaded pack defines; correct the "
                "id, or load the pack that defines it first"
            ),
        ),
        (
            renamed("new", classes=[{**CLASS, "expects": {"always": ["gone"]}}]),
            PackError,
            (
                "failure class gpu-new of pack new refers to observable gone, which no loaded pack defines; correct the "
                "id, or load the pack that defines it first"
            ),
        ),
        (
            renamed(
                "new", header={"id": "new", "name": "n", "revision": 1, "summary": "s", "requires": ["x"]}
            ),
            PackError,
            "pack new requires pack x, which is not loaded; load x first",
        ),
        (
            renamed("new", header={"id": "new", "name": "n", "revision": 1, "summary": "s"}, classes=[CLASS]),
            PackError,
            "failure class gpu-new of pack new refers to mechanism bus-lost of pack base; add base to its requires",
        ),
        (
            renamed("new", classes=[{**CLASS, "chain": {"job-aborts": ["bus-lost"]}}]),
            PackError,
            (
                "with pack new the chains lead in a circle: bus-lost > driver-stalls > job-aborts > bus-lost; "
                "remove one of its steps"
            ),
        ),
        (
            renamed("new", adjustments=[{"target": "gone", "prior": 2.0}]),
            PackError,
            "pack new adjusts failure class gone, which no loaded pack defines; correct the id",
        ),
        (
            renamed("new", adjustments=[{"target": "xid-79", "prior": 2.0, "phrases": ["p"]}]),
            PackError,
            (
                "pack new must change either prior and status of a class or phrases of an observable under xid-79; "
                "write one of the two"
            ),
        ),
        (
            renamed("new", classes=[CLASS], adjustments=[{"target": "gpu-new", "prior": 2.0}]),
            PackError,
            "pack new adjusts its own failure class gpu-new; change it where it is defined instead",
        ),
    ],
)
def test_a_pack_that_does_not_fit_is_refused(
    content: PackContent, error: type[FailgraphError], message: str
) -> None:
    """An id that is taken or unknown, a missing pack or a circle is refused in one sentence that says what to do."""
    with pytest.raises(error) as caught:
        loaded(content, into=loaded(base_pack()))
    assert caught.value.message == message


def test_what_another_pack_needs_cannot_go() -> None:
    """A new version of a pack, or its unloading, must not break the packs that build on it."""
    both = loaded(base_pack(), site_pack())
    smaller = items(base_pack(), "circumstances", without("helps.reseat"))
    smaller = items(smaller, "checks", with_key("look-at-riser", reveals=[]))
    smaller = items(smaller, "classes", with_key("host-loose-riser", circumstances={}))
    with pytest.raises(ConflictError) as caught:
        loaded(smaller, into=both)
    assert caught.value.message == (
        "failure class host-bent-shelf of pack site needs circumstance helps.reseat of pack base; "
        "change or unload site first"
    )
    with pytest.raises(ConflictError) as caught:
        unloaded(both, "base")
    assert caught.value.message == "pack site requires pack base; unload site first"


def test_packs_that_require_each_other_are_refused() -> None:
    """A pack cannot come to require a pack that requires it."""
    header = {"id": "base", "name": "n", "revision": 2, "summary": "s", "requires": ["site"]}
    with pytest.raises(PackError) as caught:
        loaded(base_pack(header=header), into=loaded(base_pack(), site_pack()))
    assert caught.value.message == (
        "pack base requires itself, through base, site; remove one of the requirements"
    )


def test_a_new_label_makes_the_node_anew() -> None:
    """A symptom that becomes evidence is removed and made again, with every relationship of it."""
    before = loaded(base_pack())
    changed = items(base_pack(), "observables", with_key("step-hangs", kind="log", signature="stuck"))
    difference = changes(before, loaded(changed, into=before))
    assert difference.removed_nodes == (("Observable", "step-hangs"),)
    assert difference.node_counts == {"Evidence": Count(changed=1), "Pack": Count(changed=1)}
    touched = {row.id for row in difference.put_relations}
    assert {"SHOWS:driver-stalls>step-hangs", "EXPECTS:gpu-driver-stall>step-hangs"} <= touched


def test_steps_are_small_and_begin_with_the_guard() -> None:
    """The first step counts the change, removals come before what is put, and no statement takes too many rows."""
    before = loaded(base_pack(), site_pack())
    many = Rows(
        {
            ("Mechanism", f"m{number}"): replace(before.nodes["Mechanism", "bus-lost"], id=f"m{number}")
            for number in range(1500)
        }
    )
    steps = write_steps(changes(before, many), 7)
    assert steps[0] == ("advance_catalogue", {"expected": 7})
    names = [name for name, _ in steps]
    assert names[-2:] == ["merge_mechanism", "merge_mechanism"]
    assert [len(values["rows"]) for name, values in steps if name == "merge_mechanism"] == [1000, 500]
    assert set(names[1:-2]) == {"remove_nodes"}
