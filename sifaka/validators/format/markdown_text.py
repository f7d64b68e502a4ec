"""Markdown: what is surely broken fails, what is only styled differently is advice."""

import re
from typing import Any

from sifaka.extras import install, installed
from sifaka.record.results import Issue, ValidationResult
from sifaka.text.markdown import front_matter, read_markdown
from sifaka.validators.format.markdown_blocks import block_issues
from sifaka.validators.format.markdown_links import link_issues
from sifaka.validators.spec import ISSUE_LIMIT

BROKEN = 3
"""From this severity on an issue fails the text."""
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


def check_markdown(text: str) -> ValidationResult:
    """Check that the text means what its author must have meant.

    Every text is Markdown to a parser, so this looks for marks that did not become what they look
    like: unclosed fences, headings and lists without a space, skipped heading levels, ragged
    tables, broken links and undefined references. A text that mdformat would lay out otherwise
    passes with that layout as advice, provided it renders to the same page.
    """
    source = read_markdown(text)
    issues = sorted([*block_issues(source), *link_issues(source)], key=lambda each: each.start or 0)
    broken = [issue for issue in issues if issue.severity >= BROKEN]
    advice = [issue for issue in issues if issue.severity < BROKEN]
    # Not while something is broken: to lay out a row with too many cells drops the last of them.
    can_lay_out = installed("mdformat")
    layout = reformatted(text) if can_lay_out and not broken else None
    if layout is not None:
        advice.append(
            Issue.at(
                text, 0, len(text), "mdformat lays this out differently", category="format",
                severity=1, rule="layout", fix=layout,
            )
        )  # fmt: skip
    shown = (*broken, *advice)[:ISSUE_LIMIT]
    if not broken:
        missing = "" if can_lay_out else f"; layout not compared: {install('markdown')}"
        return ValidationResult(passed=True, message=f"well-formed Markdown{missing}", issues=shown)
    count = "1 place is" if len(broken) == 1 else f"{len(broken)} places are"
    return ValidationResult(
        passed=False,
        message=f"{count} broken Markdown: {broken[0].message}",
        score=1 / (1 + len(broken)),
        issues=shown,
        suggestions=tuple(dict.fromkeys(issue.message for issue in broken[:5])),
    )


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
