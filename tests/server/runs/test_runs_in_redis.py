"""Runs of servers that share a real Redis: any of them works on a run, and others when it ends."""

import signal
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
import pytest
from mcp import Client
from mcp.client import ClientRequestContext
from mcp_types import CreateMessageRequestParams, CreateMessageResult, ErrorData

from sifaka import Chain
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.runs.queue import RunQueue
from sifaka_mcp.runs.service import RunKey
from sifaka_mcp.settings import Settings
from tests.stubs.calls import call
from tests.stubs.provider import Gate, provided, provider, says, told_of
from tests.stubs.redis_server import shared_redis
from tests.stubs.sampling_client import TEXT, ScriptedHost
from tests.stubs.servers import http_server, state_of

pytestmark = pytest.mark.anyio

ARGUMENTS: dict[str, Any] = {
    "text": "one two three four",
    "validators": [{"type": "length", "max_words": 3}],
    "critics": [],
}
HOSTED: dict[str, Any] = {"text": TEXT, "prompt": "write drafts", "model": "host"}
BETTER, SHORT = says("one two three four five"), says("one two")


def queue_of(server: SifakaServer) -> RunQueue:
    queue = state_of(server).runs.queue
    assert queue is not None
    return queue


@pytest.fixture
def store() -> str:
    """The URL of a store of one's own."""
    return f"{shared_redis().url}?prefix=test-{uuid4().hex}"


def of(home: Path, store: str, **more: Any) -> Settings:
    return Settings(home=home, store=store, model="openai-chat:stub", **more)


@pytest.mark.servers
@pytest.mark.parametrize(("number", "silence"), [(signal.SIGKILL, 1), (signal.SIGTERM, 3600)])
async def test_another_server_goes_on_with_the_run_of_one_that_ends(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    store: str,
    gate: Gate,
    number: int,
    silence: float,
) -> None:
    with provider([BETTER, says("never heard", gate=gate), SHORT]) as served:
        more = told_of(served, monkeypatch)
        more |= {"SIFAKA_STORE": store, "SIFAKA_TAKEOVER_SECONDS": str(silence)}
        survivor = SifakaServer(of(tmp_path, store, takeover_seconds=silence))
        with http_server(tmp_path, **more) as (url, victim):
            async with Client(url) as client:
                begun = await call(client, "improve_text", **ARGUMENTS, wait_seconds=0)
                await gate.reached()
            async with Client(survivor) as other:
                await queue_of(survivor).opened()
                victim.send_signal(number)
                victim.wait(timeout=100)
                await end_of(survivor, begun["run_id"])  # no request waits for it
                ended = await call(other, "resume_run", run_id=begun["run_id"])
                told = await call(other, "get_thought_history", run_id=begun["run_id"])

    assert begun["status"] == "running"
    assert (ended["status"], ended["text"]) == ("done", "one two")
    assert told["run"]["status"] == "done"
    # What was being asked when the worker ended was asked again, and nothing else.
    first, asked, again = served.requests
    assert first != asked
    assert asked == again


async def test_whoever_begins_a_run_follows_it_on_the_server_that_takes_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: str, gate: Gate
) -> None:
    told: list[tuple[float, str]] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message or ""))

    asked, working = (SifakaServer(of(tmp_path / n, store, max_runs=1)) for n in ("one", "two"))
    with provided([says("of another tenant", gate=gate), BETTER, SHORT], monkeypatch) as served:
        async with Client(asked) as client:
            await keep_busy(asked, gate)
            async with Client(working):
                await queue_of(working).opened()
                with anyio.fail_after(20):
                    result = await client.call_tool(
                        "improve_text", ARGUMENTS, progress_callback=listen
                    )
    assert result.structured_content is not None
    assert (result.structured_content["status"], len(served.requests)) == ("done", 3)
    assert [value for value, _ in told] == sorted({value for value, _ in told})
    assert "stop: rules_met" in [message for _, message in told]


@pytest.mark.slow
async def test_a_client_that_leaves_cancels_its_run_wherever_it_is_worked_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: str, gate: Gate
) -> None:
    asked, working = (SifakaServer(of(tmp_path / n, store, max_runs=1)) for n in ("one", "two"))
    late = Gate()
    with provided(
        [says("of another tenant", gate=gate), says("too late", gate=late)], monkeypatch
    ) as served:
        async with Client(asked) as client:
            await keep_busy(asked, gate)
            async with Client(working):
                await queue_of(working).opened()
                async with anyio.create_task_group() as group:
                    group.start_soon(client.call_tool, "improve_text", ARGUMENTS)
                    await late.reached()
                    group.cancel_scope.cancel()
                await served.deserted()
                (listed,) = (await call(client, "get_thought_history"))["runs"]
                await end_of(asked, listed["run_id"])
                ended = await call(client, "resume_run", run_id=listed["run_id"])
    assert ended["status"] == "cancelled"


async def keep_busy(server: SifakaServer, gate: Gate) -> None:
    """Have the only place of a server taken, by a run of another tenant."""
    state = state_of(server)
    store = state.store.scoped("bob")
    chain = Chain(model="openai-chat:stub", critics=[], store=store)
    run = (await chain.start("Write a text.")).run
    assert await queue_of(server).add(RunKey("bob", run.run_id), run.version)
    await gate.reached()


