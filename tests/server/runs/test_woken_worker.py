"""A worker that is stopped while others go on with its run pays for nothing when it wakes up."""

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from sifaka import Chain
from sifaka.storage import open_store
from tests.stubs.provider import Gate, fails, provider, says

pytestmark = pytest.mark.anyio
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
