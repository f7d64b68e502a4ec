"""Runs whose worker dies or is told to stop, taken over by another server over a real Redis."""

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
from sifaka_mcp.settings import Settings
from tests.stubs.calls import call
from tests.stubs.provider import HANGS, Gate, provider, says, told_of
from tests.stubs.redis_server import shared_redis
from tests.stubs.sampling_client import TEXT, ScriptedHost
from tests.stubs.servers import http_server, let_go, state_of

pytestmark = pytest.mark.anyio

ARGUMENTS: dict[str, Any] = {
    "text": "one two three four",
    "validators": [{"type": "length", "max_words": 3}],
    "critics": [],
}
HOSTED: dict[str, Any] = {"text": TEXT, "prompt": "write drafts", "model": "host"}
BETTER, SHORT = says("one two three four five"), says("one two")


@pytest.fixture
def store() -> str:
    """The URL of a store of one's own."""
    return f"{shared_redis().url}?prefix=test-{uuid4().hex}"


def of(home: Path, store: str, **more: Any) -> Settings:
    return Settings(home=home, store=store, model="openai-chat:stub", **more)


@pytest.mark.parametrize(("number", "silence"), [(signal.SIGKILL, "1"), (signal.SIGTERM, "3600")])
async def test_another_server_goes_on_with_the_run_of_one_that_ends(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    store: str,
    gate: Gate,
    number: int,
    silence: str,
) -> None:
    with provider([BETTER, says("never heard", gate=gate), SHORT]) as served:
        more = told_of(served, monkeypatch)
        more |= {"SIFAKA_STORE": store}
        survivor = SifakaServer(of(tmp_path, store))
        with http_server(tmp_path, **more, SIFAKA_TAKEOVER_SECONDS=silence) as (url, victim):
            async with Client(survivor) as other:
                async with Client(url) as client:
                    begun = await call(client, "improve_text", **ARGUMENTS, wait_seconds=0)
                    with anyio.fail_after(20):
                        await gate.reached()
                victim.send_signal(number)
                victim.wait(timeout=10)
                await end_of(survivor, begun["run_id"])  # nobody has asked for it
                ended = await call(other, "resume_run", run_id=begun["run_id"])
                told = await call(other, "get_thought_history", run_id=begun["run_id"])

    assert begun["status"] == "running"
    assert (ended["status"], ended["text"]) == ("done", "one two")
    assert told["run"]["status"] == "done"
    # What was being asked when the worker ended was asked again, and nothing else.
    first, asked, again = served.requests
    assert first != asked
    assert asked == again


async def test_a_run_is_cancelled_by_another_server_in_the_middle_of_a_call(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: str, gate: Gate
) -> None:
    first, second = (SifakaServer(of(tmp_path / name, store)) for name in ("one", "two"))
    with provider([BETTER, says("too late", gate=gate)]) as served:
        told_of(served, monkeypatch)
        async with Client(first) as worker, Client(second) as other:
            elsewhere = state_of(second)
            assert not await elsewhere.jobs.attended(elsewhere.key("run_of_nobody"))
            begun = await call(worker, "improve_text", **ARGUMENTS, wait_seconds=0)
            assert await elsewhere.jobs.attended(elsewhere.key(begun["run_id"]))
            with anyio.fail_after(20):
                await gate.reached()
            cancelled = await call(other, "cancel_run", run_id=begun["run_id"])
            state = state_of(first)
            with anyio.fail_after(10):
                await served.deserted()
                await let_go(first, begun["run_id"])
            assert not await state.jobs.attended(state.key(begun["run_id"]))
            assert await call(worker, "resume_run", run_id=begun["run_id"]) == cancelled

    assert (cancelled["status"], cancelled["text"]) == ("cancelled", ARGUMENTS["text"])
    assert len(served.requests) == 2


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
    with provider([SHORT]) as served:
        told_of(served, monkeypatch)
        async with Client(server) as client:
            state = state_of(server)
            run = (
                await Chain(model="openai-chat:stub", store=state.store).start(text="A text.")
            ).run
            await state.take_over(state.key(run.run_id), 6)
            told = await call(client, "resume_run", run_id=run.run_id)
    assert (told["status"], told["stop_reason"]) == ("failed", "error")
    assert "broken off 6 times" in told["degraded"][0]
    assert served.requests == []


async def test_what_is_over_or_forgotten_is_not_taken_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: str
) -> None:
    server = SifakaServer(of(tmp_path, store))
    with provider([SHORT]) as served:
        told_of(served, monkeypatch)
        async with Client(server) as client:
            done = await call(client, "improve_text", **ARGUMENTS)
            state = state_of(server)
            for run_id in (done["run_id"], "run_forgotten"):
                await state.take_over(state.key(run_id), 1)
                assert not state.jobs.works_on(state.key(run_id))
    assert done["status"] == "done"
    assert len(served.requests) == 1


async def test_a_server_without_room_leaves_a_run_for_later(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: str
) -> None:
    server = SifakaServer(of(tmp_path, store, max_runs=1))
    with provider([HANGS, HANGS]) as served:
        told_of(served, monkeypatch)
        async with Client(server) as client:
            begun = await call(client, "improve_text", **ARGUMENTS, wait_seconds=0)
            state = state_of(server)
            chain = await state.chain(model="openai-chat:stub")
            key = state.key((await chain.start(text="A text.")).run_id)
            await state.take_over(key, 1)
            assert not state.jobs.works_on(key)
            assert await state.jobs.attended(key)
            await call(client, "cancel_run", run_id=begun["run_id"])
            await state.take_over(key, 1)
            assert state.jobs.works_on(key)


async def test_a_run_that_nobody_can_be_handed_is_interrupted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: str, gate: Gate
) -> None:
    monkeypatch.setitem(sys.modules, "docket", None)
    with provider([says("never heard", gate=gate), SHORT]) as served:
        told_of(served, monkeypatch)
        async with Client(SifakaServer(of(tmp_path, store))) as client:
            begun = await call(client, "improve_text", **ARGUMENTS, wait_seconds=0)
            with anyio.fail_after(20):
                await gate.reached()
        async with Client(SifakaServer(of(tmp_path, store))) as later:
            between = await call(later, "get_thought_history", run_id=begun["run_id"])
            ended = await call(later, "resume_run", run_id=begun["run_id"])
    assert between["run"]["status"] == "cancelled"
    assert (ended["status"], ended["text"]) == ("done", "one two")


async def test_who_asks_the_model_of_its_client_is_seen_at_work_and_not_succeeded(
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
        begun = await call(worker, "improve_text", **HOSTED, critics=[], wait_seconds=0)
        with anyio.fail_after(20):
            await asked.wait()
        early = await call(other, "resume_run", run_id=begun["run_id"], wait_seconds=0)
        state = state_of(second)
        await state.take_over(state.key(begun["run_id"]), 1)
        assert not state.jobs.works_on(state.key(begun["run_id"]))
        answered.set()
        ended = await call(other, "resume_run", run_id=begun["run_id"])
    assert early["status"] == "running"
    assert other_host.asked == []
    assert (ended["status"], ended["text"]) == ("done", "Draft 1 of the text.")
