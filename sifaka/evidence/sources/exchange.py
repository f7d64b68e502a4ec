"""One request and its answer, wherever redirects lead, to checked addresses only."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from typing import Any

import httpx2

from sifaka.evidence.sources.addresses import Reach
from sifaka.evidence.sources.bodies import ENCODINGS, body_of
from sifaka.evidence.sources.failures import Asked
from sifaka.evidence.sources.locations import Location, shown
from sifaka.evidence.sources.retry import seconds_asked

MOST_REDIRECTS = 3
_MOST_ADDRESSES = 4
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CODES = {
    401: "authentication",
    403: "authentication",
    404: "not_found",
    408: "timeout",
    410: "not_found",
    425: "rate_limit",
    429: "rate_limit",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a source answered with success."""

    content: bytes
    media_type: str
    """In lower case, without parameters; empty when the source does not say."""
    charset: str | None
    retry_after: float | None
    """Seconds the source asks to wait, which some say beside an error of theirs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of a source."""

    method: str
    url: str
    params: Mapping[str, Any] | None
    body: Any = None
    """Data for JSON."""


class _CheckedTransport(httpx2.AsyncBaseTransport):
    """Connects to the addresses that a `Reach` gives, and to no name."""

    def __init__(self, reach: Reach, home: str, adapter: str, *, encrypted: bool) -> None:
        self._reach = reach
        self._home = home
        self._adapter = adapter
        # Loading the certificates that are trusted takes longer than a request. Without any of
        # them, no encrypted connection can be made.
        verify = True if encrypted else SSLContext(PROTOCOL_TLS_CLIENT)
        self._inner = httpx2.AsyncHTTPTransport(verify=verify)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        host = request.url.raw_host.decode("ascii")
        asked = Asked(self._adapter, shown(str(request.url)))
        look_for = self._reach.home if host == self._home else self._reach.elsewhere
        failure: httpx2.TransportError | None = None
        for address in (await look_for(host, asked))[:_MOST_ADDRESSES]:
            pinned = httpx2.Request(
                request.method,
                request.url.copy_with(host=address),
                headers=request.headers,
                stream=request.stream,
                extensions={**request.extensions, "sni_hostname": host},
            )
            try:
                return await self._inner.handle_async_request(pinned)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                failure = error
        self._reach.forget()
        raise failure or httpx2.ConnectError("there is no address")

    async def aclose(self) -> None:
        await self._inner.aclose()


