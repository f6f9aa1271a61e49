"""The one client of the graph database, over the official driver. The only module that imports ``neo4j``.

Behind it runs the embedded engine or a Neo4j server; the queries and their rows are the same. Reads run in read
transactions, writes in managed transactions that the driver repeats when the database asks for it. On Neo4j,
bookmarks make every read see the client's own writes, on whichever member of a cluster it lands.
"""

from __future__ import annotations

import atexit
import logging
import re
import secrets
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, cast

from failgraph.graph import engine as engines
from failgraph.graph.driver_errors import LostEngineError, Place, translated
from failgraph.graph.imports import without_modules
from failgraph.graph.settings import DatabaseSettings
from failgraph.graph.values import Table, capped_table, shortened, typed_rows
from failgraph.graph.watchdog import TimeLimitExceeded, run_limited
from failgraph.queries.query import Query
from failgraph.queries.readonly import check_read_only
from failgraph.queries.registry import get_query
from failgraph.schema.errors import (
    DatabaseError,
    FailgraphError,
    Location,
    QueryTimeoutError,
    ReadOnlyError,
    UsageError,
)

if TYPE_CHECKING:
    import neo4j

__all__ = ["Client", "DatabaseSettings", "LostEngineError", "Table"]

Result = TypeVar("Result")

APPLICATION: Final = "failgraph"
CONNECT_ATTEMPTS: Final = 5
"""How often another process is looked for that serves the embedded engine, when one ends just now."""
MERGE_ATTEMPTS: Final = 5
"""How often the embedded engine gets a transaction again that met another writer's MERGE of the same thing."""

_VERSION = re.compile(r"ArcadeDB [0-9.]+")
_PROFILE = re.compile(r"\s*PROFILE\b", re.IGNORECASE)
_EXPLAIN = re.compile(r"\s*EXPLAIN\b", re.IGNORECASE)
_CREATE = re.compile(r"(?<!\bON )\bCREATE\b", re.IGNORECASE)

# One writer at a time in this process: the embedded engine would make both repeat their work.
_writer_lock: Final = threading.RLock()

_open_clients: Final[weakref.WeakSet[Client]] = weakref.WeakSet()


