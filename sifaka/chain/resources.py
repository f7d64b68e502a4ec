"""The resources of a chain: all of it that no record holds."""

from dataclasses import dataclass, field
from typing import Any

from sifaka.calls.breakers import Breakers
from sifaka.calls.context import Calls, new_frame_key
from sifaka.calls.host import Host
from sifaka.calls.journal import Journal
from sifaka.calls.ledger import Ledger
from sifaka.calls.monitoring import Monitor
from sifaka.critics.protocol import CriticComponent
from sifaka.evidence.sources.collection import NONE, Adapters
from sifaka.models import AUTO
from sifaka.models.provider import Connections
from sifaka.plugins import NO_PLUGINS, Plugins
from sifaka.record.usage import Budget, Usage
from sifaka.research.protocol import Researcher
from sifaka.retrievers.protocol import Retriever
from sifaka.storage import MemoryStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka.validators.protocol import ValidatorComponent


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """The components of a chain, which its configuration names, and what they work with.

    See `sifaka.chain.options` for each.
    """

    model: Any = AUTO
    judge_model: Any = None
    fallback_models: tuple[Any, ...] = ()
    validators: tuple[ValidatorComponent, ...] = ()
    critics: tuple[CriticComponent, ...] = ()
    """Those that suit the model where none were given."""
    retrievers: tuple[Retriever, ...] = ()
    store: ThoughtStore = field(default_factory=MemoryStorage)
    breakers: Breakers = field(default_factory=Breakers)
    monitor: Monitor = field(default_factory=Monitor)
    connections: Connections | None = None
    host: Host | None = None
    plugins: Plugins = NO_PLUGINS
    adapters: Adapters = NONE
    researcher: Researcher | None = None
    deps: Any = None

    def calls(
        self, budget: Budget, frame_key: str | None = None, journal: Journal | None = None
    ) -> Calls:
        """The surroundings of model calls outside a run.

        Args:
            budget: Theirs alone.
            frame_key: A secret of the caller, which the marks around quoted material in prompts are
                made with: the same one makes the same questions. A new one when None.
            journal: The answers that are there already; none when None.
        """
        return Calls(
            ledger=Ledger(budget, Usage()),
            journal=journal or Journal(),
            breakers=self.breakers,
            monitor=self.monitor,
            frame_key=frame_key or new_frame_key(),
        )
