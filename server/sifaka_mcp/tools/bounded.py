"""Tools whose arguments may take long to read: patterns and schemas are checked as they come."""

from functools import partial
from typing import Any

import anyio.to_thread
from anyio import CapacityLimiter
from anyio.lowlevel import RunVar
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata
from pydantic import ValidationError

from sifaka_mcp.tenancy import tenant_of_request

_MUCH = 2_000
"""Characters of arguments, plain texts left out, beyond which they are read in a thread."""
_READERS = 2
"""Threads that read arguments of one tenant at the same time."""
_limiters: RunVar[dict[str | None, CapacityLimiter]] = RunVar("sifaka_readers")


class BoundedTool(Tool):
    """A tool that reads large arguments beside the event loop."""

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> Any:
        """See `Tool.run`."""
        fields = self.fn_metadata.arg_model.model_fields
        texts = {name for name, field in fields.items() if field.annotation is str}
        if sum(len(repr(arguments[name])) for name in arguments.keys() - texts) <= _MUCH:
            return await super().run(arguments, context, convert_result)
        read = partial(self.fn_metadata.validate_arguments, arguments)
        try:
            values = await anyio.to_thread.run_sync(read, limiter=_limiter())
        except ValidationError as error:
            raise ToolError(f"Error executing tool {self.name}: {error}") from error
        known: dict[str, Any] = dict(self.fn_metadata)
        metadata = _Read.model_construct(**known, values=values)
        own: dict[str, Any] = {**dict(self), "fn_metadata": metadata}
        with_values = Tool.model_construct(**own)
        return await with_values.run(arguments, context, convert_result)


class _Read(FuncMetadata):
    """The metadata of a tool whose arguments have been read."""

    values: dict[str, Any]

    def validate_arguments(self, arguments_to_validate: dict[str, Any]) -> dict[str, Any]:
        return self.values


def _limiter() -> CapacityLimiter:
    limiters = _limiters.get(None)
    if limiters is None:
        _limiters.set(limiters := {})
    tenant = tenant_of_request()
    return limiters.setdefault(tenant, CapacityLimiter(_READERS))
