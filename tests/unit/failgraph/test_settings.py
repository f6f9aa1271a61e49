"""Where settings come from, and what is wrong with a wrong one."""

from __future__ import annotations

from pathlib import Path

import pytest

from failgraph.schema.errors import UsageError
from failgraph.settings import (
    SETTINGS,
    Invocation,
    color_wanted,
    data_directory,
    database_settings,
    set_invocation,
)


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start every test without settings."""
    for setting in SETTINGS:
        monkeypatch.delenv(setting.name, raising=False)
    set_invocation(Invocation())


def test_embedded_by_default() -> None:
    """Without settings the embedded engine is used, in the user's data directory."""
    settings = database_settings()
    assert (settings.uri, settings.engine, settings.query_timeout) == (None, "auto", 60.0)
    assert settings.data_dir.name == "failgraph"


def test_neo4j_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """NEO4J_URI and its companions choose a server."""
    for name in ("URI", "USERNAME", "PASSWORD", "DATABASE"):
        monkeypatch.setenv(f"NEO4J_{name}", f"the {name}")
    settings = database_settings()
    assert (settings.uri, settings.username, settings.password, settings.database) == (
        "the URI",
        "the USERNAME",
        "the PASSWORD",
        "the DATABASE",
    )


def test_empty_variables_count_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty variable is what a compose file makes of a missing one."""
    monkeypatch.setenv("NEO4J_URI", "")
    monkeypatch.setenv("FAILGRAPH_ENGINE", "")
    assert (database_settings().uri, database_settings().engine) == (None, "auto")


def test_data_directory_argument_option_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """An argument wins over the option, the option over the environment; ~ is the home directory."""
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("FAILGRAPH_DATA_DIR", "~/environment")
    assert data_directory() == Path("/home/me/environment")
    set_invocation(Invocation(data_dir=Path("~/option")))
    assert data_directory() == Path("/home/me/option")
    assert data_directory(Path("/srv/argument")) == Path("/srv/argument")


@pytest.mark.parametrize("value", ["soon", "0", "-3", "nan", "inf"])
def test_a_timeout_is_a_number_above_zero(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong timeout names the variable and says what it must be."""
    monkeypatch.setenv("FAILGRAPH_QUERY_TIMEOUT", value)
    with pytest.raises(
        UsageError, match=r"FAILGRAPH_QUERY_TIMEOUT is .* but must be a number of seconds above 0"
    ):
        database_settings()


def test_an_unknown_engine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong engine names the variable and the right values."""
    monkeypatch.setenv("FAILGRAPH_ENGINE", "fast")
    with pytest.raises(UsageError, match="FAILGRAPH_ENGINE is 'fast', but must be one of auto, native, jvm"):
        database_settings()


def test_colour_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """--no-color and NO_COLOR both switch colour off."""
    assert color_wanted()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not color_wanted()
    monkeypatch.delenv("NO_COLOR")
    set_invocation(Invocation(color=False))
    assert not color_wanted()
