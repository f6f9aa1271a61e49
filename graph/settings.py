"""Which database to use."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from failgraph.schema.errors import UsageError

SCHEMES: Final = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


@dataclass(frozen=True)
class DatabaseSettings:
    """Which database to use.

    Args:
        data_dir: where the embedded engine keeps its data; used when ``uri`` is None.
        uri: address of a Neo4j server: scheme bolt, bolt+s, bolt+ssc, neo4j, neo4j+s or neo4j+ssc.
        username: login; None with ``password`` None means the server asks for none.
        password: login.
        database: name of the database on the server; None is the user's home database.
        query_timeout: seconds after which the database ends a query.
        engine: embedded engine: auto, native or jvm.
    """

    data_dir: Path
    uri: str | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    database: str | None = None
    query_timeout: float = 60.0
    engine: str = "auto"

    def server(self) -> str:
        """Return the address of the Neo4j server.

        Raises:
            UsageError: it is none.
        """
        scheme, separator, host = (self.uri or "").partition("://")
        if scheme not in SCHEMES or not separator or not host:
            raise UsageError(
                f"{self.uri!r} is no address of a database; NEO4J_URI looks like neo4j://host:7687 "
                f"(schemes: {', '.join(SCHEMES)})."
            )
        if "@" in host:
            raise UsageError(
                "The address of the database holds a login; put that into NEO4J_USERNAME and NEO4J_PASSWORD."
            )
        return f"{scheme}://{host}"
