"""The parts of a composed store, its log and the indexes of it, and their condition in lines."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import anyio

from sifaka.errors import AppendRefused, ConfigurationError, StorageError, ThoughtNotFound
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.outbox import Outbox, limit_lines
from sifaka.storage.protocol import Health, SearchIndex, ThoughtStore

T = TypeVar("T")
Inner = TypeVar("Inner", bound=ThoughtStore | SearchIndex)

_LONGER = 8
"""The pause after a failure, in times of what it took to fail: a part that hangs slows a run by a
ninth at most."""


@dataclass(eq=False, slots=True)
class Part(Generic[Inner]):
    """A log or an index that is left alone for a moment after it could not be reached."""

    name: str
    """Its name in the outbox and in messages."""
    inner: Inner
    retry_after: float
    """Seconds at least without an attempt after a failure that another one may cure; 0 for none."""
    failure: StorageError | None = None
    """The error of the last attempt; None when it succeeded."""
    delivering: bool = False
    """True while a task of this process delivers to it."""
    closed: bool = False
    """True while it refuses what is about no run."""
    aside: dict[tuple[str, str], tuple[float, StorageError]] = field(
        default_factory=dict[tuple[str, str], tuple[float, StorageError]]
    )
    """The runs that it would not take, by tenant and id: when one is tried again, and why."""
    _ask_again: float = 0.0

    @property
    def paused(self) -> StorageError | None:
        """The failure for which no attempt is made now; None when one may be made."""
        return self.failure if time.monotonic() < self._ask_again else None

    def try_again(self) -> None:
        """The next attempt is not put off."""
        self._ask_again = 0.0

    def check(self) -> None:
        """Ask nothing while it is not worth an attempt."""
        if paused := self.paused:
            # A new one each time: raising the same one would gather the tracebacks of all callers.
            raise StorageError(paused.message, paused.suggestion, retryable=True)

    @contextmanager
    def attempt(self) -> Generator[None]:
        """Ask the part for something inside; how that went is remembered.

        Raises:
            StorageError: It has just failed, and nothing inside was done.
        """
        self.check()
        started = time.monotonic()
        if self.failure is not None and self.failure.retryable:
            # One task finds out for all whether it works again; no other waits for that.
            self._ask_again = started + self.retry_after
        try:
            yield
        except (AppendRefused, ThoughtNotFound):
            self._note_success()
            raise
        except StorageError as failure:
            self.failure = failure
            if failure.retryable and self.retry_after:
                seconds = time.monotonic() - started
                pause = max(self.retry_after, _LONGER * seconds)
                self._ask_again = time.monotonic() + pause
            raise
        except BaseException:
            self.try_again()  # it was not found out
            raise
        self._note_success()

    async def ask(self, tenant: str, work: Callable[[Inner], Awaitable[T]]) -> T:
        """The result of some work on it, as a tenant sees it; how that went is remembered.

        Raises:
            StorageError: It failed, or has just failed and was not asked.
        """
        with self.attempt():
            return await work(self.inner.scoped(tenant))

    async def health(self) -> tuple[Health, ...]:
        """Its own, within some seconds; where all of it works, the next attempt is not put off."""
        lines = (Health(part=self.name, works=False, found="no answer within 5 seconds"),)
        with anyio.move_on_after(5):
            lines = await self.inner.health()
        if all(line.works for line in lines):
            self.try_again()
        return lines

    def ready(self, waiting: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """The runs of those that wait which are not put aside; others are put aside no more.

        Another process has delivered those, or they were deleted.
        """
        runs = list(waiting)
        self.aside = {run: self.aside[run] for run in runs if run in self.aside}
        now = time.monotonic()
        return [run for run in runs if run not in self.aside or self.aside[run][0] <= now]

    def _note_success(self) -> None:
        self.failure = None
        self.try_again()


AnyPart = Part[ThoughtStore] | Part[SearchIndex]


def lay_out(
    stores: Sequence[ThoughtStore | SearchIndex], *, retry_after: float
) -> tuple[Part[ThoughtStore], dict[str, Part[SearchIndex]]]:
    """The log, the store that lasts and decides versions and claims, and its indexes by name."""
    indexes = [store for store in stores if isinstance(store, SearchIndex)]
    logs = [store for store in stores if not isinstance(store, SearchIndex)]
    lasting = [log for log in logs if not isinstance(log, MemoryStorage)]
    if not logs:
        raise ConfigurationError(
            "a search index is no log: there is no store that the runs could be in",
            "name one before it, such as redis://... or sqlite:",
        )
    # What waits in the outbox finds an index by its place, in a later process too.
    if len({*map(id, logs), *(index.place for index in indexes)}) < len(stores):
        raise ConfigurationError("the same store stands there twice", "name each store once")
    if len(lasting) > 1:
        raise ConfigurationError(
            f"{lasting[1].place!r} would be a second log beside {lasting[0].place!r}",
            "name one log; `HybridMemory` and `sifaka forget --to` keep an archive",
        )
    log = (lasting or logs)[-1]
    return (
        Part(log.place, log, retry_after),
        {index.place: Part(index.place, index, retry_after) for index in indexes},
    )


def degraded_lines(
    log: Part[ThoughtStore], indexes: Iterable[Part[SearchIndex]], outbox: Outbox, tenant: str
) -> tuple[str, ...]:
    """The known failures: of the parts, of the outbox, of this tenant's runs."""
    lines = [*log.inner.degraded]
    undelivered: list[str] = []
    waiting = dict(outbox.waiting)
    where = "on disk" if outbox.path else "in memory"
    for part in (log, *indexes):
        number, failure = waiting.pop(part.name, 0), part.failure
        count = count_of(number, "append" if part is log else "run")
        if failure is not None:
            queued = f"; {count} queued {where}" if number else ""
            named = "" if part.name in failure.message else f"{part.name}: "
            lines.append(f"{named}{failure.message}{queued}")
        elif number and part is log:
            lines.append(f"{part.name}: {count} still queued {where}")
        undelivered += [
            f"{part.name}: run {run_id!r} is not delivered: {why.message}"
            for (owner, run_id), (_, why) in part.aside.items()
            if owner == tenant and (failure is None or failure.message != why.message)
        ]
    if outbox.failure is not None:
        lines.append(f"queue: {outbox.failure.message}")
    lines += [
        f"{name}: {count_of(number, 'append')} queued {where} for it, and the store has no such "
        "part now"
        for name, number in waiting.items()
    ]
    lines += limit_lines(undelivered, "more runs are not delivered")
    return (*lines, *outbox.refusal_lines(tenant))


def count_of(number: int, noun: str) -> str:
    """The beginning of a sentence about so many things, such as `2 runs are`."""
    return f"1 {noun} is" if number == 1 else f"{number} {noun}s are"
