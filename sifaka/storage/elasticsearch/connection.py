"""Requests to one server over one HTTP client, and the errors among its answers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from sifaka.errors import ConfigurationError, StorageError
from sifaka.extras import install
from sifaka.storage.address import StoreUrl
from sifaka.storage.elasticsearch.address import authorization
from sifaka.storage.store import Worker

if TYPE_CHECKING:
    import httpx

Json = dict[str, Any]
"""A JSON object as it is sent and received."""
_BUSY = frozenset({429, 502, 503, 504})
_REASON_CHARS = 200


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one request."""

    status: int
    body: Json
    where: str
    """The server's URL."""

    @property
    def kind(self) -> str:
        """The type of the error, such as `index_not_found_exception`; empty without an error."""
        return str(self._error().get("type") or "")

    @property
    def reason(self) -> str:
        """The server's words about its error, shortened to a line."""
        error = self._error()
        roots = cast("list[Json]", error.get("root_cause") or [])
        # The root says what; around it may be `all shards failed`.
        said = (roots[0].get("reason") if roots else None) or error.get("reason") or ""
        return " ".join(str(said).split())[:_REASON_CHARS]

    def checked(self) -> Json:
        """The body of a request that succeeded."""
        if self.status < 300:
            return self.body
        raise self.failure()

    def failure(self) -> StorageError:
        """The error that this answer is."""
        status, kind, reason = self.status, self.kind, self.reason
        at = f"Elasticsearch at {self.where}"
        if status == 401 or (status == 403 and kind == "security_exception"):
            return StorageError(
                f"{at} refuses the credentials ({status})",
                "check the user and the password, or the api_key, and their rights on the indices",
            )
        if kind == "index_not_found_exception":
            return StorageError(
                f"{at} has lost an index: {reason}",
                "restore it from a snapshot, or open the store again to begin anew",
            )
        if kind == "cluster_block_exception":
            return StorageError(
                f"{at} is blocked for writing: {reason}", "free disk space there", retryable=True
            )
        busy = status in _BUSY
        return StorageError(
            f"{at} answers {status}: {kind or 'error'}: {reason}",
            "try again in a moment" if busy else "look at the server's log and mappings",
            retryable=busy,
        )

    def _error(self) -> Json:
        error = self.body.get("error")
        return cast("Json", error) if isinstance(error, dict) else {"reason": error}


_CONNECT_SECONDS = 2.5
_ANSWER_SECONDS = 30.0
_CONNECTIONS = 32


class HttpConnection(Worker["httpx.Client"]):
    """Sends requests to one server.

    The client is a blocking one and works in threads: its pool belongs to no event loop, so the
    index outlives any, and what a cancelled caller has begun is finished.
    """

    def __init__(self, address: StoreUrl) -> None:
        self.url = f"{address.base}{address.path.rstrip('/')}"
        super().__init__("sifaka.storage.elasticsearch", f"the index {self.url!r}", _CONNECTIONS)
        self._authorization = authorization(address)

    async def send(
        self,
        method: str,
        path: str,
        body: Json | bytes | None = None,
        *,
        seconds: float = _ANSWER_SECONDS,
        **parameters: str | int,
    ) -> Answer:
        """One request; `body` is a JSON object, or newline-delimited JSON as bytes.

        Every request that is made here may be repeated, so it is when a connection that the
        server had closed meanwhile was used.

        Raises:
            ConfigurationError: httpx is not installed.
            StorageError: There was no answer; it may be that the request was carried out.
        """
        return await self.run(lambda c: self._send(c, method, path, body, seconds, parameters))

    def _send(
        self,
        client: httpx.Client,
        method: str,
        path: str,
        body: Json | bytes | None,
        seconds: float,
        parameters: dict[str, str | int],
    ) -> Answer:
        import httpx

        content = body if isinstance(body, bytes) or body is None else encode_json(body)
        kind = "application/x-ndjson" if isinstance(body, bytes) else "application/json"
        timeout = httpx.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))
        ask = partial(
            client.request,
            method,
            self.url + path,
            params=parameters or None,
            content=content,
            headers={"Content-Type": kind} if content is not None else None,
            timeout=timeout,
        )
        try:
            try:
                response = ask()
            except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
                response = ask()  # the server had closed the connection
        except httpx.HTTPError as error:
            said = " ".join(str(error).split())[:120] or type(error).__name__
            raise StorageError(
                f"Elasticsearch at {self.url} cannot be reached: {said}",
                "start it, or check the URL and the network",
                retryable=True,
            ) from error
        return Answer(response.status_code, _object(response.content), self.url)

    def _open(self, known: httpx.Client | None) -> httpx.Client:
        try:
            import httpx
        except ImportError as error:
            raise ConfigurationError(
                "the index in Elasticsearch needs httpx",
                install("elasticsearch"),
            ) from error
        secret = self._authorization
        return known or httpx.Client(
            headers={"Authorization": secret} if secret else None,
            limits=httpx.Limits(max_connections=_CONNECTIONS),
        )

    def _close(self, opened: httpx.Client) -> None:
        opened.close()


def encode_json(body: Json) -> bytes:
    """An object as compact JSON."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _object(content: bytes) -> Json:
    # A proxy in front of the server answers with whatever it likes.
    try:
        body: Any = json.loads(content)
    except ValueError:
        return {}
    return cast("Json", body) if isinstance(body, dict) else {}
