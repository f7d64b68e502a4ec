"""The readers of HTML, PDF and DOCX, which work on foreign bytes in a worker process.

PDF and DOCX need the packages of the extra `documents`, HTML that of `evidence`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from io import BytesIO
from types import MappingProxyType
from typing import Any, NamedTuple

from sifaka.evidence.sources.html import origin_of, plain_text
from sifaka.extras import install

MOST_TEXT = 2_000_000
"""Characters that are kept of one document."""
_MOST_PAGES = 5_000
_PACKAGES = {
    ".pdf": ("documents", "pypdf"),
    ".docx": ("documents", "docx"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), ("evidence", "bs4")),
}
"""The extras and the packages of theirs that are not always installed."""


class NotText(ValueError):
    """The content of a file is no text; the message says why in a few words."""


class Page(NamedTuple):
    """A page of a document."""

    name: str
    """Such as `page=3`; empty where the document has none."""
    text: str


class Reading(NamedTuple):
    """A document as it was read."""

    title: str
    """Empty when the document does not say it."""
    author: str
    published: str
    """The document's own date, as ISO 8601; empty when it has none."""
    pages: tuple[Page, ...]


def require_reader(suffix: str) -> None:
    """See that documents with a suffix can be read, without importing the reader.

    Raises:
        NotText: Its package is not installed.
    """
    extra, package = _PACKAGES.get(suffix, ("", None))
    if package is not None and find_spec(package) is None:
        raise NotText(f"needs the extra `{extra}`: {install(extra)}")


def read_document(suffix: str, content: bytes) -> Reading:
    """The pages of a document, of at most `MOST_TEXT` characters together.

    Args:
        suffix: One of `READERS`.
        content: All of the file.

    Raises:
        NotText: It is broken, encrypted, or has no text.
    """
    try:
        read = READERS[suffix](content)
    except (NotText, MemoryError):
        raise
    # Whatever a reader raises over a broken file is not specified.
    except Exception as error:
        raise NotText(f"broken ({type(error).__name__})") from error
    pages, room = list[Page](), MOST_TEXT
    for page in read.pages:
        if text := page.text.replace("\0", "").strip()[:room]:
            pages.append(Page(page.name, text))
            room -= len(text)
    if not pages:
        raise NotText("no text in it")
    title, author = (" ".join(each.split()) for each in (read.title, read.author))
    return read._replace(title=title, author=author, pages=tuple(pages))


def decoded(content: bytes) -> str:
    """The text of a file in UTF-8, or in UTF-16 or UTF-32 with a byte order mark.

    Raises:
        NotText: It is binary, or in another encoding.
    """
    marks = (("utf-32", b"\xff\xfe\0\0"), ("utf-32", b"\0\0\xfe\xff"), ("utf-16", b"\xff\xfe"),
             ("utf-16", b"\xfe\xff"))  # fmt: skip
    encoding = next((name for name, mark in marks if content.startswith(mark)), "utf-8-sig")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise NotText("binary" if b"\0" in content else "not UTF-8") from error
    if "\0" in text:
        raise NotText("binary")
    return text


def _html(content: bytes) -> Reading:
    html = decoded(content)
    pages = (Page("", plain_text(html, tables=True)),)
    return Reading(*origin_of(html), pages)


def _pdf(content: bytes) -> Reading:
    from pypdf import PdfReader

    pdf = PdfReader(BytesIO(content))
    if pdf.is_encrypted and not pdf.decrypt(""):
        raise NotText("encrypted")
    told: Any = pdf.metadata
    written = told and (_or_none(lambda: told.modification_date)
                        or _or_none(lambda: told.creation_date))  # fmt: skip
    pages = (
        Page(f"page={number}", page.extract_text())
        for number, page in enumerate(pdf.pages[:_MOST_PAGES], 1)
    )
    title = str(_or_none(lambda: told and told.title) or "")
    author = str(_or_none(lambda: told and told.author) or "")
    return Reading(title, author, written.isoformat() if written else "", tuple(pages))


def _or_none(value: Callable[[], Any]) -> Any:
    """A value of a PDF's description; None where it is broken, which costs the text nothing."""
    try:
        return value()
    except (ValueError, TypeError, AttributeError):
        return None


_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_NOT_READ = frozenset({f"{_W}del", f"{_W}moveFrom", f"{_W}instrText", _FALLBACK})
"""Deleted words, codes of fields, and text boxes that are there a second time."""
_HEADING = re.compile(r"(?:heading|title)\s*([1-6]?)", re.IGNORECASE)


_TEMPLATE = ("python-docx", "2013-12-23")
"""What a document says that was made with python-docx and not given an author and a date."""


def _docx(content: bytes) -> Reading:
    import docx

    document: Any = docx.Document(BytesIO(content))
    told = document.core_properties
    written = told.modified or told.created
    if told.author == _TEMPLATE[0] and str(written).startswith(_TEMPLATE[1]):
        written = None
    text = "\n\n".join(_blocks_of(document.element.body))
    day = written.isoformat() if written else ""
    return Reading(told.title or "", told.author or "", day, (Page("", text),))


def _blocks_of(parent: Any) -> Iterator[str]:
    """The paragraphs and the rows of tables, headings with their marks."""
    for element in parent:
        if element.tag == f"{_W}p":
            words = " ".join("".join(_words_of(element)).split(" ")).strip()
            style = element.find(f"{_W}pPr/{_W}pStyle")
            level = _HEADING.match(style.get(f"{_W}val", "")) if style is not None else None
            if words:
                yield f"{'#' * int(level[1] or 1)} {words}" if level else words
        elif element.tag == f"{_W}tr":
            cells = (" ".join(_blocks_of(cell)) for cell in element.iterchildren(f"{_W}tc"))
            yield " | ".join(cells)
        elif element.tag not in _NOT_READ:
            yield from _blocks_of(element)


def _words_of(parent: Any) -> Iterator[str]:
    """The words of a paragraph that a reader sees, those in text boxes too."""
    for element in parent:
        hidden = element.tag == f"{_W}r" and element.find(f"{_W}rPr/{_W}vanish") is not None
        if element.tag in _NOT_READ or hidden:
            continue
        if element.tag == f"{_W}t":
            yield element.text or ""
        elif element.tag in {f"{_W}tab", f"{_W}br", f"{_W}cr"}:
            yield " "
        else:
            yield from _words_of(element)


READERS: Mapping[str, Callable[[bytes], Reading]] = MappingProxyType(
    {".html": _html, ".htm": _html, ".xhtml": _html, ".pdf": _pdf, ".docx": _docx}
)
"""The readers by the suffixes of files."""
