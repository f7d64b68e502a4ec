"""The answers of Elasticsearch, and the errors among them."""

from dataclasses import dataclass
from typing import Any, cast

from sifaka.errors import StorageError

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
    def ok(self) -> bool:
        """True when the server did what it was asked to."""
        return self.status < 300

    @property
    def kind(self) -> str:
        """The type of the error, such as `index_not_found_exception`; empty without an error."""
        return _text(self._error().get("type"))

    @property
    def reason(self) -> str:
        """The server's words about its error, shortened to a line."""
        error = self._error()
        roots = cast("list[Json]", error.get("root_cause") or [])
        # The root says what; around it may be `all shards failed`.
        said = _text(roots[0].get("reason") if roots else None) or _text(error.get("reason"))
        return " ".join(said.split())[:_REASON_CHARS]

    def checked(self) -> Json:
        """The body of a request that succeeded."""
        if self.ok:
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


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
