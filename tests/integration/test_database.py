"""Opening, migrating and emptying a database, on both engines."""

from failgraph.graph.client import Client
from failgraph.graph.database import reset
from failgraph.graph.migrate import migration_state


def test_open_database_applies_all_migrations(client: Client) -> None:
    """A new database is migrated when it is opened."""
    assert () == migration_state(client).pending


def test_reset_of_an_empty_database_deletes_nothing(client: Client) -> None:
    """Emptying twice is harmless."""
    assert 0 == reset(client)
