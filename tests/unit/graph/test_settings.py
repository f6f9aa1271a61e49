"""Which addresses of a database are taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from failgraph.graph.settings import SCHEMES, DatabaseSettings
from failgraph.schema.errors import UsageError


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_of_the_driver_is_taken(scheme: str) -> None:
    """Plain, encrypted and routed addresses work."""
    uri = f"{scheme}://db.example:7687"

    assert uri == DatabaseSettings(data_dir=Path("x"), uri=uri).server()


@pytest.mark.parametrize("uri", ["localhost", "http://localhost:7474", "bolt://", "neo4j", "bolt:/x"])
def test_other_addresses_are_refused_with_an_example(uri: str) -> None:
    """The message shows how an address looks."""
    with pytest.raises(UsageError, match="NEO4J_URI looks like neo4j://host:7687"):
        DatabaseSettings(data_dir=Path("x"), uri=uri).server()


def test_a_login_in_the_address_is_refused_and_not_repeated() -> None:
    """A password never shows up in a message."""
    with pytest.raises(UsageError) as caught:
        DatabaseSettings(data_dir=Path("x"), uri="bolt://me:hunter2@db:7687").server()

    assert "hunter2" not in str(caught.value)


def test_the_password_is_not_shown() -> None:
    """Settings can be printed."""
    settings = DatabaseSettings(data_dir=Path("x"), uri="bolt://db", password="hunter2")

    assert "hunter2" not in repr(settings)
