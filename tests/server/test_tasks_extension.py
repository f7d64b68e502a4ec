"""Runs as tasks, for clients that declare the tasks extension, over any process of one store."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client, MCPError
from mcp.client.extension import ClientExtension, NotificationBinding
from mcp_types import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CallToolResult,
    CreateMessageResult,
    Request,
    SubscriptionFilter,
    SubscriptionsAcknowledgedNotification,
    SubscriptionsListenRequest,
    SubscriptionsListenRequestParams,
    TextContent,
)

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from tests.server.test_subscriptions import token_of
from tests.stubs.calls import call
from tests.stubs.provider import HANGS, Reply, provider, says, told_of
from tests.stubs.served import served
from tests.stubs.tasks_client import TASKS, AnyResult, CreateTaskResult, ask, ended, tasks_client

pytestmark = pytest.mark.anyio

RUN: dict[str, Any] = {
    "text": "one two three four",
    "validators": [{"type": "length", "max_words": 3}],
    "critics": [],
    "model": "openai-chat:stub",
    "wait_seconds": 0,
}
WAITING: dict[str, Any] = {
    "text": "You may return it.",
    "validators": [{"type": "content", "required": ["30 days"]}],
}
FIELDS = {
    "taskId",
    "status",
    "statusMessage",
    "createdAt",
    "lastUpdatedAt",
    "ttlMs",
    "pollIntervalMs",
}

APPS = "io.modelcontextprotocol/ui"


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Starts a provider that gives some answers."""
    open_: list[Any] = []

    def start(*replies: Reply) -> None:
        served = provider(replies)
        open_.append(served)
        told_of(served.__enter__(), monkeypatch)

    yield start
    for opened in open_:
        opened.__exit__(None, None, None)


@pytest.fixture
def server(tmp_path: Path) -> SifakaServer:
    return SifakaServer(Settings(home=tmp_path))


class Call(Request[dict[str, Any], str]):
    """A request that may be malformed."""


async def created(
    client: Client, arguments: dict[str, Any], *, tool: str = "improve_text"
) -> CreateTaskResult:
    result = await client.session.call_tool(tool, arguments, allow_claimed=True)
    assert isinstance(result, CreateTaskResult)
    return result


async def refusal(client: Client, method: str, task_id: str, **params: Any) -> MCPError:
    with pytest.raises(MCPError) as refused:
        await ask(client, method, task_id, **params)
    return refused.value


async def test_a_run_that_takes_longer_is_a_task_and_then_its_result(
    server: SifakaServer, writes: Callable[..., None]
) -> None:
    writes(says("one two three"))
    async with tasks_client(server) as client:
        assert client.server_capabilities.extensions == {TASKS: {}, APPS: {}}
        task = await created(client, RUN)
        wire = task.model_dump(by_alias=True, exclude={"meta"})
        assert wire.keys() == FIELDS | {"resultType"}
        assert (task.status, wire["ttlMs"], wire["pollIntervalMs"]) == ("working", None, 1000)
        done = await ended(client, task.task_id)
        assert done.keys() == FIELDS | {"result"}
        assert (done["taskId"], done["status"]) == (task.task_id, "completed")
        assert done["createdAt"] == wire["createdAt"] < done["lastUpdatedAt"]
        out = CallToolResult.model_validate(done["result"]).structured_content
        assert out is not None
        assert (out["run_id"], out["status"], out["text"]) == (
            task.task_id,
            "done",
            "one two three",
        )


async def test_what_is_done_at_once_is_no_task(server: SifakaServer) -> None:
    async with tasks_client(server) as client:
        result = await client.session.call_tool(
            "improve_text", {"text": "A text."}, allow_claimed=True
        )
        assert isinstance(result, CallToolResult)
        assert result.structured_content is not None
        assert result.structured_content["status"] == "done"


