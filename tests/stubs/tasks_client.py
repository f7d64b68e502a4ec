"""A client that knows the tasks extension, as its schema describes it."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import anyio
from mcp import Client
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp_types import CallToolResult, Request, RequestParams, Result
from pydantic import ConfigDict

TASKS = "io.modelcontextprotocol/tasks"


class CreateTaskResult(Result):
    """The answer to a call that has become a task."""

    model_config = ConfigDict(extra="allow")
    result_type: Literal["task"]
    task_id: str
    status: str


class TaskParams(RequestParams):
    model_config = ConfigDict(extra="allow")
    task_id: str


class TaskRequest(Request[TaskParams, str]):
    """Any request of the extension; over HTTP it is routed by its task."""

    name_param: ClassVar[str | None] = "taskId"


class AnyResult(Result):
    model_config = ConfigDict(extra="allow")


async def ask(client: Client, method: str, task_id: str, **params: Any) -> dict[str, Any]:
    """The answer to a request of the extension, without what the protocol adds to all answers."""
    request = TaskRequest(method=method, params=TaskParams(task_id=task_id, **params))
    result = await client.session.send_request(request, AnyResult)
    out = result.model_dump(by_alias=True)
    assert out.pop("resultType") == "complete"
    del out["_meta"]
    return out


async def ended(client: Client, task_id: str) -> dict[str, Any]:
    """The task when it is over."""
    with anyio.fail_after(20):
        while True:
            task = await ask(client, "tasks/get", task_id)
            if task["status"] != "working":
                return task
            await anyio.sleep(0.05)


class TaskClientExtension(ClientExtension):
    """Declares the extension, and waits for tasks where nobody asks to see them."""

    identifier = TASKS

    def __init__(self) -> None:
        self.client: Client | None = None

    def claims(self) -> Sequence[ResultClaim[Any]]:
        return [ResultClaim(result_type="task", model=CreateTaskResult, resolve=self._resolve)]

    async def _resolve(self, created: CreateTaskResult, context: ClaimContext) -> CallToolResult:
        assert self.client is not None
        task = await ended(self.client, created.task_id)
        return CallToolResult.model_validate(task["result"])


def tasks_client(server: Any, **settings: Any) -> Client:
    """A client that declares the extension."""
    extension = TaskClientExtension()
    extension.client = Client(server, extensions=[extension], **settings)
    return extension.client
