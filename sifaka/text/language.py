"""The language of a text, by its script and by the words that hold its sentences together."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from sifaka.text.function_words import FUNCTION_WORDS
from sifaka.text.prose import Span
from sifaka.text.scripts import SCRIPT_LANGUAGES, language_of_script, script

LEAST_LETTERS = 20
"""With fewer, a name or a loan word would decide."""
_LEAST_OF_DENSE_SCRIPT = 6
"""The same for scripts that only one language is written in."""
SAMPLE = 10_000
"""Characters that are looked at of the beginning, the middle and the end of a long text."""
OWN_LANGUAGES = frozenset({*FUNCTION_WORDS, *SCRIPT_LANGUAGES})
"""The languages that are told here."""
SURE_SCRIPTS = frozenset({"kana", "hangul", "el", "he", "bn", "ta", "te", "th", "ka", "hy", "han"})
"""Scripts that leave little doubt about the language."""
_LEAST_EVIDENCE = 0.08
"""Share of function words below which a text is a list of names, or of an unknown language."""

_NAMES = """
    en english englische englisch anglais inglés
    fr french französische französisch français francés
    de german deutsche deutsch allemand alemán / es spanish spanische spanisch espagnol español
    it italian italienische italien / pt portuguese / nl dutch / pl polish / ru russian
    zh chinese mandarin / ja japanese / ko korean / ar arabic / tr turkish / sv swedish
    da danish / no norwegian / fi finnish / cs czech / el greek / hi hindi / uk ukrainian
    he hebrew / la latin / th thai / vi vietnamese / id indonesian / hu hungarian / ro romanian
    bg bulgarian / hr croatian / sr serbian / sk slovak / ca catalan / fa persian farsi
    ur urdu / bn bengali / ta tamil / sw swahili / cy welsh / ga irish / eo esperanto
"""
_NAMED = tuple(line.split() for line in _NAMES.replace("\n", " / ").split(" / ") if line.strip())
_LANGUAGES = {name: code for code, *names in _NAMED for name in names}
"""The codes of languages by the words that a task names them with."""
LANGUAGE_NAMES = {code: name.capitalize() for code, name, *_ in _NAMED}
"""The English names of languages by their codes."""
_INTO = re.compile(
    r"\b(?:(?:in|into|to|auf|ins|en|al)[ ]|(?=\w{4,20}[ ](?:version|fassung|translation)))"
    rf"(?P<language>{'|'.join(_LANGUAGES)})(?![-\w])",
    re.IGNORECASE,
)
_ANOTHER = re.compile(
    rf"\s*[,/]?\s*(?:(?:and|or|und|oder|et|ou|y|o)\s+)?(?:{'|'.join(_LANGUAGES)})\b", re.IGNORECASE
)
_TRANSLATE = re.compile(
    r"\btranslat|übersetz|\btradui|\btraduc|\btraduz|翻译|翻譯|翻訳|译成|перевед|번역"
    r"|\bvertaa?l|\böversätt|\bovers[æe]tt|\bkäännä|tłumacz|\bpřelož|\bprelož|\bçevir|\bfordíts|\bdịch\b"
    r"|\bterjemah|переклад|перевод|превед|ترجم|แปล|μεταφρ|अनुवाद|תרג",
    re.IGNORECASE,
)

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_LETTER = re.compile(r"[^\W\d_]")
_OWN_LETTERS = {
    "de": "ßü", "fr": "èêëçœùûîï", "es": "ñ¿¡", "pt": "ãõç", "it": "òì", "sv": "å", "da": "æø",
    "no": "æøå", "fi": "äö", "pl": "łąęśżźćń", "cs": "ěřůšžčý", "ro": "șțăâî", "tr": "ğışçöü",
}  # fmt: skip


class Told(NamedTuple):
    """The language of a text, and how sure that is."""

    language: str | None
    """ISO 639-1; None where it cannot be told."""
    confidence: float = 0.0
    scores: tuple[tuple[str, float], ...] = ()
    """The languages that were weighed, 0 to 1."""
    short: bool = False
    """True of a text with too few letters."""


def tell_language(prose: str) -> Told:
    """The language of most of a text; of a long one, the beginning, middle and end are read."""
    prose = sample(prose)
    written, share = script(prose)
    if not is_enough(prose, written):
        return Told(None, short=True)
    language = language_of_script(written, prose)
    if language:
        confidence = round(share * (0.9 if written in SURE_SCRIPTS else 0.75), 2)
        return Told(language, confidence, ((language, confidence),))
    scores = _weigh(prose)
    ranked = sorted(scores, key=scores.__getitem__, reverse=True)
    best, second = scores[ranked[0]], scores[ranked[1]]
    if best < _LEAST_EVIDENCE:
        return Told(None)
    # The lead says more than the height: related languages share half of these words.
    confidence = round(share * min(0.95, 0.3 + (best - second) / best), 2)
    weighed = tuple((code, round(min(1.0, scores[code]), 3)) for code in ranked[:3])
    return Told(ranked[0], confidence, weighed)


def asks_for_translation(task: str) -> bool:
    """True when a task asks for a text in another language, or names the language of the text."""
    return bool(_TRANSLATE.search(task) or _INTO.search(task))


def translation_into(task: str) -> frozenset[str] | None:
    """The languages that a task asks to translate into; None when it does not say `translate`.

    Empty where it names none that is known.
    """
    if not _TRANSLATE.search(task):
        return None
    return frozenset(_LANGUAGES[found["language"].lower()] for found in _INTO.finditer(task))


def languages_named(task: str) -> Iterator[tuple[Span, str]]:
    """The languages behind words such as `in`: the place of both words, and the code.

    One that another follows (`in English and German`) is left out.
    """
    return (
        (found.span(), _LANGUAGES[found["language"].lower()])
        for found in _INTO.finditer(task)
        if not _ANOTHER.match(task, found.end())
    )


def is_enough(prose: str, written: str) -> bool:
    """True when a text of this script has the letters that it takes to tell its language."""
    least = _LEAST_OF_DENSE_SCRIPT if written in SURE_SCRIPTS else LEAST_LETTERS
    letters = islice(_LETTER.finditer(prose), least)
    return sum(1 for _ in letters) == least


def sample(prose: str) -> str:
    """The beginning, the middle and the end of a long text."""
    if len(prose) <= 3 * SAMPLE:
        return prose
    middle = len(prose) // 2
    return " ".join((prose[:SAMPLE], prose[middle : middle + SAMPLE], prose[len(prose) - SAMPLE :]))


def _weigh(prose: str) -> dict[str, float]:
    """The share of words that hold a language together, and a little for letters of its own."""
    words = [word.lower().replace("’", "'") for word in _WORD.findall(prose)]
    total = max(1, len(words))
    letters = max(1, sum(map(len, words)))
    joined = "".join(words)
    own = {} if joined.isascii() else _OWN_LETTERS
    scores = {
        code: 2 * sum(map(joined.count, own.get(code, ""))) / letters for code in FUNCTION_WORDS
    }
    languages = _languages()
    for word in words:
        if codes := languages.get(word):
            # A word of several languages says less about each.
            weight = 1 / len(codes) ** 0.5 / total
            for code in codes:
                scores[code] += weight
    return scores


@lru_cache(maxsize=1)
def _languages() -> dict[str, tuple[str, ...]]:
    """The languages of each function word."""
    found: dict[str, tuple[str, ...]] = {}
    for code, listed in FUNCTION_WORDS.items():
        for word in set(listed.split()):
            found[word] = (*found.get(word, ()), code)
    return found
