"""The comma after a sentence that begins with However, Therefore and the like."""

import re
from collections.abc import Iterator

from sifaka.editor.parsed_text import ParsedText
from sifaka.record.results import Issue

_ADVERB = re.compile(
    r"\b(However|Therefore|Moreover|Furthermore|Nevertheless|Nonetheless|Consequently|Additionally)"
    r" (?:the|this|these|those|we|it|they|there|our|their|its|a|an|some|many|most|all|both|no"
    r"|if|when|in|with|for|as|you|I|he|she|your|each|every|one)(?![\w'’-])"
)
_MAIN_CLAUSE = re.compile(r"^[^,]*,(?!\s+(?:and|but|so|or|because|which|while|although|since)\b)")


def commas(parsed: ParsedText) -> Iterator[Issue]:
    """Missing commas after an opening adverb.

    "However you do it, it works" needs none, so after However a sentence with a comma is reported
    only where the words after the comma cannot begin its main clause.
    """
    text = parsed.text
    for start, end in parsed.sentences:
        for match in _ADVERB.finditer(text, start, end):
            first, last = match.span(1)
            word = match.group(1)
            if first not in parsed.sentence_starts or not parsed.free(first, last):
                continue
            if word == "However" and _MAIN_CLAUSE.search(text[last:end]):
                continue
            message = f'a comma after "{word}"'
            yield parsed.safe(
                first, last, f"{word},", message, rule="opening_comma", category="punctuation"
            )
