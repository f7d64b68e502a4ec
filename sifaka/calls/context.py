"""The context of every model call of a run: its ledger, its journal, its limits, its clock."""

import json
import secrets
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256

import anyio

from sifaka.calls.breakers import Breakers
from sifaka.calls.journal import Journal
from sifaka.calls.ledger import Ledger
from sifaka.calls.monitoring import Monitor
from sifaka.errors import SifakaError
from sifaka.record.entries import Called
from sifaka.record.usage import Budget, Usage

PARALLEL = 16
"""Model calls of one run at the same time."""


new_frame_key = partial(secrets.token_hex, 16)
"""Makes the secret of a run that its marks are made with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """The surroundings of the calls of one run."""

    ledger: Ledger
    journal: Journal = field(default_factory=Journal)
    breakers: Breakers = field(default_factory=Breakers)
    monitor: Monitor = field(default_factory=Monitor)
    replaying: bool = False
    """True in a replay: only the answers on record are charged."""
    frame_key: str = ""
    """The secret that the marks around quoted material are made with; the process's when empty."""
    mends: bool = True
    """True when what is not of a draft is taken off it; runs from before that keep theirs."""
    limiter: anyio.Semaphore = field(default_factory=lambda: anyio.Semaphore(PARALLEL))

    @contextmanager
    def set_aside(self, calls: int) -> Generator[None]:
        """Within it so many calls are there, less those whose answers are on record here already.

        Raises:
            BudgetExceeded: There is no room for them. Nothing was set aside.
        """
        with self.ledger.set_aside(max(0, calls - self.journal.recorded_here())):
            yield

    @contextmanager
    def active(self) -> Generator[None]:
        """Within this context, every model call happens in these surroundings."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)


_current: ContextVar[Calls | None] = ContextVar("sifaka_calls", default=None)


def current_calls() -> Calls:
    """The surroundings of a call made here; outside a run, some without limits or journal."""
    return _current.get() or Calls(ledger=Ledger(Budget(), Usage()))


async def recorded(source: str, request: object, make: Callable[[], Awaitable[str]]) -> str:
    """Record the answer of a source other than a model; it is durable before it is used.

    A resumed run finds the same answer and asks no source again. Outside a run, or outside any
    place of it, the answer is made and not kept.

    Args:
        source: The name of the source, for the record.
        request: The question, as data for JSON; an answer to another request is never taken.
        make: Asks.

    Raises:
        SifakaError: The run is gone through again, and the answer is not on record.
        StorageError: The answer could not be put on record.
    """
    calls = current_calls()
    key = calls.journal.next_key()
    if key is None:
        return await make()
    asked = json.dumps([source, request], sort_keys=True, default=str)
    digest = sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()
    answer = calls.journal.answer(key, digest)
    if answer is not None:
        return answer
    if calls.replaying:
        raise SifakaError(f"what {source} answered at {key!r} is not on record")
    answer = await make()
    await calls.journal.record(Called(key=key, request=digest, model=source, response=answer))
    return answer
