"""Clients of providers that stay open from run to run."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import anyio

from sifaka.errors import ConfigurationError
from sifaka.models.local import LocalProviders
from sifaka.models.provider import provider_model

if TYPE_CHECKING:
    from sifaka.models.journaled import JournaledModel


class Connections:
    """Models by their names, each opened once and closed with the rest.

    A run that brings its own client loads the trusted certificates and connects anew, some 40 ms
    and one round trip for each parallel call. A program that makes many runs in one event loop
    keeps one of these around them: `async with Connections() as connections: ...`. The first event
    loop that uses them has them to itself until they are closed; afterwards they can be used again.

    Args:
        local: The abilities of local providers; when None such a provider is asked as any other.
        call_timeout: Seconds that one call may take; see `provider_model`.

    Raises:
        ConfigurationError: Used from another event loop, as each `run_sync` has one of its own.
    """

    def __init__(
        self, local: LocalProviders | None = None, *, call_timeout: float | None = None
    ) -> None:
        self._opening = partial(provider_model, local=local, call_timeout=call_timeout)
        self._start_over()

    def _start_over(self) -> None:
        self._models: dict[tuple[str, ...], JournaledModel] = {}
        self._open: set[int] = set()
        self._stack = AsyncExitStack()
        self._lock = anyio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __aenter__(self) -> Self:
        self._stay_in_one_loop()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stay_in_one_loop()
        stack = self._stack
        self._start_over()
        await stack.aclose()

    def model(self, model: Any, fallbacks: Sequence[Any] = ()) -> "JournaledModel":
        """The model of a name, the same one each time; see `provider_model`.

        Raises:
            ConfigurationError: A name is unknown, the provider's package or key is missing, or
                another event loop has the connections.
        """
        names = (model, *fallbacks)
        if not all(isinstance(name, str) for name in names):
            return self._opening(model, fallbacks)
        self._stay_in_one_loop()
        if names not in self._models:
            self._models[names] = self._opening(model, fallbacks)
        return self._models[names]

    def holds(self, model: object) -> bool:
        """True when this is one of its models."""
        return any(model is known for known in self._models.values())

    async def open(self, model: Any) -> None:
        """Open the client of one of its models, unless it is open.

        Raises:
            ConfigurationError: Another event loop has the connections.
        """
        self._stay_in_one_loop()
        async with self._lock:
            if id(model) not in self._open:
                await self._stack.enter_async_context(model)
                self._open.add(id(model))

    def _stay_in_one_loop(self) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # before any runs nothing is bound
            loop = None
        if self._loop is None:
            self._loop = loop
        elif loop is not None and loop is not self._loop:
            # A client waits for its own loop, and fails when that is closed.
            raise ConfigurationError(
                "connections serve one event loop, and they are used from another one",
                "await the runs in one event loop, or leave connections out with run_sync",
            )
