"""Hosts that do not come back: after a while their runs go on without them."""

import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import anyio
import anyio.abc

from sifaka.calls.failure_log import report_failure
from sifaka.errors import SifakaError
from sifaka.record.run import Run
from sifaka.storage.protocol import ThoughtStore

logger = logging.getLogger(__name__)

_PAUSE = 30.0
"""Seconds at most until a store that was away, or work there was no room for, is tried again."""


class Expiry:
    """Watches the runs that wait for answers of a host.

    The list of watched runs ends with the process; `is_over` decides later, in any process. Several
    processes may watch one run: only its record counts.

    Args:
        group: Where the watching is done.
        seconds: How long a run may wait.
    """

    def __init__(self, group: anyio.abc.TaskGroup, seconds: float) -> None:
        self._group = group
        self.seconds = seconds
        self._watched: dict[str, anyio.CancelScope] = {}
        self.asked: set[str] = set()
        """The runs whose questions a client has been given, and has not come back with yet."""

    @property
    def watched(self) -> frozenset[str]:
        """The runs that are watched here."""
        return frozenset(self._watched)

    def watch(self, run_id: str, store: ThoughtStore, go_on: Callable[[], Awaitable[None]]) -> None:
        """Have `go_on` called when nothing has happened to a run for so long.

        It is called once, and again only when it fails with what may pass.
        """
        self.leave(run_id)
        self._start(run_id, store, go_on, self.seconds)

    def leave(self, run_id: str) -> None:
        """Stop watching a run that is worked on."""
        self.asked.discard(run_id)
        if scope := self._watched.pop(run_id, None):
            scope.cancel()

    def is_over(self, run: Run) -> bool:
        """True when a run has waited for its host for long enough."""
        return self._left(run) <= 0

    def _left(self, run: Run) -> float:
        silent = (datetime.now(UTC) - run.updated_at).total_seconds()
        return min(self.seconds, self.seconds - silent)  # another process's clock may be ahead

    def _start(
        self,
        run_id: str,
        store: ThoughtStore,
        go_on: Callable[[], Awaitable[None]],
        seconds: float,
    ) -> None:
        scope = self._watched[run_id] = anyio.CancelScope()
        self._group.start_soon(self._watch, run_id, store, go_on, scope, seconds)

    async def _watch(
        self,
        run_id: str,
        store: ThoughtStore,
        go_on: Callable[[], Awaitable[None]],
        scope: anyio.CancelScope,
        left: float,
    ) -> None:
        try:
            with scope:
                while left > 0:
                    await anyio.sleep(left)
                    run = await store.load(run_id)
                    if run.status != "running":
                        return
                    left = self._left(run)  # a round may have come to another process meanwhile
                # From here on it is work, which `leave` must not break off.
                self._watched.pop(run_id, None)
                await go_on()
        except SifakaError as error:
            report_failure(logger, "waiting for a host", error, run_id=run_id)
            if error.retryable and self._watched.get(run_id, scope) is scope:
                self._start(run_id, store, go_on, min(self.seconds, _PAUSE))
        finally:
            if self._watched.get(run_id) is scope:
                del self._watched[run_id]
