"""The Latin abbreviations `i.e.` and `e.g.`, written with both full stops."""

import re
from collections.abc import Iterator

from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.patterns import PatternRule
from sifaka.record.results import Issue

_DOTTED = re.compile(r"(i(?=.e)|e(?=.g))(?<![\w.'’\-].)\.([eg])(?=[,:;]?\s)(?!\.)")
# Without the inner stop only after a bracket, a comma or a dash: `ie` and `eg` are words elsewhere.
_PLAIN = re.compile(r"(ie|eg)(?:(?<=[(,;—–]..)|(?<=[,;—–-] ..))(?:\.(?=[,\s])|(?=,?\s))")


def _issue(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    first, last = "".join(match.groups())
    fix = f"{first}.{last}."
    message = f'write "{fix}" with two full stops'
    yield parsed.issue(match.span(), fix, message, "latin", "punctuation")


latin = PatternRule([(_DOTTED, _issue), (_PLAIN, _issue)])
"""Abbreviations that lack a full stop."""
