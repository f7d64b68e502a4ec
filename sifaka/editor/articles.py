"""`a` before a vowel sound and `an` before a consonant sound, decided by two votes."""

import re
from collections.abc import Iterator

from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.patterns import PatternRule
from sifaka.record.results import Issue
from sifaka.text.tables import words_of

# Vote 2. How the word begins to be spoken, where the spelling tells. Acronyms in small letters make
# `u` hard: "a url", "a usb port", but "an upper bound".
_CONSONANT_SOUND = re.compile(
    r"one(?!i|ro)|once|oui|eu|ew|unanim|unary|uni(?![mn])|u[bcfikrstuv][aeiouy]|ur[li]|us[ab]|udp|utf"
)
_VOWEL_SOUND = re.compile(
    r"[aeio]|un[^aiu]|up[a-z]{2}|ul[tc]|um[bp]|ugly|ush|utt|ur[bcg]|hour|honest|honou?r|heir|herb"
)
_UNSURE = re.compile(r"one|oui|ono|uno|oen")
_WORDS = words_of(__file__, "articles")
# An onset that can be read as a word; `an sql query` is read letter by letter.
_ONSET = re.compile(
    r"(?:[bcdfgjklmnprstvwz]|qu|[bcfgps]l|[bcdfgpt]r|s[ckmnptw]|sc?h|s[cpt]r|spl|squ|ch|ph|th|tw|thr|wr|wh|kn|gn|ps)[aeiou]"
)
# These may follow a real article: "a other" is a mistake, yet not one to fix blindly.
_PLURAL = re.compile(r"[^sui]s$")


def _issue(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    article, word = match.groups()
    sound = _sound(word.lower())
    if sound is None or article.lower() == sound or _is_name(parsed, match):
        return
    fix = sound.capitalize() if article[0] == "A" else sound
    place, message = match.span(1), f'"{sound}" before "{word}"'
    letter = "an" if word[0].lower() in "aeiou" else "a"
    agree = letter == sound or (sound == "a" and _is_said_you(parsed, match))
    yield parsed.issue(place, fix, message, "article", safe=agree)


def _sound(word: str) -> str | None:
    """The article the word is spoken with; None when the spelling does not tell."""
    if _CONSONANT_SOUND.match(word):
        return "a"
    if _UNSURE.match(word):
        return None
    if _VOWEL_SOUND.match(word):
        return "an"
    # Before a silent or half-silent h both are in use: "an historic", "a hotel".
    return "a" if len(word) >= 4 and word[0] not in "aeiouhy" and _ONSET.match(word) else None


def _is_said_you(parsed: ParsedText, match: re.Match[str]) -> bool:
    """True when the word, with its hyphenated rest, begins with the sound of `you` or `won`."""
    word = match.group(2).lower()
    joined = re.compile(r"-[a-z]+").match(parsed.text, match.end())
    return word in _WORDS["said_you"] or (
        joined is not None and word + joined.group() in _WORDS["said_you"]
    )


def _is_name(parsed: ParsedText, match: re.Match[str]) -> bool:
    """True when the `a` names a variable, a record, a section."""
    article, word = match.groups()
    start = match.start()
    if article[0] == "A" and start not in parsed.sentence_starts:
        return True
    if word in _WORDS["not_a_noun"] or _PLURAL.search(word):
        return True
    return article.lower() == "a" and parsed.word_before(start) in _WORDS["named"]


articles = PatternRule.of("articles", article=_issue)
"""Wrong articles: safe when letter and sound agree, a suggestion on the sound alone."""
