"""Links of Markdown that did not become links."""

import re
from collections.abc import Iterator

from sifaka.record.results import Issue
from sifaka.text.markdown import Markdown
from sifaka.text.prose import Span

_TARGET = r"(?:https?://|www\.|mailto:|\.{0,2}/|#)"
_LABEL = r"\[(?P<label>[^\[\]\n]{1,300})\]"
_UNCLOSED = re.compile(
    rf"{_LABEL}\({_TARGET}[^\s()]*(?:\([^()\n]*\)[^\s()]*)*[ \t]*$", re.MULTILINE
)
_SPACED = re.compile(rf"{_LABEL}(?P<space>[ \t]+)\({_TARGET}[^\s()]*\)")
_REVERSED = re.compile(rf"\((?P<label>[^()\[\]\n]{{1,300}})\)\[{_TARGET}[^\s\[\]]*\](?![(\[])")
_EMPTY = re.compile(rf"(?<![\w\])]){_LABEL}\([ \t]*\)")
_REFERENCE = re.compile(rf"(?<![\w\])]){_LABEL}\[(?P<key>[^\[\]\n]{{0,300}})\]")
_FOOTNOTE = re.compile(r"\[\^(?P<key>[\w-]{1,100})\](?!:)")
_FOOTNOTE_DEFINITION = re.compile(r"^[ \t>]*\[\^([\w-]{1,100})\]:", re.MULTILINE)


def link_issues(source: Markdown) -> Iterator[Issue]:
    """Links whose marks do not fit together, and references to nothing."""
    notes = {key.casefold() for key in _FOOTNOTE_DEFINITION.findall(source.body)}
    for block in source.places("paragraph_open", "heading_open", "table_open"):
        masked = source.masked(block)
        if "[" in masked:
            yield from _broken(source, block[0], masked)
            yield from _undefined(source, block[0], masked, notes)


def _broken(source: Markdown, shift: int, block: str) -> Iterator[Issue]:
    for match in _UNCLOSED.finditer(block):
        # The title of a link, and so its end, may stand on the next line.
        if ")" not in block[match.end() : match.end() + 400].lstrip("\r\n").split("\n", 1)[0]:
            yield _issue(source, shift, match.span(), "close the link with )", "link")
    for match in _SPACED.finditer(block):
        if len(match["label"].strip()) > 1 and not match["label"].isdigit():
            message = "put no space between ] and ( of a link"
            yield _issue(source, shift, match.span(), message, "link")
    for match in _REVERSED.finditer(block):
        message = "write a link as [text](target), not (text)[target]"
        yield _issue(source, shift, match.span(), message, "link")
    for match in _EMPTY.finditer(block):
        yield _issue(source, shift, match.span(), "give the link a target", "link")


def _undefined(source: Markdown, shift: int, block: str, notes: set[str]) -> Iterator[Issue]:
    from markdown_it.common.utils import normalizeReference

    for match in _REFERENCE.finditer(block):
        # Inline code in a label is masked in the block, so the label is read from the text.
        label, key = (
            source.text[shift + match.start(part) : shift + match.end(part)]
            for part in ("label", "key")
        )
        key = key or label
        if (label.isdigit() and key.isdigit()) or key.startswith("^") or not label.strip():
            continue
        if normalizeReference(key) not in source.references:
            message = f"define the reference [{key}] or write the target in parentheses"
            yield _issue(source, shift, match.span(), message, "reference")
    for match in _FOOTNOTE.finditer(block):
        key = match["key"].casefold()
        if key not in notes and (notes or key.isdigit()):
            message = f"define the footnote [^{match['key']}]"
            yield _issue(source, shift, match.span(), message, "reference")


def _issue(source: Markdown, shift: int, span: Span, message: str, rule: str) -> Issue:
    start, end = span
    return Issue.at(source.text, shift + start, shift + end, message, category="format", rule=rule)
