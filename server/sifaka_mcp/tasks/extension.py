"""The requests of the tasks extension, and the answers that become tasks."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.extension import Extension, MethodBinding
from mcp.server.mcpserver.server import require_client_extension
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from mcp_types import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    EmptyResult,
    RequestParams,
)
from starlette.requests import Request

from sifaka.chain import cancel_run
from sifaka.errors import SifakaError, ThoughtNotFound
from sifaka_mcp.host.session import TASKS, VERSIONS, declares_tasks
from sifaka_mcp.state import AppState

_Context = ServerRequestContext[AppState, Any]


class TasksExtension(Extension):
    """A run that takes longer than its request, as a task that is asked for by itself."""

    identifier = TASKS
    TOOLS = frozenset({"improve_text", "research", "resume_run"})
    """The tools that answer with a task in place of `running`."""

    def methods(self) -> Sequence[MethodBinding]:
        """See `Extension`."""
        return [
            MethodBinding("tasks/get", TaskParams, _get, VERSIONS),
            MethodBinding("tasks/update", TaskUpdateParams, _update, VERSIONS),
            MethodBinding("tasks/cancel", TaskParams, _cancel, VERSIONS),
        ]

    async def intercept_tool_call(
        self, params: CallToolRequestParams, ctx: _Context, call_next: CallNext
    ) -> HandlerResult:
        """Answer with a task where the tool would answer that the run is `running`."""
        result = await call_next(ctx)
        if params.name not in self.TOOLS or not declares_tasks(ctx):
            return result
        out = result.structured_content if isinstance(result, CallToolResult) else None
        if out is None or out.get("status") != "running":
            return result
        from sifaka_mcp.tasks.wire import task_of

        run = await ctx.lifespan_context.of_request().store.load(out["run_id"])
        return {"resultType": "task", **task_of(run)}


class TaskParams(RequestParams):
    """The id of a task."""

    task_id: str


class TaskUpdateParams(TaskParams):
    """Answers to what a task has asked, which is nothing."""

    input_responses: dict[str, Any]


async def _get(ctx: _Context, params: TaskParams) -> dict[str, Any]:
    from sifaka_mcp.tasks.wire import detailed_task

    with _task_errors(ctx, params):
        return await detailed_task(ctx.lifespan_context.of_request().store, params.task_id)


async def _update(ctx: _Context, params: TaskUpdateParams) -> EmptyResult:
    with _task_errors(ctx, params):
        await ctx.lifespan_context.of_request().store.load(params.task_id)
    return EmptyResult()


async def _cancel(ctx: _Context, params: TaskParams) -> EmptyResult:
    from sifaka_mcp.tasks.wire import status_of

    state, run_id = ctx.lifespan_context.of_request(), params.task_id
    with _task_errors(ctx, params):
        # A run that waits for a revision goes on waiting: its task is over.
        if status_of(await state.store.load(run_id)) == "working":
            await state.runs.cancel(state.key(run_id))
            await cancel_run(state.store, run_id)
    return EmptyResult()


@contextmanager
def _task_errors(ctx: _Context, params: TaskParams) -> Generator[None]:
    """Refuse clients without permission; expected errors inside become those of the extension."""
    require_client_extension(ctx, TASKS)
    _check_routing(ctx.request, params.task_id)
    try:
        yield
    except ThoughtNotFound as error:
        raise MCPError(code=INVALID_PARAMS, message="Task not found") from error
    except SifakaError as error:
        raise MCPError(code=INTERNAL_ERROR, message=str(error)) from error


def _check_routing(request: object, task_id: str) -> None:
    """Refuse a request over HTTP that was routed by another task than it is about."""
    if not isinstance(request, Request):
        return
    if decode_header_value(request.headers.get(MCP_NAME_HEADER)) != task_id:
        raise MCPError(
            code=HEADER_MISMATCH,
            message=f"{MCP_NAME_HEADER} header does not match the request body's 'taskId'",
        )
