"""Runs in Redis as tasks of docket: any worker takes one, and another worker if that dies."""

import asyncio
import logging
import os
import secrets
import socket
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import anyio
import anyio.to_thread

from sifaka.calls.failure_log import report_failure
from sifaka.errors import ConfigurationError, SifakaError, StorageError
from sifaka.extras import install
from sifaka.storage.address import REDIS, parse_store_url
from sifaka.storage.redis.connections import IMPORTING, failures
from sifaka_mcp.runs.service import RunKey

if TYPE_CHECKING:
    from docket import Docket, Worker

    from sifaka_mcp.runs.entries import RunDocket

logger = logging.getLogger(__name__)

WorkOn = Callable[[RunKey, int, int], Awaitable[bool | None]]
"""Works on a run, given how many workers have died of it and how many entries it has at least.
Returns False when the run is left open for another worker, None when it has fewer entries; raises
`SifakaError` when the work has to be tried again later."""

_PATIENCE = 5.0
"""Seconds in which Redis has to answer."""
_RENEWALS = 3
"""The number of renewals of a lease in its lifetime."""
_POLL = timedelta(seconds=0.1)
"""Between two looks for a free place. A task that comes while there is one starts at once."""
_DUE = timedelta(seconds=0.25)
"""Between two looks for tasks that are due."""
_PENDING = frozenset({b"scheduled", b"queued", b"running"})
"""States of a task that is worked on, or will be."""
_CLOSING_SECONDS = 3.0
_QUESTIONS = 32
"""Questions of this process to Redis at the same time; further ones wait for their turn."""
_SPARE = 100
"""Connections of docket besides one for each run that is worked on."""
_UNTIL_WANTED = 10.0
"""Seconds after which a process works on the runs of others although no client has come to it;
before that a first client is answered."""


