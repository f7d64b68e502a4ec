"""Liveness and readiness of the server."""

import logging
import math
import time
from collections.abc import Callable

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse

from sifaka.calls.failure_log import report_failure
from sifaka.errors import SifakaError
from sifaka.storage.protocol import ThoughtStore

logger = logging.getLogger(__name__)
ALIVE = JSONResponse({"status": "ok"})
"""The answer of `/healthz`: the process answers."""

_SECONDS = 5.0
"""Seconds that the store may take to answer."""
_FRESH = 1.0
"""Seconds for which an answer of the store is reused."""


class Readiness:
    """`/readyz`: every part of the store answers. What is wrong is in the log, not in the answer.

    Args:
        store: The store, which is open by then.
    """

    def __init__(self, store: Callable[[], ThoughtStore]) -> None:
        self._store = store
        self._lock = anyio.Lock()
        self._looked = -math.inf
        self._ready = True

    async def answer(self, _: Request) -> JSONResponse:
        """200, or 503 with one line."""
        async with self._lock:
            if time.monotonic() - self._looked >= _FRESH:
                self._ready = await self._look()
                self._looked = time.monotonic()
        if self._ready:
            return JSONResponse({"status": "ready"})
        return JSONResponse(
            {"status": "unavailable", "reason": "the store does not answer"}, status_code=503
        )

    async def _look(self) -> bool:
        try:
            with anyio.fail_after(_SECONDS):
                wrong = [part for part in await self._store().health() if not part.works]
        except (SifakaError, TimeoutError) as error:
            if self._ready:  # told once, not every few seconds
                report_failure(logger, "readiness", error)
            return False
        if self._ready:
            for part in wrong:
                logger.warning("not ready: %s: %s", part.part, part.found)
        return not wrong
