"""One store among several, and whether it is worth asking right now."""

import time
from collections.abc import Generator
from contextlib import contextmanager

from sifaka.errors import AppendRefused, StorageError
from sifaka.storage.protocol import ThoughtStore


class Tier:
    """A store that is left alone for a moment after it could not be reached.

    Args:
        name: What it is called in the queue and in messages.
        store: The store.
        retry_after: Seconds without an attempt after a failure that another attempt may cure.
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

    def note(self, failure: StorageError) -> None:
        """Remember a failure; one that may pass by itself closes the tier for a moment."""
        self.failure = failure
        if failure.retryable:
            self._ask_again = time.monotonic() + self.retry_after

    def try_again(self) -> None:
        """It was seen to work: the next attempt is not put off."""
        self._ask_again = 0.0

    @contextmanager
    def attempt(self) -> Generator[None]:
        """Ask the store for something inside; how that went is remembered.

        Raises:
            StorageError: It has just failed, and nothing inside was done.
        """
        if paused := self.paused:
            raise _again(paused)
        try:
            yield
        except AppendRefused:
            self.failure = None
            raise
        except StorageError as failure:
            self.note(failure)
            raise
        self.failure = None


def _again(failure: StorageError) -> StorageError:
    # A new one each time: raising the same one would gather the tracebacks of all callers.
    error = StorageError(failure.message, failure.suggestion)
    error.retryable = True
    return error
