"""The comma after a sentence that begins with However, Therefore and the like."""

import re
from collections.abc import Iterator

from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.patterns import PatternRule
from sifaka.record.results import Issue

_ADVERB = re.compile(
    r"\b(However|Therefore|Moreover|Furthermore|Nevertheless|Nonetheless|Consequently|Additionally)"
    r" (?:the|this|these|those|we|it|they|there|our|their|its|a|an|some|many|most|all|both|no"
    r"|if|when|in|with|for|as|you|I|he|she|your|each|every|one)(?![\w'’-])"
)
_MAIN_CLAUSE = re.compile(r"^[^,]*,(?!\s+(?:and|but|so|or|because|which|while|although|since)\b)")


def _issue(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    word, (start, end) = match.group(1), match.span(1)
    if start not in parsed.sentence_starts:
        return
    if word == "However" and _MAIN_CLAUSE.search(parsed.sentence_rest(end)):
        return
    message = f'a comma after "{word}"'
    yield parsed.issue((start, end), f"{word},", message, "opening_comma", "punctuation")


commas = PatternRule([(_ADVERB, _issue)])
"""Missing commas after an opening adverb.

"However you do it, it works" needs none, so after However a sentence with a comma is reported
only where the words after the comma cannot begin its main clause.
"""
