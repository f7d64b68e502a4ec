"""A client that is asked and does not come back: after a while its run goes on without it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from sifaka.chain import CancelEntry, Listener, RunResult, follow_run
from sifaka.errors import SifakaError, StorageError
from sifaka.record.entries import RunStatus, Started, Stopped
from sifaka.record.run import Run
from sifaka.storage import MemoryStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.host.expiry import Expiry
from sifaka_mcp.settings import Settings
from sifaka_mcp.tools.work import bounded
from tests.stubs.sampling_client import (
    TEXT,
    ByHand,
    ScriptedHost,
    data,
    handed_in,
    is_for_the_second_draft,
)
from tests.stubs.servers import state_of
from tests.stubs.stores import PassingStore

pytestmark = pytest.mark.anyio

ARGUMENTS: dict[str, Any] = {
    "text": TEXT,
    "prompt": "write drafts, change the numbers",
    "model": "host",
    "critics": ["self_refine"],
    "max_iterations": 3,
}
SOON = 0.3
"""Seconds: longer than a round takes here."""


async def has_stopped(store: ThoughtStore, run_id: str) -> Run:
    """The run once it is neither worked on nor waited for."""
    with anyio.fail_after(20):
        async for event in follow_run(store, run_id):
            if event.run is not None and event.run.status != "running":
                return event.run
    raise AssertionError("it ends with a run that has stopped")


def store_of(server: SifakaServer) -> ThoughtStore:
    return state_of(server).store


def watched(server: SifakaServer) -> frozenset[str]:
    return state_of(server).expiry.watched


async def test_a_run_that_is_not_answered_goes_on_without_its_host(tmp_path: Path) -> None:
    host = ScriptedHost(refuses=is_for_the_second_draft)
    server = SifakaServer(Settings(home=tmp_path), host_seconds=SOON)
    async with Client(server, sampling_callback=host) as client:
        with pytest.raises(MCPError, match="User rejected"):
            await client.call_tool("improve_text", ARGUMENTS)
        (line,) = data(await client.call_tool("get_thought_history"))["runs"]
        run = await has_stopped(store_of(server), line["run_id"])
        assert (run.status, run.handed_over) == ("needs_revision", True)
        asked = len(host.asked)
        out = data(await client.call_tool("resume_run", {"run_id": run.run_id}))
        assert out["text"] == "Draft 1 of the text."
        assert "the client has not come back with answers within 0.3 s" in out["degraded"][-1]
        assert out["brief"]["issues"][0]["message"] == "go on", "what was answered is kept"
        done = await handed_in(client, out, "Draft 2 of the text.")
        assert (done["status"], done["accepted"]) == ("done", True)
        assert len(host.asked) == asked


async def test_answers_that_come_too_late_are_refused_and_change_nothing(tmp_path: Path) -> None:
    host, call = ScriptedHost(), ByHand("improve_text", **ARGUMENTS)
    server = SifakaServer(Settings(home=tmp_path), host_seconds=SOON)
    async with Client(server, sampling_callback=host) as client:
        await call.go_on(client, host)
        (line,) = data(await client.call_tool("get_thought_history"))["runs"]
        run = await has_stopped(store_of(server), line["run_id"])
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await call.go_on(client, host)
        assert await store_of(server).load(run.run_id) == run


async def test_each_round_is_waited_for_anew_and_none_after_the_last(tmp_path: Path) -> None:
    host, call = ScriptedHost(content_with=1), ByHand("improve_text", **ARGUMENTS)
    server = SifakaServer(Settings(home=tmp_path))
    async with Client(server, sampling_callback=host) as client:
        for _ in range(2):
            assert await call.go_on(client, host) is None
            assert len(watched(server)) == 1
        assert (await call.finish(client, host))["status"] == "done"
        assert watched(server) == frozenset()


async def test_a_run_whose_answers_somebody_else_waits_for_is_left_alone(tmp_path: Path) -> None:
    host, call = ScriptedHost(content_with=1), ByHand("improve_text", **ARGUMENTS)
    server = SifakaServer(Settings(home=tmp_path))
    async with Client(server, sampling_callback=host) as client, Client(server) as other:
        await call.go_on(client, host)
        (line,) = data(await other.call_tool("get_thought_history"))["runs"]
        arguments = {"run_id": line["run_id"], "wait_seconds": 0.2}
        seen = data(await other.call_tool("resume_run", arguments))
        assert (seen["status"], seen["brief"]) == ("running", None)
        assert (await call.finish(client, host))["status"] == "done"


async def test_after_a_restart_whoever_looks_settles_what_has_waited_too_long(
    tmp_path: Path,
) -> None:
    host, call = ScriptedHost(content_with=1), ByHand("improve_text", **ARGUMENTS)
    async with Client(SifakaServer(Settings(home=tmp_path)), sampling_callback=host) as client:
        await call.go_on(client, host)
        (line,) = data(await client.call_tool("get_thought_history"))["runs"]
    server = SifakaServer(Settings(home=tmp_path), host_seconds=0.001)
    async with Client(server) as other:
        assert watched(server) == frozenset()
        out = data(await other.call_tool("resume_run", {"run_id": line["run_id"]}))
    assert (out["status"], out["unchanged"]) == ("needs_revision", True)
    assert out["brief"] is not None


@pytest.mark.parametrize(("model", "waited_for"), [("host", True), ("editor", False)])
async def test_a_run_whose_last_round_the_store_has_failed_is_waited_for(
    tmp_path: Path, model: str, waited_for: bool
) -> None:
    async def fails(listen: Listener, parting: CancelEntry) -> RunResult:
        del listen, parting
        raise StorageError("the store is away")

    server = SifakaServer(Settings(home=tmp_path))
    async with Client(server):
        state = state_of(server)
        run = (await (await state.chain(model=model)).start(text=TEXT)).run
        until = anyio.current_time() + 20
        ticket = state.ticket(run)
        assert await state.runs.submit(ticket, bounded(state, run, fails), until=until)
        with pytest.raises(StorageError):
            await ticket.wait(until)
        assert watched(server) == ({run.run_id} if waited_for else set())


async def a_run(*, status: RunStatus | None = None, at: datetime | None = None) -> ThoughtStore:
    store = MemoryStorage()
    entries: list[Started | Stopped] = [Started(run_id="run", at=at or datetime.now(UTC))]
    if status is not None:
        entries.append(Stopped(status=status, stop_reason="cancelled"))
    await store.append(Run.replay(entries), entries, expected_version=0)
    return store


async def is_gone_on_with(store: ThoughtStore, *, leave: bool = False) -> bool:
    """Check that a run that was watched goes on once it is not watched any more."""
    gone_on = anyio.Event()

    async def go_on() -> None:
        gone_on.set()

    async with anyio.create_task_group() as group:
        expiry = Expiry(group, 0.05)
        expiry.watch("run", store, go_on)
        assert expiry.watched == {"run"}
        if leave:
            expiry.leave("run")
    return gone_on.is_set()


async def test_a_run_to_which_nothing_happens_is_gone_on_with() -> None:
    assert await is_gone_on_with(await a_run())


async def test_a_run_that_is_worked_on_is_not_watched_any_more() -> None:
    assert not await is_gone_on_with(await a_run(), leave=True)


async def test_a_run_that_has_stopped_meanwhile_stays_as_it_is() -> None:
    assert not await is_gone_on_with(await a_run(status="cancelled"))


async def test_a_round_that_has_come_to_another_process_is_waited_for_too() -> None:
    later = datetime.now(UTC) + timedelta(seconds=0.2)
    assert await is_gone_on_with(await a_run(at=later))
    assert datetime.now(UTC) > later


async def test_a_store_that_is_away_takes_nobody_down(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Away(PassingStore):
        async def load(self, run_id: str) -> Run:
            raise StorageError("the store is away")

    assert not await is_gone_on_with(Away(MemoryStorage()))
    assert "waiting for a host failed" in caplog.text


async def test_a_run_is_gone_on_with_when_its_store_is_there_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class BackSoon(PassingStore):
        asked = 0

        async def load(self, run_id: str) -> Run:
            self.asked += 1
            if self.asked < 3:
                raise StorageError("the store is away", retryable=True)
            return await super().load(run_id)

    assert await is_gone_on_with(BackSoon(await a_run()))
    assert "waiting for a host failed" in caplog.text


async def test_a_run_there_is_no_room_for_now_goes_on_when_there_is() -> None:
    tried: list[int] = []

    async def go_on() -> None:
        tried.append(len(tried))
        if len(tried) == 1:
            raise SifakaError("64 runs are in progress already", retryable=True)

    store = await a_run()
    async with anyio.create_task_group() as group:
        Expiry(group, 0.05).watch("run", store, go_on)
    assert tried == [0, 1]
