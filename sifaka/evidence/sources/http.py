"""The one HTTP client of all sources."""

import math
import random
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import Any
from urllib.parse import SplitResult, quote, unquote, urlsplit

import anyio

from sifaka.calls.breakers import Breakers
from sifaka.calls.context import current_calls
from sifaka.errors import ConfigurationError, ModelProviderError, SourceError
from sifaka.evidence.sources.answers import Asked, SourceAnswer, answer_of, shown
from sifaka.evidence.sources.network import Network, SourceConnections

_KEPT = "/%:@!$&'()*+,;=~"
"""Characters that stand for themselves in the path of a URL, and those that quote others."""
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
Check = Callable[[Any, float | None], None]
"""Raises for an error in the data of an answer, given the seconds its source asks to wait."""


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

    Args:
        base: The URL of an API; `user:password@` in it becomes a header.
        adapter: The name in errors and of the circuit breaker.
        headers: Further headers, such as a key.
        seconds: For each request with all its attempts.
        largest: Bytes of an answer at most, unpacked.
        breakers: Leaves a source alone that keeps failing; that of the run when None.
        network: Resolves names, and tells public addresses from private ones.
        retrying: The number of attempts, and the waits between them.

    Raises:
        ConfigurationError: The base is no URL of http or https, or a header cannot be sent.
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
        parts = _parts_of(base.strip(), adapter)
        for name, value in headers.items():
            if not f"{name}{value}".isascii() or not f"{name}{value}".isprintable():
                raise ConfigurationError(
                    f"{adapter}: the header {name[:50]!r} cannot be sent",
                    "give keys without line breaks and characters beyond ASCII",
                )
        if not (math.isfinite(seconds) and seconds > 0):
            raise ConfigurationError(
                f"{adapter}: {seconds} seconds are no time to answer in", "give more than 0"
            )
        self.asked = Asked(adapter, shown(parts))
        """The adapter and the base."""
        own = {name.lower(): value for name, value in headers.items()}
        own.setdefault("user-agent", product())
        if "@" in parts.netloc:
            login = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
            words = b64encode(login.encode("utf-8", "surrogatepass")).decode()
            own.setdefault("authorization", f"Basic {words}")
        self._seconds = seconds
        self._largest = largest
        self._breakers = breakers
        self._retrying = retrying or Retrying()
        self._connections = SourceConnections(
            self.asked.url, own, network or Network(), connect=seconds / 2
        )

    @property
    def place(self) -> str:
        """The base, for people, without secrets."""
        return self.asked.url

    async def get(
        self,
        path: str = "",
        params: Mapping[str, Any] | None = None,
        *,
        check: Check | None = None,
    ) -> Any:
        """The data that a path answers with.

        Args:
            path: Under the base; the base itself when empty.
            params: Of the query.
            check: Raises a `SourceError` for an error that is told with status 200; a transient
                one is tried again like any other.

        Raises:
            SourceError: There is no answer of use.
        """
        return await self._ask("GET", path, params=params, check=check)

    async def post(self, path: str, body: Any) -> Any:
        """As `get`, of a search with a body of JSON, which may be sent more than once."""
        return await self._ask("POST", path, body=body)

    async def aclose(self) -> None:
        """Close the connections of this event loop; they open again when they are needed."""
        await self._connections.aclose()

    async def _ask(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Any = None,
        check: Check | None = None,
    ) -> Any:
        url = _below(self.asked, path)
        breakers = self._breakers or current_calls().breakers
        circuit = f"adapter:{self.asked.adapter}"
        try:
            breakers.require(circuit)
        except ModelProviderError as error:
            told = f"is left alone for another {error.retry_after or 0:.0f} s, as it keeps failing"
            raise self.asked.failure("circuit_open", told, retry_after=error.retry_after) from None
        try:
            with anyio.fail_after(self._seconds) as scope:
                attempt = 1
                while True:
                    try:
                        answer = await self._answer(method, url, params, body)
                        if check is not None:
                            check(answer.data, answer.retry_after)
                        break
                    except SourceError as failure:
                        wait = self._retrying.wait(failure, attempt)
                        if wait is None or anyio.current_time() + wait >= scope.deadline:
                            raise
                    await anyio.sleep(wait)
                    attempt += 1
        except TimeoutError:
            breakers.failed(circuit)
            told = f"did not answer within {self._seconds:g} s"
            raise Asked(self.asked.adapter, url).failure("timeout", told) from None
        except SourceError as failure:
            (breakers.failed if failure.retryable else breakers.abandoned)(circuit)
            raise
        except BaseException:
            breakers.abandoned(circuit)
            raise
        breakers.succeeded(circuit)
        return answer.data

    async def _answer(
        self, method: str, place: str, params: Mapping[str, Any] | None, body: Any
    ) -> SourceAnswer:
        """The answer to one request."""
        import httpx2

        asked = Asked(self.asked.adapter, place)
        try:
            url = httpx2.URL(place, params=params)
            async with self._connections.opened(method, url, body, asked) as response:
                return await answer_of(response, self._largest, asked)
        except httpx2.InvalidURL:
            raise asked.failure("not_found", "cannot be asked: it is no URL") from None
        except httpx2.TimeoutException:
            raise asked.failure("timeout", "could not be connected to in time") from None
        except httpx2.ConnectError as error:
            raise asked.failure("connection", f"could not be connected to: {error}") from None
        except httpx2.DecodingError:
            raise asked.failure("malformed", "answered with a body that is broken") from None
        except httpx2.TransportError as error:
            # The message may quote the request.
            why = type(error).__name__
            raise asked.failure("connection", f"broke off the connection ({why})") from None


def product() -> str:
    """The name of this program, with its version."""
    try:
        return f"sifaka-mcp/{version('sifaka-mcp')}"
    except PackageNotFoundError:  # run from its sources
        return "sifaka-mcp"


def _parts_of(url: str, adapter: str) -> SplitResult:
    """The parts of a base, which has no query."""
    known = "a URL that cannot be read"
    try:
        parts = urlsplit(url)
        known = shown(parts)
        has_more = parts.query or parts.fragment or not url.isprintable() or " " in url
        is_web = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
        if is_web and not has_more:
            return parts
    except ValueError:
        pass
    raise ConfigurationError(
        f"{adapter}: {known[:200]!r} cannot be asked",
        "give the URL of an API without a query, such as https://en.wikipedia.org/w/api.php",
    )


def _below(base: Asked, path: str) -> str:
    """The URL of a path under a base; of the base itself when the path is empty."""
    steps = unquote(path).replace("\\", "/").split("/")
    if {".", ".."} & set(steps) or "?" in path or "#" in path or not path.isprintable():
        hint = "give a path below it, without a query"
        raise base.failure("forbidden", f"is left by {path[:80]!r}", hint)
    if not path:
        return base.url
    return f"{base.url.rstrip('/')}/{quote(path.lstrip('/'), safe=_KEPT)}"
