"""The parts of a composed store: its log, and the indexes of it."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Generic, TypeVar

from sifaka.errors import AppendRefused, ConfigurationError, StorageError, ThoughtNotFound
from sifaka.record.run import Run
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.protocol import SearchIndex, ThoughtStore

Inner = TypeVar("Inner", bound=ThoughtStore | SearchIndex)
_KNOWN_RUNS = 128
"""Runs of which it is remembered what an index holds, so that versions are put once."""
_PUT_ASIDE = 60.0
"""Seconds after which a run is tried again that a part which works would not take."""
_LONGER = 8
"""The pause after a failure, in times of what it took to fail: a part that hangs slows a run by a
ninth at most."""


class Part(Generic[Inner]):
    """A log or an index that is left alone for a moment after it could not be reached.

    Args:
        name: Its name in the outbox and in messages.
        inner: The log or the index.
        retry_after: Seconds at least without an attempt after a failure that another attempt may
            cure; 0 asks each time.
    """

    def __init__(self, name: str, inner: Inner, retry_after: float) -> None:
        self.name = name
        self.inner = inner
        self.retry_after = retry_after
        self.failure: StorageError | None = None
        """The error of the last attempt; None when it succeeded."""
        self.delivering = False
        """True while a task of this process delivers to it."""
        self.closed: str | None = None
        """Why it refused what is about no run; None when it did not."""
        self.aside: dict[tuple[str, str], tuple[float, StorageError]] = {}
        """The runs that it would not take, by tenant and id: when one is tried again, and why."""
        self._ask_again = 0.0

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
        begun = time.monotonic()
        if self.failure is not None and self.failure.retryable:
            # One task finds out for all whether it works again; no other waits for that.
            self._ask_again = begun + self.retry_after
        try:
            yield
        except (AppendRefused, ThoughtNotFound):
            self._works()
            raise
        except StorageError as failure:
            self.failure = failure
            if failure.retryable and self.retry_after:
                seconds = time.monotonic() - begun
                pause = max(self.retry_after, _LONGER * seconds)
                self._ask_again = time.monotonic() + pause
            raise
        except BaseException:
            self.try_again()  # it was not found out
            raise
        self._works()

    def put_aside(self, tenant: str, run_id: str, failure: StorageError) -> None:
        """Leave a run alone for a while that would fail again."""
        self.aside[tenant, run_id] = time.monotonic() + _PUT_ASIDE, failure

    def reopened(self) -> int:
        """It refuses what is about no run no more; the number of runs to try again for that."""
        freed = [run for run, (_, why) in self.aside.items() if why.message == self.closed]
        self.closed = None
        for run in freed:
            del self.aside[run]
        return len(freed)

    def ready(self, waiting: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """The runs of those that wait which are not put aside; others are put aside no more.

        Another process has delivered those, or they were deleted.
        """
        runs = list(waiting)
        self.aside = {run: self.aside[run] for run in runs if run in self.aside}
        now = time.monotonic()
        return [run for run in runs if run not in self.aside or self.aside[run][0] <= now]

    def _works(self) -> None:
        self.failure = None
        self.try_again()


class IndexPart(Part[SearchIndex]):
    """An index, which is given each run as it is."""

    def __init__(self, name: str, inner: SearchIndex, retry_after: float) -> None:
        super().__init__(name, inner, retry_after)
        self._put: OrderedDict[tuple[str, str], tuple[int, bool]] = OrderedDict()

    async def bring(self, tenant: str, run: Run) -> None:
        """Make the versions of a run findable as they are now."""
        key = (tenant, run.run_id)
        count, passed = self._put.pop(key, (0, run.passed))
        # Whether the run passes is said with each of its versions.
        first = 0 if passed != run.passed or count > len(run.thoughts) else count
        with self.attempt():
            await self.inner.scoped(tenant).put(run, first=first)
        self._put[key] = (len(run.thoughts), run.passed)
        if len(self._put) > _KNOWN_RUNS:
            self._put.popitem(last=False)

    async def forget(self, tenant: str, run_id: str) -> None:
        """Drop a run."""
        self._put.pop((tenant, run_id), None)
        with self.attempt():
            await self.inner.scoped(tenant).drop(run_id)


AnyPart = Part[ThoughtStore] | IndexPart


def lay_out(
    stores: Sequence[ThoughtStore | SearchIndex], *, retry_after: float
) -> tuple[Part[ThoughtStore], tuple[IndexPart, ...]]:
    """The log, which is the store that lasts and decides versions and claims, and its indexes."""
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
    parts = tuple(IndexPart(index.place, index, retry_after) for index in indexes)
    return Part(log.place, log, retry_after), parts
