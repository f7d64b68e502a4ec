"""Wordy phrases, replaced from a table."""

import re
from collections.abc import Iterator

from sifaka.editor.lexicon import lexicon
from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.phrases import OPENERS, PHRASES, QUANTITIES
from sifaka.record.results import Issue

_RULE = "wordy_phrase"
_DETERMINERS = lexicon(
    "the these those this that our my your their its his her whose them us it which whom what",
    "all both each some any",
)
# "The rows are in order to the left": here `order` is a noun.
_ORDERED = lexicon(
    "is are was were be been not arranged listed sorted placed put kept stored all",
)


_ALL = sorted([*PHRASES, *QUANTITIES, *OPENERS], key=len, reverse=True)
# A phrase may be wrapped over two lines, but not across a paragraph or a list mark.
_ANY = "|".join(phrase.replace(" ", r"(?:[ ]{1,3}|[ ]?\r?\n)") for phrase in _ALL)
_PATTERN = re.compile(rf"(?<![\w'’\-])(?:{_ANY})(?![\w'’\-])", re.IGNORECASE)


def wordiness(parsed: ParsedText) -> Iterator[Issue]:
    """Phrases that a shorter word replaces without a change of meaning."""
    for match in _PATTERN.finditer(parsed.text):
        start, end = match.span()
        found = match.group()
        phrase = " ".join(found.lower().split())
        # Only the usual capitals: HEADLINES and Titles Like This stay.
        if found[1:] != found[1:].lower() or not parsed.free(start, end):
            continue
        if phrase in OPENERS:
            yield from _opener(parsed, start, end, phrase)
        elif replacement := _replacement(parsed, start, end, phrase):
            fix = replacement[0].upper() + replacement[1:] if found[0].isupper() else replacement
            if "\n" in found and parsed.text[end : end + 1] == " ":
                end += 1
                fix += "\r\n" if "\r" in found else "\n"
            message = f'"{replacement}" says the same as "{phrase}"'
            yield parsed.safe(start, end, fix, message, rule=_RULE, category="wordiness")


def _replacement(parsed: ParsedText, start: int, end: int, phrase: str) -> str | None:
    following = parsed.word_after(end)
    previous = parsed.word_before(start)
    if phrase in QUANTITIES:
        if not following or following in _DETERMINERS or previous in {"such", "quite", "rather"}:
            return None
        return QUANTITIES[phrase]
    if phrase == "in order to" and previous in _ORDERED:
        return None
    replacement = PHRASES[phrase]
    # "an added bonus" must not become "an bonus".
    if previous in {"a", "an"} and (phrase[0] in "aeiou") != (replacement[0] in "aeiou"):
        return None
    return replacement


def _opener(parsed: ParsedText, start: int, end: int, phrase: str) -> Iterator[Issue]:
    match = re.compile(r",?\s+([a-z])").match(parsed.text, end)
    if start not in parsed.sentence_starts or match is None:
        return
    letter = match.start(1)
    if not parsed.free(start, letter + 1):
        return
    fix = match.group(1).upper()
    message = f'"{phrase}" can go'
    yield parsed.safe(start, letter + 1, fix, message, rule="empty_opener", category="wordiness")
