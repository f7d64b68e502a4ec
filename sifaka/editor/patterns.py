"""Rules made of a pattern, each match of which is decided by itself.

Articles, repeated words, and space before a mark.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial

from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.spelling import confusions
from sifaka.record.results import Issue
from sifaka.text.tables import patterns_of, words_of

_PATTERNS = patterns_of(__file__, "around")
Decision = Callable[[ParsedText, re.Match[str]], Iterator[Issue]]


def _find_issues(pattern: re.Pattern[str], decide: Decision, parsed: ParsedText) -> Iterator[Issue]:
    """The issues of the matches that a rule about English may examine."""
    for match in pattern.finditer(parsed.text):
        for issue in decide(parsed, match):
            # Checked last: to find the reserved parts of a text costs more.
            if parsed.free(*match.span()):
                yield issue


# --- articles ---

_SOUNDS = patterns_of(__file__, "sounds")
_ARTICLES = {"consonant": "a", "vowel": "an", "onset": "a"}
_ARTICLE_WORDS = words_of(__file__, "articles")


def _check_article(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    article, word = match.groups()
    sound = _choose_article(word.lower())
    if sound is None or article.lower() == sound or _is_name(parsed, match):
        return
    fix = sound.capitalize() if article[0] == "A" else sound
    letter = "an" if word[0].lower() in "aeiou" else "a"
    joined = _PATTERNS["hyphenated"].match(parsed.text, match.start(2))
    words = {word.lower(), joined.group().lower() if joined else ""}
    safe = letter == sound or not _ARTICLE_WORDS["undisputed"].isdisjoint(words)
    message = f'"{sound}" before "{word}"'
    yield parsed.issue(match.span(1), fix, message, "article", safe=safe)


def _choose_article(word: str) -> str | None:
    """The article the word is spoken with; None when the spelling does not tell."""
    names = (name for name, sound in _SOUNDS.items() if sound.match(word))
    return _ARTICLES.get(next(names, ""))


def _is_name(parsed: ParsedText, match: re.Match[str]) -> bool:
    """True when the `a` names a variable, a record, a section."""
    article, word = match.groups()
    start = match.start()
    return (
        (article[0] == "A" and start not in parsed.sentence_starts)
        or word in _ARTICLE_WORDS["not_a_noun"]
        or bool(_PATTERNS["plural"].search(word))
        or (article.lower() == "a" and parsed.word_before(start) in _ARTICLE_WORDS["named"])
    )


articles = partial(_find_issues, _PATTERNS["article"], _check_article)
"""`a` before a vowel sound and `an` before a consonant sound.

Safe when letter and sound agree or the sound is not disputed, a suggestion on the sound alone."""


# --- repetition ---

_REPETITION = "repeated_word"
_DOUBLED = words_of(__file__, "repetition")


def repetition(parsed: ParsedText) -> Iterator[Issue]:
    """Words repeated by accident; only in lines long enough to be sentences."""
    # What its neighbours decide is in the table.
    yield from confusions(parsed, (_REPETITION,))
    yield from _find_issues(_PATTERNS["repeated"], _check_repeated, parsed)


def _check_repeated(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    (start, end), word = match.span(), match[1].lower()
    opens = word != match[1] and word in _DOUBLED["openers"] and start in parsed.sentence_starts
    if (
        not (opens or (word == match[1] and word not in _DOUBLED["legitimate"]))
        or any(again != word for again in match.group().split()[1:])
        or min(parsed.words_in_line(start), parsed.words_in_line(end)) < 4
    ):
        return
    fix = match[1]
    if "\n" in match.group() and parsed.text[end : end + 1] == " ":
        # The text stays wrapped: the line now ends after the one word.
        end += 1
        fix += "\r\n" if "\r" in match.group() else "\n"
    message, safe = f'"{word}" is repeated', word in _DOUBLED["certain"]
    yield parsed.issue((start, end), fix, message, _REPETITION, "repetition", safe=safe)


# --- white space ---

_AROUND = words_of(__file__, "whitespace")


def _check_space(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    start, end = match.span()
    mark = match.group(2)
    # Inside a sentence a full stop, "!" or "?" between spaces is an operator or an argument, and
    # behind an address the space is on purpose.
    if mark != "," and (
        parsed.text[end : end + 40].lstrip(" ")[:1].islower() or not parsed.free(start - 1, start)
    ):
        return
    # An ellipsis with spaces, a dotted pair.
    if mark == "." and parsed.text[end : end + 2].strip()[:1] in {".", "("}:
        return
    previous = parsed.word_before(start + 1)
    is_command = mark == "." and previous in _AROUND["commands"]
    is_operator = is_command or previous in _AROUND["before_operator"]
    if not is_operator and parsed.words_in_line(start) >= 3:
        message = f'no space before "{mark}"'
        yield parsed.issue((start, end), mark, message, "space_before_punctuation", "spacing")


spacing = partial(_find_issues, _PATTERNS["space"], _check_space)
"""Spaces before punctuation."""
