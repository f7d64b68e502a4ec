"""What an adapter answered, brought into the form that everything else relies on."""

import re

from sifaka.evidence.documents import SourceDocument

MOST_CHARS = 100_000
"""Characters of a document's text that are kept."""
_MOST_TITLE = 500
_MOST_NAME = 2_000
"""Characters of a URL or an identifier."""
# Control characters but tabs and line ends, halves of characters, and what cannot be seen and only
# breaks words apart: soft hyphens, zero-width spaces, byte-order marks.
_UNWANTED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b\u2060\ufeff\ufffe\uffff\ud800-\udfff]"
)
_LINE_END = re.compile(r"\r\n?|[\u2028\u2029]")


def clean(document: SourceDocument, adapter: str) -> SourceDocument:
    """The document as it may be kept, shown and quoted: of bounded length, in plain Unicode.

    Its adapter is the one that was asked, whatever it says itself.
    """
    return document.model_copy(
        update={
            "text": plain(document.text[: 2 * MOST_CHARS])[:MOST_CHARS].strip(),
            "title": plain_line(document.title, _MOST_TITLE),
            "url": plain_line(document.url, _MOST_NAME),
            "doi": plain_line(document.doi, _MOST_NAME),
            "id": plain_line(document.id, _MOST_NAME),
            "adapter": adapter,
        }
    )


def plain(text: str) -> str:
    """The text without what cannot be stored, sent or seen; lines end with a line feed."""
    return _UNWANTED.sub("", _LINE_END.sub("\n", text))


def plain_line(text: str, longest: int) -> str:
    """The same on one line of at most `longest` characters."""
    return " ".join(plain(text[: 2 * longest]).split())[:longest]
