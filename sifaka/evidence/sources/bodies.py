"""The bodies of answers: of the wanted kind, and of bounded size."""

import json
from typing import TYPE_CHECKING, Any

from sifaka.evidence.sources.failures import Asked

if TYPE_CHECKING:
    import httpx2

ENCODINGS = "gzip, deflate"
"""Both are unpacked piece by piece, so that a small body cannot become a huge one at once."""
_SLOW = frozenset({"punycode", "idna"})
"""No encodings of texts; the time they take grows with the square of the length."""
_TEXTS = ("text/", "application/xhtml", "application/xml", "application/json")


async def body_of(response: "httpx2.Response", largest: int, asked: Asked) -> bytes:
    """The unpacked body; no more than `largest` bytes of it are read.

    Raises:
        SourceError: There is more.
        httpx2.TransportError: The connection broke.
    """
    told = response.headers.get("content-length", "")
    if told.isdecimal() and int(told[:18]) > largest:
        raise _too_large(asked, largest)
    pieces: list[bytes] = []
    read = 0
    async for piece in response.aiter_bytes():
        read += len(piece)
        if read > largest:
            raise _too_large(asked, largest)
        pieces.append(piece)
    return b"".join(pieces)


def json_of(content: bytes, media_type: str, asked: Asked) -> Any:
    """What a body of JSON says.

    Raises:
        SourceError: It is none.
    """
    if "html" in media_type:
        raise asked.failure("malformed", "answered with an HTML page instead of JSON")
    if media_type and "json" not in media_type and not media_type.startswith(_TEXTS):
        raise asked.failure("malformed", f"answered with {media_type[:60]} instead of JSON")
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise asked.failure("malformed", "answered with something that is no JSON") from None


def text_of(content: bytes, media_type: str, charset: str | None, asked: Asked) -> str:
    """What a body of text says; what cannot be decoded is replaced.

    Raises:
        SourceError: It is binary.
    """
    is_text = not media_type or media_type.startswith(_TEXTS) or media_type.endswith("+xml")
    if not is_text or b"\0" in content[:4096]:
        kind = media_type[:60] if not is_text else "binary data"
        raise asked.failure("malformed", f"answered with {kind} instead of text")
    try:
        known = "utf-8" if charset is None or charset.lower() in _SLOW else charset
        return content.decode(known, "replace")
    except (LookupError, UnicodeError):  # a charset that nobody knows, or that is no encoding
        return content.decode("utf-8", "replace")


def _too_large(asked: Asked, largest: int) -> Exception:
    return asked.failure("too_large", f"answered with more than {largest:,} bytes")
