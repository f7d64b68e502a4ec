"""The choice among Harper's rules: on by default, safe, off.

Harper takes most of its time to read a sentence, whatever rules are on. So each rule that is on by
default has its signs, words without which it finds little, and only sentences with signs are read.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from sifaka.editor.harper_signs import TABLE
from sifaka.text.harper import ALL
from sifaka.text.tables import words_of

DEFAULT: frozenset[str] = frozenset(
    name for line in TABLE.splitlines() for name in line.partition("|")[0].split()
)
"""The rules with evidence: each finds a mistake in `benchmarks/quality/editor`, and few of their
findings in clean documents are wrong."""

SAFE = frozenset({"AdjectiveDoubleDegree"})
"""At least five findings each, in labelled sentences and clean documents, and none was wrong."""

OFF = frozenset[str]().union(*words_of(__file__, "harper").values())
"""The rules that run only where they are named one by one."""

_WORD = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)?|\d+")


def asked(names: Iterable[str]) -> str:
    """The rules as they are sent to Harper's process: their names, in order, or `ALL`."""
    wanted = frozenset(names)
    return ALL if ALL in wanted else " ".join(sorted(wanted))


def signs(text: str) -> Iterator[int]:
    """The offsets of the words at which a rule that is on by default may find something."""
    following = _following()
    for word in _WORD.finditer(text):
        pattern = following.get(word.group().lower().replace("’", "'"))
        if pattern is not None and pattern.match(text, word.end()):
            yield word.start()


@cache
def _following() -> Mapping[str, re.Pattern[str]]:
    """What has to follow a word to make it a sign."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in TABLE.splitlines():
        for sign in line.partition("|")[2].split(" ; "):
            words, _, after = sign.partition(" > ")
            pattern = after.strip().replace(" ", r"\s+")
            for word in words.split():
                found[word].append(rf"\s+(?:{pattern})(?!\w)" if pattern[:1] != "[" else pattern)
    return {
        word: re.compile("|".join(after) if r"\s+(?:)(?!\w)" not in after else "")
        for word, after in found.items()
    }
