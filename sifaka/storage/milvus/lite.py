"""Milvus Lite: a server inside this process for each folder, shared by all who use the folder."""

import importlib
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sifaka.errors import ConfigurationError, StorageError


@dataclass(slots=True)
class _Running:
    uri: str
    server: Any
    database: Any
    users: int = 0


_running: dict[Path, _Running] = {}
"""By folder, for the process: the lock on a folder is the process's too."""
_guard = threading.Lock()


def start(folder: Path) -> str:
    """The URI of the folder's server, on a free port of the loopback; `stop` it once for each."""
    with _guard:
        if folder not in _running:
            _running[folder] = _start(folder)
        running = _running[folder]
        running.users += 1
        return running.uri


def stop(folder: Path) -> None:
    """Release the folder after its last user in this process."""
    with _guard:
        running = _running[folder]
        running.users -= 1
        if running.users:
            return
        del _running[folder]
        running.server.stop(None).wait()
        running.database.close()


def _start(folder: Path) -> _Running:
    try:
        lite = importlib.import_module("milvus_lite.adapter.grpc.server")
        errors = importlib.import_module("milvus_lite.exceptions")
    except ImportError as error:
        raise ConfigurationError(
            f"{str(folder)!r} needs Milvus Lite: {error}",
            "pip install 'sifaka-mcp[milvus]'",
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
    return _Running(f"http://127.0.0.1:{port}", server, database)
