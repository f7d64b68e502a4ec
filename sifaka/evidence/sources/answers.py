"""Answers of a source: decoded, of the wanted kind and of bounded size; or the error instead."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Self

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
_SLOW = frozenset({"punycode", "idna"})
"""No encodings of texts; the time they take grows with the square of the length."""
_TEXTS = ("text/", "application/xhtml", "application/xml", "application/json")


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
        """An error in one line, with the usual advice for its code unless there is a better one.

        Args:
            code: One of those of `SourceError`.
            what: The rest of the sentence that begins with the URL.
            hint: The advice.
            retry_after: Seconds the source asked to wait.
        """
        line = " ".join(f"{self.adapter}: {self.url} {what}".split())
        # Some of these words are the source's own.
        shown = "".join(c for c in line if c.isprintable())
        told = hint or _HINTS[code]
        return SourceError(shown, told, adapter=self.adapter, code=code, retry_after=retry_after)


@dataclass(frozen=True, slots=True)
class SourceAnswer:
    """A successful answer."""

    asked: Asked
    content: bytes
    media_type: str
    """In lower case, without parameters; empty when the source does not say."""
    charset: str | None
    retry_after: float | None
    """Seconds the source asks to wait, which some say beside an error of theirs."""

    @classmethod
    async def of(cls, response: "httpx2.Response", largest: int, asked: Asked) -> Self:
        """Read a response.

        Args:
            response: Open, and not read yet.
            largest: Bytes of the unpacked body at most.
            asked: Names the source in errors.

        Raises:
            SourceError: It tells no success, or is too large.
            httpx2.TransportError: The connection broke.
        """
        media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        retry_after = seconds_asked(response.headers.get("retry-after"))
        status = response.status_code
        if not response.is_success:
            code = _CODES.get(status) or ("server" if status >= 500 else "rejected")
            told = f"answered with status {status}"
            if code == "rejected" and media_type and "html" not in media_type:
                body = await _body_of(response, largest, asked)
                words = " ".join(body[:2000].decode("utf-8", "replace").split())
                told += f": {words[:300]}" if words and words.isprintable() else ""
            raise asked.failure(code, told, retry_after=retry_after)
        content = await _body_of(response, largest, asked)
        return cls(asked, content, media_type, response.charset_encoding, retry_after)

    def json(self) -> Any:
        """The data of a body of JSON.

        Raises:
            SourceError: It is none.
        """
        if "html" in self.media_type:
            raise self._malformed("an HTML page instead of JSON")
        is_text = not self.media_type or self.media_type.startswith(_TEXTS)
        if not is_text and "json" not in self.media_type:
            raise self._malformed(f"{self.media_type[:60]} instead of JSON")
        try:
            return json.loads(self.content)
        except (ValueError, RecursionError):
            raise self._malformed("something that is no JSON") from None

    def text(self) -> str:
        """The text of a body; bytes that cannot be decoded are replaced.

        Raises:
            SourceError: It is binary.
        """
        kind = self.media_type
        if kind and not kind.startswith(_TEXTS) and not kind.endswith("+xml"):
            raise self._malformed(f"{kind[:60]} instead of text")
        if b"\0" in self.content[:4096]:
            raise self._malformed("binary data instead of text")
        charset = self.charset or "utf-8"
        try:
            return self.content.decode("utf-8" if charset.lower() in _SLOW else charset, "replace")
        except (LookupError, UnicodeError):  # an unknown charset, or one that is no encoding
            return self.content.decode("utf-8", "replace")

    def _malformed(self, what: str) -> SourceError:
        return self.asked.failure("malformed", f"answered with {what}")


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
