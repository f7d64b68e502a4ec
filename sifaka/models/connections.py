"""Clients of providers that stay open from run to run."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Self

import anyio

from sifaka.models.provider import provider_model

if TYPE_CHECKING:
    from sifaka.models.journaled import JournaledModel


class Connections:
    """Models by their names, each opened once and closed with the rest.

    A run that brings its own client loads the trusted certificates and connects anew, some 40 ms
    and one round trip for each parallel call. A program that makes many runs in one event loop
    keeps one of these around them: `async with Connections() as connections: ...`.
    """

    def __init__(self) -> None:
        self._models: dict[tuple[str, ...], JournaledModel] = {}
        self._open: set[int] = set()
        self._stack = AsyncExitStack()
        self._lock = anyio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    def model(self, model: Any, fallbacks: Sequence[Any] = ()) -> "JournaledModel":
        """The model of a name, the same one each time; see `provider_model`.

        Raises:
            ConfigurationError: A name is unknown, or the provider's package or key is missing.
        """
        names = (model, *fallbacks)
        if not all(isinstance(name, str) for name in names):
            return provider_model(model, fallbacks)
        if names not in self._models:
            self._models[names] = provider_model(model, fallbacks)
        return self._models[names]

    def holds(self, model: object) -> bool:
        """Whether this is one of its models."""
        return any(model is known for known in self._models.values())

    async def open(self, model: Any) -> None:
        """Open the client of one of its models, unless it is open."""
        async with self._lock:
            if id(model) not in self._open:
                await self._stack.enter_async_context(model)
                self._open.add(id(model))
