"""Words that are written wrongly: misspelt, or written for others that sound alike.

Misspellings are those that `typos` knows. `confusions.toml` has the others, and the contractions
without their apostrophe.
"""

import re
import zlib
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path

from sifaka.editor.parsed_text import ParsedText
from sifaka.record.results import Issue
from sifaka.text.tables import patterns_of, table, words_of

_PATTERNS = patterns_of(__file__, "spelling")
_WORDS = words_of(__file__, "spelling")
_SHORT = frozenset({"teh", "hte", "adn"})


def spelling(parsed: ParsedText) -> Iterator[Issue]:
    """Misspelt words: lower-case ones with a single correction are safe to fix."""
    places = parsed.words
    misspelt = list(filter(corrections_of, places))
    terms = _find_terms(parsed) | _WORDS["terms"] if misspelt else frozenset[str]()
    for word in misspelt:
        for match in (_PATTERNS["word"].match(parsed.text, start) for start in places[word]):
            if match and parsed.free(*match.span()):
                yield from _check_word(parsed, match, corrections_of(word), terms)


@lru_cache(maxsize=10_000)
def corrections_of(word: str) -> Sequence[str]:
    """What a misspelt word may stand for; empty for one that is not known as misspelt."""
    lines = known_misspellings()
    at = bisect_left(lines, f"{word} ")
    misspelt, *fixes = lines[at].split(" ") if at < len(lines) else ("",)
    return fixes if misspelt == word else ()


@lru_cache(maxsize=1)
def known_misspellings() -> Sequence[str]:
    """A line for each, in their order: the word and what it may stand for."""
    packed = Path(__file__).with_name("misspellings.zlib")
    return zlib.decompress(packed.read_bytes()).decode().split("\n")


def _check_word(
    parsed: ParsedText, match: re.Match[str], fixes: Sequence[str], terms: frozenset[str]
) -> Iterator[Issue]:
    word, begins = match.group(), match.start() in parsed.sentence_starts
    # In the middle of a sentence a capital means a name, and what is very short an abbreviation.
    is_name = (word[0].isupper() and not begins) or (len(word) < 4 and word.lower() not in _SHORT)
    is_term = not terms.isdisjoint({word.lower(), word.lower().removesuffix("s")})
    said_wrong = re.compile(rf"\W*(?:=>|->|→|\b(?:in)?to\b)\W*{re.escape(fixes[0])}")
    if is_name or is_term or said_wrong.match(parsed.text, match.end()):
        return
    beside = parsed.word_before(match.start()), parsed.word_after(match.end())
    sure = len(fixes) == 1 and not _is_doubtful(word.lower(), fixes[0]) and fixes[0] not in beside
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
    return (
        _PATTERNS["follows"].match(parsed.text, match.end()) is None
        or match.group() in parsed.names
    )


def _is_doubtful(word: str, fix: str) -> bool:
    """True when the word may be another word or number, a possessive or a daemon (`buildd`)."""
    other_number = word.endswith("s") != fix.endswith("s")
    return (
        (fix[0] not in word[:2] and word[0] != fix[1:2])
        or (other_number and word.rstrip("s")[-2:] == fix.rstrip("s")[-2:])
        or (word.endswith("ys") and fix.endswith("ies"))  # "the companys logo"
        or (word.endswith(("d", "ds")) and fix == re.sub(r"d(s?)$", r"\1", word))
    )


def _find_terms(parsed: ParsedText) -> frozenset[str]:
    """The words that stand alone in inline code: where `buildd` is code, it is a term in prose."""
    contents = (parsed.text[start:end].strip("`=~+|").strip().lower() for start, end in parsed.code)
    return frozenset(content for content in contents if content.isalpha())


# --- confusions ---

_OPENERS = words_of(__file__, "confusions")["openers"]
_REACH = 60
"""Characters before a word that are examined."""
_CONTRACTION = "contraction"


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """Words that stand for others in a certain place; `confusions.toml` says what each means."""

    rule: str
    words: str
    fix: str
    after: str = ""
    before: str = ""
    opens: bool = False
    safe: bool = True
    capital: bool = False


