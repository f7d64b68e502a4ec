"""Wordy phrases, and the shorter words that mean the same in every context."""

import re
from collections.abc import Iterator, Mapping, Sequence

from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.patterns import PatternRule
from sifaka.editor.words import words_of
from sifaka.record.results import Issue

PHRASES: Mapping[str, str] = {
    # because, although, if, when
    "due to the fact that": "because",
    "owing to the fact that": "because",
    "because of the fact that": "because",
    "as a result of the fact that": "because",
    "on account of the fact that": "because",
    "by virtue of the fact that": "because",
    "in view of the fact that": "because",
    "in light of the fact that": "because",
    "for the simple reason that": "because",
    "for the reason that": "because",
    "given the fact that": "given that",
    "except for the fact that": "except that",
    "in spite of the fact that": "although",
    "despite the fact that": "although",
    "regardless of the fact that": "although",
    "notwithstanding the fact that": "although",
    "in the event that": "if",
    "until such time as": "until",
    "at such time as": "when",
    "during the time that": "while",
    # purpose and relation
    "in order to": "to",
    "so as to": "to",
    "in an effort to": "to",
    "in close proximity to": "near",
    "in the vicinity of": "near",
    "with the exception of": "except for",
    "with regards to": "regarding",
    "with reference to the fact that": "given that",
    "in the majority of cases": "in most cases",
    "in actual fact": "in fact",
    # time
    "at this point in time": "now",
    "at the present time": "now",
    "at the present moment": "now",
    "at that point in time": "then",
    "in the near future": "soon",
    "on a daily basis": "daily",
    "on a weekly basis": "weekly",
    "on a monthly basis": "monthly",
    "on a yearly basis": "yearly",
    "on a regular basis": "regularly",
    "on a frequent basis": "frequently",
    "at a later date": "later",
    "at an earlier date": "earlier",
    "during the course of": "during",
    "as of yet": "yet",
    "subsequent to": "after",
    # verbs
    "make use of": "use",
    "makes use of": "uses",
    "made use of": "used",
    "making use of": "using",
    "make a decision to": "decide to",
    "makes a decision to": "decides to",
    "made a decision to": "decided to",
    "make an attempt to": "try to",
    "makes an attempt to": "tries to",
    "made an attempt to": "tried to",
    "have an impact on": "affect",
    "has an impact on": "affects",
    "had an impact on": "affected",
    "take into consideration": "consider",
    "takes into consideration": "considers",
    "took into consideration": "considered",
    "give consideration to": "consider",
    "provide assistance to": "help",
    "provides assistance to": "helps",
    "came to the conclusion that": "concluded that",
    "come to the conclusion that": "conclude that",
    "is in possession of": "has",
    "are in possession of": "have",
    "utilize": "use",
    "utilizes": "uses",
    "utilized": "used",
    "utilizing": "using",
    "utilise": "use",
    "utilises": "uses",
    "utilised": "used",
    "utilising": "using",
    # said twice
    "each and every": "every",
    "first and foremost": "first",
    "absolutely essential": "essential",
    "completely eliminate": "eliminate",
    "completely eliminates": "eliminates",
    "end result": "result",
    "final outcome": "outcome",
    "past history": "history",
    "past experience": "experience",
    "advance planning": "planning",
    "future plans": "plans",
    "basic fundamentals": "fundamentals",
    "general consensus": "consensus",
    "added bonus": "bonus",
    "exact same": "same",
    "whole entire": "entire",
    "revert back": "revert",
    "reverts back": "reverts",
    "return back": "return",
    "refer back": "refer",
    "reply back": "reply",
    "repeat again": "repeat",
    "combine together": "combine",
    "merge together": "merge",
    "join together": "join",
    "collaborate together": "collaborate",
    "still remains": "remains",
    "may possibly": "may",
    "might possibly": "might",
}

QUANTITIES: Mapping[str, str] = {
    "a large number of": "many",
    "a great number of": "many",
    "a small number of": "a few",
    "a sufficient number of": "enough",
    "a sufficient amount of": "enough",
    "an adequate number of": "enough",
    "a majority of": "most",
    "the vast majority of": "most",
    "the majority of": "most",
}
"""Only before a bare noun: `most of the users`, not `most the users`."""

OPENERS: tuple[str, ...] = (
    "it is important to note that",
    "it should be noted that",
    "it is worth noting that",
    "it is worth mentioning that",
    "it is important to remember that",
    "it must be remembered that",
)
"""Beginnings of a sentence that say nothing; the sentence begins after them."""


_WORDS = words_of("wordiness")


_ALL = sorted([*PHRASES, *QUANTITIES, *OPENERS], key=len, reverse=True)
# A phrase may be wrapped over two lines, but not across a paragraph or a list mark.
_GAP = r"(?:[ ]{1,3}|[ ]?\r?\n)"
# By their first letters, so that at most places one look shows that none begins there.
_RESTS: Mapping[str, Sequence[str]] = {
    first: [phrase[1:] for phrase in _ALL if phrase[0] == first]
    for first in dict.fromkeys(phrase[0] for phrase in _ALL)
}
_ANY = "|".join(f"{first}(?:{'|'.join(rests)})" for first, rests in _RESTS.items())
_PATTERN = re.compile(
    # A letter first, which is seen faster than what stands before it.
    rf"(?=[a-z])(?<![\w'’\-])(?:{_ANY.replace(' ', _GAP)})(?![\w'’\-])",
    re.IGNORECASE,
)


def _issue(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    start, end = match.span()
    found = match.group()
    phrase = " ".join(found.lower().split())
    if found[1:] != found[1:].lower():
        return  # only the usual capitals: HEADLINES and Titles Like This stay
    if phrase in OPENERS:
        yield from _opener(parsed, start, end, phrase)
    elif replacement := _replacement(parsed, start, end, phrase):
        fix = replacement[0].upper() + replacement[1:] if found[0].isupper() else replacement
        if "\n" in found and parsed.text[end : end + 1] == " ":
            end += 1
            fix += "\r\n" if "\r" in found else "\n"
        message = f'"{replacement}" says the same as "{phrase}"'
        yield parsed.issue((start, end), fix, message, "wordy_phrase", "wordiness")


def _replacement(parsed: ParsedText, start: int, end: int, phrase: str) -> str | None:
    following = parsed.word_after(end)
    previous = parsed.word_before(start)
    if phrase in QUANTITIES:
        if (
            not following
            or following in _WORDS["determiners"]
            or previous in {"such", "quite", "rather"}
        ):
            return None
        return QUANTITIES[phrase]
    if phrase == "in order to" and previous in _WORDS["ordered"]:
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
    place, fix = (start, letter + 1), match.group(1).upper()
    yield parsed.issue(place, fix, f'"{phrase}" can go', "empty_opener", "wordiness")


wordiness = PatternRule([(_PATTERN, _issue)])
"""Phrases that a shorter word replaces without a change of meaning."""
