"""A connection that is dropped when its client does not come to the point."""

import asyncio
from asyncio.events import TimerHandle
from typing import Any

from sifaka_mcp.http.fields import FieldProtocol


class PatientProtocol(FieldProtocol):
    """HTTP/1.1 that wants each request complete within `patience` seconds.

    A client that sends a byte now and then would otherwise keep its connection for ever, and the
    process may only have so many.
    """

    patience = 60.0
    """Seconds from the first byte of a request, or from the connection, to the request's last."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._deadline: TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # uvicorn narrows it too
        """The connection is there."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._stop_waiting()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """A request begins."""
        self._stop_waiting()
        self._wait()
        super().on_message_begin()

    def on_message_complete(self) -> None:
        """A request is complete."""
        self._stop_waiting()
        super().on_message_complete()

    def _wait(self) -> None:
        self._deadline = self.loop.call_later(self.patience, self._hang_up)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _hang_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.abort()
