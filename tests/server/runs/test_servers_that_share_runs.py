"""Two servers in front of one file of runs, and servers that come one after the other."""

import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from sifaka.storage import SQLiteStorage
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from tests.stubs.calls import call
from tests.stubs.provider import HANGS, REFUND, Gate, provided, provider, says, told_of
from tests.stubs.redis_server import redis_server
from tests.stubs.sampling_client import data
from tests.stubs.servers import HELLO, INITIALIZED, environment, http_server, let_go, tell

pytestmark = pytest.mark.anyio


ARGUMENTS: dict[str, Any] = {
    "text": "one two three four",
    "validators": [{"type": "length", "max_words": 3}],
    "critics": [],
}
IMPROVE = {
    "id": 2,
    "method": "tools/call",
    "params": {"name": "improve_text", "arguments": ARGUMENTS},
}
BETTER, SHORT = says("one two three four five"), says("one two")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, model="openai-chat:stub")


@pytest.mark.slow
async def test_a_run_is_cancelled_in_the_middle_of_a_call_by_another_server(
    monkeypatch: pytest.MonkeyPatch, gate: Gate, settings: Settings
) -> None:
    first = SifakaServer(settings)
    with provided([BETTER, says("too late", gate=gate)], monkeypatch) as served:
        async with Client(first) as worker, Client(SifakaServer(settings)) as other:
            begun = await call(worker, "improve_text", **ARGUMENTS, wait_seconds=0)
            await gate.reached()
            cancelled = await call(other, "cancel_run", run_id=begun["run_id"])
            with anyio.fail_after(60):
                await served.deserted()
                await let_go(first, begun["run_id"])
            gate.open()
            told = await call(worker, "resume_run", run_id=begun["run_id"])

    assert (cancelled["status"], cancelled["unchanged"]) == ("cancelled", True)
    assert told == cancelled
    assert len(served.requests) == 2


@pytest.mark.slow
async def test_a_run_that_another_server_works_on_is_followed_and_not_taken_away(
    monkeypatch: pytest.MonkeyPatch, gate: Gate, settings: Settings
) -> None:
    told: list[tuple[float, str]] = []
    joined = anyio.Event()

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message or ""))

    async def resume() -> None:
        joined.set()
        result = await other.call_tool("resume_run", {"run_id": run_id}, progress_callback=listen)
        assert result.structured_content is not None
        ended.update(result.structured_content)

    early: dict[str, Any] = {}
    ended: dict[str, Any] = {}
    with provided([BETTER, says("one two", gate=gate)], monkeypatch) as served:
        async with (
            Client(SifakaServer(settings)) as worker,
            Client(SifakaServer(settings)) as other,
        ):
            begun = await call(worker, "improve_text", **ARGUMENTS, wait_seconds=0)
            run_id = begun["run_id"]
            with anyio.fail_after(20):
                await gate.reached()
                async with anyio.create_task_group() as group:
                    group.start_soon(resume)
                    await joined.wait()
                    # It is answered after the request before it was taken up.
                    early.update(await call(other, "resume_run", run_id=run_id, wait_seconds=0))
                    gate.open()

    assert early["status"] == "running"
    assert (ended["status"], ended["text"]) == ("done", "one two")
    assert len(served.requests) == 2
    assert [value for value, _ in told] == sorted({value for value, _ in told})
    assert "stop: rules_met" in [message for _, message in told]


@pytest.mark.slow
async def test_a_run_that_was_interrupted_and_goes_on_is_cancelled_in_the_middle_of_a_call(
    monkeypatch: pytest.MonkeyPatch, gate: Gate, settings: Settings
) -> None:
    first, asked = SifakaServer(settings), Gate()
    with provided(
        [says("never heard", gate=asked), says("too late", gate=gate)], monkeypatch
    ) as served:
        async with Client(SifakaServer(settings)) as client:
            begun = await call(client, "improve_text", **ARGUMENTS, wait_seconds=0)
            await asked.reached()
        async with Client(first) as worker, Client(SifakaServer(settings)) as other:
            again = await call(worker, "resume_run", run_id=begun["run_id"], wait_seconds=0)
            await gate.reached()
            seen = await call(other, "resume_run", run_id=begun["run_id"], wait_seconds=0)
            await call(other, "cancel_run", run_id=begun["run_id"])
            with anyio.fail_after(60):
                await let_go(first, begun["run_id"])
            ended = await call(worker, "resume_run", run_id=begun["run_id"])
    assert (again["status"], seen["status"], ended["status"]) == ("running", "running", "cancelled")
    assert len(served.requests) == 2, "it was not taken away from who had gone on with it"


