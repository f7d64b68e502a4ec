"""`sifaka worker`, as a process over a real Redis."""

import signal
from contextlib import aclosing
from pathlib import Path
from typing import IO
from uuid import uuid4

import anyio
import anyio.to_thread
import pytest

from sifaka import Chain
from sifaka.record.run import Run
from sifaka.storage import open_store
from sifaka.storage.protocol import ThoughtStore
from sifaka_mcp.cli import run as sifaka
from sifaka_mcp.runs.service import RunKey
from tests.stubs.provider import Gate, provider, says, told_of
from tests.stubs.redis_server import shared_redis
from tests.stubs.servers import idle_queue, worker

pytestmark = [pytest.mark.anyio, pytest.mark.servers]


async def rest_of(stream: IO[str] | None) -> str:
    assert stream is not None
    return await anyio.to_thread.run_sync(stream.read)


async def queued(store: ThoughtStore, url: str, prefix: str) -> str:
    """The id of a run that waits for a worker."""
    chain = Chain(model="openai-chat:stub", critics=[], store=store)
    run = (await chain.start("Write a text.")).run

    async with idle_queue(url, f"{prefix}:run:{{default}}:work") as queue:
        assert await queue.add(RunKey("default", run.run_id))
    return run.run_id


async def end_of(store: ThoughtStore, run_id: str) -> Run:
    with anyio.fail_after(30):
        async with aclosing(store.follow(run_id)) as steps:
            async for _, run in steps:
                if run.finished:
                    return run
    raise AssertionError("it ends with a run that is finished")


async def test_a_worker_that_is_told_to_stop_hands_its_run_to_another(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, gate: Gate
) -> None:
    prefix = f"test-{uuid4().hex}"
    url = shared_redis().url
    store = open_store(f"{url}?prefix={prefix}", home=tmp_path)
    with provider([says("never heard", gate=gate), says("one two")]) as served:
        more = told_of(served, monkeypatch) | {"SIFAKA_STORE": f"{url}?prefix={prefix}"}
        with worker(tmp_path, "--concurrency", "2", **more) as first:
            run_id = await queued(store, url, prefix)
            with anyio.fail_after(30):
                await gate.reached()
            first.send_signal(signal.SIGTERM)
            out, err = await rest_of(first.stdout), await rest_of(first.stderr)
            assert (first.wait(timeout=100), out, err) == (143, "", "")
        with worker(tmp_path, **more):
            run = await end_of(store, run_id)
    await store.aclose()
    assert (run.status, run.champion and run.champion.text) == ("done", "one two")
    assert len(served.requests) == 2


def test_a_worker_needs_a_store_in_redis(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SIFAKA_HOME", str(tmp_path))
    assert sifaka(["worker", "--store", "sqlite:"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert "SIFAKA_STORE" in err
