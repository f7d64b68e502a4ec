"""One connection, used from threads so that no event loop waits for it; for a folder, its server.

Milvus Lite is a server inside this process for each folder, shared by all who use the folder.
"""

import importlib
import threading
from contextlib import ExitStack
from pathlib import Path

from sifaka.errors import ConfigurationError, StorageError
from sifaka.extras import install
from sifaka.storage.address import StoreUrl
from sifaka.storage.milvus.client import connect, failures
from sifaka.storage.milvus.connection import MilvusConnection, MilvusPlace
from sifaka.storage.milvus.schema import Collections, ensure
from sifaka.storage.store import Worker

_AT_ONCE = 8


class MilvusWorker(Worker[MilvusConnection]):
    """Runs functions on the connection, some at a time."""

    def __init__(self, address: StoreUrl) -> None:
        super().__init__("sifaka.storage.milvus", f"the index {address.shown!r}", _AT_ONCE)
        self._address = address

    def _open(self, known: MilvusConnection | None) -> MilvusConnection:
        if known is not None:
            return known
        address, names = self._address, Collections(self._address.prefix)
        place = enter(address)
        with ExitStack() as undo:
            undo.callback(leave, address)
            client = connect(address, place.uri)
            undo.callback(client.close)
            with place.opening:
                with failures(address.shown):
                    version: str = client.get_server_version()
                ensure(client, address.shown, names.thoughts, "thoughts")
                full_text = ensure(client, address.shown, names.words, "words")
            undo.pop_all()
        return MilvusConnection(client, address.shown, version, names, place, full_text, set())

    def _close(self, opened: MilvusConnection) -> None:
        opened.client.close()
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
