"""Follows runs in the store and tells listeners of each new entry."""

import logging
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field

import anyio
import anyio.abc

from sifaka.calls.failure_log import report_failure
from sifaka.errors import MemoryLimitError, ThoughtNotFound
from sifaka.storage.protocol import ThoughtStore

logger = logging.getLogger(__name__)

MOST = 500
"""Runs that are followed for one tenant at the same time."""
_LONGEST_PAUSE = 30.0

Listener = Callable[[], None]
"""The function to call when a run has moved; it must not raise."""
_Key = tuple[str | None, str]
"""A tenant and a run."""


@dataclass(eq=False)
class _Following:
    listeners: set[Listener] = field(default_factory=set[Listener])
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    def tell(self) -> None:
        for listener in tuple(self.listeners):
            listener()


class Followers:
    """Tells listeners of every entry of a run, also of those that other processes write.

    A run is followed once for all who listen to it, until the last of them leaves or nothing can
    happen to the run any more.

    Args:
        group: Where the followers run.
        pause: Seconds until a store that has failed is asked again; longer each time.
    """

    def __init__(self, group: anyio.abc.TaskGroup, *, pause: float = 1.0) -> None:
        self._group = group
        self._pause = pause
        self._followed: dict[_Key, _Following] = {}

    async def add(
        self, store: ThoughtStore, tenant: str | None, run_id: str, listener: Listener
    ) -> Callable[[], None]:
        """Tell a listener of every entry that is written from now on.

        Args:
            store: The store as the tenant sees it.
            tenant: Who listens.
            run_id: The run.
            listener: What to call.

        Returns:
            What ends it; calling it again does nothing.

        Raises:
            ThoughtNotFound: The tenant has no such run.
            MemoryLimitError: Too many of the tenant's runs are followed.
            StorageError: The store failed.
        """
        key = (tenant, run_id)
        if key not in self._followed:
            # What is written from now on counts, not from when the follower comes to look.
            run = await store.load(run_id)
            if run.finished:
                return lambda: None
            if key not in self._followed:  # others may have come meanwhile
                if sum(owner == tenant for owner, _ in self._followed) >= MOST:
                    raise MemoryLimitError(
                        f"{MOST} runs are being followed",
                        "end other subscriptions, or ask now and then",
                    )
                started = self._followed[key] = _Following()
                self._group.start_soon(self._follow, store, key, started, run.version)
        following = self._followed[key]
        following.listeners.add(listener)

        def leave() -> None:
            following.listeners.discard(listener)
            if not following.listeners and self._followed.get(key) is following:
                following.scope.cancel()
                del self._followed[key]

        return leave

    async def _follow(
        self, store: ThoughtStore, key: _Key, following: _Following, after: int
    ) -> None:
        pause = self._pause
        with following.scope:
            while True:
                try:
                    async with aclosing(store.follow(key[1], after=after)) as steps:
                        async for _, run in steps:
                            after, pause = run.version, self._pause
                            following.tell()
                    break
                except ThoughtNotFound:
                    following.tell()  # its listeners learn that it is gone when they read it
                    break
                # It must not take the others down.
                except Exception as error:  # noqa: BLE001 - reported, once and not at every try
                    if pause == self._pause:
                        report_failure(logger, "follower", error, run_id=key[1])
                    await anyio.sleep(pause)
                    pause = min(2 * pause, _LONGEST_PAUSE)
        if self._followed.get(key) is following:
            del self._followed[key]
