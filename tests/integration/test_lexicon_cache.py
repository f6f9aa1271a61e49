"""The lexicon kept between runs, and what a second look at the graph spares."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from failgraph.graph import store
from failgraph.graph.client import Client
from failgraph.graph.lexicon_cache import kept_lexicon
from failgraph.loaders.sync import load_pack, unload_pack
from failgraph.schema.pack import LayerItem, ObservableItem, PackContent, PackHeader


def _refuse_lexicon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the query that reads all observables fail."""
    read = Client.read

    def reading(self: Client, name: str, /, **parameters: Any) -> list[dict[str, Any]]:
        assert name != "lexicon"
        return read(self, name, **parameters)

    monkeypatch.setattr(Client, "read", reading)


def test_kept_lexicon_is_that_of_the_graph(
    core_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lexicon comes back equal, in the same types, without the observables being read again."""
    expected = store.lexicon(core_client)
    assert expected == kept_lexicon(core_client, tmp_path)
    _refuse_lexicon(monkeypatch)

    actual = kept_lexicon(core_client, tmp_path)

    assert repr(expected) == repr(actual)


def test_damaged_lexicon_is_read_anew(core_client: Client, tmp_path: Path) -> None:
    """A file that is not sound is not read, and then it is sound again."""
    expected = kept_lexicon(core_client, tmp_path)
    (path,) = tmp_path.iterdir()
    sound = path.read_bytes()
    path.write_bytes(sound.replace(b"memory", b"memoir"))

    assert expected == kept_lexicon(core_client, tmp_path)
    assert sound == path.read_bytes()


def _pack(says: str) -> PackContent:
    return PackContent(
        header=PackHeader(id="small", name="Small", revision=1, summary="A small pack."),
        layers=(LayerItem(id="gpu", name="GPU", rank=1),),
        observables=(
            ObservableItem.model_validate(
                {
                    "id": "gpu-lost",
                    "kind": "log",
                    "verified": True,
                    "says": says,
                    "source": "kernel log",
                    "signature": "GPU has fallen off the bus",
                    "specificity": "strong",
                    "phrases": ["the GPU is gone"],
                }
            ),
        ),
    )


def test_kept_lexicon_follows_the_packs(embedded_client: Client, tmp_path: Path) -> None:
    """A pack that changes at the same revision, goes, or comes back gives the lexicon of that moment."""
    said = []
    for pack in (_pack("The GPU is lost."), _pack("The GPU has gone."), None, _pack("The GPU is lost.")):
        if pack is None:
            unload_pack(embedded_client, "small")
        else:
            load_pack(embedded_client, pack)
        assert store.lexicon(embedded_client) == kept_lexicon(embedded_client, tmp_path)
        said.append([entry.says for entry in kept_lexicon(embedded_client, tmp_path).entries])

    assert [["The GPU is lost."], ["The GPU has gone."], [], ["The GPU is lost."]] == said


def test_lexicon_of_a_server_is_not_kept(neo4j_client: Client, tmp_path: Path) -> None:
    """On a server others may edit the graph by hand, so its lexicon is read each time."""
    load_pack(neo4j_client, _pack("The GPU is lost."))

    assert store.lexicon(neo4j_client) == kept_lexicon(neo4j_client, tmp_path)
    assert [] == list(tmp_path.iterdir())


def test_widened_subgraph_is_the_subgraph_of_all(core_clients: Client) -> None:
    """The second look at the graph, which asks for less, gives what the whole query would."""
    few = ["nccl-peer-closed", "unknown"]
    more = [*few, *(entry.id for entry in store.lexicon(core_clients).entries[::40])]

    actual = store.widened(core_clients, store.subgraph(core_clients, few), more)

    assert store.subgraph(core_clients, more) == actual
