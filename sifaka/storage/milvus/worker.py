"""One connection, used from threads so that no event loop waits for it; for a folder, its server.

Milvus Lite is a server inside this process for each folder, shared by all who use the folder.
"""

import importlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from anyio import CancelScope, to_thread

from sifaka.errors import ConfigurationError, StorageError
from sifaka.extras import install
from sifaka.storage.address import StoreUrl
from sifaka.storage.milvus.client import connect, failures
from sifaka.storage.milvus.connection import MilvusConnection, MilvusPlace
from sifaka.storage.milvus.schema import Collections, ensure
from sifaka.storage.store import Threads

T = TypeVar("T")
_AT_ONCE = 8


class MilvusWorker:
    """Runs functions on the connection, some at a time, in threads.

    Nothing in it belongs to an event loop, so it outlives them; the first function that needs it
    connects.
    """

    def __init__(self, address: StoreUrl) -> None:
        self._address = address
        self._names = Collections(address.prefix)
        self._connection: MilvusConnection | None = None
        self._closed = False
        self._guard = threading.Lock()
        self._turns = threading.Semaphore(_AT_ONCE)
        self._threads = Threads("sifaka.storage.milvus", _AT_ONCE)

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
        with self._turns:
            return work(self._opened())

    def _opened(self) -> MilvusConnection:
        with self._guard:
            if self._closed:
                raise StorageError(f"the index {self._address.shown!r} is closed", "open it again")
            if self._connection is None:
                self._connection = self._open()
            return self._connection

    def _open(self) -> MilvusConnection:
        address, names = self._address, self._names
        place = enter(address)
        try:
            client = connect(address, place.uri)
            try:
                with place.opening:
                    with failures(address.shown):
                        version = client.get_server_version()
                    ensure(client, address.shown, names.thoughts, "thoughts")
                    full_text = ensure(client, address.shown, names.words, "words")
            except BaseException:
                client.close()
                raise
        except BaseException:
            leave(address)
            raise
        return MilvusConnection(client, address.shown, version, names, place, full_text, set())

    def _close(self) -> None:
        with self._guard:
            if self._closed:
                return
            self._closed = True
        for _ in range(_AT_ONCE):  # those at work end first
            self._turns.acquire()
        connection, self._connection = self._connection, None
        self._turns.release(_AT_ONCE)
        if connection is not None:
            connection.client.close()
            leave(self._address)


_places: dict[str, MilvusPlace] = {}
"""For the process: the lock on a folder is the process's too."""
_guard = threading.Lock()


def _name(address: StoreUrl) -> str:
    return str(address.folder or address.shown)


def enter(address: StoreUrl) -> MilvusPlace:
    """The place of an address; for a folder with a server on a free port. `leave` it once each."""
    with _guard:
        place = _places.get(_name(address))
        if place is None:
            folder = address.folder
            place = _start(folder) if folder else MilvusPlace(address.base, lambda: None)
            _places[_name(address)] = place
        place.users += 1
        return place


def leave(address: StoreUrl) -> None:
    """Release a place after its last user in this process."""
    with _guard:
        place = _places[_name(address)]
        place.users -= 1
        if not place.users:
            del _places[_name(address)]
            place.stop()


def _start(folder: Path) -> MilvusPlace:
    try:
        lite = importlib.import_module("milvus_lite.adapter.grpc.server")
        errors = importlib.import_module("milvus_lite.exceptions")
    except ImportError as error:
        raise ConfigurationError(
            f"{str(folder)!r} needs Milvus Lite: {error}",
            install("milvus"),
        ) from error
    if folder.is_file():
        raise ConfigurationError(
            f"{str(folder)!r} is a file, and Milvus Lite keeps a folder", "name another path"
        )
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        server, database, port = lite.start_server_in_thread(str(folder), host="127.0.0.1", port=0)
    except errors.DataDirLockedError as error:
        raise StorageError(
            f"another process has the Milvus Lite folder {str(folder)!r} open",
            "only one at a time can; close the other, or use a Milvus server",
        ) from error
    except (OSError, errors.MilvusLiteError) as error:
        raise StorageError(
            f"the Milvus Lite folder {str(folder)!r} cannot be opened: {error}",
            "check the folder and the rights on it",
        ) from error

    def stop() -> None:
        server.stop(None).wait()
        database.close()

    return MilvusPlace(f"http://127.0.0.1:{port}", stop)
