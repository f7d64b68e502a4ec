"""Fences, headings and lists of Markdown."""

import re
from collections.abc import Iterator

from sifaka.record.results import Issue
from sifaka.text.markdown import Markdown

_TIGHT_HEADING = re.compile(r"^ {0,3}(#{1,6})(?=[^\W_])(?![^\n]*#)(?=([^\n]*))", re.MULTILINE)
_TIGHT_ITEM = re.compile(r"^[ \t]{0,3}(?:[-+](?=[^\W\d_])|\d{1,2}[.)](?=[^\W\d_]))", re.MULTILINE)


def block_issues(source: Markdown) -> Iterator[Issue]:
    """The broken blocks of a text."""
    yield from _open_fences(source)
    yield from _skipped_levels(source)
    yield from _missing_spaces(source)


def _open_fences(source: Markdown) -> Iterator[Issue]:
    newline = "\r\n" if "\r\n" in source.text else "\n"
    for fence in source.fences:
        if fence.closed:
            continue
        start, end = fence.line, fence.end
        # A fence in a list or quote needs that container's marks on its last line.
        fix = None if fence.depth else f"{source.text[start:end]}{newline}{fence.mark}"
        yield Issue.at(
            source.text, start, end, "close the code fence", category="format", severity=4,
            rule="fence", fix=fix, safe=fix is not None and end == len(source.text.rstrip("\r\n")),
        )  # fmt: skip


def _skipped_levels(source: Markdown) -> Iterator[Issue]:
    previous = 0
    for block in source.blocks:
        if not block.level:
            continue
        if previous and block.level > previous + 1:
            own = source.text[block.start : block.stop].rstrip("\r\n")
            yield Issue.at(
                source.text,
                block.start,
                block.start + len(own),
                f"use heading level {previous + 1} after level {previous}, not {block.level}",
                category="format",
                rule="heading_level",
            )
        previous = block.level


def _missing_spaces(source: Markdown) -> Iterator[Issue]:
    for token in source.tokens:
        if token.type != "paragraph_open" or token.map is None or token.level:
            continue
        start, end = source.place(*token.map)
        block = source.masked((start, end))
        for heading in _TIGHT_HEADING.finditer(block):
            # `#word` is a hashtag as often as a heading.
            certain = len(heading[1]) > 1
            if certain or " " in heading[2]:
                yield Issue.at(
                    source.text, start + heading.start(1), start + heading.end(1),
                    f"put a space after {heading[1]}", category="format",
                    severity=3 if certain else 2, rule="heading_space", fix=f"{heading[1]} ",
                )  # fmt: skip
        items = list(_TIGHT_ITEM.finditer(block))
        if len(items) > 1 and items[0].start() == 0:
            for item in items:
                yield Issue.at(
                    source.text, start + item.start(), start + item.end(),
                    "put a space after the list marker", category="format", rule="list_space",
                    fix=f"{item.group()} ",
                )  # fmt: skip
