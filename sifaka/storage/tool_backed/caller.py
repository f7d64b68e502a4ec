"""The part of an MCP client that stores use: to call a tool and to read its answer."""

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
        ...


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
