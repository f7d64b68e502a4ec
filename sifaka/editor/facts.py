"""The facts around an edit: numbers, addresses and negations, which it leaves as they were."""

from collections import Counter
from functools import lru_cache

from sifaka.record.results import Issue
from sifaka.text.prose import urls
from sifaka.text.tables import patterns_of

WINDOW = 40
"""Characters compared on each side of an edit, rounded up to whole words."""

_PATTERNS = patterns_of(__file__, "facts")


def facts(text: str) -> Counter[str]:
    """The numbers, URLs and negations of a text, each with how often it occurs.

    The ways to write `not` count as one, so that `cannot` may become `can't`.
    """
    counts = Counter[str](_PATTERNS["number"].findall(text))
    if ":/" in text or "www." in text or "mailto:" in text:
        counts.update(text[start:end] for start, end in urls(text))
    for match in _PATTERNS["negation"].finditer(text):
        word = match.group().lower()
        counts["not" if word.endswith("t") else word.replace("noone", "no")] += 1
    return counts


def keeps_facts(text: str, issue: Issue) -> bool:
    """True when the issue's fix leaves the facts nearby unchanged.

    A repaired encoding may bring a negation to light: `donâ€™t` has none, `don’t` has.
    """
    start, end, fix = issue.start or 0, issue.end or 0, issue.fix or ""
    left, right = _find_window(text, start, end)
    after = text[left:start] + fix + text[end:right]
    return _have_the_same_facts(text[left:right], after, encoding=issue.category == "encoding")


# Asked when a fix is found, and again when it is applied.
@lru_cache(maxsize=1_000)
def _have_the_same_facts(before: str, after: str, *, encoding: bool) -> bool:
    one, other = facts(before), facts(after)
    if encoding:
        one.pop("not", None)
        other.pop("not", None)
    return one == other


def keeps_surroundings(text: str, issue: Issue) -> bool:
    """True when the fix changes facts in the replaced words only, not beside them.

    For requested replacements: those may name another number on purpose.
    """
    start, end, fix = issue.start or 0, issue.end or 0, issue.fix or ""
    left, right = _find_window(text, start, end)
    before = facts(text[left:start]) + facts(text[end:right])
    glued = facts(text[left:start] + fix + text[end:right])
    is_apart = facts(text[left:right]) == before + facts(text[start:end])
    return not is_apart or glued == before + facts(fix)


def _find_window(text: str, start: int, end: int) -> tuple[int, int]:
    left, right = max(0, start - WINDOW), min(len(text), end + WINDOW)
    while left > 0 and not text[left - 1].isspace():
        left -= 1
    while right < len(text) and not text[right].isspace():
        right += 1
    return left, right
