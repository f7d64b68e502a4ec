"""The server over stdio, with an answer to every line that comes in."""

import json
import re
from collections.abc import Callable
from typing import Any, cast

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

_WRONG = ErrorData(
    code=PARSE_ERROR,
    message="not a JSON-RPC message in valid UTF-8 JSON: check for broken characters and deep "
    "nesting",
)
BATCH = ErrorData(
    code=INVALID_REQUEST,
    message="a batch of messages, which ended with version 2025-06-18: send each one by itself",
)
_MARK = "\ufeff"
"""The byte order mark, which some clients send before their first line."""
_EARLY_ID = re.compile(r'\s*\{[^{}\[\]]*?"id"\s*:\s*(-?\d{1,18}|"(?:[^"\\\n]|\\.){0,200}")')
"""The id of a message, where it is before anything that is nested."""


async def serve_stdio(server: Server[Any], *, ending: Callable[[], None]) -> None:
    """Serve until the client closes our input.

    A line that is no valid message, such as one with half of a surrogate pair in a text, is
    answered with an error. Without an answer its sender would wait for ever.

    Args:
        server: What answers.
        ending: Is called when the input is closed, before what is in progress is cancelled.
    """
    ready, messages = anyio.create_memory_object_stream[SessionMessage | Exception]()

    async def refuse_invalid_lines() -> None:
        async with ready:
            async for item in incoming:
                read = _drop_mark(item) if isinstance(item, Exception) else item
                if isinstance(read, Exception):
                    await outgoing.send(SessionMessage(refusal(read)))
                else:
                    await ready.send(read)
            ending()

    async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as group:
        group.start_soon(refuse_invalid_lines)
        await server.run(messages, outgoing, server.create_initialization_options())


def _drop_mark(error: Exception) -> SessionMessage | Exception:
    """The message behind a byte order mark, or what is wrong with a line."""
    line = _input_of(error)
    if not isinstance(line, str) or not line.startswith(_MARK):
        return error
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line.removeprefix(_MARK)))
    except ValidationError as other:
        return other


def refusal(error: Exception) -> JSONRPCError:
    """The answer to a line that could not be read, under the line's id if it has one."""
    line = _input_of(error)
    return JSONRPCError(
        jsonrpc="2.0", id=_id_of(line), error=BATCH if isinstance(line, list) else _WRONG
    )


def _input_of(error: Exception) -> object:
    """A line that is no message, or what it holds as JSON; None where that is not known."""
    is_known = isinstance(error, ValidationError)
    return error.errors(include_url=False)[0].get("input") if is_known else None


def _id_of(line: object) -> str | int | None:
    try:
        # Python's parser takes what the strict one refused.
        message = json.loads(line) if isinstance(line, str) else line
    except RecursionError:  # too deep for Python as well
        early = _EARLY_ID.match(cast("str", line))
        message = {"id": json.loads(early.group(1))} if early else None
    except ValueError:
        return None
    message_id = cast("dict[str, Any]", message).get("id") if isinstance(message, dict) else None
    return message_id if isinstance(message_id, str | int) else None
