"""Which addresses of the network a source may be reached at."""

import socket
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import anyio

from sifaka.evidence.sources.failures import Asked

_WRAPPING = tuple(map(IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/96", "::ffff:0:0:0/96", "::/96")))
"""Networks whose addresses end with one of IPv4: of translators, and one of old."""


async def resolved(host: str) -> Sequence[str]:
    """The addresses of a host, as the machine finds them.

    Raises:
        OSError: There are none.
    """
    found = await anyio.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


def is_public(address: str) -> bool:
    """Whether an address is one of the public internet, also where another is wrapped in it."""
    found: IPv4Address | IPv6Address = ip_address(address)
    if isinstance(found, IPv6Address):
        wrapped = found.ipv4_mapped or found.sixtofour or (found.teredo or (None, None))[1]
        if any(found in network for network in _WRAPPING):
            wrapped = IPv4Address(int(found) & 0xFFFF_FFFF)
        if found.is_site_local:
            return False
        if wrapped is not None:
            found = wrapped
    return found.is_global and not found.is_multicast


@dataclass(frozen=True, slots=True)
class Network:
    """How addresses are found and told apart."""

    resolve: Callable[[str], Awaitable[Sequence[str]]] = resolved
    is_public: Callable[[str], bool] = is_public
    remembered: float = 60.0
    """Seconds for which the addresses of a host are not looked for again."""


class Reach:
    """The addresses that the requests of one source may go to.

    Its home, the host that was configured, may be anywhere. If it is public when it is first looked
    for, it has to stay so, whatever its name stands for later. Redirects may go to other hosts of
    the public internet; those of a private home to nowhere else. Requests are sent to the addresses
    that come back here, never to a name, which might stand for another address by then.

    Args:
        network: How addresses are found.
    """

    def __init__(self, network: Network) -> None:
        self._network = network
        self._is_public: bool | None = None
        self._found: tuple[float, Sequence[str]] = (0.0, ())

    async def home(self, host: str, asked: Asked) -> Sequence[str]:
        """Where the configured host may be reached, one or more addresses.

        Raises:
            SourceError: It has none, or was public and has private ones only.
        """
        until, known = self._found
        if known and time.monotonic() < until:
            return known
        found = await self._look_for(host, asked)
        public = tuple(address for address in found if self._network.is_public(address))
        if self._is_public is None:
            self._is_public = bool(public)
        if self._is_public:
            if not public:
                raise asked.failure("forbidden", f"has moved to the private address {found[0]}")
            found = public
        self._found = (time.monotonic() + self._network.remembered, found)
        return found

    async def elsewhere(self, host: str, asked: Asked) -> Sequence[str]:
        """Where another host may be reached that a redirect leads to.

        Raises:
            SourceError: It has no address, or one that is private; or home is private.
        """
        if not self._is_public:
            raise asked.failure("forbidden", "is another host than the one that redirects to it")
        found = await self._look_for(host, asked)
        for address in found:
            if not self._network.is_public(address):
                told = f"was redirected to, and is at the private address {address}"
                raise asked.failure("forbidden", told)
        return found

    def forget(self) -> None:
        """Look for the addresses of home again before the next request."""
        self._found = (0.0, ())

    async def _look_for(self, host: str, asked: Asked) -> Sequence[str]:
        try:
            return (str(ip_address(host)),)
        except ValueError:
            pass  # a name
        try:
            found = await self._network.resolve(host)
        except (OSError, UnicodeError):
            found = ()
        if not found:
            raise asked.failure("connection", "cannot be found: nobody knows this host")
        return found
