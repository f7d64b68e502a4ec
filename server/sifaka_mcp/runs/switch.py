"""Leases in Redis, each a dead man's switch.

For each run that is worked on, a task of docket waits to be due, and its worker keeps putting it
off. When the worker dies the task falls due, and whichever process gets it goes on with the run.
The run's fence refuses the old worker, should it have been asleep only.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from sifaka.calls.failure_log import report_failure
from sifaka.errors import ConfigurationError, StorageError
from sifaka.storage.redis.address import parse_address
from sifaka.storage.redis.connections import IMPORTING
from sifaka.storage.redis.failures import failures
from sifaka_mcp.runs.leases import RunKey, Successor

if TYPE_CHECKING:
    from docket import Docket

logger = logging.getLogger(__name__)

TakeOver = Callable[[RunKey, int], Awaitable[None]]
"""Goes on with a run in the background, given how many workers have died on it."""
_TASK = "take_over"
_RENEWALS = 3
"""How often a lease is renewed while it lasts."""
_PATIENCE = 2.0
"""Seconds in which Redis has to answer."""
_LOOKS = timedelta(seconds=0.25)
"""Between two looks for tasks that are due."""
_CLOSING_SECONDS = 3.0
_UNTIL_WANTED = 10.0
"""Seconds after which a process takes over from others although nobody has asked it for anything;
before that a first client is answered."""
_AHEAD = frozenset({"scheduled", "queued", "running"})
"""States of a task that somebody puts off, or that is about to be done."""
_INSTALL = "pip install 'sifaka-mcp[redis]', or nobody takes over runs whose worker dies"


class DeadManSwitches:
    """Leases that pass to another process when the worker dies.

    Args:
        url: The Redis server.
        name: What its keys begin with, the same for all processes that take over from each other.
        seconds: How long a worker may be silent before it is taken for dead.
        take_over: Goes on with a run whose worker is dead.
    """

    def __init__(self, url: str, *, name: str, seconds: float, take_over: TakeOver) -> None:
        self.renewal = seconds / _RENEWALS
        self._url = url
        self._shown = parse_address(url).shown
        self._name = name
        self._seconds = seconds
        self._take_over = take_over
        self._docket: Docket | None = None
        self._wanted = anyio.Event()
        self._opened = anyio.Event()
        self._stopping = anyio.Event()
        self._stopped = anyio.Event()
        self._closing = anyio.Event()
        self._closed = anyio.Event()
        self._scope = anyio.CancelScope(shield=True)
        self._works = True

    @property
    def passed_on(self) -> bool:
        """See `Leases.passed_on`; not before docket is loaded, and never where it is missing."""
        return self._docket is not None

    def prepare(self) -> None:
        """See `Leases.prepare`."""
        self._wanted.set()

    async def serve(self) -> None:
        """See `Leases.serve`. What it needs is loaded when it is wanted, or after a while."""
        try:
            with anyio.move_on_after(_UNTIL_WANTED):
                await self._wanted.wait()
            # Shielded: what must be told to others at the end needs a connection until then.
            with self._scope:
                if not self._stopping.is_set():
                    await self._serve()
        except ImportError:
            self._report(ConfigurationError("docket is missing", _INSTALL))
        # Without it runs go on; they are only not taken over.
        except Exception as error:  # noqa: BLE001 - told, once
            self._report(error)
        finally:
            self._docket = None
            for event in (self._opened, self._stopped, self._closed):
                event.set()

    async def take(self, key: RunKey, *, deaths: int) -> None:
        """See `Leases.take`."""
        await self._schedule(key, deaths=deaths + 1, seconds=self._seconds)

    async def let_go(self, key: RunKey, *, deaths: int, successor: Successor) -> None:
        """See `Leases.let_go`."""
        match successor:
            case Successor.NOBODY:
                await self._ask(lambda docket: docket.cancel(_name(key)))
            case Successor.NOW:
                await self._schedule(key, deaths=deaths, seconds=0)
            case Successor.LATER:
                pass

    async def held(self, key: RunKey) -> bool:
        """See `Leases.held`; nobody is known to be there while Redis is away."""
        execution = await self._ask(lambda docket: docket.get_execution(_name(key)))
        return execution is not None and execution.state.value in _AHEAD

    async def stop_taking_over(self) -> None:
        """See `Leases.stop_taking_over`."""
        self._stopping.set()
        self._wanted.set()
        with anyio.move_on_after(_CLOSING_SECONDS):
            await self._stopped.wait()

    async def aclose(self) -> None:
        """Close the connections."""
        await self.stop_taking_over()
        self._closing.set()
        with anyio.move_on_after(_CLOSING_SECONDS):
            await self._closed.wait()
        self._scope.cancel()

    async def _serve(self) -> None:
        await anyio.to_thread.run_sync(_load)
        async with self._open() as docket:
            self._docket = docket
            async with self._working(docket):
                self._opened.set()
                await self._until(self._stopping)
            self._stopped.set()
            await self._until(self._closing)

    async def _until(self, event: anyio.Event) -> None:
        while not event.is_set():
            try:
                await event.wait()
            except asyncio.CancelledError:
                # All tasks of the loop are cancelled when a signal ends the process. Those that
                # work on runs need the connection once more, and then they close it.
                if self._scope.cancel_called:
                    raise

    @asynccontextmanager
    async def _open(self) -> AsyncGenerator["Docket"]:
        from docket import Docket

        # What it has to say of a server that is away, every few seconds, the store says as well.
        logging.getLogger("docket").setLevel(logging.CRITICAL)

        async def take_over(tenant: str, run_id: str, deaths: int) -> None:
            await self._take_over(RunKey(tenant, run_id), deaths)

        async with Docket(name=self._name, url=self._url) as docket:
            docket.register(take_over, [_TASK])
            yield docket

    @asynccontextmanager
    async def _working(self, docket: "Docket") -> AsyncGenerator[None]:
        from docket import Worker

        async with Worker(
            docket,
            redelivery_timeout=timedelta(seconds=self._seconds),
            minimum_check_interval=_LOOKS,
            scheduling_resolution=_LOOKS,
            schedule_automatic_tasks=False,
        ) as worker:
            # A task of its own: it takes a cancellation for a wish to finish slowly.
            working = asyncio.create_task(worker.run_forever())
            working.add_done_callback(self._ended)
            yield

    async def _schedule(self, key: RunKey, *, deaths: int, seconds: float) -> None:
        due = datetime.now(UTC) + timedelta(seconds=seconds)
        await self._ask(
            lambda docket: docket.replace(_TASK, due, _name(key))(key.tenant, key.run_id, deaths)
        )

    async def _ask(self, question: "Callable[[Docket], Awaitable[Any]]") -> Any:
        """The answer; None when there is none, which is told once."""
        self._wanted.set()
        await self._opened.wait()
        if self._docket is None:
            return None
        try:
            with failures(self._shown), anyio.fail_after(_PATIENCE):
                answer = await question(self._docket)
        except StorageError as error:
            self._report(error)
            return None
        self._works = True
        return answer

    def _ended(self, working: asyncio.Task[None]) -> None:
        error = None if working.cancelled() else working.exception()
        if isinstance(error, Exception):
            self._report(error)

    def _report(self, error: Exception) -> None:
        if self._works:
            report_failure(logger, "take-over", error)
        self._works = False


def _load() -> None:
    with IMPORTING:
        import_module("docket")


def _name(key: RunKey) -> str:
    # The id first: what stands before a colon could be one of docket's own names.
    return f"{key.run_id}@{key.tenant}"
