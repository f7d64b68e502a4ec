"""Liveness and readiness of the server."""

import logging
import time
from collections.abc import Callable

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse

from sifaka.calls.failure_log import report_failure
from sifaka.errors import SifakaError
from sifaka.storage.protocol import ThoughtStore

logger = logging.getLogger(__name__)

_SECONDS = 5.0
"""Seconds that the store may take to answer."""
_FRESH = 1.0
"""Seconds for which an answer of the store is reused."""


async def alive(_: Request) -> JSONResponse:
    """`/healthz`: the process answers."""
    return JSONResponse({"status": "ok"})


class Readiness:
    """`/readyz`: every part of the store answers. What is wrong is in the log, not in the answer.

    Args:
        store: The store, if it is open.
        clock: Seconds of a clock that never goes back.
    """

    def __init__(
        self,
        store: Callable[[], ThoughtStore | None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._clock = clock
        self._lock = anyio.Lock()
        self._looked: float | None = None
        self._ready = True

    async def answer(self, _: Request) -> JSONResponse:
        """200, or 503 with one line."""
        async with self._lock:
            if self._looked is None or self._clock() - self._looked >= _FRESH:
                self._ready = await self._look()
                self._looked = self._clock()
        if self._ready:
            return JSONResponse({"status": "ready"})
        return JSONResponse(
            {"status": "unavailable", "reason": "the store does not answer"}, status_code=503
        )

    async def _look(self) -> bool:
        store = self._store()
        if store is None:
            return False
        try:
            with anyio.fail_after(_SECONDS):
                wrong = [part for part in await store.health() if not part.works]
        except (SifakaError, TimeoutError) as error:
            if self._ready:  # told once, not every few seconds
                report_failure(logger, "readiness", error)
            return False
        if self._ready:
            for part in wrong:
                logger.warning("not ready: %s: %s", part.part, part.found)
        return not wrong
