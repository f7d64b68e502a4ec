"""What models write around an answer and in its place: reasoning, chat templates, loops."""

import re
from collections import defaultdict
from typing import NamedTuple

from sifaka.text.tables import patterns_of

# --- reasoning ---

_REASONING = patterns_of(__file__, "reasoning")
_LOOPS = patterns_of(__file__, "loops")
_ENDS = {"square": r"\[/THINK\]", "moon": "◁/think▷", "channel": r"<\|end\|>|<channel\|>"}


class CleanReply(NamedTuple):
    """A reply without what is not the answer."""

    text: str
    removed: tuple[str, ...] = ()
    """The parts that were taken off, in words."""
    open: bool = False
    """True when reasoning begins and does not end: there may be no answer at all."""


def holds_template(text: str) -> bool:
    """True when a text has tags of reasoning or of chat templates itself."""
    return _REASONING["looks"].search(text) is not None


def answer_of(reply: str) -> CleanReply:
    """The answer in a reply: without sections of reasoning and tokens of chat templates.

    A section begins a line. One that only ends began in the prompt, as chat templates have it.
    """
    if not holds_template(reply):
        return CleanReply(reply)
    begun = _REASONING["role"].sub("", reply, count=1)
    text, left_open = _remove_reasoning(begun)
    bare = _REASONING["role"].sub("", text, count=1)
    if end := _REASONING["end"].search(bare):
        bare = bare[: end.start()]
    parts = {
        "reasoning": text != begun,
        "tokens of a chat template": (reply, text) != (begun, bare),
    }
    removed = tuple(part for part, is_gone in parts.items() if is_gone)
    return CleanReply(bare.strip() if removed else reply, removed, left_open)


def _is_in_json(before: str) -> bool:
    """True when a string of JSON is open at the end."""
    return '{"' in before and before.replace('\\"', "").count('"') % 2 == 1


def _remove_reasoning(text: str) -> tuple[str, bool]:
    """The text without its sections of reasoning, and whether one is not closed."""
    opened = _REASONING["opened"].search(text)
    closed = _REASONING["closed"].search(text)
    first = closed and (opened is None or closed.start() < opened.start())
    if closed and first and not _is_in_json(text[: closed.start()]):
        text = text[closed.end() :]
    parts: list[str] = []
    at = 0
    while opened := _REASONING["opened"].search(text, at):
        kind = opened.lastgroup or "name"
        end = _ENDS.get(kind) or rf"</{re.escape(opened['name'])}>"
        closing = re.compile(end, re.IGNORECASE).search(text, opened.end())
        parts.append(text[at : opened.start()])
        if closing is None:
            return "".join(parts), True
        at = closing.end()
    return "".join((*parts, text[at:])), False


# --- loops ---

_LONGEST = 60
"""Words of what is repeated."""
_MOST_WORDS = 40_000
"""Words at the end of a text that are examined."""
_TIMES = 4
_WORDS = 24
"""A stretch is a loop from so many repetitions, and so many words of them."""
_TWICE = 40
"""Characters of a text from which two copies of it are no figure of speech."""


def longest_loop(text: str) -> int:
    """The words of the longest stretch that repeats a few words at least four times; 0 for none.

    Rows of tables and blocks of code do not count. In writing without spaces, characters are words.
    """
    if run := _LOOPS["character"].search(text):
        return max(_WORDS, run.end() - run.start())
    prose = _LOOPS["code"].sub("", _LOOPS["row"].sub("", _LOOPS["number"].sub("", text)))
    tokens = _LOOPS["spelt"].sub(lambda match: f" {match[0]} ", prose)
    words = [word.casefold() for word in _LOOPS["word"].findall(tokens)][-_MOST_WORDS:]
    longest = 0
    places: defaultdict[str, list[int]] = defaultdict(list)
    again: dict[int, int] = {}  # by the period: how many words up to here stood there before
    for at, word in enumerate(words):
        periods = [at - place for place in places[word][-_LONGEST:] if at - place <= _LONGEST]
        again = {period: again.get(period, 0) + 1 for period in periods}
        places[word].append(at)
        for period, count in again.items():
            if count + period > longest and count + period >= max(_WORDS, _TIMES * period):
                has_letters = any(each[0].isalpha() for each in words[at - period : at])
                longest = count + period if has_letters else longest
    return longest


def single(text: str) -> str:
    """One copy of a text that is nothing but copies of itself, each on lines of its own."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    for copies in (2, 3):
        first = lines[: len(lines) // copies]
        is_one = len(set(first)) == len(first) and sum(map(len, first)) >= _TWICE
        if is_one and first * copies == lines:
            ends = [line.end() for line in _LOOPS["line"].finditer(text.strip())]
            return text.strip()[: ends[len(first) - 1]].rstrip()
    return text
