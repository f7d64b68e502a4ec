"""Workers whose clocks are a minute apart, and one that is stopped and wakes up."""

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import anyio
import anyio.to_thread
import pytest
from mcp import Client

from sifaka import Chain
from sifaka.storage import open_store
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from tests.server.runs.test_queue import KEY, Worked, line_of, running, worker
from tests.stubs.provider import REFUND, Gate, fails, provider, says, told_of
from tests.stubs.redis_server import shared_redis
from tests.stubs.sampling_client import data
from tests.stubs.servers import http_server, skewed

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(240),
    pytest.mark.skipif(sys.platform != "linux", reason="libfaketime is preloaded by Linux"),
]


SILENCE = 4.0
"""Seconds after which a worker is dead, on a busy machine too."""
LOOKS = 2 * SILENCE
"""Seconds in which a server looks for silent workers some times."""
ARGUMENTS = REFUND | {"wait_seconds": 0}


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [60, pytest.param(-60, marks=pytest.mark.servers)])
async def test_a_queued_run_goes_to_another_worker_when_its_own_is_dead(seconds: int) -> None:
    url, name, worked = shared_redis().url, f"test:{uuid4().hex}", Worked()
    async with running(url, name, Worked.none()) as queue:
        queue.stop()
        await queue.add(KEY)
        with worker(url, name, seconds=SILENCE, **skewed(seconds)) as other:
            assert await line_of(other) == "run_1 0\n"
            async with running(url, name, worked, seconds=SILENCE):
                with anyio.move_on_after(LOOKS) as waiting:
                    await worked.are(1)
                assert waiting.cancelled_caught, "its worker lives"
                other.kill()
                assert await worked.are(1) == [(KEY, 1)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", pytest.param("file", marks=pytest.mark.servers)])
async def test_a_run_on_disk_is_gone_on_with_when_its_server_is_dead(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    with provider(lambda _: says("A refund.", gate=gate)) as models:
        key = told_of(models, monkeypatch)
        settings = {"SIFAKA_STORE": f"{kind}:", **key, **skewed(60)}
        with http_server(tmp_path, **settings) as (url, process):
            async with Client(url) as client:
                begun = data(await client.call_tool("improve_text", ARGUMENTS))
            await gate.reached()
            async with Client(SifakaServer(Settings(home=tmp_path, store=f"{kind}:"))) as client:
                asked = {"run_id": begun["run_id"], "wait_seconds": 2}
                ended = data(await client.call_tool("resume_run", asked))
                assert ended["status"] == "running"
                assert len(models.requests) == 1
                process.kill()
                gate.open()
                while ended["status"] == "running":
                    ended = data(await client.call_tool("resume_run", asked))
    assert (ended["status"], ended["text"]) == ("done", "A refund.")
    assert len(models.requests) == 2, "the call that was under way is asked again"


WORKER = """
import sys, anyio
from pathlib import Path
from sifaka import Chain
from sifaka.errors import StorageError
from sifaka.storage import open_store

async def main():
    store = open_store(sys.argv[1], home=Path(sys.argv[2]))
    chain = Chain(model="openai-chat:stub", critics=[], store=store)
    try:
        print((await chain.resume(sys.argv[3])).status)
    except StorageError as error:
        print(error.message)
    await store.aclose()

anyio.run(main)
"""


@contextmanager
def working(*told: str, url: str) -> Generator[subprocess.Popen[str]]:
    """A process that goes on with a run."""
    keys = {"OPENAI_API_KEY": "sk-test-key", "OPENAI_BASE_URL": url}
    with subprocess.Popen(
        [sys.executable, "-c", WORKER, *told],
        env={**os.environ, **keys},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.slow
async def test_a_worker_that_wakes_up_between_two_attempts_makes_no_further_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-key")
    url, gate = f"sqlite:///{tmp_path / 'runs.db'}", Gate()
    store = open_store(url, home=tmp_path)
    failing = fails(503, **{"retry-after": "1"})
    replies = [replace(failing, gate=gate), says("in time"), says("paid twice")]
    with provider(replies) as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.url)
        chain = Chain(model="openai-chat:stub", critics=[], store=store)
        run_id = (await chain.start("Write a text.")).run_id
        with working(url, str(tmp_path), run_id, url=served.url) as asleep:
            await gate.reached()
            asleep.send_signal(signal.SIGSTOP)
            gate.open()  # it is told to try again, and reads that when it wakes up
            ended = await chain.resume(run_id)
            asleep.send_signal(signal.SIGCONT)
            assert asleep.stdout is not None
            with anyio.fail_after(60):
                said = await anyio.to_thread.run_sync(asleep.stdout.read)
    await store.aclose()
    assert (ended.status, ended.text) == ("done", "in time")
    assert len(served.requests) == 2
    assert said.strip() == "done"  # it tells the end that the other has found