@cache
def _index() -> Mapping[str, Sequence[Confusion]]:
    """The table, by each of the words that it is about."""
    entries: dict[str, list[Confusion]] = defaultdict(list)
    for row in table(__file__, "confusions")["confusions"]:
        entry = Confusion(**row)
        for word in entry.words.split():
            entries[word].append(entry)
    return entries


def confusions(parsed: ParsedText, rules: Collection[str]) -> Iterator[Issue]:
    """What some of the rules of the table find, for each word by the first entry that fits."""
    return (issue for issue in _find_confusions(parsed) if issue.rule in rules)


@lru_cache(maxsize=1)
def _find_confusions(parsed: ParsedText) -> Sequence[Issue]:
    results: list[Issue] = []
    places = parsed.words
    for word in _index().keys() & places.keys():
        for start in places[word]:
            if _after_any(word).match(parsed.text, start + len(word)) and (
                match := _PATTERNS["confused"].match(parsed.text, start)
            ):
                is_capital = match.group()[0].isupper()
                entries = (each for each in _index()[word] if not (each.capital and is_capital))
                issues = (_check_entry(parsed, match, entry) for entry in entries)
                results += islice(filter(None, issues), 1)
    return results


def _check_entry(parsed: ParsedText, match: re.Match[str], entry: Confusion) -> Issue | None:
    text, word, (start, end) = parsed.text, match.group(), match.span()
    after, begins = _compile(entry.after).match(text, end), start in parsed.sentence_starts
    if (
        after is None
        or (word[0].isupper() and not (begins or word == "I"))
        or (entry.rule == _CONTRACTION and not _is_contraction(parsed, match))
        or (entry.opens and not _opens_clause(parsed, start))
        or (entry.before and not _before(entry.before).search(text, max(0, start - _REACH), start))
        # The words that decide it must be prose as well.
        or not parsed.free(start, max(end, after.end()))
    ):
        return None
    fix = entry.fix.replace("'", parsed.apostrophe).replace("*", word)
    if entry.capital or (word[0].isupper() and begins):
        fix = fix[:1].upper() + fix[1:]
    # Without the words the space behind them goes as well.
    end = after.end("also") if after.groupdict().get("also") else end + (not fix)
    quote = text[start:end]
    why = "is repeated" if entry.rule == "repeated_word" else "can go"
    message = f'"{fix}" instead of "{quote}"' if fix else f'"{quote.strip()}" {why}'
    category = "spelling" if entry.rule == _CONTRACTION else "grammar"
    return parsed.issue(
        (start, end), fix, message, entry.rule, category,
        safe=entry.safe, severity=2 if entry.safe else 3,
    )  # fmt: skip


_compile = cache(re.compile)


@cache
def _after_any(word: str) -> re.Pattern[str]:
    """What must follow a word for one of its entries: one look for all of them."""
    return re.compile(
        "|".join(_PATTERNS["named"].sub("(?:", entry.after) for entry in _index()[word])
    )


@cache
def _before(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{pattern})\Z", re.IGNORECASE)


def _opens_clause(parsed: ParsedText, start: int) -> bool:
    """True when the word at `start` is the first of its sentence or of a clause in it.

    Not after a comma in a question, for `Did she, he or they go` has one as well.
    """
    if start in parsed.sentence_starts:
        return True
    match = _PATTERNS["before"].search(parsed.text, max(0, start - 40), start)
    if match is None or not parsed.free(match.start(), match.end()):
        return False
    if not match.group(2):
        return match.group(1).lower() in _OPENERS
    sentence = parsed.text[parsed.sentence_start_before(start) : start]
    return (
        "," in match.group()
        and not _PATTERNS["auxiliary"].match(sentence)
        and sentence.count(",") == 1
    )


def _is_contraction(parsed: ParsedText, match: re.Match[str]) -> bool:
    """False for an abbreviation, and for a word of a title such as `Dont Look Back`."""
    word, following = match.group(), parsed.text[match.end() : match.end() + 2].strip()
    return word[1:] == word[1:].lower() and not (word[0].isupper() and following[:1].isupper())
