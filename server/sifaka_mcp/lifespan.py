"""Opening what the server works with, keeping it up, and closing it at the end."""

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio
import anyio.abc

from sifaka.calls.breakers import Breakers
from sifaka.calls.failure_log import report_failure
from sifaka.calls.monitoring import Monitor
from sifaka.models.provider import Connections
from sifaka.plugins import Plugins
from sifaka.storage import MemoryStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka_mcp.host.sampling import LIFETIME
from sifaka_mcp.runs.daily_spending import Accounts
from sifaka_mcp.runs.followers import Followers
from sifaka_mcp.runs.service import FileLeases, Runs
from sifaka_mcp.settings import Settings
from sifaka_mcp.state import AppState
from sifaka_mcp.stores.catalogue import ReadOnlyStore, redis_of
from sifaka_mcp.telemetry import flush

logger = logging.getLogger(__name__)

_CLOSING_SECONDS = 5
_PAUSE_BETWEEN_WORK, _PAUSE_WITHOUT_WORK = 0.05, 2.0
"""Seconds until a store is asked again to do what it has put off."""
_UNTIL_A_CLIENT_COMES = 10.0
"""Seconds after which deferred work is done even without a request."""


class Lifespan:
    """Opens what a server works with, and closes it at the end.

    Args:
        settings: The settings of the process.
        warm_up: Builds what the server offers.
        host_seconds: How long a run waits for answers of its host.
        concurrency: Runs of the queue that the process works on at the same time.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        warm_up: Callable[[], object],
        host_seconds: float = LIFETIME,
        concurrency: int | None = None,
    ) -> None:
        self._settings = settings
        self._warm_up = warm_up
        self._host_seconds = host_seconds
        self._concurrency = concurrency or settings.max_runs
        self.state: AppState | None = None
        """The state that is open now, for handlers that are given no context."""

    @asynccontextmanager
    async def __call__(self, _: object) -> AsyncGenerator[AppState]:
        """Keep the store and the runs in progress open."""
        settings = self._settings
        store = settings.open_store()
        if settings.read_only:
            store = ReadOnlyStore(store)
        try:
            async with (
                Connections(call_timeout=settings.call_seconds) as connections,
                settings.open_adapters(store) as adapters,
                anyio.create_task_group() as group,
            ):
                monitor = Monitor()
                runs = self._open_runs(group, store, monitor)
                self.state = state = AppState(
                    settings=settings,
                    tenant=settings.tenant,
                    store=store,
                    runs=runs,
                    host_seconds=self._host_seconds,
                    runs_awaiting_host=set(),
                    breakers=Breakers(),
                    monitor=monitor,
                    connections=connections,
                    plugins=Plugins(settings.plugins),
                    adapters=adapters,
                    followers=Followers(group),
                    group=group,
                    build=self._warm_up,
                    warmed=anyio.Event(),
                )
                group.start_soon(_do_deferred_work, state)
                if runs.queue is not None:
                    group.start_soon(runs.queue.serve, state.work_on)
                try:
                    yield state
                finally:
                    with anyio.CancelScope(shield=True):
                        await runs.aclose()
                    group.cancel_scope.cancel()
        finally:
            with anyio.move_on_after(_CLOSING_SECONDS, shield=True):
                await store.aclose()
            await flush()

    @property
    def queue_place(self) -> tuple[str, str] | None:
        """The Redis that decides about runs, and so has their queue, and the prefix of its keys."""
        settings = self._settings
        return None if settings.read_only else redis_of(settings.store, tenant=settings.tenant)

    def _open_runs(self, group: anyio.abc.TaskGroup, store: ThoughtStore, monitor: Monitor) -> Runs:
        settings, queue, leases, accounts = self._settings, None, None, None
        if settings.tenant_budget is not None:
            # The accounts of a server that may not write end with it.
            kept_in = MemoryStorage() if settings.read_only else store
            accounts = Accounts(kept_in, settings.tenant_budget)
        if (address := self.queue_place) is not None:
            from sifaka_mcp.runs.queue import RunQueue

            url, prefix = address
            queue = RunQueue(
                url,
                name=f"{prefix}:work",
                seconds=settings.takeover_seconds,
                at_once=self._concurrency,
                for_tenant=settings.max_runs,
                keys=[key.get_secret_value() for key in settings.state_keys],
                count_refused=lambda: monitor.count_error("ForeignEntry"),
            )
        elif not settings.read_only and settings.store.lower() not in {"memory:", "memory://"}:
            leases = FileLeases(settings.home / "running")
        return Runs(group, most=settings.max_runs, leases=leases, queue=queue, accounts=accounts)


async def _do_deferred_work(state: AppState) -> None:
    """Have the store do what it has put off, for as long as the server runs."""
    # What a store needs for that may take seconds to import: the first client is answered before.
    with anyio.move_on_after(_UNTIL_A_CLIENT_COMES):
        await state.warmed.wait()
    store, working = state.store, True
    while True:
        left = 0
        try:
            left = await store.catch_up()
            working = True
        # An error there, of any kind, must not take the server down.
        except Exception as error:  # noqa: BLE001 - reported just below
            if working:  # reported once, not every few seconds
                report_failure(logger, "store", error)
            working = False
        await anyio.sleep(_PAUSE_BETWEEN_WORK if left else _PAUSE_WITHOUT_WORK)
