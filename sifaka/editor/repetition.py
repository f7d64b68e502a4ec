"""The same word twice in a row."""

import re
from collections.abc import Iterator

from sifaka.editor.lexicon import lexicon
from sifaka.editor.passage import Passage
from sifaka.results import Issue

_RULE = "repeated_word"
_RUN = re.compile(r"(?<![\w'’\-])([A-Za-z]+)(?:(?:[ ]{1,3}|[ ]?\r?\n[ \t]*)\1)+(?![\w'’\-])")
# Doubles that good writers write, and words that mean something twice.
_LEGITIMATE = lexicon(
    "had that do did is was can will who what which where her him you it them one us this",
    "there those in on up out over by off very so too much many more really far long short",
    "again now never no yes not well hear tut knock ha he ho hee bye bla blah yada walla bora",
    "pom cha tap log char int double float void string bool true false null none copy tar",
    "tick tock beep click dear pretty big little old ever half data if then else i a x y z n",
)


def repetition(passage: Passage) -> Iterator[Issue]:
    """Words repeated by accident; only in lines long enough to be sentences."""
    text = passage.text
    for match in _RUN.finditer(text):
        start, end = match.span()
        word = match.group(1)
        if not passage.free(start, end) or len(word) < 2:
            continue
        if min(passage.words_in_line(start), passage.words_in_line(end)) < 4:
            continue
        message = f'"{word}" is repeated'
        if word in _LEGITIMATE or not word.islower():
            if word.lower() not in _LEGITIMATE:
                yield passage.suggestion(
                    start, end, message, rule=_RULE, category="repetition", fix=word, severity=1
                )
            continue
        fix = word
        if "\n" in match.group() and text[end : end + 1] == " ":
            # The text stays wrapped: the line now ends after the one word.
            end += 1
            fix += "\r\n" if "\r" in match.group() else "\n"
        yield passage.safe(start, end, fix, message, rule=_RULE, category="repetition")
