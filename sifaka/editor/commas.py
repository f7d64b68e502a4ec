"""The comma after a sentence that begins with However, Therefore and the like."""

import re
from collections.abc import Iterator

from sifaka.editor.passage import Passage
from sifaka.record.results import Issue

_ADVERB = re.compile(
    r"\b(However|Therefore|Moreover|Furthermore|Nevertheless|Nonetheless|Consequently|Additionally)"
    r" (?:the|this|these|those|we|it|they|there|our|their|its|a|an|some|many|most|all|both|no"
    r"|if|when|in|with|for|as|you|I|he|she|your|each|every|one)(?![\w'’-])"
)
_MAIN_CLAUSE = re.compile(r"^[^,]*,(?!\s+(?:and|but|so|or|because|which|while|although|since)\b)")


def commas(passage: Passage) -> Iterator[Issue]:
    """Missing commas after an opening adverb.

    "However you do it, it works" needs none, so after However a sentence with a comma is reported
    only where the words after the comma cannot begin its main clause.
    """
    text = passage.text
    for start, end in passage.sentences:
        for match in _ADVERB.finditer(text, start, end):
            first, last = match.span(1)
            word = match.group(1)
            if first not in passage.sentence_starts or not passage.free(first, last):
                continue
            if word == "However" and _MAIN_CLAUSE.search(text[last:end]):
                continue
            message = f'a comma after "{word}"'
            yield passage.safe(
                first, last, f"{word},", message, rule="opening_comma", category="punctuation"
            )
