"""A server that answers `initialize` first and builds what it offers after that."""

import threading
from collections.abc import Iterable
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolResult,
    GetPromptResult,
    InputRequiredResult,
    Prompt,
    Resource,
    ResourceTemplate,
)
from mcp_types import Tool as ListedTool

from sifaka._internal.naming import did_you_mean
from sifaka_mcp.failures import prompt_errors, resource_errors, tool_errors
from sifaka_mcp.stdio import serve_stdio


class DeferredServer(MCPServer[Any]):
    """An `MCPServer` that builds its tools, resources and prompts on the first use of them.

    What they import takes longer than a server to start. Subclasses say in `listed`, `offer` and
    `register` what there is; only calls need what `offer` builds.
    """

    _tools: dict[str, Tool] | None = None
    _registered = False

    def __init__(self, name: str, **settings: Any) -> None:
        super().__init__(name, **settings)
        self._filling = threading.Lock()

    def listed(self) -> list[ListedTool]:
        """The tools as a client sees them, without the code that answers their calls."""
        raise NotImplementedError

    def offer(self) -> list[Tool]:
        """The tools, with the code that answers their calls."""
        raise NotImplementedError

    def register(self) -> None:
        """Register the resources and prompts."""
        raise NotImplementedError

    def fill(self) -> None:
        """Build everything that is not built yet, from any thread."""
        self._tools_by_name()
        self._fill_rest()

    def _tools_by_name(self) -> dict[str, Tool]:
        with self._filling:
            if self._tools is None:
                self._tools = {tool.name: tool for tool in self.offer()}
        return self._tools

    def _fill_rest(self) -> None:
        with self._filling:
            if not self._registered:
                self.register()
                self._registered = True

    async def list_tools(self) -> list[ListedTool]:
        """See `MCPServer`."""
        return self.listed()

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """See `MCPServer`."""
        tools = self._tools_by_name()
        tool = tools.get(name)
        if tool is None:
            raise _unknown("tool", name, tools)
        with tool_errors():
            return await tool.run(
                arguments, context or Context(mcp_server=self), convert_result=True
            )

    async def list_resources(self) -> list[Resource]:
        """See `MCPServer`."""
        self._fill_rest()
        return await super().list_resources()

    async def list_resource_templates(self) -> list[ResourceTemplate]:
        """See `MCPServer`."""
        self._fill_rest()
        return await super().list_resource_templates()

    async def read_resource(
        self, uri: Any, context: Context[Any, Any] | None = None
    ) -> Iterable[Any] | InputRequiredResult:
        """See `MCPServer`."""
        self._fill_rest()
        with resource_errors():
            return await super().read_resource(uri, context)

    async def list_prompts(self) -> list[Prompt]:
        """See `MCPServer`."""
        self._fill_rest()
        return await super().list_prompts()

    async def run_stdio_async(self) -> None:
        """See `MCPServer`."""
        await serve_stdio(self._lowlevel_server, ending=self.ending)

    def ending(self) -> None:
        """Is called when the process is about to end, perhaps from a signal handler."""

    async def get_prompt(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        context: Context[Any, Any] | None = None,
    ) -> GetPromptResult | InputRequiredResult:
        """See `MCPServer`."""
        self._fill_rest()
        prompts = [prompt.name for prompt in await super().list_prompts()]
        if name not in prompts:
            raise _unknown("prompt", name, prompts)
        with prompt_errors():
            return await super().get_prompt(name, arguments, context)


def _unknown(what: str, name: str, known: Iterable[str]) -> MCPError:
    told = did_you_mean(name, known)
    return MCPError(code=INVALID_PARAMS, message=f"Unknown {what}: {name[:80]}; {told}")
