"""What a run is worked on with."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from sifaka.calls.breakers import Breakers
from sifaka.calls.monitoring import Monitor
from sifaka.chain.judging import Judge
from sifaka.chain.writers import Writer
from sifaka.critics import models_of
from sifaka.critics.protocol import Critic
from sifaka.models.connections import Connections
from sifaka.record.claims import ClaimChecker
from sifaka.research.protocol import Researcher
from sifaka.retrievers.protocol import Retriever
from sifaka.storage.protocol import ThoughtStore
from sifaka.validators.protocol import Validator

if TYPE_CHECKING:
    from sifaka.models.journaled import JournaledModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a run is worked on with."""

    writers: tuple[Writer, ...]
    validators: tuple[Validator, ...]
    critics: tuple[Critic, ...]
    retrievers: tuple[Retriever, ...]
    store: ThoughtStore
    judge: Judge | None
    """Compares versions, with the policy `judged`."""
    asked: "JournaledModel | None" = None
    """What critics and checkers ask that name no model; None without one."""
    checker: ClaimChecker | None = None
    """Holds claims against evidence, for the validators and critics that do."""
    researcher: Researcher | None = None
    """Makes the first version, where that is researched."""
    unaided: Researcher | None = None
    """Makes it without a model when that has failed and the caller is to write then."""
    breakers: Breakers
    monitor: Monitor
    connections: Connections | None = None
    """Keeps clients open; None when they are opened and closed with the run."""

    @property
    def _asking(self) -> tuple[object, ...]:
        """What may ask a model, besides critics."""
        return (*self.writers, self.judge, self.checker, self.researcher)

    @asynccontextmanager
    async def connected(self) -> AsyncGenerator[None]:
        """Keep the providers' clients open, and close those that are this run's own at the end."""
        asked = [getattr(part, "model", None) for part in self._asking]
        models = asked + [model for critic in self.critics for model in models_of(critic)]
        async with AsyncExitStack() as stack:
            for model in {id(model): model for model in models}.values():
                if self.connections is not None and self.connections.holds(model):
                    await self.connections.open(model)
                elif isinstance(model, AbstractAsyncContextManager):
                    await stack.enter_async_context(cast("AbstractAsyncContextManager[Any]", model))
            yield
