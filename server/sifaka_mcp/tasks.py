"""The tasks extension of MCP: a run that takes longer is a task, under the run's own id.

https://modelcontextprotocol.io/seps/2663-tasks-extension. Nothing about a task is kept: what it is
follows from the run in the store, so that any process answers for any task.
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Literal

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.extension import Extension, MethodBinding
from mcp.server.mcpserver.server import require_client_extension
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from mcp_types import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    EmptyResult,
    RequestParams,
)
from starlette.requests import Request

from sifaka.chain import cancel_run
from sifaka.errors import ThoughtNotFound
from sifaka.models import CALLER
from sifaka.record.run import Run
from sifaka.storage.protocol import ThoughtStore
from sifaka_mcp.host.session import TASKS, VERSIONS, declares_tasks
from sifaka_mcp.state import AppState

_Context = ServerRequestContext[AppState, Any]
POLL_INTERVAL = 1000
"""Milliseconds between two looks at a task."""

TaskStatus = Literal["working", "completed", "cancelled"]
"""Of the extension's words those that a run can come to: `failed` is for errors of the protocol,
and a run that failed has a result which says so; nothing is ever asked of the client."""
_NOT_COMPLETED: Mapping[str, TaskStatus] = MappingProxyType(
    {"running": "working", "cancelled": "cancelled"}
)


class TasksExtension(Extension):
    """A run that takes longer than its request, as a task that is asked for by itself."""

    identifier = TASKS
    TOOLS = frozenset({"improve_text", "research", "resume_run"})
    """The tools that answer with a task in place of `running`."""

    def methods(self) -> Sequence[MethodBinding]:
        """See `Extension`."""
        return [
            MethodBinding("tasks/get", TaskParams, _get_task, VERSIONS),
            MethodBinding("tasks/update", TaskUpdateParams, _update_task, VERSIONS),
            MethodBinding("tasks/cancel", TaskParams, _cancel_task, VERSIONS),
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
        run = await ctx.lifespan_context.of_request().store.load(out["run_id"])
        return {"resultType": "task", **task_of(run)}


class TaskParams(RequestParams):
    """The id of a task."""

    task_id: str


class TaskUpdateParams(TaskParams):
    """Answers to what a task has asked, which is nothing."""

    input_responses: dict[str, Any]


async def _get_task(ctx: _Context, params: TaskParams) -> dict[str, Any]:
    with _task_errors(ctx, params):
        return await detailed_task(ctx.lifespan_context.of_request().store, params.task_id)


async def _update_task(ctx: _Context, params: TaskUpdateParams) -> EmptyResult:
    with _task_errors(ctx, params):
        await ctx.lifespan_context.of_request().store.load(params.task_id)
    return EmptyResult()


async def _cancel_task(ctx: _Context, params: TaskParams) -> EmptyResult:
    state, run_id = ctx.lifespan_context.of_request(), params.task_id
    with _task_errors(ctx, params):
        # A run that waits for a revision goes on waiting: its task is over.
        if status_of(await state.store.load(run_id)) == "working":
            await state.runs.cancel(state.key(run_id))
            await cancel_run(state.store, run_id)
    return EmptyResult()


@contextmanager
def _task_errors(ctx: _Context, params: TaskParams) -> Generator[None]:
    """Refuse clients without permission; a run that is not there is a task that is not there."""
    require_client_extension(ctx, TASKS)
    # A request over HTTP may have been routed by another task than it is about.
    request: object = ctx.request
    if isinstance(request, Request) and params.task_id != decode_header_value(
        request.headers.get(MCP_NAME_HEADER)
    ):
        raise MCPError(
            code=HEADER_MISMATCH,
            message=f"{MCP_NAME_HEADER} header does not match the request body's 'taskId'",
        )
    try:
        yield
    except ThoughtNotFound as error:
        raise MCPError(code=INVALID_PARAMS, message="Task not found") from error


def task_of(run: Run) -> dict[str, Any]:
    """The task that a run is; it is kept for as long as the store keeps the run."""
    summary = run.summary().model_dump(mode="json")
    return {
        "taskId": run.run_id,
        "status": status_of(run),
        "statusMessage": run.stop_reason or f"iteration {run.iterations}: {run.reached}",
        "createdAt": summary["created_at"],
        "lastUpdatedAt": summary["updated_at"],
        "ttlMs": None,
        "pollIntervalMs": POLL_INTERVAL,
    }


def status_of(run: Run) -> TaskStatus:
    """The status of a run's task.

    A task is completed for good when its run first waits for a revision: a task never goes back to
    work, and its result names the state of the run.
    """
    has_waited = any(thought.author == CALLER for thought in run.thoughts)
    return "completed" if has_waited else _NOT_COMPLETED.get(run.status, "completed")


async def detailed_task(store: ThoughtStore, run_id: str) -> dict[str, Any]:
    """A task with its result if it has one.

    Raises:
        ThoughtNotFound: There is no such run.
        StorageError: The store failed.
    """
    run = await store.load(run_id)
    task = task_of(run)
    if task["status"] != "completed":
        return task
    from sifaka.chain import RunResult
    from sifaka_mcp.tools.answer import answer_with_text

    answer = await answer_with_text(RunResult(run=run, warnings=store.degraded))
    return {**task, "result": answer.model_dump(mode="json", by_alias=True, exclude_none=True)}
