"""Between rounds the server is killed, the client does not come back, or has no round left."""

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
from mcp.client._input_required import DEFAULT_INPUT_REQUIRED_MAX_ROUNDS
from mcp.shared.exceptions import MCPError
from mcp_types import CreateMessageRequestParams, CreateMessageResult
from pydantic import SecretStr

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.host.sampling import MOST_ROUNDS
from sifaka_mcp.settings import Settings
from tests.stubs.redis_server import RedisServer, redis_server
from tests.stubs.sampling_client import (
    DRAFTS,
    ByHand,
    ScriptedHost,
    data,
    handed_in,
    hosted,
    is_for_the_second_draft,
    said,
    words,
)
from tests.stubs.servers import http_server, state_of

pytestmark = pytest.mark.anyio


ARGUMENTS = DRAFTS | {
    "critics": ["self_refine", {"type": "prompt", "rubric": "is it nice?"}],
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


@pytest.mark.slow
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


ONE_CRITIC = DRAFTS | {"critics": ["self_refine"]}


async def test_a_run_that_is_not_answered_is_gone_on_with_without_its_host(tmp_path: Path) -> None:
    host = ScriptedHost(refuses=is_for_the_second_draft)
    settings = Settings(home=tmp_path)
    server, later = SifakaServer(settings), SifakaServer(settings, host_seconds=0.001)
    async with Client(server, sampling_callback=host) as client, Client(later) as other:
        with pytest.raises(MCPError, match="User rejected"):
            await client.call_tool("improve_text", ONE_CRITIC)
        (line,) = data(await other.call_tool("get_thought_history"))["runs"]
        assert line["status"] == "running"
        asked = len(host.asked)
        out = data(await other.call_tool("resume_run", {"run_id": line["run_id"]}))
        assert (out["status"], out["text"]) == ("needs_revision", "Draft 1 of the text.")
        assert out["brief"]["issues"][0]["message"] == "go on", "what was answered is kept"
        done = await handed_in(other, out, "Draft 2 of the text.")
        assert (done["status"], done["accepted"]) == ("done", True)
        assert len(host.asked) == asked


async def test_answers_that_come_too_late_are_refused_and_change_nothing(tmp_path: Path) -> None:
    host, call = ScriptedHost(), ByHand("improve_text", **ONE_CRITIC)
    server = SifakaServer(Settings(home=tmp_path), host_seconds=0.001)
    async with Client(server, sampling_callback=host) as client:
        await call.go_on(client, host)
        (line,) = data(await client.call_tool("get_thought_history"))["runs"]
        store = state_of(server).store
        run = await store.load(line["run_id"])
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await call.go_on(client, host)
        assert await store.load(run.run_id) == run


async def test_a_run_whose_answers_somebody_else_waits_for_is_left_alone(tmp_path: Path) -> None:
    host, call = ScriptedHost(content_with=1), ByHand("improve_text", **ONE_CRITIC)
    server = SifakaServer(Settings(home=tmp_path))
    async with Client(server, sampling_callback=host) as client, Client(server) as other:
        await call.go_on(client, host)
        (line,) = data(await other.call_tool("get_thought_history"))["runs"]
        arguments = {"run_id": line["run_id"], "wait_seconds": 0.2}
        seen = data(await other.call_tool("resume_run", arguments))
        assert (seen["status"], seen["brief"]) == ("running", None)
        assert (await call.finish(client, host))["status"] == "done"


async def test_after_a_restart_what_has_waited_too_long_is_settled(tmp_path: Path) -> None:
    host, call = ScriptedHost(content_with=1), ByHand("improve_text", **ONE_CRITIC)
    async with Client(SifakaServer(Settings(home=tmp_path)), sampling_callback=host) as client:
        await call.go_on(client, host)
        (line,) = data(await client.call_tool("get_thought_history"))["runs"]
    server = SifakaServer(Settings(home=tmp_path), host_seconds=0.001)
    async with Client(server) as other:
        out = data(await other.call_tool("resume_run", {"run_id": line["run_id"]}))
    assert (out["status"], out["unchanged"]) == ("needs_revision", True)
    assert out["brief"] is not None


MANY_ROUNDS = {**ONE_CRITIC, "max_iterations": 20}


async def improved(tmp_path: Path, call: ByHand) -> dict[str, Any]:
    host = ScriptedHost(content_with=50)
    async with hosted("memory", "auto", tmp_path, host) as client:
        return await call.finish(client, host)


async def test_the_limit_is_that_of_the_clients() -> None:
    assert MOST_ROUNDS == DEFAULT_INPUT_REQUIRED_MAX_ROUNDS == Client("").input_required_max_rounds


async def test_the_best_so_far_comes_back_with_the_reason_and_a_brief(tmp_path: Path) -> None:
    call = ByHand("improve_text", **MANY_ROUNDS)
    out = await improved(tmp_path, call)
    assert len(call.rounds) == MOST_ROUNDS
    assert (out["status"], out["stop_reason"]) == ("needs_revision", "awaiting_revision")
    assert out["text"] == "Draft 5 of the text.", "there was no round for a sixth"
    assert "ask their model 10 times for one call" in out["degraded"][-1]
    assert out["brief"]["parent_id"] == out["thought_id"]
    assert out["usage"]["model_calls"] == MOST_ROUNDS


async def test_a_client_of_the_sdk_does_not_run_into_its_limit(tmp_path: Path) -> None:
    host = ScriptedHost(content_with=50)
    async with hosted("memory", "auto", tmp_path, host) as client:
        out = data(await client.call_tool("improve_text", MANY_ROUNDS))
    assert out["status"] == "needs_revision"
    assert len(host.asked) == MOST_ROUNDS


async def test_what_the_caller_submits_then_ends_the_run(tmp_path: Path) -> None:
    host, call = ScriptedHost(content_with=50), ByHand("improve_text", **MANY_ROUNDS)
    async with hosted("memory", "auto", tmp_path, host) as client:
        out = await call.finish(client, host)
        asked = len(host.asked)
        done = await handed_in(client, out, "Draft 6 of the text.")
    assert (done["status"], done["accepted"], done["unchanged"]) == ("done", True, True)
    assert len(host.asked) == asked, "a run that was handed over leaves the host alone"


async def test_the_handshake_knows_no_limit(tmp_path: Path) -> None:
    host = ScriptedHost(content_with=6)
    async with hosted("memory", "legacy", tmp_path, host) as client:
        out = data(await client.call_tool("improve_text", MANY_ROUNDS))
    assert (out["status"], out["text"]) == ("done", "Draft 6 of the text.")
    assert len(host.asked) > MOST_ROUNDS, "one after the other"
