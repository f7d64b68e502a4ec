"""The state that tools work with: the store, the runs in progress, and the making of chains."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

import anyio
import anyio.abc
import anyio.to_thread

from sifaka._internal.event_loop_turns import turn
from sifaka.calls.breakers import Breakers
from sifaka.calls.failure_log import report_failure
from sifaka.calls.host import Host
from sifaka.calls.monitoring import Monitor
from sifaka.chain import CancelEntry, Listener, append_outside, is_interrupted
from sifaka.errors import ConfigurationError, ThoughtNotFound
from sifaka.evidence.sources.collection import Adapters
from sifaka.evidence.sources.in_process import on_store
from sifaka.models import AUTO, CALLER, HOST
from sifaka.models.provider import Connections, loaded, start_loading
from sifaka.plugins import Plugins
from sifaka.record.entries import FORM, Stopped, stricter
from sifaka.record.run import Run
from sifaka.storage.protocol import ThoughtStore
from sifaka_mcp.constitutions import read_constitution
from sifaka_mcp.runs.followers import Followers
from sifaka_mcp.runs.service import RunKey, Runs, Ticket
from sifaka_mcp.settings import NO_PROVIDER, Settings
from sifaka_mcp.stores.catalogue import ReadOnlyStore
from sifaka_mcp.tenancy import NEEDS_WRITE, may_only_read, tenant_of_request

if TYPE_CHECKING:
    from sifaka.chain import Chain, RunResult
    from sifaka.critics import CriticSpec

logger = logging.getLogger(__name__)

_MOST_DEATHS = 5
"""Workers that a run may cost before it is given up: it may be the run that they die of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppState:
    """The state that the tools work with."""

    settings: Settings
    tenant: str
    store: ThoughtStore
    """As the tenant sees it."""
    runs: Runs
    host_seconds: float
    """Seconds after which a run that waits for answers of a host may be resumed without it."""
    runs_awaiting_host: set[str]
    """The runs whose questions a client has been given, and has not come back with yet."""
    breakers: Breakers
    """Of the providers; every run learns from the failures of the others."""
    monitor: Monitor
    connections: Connections
    plugins: Plugins
    """The plugins that critics and validators come from, besides those built in."""
    adapters: Adapters
    """The sources of evidence, with past texts from the store of the tenant."""
    followers: Followers
    """Of the runs that clients have subscribed to."""
    group: anyio.abc.TaskGroup
    build: Callable[[], object]
    """Builds what the server offers."""
    warmed: anyio.Event
    """Set when the warm-up has begun."""

    def of_request(self) -> Self:
        """The same as the tenant of the current request sees it."""
        tenant = tenant_of_request()
        if tenant is None:
            return self
        state = self._for_tenant(tenant)
        return replace(state, store=ReadOnlyStore(state.store)) if may_only_read() else state

    def _for_tenant(self, tenant: str) -> Self:
        store = self.store.scoped(tenant)
        return replace(self, tenant=tenant, store=store, adapters=on_store(self.adapters, store))

    def key(self, run_id: str) -> RunKey:
        """The key of a run of this tenant."""
        return RunKey(self.tenant, run_id)

    def ticket(self, run: Run) -> Ticket:
        """A run of this tenant, to be worked on."""
        return Ticket(runs=self.runs, run=run, store=self.store, key=self.key(run.run_id))

    async def load(self, run_id: str) -> Run:
        """A run of the store; it is `running` also where its record does not say so yet.

        The record of one that was interrupted says so only with what the work on it brings next.

        Raises:
            ThoughtNotFound: There is no such run.
            StorageError: The store failed.
        """
        run = await self.store.load(run_id)
        goes_on = is_interrupted(run) and await self.runs.attended(self.key(run_id))
        return run.reopened() if goes_on else run

    async def chain(
        self,
        *,
        model: str = "auto",
        host: Host | None = None,
        absent: Host | None = None,
        critics: "Iterable[CriticSpec] | None" = None,
        **settings: Any,
    ) -> "Chain":
        """A chain on this server's store.

        Args:
            model: Who writes; `auto` is the configured model if there is one, else the host's if it
                can be asked, else the calling agent.
            host: Asks the host's model.
            absent: Says why it cannot be asked, in place of `host`.
            critics: Who judges.
            **settings: Further settings of `Chain`.

        Raises:
            ConfigurationError: A component or a setting is wrong.
        """
        from sifaka.chain import Chain
        from sifaka.critics import parse_critics

        settings["facts"] = stricter(settings.get("facts", "ask"), self.settings.facts)
        chosen = self.settings.model if model == AUTO else model
        judge, fallbacks = self.settings.judge_model, self.settings.fallback_models
        if may_only_read():
            if model not in NO_PROVIDER:
                raise ConfigurationError(
                    "this token is for reading only, and asks no provider's model",
                    f"leave `model` out, or {NEEDS_WRITE}",
                )
            judge, fallbacks = None, ()
            chosen = chosen if chosen in NO_PROVIDER else AUTO
        if chosen == AUTO and host is not None:
            chosen = HOST
        if chosen == HOST and host is None and critics is None:
            critics = ("lint",)  # with any writer, the host is no critic
        # A person may have to allow each question: so there is one version, and one critique of it,
        # which compares the two; before them one critique of the text where there is no task.
        is_usual = (
            settings.get("effort", "standard") == "standard"
            and settings.get("max_iterations") is None
            and not settings.get("inquiry")
        )
        if chosen == HOST and judge is None and critics is None and is_usual:
            settings |= {"max_iterations": 1, "look_back": 0}
        await loaded(chosen, judge, *fallbacks)
        return Chain(
            model=chosen,
            judge_model=judge,
            fallback_models=(CALLER,) if chosen == HOST else fallbacks,
            critics=None
            if critics is None
            else parse_critics(
                critics,
                read_file=partial(read_constitution, self.settings.home),
                plugins=self.plugins,
            ),
            host=host or absent,
            **self._shared_options(),
            **settings,
        )

    async def chain_of(self, run: Run, *, host: Host | None = None) -> "Chain":
        """The chain a stored run was started with.

        Args:
            run: The run.
            host: Asks the host's model.

        Raises:
            ConfigurationError: It was started by a program with components of its own.
        """
        from sifaka.chain import Chain

        config = run.config
        if run.form < FORM:  # it can only end, and its critics may have options that are gone
            config = config.model_copy(update={"critics": ()})
        await loaded(config.model, config.judge_model, *config.fallback_models)
        return Chain.of_config(config, host=host, **self._shared_options())

    def _shared_options(self) -> dict[str, Any]:
        return {
            "store": self.store,
            "breakers": self.breakers,
            "monitor": self.monitor,
            "connections": self.connections,
            "plugins": self.plugins,
            "adapters": self.adapters,
        }

    async def work_on(self, key: RunKey, deaths: int, version: int = 0) -> bool | None:
        """Work on a run from the queue, by the chain of its record.

        Args:
            key: The run.
            deaths: How many workers have died of it.
            version: How many entries it has at least.

        Returns:
            Whether it is done with; False when it is left to another worker, None when it has fewer
            entries.

        Raises:
            SifakaError: The work failed, and may be tried again.
        """
        state = self if key.tenant == self.tenant else self._for_tenant(key.tenant)
        try:
            run = await state.store.load(key.run_id)
            if run.version < version:
                return None
            is_open = run.status == "running" or is_interrupted(run)
            # Only a client that comes back can have its model asked.
            if not is_open or state.ticket(run).needs_host:
                return True
            if deaths > _MOST_DEATHS:
                error = f"the work on it has broken off {deaths} times, each time with its process"
                end = Stopped(status="failed", stop_reason="error", error=error)
                await append_outside(state.store, run, end)
                return True

            async def work(listen: Listener, parting: CancelEntry) -> "RunResult":
                await turn()
                chain = await state.chain_of(run)
                return await chain.resume(key.run_id, listen=listen, parting=parting, reopen=False)

            return await self.runs.take(state.ticket(run), work)
        except ThoughtNotFound:
            return True  # it was deleted

    def warm_up(self) -> None:
        """Load in the background, once, what the first call would otherwise wait for."""
        if not self.warmed.is_set():
            self.warmed.set()
            if self.runs.queue is not None:
                self.group.start_soon(self.runs.queue.opened)
            self.group.start_soon(anyio.to_thread.run_sync, _load_all, self)


def _load_all(state: AppState) -> None:
    try:
        state.build()
        import_module("sifaka.chain.chain")
        settings = state.settings
        for model in (settings.model, settings.judge_model, *settings.fallback_models):
            start_loading(model)
    # The call that needs it reports the error again; this must not take the server down.
    except Exception as error:  # noqa: BLE001 - reported just below
        report_failure(logger, "warm-up", error)
