"""What loading packs needs beside the database."""

from __future__ import annotations

import pytest

from failgraph.loaders import sync
from failgraph.loaders.packs import core_pack_path, read_pack
from failgraph.loaders.sync import in_load_order, pack_checksum, shipped_revision
from tests.small_packs import base_pack, site_pack


def test_required_packs_come_first() -> None:
    """Packs are loaded in an order in which each finds what it requires, however they were named."""
    header = {"id": "annex", "name": "n", "revision": 1, "summary": "s", "requires": ["site"]}
    annex = site_pack(header=header)
    ordered = in_load_order([annex, site_pack(), base_pack()])
    assert [content.header.id for content in ordered] == ["base", "site", "annex"]


def test_packs_that_require_each_other_keep_an_order() -> None:
    """A circle of packs is put out too: the load itself says what is wrong."""
    header = {"id": "base", "name": "n", "revision": 1, "summary": "s", "requires": ["site"]}
    ordered = in_load_order([site_pack(), base_pack(header=header)])
    assert [content.header.id for content in ordered] == ["base", "site"]


def test_the_checksum_is_of_what_a_pack_says() -> None:
    """The same content has the same checksum in any order of its parts, and another with any other word."""
    content = base_pack()
    turned = content.model_copy(update={"observables": content.observables[::-1]})
    renamed = base_pack(header={**content.header.model_dump(), "name": "Basis"})
    assert pack_checksum(turned) == pack_checksum(content)
    assert pack_checksum(renamed) != pack_checksum(content)


def test_the_checksum_follows_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the same pack gives other rows in a new version, its checksum changes, so a load writes them."""
    before = pack_checksum(base_pack())
    monkeypatch.setattr(sync, "ROWS_VERSION", sync.ROWS_VERSION + 1)
    assert pack_checksum(base_pack()) != before


def test_the_shipped_revision_is_read_without_parsing() -> None:
    """The quick look at pack.yaml gives the revision that the whole file says."""
    assert shipped_revision() == read_pack(core_pack_path()).header.revision
