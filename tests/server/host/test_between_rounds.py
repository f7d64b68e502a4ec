"""Between two rounds the server is killed, or the next round comes to another one."""

import signal
from collections.abc import Generator
from contextlib import AsyncExitStack
from itertools import cycle
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client import ClientRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import CreateMessageRequestParams, CreateMessageResult
from pydantic import SecretStr

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from tests.stubs.redis_server import RedisServer, redis_server
from tests.stubs.sampling_client import TEXT, ByHand, ScriptedHost, data, said, words
from tests.stubs.servers import http_server

pytestmark = pytest.mark.anyio

ARGUMENTS: dict[str, Any] = {
    "text": TEXT,
    "prompt": "write drafts, change the numbers",
    "model": "host",
    "critics": ["self_refine", {"type": "prompt", "rubric": "is it nice?"}],
    "max_iterations": 3,
    "wait_seconds": 300,  # on a busy machine the work may take long
}


@pytest.fixture
def redis() -> Generator[RedisServer]:
    with redis_server() as server:
        yield server


def nothing_was_asked_twice(host: ScriptedHost) -> bool:
    """Check that all questions differ; what they quote is marked anew for each version of a run."""
    asked = {(params.system_prompt, words(params)) for params in host.asked}
    return len(asked) == len(host.asked)


@pytest.mark.servers
async def test_a_run_outlives_a_kill_between_two_rounds(tmp_path: Path) -> None:
    host, call = ScriptedHost(), ByHand("improve_text", **ARGUMENTS)
    with http_server(tmp_path) as (url, process):
        async with Client(url, sampling_callback=host) as client:
            for _ in range(4):
                assert await call.go_on(client, host) is None
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=100)
    with http_server(tmp_path) as (url, _):
        async with Client(url, sampling_callback=host) as client:
            out = await call.finish(client, host)
    assert (out["status"], out["text"]) == ("done", "Draft 3 of the text.")
    assert nothing_was_asked_twice(host)
    assert out["usage"]["model_calls"] == len(host.asked) == 3 * 2 + 3


async def test_a_run_whose_client_has_lost_its_round_is_resumed(tmp_path: Path) -> None:
    host, call = ScriptedHost(), ByHand("improve_text", **ARGUMENTS)
    async with Client(server(tmp_path), sampling_callback=host) as client:
        for _ in range(2):
            assert await call.go_on(client, host) is None
        (line,) = data(await client.call_tool("get_thought_history"))["runs"]
    assert line["status"] == "running"
    async with Client(server(tmp_path), sampling_callback=host) as client:
        out = data(await client.call_tool("resume_run", {"run_id": line["run_id"]}))
    assert (out["status"], out["text"]) == ("done", "Draft 3 of the text.")
    assert nothing_was_asked_twice(host)


async def test_a_host_that_leaves_while_it_is_asked_may_come_back(tmp_path: Path) -> None:
    asked = anyio.Event()

    async def hangs(
        context: ClientRequestContext, params: CreateMessageRequestParams
    ) -> CreateMessageResult:
        del context, params
        asked.set()
        await anyio.sleep_forever()
        return said("never")

    async with Client(server(tmp_path), mode="legacy", sampling_callback=hangs) as client:
        begun = data(await client.call_tool("improve_text", {**ARGUMENTS, "wait_seconds": 0}))
        with anyio.fail_after(20):
            await asked.wait()
    host = ScriptedHost()
    async with Client(server(tmp_path), mode="legacy", sampling_callback=host) as client:
        out = data(await client.call_tool("resume_run", {"run_id": begun["run_id"]}))
    assert (out["status"], out["text"], out["degraded"]) == ("done", "Draft 3 of the text.", [])


async def test_the_rounds_of_a_call_may_come_to_two_servers_over_one_file(tmp_path: Path) -> None:
    await _alternating(Settings(home=tmp_path), Settings(home=tmp_path))


@pytest.mark.slow
async def test_and_to_two_over_one_redis_with_one_key(tmp_path: Path, redis: RedisServer) -> None:
    keys = (SecretStr("k" * 32),)
    one, two = (
        Settings(home=tmp_path / name, store=redis.url, state_keys=keys) for name in ("one", "two")
    )
    await _alternating(one, two)
    assert not (tmp_path / "one" / "state.key").exists()


async def test_a_server_with_another_key_refuses_a_round_and_leaves_the_run_to_the_first(
    tmp_path: Path, redis: RedisServer
) -> None:
    host, call = ScriptedHost(), ByHand("improve_text", **ARGUMENTS)
    one, two = (
        SifakaServer(Settings(home=tmp_path / name, store=redis.url)) for name in ("one", "two")
    )
    async with Client(one, sampling_callback=host) as first, Client(two) as second:
        await call.go_on(first, host)
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await call.go_on(second, host)
        out = await call.finish(first, host)
    assert (out["status"], out["text"]) == ("done", "Draft 3 of the text.")


async def test_a_replaced_key_opens_what_it_has_sealed(tmp_path: Path, redis: RedisServer) -> None:
    old, new = SecretStr("o" * 32), SecretStr("n" * 32)
    before, after = (
        Settings(home=tmp_path, store=redis.url, state_keys=keys) for keys in ((old,), (new, old))
    )
    host, call = ScriptedHost(), ByHand("improve_text", **ARGUMENTS)
    async with Client(SifakaServer(before), sampling_callback=host) as client:
        await call.go_on(client, host)
    async with Client(SifakaServer(after), sampling_callback=host) as client:
        out = await call.finish(client, host)
    assert out["status"] == "done"


async def _alternating(*each: Settings) -> None:
    host, call = ScriptedHost(), ByHand("improve_text", **ARGUMENTS)
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(Client(SifakaServer(one), sampling_callback=host))
            for one in each
        ]
        turns = cycle(clients)
        while (result := await call.go_on(next(turns), host)) is None:
            pass
    out = data(result)
    assert (out["status"], out["text"]) == ("done", "Draft 3 of the text.")
    assert nothing_was_asked_twice(host)
    assert out["usage"]["model_calls"] == len(host.asked)
    assert len(call.rounds) == 6


def server(home: Path) -> SifakaServer:
    return SifakaServer(Settings(home=home))
