"""The page in the Apps tab of the real MCP Inspector, in both protocol eras."""

import json
import os
import signal
import socket
import subprocess
import threading
from base64 import urlsafe_b64encode
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from sifaka_mcp.http.serve import http_server
from sifaka_mcp.settings import Settings
from tests.conformance.inspector import Era
from tests.conformance.programs import FOLDER
from tests.stubs.milvus_server import free_ports
from tests.stubs.served import in_thread
from tests.ui.browser import Tab

PROGRAM = FOLDER / "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not PROGRAM.exists(), reason="npm has not installed the MCP Inspector"),
]
VERSIONS: dict[Era, str] = {"legacy": "2025-11-25", "modern": "2026-07-28"}


@contextmanager
def recorded(home: Path) -> Generator[tuple[str, set[str]]]:
    """Our server; its URL, and the versions of the protocol that it was asked in."""
    versions: set[str] = set()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        server = http_server(Settings(home=home, store="memory:"), url)
        app: Any = server.config.app

        async def heard(scope: Any, receive: Any, send: Any) -> None:
            headers: dict[bytes, bytes] = dict(scope.get("headers", ()))
            versions.add(headers.get(b"mcp-protocol-version", b"").decode())
            await app(scope, receive, send)

        server.config.app = heard
        with in_thread(server, listener):
            yield url, versions


@contextmanager
def inspector(home: Path, url: str, era: Era) -> Generator[str]:
    """The Inspector's web client, which knows the server and its era; its address."""
    port, sandbox = free_ports(2)
    known = {"type": "streamable-http", "url": url, "protocolEra": era}
    (home / ".mcp-inspector").mkdir()
    (home / ".mcp-inspector/mcp.json").write_text(json.dumps({"mcpServers": {"deep-link": known}}))
    environ = {
        "PATH": f"{FOLDER / 'node_modules/.bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "HOST": "127.0.0.1",
        "CLIENT_PORT": str(port),
        "MCP_SANDBOX_PORT": str(sandbox),
        "MCP_AUTO_OPEN_ENABLED": "false",
        "MCP_INSPECTOR_API_TOKEN": "inspector",
    }
    command = ["node", str(PROGRAM), "--web"]
    with subprocess.Popen(
        command,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            assert process.stdout is not None
            said: list[str] = []
            for line in process.stdout:
                said.append(line)
                if f":{port}" in line:
                    break
            assert process.poll() is None, said
            # A pipe that is full would stop it.
            threading.Thread(target=process.stdout.read, daemon=True).start()
            yield f"http://127.0.0.1:{port}"
        finally:
            _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    """End a program and what it has started, by force when it does not listen."""
    for name in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, name)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=10)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_run_is_shown_in_the_inspector(tab: Tab, tmp_path: Path, era: Era) -> None:
    arguments = json.dumps(
        {"text": "This is the the first version, which we utilize.", "model": "editor"}
    )
    with recorded(tmp_path) as (url, versions), inspector(tmp_path, url, era) as address:
        asked = {
            "serverUrl": url,
            "transport": "http",
            "autoConnect": "inspector",
            "openApp": "improve_text",
            "appArgs": urlsafe_b64encode(arguments.encode()).decode().rstrip("="),
            "autoOpen": "inspector",
        }
        tab.page.set_default_timeout(120_000)
        tab.page.goto(f"{address}/?{urlencode(asked)}")
        tab.page.locator("[data-app-status=ready]").wait_for()
        app = tab.page.frames[-1]
        expect(app.locator(".story")).to_contain_text("Version 1 is the", timeout=60_000)
        expect(app.locator("del")).to_contain_text(["the"])
        app.get_by_role("button", name="Undo: change 1").click()
        expect(app.locator(".story")).to_contain_text("Version 2 is the")
        assert VERSIONS[era] in versions
        assert VERSIONS["modern" if era == "legacy" else "legacy"] not in versions