async def end_of(server: SifakaServer, run_id: str) -> None:
    """Wait until a run is over."""
    with anyio.fail_after(20):
        async with aclosing(state_of(server).store.follow(run_id)) as steps:
            async for _ in steps:
                pass


async def test_a_run_that_all_its_workers_die_of_is_given_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: str
) -> None:
    server = SifakaServer(of(tmp_path, store))
    with provided([SHORT], monkeypatch) as served:
        async with Client(server) as client:
            state = state_of(server)
            chain = Chain(model="openai-chat:stub", store=state.store)
            run = (await chain.start(text="A text.")).run
            assert await state.work_on(state.key(run.run_id), 6, run.version + 1) is None
            assert await state.work_on(state.key(run.run_id), 6)
            told = await call(client, "resume_run", run_id=run.run_id)
    assert (told["status"], told["stop_reason"]) == ("failed", "error")
    assert "broken off 6 times" in told["degraded"][0]
    assert served.requests == []


async def test_what_is_over_or_deleted_is_not_worked_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: str
) -> None:
    server = SifakaServer(of(tmp_path, store))
    with provided([SHORT], monkeypatch) as served:
        async with Client(server) as client:
            done = await call(client, "improve_text", **ARGUMENTS)
            state = state_of(server)
            for run_id in (done["run_id"], "run_forgotten"):
                assert await state.work_on(state.key(run_id), 1)
    assert done["status"] == "done"
    assert len(served.requests) == 1


async def test_no_run_is_refused_for_being_too_many_and_each_has_its_turn(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: str, gate: Gate
) -> None:
    server = SifakaServer(of(tmp_path, store, max_runs=1))
    with provided([says("one two", gate=gate), *[SHORT] * 3], monkeypatch) as served:
        async with Client(server) as client:
            await queue_of(server).opened()
            begun = [
                await call(client, "improve_text", **ARGUMENTS, wait_seconds=0) for _ in range(4)
            ]
            await gate.reached()
            assert len(served.requests) == 1
            gate.open()
            ended = [await call(client, "resume_run", run_id=run["run_id"]) for run in begun]
    assert [run["status"] for run in begun] == ["running"] * 4
    assert [run["status"] for run in ended] == ["done"] * 4


async def test_a_run_that_is_cancelled_while_it_waits_is_never_worked_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: str, gate: Gate
) -> None:
    server = SifakaServer(of(tmp_path, store, max_runs=1))
    with provided([says("one two", gate=gate), SHORT], monkeypatch) as served:
        async with Client(server) as client:
            await queue_of(server).opened()
            _, waiting, last = [
                await call(client, "improve_text", **ARGUMENTS, wait_seconds=0) for _ in range(3)
            ]
            await call(client, "cancel_run", run_id=waiting["run_id"])
            gate.open()
            ended = await call(client, "resume_run", run_id=last["run_id"])
            cancelled = await call(client, "resume_run", run_id=waiting["run_id"])
    assert (ended["status"], cancelled["status"]) == ("done", "cancelled")
    assert len(served.requests) == 2


async def test_without_docket_a_run_stays_in_its_process_and_is_interrupted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: str, gate: Gate
) -> None:
    monkeypatch.setitem(sys.modules, "docket", None)
    with provided([says("never heard", gate=gate), SHORT], monkeypatch):
        async with Client(SifakaServer(of(tmp_path, store))) as client:
            begun = await call(client, "improve_text", **ARGUMENTS, wait_seconds=0)
            await gate.reached()
        async with Client(SifakaServer(of(tmp_path, store))) as later:
            between = await call(later, "get_thought_history", run_id=begun["run_id"])
            ended = await call(later, "resume_run", run_id=begun["run_id"])
    assert between["run"]["status"] == "cancelled"
    assert (ended["status"], ended["text"]) == ("done", "one two")


async def test_a_run_that_asks_the_model_of_its_client_stays_there_and_is_seen_at_work(
    tmp_path: Path, store: str
) -> None:
    asked, answered = anyio.Event(), anyio.Event()
    host, other_host = ScriptedHost(content_with=1), ScriptedHost()

    async def when_told(
        context: ClientRequestContext, params: CreateMessageRequestParams
    ) -> CreateMessageResult | ErrorData:
        del context
        asked.set()
        await answered.wait()
        return host.answer(params)

    first, second = (SifakaServer(of(tmp_path / name, store)) for name in ("one", "two"))
    async with (
        Client(first, mode="legacy", sampling_callback=when_told) as worker,
        Client(second, mode="legacy", sampling_callback=other_host) as other,
    ):
        begun = await call(
            worker, "improve_text", **HOSTED, critics=[], facts="off", wait_seconds=0
        )
        with anyio.fail_after(20):
            await asked.wait()
        early = await call(other, "resume_run", run_id=begun["run_id"], wait_seconds=0)
        state = state_of(second)
        assert await state.work_on(state.key(begun["run_id"]), 1)
        assert not state.runs.works_on(state.key(begun["run_id"]))
        answered.set()
        ended = await call(other, "resume_run", run_id=begun["run_id"])
    assert early["status"] == "running"
    assert other_host.asked == []
    assert (ended["status"], ended["text"]) == ("done", "Draft 1 of the text.")
