"""Connections of a source: to addresses that were checked, and to no name."""

import asyncio
import socket
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import anyio

from sifaka.evidence.sources.answers import Asked

if TYPE_CHECKING:
    import httpx2

_Kept = WeakKeyDictionary[
    asyncio.AbstractEventLoop, "tuple[httpx2.AsyncClient, AsyncGenerator[httpx2.AsyncClient]]"
]
_MOST_ADDRESSES = 4
_ENCODINGS = "gzip, deflate"
"""Both are unpacked piece by piece, so that a small body cannot become a huge one at once."""
_WRAPPING = tuple(map(IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/96", "::ffff:0:0:0/96", "::/96")))
"""Networks whose addresses end with an IPv4 address: of translators, and an obsolete one."""


async def resolved(host: str) -> Sequence[str]:
    """The addresses of a host, from the resolver of this machine.

    Raises:
        OSError: There are none.
    """
    found = await anyio.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


def is_public(address: str) -> bool:
    """True for an address of the public internet, also where an IPv6 address wraps one of IPv4."""
    found: IPv4Address | IPv6Address = ip_address(address)
    if isinstance(found, IPv6Address):
        wrapped = found.ipv4_mapped or found.sixtofour or (found.teredo or (None, None))[1]
        if any(found in network for network in _WRAPPING):
            wrapped = IPv4Address(int(found) & 0xFFFF_FFFF)
        if found.is_site_local:
            return False
        found = wrapped or found
    return found.is_global and not found.is_multicast


@dataclass(frozen=True, slots=True)
class Network:
    """The resolver, and the line between public and private addresses."""

    resolve: Callable[[str], Awaitable[Sequence[str]]] = resolved
    is_public: Callable[[str], bool] = is_public
    remembered: float = 60.0
    """Seconds until the addresses of a host are resolved again."""


class SourceConnections:
    """Connections to the host of a source: to checked addresses only.

    It may be anywhere. A host that is public at its first look-up stays public, whatever its name
    resolves to later. A request connects to an address that was checked here, never to a name,
    which may stand for another address by then.

    Args:
        base: The URL of the source.
        headers: Sent with each request.
        network: The resolver.
        connect: Seconds until another address of a host is tried.
    """

    def __init__(
        self,
        base: str,
        headers: Mapping[str, str],
        network: Network,
        *,
        connect: float,
    ) -> None:
        self._base = base
        self._headers = headers
        self._network = network
        self._connect = connect
        self._is_public: bool | None = None
        self._known: tuple[float, Sequence[str]] = (0.0, ())
        self._kept: _Kept = WeakKeyDictionary()

    async def aclose(self) -> None:
        """Close those of this event loop; they open again when they are needed."""
        _, keeper = self._kept.pop(asyncio.get_running_loop(), (None, None))
        if keeper is not None:
            await keeper.aclose()

    @asynccontextmanager
    async def opened(
        self, method: str, url: "httpx2.URL", body: Any, asked: Asked
    ) -> "AsyncGenerator[httpx2.Response]":
        """The response to one request, with its body still to be read.

        Raises:
            SourceError: No address of the host may be connected to.
            httpx2.TransportError: The connection failed.
        """
        import httpx2

        host = url.raw_host.decode("ascii")
        client = await self._of_this_loop()
        failure: httpx2.TransportError | None = None
        for address in (await self._addresses(host, asked))[:_MOST_ADDRESSES]:
            request = client.build_request(
                method,
                url.copy_with(host=address),
                json=body,
                headers={"host": url.netloc.decode("ascii")},
                extensions={"sni_hostname": host},
            )
            try:
                response = await client.send(request, stream=True)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                failure = error
                continue
            try:
                yield response
            finally:
                await response.aclose()
            return
        self._known = (0.0, ())  # they may have moved
        raise failure or httpx2.ConnectError("there is no address")

    async def _of_this_loop(self) -> "httpx2.AsyncClient":
        """The client of this event loop.

        Its connections fail once the loop is closed. A suspended generator is closed with its
        loop, and closes them.
        """
        loop = asyncio.get_running_loop()
        if loop not in self._kept:

            async def keep() -> "AsyncGenerator[httpx2.AsyncClient]":
                async with self._client() as client:
                    yield client

            keeper = keep()
            self._kept[loop] = await anext(keeper), keeper
        return self._kept[loop][0]

    def _client(self) -> "httpx2.AsyncClient":
        from http.cookiejar import CookieJar, DefaultCookiePolicy
        from ssl import PROTOCOL_TLS_CLIENT, SSLContext

        import httpx2

        is_encrypted = self._base.startswith("https:")
        return httpx2.AsyncClient(
            headers={**self._headers, "accept-encoding": _ENCODINGS},
            # Loading the trusted certificates takes longer than a request. Without any of them, no
            # encrypted connection can be made.
            transport=httpx2.AsyncHTTPTransport(
                verify=is_encrypted or SSLContext(PROTOCOL_TLS_CLIENT)
            ),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            timeout=httpx2.Timeout(None, connect=self._connect),
            follow_redirects=False,
            trust_env=False,
        )

    async def _addresses(self, host: str, asked: Asked) -> Sequence[str]:
        """The one check: the addresses that may be connected to, one or more."""
        until, known = self._known
        if known and time.monotonic() < until:
            return known
        found = await self._resolved(host, asked)
        private = [address for address in found if not self._network.is_public(address)]
        if self._is_public is None:
            self._is_public = len(private) < len(found)
        if self._is_public:
            found = [address for address in found if address not in private]
            if not found:
                raise asked.failure("forbidden", f"has moved to the private address {private[0]}")
        self._known = (time.monotonic() + self._network.remembered, found)
        return found

    async def _resolved(self, host: str, asked: Asked) -> Sequence[str]:
        try:
            return (str(ip_address(host)),)
        except ValueError:
            pass  # a name
        try:
            found = await self._network.resolve(host)
        except (OSError, UnicodeError):
            found = ()
        if not found:
            raise asked.failure("connection", "cannot be found: the host is unknown")
        return found
