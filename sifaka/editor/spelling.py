"""Misspelt words, by the known misspellings of `typos`."""

import re
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from sifaka.editor.parsed_text import ParsedText
from sifaka.record.results import Issue
from sifaka.text.tables import words_of

# Underscores are no letters here: _emphasis_ is prose, and names with underscores are protected.
_WORD = re.compile(r"(?<![^\W_])(?<!['’\-/@#.&])[A-Za-z][a-z]+(?![^\W_]|['’@/]|-\w|\.\w)")
_WORDS = words_of(__file__, "spelling")
_SHORT = frozenset({"teh", "hte", "adn"})


def spelling(parsed: ParsedText) -> Iterator[Issue]:
    """Misspelt words: lower-case ones with a single correction are safe to fix."""
    found = list(_WORD.finditer(parsed.text))
    words = {match.group().lower() for match in found}
    corrections = {word: fixes for word in words if (fixes := corrections_of(word))}
    if not corrections:
        return
    terms = _terms_of(parsed) | _WORDS["terms"]
    for match in found:
        word = match.group()
        fixes = corrections.get(word.lower(), ())
        if fixes and parsed.free(*match.span()):
            yield from _issue(parsed, match, word, fixes, terms)


@lru_cache(maxsize=10_000)
def corrections_of(word: str) -> Sequence[str]:
    """What a misspelt word may be meant to be; empty for one that is not known as misspelt."""
    lines = known_misspellings()
    at = bisect_left(lines, f"{word} ")
    misspelt, *fixes = lines[at].split(" ") if at < len(lines) else ("",)
    return fixes if misspelt == word else ()


@lru_cache(maxsize=1)
def known_misspellings() -> Sequence[str]:
    """A line for each, in their order: the word and what it may be meant to be."""
    packed = Path(__file__).with_name("misspellings.zlib").read_bytes()
    return zlib.decompress(packed).decode().split("\n")


def _issue(
    parsed: ParsedText, match: re.Match[str], word: str, fixes: Sequence[str], terms: frozenset[str]
) -> Iterator[Issue]:
    lowered, begins = word.lower(), match.start() in parsed.sentence_starts
    # In the middle of a sentence a capital means a name.
    is_name = word[0].isupper() and not begins
    if is_name or not terms.isdisjoint({lowered, lowered.removesuffix("s")}):
        return
    if re.compile(rf"\s*(?:=>|->|→)\s*{re.escape(fixes[0])}").match(parsed.text, match.end()):
        return  # it is said to be a misspelling
    beside = parsed.word_before(match.start()), parsed.word_after(match.end())
    sure = len(fixes) == 1 and not _is_doubtful(lowered, fixes[0]) and fixes[0] not in beside
    if word[0].isupper():
        fixes = [fix[:1].upper() + fix[1:] for fix in fixes]
        sure = sure and not _may_be_name(parsed, match)
    choices = " or ".join(f'"{fix}"' for fix in fixes[:3])
    message = (
        f'"{word}" should be {choices}' if sure else f'"{word}" may be a misspelling of {choices}'
    )
    fix = fixes[0] if len(fixes) == 1 else None
    yield parsed.issue(match.span(), fix, message, "misspelling", "spelling", safe=sure)


def _may_be_name(parsed: ParsedText, match: re.Match[str]) -> bool:
    """True when a capital at the start of a sentence may belong to a name.

    It may where another capital follows (`Lenght Brothers`), where nothing does, and where the
    same word has a capital inside another sentence.
    """
    following = re.compile(r"[*_]{0,2} +[a-z]").match(parsed.text, match.end())
    if following is None:
        return True
    return match.group() in parsed.names


def _is_doubtful(word: str, fix: str) -> bool:
    """True when the word is too short to be sure, or is a possessive or a daemon (`buildd`)."""
    if len(word) < 4 and word not in _SHORT:
        return True
    if word.endswith("ys") and fix.endswith("ies"):
        return True  # "the companys logo" lacks an apostrophe
    return word.endswith(("d", "ds")) and fix == re.sub(r"d(s?)$", r"\1", word)


def _terms_of(parsed: ParsedText) -> frozenset[str]:
    """The words that stand alone in inline code: where `buildd` is code, it is a term in prose."""
    contents = (parsed.text[start:end].strip("`=~+|").strip().lower() for start, end in parsed.code)
    return frozenset(content for content in contents if content.isalpha())
