"""Leases in Redis that pass to another process, in a real Redis."""

import logging
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import anyio
import pytest

from sifaka_mcp.runs.leases import RunKey, Successor
from sifaka_mcp.runs.switch import DeadManSwitches
from tests.stubs.redis_server import RedisServer, redis_server, shared_redis

pytestmark = pytest.mark.anyio
KEY = RunKey("ann", "run_1")
SOON = 0.6
ACL = Path(__file__).parents[3] / "examples" / "redis.acl"
LONG = 3600.0


class Taken:
    """What has been taken over, by one process or several."""

    def __init__(self) -> None:
        self.runs: list[tuple[RunKey, int]] = []
        self._news = anyio.Event()

    async def take_over(self, key: RunKey, deaths: int) -> None:
        self.runs.append((key, deaths))
        self._news.set()

    async def are(self, count: int) -> list[tuple[RunKey, int]]:
        with anyio.fail_after(20):
            while len(self.runs) < count:
                await self._news.wait()
                self._news = anyio.Event()
        return self.runs


@pytest.fixture
def name() -> str:
    return f"test:{uuid4().hex}"


@asynccontextmanager
async def running(
    url: str, name: str, taken: Taken, *, seconds: float = SOON
) -> AsyncGenerator[DeadManSwitches]:
    """The leases of a process."""
    leases = DeadManSwitches(url, name=name, seconds=seconds, take_over=taken.take_over)
    async with anyio.create_task_group() as group:
        group.start_soon(leases.serve)
        leases.prepare()
        try:
            yield leases
        finally:
            with anyio.CancelScope(shield=True):
                await leases.aclose()


async def test_a_run_whose_worker_falls_silent_is_taken_over(name: str) -> None:
    taken = Taken()
    async with running(shared_redis().url, name, taken) as leases:
        assert not await leases.held(KEY)
        assert leases.passed_on
        await leases.take(KEY, deaths=0)
        assert await leases.held(KEY)
        assert await taken.are(1) == [(KEY, 1)]


async def test_where_docket_is_missing_nothing_is_passed_on(
    name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "docket", None)
    async with running(shared_redis().url, name, Taken()) as leases:
        await leases.take(KEY, deaths=0)
        assert not leases.passed_on
        assert not await leases.held(KEY)
    assert "docket is missing" in caplog.text


async def test_one_that_is_renewed_or_let_go_is_not(name: str) -> None:
    renewed, let_go, last = (RunKey("ann", f"run_{n}") for n in range(3))
    url, taken = shared_redis().url, Taken()
    async with (
        running(url, name, taken) as leases,
        running(url, name, taken, seconds=LONG) as patient,
    ):
        await patient.held(last)  # it has opened
        await leases.take(renewed, deaths=0)
        await patient.take(renewed, deaths=0)
        await leases.take(let_go, deaths=0)
        await leases.let_go(let_go, deaths=0, successor=Successor.NOBODY)
        await leases.take(last, deaths=0)
        assert await taken.are(1) == [(last, 1)]
        assert await leases.held(renewed)
        assert not await leases.held(let_go)


async def test_one_that_is_handed_over_goes_to_another_process_at_once(name: str) -> None:
    url, nobody, taken = shared_redis().url, Taken(), Taken()
    async with running(url, name, nobody, seconds=LONG) as leaving:
        await leaving.take(KEY, deaths=2)
        await leaving.stop_taking_over()
        await leaving.let_go(KEY, deaths=2, successor=Successor.NOW)
        async with running(url, name, taken, seconds=LONG):
            assert await taken.are(1) == [(KEY, 2)]
    assert nobody.runs == []


async def test_one_that_is_let_go_for_later_stays_held(name: str) -> None:
    taken = Taken()
    async with running(shared_redis().url, name, taken) as leases:
        await leases.take(KEY, deaths=1)
        await leases.let_go(KEY, deaths=1, successor=Successor.LATER)
        assert await leases.held(KEY)
        assert await taken.are(1) == [(KEY, 2)]


async def test_who_has_taken_a_run_over_holds_it_until_it_dies_too(name: str) -> None:
    taken = Taken()
    async with running(shared_redis().url, name, taken) as leases:
        await leases.take(KEY, deaths=0)
        await taken.are(1)
        await leases.take(KEY, deaths=1)
        assert await leases.held(KEY)
        assert await taken.are(2) == [(KEY, 1), (KEY, 2)]


async def test_of_several_processes_one_takes_a_run_over(name: str) -> None:
    url, taken = shared_redis().url, Taken()
    keys = [RunKey("ann", f"run_{number}") for number in range(6)]
    async with running(url, name, taken) as leases, running(url, name, taken):
        for key in keys:
            await leases.take(key, deaths=0)
        await taken.are(len(keys))
    assert sorted(taken.runs) == [(key, 1) for key in keys]


async def test_the_users_of_the_example_may_take_over_runs_of_their_tenant() -> None:
    taken = Taken()
    with redis_server("--aclfile", str(ACL)) as server:
        url = server.url.replace("//", "//sifaka-ann:change-me-ann@")
        async with running(url, "sifaka:run:{ann}:takeover", taken) as leases:
            await leases.take(KEY, deaths=0)
            assert await taken.are(1) == [(KEY, 1)]


@pytest.fixture
def own_redis() -> Generator[RedisServer]:
    with redis_server() as server:
        yield server


async def test_without_redis_nothing_fails_and_it_is_told_once(
    own_redis: RedisServer, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(own_redis.url, name, Taken(), seconds=LONG) as leases:
        await leases.take(KEY, deaths=0)
        own_redis.kill()
        with caplog.at_level(logging.WARNING):
            await leases.take(KEY, deaths=0)
            assert not await leases.held(KEY)
            await leases.let_go(KEY, deaths=0, successor=Successor.NOBODY)
        own_redis.start()
        await leases.take(KEY, deaths=0)
        assert await leases.held(KEY)
    (record,) = (r for r in caplog.records if r.name.startswith("sifaka_mcp"))
    assert "cannot be reached" in record.getMessage()
