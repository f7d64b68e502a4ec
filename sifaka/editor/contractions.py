"""Contractions written without their apostrophe."""

import re
from collections.abc import Iterator

from sifaka.editor.parsed_text import ParsedText
from sifaka.record.results import Issue

# Only forms that are no words themselves; `wont`, `cant`, `its` and `were` are.
_FORM = re.compile(
    r"(?<![\w'’\-@#/.])([Dd]o|[Dd]oes|[Dd]id|[Ii]s|[Aa]re|[Ww]as|[Ww]ere|[Hh]as|[Hh]ave|[Hh]ad"
    r"|[Cc]ould|[Ss]hould|[Ww]ould)nt(?![\w'’\-@/]|\.\w)"
)


def contractions(parsed: ParsedText) -> Iterator[Issue]:
    """`dont` for `don't` and the like, with the apostrophe that the text uses."""
    mark = "’" if parsed.text.count("’") > parsed.text.count("'") else "'"
    for match in _FORM.finditer(parsed.text):
        start, end = match.span()
        named = match.group()[0].isupper() and start not in parsed.sentence_starts
        if named or not parsed.free(start, end):
            continue
        fix = f"{match.group(1)}n{mark}t"
        message = f'"{match.group()}" lacks its apostrophe'
        yield parsed.safe(start, end, fix, message, rule="contraction", category="spelling")