async def test_an_interrupted_run_can_be_cancelled(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    with provided([HANGS], monkeypatch):
        async with Client(SifakaServer(settings)) as client:
            begun = await call(client, "improve_text", **ARGUMENTS, wait_seconds=0)
        async with Client(SifakaServer(settings)) as later:
            cancelled = await call(later, "cancel_run", run_id=begun["run_id"])
            assert await call(later, "resume_run", run_id=begun["run_id"]) == cancelled
    assert cancelled["status"] == "cancelled"


async def status_of(home: Path) -> tuple[str, str | None, str | None]:
    store = SQLiteStorage(home / "sifaka.db")
    (summary,) = (await store.recent(limit=2)).runs
    run = await store.load(summary.run_id)
    await store.aclose()
    return run.status, run.error_code, run.run_id


@contextmanager
def asked_on_stdio(home: Path, **more: str) -> Generator[subprocess.Popen[bytes]]:
    """A server that a host has asked to improve a text."""
    with subprocess.Popen(
        [sys.executable, "-m", "sifaka_mcp"],
        env=environment(home, **more),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    ) as process:
        tell(process, HELLO, INITIALIZED, IMPROVE)
        yield process


@pytest.mark.servers
async def test_a_host_that_closes_our_input_interrupts_the_run_it_waits_for(
    monkeypatch: pytest.MonkeyPatch, gate: Gate, settings: Settings, tmp_path: Path
) -> None:
    with provider([says("never heard", gate=gate), SHORT]) as served:
        with asked_on_stdio(tmp_path, **told_of(served, monkeypatch)) as process:
            await gate.reached()
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(timeout=100) == 0
        status, code, run_id = await status_of(tmp_path)
        async with Client(SifakaServer(settings)) as later:
            ended = await call(later, "resume_run", run_id=run_id)

    assert (status, code) == ("cancelled", "interrupted")
    assert (ended["status"], ended["text"]) == ("done", "one two")


@pytest.mark.servers
async def test_a_server_that_is_told_to_stop_answers_first_and_interrupts_the_run(
    monkeypatch: pytest.MonkeyPatch, gate: Gate, settings: Settings, tmp_path: Path
) -> None:
    answers: list[dict[str, Any]] = []

    async def ask() -> None:
        await client.list_tools()  # or it would ask for them when it has the answer
        answers.append(await call(client, "improve_text", **ARGUMENTS))

    with provider([says("never heard", gate=gate), SHORT]) as served:
        with http_server(tmp_path, **told_of(served, monkeypatch)) as (url, process):
            async with Client(url) as client, anyio.create_task_group() as group:
                group.start_soon(ask)
                await gate.reached()
                process.send_signal(signal.SIGTERM)
            process.wait(timeout=100)
        status, code, run_id = await status_of(tmp_path)
        async with Client(SifakaServer(settings)) as later:
            ended = await call(later, "resume_run", run_id=run_id)

    assert [answer["status"] for answer in answers] == ["running"]
    assert (status, code) == ("cancelled", "interrupted")
    assert (ended["status"], ended["text"]) == ("done", "one two")


RESUMED = REFUND | {"wait_seconds": 0}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "redis"])
async def test_resumes_at_once_are_one(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    with redis_server() as redis, provider(lambda _: says("A refund.", gate=gate)) as models:
        told_of(models, monkeypatch)
        store = "sqlite:" if kind == "sqlite" else redis.url
        settings = Settings(home=tmp_path, store=store)
        with anyio.fail_after(50):
            async with Client(SifakaServer(settings)) as client:
                begun = data(await client.call_tool("improve_text", RESUMED))
                await gate.reached()
            first = len(models.requests)
            results: list[dict[str, Any]] = []

            async def resume(ready: anyio.Event) -> None:
                async with Client(SifakaServer(settings)) as client:
                    await client.list_tools()
                    ready.set()
                    await go.wait()
                    asked = {"run_id": begun["run_id"], "wait_seconds": 30}
                    results.append(data(await client.call_tool("resume_run", asked)))
                    if len(results) < 3:
                        await done.wait()
                    done.set()

            go, done = anyio.Event(), anyio.Event()
            async with anyio.create_task_group() as group:
                for _ in range(3):
                    ready = anyio.Event()
                    group.start_soon(resume, ready)
                    await ready.wait()
                go.set()
                while len(models.requests) == first:  # noqa: ASYNC110 - in another thread
                    await anyio.sleep(0.01)
                await anyio.sleep(1)
                gate.open()
    assert [each["text"] for each in results] == ["A refund."] * 3
    assert len(models.requests) == first + 1
