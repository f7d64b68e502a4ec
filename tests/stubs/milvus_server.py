"""Real Milvus servers on free ports of the loopback: one of each kind for all tests."""

import atexit
import importlib
import importlib.util
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any

import httpx
import pytest

OLD_TOKEN = "root:Milvus"
"""User and password of the Milvus 2.3.5, which asks for them."""
_ETCD = """
name: default
listen-client-urls: http://127.0.0.1:{clients}
advertise-client-urls: http://127.0.0.1:{clients}
listen-peer-urls: http://127.0.0.1:{peers}
initial-advertise-peer-urls: http://127.0.0.1:{peers}
initial-cluster: default=http://127.0.0.1:{peers}
"""


@cache
def lite_server() -> str:
    """The URL of a `milvus-lite server` that runs until the tests end."""
    return start_lite_server(_temporary("milvus-lite-server"), free_ports(1)[0])[0]


def start_lite_server(folder: Path, port: int) -> tuple[str, Callable[[], None]]:
    """The URL of another one, and what stops it."""
    options = f"--data-dir {folder}/data --host 127.0.0.1 --port {port}".split()
    command = [sys.executable, "-m", "milvus_lite", "server", *options]
    with (folder / "log").open("a") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)

    def stop() -> None:
        process.terminate()
        process.wait(20)

    atexit.register(stop)
    _wait_for(port, process)
    return f"milvus+http://127.0.0.1:{port}", stop


@cache
def server_2_3() -> str:
    """The URL of a real Milvus 2.3.5 that runs until the tests end; skips where there is none."""
    if importlib.util.find_spec("milvus") is None:
        pytest.skip("the package milvus==2.3.5 is for x86-64 Linux, and is not installed")
    milvus: Any = importlib.import_module("milvus")
    folder = _temporary("milvus-2-3")
    names = ("etcd", "proxy", "proxy_internal", "root_coord", "query_coord", "query_node")
    names += ("index_coord", "index_node", "data_coord", "data_node")
    *ports, peers, web = free_ports(len(names) + 2)
    config = milvus.MilvusServerConfig(
        data_dir=str(folder),
        **{f"{name}_port": port for name, port in zip(names, ports, strict=True)},
    )
    config.set("authorization_enabled", True)
    # The etcd inside it listens on fixed ports unless it has a file of its own.
    (folder / "etcd.yaml").write_text(_ETCD.format(clients=ports[0], peers=peers))
    data = "  data:\n    dir: {{ etcd_data_dir }}\n"
    own = f"  config:\n    path: {folder / 'etcd.yaml'}\n"
    config.template_text = config.template_text.replace(data, own + data)
    server = milvus.MilvusServer(config, wait_for_started=False)
    server.webservice_port = web
    atexit.register(server.stop)
    server.start()
    _wait_for(server.listen_port, server.server_proc, health=server.webservice_port)
    return f"milvus+http://{OLD_TOKEN}@127.0.0.1:{server.listen_port}"


def free_ports(count: int) -> list[int]:
    """Ports of the loopback that nobody listens on now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _temporary(name: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix=name))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _wait_for(port: int, process: "subprocess.Popen[bytes]", health: int | None = None) -> None:
    """Return when a server answers; `health` is the port of the page that says whether it can."""
    end = monotonic() + 60
    while monotonic() < end:
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                if health is None or b"OK" in _page(f"http://127.0.0.1:{health}/healthz"):
                    return
            except (OSError, httpx.HTTPError):
                continue
        else:
            break
    raise RuntimeError(f"the server on port {port} did not come up: {process.poll()}")


def _page(url: str) -> bytes:
    return httpx.get(url, timeout=5).content
