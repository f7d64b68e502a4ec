"""The layout that mdformat gives a Markdown text, where it changes nothing else."""

import re
from typing import Any

from sifaka.text.markdown import front_matter

LAYOUT_LIMIT = 20_000
"""The most characters laid out anew: mdformat takes 7 ms for 1,000 of them."""
LINE_LIMIT = 600
"""The most lines: for a list of 3,000 nested items it takes half a minute."""
MARK_LIMIT = 1_500
"""The most marks: for 20,000 opening brackets it takes seconds."""

_MARK = re.compile(r"[\[\]*_`|<>&!~]")
_LETTERS = re.compile(r"[^\W\d_]+")
_PREFORMATTED = re.compile(r"(<pre>.*?</pre>)", re.DOTALL)
_AROUND_TAG = re.compile(r"\s*(</?(?:p|li|ul|ol|blockquote|h\d|t\w+|hr|br|pre)\b[^>]*>)\s*")


def reformatted(text: str) -> str | None:
    """The text as mdformat lays it out, front matter and line ends as they were.

    None when that is the text itself, when the text is long, or when the result would have other
    words or render to another page.
    """
    if len(text) > LAYOUT_LIMIT or not text.strip():
        return None
    if text.count("\n") + text.count("\r") > LINE_LIMIT or len(_MARK.findall(text)) > MARK_LIMIT:
        return None
    cut = front_matter(text)
    body = text[cut:]
    newline = "\r\n" if "\r\n" in body else "\n"
    if "\r" in body.replace("\r\n", "") or (
        newline == "\r\n" and body.count("\n") != body.count(newline)
    ):
        return None
    unix = body.replace("\r\n", "\n")
    laid_out = _mdformat(unix)
    if not unix.endswith("\n"):
        laid_out = laid_out.removesuffix("\n")
    blank = unix[: len(unix) - len(unix.lstrip("\n"))] if cut else ""
    laid_out = blank + laid_out
    if laid_out == unix or _LETTERS.findall(laid_out) != _LETTERS.findall(unix):
        return None
    if _page(laid_out) != _page(unix):
        return None
    return text[:cut] + laid_out.replace("\n", newline)


def _mdformat(markdown: str) -> str:
    import mdformat

    # Not fully typed; numbers of lists stay consecutive, and lines stay as long as they are.
    untyped: Any = mdformat
    return untyped.text(markdown, options={"number": True, "wrap": "keep"}, extensions={"gfm"})


def _page(markdown: str) -> list[str]:
    """The HTML that a text becomes, white space outside code made equal."""
    from markdown_it import MarkdownIt

    html = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(markdown)
    return [
        part if part.startswith("<pre>") else _AROUND_TAG.sub(r"\1", " ".join(part.split()))
        for part in _PREFORMATTED.split(html)
    ]