async def test_a_request_that_may_become_a_task_does_not_wait_as_long_as_it_might(
    server: SifakaServer, writes: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sifaka_mcp.tools.awaited_run.PATIENCE", 0.1)
    writes(HANGS)
    async with tasks_client(server) as client:
        with anyio.fail_after(20):
            task = await created(client, {**RUN, "wait_seconds": 3600})
            again = await created(client, {"run_id": task.task_id}, tool="resume_run")
        assert (again.task_id, again.status) == (task.task_id, "working")


async def test_wrong_arguments_are_refused_by_the_tool(server: SifakaServer) -> None:
    async with tasks_client(server) as client:
        for wrong in ("soon", None, -1):
            result = await client.call_tool("improve_text", {**RUN, "wait_seconds": wrong})
            assert result.is_error
        for name in ("no_such_tool", 7, ["improve_text"]):
            call = Call(method="tools/call", params={"name": name, "arguments": {}})
            with pytest.raises(MCPError) as refused:
                await client.session.send_request(call, AnyResult)
            assert refused.value.code == INVALID_PARAMS


async def test_the_model_of_the_host_is_asked_before_there_is_a_task(
    server: SifakaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sifaka_mcp.tools.awaited_run.PATIENCE", 0.0)

    async def answer(*_: object) -> CreateMessageResult:
        content = TextContent(type="text", text="one two three")
        return CreateMessageResult(role="assistant", content=content, model="theirs")

    arguments = {**RUN, "model": "host", "wait_seconds": 45}
    async with tasks_client(server, sampling_callback=answer) as client:
        out = await call(client, "improve_text", **arguments)
        assert out["text"] == "one two three"


async def test_a_task_is_cancelled_for_good(
    server: SifakaServer, writes: Callable[..., None]
) -> None:
    writes(HANGS)
    async with tasks_client(server) as client:
        task = await created(client, RUN)
        for _ in range(2):
            assert await ask(client, "tasks/cancel", task.task_id) == {}
            seen = await ask(client, "tasks/get", task.task_id)
            assert seen.keys() == FIELDS
            assert (seen["status"], seen["statusMessage"]) == ("cancelled", "cancelled")


async def test_a_run_that_waits_for_a_revision_is_a_completed_task(server: SifakaServer) -> None:
    async with tasks_client(server) as client:
        out = await call(client, "improve_text", **WAITING)
        run_id, parent_id = out["run_id"], out["brief"]["parent_id"]
        assert await ask(client, "tasks/cancel", run_id) == {}
        waiting = await ask(client, "tasks/get", run_id)
        assert (waiting["status"], waiting["statusMessage"]) == ("completed", "awaiting_revision")
        assert waiting["result"]["structuredContent"] == out
        revision = {"run_id": run_id, "parent_id": parent_id, "text": "You may return this."}
        await client.call_tool("submit_revision", revision)
        await client.call_tool("cancel_run", {"run_id": run_id})
        after = await ask(client, "tasks/get", run_id)
        assert after["status"] == "completed"
        assert after["result"]["structuredContent"]["status"] == "cancelled"


async def test_a_run_that_failed_is_a_completed_task_whose_result_says_so(
    server: SifakaServer, writes: Callable[..., None]
) -> None:
    writes(Reply(status=401, body={"error": {"message": "no", "type": "x", "code": None}}))
    async with tasks_client(server) as client:
        task = await created(client, RUN)
        failed = await ended(client, task.task_id)
        assert failed["status"] == "completed"
        assert failed["result"]["structuredContent"]["status"] == "failed"


async def test_answers_to_what_no_task_has_asked_are_acknowledged(server: SifakaServer) -> None:
    async with tasks_client(server) as client:
        out = await call(client, "improve_text", **WAITING)
        run_id = out["run_id"]
        answers: dict[str, Any] = {"never asked": {"action": "accept", "content": {}}}
        assert await ask(client, "tasks/update", run_id, inputResponses=answers) == {}


@pytest.mark.parametrize(
    ("method", "params"),
    [("tasks/get", {}), ("tasks/cancel", {}), ("tasks/update", {"inputResponses": {}})],
)
async def test_tasks_that_are_not_there_and_those_of_others_are_refused_in_the_same_words(
    method: str, params: dict[str, Any], server: SifakaServer
) -> None:
    async with tasks_client(server) as client:
        with token_of("ada"):
            out = await call(client, "improve_text", **WAITING)
            hers = out["run_id"]
            await ask(client, method, hers, **params)
        with token_of("bob"):
            refused = [
                await refusal(client, method, task, **params)
                for task in (hers, "run_0000000000000000", "", "../" * 40, "run_\x00")
            ]
        assert {(error.code, str(error)) for error in refused} == {
            (INVALID_PARAMS, "Task not found")
        }


async def test_a_token_for_reading_looks_at_a_task_and_does_not_cancel_it(
    server: SifakaServer, writes: Callable[..., None]
) -> None:
    writes(HANGS)
    async with tasks_client(server) as client:
        with token_of("ada"):
            task = await created(client, RUN)
        with token_of("ada", "sifaka:read"):
            assert "sifaka:write" in str(await refusal(client, "tasks/cancel", task.task_id))
            assert (await ask(client, "tasks/get", task.task_id))["status"] == "working"


async def test_who_has_not_declared_the_extension_gets_no_task_and_asks_for_none(
    server: SifakaServer, writes: Callable[..., None]
) -> None:
    writes(HANGS)
    async with Client(server) as client:
        result = await client.session.call_tool("improve_text", RUN, allow_claimed=True)
        assert isinstance(result, CallToolResult)
        assert result.structured_content is not None
        assert result.structured_content["status"] == "running"
        run_id = result.structured_content["run_id"]
        refused = [
            await refusal(client, "tasks/get", run_id),
            await refusal(client, "tasks/cancel", run_id),
            await refusal(client, "tasks/update", run_id, inputResponses={}),
        ]
        with pytest.raises(MCPError) as listening:
            await listen_to_tasks(client, [run_id])
        codes = {error.code for error in (*refused, listening.value)}
        assert codes == {MISSING_REQUIRED_CLIENT_CAPABILITY}
        assert refused[0].error.data == {"requiredCapabilities": {"extensions": {TASKS: {}}}}


async def test_the_handshake_has_no_tasks(
    server: SifakaServer, writes: Callable[..., None]
) -> None:
    writes(HANGS)
    async with tasks_client(server, mode="legacy") as client:
        assert client.server_capabilities.extensions == {APPS: {}}
        out = await call(client, "improve_text", **RUN)
        assert out["status"] == "running"
        run_id = out["run_id"]
        assert (await refusal(client, "tasks/get", run_id)).code == METHOD_NOT_FOUND


async def test_a_server_that_starts_no_runs_offers_no_tasks(tmp_path: Path) -> None:
    server = SifakaServer(Settings(home=tmp_path, toolsets=("recall",)))
    async with tasks_client(server) as client:
        assert client.server_capabilities.extensions == {APPS: {}}


async def test_over_http_a_task_is_asked_for_under_its_own_name(tmp_path: Path) -> None:
    with served(tmp_path) as url:
        async with tasks_client(url) as client:
            out = await call(client, "improve_text", **WAITING)
            run_id = out["run_id"]
            assert (await ask(client, "tasks/get", run_id))["status"] == "completed"
            version = client.protocol_version
        meta: dict[str, Any] = {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {"extensions": {TASKS: {}}},
        }
        body: dict[str, Any] = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tasks/get",
            "params": {"taskId": run_id, "_meta": meta},
        }
        headers = {
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": str(version),
            "mcp-method": "tasks/get",
        }
        async with httpx.AsyncClient() as http:
            for name in ({}, {"mcp-name": "run_0000000000000000"}):
                answer = await http.post(url, json=body, headers={**headers, **name})
                assert (answer.status_code, answer.json()["error"]["code"]) == (
                    400,
                    HEADER_MISMATCH,
                )


async def listen_to_tasks(client: Client, task_ids: Sequence[str]) -> None:
    wanted: dict[str, Any] = {"taskIds": list(task_ids)}
    await client.session.send_request(
        SubscriptionsListenRequest(
            params=SubscriptionsListenRequestParams(notifications=SubscriptionFilter(**wanted))
        ),
        AnyResult,
    )


async def test_how_a_task_moves_is_told_to_those_who_listen_to_it(
    server: SifakaServer, writes: Callable[..., None]
) -> None:
    heard, over = anyio.Event(), anyio.Event()
    told: list[dict[str, Any]] = []

    async def hear(task: AnyResult) -> None:
        told.append(task.model_dump(by_alias=True))
        if told[-1]["status"] != "working":
            over.set()

    async def take(message: object) -> None:
        if isinstance(message, SubscriptionsAcknowledgedNotification):
            assert message.params.notifications.model_extra == {"taskIds": wanted}
            heard.set()

    class Hearing(ClientExtension):
        identifier = TASKS

        def notifications(self) -> Sequence[NotificationBinding[Any]]:
            return [
                NotificationBinding(
                    method="notifications/tasks", params_type=AnyResult, handler=hear
                )
            ]

    writes(HANGS)
    client = Client(server, extensions=[Hearing()], message_handler=take)
    async with client, tasks_client(server) as other:
        task = await created(other, RUN)
        async with anyio.create_task_group() as group:
            wanted = [task.task_id, "run_0000000000000000"]
            group.start_soon(listen_to_tasks, client, wanted)
            with anyio.fail_after(60):
                await heard.wait()
            await ask(other, "tasks/cancel", task.task_id)
            with anyio.fail_after(60):
                await over.wait()
            group.cancel_scope.cancel()
        seen = await ask(other, "tasks/get", task.task_id)
    meta = told[-1].pop("_meta")
    assert told[-1] == seen
    assert "io.modelcontextprotocol/subscriptionId" in meta
