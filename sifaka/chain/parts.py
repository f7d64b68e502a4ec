"""What a run is worked on with."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

from sifaka.chain.writers import Writer
from sifaka.critics.protocol import Critic
from sifaka.retrievers.protocol import Retriever
from sifaka.storage.protocol import ThoughtStore
from sifaka.validators.protocol import Validator


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a run is worked on with."""

    writers: tuple[Writer, ...]
    validators: tuple[Validator, ...]
    critics: tuple[Critic, ...]
    retrievers: tuple[Retriever, ...]
    store: ThoughtStore

    @asynccontextmanager
    async def connected(self) -> AsyncGenerator[None]:
        """Keep the connections to the providers open, and close them at the end."""
        models = [getattr(part, "model", None) for part in (*self.writers, *self.critics)]
        async with AsyncExitStack() as stack:
            for model in {id(model): model for model in models}.values():
                if isinstance(model, AbstractAsyncContextManager):
                    await stack.enter_async_context(cast("AbstractAsyncContextManager[Any]", model))
            yield
