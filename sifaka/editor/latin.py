"""The Latin abbreviations `i.e.` and `e.g.`, written with both full stops."""

import re
from collections.abc import Iterator

from sifaka.editor.passage import Passage
from sifaka.record.results import Issue

_DOTTED = re.compile(r"(?<![\w.'’\-])([ie])\.([eg])(?=[,:;]?\s)(?!\.)")
# Without the inner stop only after a bracket, a comma or a dash: `ie` and `eg` are words elsewhere.
_PLAIN = re.compile(r"(?:(?<=[(,;—–])|(?<=[,;—–-] ))(ie|eg)(?:\.(?=[,\s])|(?=,?\s))")


def latin(passage: Passage) -> Iterator[Issue]:
    """Abbreviations that lack a full stop."""
    for match in _DOTTED.finditer(passage.text):
        form = "".join(match.groups())
        if form in {"ie", "eg"}:
            yield from _issue(passage, match, form)
    for match in _PLAIN.finditer(passage.text):
        yield from _issue(passage, match, match.group(1))


def _issue(passage: Passage, match: re.Match[str], form: str) -> Iterator[Issue]:
    fix = f"{form[0]}.{form[1]}."
    if passage.free(*match.span()):
        message = f'write "{fix}" with two full stops'
        yield passage.safe(*match.span(), fix, message, rule="latin", category="punctuation")
