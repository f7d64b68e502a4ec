"""The Latin abbreviations `i.e.` and `e.g.`, written with both full stops."""

import re
from collections.abc import Iterator

from sifaka.editor.parsed_text import ParsedText
from sifaka.record.results import Issue

_DOTTED = re.compile(r"(?<![\w.'’\-])([ie])\.([eg])(?=[,:;]?\s)(?!\.)")
# Without the inner stop only after a bracket, a comma or a dash: `ie` and `eg` are words elsewhere.
_PLAIN = re.compile(r"(?:(?<=[(,;—–])|(?<=[,;—–-] ))(ie|eg)(?:\.(?=[,\s])|(?=,?\s))")


def latin(parsed: ParsedText) -> Iterator[Issue]:
    """Abbreviations that lack a full stop."""
    for match in _DOTTED.finditer(parsed.text):
        form = "".join(match.groups())
        if form in {"ie", "eg"}:
            yield from _issue(parsed, match, form)
    for match in _PLAIN.finditer(parsed.text):
        yield from _issue(parsed, match, match.group(1))


def _issue(parsed: ParsedText, match: re.Match[str], form: str) -> Iterator[Issue]:
    fix = f"{form[0]}.{form[1]}."
    if parsed.free(*match.span()):
        message = f'write "{fix}" with two full stops'
        yield parsed.safe(*match.span(), fix, message, rule="latin", category="punctuation")
