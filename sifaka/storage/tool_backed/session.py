"""Sessions with other MCP servers over stdio, for the stores that are reached through one."""

import os
import re
import shlex
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TextIO, cast

import anyio
from anyio import to_thread
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import CONNECTION_CLOSED, CallToolResult, TextContent

from sifaka.errors import ConfigurationError, StorageError
from sifaka.storage.store import Worker
from sifaka.storage.tool_backed.caller import ToolCaller

_WORD = r"""(?:'[^']*'|"[^"]*"|[^\s'"])+"""
_SECRETS = re.compile(
    r"""(?i)(//)[^\s'"]*(?=@)"""
    rf"""|([\w-]*(?:password|passwd|pwd|token|secret|api[_-]?key)[\w-]*[=\s]\s*){_WORD}"""
)


class StdioToolSession(Worker["_Connection"], ToolCaller):
    """One long-lived session with a server that is started as a child, at the first call.

    It lives in a thread with an event loop of its own, so calls may come from any task of any loop.
    A server that has died is started again, once a call; a call that lost its answer that way is
    repeated.

    Args:
        command: The program and its arguments.
        env: Variables of the server beside `PATH`, `HOME` and the like, which is all it inherits.
            When None those of this process that tell such servers where their database is; they get
            no others, so no keys of models.
        start_seconds: How long it may take until it has answered the handshake; some import a lot
            first.

    Raises:
        ConfigurationError: There is no program in the command.
    """

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str] | None = None,
        *,
        start_seconds: float = 30.0,
    ) -> None:
        if not command or not command[0]:
            raise ConfigurationError(
                "an MCP server is started by a command; there is none", "such as redis+mcp:COMMAND"
            )
        if env is None:
            env = {
                key: os.environ[key] for key in os.environ if key.startswith(("REDIS_", "MILVUS_"))
            }
        self._parameters = StdioServerParameters(
            command=command[0], args=list(command[1:]), env=dict(env) if env else None
        )
        self._start_seconds = start_seconds
        self.shown = without_secrets(shlex.join(command))
        """The command as it may be shown: without what looks like a password or a token."""
        super().__init__(f"the session with {self.shown!r}", 1)

    async def call(self, tool: str, arguments: Mapping[str, object]) -> str:
        """The text that a tool answers with; see `ToolCaller.call`."""
        connection = await self._get_connection()
        try:
            result = await connection.call(tool, arguments)
            if result is None:
                connection = await self._get_connection()
                result = await connection.call(tool, arguments)
        # Schemas of answers, time limits, refusals: each means that the call has failed.
        except (MCPError, RuntimeError, ValueError) as error:
            raise self._server_error(f"the tool {tool} failed: {_describe_error(error)}") from error
        if result is None:
            raise self._server_error(f"the server ended during {tool}{connection.stderr_note}")
        text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
        if result.is_error:
            raise self._server_error(f"the tool {tool} failed: {_describe_error(text)}")
        return text

    async def _get_connection(self) -> "_Connection":
        connection = self._opened
        if connection is not None and not connection.lost:
            return connection
        # Who gives up waiting does not stop the server from coming up.
        return await to_thread.run_sync(self._run, _itself, abandon_on_cancel=True)

    def _open(self, current: "_Connection | None") -> "_Connection":
        if current is not None:
            if not current.lost:  # another call has started it
                return current
            current.close()
        connection = _Connection()
        try:
            connection.open(self._parameters, self._start_seconds)
        # Any error of a foreign program means that it could not be started.
        except Exception as error:
            connection.close()
            what = f"it did not start: {_describe_error(error)}{connection.stderr_note}"
            raise self._server_error(what) from error
        return connection

    def _close(self, opened: "_Connection") -> None:
        opened.close()

    def _server_error(self, what: str) -> StorageError:
        return StorageError(
            f"MCP server {self.shown!r}: {without_secrets(what)}",
            "run the command to see why",
            retryable=True,
        )


class _Connection(ExitStack):
    """A server that was started, and the thread that speaks with it; `close` ends both."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: deque[str] = deque(maxlen=1)
        self.lost = False
        """True once the server was found to have ended."""

    def open(self, parameters: StdioServerParameters, start_seconds: float) -> None:
        """Start the server; waits for the handshake."""
        errors = self.enter_context(self._open_stderr())
        self._portal: BlockingPortal = self.enter_context(start_blocking_portal())
        # The handshake of before 2026 is what all servers know; some write pages of complaints
        # about the newer one.
        transport = stdio_client(parameters, errors)
        client = Client(transport, mode="legacy", read_timeout_seconds=start_seconds)
        # It enters and leaves in one task, which is what the client's cancel scopes ask for.
        self._client: Client = self.enter_context(self._portal.wrap_async_context_manager(client))

    @property
    def stderr_note(self) -> str:
        """The last line that the server has written to stderr, for a message."""
        return f"; it said {self._lines[-1]!r}" if self._lines else ""

    async def call(self, tool: str, arguments: Mapping[str, object]) -> CallToolResult | None:
        """The result of a tool; None if the connection was lost."""
        ask = partial(self._client.call_tool, read_timeout_seconds=60.0)
        try:
            return await self._portal.call_async(ask, tool, dict(arguments))
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream):
            pass
        except MCPError as error:
            if error.code != CONNECTION_CLOSED:
                raise
        self.lost = True
        return None

    def _open_stderr(self) -> TextIO:
        """The server's stderr; its last line is remembered."""
        reading, writing = os.pipe()

        def remember() -> None:
            with os.fdopen(reading, encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    if line.strip():
                        self._lines.append(line.strip()[:200])

        threading.Thread(target=remember, name="mcp-server-stderr", daemon=True).start()
        return os.fdopen(writing, "w", encoding="utf-8")


def _itself(connection: _Connection) -> _Connection:
    return connection


def without_secrets(text: str) -> str:
    """A command line or a message without what looks like a password, a token or a key."""
    return _SECRETS.sub(lambda match: f"{match[1] or match[2]}***", text)


def _describe_error(error: BaseException | str) -> str:
    """The message of an error in one line; of a group, that of its first error."""
    if isinstance(error, BaseExceptionGroup):
        return _describe_error(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])
    return " ".join(str(error).split())[:200] or type(error).__name__
