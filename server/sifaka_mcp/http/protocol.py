"""HTTP/1.1 from clients that are slow, or send more than they should."""

import asyncio
from asyncio.events import TimerHandle

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

LARGEST_HEAD = 64 * 1024
"""Bytes of the address and the header fields of a request, and of what stands beside its body."""
_PIECE = 16 * 1024
"""Bytes that the parser is given at once: it measures no head that is complete."""
_LINGERING_SECONDS, _LINGERING_BYTES = 2.0, 1024 * 1024
"""What a refused client may go on sending: a connection with unread bytes would be reset, and the
answer lost with it."""
_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"connection: close\r\n"
    b"content-length: 0\r\n\r\n"
)


class PatientProtocol(H11Protocol):
    """HTTP/1.1 whose requests come to their end.

    Each request has to be complete within `patience` seconds. A client that sends a byte now and
    then would otherwise keep its connection for ever, and the process may only have so many.
    """

    patience = 60.0
    """Seconds from the first byte of a request, or from the connection, to the request's last."""
    _lingering: int | None = None
    """Bytes that a refused client may still send; None while nothing is refused."""
    _deadline: TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # uvicorn narrows it too
        """The connection is there."""
        super().connection_made(transport)
        self._hang_up_in(self.patience)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._hang_up_in(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Something has come."""
        for start in range(0, len(data), _PIECE):
            if self._lingering is not None:
                self._lingering -= len(data) - start
                if self._lingering < 0:
                    self.transport.abort()
                return
            if not self.transport.is_closing():
                super().data_received(data[start : start + _PIECE])

    def handle_events(self) -> None:
        """Work on what has come, and wait for the rest of a request that has begun."""
        super().handle_events()
        if self._lingering is not None:
            return
        state, (unread, _) = self.conn.their_state, self.conn.trailing_data
        if state is not h11.SEND_BODY and not (state is h11.IDLE and unread):
            self._hang_up_in(None)
        elif self._deadline is None:
            self._hang_up_in(self.patience)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request, or has too large a head; no answer begins within another."""
        state = self.conn.our_state
        if state not in {h11.IDLE, h11.SEND_RESPONSE}:
            self.transport.close()
        elif state is h11.IDLE and len(self.conn.trailing_data[0]) > LARGEST_HEAD:
            self._lingering = _LINGERING_BYTES
            self.transport.write(_TOO_LARGE)
            self.transport.write_eof()
            self._hang_up_in(_LINGERING_SECONDS)
        else:
            super().send_400_response(msg)

    def _hang_up_in(self, seconds: float | None) -> None:
        """End the connection after so many seconds, unless it is said anew; never with None."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._hang_up)

    def _hang_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.abort()
