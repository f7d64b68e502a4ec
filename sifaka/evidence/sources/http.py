"""The one HTTP client of all sources: to checked addresses only, with answers of bounded size."""

import asyncio
import json
import random
import socket
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import PackageNotFoundError, version
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from itertools import count
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit, urlunsplit
from weakref import WeakKeyDictionary

import anyio

from sifaka.calls.breakers import Breakers
from sifaka.calls.context import current_calls
from sifaka.errors import ConfigurationError, ModelProviderError, SourceError
from sifaka.evidence.documents import in_a_zone

if TYPE_CHECKING:
    import httpx2

_HINTS = {
    "timeout": "try again later, or give the adapter more seconds",
    "connection": "check the URL of the adapter, and whether its server runs",
    "server": "try again later, or look into the log of its server",
    "rate_limit": "try again later, and search less often",
    "circuit_open": "try again later, or leave this adapter out",
    "authentication": "check the key of the adapter, and what it may read",
    "not_found": "check the path in the URL of the adapter",
    "rejected": "check the URL of the adapter, and whether its server has what the adapter needs",
    "malformed": "check that the URL of the adapter is that of its API",
    "too_large": "ask for less, or leave this adapter out",
    "forbidden": "set the URL of the adapter to where its server really is",
}
_CODES = {
    401: "authentication",
    403: "authentication",
    404: "not_found",
    408: "timeout",
    410: "not_found",
    425: "rate_limit",
    429: "rate_limit",
}
_TEXTS = ("text/", "application/xml")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An adapter and the place it asks."""

    adapter: str
    """The name of the adapter."""
    url: str
    """Without secrets and parameters."""

    def failure(
        self, code: str, what: str, hint: str | None = None, *, retry_after: float | None = None
    ) -> SourceError:
        """An error in one line; the usual advice for its code stands in for a missing hint.

        `what` is the rest of the sentence that begins with the URL.
        """
        line = " ".join(f"{self.adapter}: {self.url} {what}".split())
        return SourceError(
            # Some of these words are the source's own.
            "".join(c for c in line if c.isprintable()),
            hint or _HINTS[code],
            adapter=self.adapter,
            error_code=code,
            retry_after=retry_after,
        )


Check = Callable[[Any, float | None], None]
"""Raises for an error in the data of an answer, given the seconds its source asks to wait."""


async def answer_of(
    response: "httpx2.Response", largest: int, endpoint: Endpoint, check: Check | None
) -> Any:
    """The data of a response, of which nothing has been read yet.

    Raises:
        SourceError: It tells no success, leads elsewhere, is too large, is no JSON, or is refused
            by the check.
        httpx2.TransportError: The connection broke.
    """
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    retry_after = seconds_asked(response.headers.get("retry-after"))
    status = response.status_code
    if response.has_redirect_location:
        target = "something that is no URL"
        with suppress(ValueError):
            target = shown(urlsplit(urljoin(endpoint.url, response.headers["location"])))[:200]
        raise endpoint.failure("forbidden", f"redirects to {target}, where nothing is asked")
    if not response.is_success:
        code = _CODES.get(status) or ("server" if status >= 500 else "rejected")
        message = f"answered with status {status}"
        if code == "rejected" and media_type and "html" not in media_type:
            body = await _read_body(response, largest, endpoint)
            words = " ".join(body[:2000].decode("utf-8", "replace").split())
            message += f": {words[:300]}" if words and words.isprintable() else ""
        raise endpoint.failure(code, message, retry_after=retry_after)
    body = await _read_body(response, largest, endpoint)
    is_text = "json" in media_type or media_type.startswith(_TEXTS) or not media_type
    if "html" in media_type or not is_text:
        kind = "an HTML page" if "html" in media_type else media_type[:60]
        raise endpoint.failure("malformed", f"answered with {kind} instead of JSON")
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        raise endpoint.failure("malformed", "answered with something that is no JSON") from None
    if check is not None:
        check(data, retry_after)
    return data


def seconds_asked(header: str | None) -> float | None:
    """The seconds that a header `Retry-After` asks for; None when it says nothing."""
    text = (header or "").strip()
    if text.isdecimal() and text.isascii():
        return float(text[:9])
    try:
        when = in_a_zone(parsedate_to_datetime(text))
    except ValueError:
        return None
    return max(0.0, (when - datetime.now(UTC)).total_seconds())


def shown(parts: SplitResult) -> str:
    """A URL without user, password, query and fragment."""
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


async def _read_body(response: "httpx2.Response", largest: int, endpoint: Endpoint) -> bytes:
    """The unpacked body, of which no more than `largest` bytes are read."""
    length = response.headers.get("content-length", "")
    body = bytearray()
    if not (length.isdecimal() and int(length[:18]) > largest):
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > largest:
                break
        else:
            return bytes(body)
    raise endpoint.failure("too_large", f"answered with more than {largest:,} bytes")


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
    entries = await anyio.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in entries))


def is_public(address: str) -> bool:
    """True for an address of the public internet, also where an IPv6 address wraps one of IPv4."""
    parsed: IPv4Address | IPv6Address = ip_address(address)
    if isinstance(parsed, IPv6Address):
        wrapped = parsed.ipv4_mapped or parsed.sixtofour or (parsed.teredo or (None, None))[1]
        if any(parsed in network for network in _WRAPPING):
            wrapped = IPv4Address(int(parsed) & 0xFFFF_FFFF)
        if parsed.is_site_local:
            return False
        parsed = wrapped or parsed
    return parsed.is_global and not parsed.is_multicast


@dataclass(frozen=True, slots=True)
class Network:
    """The resolver, and the line between public and private addresses."""

    resolve: Callable[[str], Awaitable[Sequence[str]]] = resolved
    is_public: Callable[[str], bool] = is_public
    remembered: float = 60.0
    """Seconds until the addresses of a host are resolved again."""


_KEPT = "/%:@!$&'()*+,;=~"
"""Characters that stand for themselves in the path of a URL, and those that quote others."""
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrying:
    """Exponential backoff with full jitter, or the wait that the source asks for."""

    attempts: int = 3
    """Requests in all."""
    first: float = 0.5
    """Seconds at most before the second attempt; twice as many before each further one."""
    longest: float = 30.0
    """Seconds a source may ask to wait; one that asks for more is not asked again."""
    uniform: Callable[[float, float], float] = random.uniform
    """A random number between two."""

    def wait(self, failure: SourceError, attempt: int) -> float | None:
        """Seconds until the next attempt; None when there is to be none."""
        if not failure.retryable or attempt >= self.attempts:
            return None
        if failure.retry_after is not None:
            return failure.retry_after if failure.retry_after <= self.longest else None
        return self.uniform(0.0, self.first * 2 ** (attempt - 1))


class HttpClient:
    """Asks one source over HTTP: bounded in time and size, within one place, with retries.

    Requests go to the base and below, with the headers that are given here; no redirect is
    followed. No proxy of the environment is used, since it would resolve names itself, and no
    cookie is kept. Connections stay open, for each event loop its own, and are closed with it if
    not before.

    The host may be anywhere. One that is public at its first look-up stays public, whatever its
    name resolves to later. A request connects to an address that was checked here, never to a
    name, which may stand for another address by then.

    Args:
        base: The URL of an API.
        adapter: The name in errors and of the circuit breaker.
        headers: Further headers, such as a key; those that are empty are not sent.
        seconds: For each request with all its attempts.
        largest: Bytes of an answer at most, unpacked.
        breakers: Leaves a source alone that keeps failing; that of the run when None.
        network: Resolves names, and tells public addresses from private ones.
        retrying: The number of attempts, and the waits between them.

    Raises:
        ConfigurationError: The base is no URL of http or https, has credentials, or a header cannot
            be sent.
    """

    def __init__(
        self,
        base: str,
        *,
        adapter: str,
        headers: Mapping[str, str] = _NO_HEADERS,
        seconds: float = 10.0,
        largest: int = 2_000_000,
        breakers: Breakers | None = None,
        network: Network | None = None,
        retrying: Retrying | None = None,
    ) -> None:
        parts = _check_base(base.strip(), adapter)
        for name, value in headers.items():
            if not f"{name}{value}".isascii() or not f"{name}{value}".isprintable():
                raise ConfigurationError(
                    f"{adapter}: the header {name[:50]!r} cannot be sent",
                    "give keys without line breaks and characters beyond ASCII",
                )
        self.endpoint = Endpoint(adapter, shown(parts))
        """The adapter and the base, without secrets."""
        own = {name.lower(): value for name, value in headers.items() if value}
        self._headers = {"user-agent": product(), **own, "accept-encoding": _ENCODINGS}
        self._seconds = seconds
        self._largest = largest
        self._breakers = breakers
        self._network = network or Network()
        self._retrying = retrying or Retrying()
        self._is_public: bool | None = None
        self._known: tuple[float, Sequence[str]] = (0.0, ())
        self._kept: _Kept = WeakKeyDictionary()

    async def aclose(self) -> None:
        """Close the connections of this event loop; they open again when they are needed."""
        _, keeper = self._kept.pop(asyncio.get_running_loop(), (None, None))
        if keeper is not None:
            await keeper.aclose()

    async def ask(
        self,
        path: str = "",
        params: Mapping[str, Any] | None = None,
        *,
        body: Any = None,
        check: Check | None = None,
    ) -> Any:
        """The data that a path answers with.

        Args:
            path: Under the base; the base itself when empty.
            params: Of the query.
            body: JSON of a search that is posted, which may be sent more than once.
            check: Raises a `SourceError` for an error that comes with status 200; a transient
                one is tried again like any other.

        Raises:
            SourceError: There is no answer of use.
        """
        endpoint = Endpoint(self.endpoint.adapter, _join_path(self.endpoint, path))
        breakers = self._breakers or current_calls().breakers
        circuit = f"adapter:{endpoint.adapter}"
        try:
            breakers.require(circuit)
        except ModelProviderError as error:
            text = f"is left alone for another {error.retry_after or 0:.0f} s, as it keeps failing"
            raise self.endpoint.failure(
                "circuit_open", text, retry_after=error.retry_after
            ) from None
        try:
            with anyio.move_on_after(self._seconds) as scope:
                for attempt in count(1):
                    try:
                        data = await self._send_request(endpoint, params, body, check)
                        breakers.succeeded(circuit)
                        return data
                    except SourceError as failure:
                        wait = self._retrying.wait(failure, attempt)
                        if wait is None or anyio.current_time() + wait >= scope.deadline:
                            raise
                    await anyio.sleep(wait)
            raise endpoint.failure("timeout", f"did not answer within {self._seconds:g} s")
        except SourceError as failure:
            (breakers.failed if failure.retryable else breakers.abandoned)(circuit)
            raise
        except BaseException:
            breakers.abandoned(circuit)
            raise

    async def _send_request(
        self, endpoint: Endpoint, params: Mapping[str, Any] | None, body: Any, check: Check | None
    ) -> Any:
        """The answer to one request."""
        import httpx2

        try:
            url = httpx2.URL(endpoint.url, params=params)
            host = url.raw_host.decode("ascii")
            client = await self._open_client()
            failure: httpx2.TransportError = httpx2.ConnectError("there is no address")
            for address in (await self._check_addresses(host, endpoint))[:_MOST_ADDRESSES]:
                request = client.build_request(
                    "GET" if body is None else "POST",
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
                async with aclosing(response):
                    return await answer_of(response, self._largest, endpoint, check)
            self._known = (0.0, ())  # they may have moved
            raise failure
        except httpx2.InvalidURL:
            raise endpoint.failure("not_found", "cannot be asked: it is no URL") from None
        except httpx2.TimeoutException:
            raise endpoint.failure("timeout", "could not be connected to in time") from None
        except httpx2.ConnectError as error:
            raise endpoint.failure("connection", f"could not be connected to: {error}") from None
        except httpx2.DecodingError:
            raise endpoint.failure("malformed", "answered with a body that is broken") from None
        except httpx2.TransportError as error:
            # The message may quote the request.
            raise endpoint.failure(
                "connection", f"broke off the connection ({type(error).__name__})"
            ) from None

    async def _open_client(self) -> "httpx2.AsyncClient":
        """The client of this event loop, as its connections fail once the loop is closed."""
        loop = asyncio.get_running_loop()
        if loop not in self._kept:
            keeper = self._hold_client()
            self._kept[loop] = await anext(keeper), keeper
        return self._kept[loop][0]

    async def _hold_client(self) -> "AsyncGenerator[httpx2.AsyncClient]":
        """One open client; a suspended generator is closed with its loop, and closes it."""
        from http.cookiejar import CookieJar, DefaultCookiePolicy
        from ssl import PROTOCOL_TLS_CLIENT, SSLContext

        import httpx2

        async with httpx2.AsyncClient(
            headers=self._headers,
            # Loading the trusted certificates takes longer than a request. Without any of them, no
            # encrypted connection can be made.
            transport=httpx2.AsyncHTTPTransport(
                verify=self.endpoint.url.startswith("https:") or SSLContext(PROTOCOL_TLS_CLIENT)
            ),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            timeout=httpx2.Timeout(None, connect=self._seconds / 2),
            follow_redirects=False,
            trust_env=False,
        ) as client:
            yield client

    async def _check_addresses(self, host: str, endpoint: Endpoint) -> Sequence[str]:
        """The one check: the addresses that may be connected to, one or more."""
        until, cached = self._known
        if cached and time.monotonic() < until:
            return cached
        addresses = await self._resolve_host(host, endpoint)
        public = [address for address in addresses if self._network.is_public(address)]
        if self._is_public is None:
            self._is_public = bool(public)
        if self._is_public and not public:
            raise endpoint.failure("forbidden", f"has moved to the private address {addresses[0]}")
        checked = public if self._is_public else addresses
        self._known = (time.monotonic() + self._network.remembered, checked)
        return checked

    async def _resolve_host(self, host: str, endpoint: Endpoint) -> Sequence[str]:
        try:
            addresses = await self._network.resolve(host)
        except (OSError, UnicodeError):
            addresses = ()
        if not addresses:
            raise endpoint.failure("connection", "cannot be found: the host is unknown")
        return addresses


def product() -> str:
    """The name of this program, with its version."""
    try:
        return f"sifaka-mcp/{version('sifaka-mcp')}"
    except PackageNotFoundError:  # run from its sources
        return "sifaka-mcp"


def _check_base(url: str, adapter: str) -> SplitResult:
    """The parts of a base, which has no query."""
    address = "a URL that cannot be read"
    with suppress(ValueError):
        parts = urlsplit(url)
        address = shown(parts)
        has_more = parts.query or parts.fragment or "@" in parts.netloc or " " in url
        is_web = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
        if is_web and not has_more and url.isprintable():
            return parts
    raise ConfigurationError(
        f"{adapter}: {address[:200]!r} cannot be asked",
        "give the URL of an API without a query and credentials, such as "
        "https://en.wikipedia.org/w/api.php",
    )


def _join_path(base: Endpoint, path: str) -> str:
    """The URL of a path under a base; of the base itself when the path is empty."""
    steps = unquote(path).replace("\\", "/").split("/")
    if {".", ".."} & set(steps) or "?" in path or "#" in path or not path.isprintable():
        raise base.failure(
            "forbidden", f"is left by {path[:80]!r}", "give a path below it, without a query"
        )
    if not path:
        return base.url
    return f"{base.url.rstrip('/')}/{quote(path.lstrip('/'), safe=_KEPT)}"
