"""HTTP/1.1 from clients that are slow, or send more than they should."""

import asyncio
from asyncio.events import TimerHandle
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_HEAD = 64 * 1024
"""Bytes of the address and the header fields of a request, and of what stands beside its body."""
_LINGERING_SECONDS, _LINGERING_BYTES = 2.0, 1024 * 1024
"""What a refused client may go on sending: a connection with unread bytes would be reset, and the
answer lost with it."""
_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"connection: close\r\n"
    b"content-length: 0\r\n\r\n"
)


class StrictProtocol(HttpToolsProtocol):
    """HTTP/1.1 with header fields that can be relied on, and requests that come to their end.

    Header fields are as RFC 9110 means them. The parser keeps the whitespace behind a value, which
    is no part of it (section 5.5): here it is cut. The parser takes fields behind the body for
    header fields (section 6.5.1), by which an admitted request could change its claims: here they
    are ignored. The parser has no limit.

    Each request has to be complete within `patience` seconds. A client that sends a byte now and
    then would otherwise keep its connection for ever, and the process may only have so many.
    """

    patience = 60.0
    """Seconds from the first byte of a request, or from the connection, to the request's last."""
    _beside_body = 0
    """Bytes since the request, or the last part of its body, began."""
    _head = 0
    """Bytes of the address and the fields that are known of the head."""
    _in_head = True
    _lingering: int | None = None
    """Bytes that a refused client may still send; None while nothing is refused."""

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

    def data_received(self, data: bytes) -> None:
        """Something has come."""
        if self._lingering is not None:
            self._lingering -= len(data)
            if self._lingering < 0:
                self.transport.abort()
            return
        self._beside_body += len(data)
        super().data_received(data)
        if self._beside_body > LARGEST_HEAD and not self.transport.is_closing():
            self._refuse()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request, or has too large a head."""
        if self._head > LARGEST_HEAD:
            self._refuse()
        else:
            super().send_400_response(msg)

    def on_message_begin(self) -> None:
        """A request begins."""
        self._stop_waiting()
        self._wait()
        self._beside_body, self._head, self._in_head = 0, 0, True
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """A part of the address is there."""
        self._add_to_head(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A field is complete."""
        if self._in_head:
            self._add_to_head(len(name) + len(value) + len(b": \r\n"))
            super().on_header(name, value.rstrip(b" \t"))

    def on_headers_complete(self) -> None:
        """All header fields are known."""
        self._in_head = False
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of the body is there."""
        self._beside_body = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is complete."""
        self._stop_waiting()
        self._beside_body = 0
        super().on_message_complete()

    def _add_to_head(self, size: int) -> None:
        self._head += size
        if self._head > LARGEST_HEAD:
            raise ValueError("the head is too large")  # the parser stops, and has this refused

    def _refuse(self) -> None:
        if self._lingering is not None:
            return
        if not self._in_head or (self.cycle and not self.cycle.response_complete):
            self.transport.close()
            return
        self._lingering = _LINGERING_BYTES
        self._stop_waiting()
        self.transport.write(_TOO_LARGE)
        self.transport.write_eof()
        self._deadline = self.loop.call_later(_LINGERING_SECONDS, self._hang_up)

    def _wait(self) -> None:
        self._deadline = self.loop.call_later(self.patience, self._hang_up)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _hang_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.abort()
