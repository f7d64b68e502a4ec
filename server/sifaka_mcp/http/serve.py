"""Listening, requests of slow clients, and stopping in good order."""

import asyncio
import ipaddress
import socket
import sys
from asyncio.events import TimerHandle
from types import FrameType
from typing import Any

import h11
import uvicorn
from sse_starlette.sse import AppStatus
from uvicorn.protocols.http.h11_impl import H11Protocol

from sifaka.errors import ConfigurationError
from sifaka.isolation import spread
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.garbage_collection import collect_less
from sifaka_mcp.http.application import create_http_app
from sifaka_mcp.http.guard import MCP
from sifaka_mcp.settings import Settings
from sifaka_mcp.settings.http import is_loopback

GRACE_SECONDS = 5
"""Seconds that requests may take to finish after a stop. Container engines wait for 10 seconds by
default, and the store has to be closed as well."""
KEEP_ALIVE_SECONDS = 90
"""Seconds that an idle connection stays open. Clients and proxies, which keep theirs for up to 75,
are to close it first: a request that they send as the server closes it is lost."""
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


def serve_http(
    settings: Settings, host: str, port: int, make: type[SifakaServer] = SifakaServer
) -> None:
    """Serve until stopped.

    Raises:
        ConfigurationError: The address cannot be listened on, or the settings do not say who may
            use the server there.
    """
    asks_who = settings.auth_tokens_file is not None or settings.oauth_issuer is not None
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        # The first address is listened on. Which one that is may change with the next answer of a
        # name server, so all of them decide whether tokens have to be asked for.
        is_local = all(is_loopback(str(address[0])) for *_, address in addresses)
        if not (is_local or asks_who or settings.allow_anonymous):
            raise ConfigurationError(
                f"{host} can be reached from other machines, and no token would be asked for",
                "give tokens with --auth-tokens-file (`sifaka token` makes them) or "
                "SIFAKA_OAUTH_ISSUER, or accept requests without a token with --allow-anonymous",
            )
        if not is_local and settings.oauth_issuer is not None and settings.public_url is None:
            raise ConfigurationError(
                "clients of an authorization server have to know this server by one URL",
                "set SIFAKA_PUBLIC_URL, such as https://sifaka.example/mcp",
            )
        family, *_, address = addresses[0]
        listener = socket.create_server((address[0], port), family=family)
    except OSError as error:
        raise ConfigurationError(
            f"cannot listen on {host}:{port}: {error.strerror}", "choose another --host or --port"
        ) from error
    with listener:
        name = f"[{host}]" if ":" in host else host
        url = f"http://{name}:{listener.getsockname()[1]}{MCP}"
        server = http_server(settings, url, make)
        # Waiting streams end with their answers, not with the signal: see `_Server`.
        AppStatus.disable_automatic_graceful_drain()
        # A reader of this line may connect at once: the socket listens already.
        print(f"sifaka: listening on {url}", file=sys.stderr, flush=True)
        if not (is_local or asks_who):
            print(
                "sifaka: everyone who reaches this address can use it", file=sys.stderr, flush=True
            )
        collect_less()
        spread("sifaka.editor.edit")
        server.run(sockets=[listener])


def http_server(
    settings: Settings, url: str, make: type[SifakaServer] = SifakaServer
) -> uvicorn.Server:
    """The server; it listens on the socket that it is run with.

    Args:
        settings: Those of the server.
        url: Where that is.
        make: What answers at `/mcp`.

    Raises:
        ConfigurationError: The tokens file cannot be read, or is wrong.
    """
    # IPv4 networks also in the form of a connection to a socket of both families.
    mapped = [
        f"::ffff:{network.network_address}/{96 + network.prefixlen}"
        for network in map(ipaddress.ip_network, settings.trusted_proxies)
        if network.version == 4
    ]
    return _Server(
        uvicorn.Config(
            create_http_app(settings, url, make),
            http=PatientProtocol,
            h11_max_incomplete_event_size=LARGEST_HEAD,
            ws="none",
            log_level=settings.log_level.lower(),
            log_config=None,
            access_log=False,  # its lines have the query, where some clients put what is secret
            proxy_headers=bool(settings.trusted_proxies),
            forwarded_allow_ips=[*settings.trusted_proxies, *mapped],
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
    )


class _Server(uvicorn.Server):
    """A server that answers the waiting clients first when it is stopped."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """See `uvicorn.Server`."""
        app: Any = self.config.app
        app.state.ending()
        super().handle_exit(sig, frame)


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
        """End the connection after so many seconds, unless it is set anew; never with None."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None
        if seconds is not None:
            self._deadline = self.loop.call_later(seconds, self.transport.abort)
