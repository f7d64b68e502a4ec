"""One HTTP client for all tasks and event loops."""

import json
import threading
from typing import TYPE_CHECKING, Any, cast

from anyio import to_thread

from sifaka.errors import ConfigurationError, StorageError
from sifaka.storage.elasticsearch.address import Address
from sifaka.storage.elasticsearch.answers import Answer, Json

if TYPE_CHECKING:
    import httpx

_CONNECT_SECONDS = 2.5
_ANSWER_SECONDS = 30.0
_CONNECTIONS = 32


class HttpConnection:
    """Sends requests to one server.

    The client is a blocking one and works in threads: its pool belongs to no event loop, so the
    index outlives any, and what a cancelled caller has begun is finished.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None

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
        return await to_thread.run_sync(lambda: self._send(method, path, body, seconds, parameters))

    async def aclose(self) -> None:
        """Close every connection."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            await to_thread.run_sync(client.close)

    def _send(
        self,
        method: str,
        path: str,
        body: Json | bytes | None,
        seconds: float,
        parameters: dict[str, str | int],
    ) -> Answer:
        client = self._opened()
        import httpx

        content = body if isinstance(body, bytes) or body is None else encode_json(body)
        kind = "application/x-ndjson" if isinstance(body, bytes) else "application/json"
        timeout = httpx.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))
        for repeatable in (True, False):
            try:
                response = client.request(
                    method,
                    self.address.url + path,
                    params=parameters or None,
                    content=content,
                    headers={"Content-Type": kind} if content is not None else None,
                    timeout=timeout,
                )
                return Answer(response.status_code, _object(response.content), self.address.url)
            except httpx.HTTPError as error:
                broken = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)
                if not (repeatable and isinstance(error, broken)):
                    raise self._unreachable(error) from error
        raise AssertionError("a second attempt returns or raises")

    def _opened(self) -> "httpx.Client":
        try:
            import httpx
        except ImportError as error:
            raise ConfigurationError(
                "the index in Elasticsearch needs httpx",
                "pip install 'sifaka-mcp[elasticsearch]'",
            ) from error
        with self._lock:
            if self._client is None:
                secret = self.address.authorization
                self._client = httpx.Client(
                    headers={"Authorization": secret} if secret else None,
                    limits=httpx.Limits(max_connections=_CONNECTIONS),
                )
            return self._client

    def _unreachable(self, error: Exception) -> StorageError:
        return StorageError(
            f"Elasticsearch at {self.address.url} cannot be reached: "
            f"{' '.join(str(error).split())[:120] or type(error).__name__}",
            "start it, or check the URL and the network",
            retryable=True,
        )


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
