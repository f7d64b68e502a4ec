"""What lives as long as the server: the store, the runs in progress, the warm-up."""

import logging
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Self

import anyio
import anyio.abc
import anyio.to_thread

from server.constitutions import named_in
from server.jobs import Jobs
from server.settings import Settings
from server.tenancy import tenant_of_request
from sifaka.breakers import Breakers
from sifaka.chain import Chain, asks_a_provider
from sifaka.critics import Critic, CriticSpec, parse_critics
from sifaka.errors import SifakaError
from sifaka.hosts import Host
from sifaka.loading import load_pydantic_ai
from sifaka.models import AUTO, CALLER, HOST
from sifaka.models.connections import Connections
from sifaka.monitoring import Monitor
from sifaka.reporting import report_failure
from sifaka.storage.protocol import ThoughtStore

logger = logging.getLogger(__name__)

_CLOSING_SECONDS = 5
_PAUSE_BETWEEN_WORK, _PAUSE_WITHOUT_WORK = 0.05, 2.0
"""Seconds until a store is asked again to do what it has put off."""
_UNTIL_A_CLIENT_COMES = 10.0
"""Seconds after which what was put off is done although nobody has asked for anything yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppState:
    """What the tools work with."""

    settings: Settings
    store: ThoughtStore
    jobs: Jobs
    breakers: Breakers
    """Of the providers; every run learns from the failures of the others."""
    monitor: Monitor
    connections: Connections
    group: anyio.abc.TaskGroup
    build: Callable[[], object]
    """Builds what the server offers."""
    warmed: anyio.Event
    """Set when the warm-up has begun."""

    def of_request(self) -> Self:
        """The same as the tenant of the current request sees it."""
        tenant = tenant_of_request()
        return self if tenant is None else replace(self, store=self.store.scoped(tenant))

    async def chain(
        self,
        *,
        model: str = "auto",
        host: Host | None = None,
        critics: Iterable[CriticSpec] | None = None,
        **settings: Any,
    ) -> Chain:
        """A chain on this server's store.

        Args:
            model: Who writes; `auto` is the configured model if there is one, else the host's if it
                can be asked, else the calling agent.
            host: Asks the host's model.
            critics: Who judges.
            **settings: Further settings of `Chain`.

        Raises:
            ConfigurationError: A component or a setting is wrong.
        """
        chosen = self.settings.model if model == AUTO else model
        if chosen == AUTO and host is not None:
            chosen = HOST
        if chosen == HOST and host is None and critics is None:
            critics = ("lint",)  # whoever writes then, the host will not be a critic
        if asks_a_provider(chosen):
            await anyio.to_thread.run_sync(load_pydantic_ai)
        return Chain(
            model=chosen,
            judge_model=self.settings.judge_model,
            fallback_models=(CALLER,) if chosen == HOST else self.settings.fallback_models,
            critics=None if critics is None else self._parsed(critics),
            host=host,
            **self._shared(),
            **settings,
        )

    async def chain_of(self, run_id: str, *, host: Host | None = None) -> Chain:
        """The chain a stored run was started with.

        Args:
            run_id: The run.
            host: Asks the host's model.

        Raises:
            ThoughtNotFound: There is no such run.
            ConfigurationError: It was started by a program with components of its own.
        """
        run = await self.store.load(run_id)
        if asks_a_provider(run.config.model):
            await anyio.to_thread.run_sync(load_pydantic_ai)
        return Chain.of_config(run.config, host=host, **self._shared())

    def _parsed(self, critics: Iterable[CriticSpec]) -> tuple[Critic, ...]:
        return parse_critics(critics, read_file=named_in(self.settings.home))

    def _shared(self) -> dict[str, Any]:
        return {
            "store": self.store,
            "breakers": self.breakers,
            "monitor": self.monitor,
            "connections": self.connections,
        }

    def warm_up(self) -> None:
        """Load in the background, once, what the first call would otherwise wait for."""
        if not self.warmed.is_set():
            self.warmed.set()
            self.group.start_soon(anyio.to_thread.run_sync, _load, self)


class Lifespan:
    """Opens what a server works with, and closes it at the end."""

    def __init__(self, settings: Settings, *, warm_up: Callable[[], object]) -> None:
        self._settings = settings
        self._warm_up = warm_up
        self.state: AppState | None = None
        """What is open now, for handlers that are given no context."""

    @asynccontextmanager
    async def __call__(self, _: object) -> AsyncGenerator[AppState]:
        """Keep the store and the runs in progress open."""
        settings = self._settings
        store = settings.open_store()
        try:
            async with Connections() as connections, anyio.create_task_group() as group:
                self.state = AppState(
                    settings=settings,
                    store=store,
                    jobs=Jobs(group),
                    breakers=Breakers(),
                    monitor=Monitor(),
                    connections=connections,
                    group=group,
                    build=self._warm_up,
                    warmed=anyio.Event(),
                )
                group.start_soon(_keep_up, self.state)
                yield self.state
                group.cancel_scope.cancel()
        finally:
            with anyio.move_on_after(_CLOSING_SECONDS, shield=True):
                await store.aclose()


async def _keep_up(state: AppState) -> None:
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
        except SifakaError as error:
            if working:  # told once, not every few seconds
                report_failure(logger, "store", error)
            working = False
        await anyio.sleep(_PAUSE_BETWEEN_WORK if left else _PAUSE_WITHOUT_WORK)


def _load(state: AppState) -> None:
    from sifaka.editor import warm_up

    try:
        state.build()
        warm_up()
        if asks_a_provider(state.settings.model) and state.settings.model != HOST:
            from sifaka.models.provider import provider_model

            provider_model(state.settings.model)
    # Whatever is wrong is told again by the call that needs it; this must not take the server down.
    except Exception as error:  # noqa: BLE001 - reported just below
        report_failure(logger, "warm-up", error)
