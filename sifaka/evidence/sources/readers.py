"""The readers of HTML, PDF and DOCX, which work on foreign bytes in a worker process.

PDF and DOCX need the packages of the extra `documents`, HTML that of `evidence`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from io import BytesIO
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from sifaka.extras import install, require

if TYPE_CHECKING:
    from bs4 import BeautifulSoup
    from bs4.element import PageElement, Tag

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


class Reading(NamedTuple):
    """A document as it was read."""

    title: str
    """Empty when the document does not say it."""
    author: str
    published: str
    """The document's own date, as ISO 8601; empty when it has none."""
    pages: Mapping[str, str]
    """Their texts by names such as `page=3`; empty where the document has none."""


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
    pages, room = dict[str, str](), MOST_TEXT
    for name, content_of in read.pages.items():
        if text := content_of.replace("\0", "").strip()[:room]:
            pages[name] = text
            room -= len(text)
    if not pages:
        raise NotText("no text in it")
    title, author = (" ".join(each.split()) for each in (read.title, read.author))
    return read._replace(title=title, author=author, pages=pages)


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
    return Reading(*origin_of(html), {"": plain_text(html, tables=True)})


def _pdf(content: bytes) -> Reading:
    from pypdf import PdfReader

    pdf = PdfReader(BytesIO(content))
    if pdf.is_encrypted and not pdf.decrypt(""):
        raise NotText("encrypted")
    info: Any = pdf.metadata
    written = info and (_or_none(lambda: info.modification_date)
                        or _or_none(lambda: info.creation_date))  # fmt: skip
    return Reading(
        str(_or_none(lambda: info and info.title) or ""),
        str(_or_none(lambda: info and info.author) or ""),
        written.isoformat() if written else "",
        {
            f"page={number}": page.extract_text()
            for number, page in enumerate(pdf.pages[:_MOST_PAGES], 1)
        },
    )


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


def _docx(content: bytes) -> Reading:
    import docx

    document: Any = docx.Document(BytesIO(content))
    info = document.core_properties
    written = info.modified or info.created
    # A document that was made with python-docx and not given an author and a date.
    if info.author == "python-docx" and str(written).startswith("2013-12-23"):
        written = None
    return Reading(
        info.title or "",
        info.author or "",
        written.isoformat() if written else "",
        {"": "\n\n".join(_blocks_of(document.element.body))},
    )


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
            yield " | ".join(" ".join(_blocks_of(cell)) for cell in element.iterchildren(f"{_W}tc"))
        elif element.tag not in _NOT_READ:
            yield from _blocks_of(element)


def _words_of(parent: Any) -> Iterator[str]:
    """The words of a paragraph that a reader sees, those in text boxes too."""
    for element in parent:
        hidden = element.tag == f"{_W}r" and element.find(f"{_W}rPr/{_W}vanish") is not None
        if element.tag == f"{_W}t":
            yield element.text or ""
        elif element.tag in {f"{_W}tab", f"{_W}br", f"{_W}cr"}:
            yield " "
        elif element.tag not in _NOT_READ and not hidden:
            yield from _words_of(element)


READERS: Mapping[str, Callable[[bytes], Reading]] = MappingProxyType(
    {".html": _html, ".htm": _html, ".xhtml": _html, ".pdf": _pdf, ".docx": _docx}
)
"""The readers by the suffixes of files."""


_LEFT_OUT = frozenset({"script", "style", "template", "noscript", "svg", "table"})
_LEFT_OUT_IN = frozenset({("math", "annotation"), ("sup", "reference"), ("ol", "references")})
"""An element within another one, or of a class."""
_LEFT_OUT_CLASSES = frozenset(
    re.findall(
        r"\S+",
        """mw-references-wrap reflist mw-editsection mw-cite-backlink toc navbox noprint metadata
        mw-jump-link catlinks hatnote""",
    )
)
"""Elements that are no running text: on a wiki's pages references and links for editors too."""
_BLOCKS = frozenset(
    re.findall(
        r"\S+",
        """address article aside blockquote br caption dd div dl dt figcaption figure footer h1 h2
        h3 h4 h5 h6 header hr li main nav ol p pre section tr ul""",
    )
)
_CELLS = frozenset({"td", "th"})
_END = "\u2029"
_HIDES = re.compile(r"display:none|visibility:(?:hidden|collapse)|font-size:0(?:\.0+)?(?![.\d])")
"""Declarations by which a browser shows nothing, without white space."""
_WHOLE = frozenset({"html", "body"})
"""Elements that scripts show when a page is loaded."""
_SIMPLE = re.compile(r"[.#]?[a-z][\w-]*", re.IGNORECASE)
_DATES = (
    "article:published_time", "datepublished", "dcterms.created", "dcterms.date", "dc.date",
    "citation_publication_date", "article:modified_time", "dcterms.modified", "date",
)  # fmt: skip
"""Names of `meta` elements with the date of a page, the best first."""
_AUTHORS = ("author", "citation_author", "dc.creator", "dcterms.creator", "article:author")


