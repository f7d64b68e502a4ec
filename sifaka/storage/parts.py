"""One part of a composed store, which is left alone for a moment after it failed."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Generic, TypeVar

from sifaka.errors import AppendRefused, StorageError, ThoughtNotFound
from sifaka.storage.index import Filters, Hits, SearchIndex
from sifaka.storage.protocol import ThoughtStore

Inner = TypeVar("Inner", bound=ThoughtStore | SearchIndex)
_LONGER = 8
"""The pause after a failure, in times of what it took to fail: a part that hangs slows a run by a
ninth at most."""


class Part(Generic[Inner]):
    """A log, an index or a copy that is left alone for a moment after it could not be reached.

    Args:
        name: Its name in the outbox and in messages.
        inner: The log, the index or the copy.
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
        self._ask_again = 0.0

    async def search(self, tenant: str, query: str, limit: int, only: Filters) -> Hits:
        """Past versions of a tenant that match."""
        with self.attempt():
            return await self.inner.scoped(tenant).search(query, limit=limit, only=only)

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
            raise _again(paused)

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
            self._note(failure, time.monotonic() - begun)
            raise
        except BaseException:
            self.try_again()  # it was not found out
            raise
        self._works()

    def _note(self, failure: StorageError, seconds: float) -> None:
        """Remember a failure; one that may pass by itself closes the part for a while."""
        self.failure = failure
        if failure.retryable and self.retry_after:
            pause = max(self.retry_after, _LONGER * seconds)
            self._ask_again = time.monotonic() + pause

    def _works(self) -> None:
        self.failure = None
        self.try_again()


def _again(failure: StorageError) -> StorageError:
    # A new one each time: raising the same one would gather the tracebacks of all callers.
    return StorageError(failure.message, failure.suggestion, retryable=True)
