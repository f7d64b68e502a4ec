"""The readable text of an HTML page."""

import re

_LEFT_OUT = (
    "script, style, template, noscript, svg, math annotation, table, sup.reference, "
    ".mw-references-wrap, ol.references, .reflist, .mw-editsection, .mw-cite-backlink, .toc, "
    ".navbox, .noprint, .metadata, .mw-jump-link, .catlinks, .hatnote, [hidden]"
)
"""What is no running text: of a wiki's pages tables, references and links for editors too."""
_BLOCKS = re.findall(
    r"\S+",
    """address article aside blockquote br caption dd div dl dt figcaption figure footer h1 h2 h3 h4
    h5 h6 header hr li main nav ol p pre section ul""",
)
_END = "\u2029"


def plain_text(html: str, *, tables: bool = False) -> str:
    """The running text, one paragraph, heading or item a line; without references.

    Args:
        html: A page, or a part of one.
        tables: Whether tables are text too, one row a line; of a wiki they are left out.
    """
    from bs4 import BeautifulSoup

    # Within an element: a lone word would be taken for the name of a file, with a warning.
    soup = BeautifulSoup(f"<div>{html}</div>", "html.parser")
    for element in soup.select(_LEFT_OUT.replace("table, ", "") if tables else _LEFT_OUT):
        if not element.decomposed:  # with what was around it
            element.decompose()
    for cell in soup.find_all(["td", "th"]):
        cell.insert_after(" ")
    for block in soup.find_all([*_BLOCKS, "tr"]):
        block.insert_before(_END)
        block.insert_after(_END)
    lines = (" ".join(line.split()) for line in soup.get_text().split(_END))
    return "\n".join(line for line in lines if line)
