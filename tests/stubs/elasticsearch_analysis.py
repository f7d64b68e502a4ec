"""Analysis of texts as the store's index asks for it, and of nothing else.

The standard tokenizer is UAX #29 without its rules for punctuation between letters or digits,
which the character filter takes out before; scripts without spaces are a token a character.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Any

from tests.stubs.elasticsearch_errors import ElasticError

Json = dict[str, Any]
_KNOWN_FILTERS = {"lowercase", "asciifolding"}
_BY_CHARACTER = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
_TOKEN = re.compile(
    rf"[{_BY_CHARACTER}]|[^\W_{_BY_CHARACTER}](?:[^\W{_BY_CHARACTER}]|[\u0300-\u036f])*"
)
_LONGEST = 255
_FOLDED = str.maketrans({"ß": "ss", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "œ": "oe"})


@dataclass(frozen=True, slots=True)
class Token:
    term: str
    start: int
    end: int


def check_analysis(analysis: Json) -> dict[str, Json]:
    """The analyzers that settings define; what this stub cannot do is refused."""
    filters = analysis.get("filter", {})
    for name, definition in filters.items():
        if definition != {"type": "stemmer", "language": "minimal_english"}:
            raise _refused(f"Unknown filter type [{definition.get('type')}] for [{name}]")
    replaced = analysis.get("char_filter", {})
    for name, definition in replaced.items():
        wanted = {"pattern": "[^\\p{L}\\p{M}\\p{N}]", "replacement": " "}
        if definition != {"type": "pattern_replace", **wanted}:
            raise _refused(f"Unknown char_filter type [{definition.get('type')}] for [{name}]")
    for name, analyzer in analysis.get("analyzer", {}).items():
        for used in set(analyzer["filter"]) - _KNOWN_FILTERS - set(filters):
            raise _refused(f"Custom Analyzer [{name}] failed to find filter under name [{used}]")
        for used in set(analyzer["char_filter"]) - set(replaced):
            raise _refused(f"Custom Analyzer [{name}] failed to find char_filter [{used}]")
        if (analyzer["type"], analyzer["tokenizer"]) != ("custom", "standard"):
            raise _refused(f"Custom Analyzer [{name}] failed to find tokenizer")
    return analysis.get("analyzer", {})


def tokens(analyzer: Json, text: str) -> list[Token]:
    if analyzer["char_filter"]:
        text = re.sub(r"_|[^\w\u0300-\u036f]", " ", text)  # of the same length, so offsets stay
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        for begin in range(match.start(), match.end(), _LONGEST):
            end = min(begin + _LONGEST, match.end())
            found.append(Token(_filtered(analyzer["filter"], text[begin:end]), begin, end))
    return found


def _filtered(filters: list[str], word: str) -> str:
    if "lowercase" in filters:
        word = word.lower()
    if "asciifolding" in filters and not word.isascii():
        # Composed letters only: an accent that stands by itself stays, as in Lucene.
        word = "".join(
            c if unicodedata.combining(c) else unicodedata.normalize("NFD", c)[0] for c in word
        ).translate(_FOLDED)
    if "plurals" in filters:
        word = _singular(word)
    return word


def _singular(word: str) -> str:
    """Lucene's EnglishMinimalStemmer: Harman, How effective is suffixing? (1991)."""
    if len(word) < 3 or word[-1] != "s" or word[-2] in "us":
        return word
    if word[-2] == "e":
        if len(word) > 3 and word[-3] == "i" and word[-4] not in "ae":
            return word[:-3] + "y"
        if word[-3] in "iaoe":
            return word
    return word[:-1]


def _refused(reason: str) -> ElasticError:
    return ElasticError(400, "illegal_argument_exception", reason)
