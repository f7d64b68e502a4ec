"""The readable text of an HTML page."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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


def plain_text(html: str, *, tables: bool = False) -> str:
    """The running text, one paragraph, heading or item a line; without references.

    It takes time in proportion to the page, whatever is in it.

    Args:
        html: A page, or a part of one.
        tables: Whether tables are text too, one row a line; of a wiki they are left out.
    """
    from bs4 import BeautifulSoup

    # Within an element: a lone word would be taken for the name of a file, with a warning.
    soup = BeautifulSoup(f"<div>{html}</div>", "html.parser")
    lines = (" ".join(line.split()) for line in "".join(_pieces(soup, tables)).split(_END))
    return "\n".join(line for line in lines if line)


def _pieces(root: "Tag", tables: bool) -> Iterator[str]:
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
            if _is_left_out(element, tables=tables, in_math=in_math):
                continue
            end = _END if element.name in _BLOCKS else ""
            yield end
            after = " " if element.name in _CELLS else end
            stack.append((iter(element.contents), after, in_math or element.name == "math"))
        # Other subclasses are comments and the like.
        elif type(element) is NavigableString or isinstance(element, CData):
            yield element


def _is_left_out(element: "Tag", *, tables: bool, in_math: bool) -> bool:
    name = element.name
    if name in _LEFT_OUT and not (tables and name == "table"):
        return True
    if not element.attrs and not in_math:
        return False
    told = element.get("class") or ()
    classes = frozenset(told.split() if isinstance(told, str) else told)
    return (
        "hidden" in element.attrs
        or not classes.isdisjoint(_LEFT_OUT_CLASSES)
        or any((name, each) in _LEFT_OUT_IN for each in classes)
        or (in_math and ("math", name) in _LEFT_OUT_IN)
    )
