"""A real nginx with the configuration of compose.yaml, on loopback instead of Docker's networks."""

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

CONFIGURATION = Path(__file__).parents[2] / "distribution" / "nginx" / "default.conf"
_START_SECONDS = 20.0
_TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


@dataclass(frozen=True)
class Proxy:
    port: int
    folder: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def asked(self) -> set[int]:
        """The ports of the servers that have answered requests."""
        log = (self.folder / "access.log").read_text(encoding="utf-8")
        return {int(port) for port in re.findall(r"127\.0\.0\.1:(\d+)$", log, re.MULTILINE)}


def nginx_executable() -> str:
    """The program; skips without."""
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    if found is None:
        pytest.skip("there is no nginx here")
    return found


@contextmanager
def nginx(folder: Path, servers: Sequence[int]) -> Generator[Proxy]:
    """A proxy before the servers on these ports of the loopback."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    folder.mkdir()
    (folder / "default.conf").write_text(on_loopback(port, servers), encoding="utf-8")
    (folder / "nginx.conf").write_text(_main(folder), encoding="utf-8")
    process = subprocess.Popen(
        [nginx_executable(), "-e", "stderr", "-p", folder, "-c", folder / "nginx.conf"],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _wait(port, process)
        yield Proxy(port, folder)
    finally:
        process.terminate()
        process.communicate(timeout=100)


def on_loopback(port: int, servers: Sequence[int]) -> str:
    """The configuration, listening on a port, with servers that no name server has to find.

    `resolve` is newer than the nginx of Debian 12.
    """
    text = CONFIGURATION.read_text(encoding="utf-8")
    replicas = "".join(f"server 127.0.0.1:{server}; " for server in servers)
    for line, instead in {
        "resolver 127.0.0.11 valid=5s;": "",
        "server server:8000 resolve;": replicas,
        "listen 8000;": f"listen 127.0.0.1:{port};",
    }.items():
        assert text.count(line) == 1, line
        text = text.replace(line, instead)
    return text


def _main(folder: Path) -> str:
    places = "\n".join(f"{name}_temp_path {folder}/{name};" for name in _TEMPORARY)
    return f"""
        daemon off;
        pid {folder}/pid;
        events {{}}
        http {{
            log_format replica $upstream_addr;
            access_log {folder}/access.log replica;
            add_header X-Replica $upstream_addr always;
            {places}
            include {folder}/default.conf;
        }}
    """


def _wait(port: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.02)
    process.kill()
    raise RuntimeError(f"nginx did not start: {process.communicate(timeout=100)[1][-500:]}")