def plain_text(html: str, *, tables: bool = False) -> str:
    """The running text, one paragraph, heading or item a line; without references.

    What its styles hide is left out, by attributes or by rules of its own style sheets for an
    element, a class or an id. It takes time in proportion to the page, whatever is in it.

    Args:
        html: A page, or a part of one.
        tables: Whether tables are text too, one row a line; of a wiki they are left out.
    """
    soup = soup_of(html)
    text = "".join(_pieces(soup, tables, frozenset(_find_hiding(soup))))
    return "\n".join(filter(None, (" ".join(line.split()) for line in text.split(_END))))


def origin_of(html: str) -> tuple[str, str, str]:
    """The title, the author and the date of publication of a page; empty without them."""
    soup = soup_of(html)
    metas: dict[str, str] = {}
    for meta in islice(soup.find_all("meta"), 500):
        name = meta.get("property") or meta.get("name") or meta.get("itemprop")
        metas.setdefault(str(name).lower(), str(meta.get("content") or "").strip())
    title, dated = soup.find("title"), soup.find("time", itemprop="datePublished")
    date = str(dated.get("datetime") or "") if dated is not None else ""
    named = [next((metas[n] for n in names if metas.get(n)), "") for names in (_AUTHORS, _DATES)]
    # It may be the address of a page about the author.
    author = "" if "://" in named[0] else named[0]
    return title.get_text() if title is not None else "", author, named[1] or date


def soup_of(html: str) -> "BeautifulSoup":
    """The elements of a page, or of XML of which a few plain elements are read."""
    require("reading HTML", "evidence", "bs4")
    from bs4 import BeautifulSoup

    # Within an element: a lone word would be taken for the name of a file, with a warning.
    return BeautifulSoup(f"<div>{html}</div>", "html.parser")


def _find_hiding(soup: "BeautifulSoup") -> Iterator[str]:
    """The simple selectors of rules that hide something on every screen."""
    for sheet in soup.find_all("style"):
        depth = 0
        for rule in sheet.get_text().split("}"):
            begun = rule.count("{")
            selectors, _, declarations = rule.partition("{")
            if depth + begun == 1 and _HIDES.search("".join(declarations.lower().split())):
                named = (each.strip() for each in selectors.rpartition("*/")[2].split(","))
                yield from (
                    each for each in named if _SIMPLE.fullmatch(each) and each not in _WHOLE
                )
            depth = max(0, depth + begun - 1)


def _pieces(root: "Tag", tables: bool, hidden: frozenset[str]) -> Iterator[str]:
    """The text in its order, with marks where lines end.

    Nothing is taken out of the tree: it looks for the place of an element among all its neighbours,
    which of many thousands takes minutes.
    """
    from bs4.element import CData, NavigableString, Tag

    stack: list[tuple[Iterator[PageElement], str, bool]] = [(iter(root.contents), "", False)]
    while stack:
        elements, after, in_math = stack[-1]
        element = next(elements, None)
        if element is None:
            stack.pop()
            yield after
        elif isinstance(element, Tag):
            if _is_left_out(element, hidden, tables=tables, in_math=in_math):
                continue
            end = _END if element.name in _BLOCKS else ""
            yield end
            after = " " if element.name in _CELLS else end
            stack.append((iter(element.contents), after, in_math or element.name == "math"))
        # Other subclasses are comments and the like.
        elif type(element) is NavigableString or isinstance(element, CData):
            yield element


def _is_left_out(element: "Tag", hidden: frozenset[str], *, tables: bool, in_math: bool) -> bool:
    """True for what is no running text; `hidden` are selectors of the page's sheets."""
    name = element.name
    if name in _LEFT_OUT and not (tables and name == "table"):
        return True
    if not element.attrs and not in_math and name not in hidden:
        return False
    value = element.get("class") or ()
    classes = frozenset(value.split() if isinstance(value, str) else value)
    style = "".join(str(element.get("style") or "").lower().split())
    named = {name, f"#{element.get('id')}", *(f".{each}" for each in classes)}
    return (
        "hidden" in element.attrs
        or _HIDES.search(style) is not None
        or not named.isdisjoint(hidden)
        or not classes.isdisjoint(_LEFT_OUT_CLASSES)
        or any((name, each) in _LEFT_OUT_IN for each in classes)
        or (in_math and ("math", name) in _LEFT_OUT_IN)
    )
