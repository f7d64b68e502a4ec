"""The one HTTP client of all sources."""

import math
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from sifaka.calls.breakers import Breakers
from sifaka.calls.context import current_calls
from sifaka.errors import ConfigurationError, ModelProviderError, SourceError
from sifaka.evidence.sources.addresses import Network, Reach
from sifaka.evidence.sources.bodies import json_of, text_of
from sifaka.evidence.sources.failures import Asked
from sifaka.evidence.sources.locations import Location
from sifaka.evidence.sources.loops import PerLoop
from sifaka.evidence.sources.retry import Retrying

if TYPE_CHECKING:
    from sifaka.evidence.sources.exchange import Answer, Exchange

T = TypeVar("T")

Check = Callable[[Any, float | None], None]
"""Looks at an answer, and at the seconds that its source asks to wait, for an error told in it."""
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class HttpClient:
    """Asks one source over HTTP: bounded in time and size, within one place, with retries.

    Requests go to the base and below. Redirects are followed three times at most, to the public
    internet only, or on a base that is private to its own host; never from https to http. The
    headers that are given here go to the origin of the base and nowhere else. No proxy of the
    environment is used, and no cookie is kept. Connections stay open, for each event loop its own,
    and are closed with it if not before.

    Args:
        base: The URL of an API; `user:password@` in it becomes a header.
        adapter: The name that errors and the circuit breaker have.
        headers: Further headers, such as a key.
        seconds: For each request with all its attempts.
        largest: Bytes of an answer at most, unpacked.
        breakers: What leaves a source alone that keeps failing; those of the run when None.
        network: How addresses are found and told apart.
        retrying: How often transient failures are tried again.

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
        self._location = Location.of(base, adapter)
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
        self._adapter = adapter
        self._headers = {name.lower(): value for name, value in headers.items()}
        self._agent = self._headers.pop("user-agent", "") or product()
        self._seconds = seconds
        self._largest = largest
        self._breakers = breakers
        self._retrying = retrying or Retrying()
        self._reach = Reach(network or Network())
        self._exchanges = PerLoop(self._exchange)

    @property
    def place(self) -> str:
        """The base, for people, without secrets."""
        return self._location.url

    async def get_json(
        self, path: str = "", params: Mapping[str, Any] | None = None, *, check: Check | None = None
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
        return await self._ask(("GET", path, params, None), _json_reader(check))

    async def post_json(
        self,
        path: str,
        body: Any,
        params: Mapping[str, Any] | None = None,
        *,
        check: Check | None = None,
    ) -> Any:
        """The data that a search with a body answers with; it may be sent more than once.

        Args:
            path: Under the base; the base itself when empty.
            body: Data for JSON.
            params: Of the query.
            check: As for `get_json`.

        Raises:
            SourceError: There is no answer of use.
        """
        return await self._ask(("POST", path, params, body), _json_reader(check))

    async def get_text(self, path: str = "", params: Mapping[str, Any] | None = None) -> str:
        """The text, or the HTML, that a path answers with.

        Raises:
            SourceError: There is no answer of use.
        """
        return await self._ask(
            ("GET", path, params, None),
            lambda answer, asked: text_of(answer.content, answer.media_type, answer.charset, asked),
        )

    async def aclose(self) -> None:
        """Close the connections of this event loop; they open again when they are needed."""
        await self._exchanges.aclose()

    async def _ask(
        self,
        request: tuple[str, str, Mapping[str, Any] | None, Any],
        read: "Callable[[Answer, Asked], T]",
    ) -> T:
        method, path, params, body = request
        asked = Asked(self._adapter, self._location.below(path))
        breakers = self._breakers or current_calls().breakers
        circuit = f"adapter:{self._adapter}"
        try:
            breakers.require(circuit)
        except ModelProviderError as error:
            told = f"is left alone for another {error.retry_after or 0:.0f} s, as it keeps failing"
            raise asked.failure("circuit_open", told, retry_after=error.retry_after) from None
        try:
            with anyio.fail_after(self._seconds) as scope:
                found = await self._tried(scope, asked, method, params, body, read)
        except TimeoutError:
            breakers.failed(circuit)
            told = f"did not answer within {self._seconds:g} s"
            raise asked.failure("timeout", told) from None
        except SourceError as failure:
            (breakers.failed if failure.retryable else breakers.abandoned)(circuit)
            raise
        except BaseException:
            breakers.abandoned(circuit)
            raise
        breakers.succeeded(circuit)
        return found

    async def _tried(
        self,
        scope: anyio.CancelScope,
        asked: Asked,
        method: str,
        params: Mapping[str, Any] | None,
        body: Any,
        read: "Callable[[Answer, Asked], T]",
    ) -> T:
        from sifaka.evidence.sources.exchange import Question

        question = Question(method=method, url=asked.url, params=params, body=body)
        attempt = 1
        while True:
            exchange = await self._exchanges.get()
            try:
                return read(await exchange.send(question), asked)
            except SourceError as failure:
                wait = self._retrying.wait(failure, attempt)
                if wait is None or anyio.current_time() + wait >= scope.deadline:
                    raise
            await anyio.sleep(wait)
            attempt += 1

    def _exchange(self) -> "Exchange":
        from sifaka.evidence.sources.exchange import Exchange

        return Exchange(
            self._location,
            self._headers,
            self._agent,
            self._reach,
            largest=self._largest,
            connect=self._seconds / 2,
        )


def product() -> str:
    """What this program calls itself, with its version."""
    try:
        return f"sifaka-mcp/{version('sifaka-mcp')}"
    except PackageNotFoundError:  # run from its sources
        return "sifaka-mcp"


def _json_reader(check: Check | None) -> "Callable[[Answer, Asked], Any]":
    def read(answer: "Answer", asked: Asked) -> Any:
        found = json_of(answer.content, answer.media_type, asked)
        if check is not None:
            check(found, answer.retry_after)
        return found

    return read
