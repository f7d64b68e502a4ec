"""The queue of runs, in a real Redis."""

import logging
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from uuid import uuid4

import anyio
import pytest

from sifaka.errors import StorageError
from sifaka_mcp.runs.queue import RunQueue
from sifaka_mcp.runs.service import RunKey
from tests.stubs.redis_server import RedisServer, redis_server, shared_redis

pytestmark = pytest.mark.anyio
KEY = RunKey("ann", "run_1")
SOON = 0.6
LONG = 3600.0
ACL = Path(__file__).parents[3] / "examples" / "redis.acl"
WORKER = """
import sys, anyio, anyio.to_thread
from sifaka_mcp.runs.queue import RunQueue

async def work_on(key, deaths, version):
    print(key.run_id, deaths, flush=True)
    await anyio.to_thread.run_sync(sys.stdin.readline)
    print("done", flush=True)
    return True

async def main():
    queue = RunQueue(
        sys.argv[1],
        name=sys.argv[2],
        seconds=float(sys.argv[3]),
        at_once=1,
        for_tenant=9,
    )
    async with anyio.create_task_group() as group:
        group.start_soon(queue.opened)
        await queue.serve(work_on)

anyio.run(main)
"""


class Worked:
    """The work that the processes of a test have begun."""

    def __init__(self, *outcomes: bool | Exception | None, gate: anyio.Event | None = None) -> None:
        self.runs: list[tuple[RunKey, int]] = []
        self.at_once = self.most_at_once = 0
        self._outcomes = list(outcomes)
        self._gate = gate
        self._news = anyio.Event()

    async def work_on(self, key: RunKey, deaths: int, version: int) -> bool | None:
        del version
        self.runs.append((key, deaths))
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        self._news.set()
        try:
            if self._gate is not None:
                await self._gate.wait()
        finally:
            self.at_once -= 1
        outcome = self._outcomes.pop(0) if self._outcomes else True
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    @classmethod
    def none(cls) -> "Worked":
        """Leaves every run to another process."""
        return cls(*[False] * 1000)

    async def are(self, count: int) -> list[tuple[RunKey, int]]:
        """The work, once so much of it has begun."""
        with anyio.fail_after(30):
            while len(self.runs) < count:
                await self._news.wait()
                self._news = anyio.Event()
        return self.runs


@pytest.fixture
def name() -> str:
    return f"test:{uuid4().hex}"


@asynccontextmanager
async def running(
    url: str,
    name: str,
    worked: Worked,
    *,
    seconds: float = LONG,
    at_once: int = 8,
    for_tenant: int = 64,
    keys: Sequence[str] = (),
    counting: list[None] | None = None,
) -> AsyncGenerator[RunQueue]:
    """The queue as one process has it."""
    queue = RunQueue(
        url,
        name=name,
        seconds=seconds,
        at_once=at_once,
        for_tenant=for_tenant,
        keys=keys,
        count_refused=lambda: None if counting is None else counting.append(None),
    )
    async with anyio.create_task_group() as group:
        group.start_soon(queue.serve, worked.work_on)
        await queue.opened()
        try:
            yield queue
        finally:
            with anyio.CancelScope(shield=True):
                await queue.aclose()


async def gone(queue: RunQueue, key: RunKey) -> None:
    """Return when a run is not queued or worked on any more."""
    with anyio.fail_after(30):
        while await queue.held(key):  # noqa: ASYNC110 - docket tells of nothing
            await anyio.sleep(0.01)


async def test_a_queued_run_is_worked_on_by_one_of_several_processes(name: str) -> None:
    url, worked = shared_redis().url, Worked()
    keys = [RunKey("ann", f"run_{number}") for number in range(6)]
    async with running(url, name, worked) as queue, running(url, name, worked):
        for key in keys:
            assert await queue.add(key)
        await worked.are(len(keys))
        for key in keys:
            await gone(queue, key)
    assert sorted(worked.runs) == [(key, 0) for key in keys]


async def test_a_run_that_is_queued_or_worked_on_is_not_queued_again(name: str) -> None:
    gate = anyio.Event()
    worked = Worked(gate=gate)
    async with running(shared_redis().url, name, worked) as queue:
        assert not await queue.held(KEY)
        for _ in range(2):
            assert await queue.add(KEY)
        await worked.are(1)
        assert await queue.add(KEY)
        assert await queue.held(KEY)
        gate.set()
        await gone(queue, KEY)
        assert worked.runs == [(KEY, 0)]
        await queue.add(KEY)
        await worked.are(2)


async def test_a_queue_longer_than_the_workers_can_take_drains(name: str) -> None:
    gate = anyio.Event()
    worked = Worked(gate=gate)
    keys = [RunKey("ann", f"run_{number}") for number in range(12)]
    async with running(shared_redis().url, name, worked, at_once=2) as queue:
        for key in keys:
            await queue.add(key)
        await worked.are(2)
        assert all([await queue.held(key) for key in keys])
        gate.set()
        await worked.are(len(keys))
    assert worked.most_at_once == 2
    assert sorted(worked.runs) == sorted((key, 0) for key in keys)


async def test_a_tenant_with_many_runs_does_not_keep_another_waiting(name: str) -> None:
    gate = anyio.Event()
    worked = Worked(gate=gate)
    hers = [RunKey("ann", f"run_{number}") for number in range(4)]
    his = RunKey("bob", "run_9")
    async with running(shared_redis().url, name, worked, for_tenant=1) as queue:
        for key in (*hers, his):
            await queue.add(key)
        await worked.are(2)
        assert {key.tenant for key, _ in worked.runs} == {"ann", "bob"}
        gate.set()
        await worked.are(5)
    assert sorted(key for key, _ in worked.runs) == [*hers, his]