class RunQueue:
    """The runs that wait for a worker or are worked on, in Redis.

    It also holds leases (see `FileLeases`) on runs that have to stay in their process.

    Args:
        url: The Redis server.
        name: The prefix of its keys, the same for all processes that share the queue.
        seconds: Seconds that a worker may be silent before it counts as dead.
        at_once: Runs this process works on at the same time.
        for_tenant: Runs of one tenant that all workers together work on at the same time.
        keys: What entries are signed with, the same for those processes.
        count_refused: Counts an entry that was foreign or altered.
    """

    def __init__(
        self,
        url: str,
        *,
        name: str,
        seconds: float,
        at_once: int,
        for_tenant: int,
        keys: Sequence[str] = (),
        count_refused: Callable[[], object] = lambda: None,
    ) -> None:
        self._url = url
        self._shown_url = parse_store_url(url, REDIS).shown
        self._name = name
        self._lifetime = timedelta(seconds=seconds)
        self._at_once = at_once
        self._for_tenant = for_tenant
        self._keys, self._count_refused = keys, count_refused
        self._docket: RunDocket | None = None
        # Two servers of one process have two workers.
        self._worker = f"{socket.gethostname()}#{os.getpid()}#{secrets.token_hex(4)}"
        self._wanted = anyio.Event()
        self._opened = anyio.Event()
        self._stopping = anyio.Event()
        self._closing = anyio.Event()
        self._closed = anyio.Event()
        self._scope = anyio.CancelScope(shield=True)
        self._is_working = True
        self._questions = anyio.CapacityLimiter(_QUESTIONS)

    @property
    def is_open(self) -> bool:
        """True when runs can be added now."""
        return self._docket is not None

    async def opened(self) -> bool:
        """Wait until what the queue needs is loaded; False when it is missing."""
        self._wanted.set()
        await self._opened.wait()
        return self.is_open

    async def serve(self, work_on: WorkOn) -> None:
        """Work on runs until `aclose`. Opens when it is wanted, or after a while."""
        try:
            with anyio.move_on_after(_UNTIL_WANTED):
                await self._wanted.wait()
            # Shielded: runs that are handed back at the end need a connection until then.
            with self._scope:
                if not self._stopping.is_set():
                    await self._run_worker(work_on)
        except ImportError:
            advice = f"{install('redis')}, or each server works on the runs it has begun, alone"
            self._report_once(ConfigurationError("docket is missing", advice))
        # Without the queue each process works on its own runs.
        except Exception as error:  # noqa: BLE001 - reported, once
            self._report_once(error)
        finally:
            self._docket = None
            self._opened.set()
            self._closed.set()

    async def add(self, key: RunKey, version: int = 1) -> bool:
        """Queue a run, unless it is queued or worked on already.

        Args:
            key: The run.
            version: How many entries it has.

        Returns:
            False when there is no queue now: docket is missing, or Redis is away.
        """
        put = await self._ask_redis(lambda docket, _: docket.put(key, version, replace=False))
        return put is not None

    async def renew(self, key: RunKey) -> None:
        """Take a lease again and again, for as long as this is not cancelled."""
        while True:
            await anyio.sleep(self._lifetime.total_seconds() / _RENEWALS)
            await self._ask_redis(
                lambda docket, redis: redis.set(_lease_of(docket, key), b"", px=self._lifetime)
            )

    async def claim(self, key: RunKey) -> bool:
        """See `FileLeases.claim`; while Redis is away any process may go on."""

        async def take(docket: "Docket", redis: Any) -> bool:
            if await _is_pending(docket, redis, key):
                return False
            return bool(await redis.set(_lease_of(docket, key), b"", px=self._lifetime, nx=True))

        return await self._ask_redis(take) is not False

    async def let_go(self, key: RunKey) -> None:
        """See `FileLeases.let_go`."""
        await self._ask_redis(lambda docket, redis: redis.delete(_lease_of(docket, key)))

    async def held(self, key: RunKey) -> bool | None:
        """True when a run is queued, worked on or held; None while Redis is away."""
        if not await self.opened():
            return False
        return await self._ask_redis(lambda docket, redis: _is_pending(docket, redis, key))

    def stop(self) -> None:
        """Take no further run from now on."""
        self._stopping.set()
        self._wanted.set()

    async def aclose(self) -> None:
        """Wait until the tasks at hand have ended, and close the connections."""
        self.stop()
        self._closing.set()
        with anyio.move_on_after(_CLOSING_SECONDS):
            await self._closed.wait()
        self._scope.cancel()

    async def _run_worker(self, work_on: WorkOn) -> None:
        await anyio.to_thread.run_sync(_import_entries)
        from docket import Worker

        from sifaka_mcp.runs.entries import TASK, RunDocket

        # It would report a server that is away every few seconds, and the store reports it as well.
        logging.getLogger("docket").setLevel(logging.CRITICAL)
        most = urlencode({"max_connections": self._at_once + _SPARE})
        url = f"{self._url}{'&' if urlsplit(self._url).query else '?'}{most}"
        async with RunDocket(self._name, url, keys=self._keys, count=self._count_refused) as docket:
            docket.register(self._make_task(docket, work_on), [TASK])
            async with Worker(
                docket,
                name=self._worker,
                concurrency=self._at_once,
                redelivery_timeout=self._lifetime,
                reconnection_delay=timedelta(seconds=1),
                minimum_check_interval=_POLL,
                scheduling_resolution=_DUE,
                schedule_automatic_tasks=False,
            ) as worker:
                # A task of its own: it takes a cancellation for a wish to finish slowly.
                self._working = asyncio.create_task(self._keep_working(worker))
                self._docket = docket
                self._opened.set()
                await self._wait_for(self._stopping)
            await self._wait_for(self._closing)

    def _make_task(self, docket: "RunDocket", work_on: WorkOn) -> Callable[..., Awaitable[None]]:
        from docket import ConcurrencyLimit, CurrentExecution, Depends, Execution

        current, limit = CurrentExecution(), ConcurrencyLimit("tenant", self._for_tenant)

        async def free(execution: Execution = current) -> None:
            # Redis has measured that its worker is silent. The place of the run among those of its
            # tenant has the time of that worker's clock, and would seem taken for as long as that
            # is ahead of this one.
            if execution.redelivered:
                places = docket.key(f"concurrency:tenant:{execution.get_argument('tenant')}")
                async with docket.redis() as redis:
                    await redis.zrem(places, execution.key)

        freed = Depends(free)

        async def work_on_run(
            tenant: str,
            run_id: str,
            version: int,
            execution: Execution = current,
            place: None = freed,
            concurrency: ConcurrencyLimit = limit,
        ) -> None:
            del place, concurrency
            key = RunKey(tenant, run_id)
            if execution.redelivered:
                # A task of its own: what the silent worker reports, should it wake up, is refused.
                await docket.put(key, version, deaths=execution.attempt)
            else:
                await self._handle_entry(docket, work_on, key, version, execution.attempt - 1)

        return work_on_run

    async def _handle_entry(
        self, docket: "RunDocket", work_on: WorkOn, key: RunKey, version: int, deaths: int
    ) -> None:
        put = partial(docket.put, key, version, deaths=deaths)
        try:
            done = await work_on(key, deaths, version)
            if done is None:
                docket.refuse()
            elif not done:
                await put()
        except SifakaError as error:
            # Another worker may have what it failed for, or it passes by itself.
            report_failure(logger, "worker", error, run_id=key.run_id)
            await put(seconds=self._lifetime.total_seconds())
        except asyncio.CancelledError:
            if self._stopping.is_set():
                await put()
            raise

    async def _keep_working(self, worker: "Worker") -> None:
        """Work on tasks until the end, whatever is in Redis."""
        while not self._closing.is_set():
            try:
                await worker.run_forever()
                break
            except Exception as error:  # noqa: BLE001 - reported, and one task must not end it all
                self._report_once(error)
                await asyncio.sleep(self._lifetime.total_seconds() / _RENEWALS)

    async def _wait_for(self, event: anyio.Event) -> None:
        while not event.is_set():
            try:
                await event.wait()
            except asyncio.CancelledError:
                # All tasks of the loop are cancelled when a signal ends the process. Runs that are
                # handed back need the connection once more, and then they close it.
                if self._scope.cancel_called:
                    raise

    async def _ask_redis(self, question: "Callable[[RunDocket, Any], Awaitable[Any]]") -> Any:
        """The answer; None when there is none, which is reported once."""
        if not await self.opened() or self._docket is None:
            return None
        try:
            async with self._questions:
                with failures(self._shown_url), anyio.fail_after(_PATIENCE):
                    async with self._docket.redis() as redis:
                        answer = await question(self._docket, redis)
        except StorageError as error:
            self._report_once(error)
            return None
        self._is_working = True
        return answer

    def _report_once(self, error: Exception) -> None:
        if self._is_working:
            report_failure(logger, "queue", error)
        self._is_working = False


def _lease_of(docket: "Docket", key: RunKey) -> str:
    """The key that is held for a run which is worked on beside the queue."""
    return docket.key(f"held:{key.name}")


async def _is_pending(docket: "Docket", redis: Any, key: RunKey) -> bool:
    """True when a run is queued, worked on or held.

    Not by docket's own query, which would unpickle the arguments of the task.
    """
    state = await redis.hget(docket.runs_key(key.name), "state")
    return state in _PENDING or bool(await redis.exists(_lease_of(docket, key)))


def _import_entries() -> None:
    with IMPORTING:
        import_module("sifaka_mcp.runs.entries")
