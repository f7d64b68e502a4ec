"""One store among several, and whether it is worth asking right now."""

import time
from collections.abc import Generator
from contextlib import contextmanager

from sifaka.errors import AppendRefused, StorageError, ThoughtNotFound
from sifaka.storage.protocol import ThoughtStore

_LONGER = 8
"""How much longer than it took to fail a tier is left alone, so that one which hangs, and takes
seconds each time to be found out, does not slow a run down by more than a ninth."""


class Tier:
    """A store that is left alone for a moment after it could not be reached.

    Args:
        name: What it is called in the queue and in messages.
        store: The store.
        retry_after: Seconds at least without an attempt after a failure that another attempt may
            cure; 0 for a store that is to be asked each time.
    """

    def __init__(self, name: str, store: ThoughtStore, retry_after: float) -> None:
        self.name = name
        self.store = store
        self.retry_after = retry_after
        self.failure: StorageError | None = None
        """How the last attempt failed; None once one has succeeded."""
        self.delivering = False
        """Whether somebody in this process is working its queue off."""
        self._ask_again = 0.0

    def of(self, tenant: str) -> ThoughtStore:
        """The store as a tenant sees it."""
        return self.store.scoped(tenant)

    @property
    def paused(self) -> StorageError | None:
        """Why it is not worth an attempt now; None when it is."""
        return self.failure if time.monotonic() < self._ask_again else None

    def try_again(self) -> None:
        """The next attempt is not put off."""
        self._ask_again = 0.0

    def check(self) -> None:
        """Ask nothing while it is not worth an attempt.

        Raises:
            StorageError: It has just failed.
        """
        if paused := self.paused:
            raise _again(paused)

    @contextmanager
    def attempt(self) -> Generator[None]:
        """Ask the store for something inside; how that went is remembered.

        Raises:
            StorageError: It has just failed, and nothing inside was done.
        """
        self.check()
        begun = time.monotonic()
        if self.failure is not None and self.failure.retryable:
            # One finds out for all whether it works again; nobody else waits for that.
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
        """Remember a failure; one that may pass by itself closes the tier for a while."""
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