class Client:
    """A connection to the graph; a context manager.

    ``engine`` is embedded-native, embedded-jvm or neo4j; ``address`` is the server's address, or the data
    directory of the embedded engine.
    """

    def __init__(self, settings: DatabaseSettings, meanwhile: Callable[[], object] | None = None) -> None:
        self._settings = settings
        self._meanwhile = meanwhile
        self._embedded: engines.EmbeddedEngine | None = None
        self._driver: neo4j.Driver | None = None
        self._bookmarks: neo4j.BookmarkManager | None = None
        self._database = settings.database
        self._lost = False
        self._reconnecting = threading.Lock()
        self.engine = "neo4j"
        self.address = settings.uri or str(settings.data_dir)
        self.version = ""

    @classmethod
    def open(cls, settings: DatabaseSettings, meanwhile: Callable[[], object] | None = None) -> Self:
        """Connect to the server, or start (or find) the embedded engine.

        Args:
            settings: which database.
            meanwhile: done in another thread while the embedded engine starts; for imports that come next.

        Raises:
            UsageError: the address is none.
            DatabaseError: nothing answers there, or the login is refused.
            EngineError: the embedded engine cannot start.
        """
        client = cls(settings, meanwhile)
        try:
            client._connect()
        except BaseException:
            client.close()
            raise
        return client

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the embedded engine stops when nothing in this process uses it."""
        driver, self._driver = self._driver, None
        embedded, self._embedded = self._embedded, None
        try:
            if driver is not None:
                driver.close()
        finally:
            if embedded is not None:
                embedded.close()

    @property
    def embedded(self) -> bool:
        """Whether the database is the embedded engine."""
        return self._settings.uri is None

    @property
    def durable(self) -> bool | None:
        """Whether the embedded engine writes each commit to the disk; None where only its own process can tell."""
        return None if self._embedded is None else self._embedded.durable

    @property
    def serves(self) -> bool:
        """Whether this process runs the embedded engine, for others too."""
        return self._embedded is not None and self._embedded.serves

    # -- shipped queries

    def read(self, name: str, /, **parameters: Any) -> list[dict[str, Any]]:
        """Run a shipped query in a read transaction; return its rows with the declared columns.

        Raises:
            UsageError: there is no such query, it writes, or a parameter is wrong.
            DatabaseError: the database is gone, or refused or ended the query.
        """
        query = get_query(name)
        if query.access != "read":
            raise UsageError(f"Query {name} writes; it cannot run where only reading is allowed.")
        values = query.check(parameters)

        def work(transaction: neo4j.ManagedTransaction) -> list[dict[str, Any]]:
            return _rows(query, transaction.run(cast(Any, query.text), values))

        for _ in range(CONNECT_ATTEMPTS):
            # A read may be repeated; this process then serves the engine, or finds who does.
            with suppress(LostEngineError):
                return self._run(query, work, write=False)
        return self._run(query, work, write=False)

    def write(self, name: str, /, **parameters: Any) -> list[dict[str, Any]]:
        """Run a shipped query in one managed write transaction; return its rows.

        Raises:
            UsageError: there is no such query, or a parameter is wrong.
            ConflictError: it breaks a uniqueness constraint.
            DatabaseError: the database is gone, or refused or ended the query.
        """
        return self.write_all([(name, parameters)])[0]

    def write_all(self, steps: Sequence[tuple[str, Mapping[str, Any]]]) -> list[list[dict[str, Any]]]:
        """Run shipped queries in order, all in one managed transaction; return the rows of each.

        Raises:
            As :meth:`write`; then nothing of it is stored.
        """
        if not steps:
            return []
        checked = [
            (query, query.check(values))
            for query, values in ((get_query(name), values) for name, values in steps)
        ]

        def work(transaction: neo4j.ManagedTransaction) -> list[list[dict[str, Any]]]:
            return [_rows(query, transaction.run(cast(Any, query.text), values)) for query, values in checked]

        repeatable = not any(_CREATE.search(_without_header(query.text)) for query, _ in checked)
        return self._run(checked[0][0], work, write=True, attempts=MERGE_ATTEMPTS if repeatable else 1)

    def stream(self, name: str, /, **parameters: Any) -> Iterator[dict[str, Any]]:
        """Yield the rows of a shipped query as the database sends them, so that there may be any number.

        The read transaction stays open until the last row was taken.

        Raises:
            As :meth:`read`, also between two rows.
        """
        query = get_query(name)
        values = query.check(parameters)
        metadata = {"application": APPLICATION, "query": name}
        with (
            self._translated(Location(query.path)),
            self._session(write=False) as session,
            session.begin_transaction(metadata=metadata) as transaction,
        ):
            result = transaction.run(cast(Any, query.text), values)
            yield from typed_rows(query, result.keys(), (record.values() for record in result))

    def define(self, statements: Sequence[tuple[str, Location]]) -> None:
        """Run schema statements of a migration: in one transaction on Neo4j, one by one on the embedded engine.

        Raises:
            DatabaseError: the database refused one; its location is named.
        """
        transaction: Any = None
        with self._session(write=True) as session:
            for text, location in statements:
                with self._translated(location):
                    if transaction is None:
                        transaction = session if self.embedded else session.begin_transaction()
                    transaction.run(text).consume()
            if statements and not self.embedded:
                with self._translated(statements[-1][1]):
                    transaction.commit()

    # -- queries of users

    def run_read_only(self, text: str, parameters: Mapping[str, Any], *, timeout: float, limit: int) -> Table:
        """Run a user's Cypher so that it cannot change anything, cannot run on and cannot return without end.

        The text is checked for words that do more than read, and on Neo4j the planner must call it a reading
        query too; it runs in a read transaction that is rolled back. At the time limit the query is ended on the
        server, and its connection with it.

        Args:
            text: one statement.
            parameters: values for its ``$names``.
            timeout: seconds.
            limit: most rows to return.

        Raises:
            ReadOnlyError: it does more than read.
            UsageError: a parameter's value cannot be sent, or a bound is not positive.
            QueryTimeoutError: the time limit passed.
            DatabaseError: the database is gone, or refused or ended the query.
        """
        check_read_only(text)
        if timeout <= 0 or limit <= 0:
            raise UsageError("The time limit and the row limit of a query must be above 0.")
        token = f"{APPLICATION}-{secrets.token_hex(8)}"
        driver = self._new_driver()

        def work() -> Table:
            with self._translated(None):
                return self._read_and_roll_back(driver, text, token, parameters, timeout, limit)

        try:
            return run_limited(work, timeout=timeout, end=lambda: self._terminate(token), cut=driver.close)
        except (TimeLimitExceeded, QueryTimeoutError) as error:
            raise QueryTimeoutError(
                f"The query was ended after {timeout:g} s; make it more selective, or raise the time limit."
            ) from error
        except (TypeError, ValueError, OverflowError) as error:
            raise UsageError(
                f"A parameter cannot be sent to the database: {shortened(str(error))}."
            ) from error

    def _read_and_roll_back(
        self,
        driver: neo4j.Driver,
        text: str,
        token: str,
        parameters: Mapping[str, Any],
        timeout: float,
        limit: int,
    ) -> Table:
        # The token lets the watchdog find the query among those that run. It stands behind the text, so that
        # positions in error messages stay right.
        marked: Any = f"{text.rstrip().rstrip(';')}\n/* {token} */"
        values = dict(parameters)
        with (
            self._session(write=False, driver=driver, fetch_size=min(limit + 1, 1000)) as session,
            session.begin_transaction(
                metadata={"application": APPLICATION, "query": token}, timeout=timeout
            ) as tx,
        ):
            if not self.embedded and not _EXPLAIN.match(text):
                plan: Any = f"EXPLAIN {_PROFILE.sub('', marked, count=1)}"
                if tx.run(plan, values).consume().query_type != "r":
                    raise ReadOnlyError(
                        "The database says that this query does more than read; only reading is allowed."
                    )
            result = tx.run(marked, values)
            table = capped_table(result.keys(), (record.values() for record in result), limit)
            tx.rollback()
        return table

    def _terminate(self, token: str) -> None:
        """End the transactions whose query holds the token; where that is not allowed, the connection is cut."""
        with suppress(FailgraphError):
            for row in self.read("running_transactions", token=token):
                self.read("terminate_transaction", transaction_id=row["transaction_id"])

    # -- inner works

    def _connect(self) -> None:
        """Connect; where the process that serves the embedded engine ends just now, look again."""
        for attempt in range(1, CONNECT_ATTEMPTS):
            try:
                return self._connect_once()
            except LostEngineError:
                self.close()
                time.sleep(0.1 * attempt)
        return self._connect_once()

    def _connect_once(self) -> None:
        if self._settings.uri is None:
            self._embedded = engines.open_engine(
                self._settings.data_dir,
                self._settings.engine,
                command_timeout=self._settings.query_timeout,
                meanwhile=self._prepare,
            )
            # An open connection would keep the Java runtime, and with it this process, from ending.
            _open_clients.add(self)
            atexit.unregister(_close_clients)
            atexit.register(_close_clients)
            self.engine = f"embedded-{self._embedded.endpoint.kind}"
            self._database = engines.DATABASE
        else:
            self._bookmarks = _import_driver().GraphDatabase.bookmark_manager()
        self._driver = self._new_driver()
        with self._translated(None):
            agent = self._driver.get_server_info().agent
        match = _VERSION.search(agent)
        self.version = match[0] if match else agent.partition("/")[2]

    def _prepare(self) -> None:
        """Do in another thread what can be done while the engine starts."""
        _import_driver()
        if self._meanwhile is not None:
            self._meanwhile()

    def _connect_again(self) -> None:
        """Find the process that serves the embedded engine now, or become it."""
        with self._reconnecting:
            if self._lost:
                self.close()
                self._connect()
                self._lost = False

    def _new_driver(self) -> neo4j.Driver:
        library = _import_driver()
        if self._embedded is not None:
            endpoint = self._embedded.endpoint
            driver: neo4j.Driver = library.GraphDatabase.driver(
                endpoint.uri,
                auth=(engines.USERNAME, endpoint.password),
                user_agent=APPLICATION,
                initial_retry_delay=0.02,
                # A serving process that is gone does not come back.
                max_transaction_retry_time=10.0 if self._embedded.serves else 2.0,
            )
            return driver
        uri, username, password = self._settings.server(), self._settings.username, self._settings.password
        try:
            driver = library.GraphDatabase.driver(
                uri,
                auth=(username or "neo4j", password) if password is not None else None,
                user_agent=APPLICATION,
                connection_timeout=10.0,
                initial_retry_delay=0.2,
            )
        except (ValueError, library.exceptions.DriverError) as error:
            raise UsageError(f"{uri!r} is no address of a database ({error}); correct NEO4J_URI.") from error
        return driver

    def _session(
        self, *, write: bool, driver: neo4j.Driver | None = None, fetch_size: int = 1000
    ) -> neo4j.Session:
        driver = driver or self._driver
        if driver is None:
            raise DatabaseError("The connection to the database is closed; open a new client.")
        library = _import_driver()
        return driver.session(
            database=self._database,
            default_access_mode=library.WRITE_ACCESS if write else library.READ_ACCESS,
            bookmark_manager=self._bookmarks,
            fetch_size=fetch_size,
        )

    def _run(
        self,
        query: Query,
        work: Callable[[neo4j.ManagedTransaction], Result],
        *,
        write: bool,
        attempts: int = 1,
    ) -> Result:
        """Run the work in a managed transaction that carries the query's name to the server."""
        if self._lost:
            self._connect_again()
        library = _import_driver()
        named = library.unit_of_work(
            metadata={"application": APPLICATION, "query": query.name},
            timeout=None if self.embedded else self._settings.query_timeout,
        )(work)
        alone: AbstractContextManager[object] = _writer_lock if write and self.embedded else nullcontext()
        attempts = attempts if self.embedded else 1
        try:
            with self._translated(Location(query.path)), alone:
                for attempt in range(1, attempts + 1):
                    try:
                        with self._interruptible(write=write) as session:
                            result: Result = (session.execute_write if write else session.execute_read)(named)
                            return result
                    except library.exceptions.ConstraintError:
                        # On the embedded engine this is how a MERGE ends that another writer was faster with.
                        if attempt == attempts:
                            raise
                        time.sleep(0.02 * attempt)
        except LostEngineError:
            self._lost = True
            raise
        raise AssertionError("unreachable")

    @contextmanager
    def _interruptible(self, *, write: bool) -> Iterator[neo4j.Session]:
        """Give a session that Ctrl-C ends at once: its own end would wait for the answer of the running query."""
        session = self._session(write=write)
        try:
            yield session
        except KeyboardInterrupt:
            self._lost = True
            if self._driver is not None:
                self._driver.close()
            with suppress(DatabaseError), self._translated(None):
                session.close()
            raise
        except BaseException:
            session.close()
            raise
        session.close()

    @contextmanager
    def _translated(self, location: Location | None) -> Iterator[None]:
        """Translate the driver's errors into failgraph's."""
        library = _import_driver()
        try:
            yield
        except (library.exceptions.Neo4jError, library.exceptions.DriverError) as error:
            place = Place(self.address, self._database, self.embedded, self.serves)
            raise translated(error, library.exceptions, place, location) from error


def _close_clients() -> None:
    """Close what is still open when Python exits, before the engine's own end."""
    for client in list(_open_clients):
        with suppress(FailgraphError):
            client.close()


def _import_driver() -> Any:
    """Import the driver when it is first needed."""
    with without_modules("numpy", "pandas", "pyarrow"):
        import neo4j
    # Retries and the planner's hints are not for the terminal; whoever sets logging up still gets them.
    logger = logging.getLogger("neo4j")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    return neo4j


def _rows(query: Query, result: neo4j.Result) -> list[dict[str, Any]]:
    rows = list(typed_rows(query, result.keys(), (record.values() for record in result)))
    result.consume()
    return rows


def _without_header(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//"))
