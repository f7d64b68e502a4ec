"""English prose: whether a text is, the syllables of a word, the Flesch-Kincaid grade."""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from sifaka.classifiers.protocol import UNKNOWN, Classification
from sifaka.text.language import tell_language
from sifaka.text.markdown import code_spans
from sifaka.text.prose import Span, blanked, sentences, urls
from sifaka.text.tables import patterns_of

_CERTAIN = 0.5


def other_language(text: str) -> str | None:
    """The ISO 639-1 code of a text that is surely not English; code and URLs do not count."""
    result = tell_language(blanked(text, [*code_spans(text), *urls(text)]))
    return result.language if result.language != "en" and result.confidence >= _CERTAIN else None


def unread(text: str, coverage: str) -> Classification | None:
    """That a text is unknown to a classifier of English, if it is in another language."""
    if (language := other_language(text)) is None:
        return None
    reason = f"{coverage}; the text reads as {language!r}"
    return Classification(label=UNKNOWN, confidence=0, coverage=reason)


WORD_LIMIT = 60
"""The most letters that the rules are for."""

_PATTERNS = patterns_of(__file__, "english")
_SILENT = (
    re.compile(r"(?:[aeiouy]l|[aeiouy].*[^aeiouyl]|[aeiouy].*[gq]u)e$"),
    re.compile(r"(?:[aeiouy]l|[aeiouy].*(?:[^aeiouylszxcgh]|th|ph|gh|[gq]u))es$"),
    re.compile(r"(?:[aeiouy]l|[aeiouy].*(?:[^aeiouytdl]|ll))ed$"),
    re.compile(
        r"[aeiouy][^aeiouy]*[^aeiouyl]e(?=(?:ly|ment|ful|less|ness)s?$)|"
        r"^(?:some|there|where|here|fore|more|like|home|life|time|side|make|base|white|note|name)"
        r"(?=[bcdfghjklmnpqstvwz][aeiouyhlr])"
    ),
)
"""What is written and not spoken, at the end of a word and inside."""
_EXCEPTIONS = {
    "area": 3, "being": 2, "business": 2, "colonel": 2, "every": 2, "everything": 3,
    "everyone": 3, "evening": 2, "idea": 3, "ideas": 3, "areas": 3, "people": 2, "quiet": 2,
    "real": 1, "something": 2, "someone": 2, "sometimes": 2, "therefore": 2, "really": 2,
    "one": 1, "once": 1, "eye": 1, "eyes": 1, "queue": 1, "recipe": 3, "simile": 3, "maybe": 2,
    "poem": 2, "science": 2, "society": 4, "variety": 4, "anxiety": 4, "reality": 4, "create": 2,
    "naive": 2, "cafe": 2, "resume": 2, "apostrophe": 4, "catastrophe": 4, "facsimile": 4,
    "hundred": 2, "naked": 2, "sacred": 2, "wicked": 2, "diet": 2, "lion": 2, "via": 2,
    "argue": 2, "giant": 2, "theatre": 3, "theater": 3, "everybody": 4, "everywhere": 3,
    "everyday": 3,
}  # fmt: skip


def syllables(word: str) -> int:
    """The syllables of a word, at least 1; hyphenated parts add up.

    Vowel groups, corrected for silent endings and for vowels that meet without blending. Right for
    about nine of ten running words, which is what a readability formula needs.
    """
    # A monster is no word: it is neither searched by every rule nor kept in the cache.
    if len(word) > WORD_LIMIT:
        return max(1, len(_PATTERNS["vowels"].findall(word)))
    return _count_syllables(word)


@lru_cache(maxsize=16_384)
def _count_syllables(word: str) -> int:
    decomposed = unicodedata.normalize("NFD", word.lower()).replace("’", "'")
    plain = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    parts = [part.removesuffix("'s").strip("'") for part in re.split(r"[^a-z']+", plain)]
    return max(1, sum(_count_part(part) for part in parts if part))


def _count_part(word: str) -> int:
    if word in _EXCEPTIONS:
        return _EXCEPTIONS[word]
    count = len(_PATTERNS["vowels"].findall(word)) + len(_PATTERNS["hiatus"].findall(word))
    return max(1, count - sum(1 for rule in _SILENT if rule.search(word)))


class SentenceCounts(NamedTuple):
    """The counts of one sentence, or of several together."""

    span: Span
    sentences: int
    words: int
    syllables: int

    @property
    def grade(self) -> float:
        """The US school year that reads it with ease, to one decimal.

        Kincaid, Fishburne, Rogers and Chissom, "Derivation of New Readability Formulas for Navy
        Enlisted Personnel", 1975.
        """
        # Rounded, so that a text never fails for a difference that its message does not show.
        return round(
            0.39 * self.words / self.sentences + 11.8 * self.syllables / self.words - 15.59, 1
        )


def measured(text: str) -> list[SentenceCounts]:
    """The sentences with at least one word; nothing when the text is mostly in another script.

    Headings, tables, code and URLs do not count, and each item of a list is a sentence of its own.
    """
    # With spaces in place of what is not prose, so that places stay.
    prose = blanked(text, [*code_spans(text), *urls(text)])
    prose = _PATTERNS["not_prose"].sub(lambda line: " " * len(line.group()), prose)
    latin = 0
    counts: list[SentenceCounts] = []
    for start, end in sentences(prose):
        words: list[str] = _PATTERNS["latin_word"].findall(prose, start, end)
        if words:
            latin += sum(map(len, words))
            counts.append(SentenceCounts((start, end), 1, len(words), sum(map(syllables, words))))
    others = 0 if prose.isascii() else len(_PATTERNS["other_letter"].findall(prose))
    return counts if latin >= others else []


def together(text: str, sentences: list[SentenceCounts]) -> SentenceCounts:
    """The counts of a whole text from those of its sentences, of which there is at least one."""
    return SentenceCounts(
        (0, len(text)),
        len(sentences),
        sum(sentence.words for sentence in sentences),
        sum(sentence.syllables for sentence in sentences),
    )
