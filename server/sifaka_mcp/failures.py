"""The one place where our errors become MCP errors."""

import logging
from collections.abc import Generator
from contextlib import contextmanager

from mcp.server.mcpserver.exceptions import (
    ResourceError,
    ResourceNotFoundError,
    ToolError,
    UnexpectedResourceError,
    UnexpectedToolError,
)
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS
from pydantic import ValidationError

from sifaka.calls.failure_log import report_failure
from sifaka.errors import SifakaError, ThoughtNotFound

logger = logging.getLogger(__name__)


@contextmanager
def request_errors(method: str) -> Generator[None]:
    """Within it, an unexpected error is reported to the client without its words.

    The words of an exception may quote anything: a text, a path, a key. Where the SDK answers a
    request itself it would send them.
    """
    try:
        yield
    except (MCPError, ValidationError):  # the SDK says of these what a client may know
        raise
    except SifakaError as error:
        raise MCPError(code=INTERNAL_ERROR, message=str(error)) from error
    except Exception as error:
        report_failure(logger, method, error, level=logging.ERROR)
        raise MCPError(code=INTERNAL_ERROR, message="Internal error") from error


@contextmanager
def tool_errors(name: str) -> Generator[None]:
    """Within it, an expected error of a tool becomes one line that says what to do.

    A bug stays a bug: the client learns only that the tool failed, the log has the traceback.
    """
    try:
        yield
    except (MCPError, ToolError):
        raise
    except SifakaError as error:
        raise ToolError(str(error)) from error
    except Exception as error:
        raise UnexpectedToolError(f"Error executing tool {name}") from error


@contextmanager
def resource_errors() -> Generator[None]:
    """Within it, an expected error of a resource becomes one line; see `tool_errors`."""
    try:
        yield
    except UnexpectedResourceError as error:
        cause = error.__cause__
        if isinstance(cause, ThoughtNotFound):
            raise ResourceNotFoundError(str(cause)) from cause
        if isinstance(cause, SifakaError):
            raise ResourceError(str(cause)) from cause
        raise


@contextmanager
def prompt_errors() -> Generator[None]:
    """Within it, a prompt that is unknown or lacks an argument is the caller's mistake."""
    try:
        yield
    except ValueError as error:
        message = str(error).partition("\n")[0]
        raise MCPError(code=INVALID_PARAMS, message=message) from error