class Exchange:
    """Sends the requests of one source, and keeps its connections open.

    No proxy of the environment is used: it would find the addresses by itself, out of our control.
    Nothing is remembered of cookies.

    Args:
        location: The base of all requests.
        headers: What is sent to its origin, and to no other.
        agent: What is said to be asking, everywhere.
        reach: The addresses that may be connected to.
        largest: Bytes of an answer at most.
        connect: Seconds until another address of the host is tried.
    """

    def __init__(
        self,
        location: Location,
        headers: Mapping[str, str],
        agent: str,
        reach: Reach,
        *,
        largest: int,
        connect: float,
    ) -> None:
        self._adapter = location.adapter
        self._headers = {**headers}
        if location.authorization:
            self._headers.setdefault("authorization", location.authorization)
        self._agent = agent
        self._reach = reach
        self._largest = largest
        self._timeout = httpx2.Timeout(None, connect=connect)
        base = _url_of(location.url, Asked(location.adapter, location.url))
        self._home = base.raw_host.decode("ascii")
        self._origin = _origin_of(base)
        self._kept = self._client(encrypted=base.scheme == "https")

    async def aclose(self) -> None:
        """Close the connections."""
        await self._kept.aclose()

    async def send(self, question: Question) -> Answer:
        """The answer to one request.

        Raises:
            SourceError: There is none of use.
        """
        url = _url_of(question.url, Asked(self._adapter, shown(question.url)))
        if question.params:
            url = url.copy_merge_params(question.params)
        for _ in range(MOST_REDIRECTS + 1):
            asked = Asked(self._adapter, shown(str(url)))
            try:
                async with self._opened(question, url) as response:
                    if response.status_code not in _REDIRECTS:
                        return await self._answer(response, asked)
                    url = self._next(question.method, url, response, asked)
            except httpx2.TimeoutException:
                raise asked.failure("timeout", "could not be connected to in time") from None
            except httpx2.ConnectError as error:
                raise asked.failure("connection", f"could not be connected to: {error}") from None
            except httpx2.DecodingError:
                raise asked.failure("malformed", "answered with a body that is broken") from None
            except httpx2.TransportError as error:
                # What they say may quote what was sent.
                why = type(error).__name__
                raise asked.failure("connection", f"broke off the connection ({why})") from None
        told = Asked(self._adapter, shown(question.url))
        raise told.failure("forbidden", f"redirects more than {MOST_REDIRECTS} times")

    @asynccontextmanager
    async def _opened(self, question: Question, url: httpx2.URL) -> AsyncGenerator[httpx2.Response]:
        is_home = _origin_of(url) == self._origin
        # A connection is pooled by its address, so other hosts must not share ours.
        client = self._kept if is_home else self._client(encrypted=url.scheme == "https")
        headers = self._headers if is_home else {}
        try:
            request = client.build_request(
                question.method, url, json=question.body, headers=headers
            )
            response = await client.send(request, stream=True)
            try:
                yield response
            finally:
                await response.aclose()
        finally:
            if client is not self._kept:
                await client.aclose()

    def _next(
        self, method: str, url: httpx2.URL, response: httpx2.Response, asked: Asked
    ) -> httpx2.URL:
        try:
            joined = url.join(response.headers.get("location", ""))
            target = joined.copy_with(userinfo=b"", fragment=None)
        except httpx2.InvalidURL:
            raise asked.failure("malformed", "redirects to something that is no URL") from None
        to = f"redirects to {shown(str(target))[:200]}"
        if target.scheme not in {"http", "https"} or not target.host:
            raise asked.failure("forbidden", f"{to}, which is no place of the web")
        if url.scheme == "https" and target.scheme != "https":
            raise asked.failure("forbidden", f"{to}, which is not encrypted")
        keeps_body = response.status_code in {307, 308} and _origin_of(target) == self._origin
        if method != "GET" and not keeps_body:
            raise asked.failure("forbidden", f"{to} a request that has a body")
        return target

    async def _answer(self, response: httpx2.Response, asked: Asked) -> Answer:
        status = response.status_code
        retry_after = seconds_asked(response.headers.get("retry-after"))
        if not response.is_success:
            code = _CODES.get(status) or ("server" if status >= 500 else "rejected")
            why = await self._reason(response, asked) if code == "rejected" else ""
            told = f"answered with status {status}{why}"
            raise asked.failure(code, told, retry_after=retry_after)
        content = await body_of(response, self._largest, asked)
        told = response.headers.get("content-type", "")
        media_type = told.partition(";")[0].strip().lower()
        return Answer(content, media_type, response.charset_encoding, retry_after)

    async def _reason(self, response: httpx2.Response, asked: Asked) -> str:
        """The beginning of what a source says about a request that it does not take."""
        if "html" in response.headers.get("content-type", "html"):
            return ""
        content = await body_of(response, self._largest, asked)
        words = " ".join(content[:2000].decode("utf-8", "replace").split())
        return f": {words[:300]}" if words and words.isprintable() else ""

    def _client(self, *, encrypted: bool) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            transport=_CheckedTransport(
                self._reach, self._home, self._adapter, encrypted=encrypted
            ),
            headers={"user-agent": self._agent, "accept-encoding": ENCODINGS},
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            timeout=self._timeout,
            follow_redirects=False,
            trust_env=False,
        )


def _origin_of(url: httpx2.URL) -> tuple[str, bytes, int | None]:
    return url.scheme, url.raw_host, url.port  # the port is None where it is the scheme's own


def _url_of(text: str, asked: Asked) -> httpx2.URL:
    try:
        return httpx2.URL(text)
    except httpx2.InvalidURL:
        raise asked.failure("not_found", "cannot be asked: it is no URL") from None
