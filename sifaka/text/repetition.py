"""Loops: a model that writes the same again and again until it is stopped."""

import re
from collections.abc import Sequence
from operator import eq

_WORD = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")
_NUMBER = re.compile(r"^[ \t]*\d+[.)]", re.MULTILINE)
_ROW = re.compile(r"^[ \t]*\|.*$", re.MULTILINE)
_CODE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_LONGEST = 60
"""Words of what is repeated."""
_MOST_WORDS = 40_000
"""Words at the end of a text that are looked at."""
_TIMES = 4
_WORDS = 24
"""A stretch is a loop from so many repetitions, and so many words of them."""
_AGAIN = _WORDS * (_TIMES - 1) // _TIMES
"""The fewest words of a loop behind its first repetition, whatever its period."""
_CHARACTER = re.compile(r"(?!\s|[-=_*.#~|])(.)\1{119,}", re.DOTALL)
_SPELT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]")
_TWICE = 40
"""Characters of a text from which two copies of it are no figure of speech."""


def longest_loop(text: str) -> int:
    """The words of the longest stretch that repeats a few words at least four times; 0 for none.

    Rows of tables and blocks of code do not count. In writing without spaces, characters are words.
    """
    if run := _CHARACTER.search(text):
        return max(_WORDS, run.end() - run.start())
    prose = _CODE.sub("", _ROW.sub("", _NUMBER.sub("", text)))
    tokens = _SPELT.sub(lambda match: f" {match[0]} ", prose)
    words = [word.casefold() for word in _WORD.findall(tokens)][-_MOST_WORDS:]
    if not _may_loop(words):
        return 0
    longest = 0
    for period in range(1, min(_LONGEST, len(words) // _TIMES) + 1):
        longest = max(longest, _of_period(words, period))
    return longest


def _may_loop(words: Sequence[str]) -> bool:
    """False where no stretch as long as a loop has words alone that stood shortly before."""
    last: dict[str, int] = {}
    run = 0
    for at, word in enumerate(words):
        run = run + 1 if at - last.get(word, -_WORDS * _LONGEST) <= _LONGEST else 0
        last[word] = at
        if run >= _AGAIN:
            return True
    return False


def _of_period(words: Sequence[str], period: int) -> int:
    least = max(_WORDS, _TIMES * period)
    if sum(map(eq, words, words[period:])) + period < least:
        return 0
    longest = run = 0
    letters = False
    for at, same in enumerate(map(eq, words, words[period:])):
        if not same:
            run, letters = 0, False
            continue
        run += 1
        letters = letters or words[at][0].isalpha()
        if letters and run + period >= least:
            longest = max(longest, run + period)
    return longest


def single(text: str) -> str:
    """One copy of a text that is nothing but copies of itself, each on lines of its own."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    for copies in (2, 3):
        first = lines[: len(lines) // copies]
        is_one = len(set(first)) == len(first) and sum(map(len, first)) >= _TWICE
        if is_one and first * copies == lines:
            return text.strip()[: _end_of(first, text.strip())]
    return text


def _end_of(lines: Sequence[str], text: str) -> int:
    """The place after these lines, with which a text begins."""
    at = 0
    for line in lines:
        at = text.index(line, at) + len(line)
    return at
