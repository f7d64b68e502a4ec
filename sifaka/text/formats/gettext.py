"""Catalogues of gettext: only the translations are prose."""

import re
from collections.abc import Iterator

from sifaka.text.formats.html import html
from sifaka.text.formats.marks import Line, Lines, Mark

_STRING = re.compile(
    r'[ \t]*(?:(?P<keyword>msg(?:ctxt|id_plural|id|str(?:\[\d+\])?))[ \t]*)?"(?P<body>.*)"[ \t]*$'
)
_PLACEHOLDER = re.compile(
    r"\\."
    r"|%(?:\d+\$)?(?:\([^()]{1,80}\)|\{[^{}]{1,80}\})?[-+ #0']{0,5}(?:\d+|\*)?(?:\.(?:\d+|\*))?"
    r"(?:hh?|ll?|[jztLqI])?[a-zA-Z%@]"
    r"|\$?\{[^{}]{0,200}\}|%\w+%|\$\w+|@\w+@|[&_](?=\w)|(?<=\w)[&_](?=\w)"
)
_LANGUAGE = re.compile(r'^"Language: *(\w*)', re.MULTILINE)


def gettext(text: str) -> Iterator[Mark]:
    """Everything but the translations; their placeholders, escapes and tags.

    The header is no prose. A catalogue whose header names another language than English has none.
    """
    language = _LANGUAGE.search(text[:10_000])
    if language and language.group(1)[:2] not in {"", "en"}:
        yield Mark(0, len(text))
        return
    keyword = ""
    empty = False
    """True inside an entry whose original is empty: the header."""
    for line in Lines(text):
        string = _STRING.match(line.text)
        if string is None:
            yield Mark(line.start, line.end)
            continue
        keyword = string["keyword"] or keyword
        if keyword == "msgid":
            empty = not string["body"] and (bool(string["keyword"]) or empty)
        if not keyword.startswith("msgstr") or empty:
            yield Mark(line.start, line.end)
        else:
            yield from _translation(line, string)


def _translation(line: Line, string: re.Match[str]) -> Iterator[Mark]:
    begin, end = line.start + string.start("body"), line.start + string.end("body")
    # A line that goes on the one above is no block of its own.
    yield Mark(line.start, begin, "block" if string["keyword"] else "style")
    body = string["body"]
    for match in _PLACEHOLDER.finditer(body):
        yield Mark(
            begin + match.start(),
            begin + match.end(),
            "block" if match.group() == "\\n" else "code",
        )
    for start, stop, kind in html(body):
        yield Mark(begin + start, begin + stop, kind)
    yield Mark(end, line.end, "style")
