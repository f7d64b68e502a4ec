"""Requests to one server over one HTTP client, the errors among its answers, and its documents.

https://www.elastic.co/docs/api/doc/elasticsearch/group/endpoint-document
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from sifaka.errors import ConfigurationError, StorageError
from sifaka.extras import install
from sifaka.storage.address import StoreUrl
from sifaka.storage.entry_json import batches
from sifaka.storage.store import Worker

if TYPE_CHECKING:
    import httpx


def authorization(address: StoreUrl) -> str | None:
    """The value of the HTTP header of that name; None without credentials.

    Raises:
        ConfigurationError: There are a user and an `api_key`.
    """
    key = address.options.get("api_key")
    pair = f"{address.user}:{address.password}"
    if key is None:
        return None if pair == ":" else f"Basic {base64.b64encode(pair.encode()).decode()}"
    if pair != ":":
        raise ConfigurationError(
            "the Elasticsearch URL has a user and an api_key", "leave one of them out"
        )
    return f"ApiKey {key}"


Json = dict[str, Any]
"""A JSON object as it is sent and received."""
_BUSY = frozenset({429, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Response:
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
        message = (roots[0].get("reason") if roots else None) or error.get("reason") or ""
        return " ".join(str(message).split())[:200]

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


_CONNECTIONS = 32
_KEPT: Json = {"type": "object", "enabled": False}
"""Returned as it is and never indexed, whatever its size."""
_WORD: Json = {"type": "keyword", "ignore_above": 8191}
"""The longest that fits into a term of 32,766 bytes whatever its characters."""
_NUMBER: Json = {"type": "long"}
"""Moments too, in microseconds: a `date` keeps milliseconds, a `date_nanos` nothing before 1970."""
_VERSIONS: Json = {
    "tenant": _WORD,
    "run_id": _WORD,
    "key": {"type": "keyword"},
    "number": _NUMBER,
    "thought_id": _WORD,
    "created_at": _NUMBER,
    "expires_at": _NUMBER,
    "passed": {"type": "boolean"},
    "tags": {"type": "keyword"},
    "text": _KEPT,
    "prompt": _KEPT,
    "drafted": _KEPT,
    # Terms that are made here, with a space between: the server cuts there and changes nothing.
    "text_terms": {"type": "text", "analyzer": "whitespace"},
    "prompt_terms": {"type": "text", "analyzer": "whitespace"},
}


def index_of(alias: str) -> str:
    """The name of the index that is made for an alias."""
    return f"{alias}-1"


class ElasticsearchConnection(Worker["httpx.Client"]):
    """Sends requests to one server; reads and writes the documents of an index there.

    The client is a blocking one and works in threads: its pool belongs to no event loop, so the
    index outlives any, and what a cancelled caller has begun is finished.

    Reads by id see every write at once, searches after a refresh. Documents are created through the
    alias only: a server would otherwise make an index that was lost anew, and guess its layout.
    """

    def __init__(self, address: StoreUrl) -> None:
        self.url = f"{address.base}{address.path.rstrip('/')}"
        super().__init__(f"the index {self.url!r}", _CONNECTIONS)
        self._authorization = authorization(address)
        self.alias = f"{address.prefix}-versions"
        """The alias of the index, with a document a version."""
        self._has_index = False
        """True once the index is known to be there."""
        self._deleted = False
        """True while deleted versions may be in the server's files."""

    async def send(
        self,
        method: str,
        path: str,
        body: Json | bytes | None = None,
        *,
        seconds: float = 30.0,
        **parameters: str | int,
    ) -> Response:
        """One request; `body` is a JSON object, or newline-delimited JSON as bytes.

        Every request that is made here may be repeated, so it is when a connection that the
        server had closed meanwhile was used.

        Raises:
            ConfigurationError: httpx is not installed.
            StorageError: There was no answer; it may be that the request was carried out.
        """
        return await self.run(lambda c: self._send(c, method, path, body, seconds, parameters))

    async def ensure_index(self) -> None:
        """Create the index unless it is there."""
        if self._has_index:
            return
        # Several tasks may come here at once: creating what is there changes nothing. A field that
        # a newer release writes is refused instead of guessed at.
        body: Json = {
            "mappings": {"dynamic": "strict", "properties": _VERSIONS},
            "aliases": {self.alias: {}},
        }
        answer = await self.send("PUT", f"/{index_of(self.alias)}", body)
        if answer.kind != "resource_already_exists_exception":
            answer.checked()
        self._has_index = True

    async def update(
        self, changes: Mapping[str, Json], *, tolerated: frozenset[int] = frozenset()
    ) -> None:
        """Carry out updates of documents, by id, in order, not all or none.

        Raises:
            StorageError: One failed with a status that is not `tolerated`, after all were tried.
        """
        head: Json = {"_index": self.alias, "retry_on_conflict": 3}
        lines = (
            encode_json({"update": {**head, "_id": doc_id}}) + b"\n" + encode_json(change) + b"\n"
            for doc_id, change in changes.items()
        )
        # Well below the 100 MB that a server takes by default.
        for batch in batches(((line, len(line)) for line in lines), size=8_000_000, count=10_000):
            answer = await self.send("POST", "/_bulk", b"".join(batch), require_alias="true")
            for item in cast("list[dict[str, Json]]", answer.checked()["items"]):
                (result,) = item.values()
                if result["status"] >= 300 and result["status"] not in tolerated:
                    raise Response(result["status"], result, answer.where).failure()

    async def refresh(self) -> None:
        """Make every write so far visible to searches.

        Done before a search instead of after each write: there are fewer of them, nothing is done
        where nothing was written, and every search sees every write.
        """
        (await self.send("POST", f"/{self.alias}/_refresh")).checked()

    async def search(self, body: Json) -> Json:
        """The `hits` object of a search."""
        answer = await self.send("POST", f"/{self.alias}/_search", body)
        return cast("Json", answer.checked()["hits"])

    async def delete_matching(self, query: Json) -> None:
        """Remove every version that a query matches."""
        await self.refresh()
        path = f"/{self.alias}/_delete_by_query"
        answer = await self.send("POST", path, {"query": query}, conflicts="proceed")
        self._deleted |= bool(answer.checked().get("deleted"))

    async def expunge(self) -> None:
        """Rewrite the segments of which much was deleted: until then the server holds it.

        https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-indices-forcemerge
        """
        if self._deleted:
            path = f"/{self.alias}/_forcemerge"
            (await self.send("POST", path, only_expunge_deletes="true")).checked()
            self._deleted = False

    def _send(
        self,
        client: httpx.Client,
        method: str,
        path: str,
        body: Json | bytes | None,
        seconds: float,
        parameters: dict[str, str | int],
    ) -> Response:
        import httpx

        content = body if isinstance(body, bytes) or body is None else encode_json(body)
        kind = "application/x-ndjson" if isinstance(body, bytes) else "application/json"
        request = partial(
            client.request,
            method,
            self.url + path,
            params=parameters or None,
            content=content,
            headers={"Content-Type": kind} if content is not None else None,
            timeout=httpx.Timeout(seconds, connect=min(seconds, 2.5)),
        )
        try:
            try:
                response = request()
            except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
                response = request()  # the server had closed the connection
        except httpx.HTTPError as error:
            message = " ".join(str(error).split())[:120] or type(error).__name__
            raise StorageError(
                f"Elasticsearch at {self.url} cannot be reached: {message}",
                "start it, or check the URL and the network",
                retryable=True,
            ) from error
        return Response(response.status_code, _parse_object(response.content), self.url)

    def _open(self, current: httpx.Client | None) -> httpx.Client:
        try:
            import httpx
        except ImportError as error:
            raise ConfigurationError(
                "the index in Elasticsearch needs httpx",
                install("elasticsearch"),
            ) from error
        return current or httpx.Client(
            headers={"Authorization": self._authorization} if self._authorization else None,
            limits=httpx.Limits(max_connections=_CONNECTIONS),
        )

    def _close(self, opened: httpx.Client) -> None:
        opened.close()


def encode_json(body: Json) -> bytes:
    """An object as compact JSON."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _parse_object(content: bytes) -> Json:
    # A proxy in front of the server answers with whatever it likes.
    try:
        body: Any = json.loads(content)
    except ValueError:
        return {}
    return cast("Json", body) if isinstance(body, dict) else {}
