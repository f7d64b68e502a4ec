"""One connection, used from worker threads so that no event loop ever waits for a server."""

import threading
from collections.abc import Callable
from typing import TypeVar

from anyio import CancelScope, to_thread

from sifaka.errors import StorageError
from sifaka.storage.milvus import lite
from sifaka.storage.milvus.address import DEFAULT_PREFIX, MilvusAddress
from sifaka.storage.milvus.client import connect, failures
from sifaka.storage.milvus.connection import MilvusConnection
from sifaka.storage.milvus.schema import Collections, ensure
from sifaka.storage.milvus.shared import shared_by
from sifaka.storage.threads import Threads

T = TypeVar("T")
_AT_ONCE = 8


class MilvusWorker:
    """Runs functions on the connection, some at a time, in threads.

    Nothing in it belongs to an event loop, so it outlives them; the first function that needs it
    connects.
    """

    def __init__(self, address: MilvusAddress, prefix: str) -> None:
        self.shared = shared_by(f"{address.place}/{prefix}")
        self._address = address
        self._names = Collections(prefix)
        self._connection: MilvusConnection | None = None
        self._closed = False
        self._at_work = 0
        self._change = threading.Condition()
        self._threads = Threads("sifaka.storage.milvus", _AT_ONCE)

    @property
    def place(self) -> str:
        """The URL, without secrets."""
        shown, prefix = self._address.shown, self._names.prefix
        return shown if prefix == DEFAULT_PREFIX else f"{shown}?prefix={prefix}"

    @property
    def used(self) -> bool:
        """True once the server was asked for something."""
        return self._connection is not None

    async def run(self, work: Callable[[MilvusConnection], T]) -> T:
        """The function's result. A task that is cancelled meanwhile waits for its end."""
        return await self._threads.run(lambda: self._run(work))

    async def aclose(self) -> None:
        """Disconnect when the functions at work are done; further calls change nothing."""
        with CancelScope(shield=True):
            await to_thread.run_sync(self._close)

    def _run(self, work: Callable[[MilvusConnection], T]) -> T:
        connection = self._enter()
        try:
            return work(connection)
        finally:
            with self._change:
                self._at_work -= 1
                self._change.notify_all()

    def _enter(self) -> MilvusConnection:
        with self._change:
            if self._closed:
                raise StorageError(f"the index {self._address.shown!r} is closed", "open it again")
            if self._connection is None:
                self._connection = self._open()
            self._at_work += 1
            return self._connection

    def _open(self) -> MilvusConnection:
        address = self._address
        uri = lite.start(address.folder) if address.folder else address.uri
        try:
            client = connect(address, uri)
            try:
                with self.shared.opening:
                    with failures(address.shown):
                        version = client.get_server_version()
                    names = self._names
                    ensure(client, address.shown, names.thoughts, "thoughts")
                    full_text = ensure(client, address.shown, names.words, "words")
                    with failures(address.shown):
                        former = names.former_words in client.list_collections()
                    self.shared.former_words = former
            except BaseException:
                client.close()
                raise
        except BaseException:
            if address.folder:
                lite.stop(address.folder)
            raise
        self.shared.opened()
        return MilvusConnection(
            client, address.shown, version, self._names, self.shared, full_text, set()
        )

    def _close(self) -> None:
        with self._change:
            self._closed = True
            self._change.wait_for(lambda: not self._at_work)
            connection, self._connection = self._connection, None
            if connection is None:
                return
            self.shared.closed()
            connection.client.close()
            if self._address.folder:
                lite.stop(self._address.folder)
