"""The resources of a chain, and the parts that work on one run."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from sifaka.calls.breakers import Breakers
from sifaka.calls.component import models_of
from sifaka.calls.host import Host
from sifaka.calls.monitoring import Monitor
from sifaka.chain.judging import Judge
from sifaka.chain.writers import Writer
from sifaka.critics.protocol import CriticComponent
from sifaka.evidence.sources.collection import NONE, Adapters
from sifaka.models.connections import Connections
from sifaka.models.editor import EditorModel
from sifaka.plugins import NO_PLUGINS, Plugins
from sifaka.research.protocol import Researcher
from sifaka.retrievers.protocol import Retriever
from sifaka.storage import MemoryStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka.validators.protocol import ValidatorComponent

if TYPE_CHECKING:
    from sifaka.evidence.claims import EvidenceChecker
    from sifaka.models.journaled import JournaledModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """The resources of a chain that no record holds; see `sifaka.chain.options` for each."""

    store: ThoughtStore = field(default_factory=MemoryStorage)
    breakers: Breakers = field(default_factory=Breakers)
    monitor: Monitor = field(default_factory=Monitor)
    connections: Connections | None = None
    host: Host | None = None
    plugins: Plugins = NO_PLUGINS
    adapters: Adapters = NONE
    researcher: Researcher | None = None
    deps: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts that work on one run: the components, bound, and the resources for them."""

    writers: tuple[Writer, ...]
    validators: tuple[ValidatorComponent, ...]
    critics: tuple[CriticComponent, ...]
    retrievers: tuple[Retriever, ...]
    store: ThoughtStore
    editor: EditorModel | None = None
    """Edits the input and each version of a model; None where nothing is to be edited."""
    judge: Judge | None
    """Compares versions, with the policy `judged`."""
    asked: "JournaledModel | None" = None
    """The model for critics and checkers that name none; None without one."""
    checker: "EvidenceChecker | None" = None
    """Checks claims against evidence, for the validators and critics that do."""
    researcher: Researcher | None = None
    """Makes the first version, where that is researched."""
    unaided: Researcher | None = None
    """Makes it without a model when that has failed and the caller is to write then."""
    breakers: Breakers
    monitor: Monitor
    connections: Connections | None = None
    """Keeps clients open; None when they are opened and closed with the run."""

    @asynccontextmanager
    async def connected(self) -> AsyncGenerator[None]:
        """Keep the providers' clients open, and close those that are this run's own at the end."""
        models = [m for part in (*self.writers, *self.critics) for m in models_of(part)]
        async with AsyncExitStack() as stack:
            for model in {id(model): model for model in (*models, self.asked)}.values():
                if self.connections is not None and self.connections.holds(model):
                    await self.connections.open(model)
                elif isinstance(model, AbstractAsyncContextManager):
                    await stack.enter_async_context(cast("AbstractAsyncContextManager[Any]", model))
            yield
