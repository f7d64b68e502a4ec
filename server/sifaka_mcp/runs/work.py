"""A run to work on, and the work on it."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import anyio

from sifaka.calls.host import Suspended
from sifaka.chain import Listener, Parting
from sifaka.errors import AppendRefused, SifakaError
from sifaka.models import HOST
from sifaka.record.entries import ChainConfig
from sifaka.record.events import ChainEvent
from sifaka.record.run import Run
from sifaka.storage.protocol import ThoughtStore

if TYPE_CHECKING:
    from sifaka.chain import RunResult

Result = TypeVar("Result", bound="RunResult")
Work = Callable[[Listener, Parting], Awaitable[Result]]
"""Works on a run: tells a listener what happens, and asks what to record when it is cancelled."""


class RunKey(NamedTuple):
    """The identity of a run among those of all tenants."""

    tenant: str
    run_id: str

    @property
    def name(self) -> str:
        """The name of its task in the queue."""
        # The id first: what stands before a colon could be one of the queue's own names.
        return f"{self.run_id}@{self.tenant}"


@dataclass(eq=False, kw_only=True)
class Job:
    """A run to work on, and the work of this process on it."""

    run: Run
    """As it was before."""
    store: ThoughtStore
    """As the tenant sees it."""
    tenant: str
    queued: bool = False
    """True when the run is in the queue, where another worker can take it."""
    listeners: list[Listener] = field(default_factory=list[Listener])
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    guarding: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    begun: anyio.Event = field(default_factory=anyio.Event)
    request_gone: anyio.Event = field(default_factory=anyio.Event)
    """Set when the request that asked for it does not wait any more."""
    leased: anyio.Event = field(default_factory=anyio.Event)
    """Set when other processes can see that it is worked on."""
    finished: anyio.Event = field(default_factory=anyio.Event)
    answerable: anyio.Event = field(default_factory=anyio.Event)
    """Set when there is no use in waiting any more."""
    on_purpose: bool = False
    """True when the run was cancelled for good."""
    result: "RunResult | None" = None
    error: Exception | Suspended | None = None
    last_event_at: float = field(default_factory=anyio.current_time)
    """On the clock of the event loop."""

    @property
    def key(self) -> RunKey:
        """The identity of the run."""
        return RunKey(self.tenant, self.run.run_id)

    @property
    def needs_host(self) -> bool:
        """True when the run asks the model of a client, and so has to stay with its connection."""
        return not self.run.handed_over and _asks_host(self.run.config)

    @property
    def can_be_tried_again(self) -> bool:
        """True when it has failed, and not because another process has the run now."""
        error = self.error
        refused = isinstance(error, AppendRefused) or isinstance(
            error and error.__cause__, AppendRefused
        )
        return isinstance(error, SifakaError) and not refused

    @contextmanager
    def heard_by(self, *listeners: Listener) -> Generator[None]:
        """Within it, listeners are told of what happens."""
        self.listeners.extend(listeners)
        try:
            yield
        finally:
            for each in listeners:
                self.listeners.remove(each)

    async def tell(self, event: ChainEvent) -> None:
        """Pass an event on to every listener."""
        self.last_event_at = anyio.current_time()
        for listener in tuple(self.listeners):
            await listener(event)


def _asks_host(config: ChainConfig) -> bool:
    named = (config.model, config.judge_model, *config.fallback_models)
    return HOST in named or any(critic.get("model") == HOST for critic in config.critics)
