"""Calls of MCP tools, and stored values that survive them.

The servers answer `Key x does not exist` where a value would be, read values that look like JSON
as JSON, and print rows as Python would. A value in an envelope is plain ASCII with our prefix.
"""

import base64
import zlib
from collections.abc import Mapping
from typing import Protocol

from sifaka.errors import StorageError


class ToolCaller(Protocol):
    """A session with one MCP server, safe to share between tasks and event loops."""

    shown: str
    """The server's command, for people: without secrets."""

    async def call(self, tool: str, arguments: Mapping[str, object]) -> str:
        """The text that a tool answers with.

        A call whose answer was lost may be repeated: stores call tools such that twice is as good
        as once.

        Raises:
            StorageError: The server cannot be reached, or says that the call failed.
        """
        ...

    async def aclose(self) -> None:
        """End the session; calling it again does nothing."""


def unexpected(tool: str, answer: str) -> StorageError:
    """The error for an answer that is not one of a tool's documented ones.

    The servers answer failures of the database as if they were results: the text is all there is.
    """
    line = " ".join(answer[:400].split())[:200]
    return StorageError(
        f"the tool {tool} answered {line!r}",
        "check the database behind the MCP server",
        retryable=True,
    )


async def call_tool(
    caller: ToolCaller, tool: str, arguments: Mapping[str, object], *beginnings: str
) -> str:
    """The answer of a tool, which has to begin in one of these ways.

    Raises:
        StorageError: It begins otherwise, or the call failed.
    """
    answer = await caller.call(tool, arguments)
    if not answer.startswith(beginnings):
        raise unexpected(tool, answer)
    return answer


_PREFIX = "sifaka1:"


def pack(text: str) -> str:
    """A text as a stored value: compressed, in base64, with the prefix."""
    return _PREFIX + base64.b64encode(zlib.compress(text.encode())).decode()


def unpack(value: str) -> str:
    """The text of a stored value.

    Raises:
        StorageError: It is not a value that `pack` made.
    """
    try:
        if not value.startswith(_PREFIX):
            raise ValueError("no envelope")
        packed = base64.b64decode(value.removeprefix(_PREFIX), validate=True)
        return zlib.decompress(packed).decode()
    except (ValueError, zlib.error) as error:
        raise StorageError(
            f"a stored value that begins with {value[:20]!r} cannot be read",
            "it is damaged, or was written by something else; other runs are not affected",
        ) from error