async def test_a_run_that_failed_for_now_is_worked_on_again_later(name: str) -> None:
    worked = Worked(StorageError("away"))
    async with running(shared_redis().url, name, worked, seconds=SOON) as queue:
        await queue.add(KEY)
        await worked.are(1)
        assert await queue.held(KEY)
        assert await worked.are(2) == [(KEY, 0), (KEY, 0)]


async def test_a_run_that_is_left_open_goes_to_another_process_at_once(name: str) -> None:
    url, gate = shared_redis().url, anyio.Event()
    leaving, staying = Worked(*[False] * 9, gate=gate), Worked()
    async with running(url, name, leaving) as first:
        await first.add(KEY)
        await leaving.are(1)
        first.stop()
        async with running(url, name, staying):
            gate.set()
            assert await staying.are(1) == [(KEY, 0)]


@contextmanager
def worker(
    url: str, name: str, *, seconds: float = SOON, **more: str
) -> Generator[subprocess.Popen[str]]:
    """Another process that works on a run until it is told a line."""
    with subprocess.Popen(
        [sys.executable, "-c", WORKER, url, name, str(seconds)],
        env={**os.environ, **more},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


async def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    with anyio.fail_after(30):
        return await anyio.to_thread.run_sync(process.stdout.readline)


@pytest.mark.servers
async def test_the_run_of_a_killed_worker_goes_to_another_with_its_deaths(name: str) -> None:
    url, worked = shared_redis().url, Worked()
    async with running(url, name, Worked.none()) as queue:
        queue.stop()
        await queue.add(KEY)
        for deaths in range(2):
            with worker(url, name) as victim:
                assert await line_of(victim) == f"run_1 {deaths}\n"
    async with running(url, name, worked, seconds=SOON):
        assert await worked.are(1) == [(KEY, 2)]


@pytest.mark.servers
async def test_a_worker_that_wakes_up_does_not_end_the_run_of_its_successor(name: str) -> None:
    url, gate = shared_redis().url, anyio.Event()
    worked = Worked(gate=gate)
    with worker(url, name) as asleep:
        async with running(url, name, Worked.none()) as queue:
            queue.stop()
            await queue.add(KEY)
            assert await line_of(asleep) == "run_1 0\n"
        asleep.send_signal(signal.SIGSTOP)
        async with running(url, name, worked, seconds=SOON) as queue:
            assert await worked.are(1) == [(KEY, 1)]
            asleep.send_signal(signal.SIGCONT)
            assert asleep.stdin is not None
            asleep.stdin.write("\n")
            asleep.stdin.flush()
            assert await line_of(asleep) == "done\n"
            other = RunKey("ann", "run_2")
            await queue.add(other)  # the one that woke up ends its task before it takes another
            await worked.are(2)
            assert await queue.held(KEY)
            gate.set()
            await gone(queue, KEY)


async def test_a_lease_is_held_until_it_is_let_go_or_runs_out(name: str) -> None:
    url = shared_redis().url
    async with (
        running(url, name, Worked(), seconds=LONG) as mine,
        running(url, name, Worked(), seconds=SOON) as hasty,
    ):
        assert not await hasty.held(KEY)
        assert await mine.claim(KEY)
        assert await hasty.held(KEY)
        await mine.let_go(KEY)
        assert not await hasty.held(KEY)
        assert await hasty.claim(KEY)
        await gone(mine, KEY)


async def test_the_users_of_the_example_may_use_the_queue_of_their_tenant() -> None:
    worked = Worked()
    with redis_server("--aclfile", str(ACL)) as server:
        url = server.url.replace("//", "//sifaka-ann:change-me-ann@")
        async with running(url, "sifaka:run:{ann}:work", worked, at_once=2, for_tenant=1) as queue:
            assert await queue.claim(KEY)
            await queue.let_go(KEY)
            keys = [RunKey("ann", f"run_{number}") for number in range(4)]
            for key in keys:
                assert await queue.add(key)
            await worked.are(len(keys))
            for key in keys:
                await gone(queue, key)


@pytest.mark.slow
async def test_hundreds_of_runs_that_come_at_once_are_all_queued(name: str) -> None:
    worked, keys = Worked(), [RunKey("ann", f"run_{number}") for number in range(300)]
    added = list[bool]()
    async with running(shared_redis().url, name, worked, at_once=300, for_tenant=300) as queue:

        async def ask(key: RunKey) -> None:
            added.append(await queue.add(key))

        async with anyio.create_task_group() as group:
            for key in keys:
                group.start_soon(ask, key)
        assert sorted(run for run, _ in await worked.are(300)) == sorted(keys)
    assert added == [True] * 300


async def test_where_docket_is_missing_there_is_no_queue(
    name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "docket", None)
    async with running(shared_redis().url, name, Worked()) as queue:
        assert not await queue.opened()
        assert not await queue.add(KEY)
        assert not await queue.held(KEY)
    assert "docket is missing" in caplog.text


@pytest.fixture
def own_redis() -> Generator[RedisServer]:
    with redis_server() as server:
        yield server


async def test_without_redis_nothing_fails_and_it_is_told_once(
    own_redis: RedisServer, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    worked = Worked()
    async with running(own_redis.url, name, worked) as queue:
        await queue.add(KEY)
        await worked.are(1)
        own_redis.kill()
        with caplog.at_level(logging.WARNING):
            assert not await queue.add(KEY)
            assert await queue.held(KEY) is None
            await queue.let_go(KEY)
        own_redis.start()
        assert await queue.add(RunKey("ann", "run_2"))
        await worked.are(2)
    (record,) = (r for r in caplog.records if r.name.startswith("sifaka_mcp"))
    assert "cannot be reached" in record.getMessage()
