"""The readable text of an HTML page, its title and its date."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from sifaka.extras import require

if TYPE_CHECKING:
    from bs4 import BeautifulSoup
    from bs4.element import PageElement, Tag

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
    hidden = frozenset(_hiding(soup))
    lines = (" ".join(line.split()) for line in "".join(_pieces(soup, tables, hidden)).split(_END))
    return "\n".join(line for line in lines if line)


def origin_of(html: str) -> tuple[str, str, str]:
    """The title, the author and the date of publication of a page; empty without them."""
    soup = soup_of(html)
    told: dict[str, str] = {}
    for meta in islice(soup.find_all("meta"), 500):
        name = meta.get("property") or meta.get("name") or meta.get("itemprop")
        told.setdefault(str(name).lower(), str(meta.get("content") or "").strip())
    title, dated = soup.find("title"), soup.find("time", itemprop="datePublished")
    date = str(dated.get("datetime") or "") if dated is not None else ""
    named = [next((told[n] for n in names if told.get(n)), "") for names in (_AUTHORS, _DATES)]
    # What stands there may be the address of a page about the author.
    author = "" if "://" in named[0] else named[0]
    return title.get_text() if title is not None else "", author, named[1] or date


def soup_of(html: str) -> "BeautifulSoup":
    """The elements of a page, or of XML of which a few plain elements are read."""
    require("reading HTML", "evidence", "bs4")
    from bs4 import BeautifulSoup

    # Within an element: a lone word would be taken for the name of a file, with a warning.
    return BeautifulSoup(f"<div>{html}</div>", "html.parser")


def _hiding(soup: "BeautifulSoup") -> Iterator[str]:
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
    name = element.name
    if name in _LEFT_OUT and not (tables and name == "table"):
        return True
    if not element.attrs and not in_math and name not in hidden:
        return False
    told = element.get("class") or ()
    classes = frozenset(told.split() if isinstance(told, str) else told)
    return (
        _is_hidden(element, classes, hidden)
        or not classes.isdisjoint(_LEFT_OUT_CLASSES)
        or any((name, each) in _LEFT_OUT_IN for each in classes)
        or (in_math and ("math", name) in _LEFT_OUT_IN)
    )


def _is_hidden(element: "Tag", classes: frozenset[str], hidden: frozenset[str]) -> bool:
    """True when a browser does not show an element; `hidden` are selectors of the page's sheets."""
    style = element.get("style")
    if style is not None and _HIDES.search("".join(str(style).lower().split())):
        return True
    named = {element.name, f"#{element.get('id')}", *(f".{each}" for each in classes)}
    return "hidden" in element.attrs or not named.isdisjoint(hidden)
