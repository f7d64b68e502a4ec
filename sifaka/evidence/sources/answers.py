"""Answers of a source: JSON of bounded size, or the error instead."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import SplitResult, urljoin, urlsplit, urlunsplit

from sifaka.errors import SourceError

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
class Asked:
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
        # Some of these words are the source's own.
        shown = "".join(c for c in line if c.isprintable())
        told = hint or _HINTS[code]
        return SourceError(shown, told, adapter=self.adapter, code=code, retry_after=retry_after)


class SourceAnswer(NamedTuple):
    """A successful answer."""

    data: Any
    """The value that its JSON stands for."""
    retry_after: float | None
    """Seconds the source asks to wait, which some say beside an error of theirs."""


async def answer_of(response: "httpx2.Response", largest: int, asked: Asked) -> SourceAnswer:
    """Read a response, of which nothing has been read yet.

    Raises:
        SourceError: It tells no success, leads elsewhere, is too large, or is no JSON.
        httpx2.TransportError: The connection broke.
    """
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    retry_after = seconds_asked(response.headers.get("retry-after"))
    status = response.status_code
    if response.has_redirect_location:
        to = _target(response, asked)
        raise asked.failure("forbidden", f"redirects to {to}, where nothing is asked")
    if not response.is_success:
        code = _CODES.get(status) or ("server" if status >= 500 else "rejected")
        told = f"answered with status {status}"
        if code == "rejected" and media_type and "html" not in media_type:
            body = await _body_of(response, largest, asked)
            words = " ".join(body[:2000].decode("utf-8", "replace").split())
            told += f": {words[:300]}" if words and words.isprintable() else ""
        raise asked.failure(code, told, retry_after=retry_after)
    body = await _body_of(response, largest, asked)
    if "html" in media_type:
        raise asked.failure("malformed", "answered with an HTML page instead of JSON")
    if media_type and "json" not in media_type and not media_type.startswith(_TEXTS):
        raise asked.failure("malformed", f"answered with {media_type[:60]} instead of JSON")
    try:
        return SourceAnswer(json.loads(body), retry_after)
    except (ValueError, RecursionError):
        raise asked.failure("malformed", "answered with something that is no JSON") from None


def seconds_asked(told: str | None) -> float | None:
    """The seconds that a header `Retry-After` asks for; None when it says nothing."""
    text = (told or "").strip()
    if text.isdecimal() and text.isascii():
        return float(text[:9])
    try:
        when = parsedate_to_datetime(text)
    except ValueError:
        return None
    moment = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def shown(parts: SplitResult) -> str:
    """A URL without user, password, query and fragment."""
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _target(response: "httpx2.Response", asked: Asked) -> str:
    try:
        return shown(urlsplit(urljoin(asked.url, response.headers["location"])))[:200]
    except ValueError:
        return "something that is no URL"


async def _body_of(response: "httpx2.Response", largest: int, asked: Asked) -> bytes:
    """The unpacked body, of which no more than `largest` bytes are read."""
    told = response.headers.get("content-length", "")
    body = bytearray()
    if not (told.isdecimal() and int(told[:18]) > largest):
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > largest:
                break
        else:
            return bytes(body)
    raise asked.failure("too_large", f"answered with more than {largest:,} bytes")
