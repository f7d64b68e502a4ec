"""Identifies the language of a text."""

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Literal, Protocol, cast

from sifaka.classifiers.function_words import FUNCTION_WORDS
from sifaka.classifiers.protocol import UNKNOWN, Classification
from sifaka.classifiers.scripts import SCRIPT_LANGUAGES, language_of_script, script
from sifaka.errors import ConfigurationError
from sifaka.text.markdown import code_spans
from sifaka.text.prose import urls
from sifaka.text.sentences import blanked

LEAST_LETTERS = 20
"""With fewer, a name or a loan word would decide."""
_LEAST_OF_DENSE_SCRIPT = 6
"""The same for scripts that only one language is written in."""
SAMPLE = 10_000
"""Characters that are looked at of the beginning, the middle and the end of a long text."""
OWN_LANGUAGES = frozenset({*FUNCTION_WORDS, *SCRIPT_LANGUAGES})
"""The languages that need no package."""
INSTALL = "pip install 'sifaka-mcp[classifiers]'"

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_LETTER = re.compile(r"[^\W\d_]")
_OWN_LETTERS = {
    "de": "ßü", "fr": "èêëçœùûîï", "es": "ñ¿¡", "pt": "ãõç", "it": "òì", "sv": "å", "da": "æø",
    "no": "æøå", "fi": "äö", "pl": "łąęśżźćń", "cs": "ěřůšžčý", "ro": "șțăâî", "tr": "ğışçöü",
}  # fmt: skip

_MACRO_LANGUAGES = {"nb": "no", "nn": "no", "wuu": "zh", "yue": "zh", "arz": "ar", "ary": "ar"}
"""Varieties that are asked for by the code of the language they belong to."""

Engine = Literal["auto", "own", "py3langid"]


class _Identifier(Protocol):
    """The part of py3langid in use, which has no types."""

    @property
    def labels(self) -> list[str]: ...

    def rank(self, text: str) -> list[tuple[str, float]]: ...


@dataclass(frozen=True)
class LanguageClassifier:
    """Tells a language by its ISO 639-1 code; a text with too few letters is `unknown`.

    Scripts of one language decide by themselves. Between languages of one script decides
    `py3langid` where it is installed (Lui and Baldwin, "langid.py: An Off-the-shelf Language
    Identification Tool", 2012), otherwise the words that hold sentences together.
    """

    engine: Engine = "auto"
    """`auto` takes `py3langid` when it is installed."""
    name: str = "language"

    def __post_init__(self) -> None:
        if self.engine == "py3langid" and not _installed():
            raise ConfigurationError("the package py3langid is not installed", INSTALL)

    @property
    def labels(self) -> tuple[str, ...]:
        """The codes it may answer, and `unknown`."""
        own = set(OWN_LANGUAGES)
        if self.engine != "own" and _installed():
            own |= {_MACRO_LANGUAGES.get(code, code) for code in _identifier().labels}
        return (*sorted(own), UNKNOWN)

    def classify(self, text: str) -> Classification:
        """The language of most of the text, code and URLs left out."""
        prose = _sample(blanked(text, [*code_spans(text), *urls(text)]))
        if self.engine == "own" or not _installed():
            return self._by_words(prose, "script and function words")
        return self._by_model(prose)

    def _by_words(self, prose: str, coverage: str) -> Classification:
        written, share = script(prose)
        if not _enough(prose, written):
            return Classification(label=UNKNOWN, confidence=0, coverage=f"{coverage}; too short")
        language = language_of_script(written, prose)
        if language:
            confidence = round(share * (0.9 if written in _SURE else 0.75), 2)
            return Classification(
                label=language,
                confidence=confidence,
                scores={language: confidence},
                coverage=coverage,
            )
        scores = _weigh(prose)
        ranked = sorted(scores, key=lambda code: -scores[code])
        best, second = scores[ranked[0]], scores[ranked[1]]
        if best < _LEAST_EVIDENCE:
            return Classification(label=UNKNOWN, confidence=0, coverage=coverage)
        # The lead says more than the height: related languages share half of these words.
        confidence = round(share * min(0.95, 0.3 + (best - second) / best), 2)
        return Classification(
            label=ranked[0],
            confidence=confidence,
            scores={code: round(min(1.0, scores[code]), 3) for code in ranked[:3]},
            coverage=coverage,
        )

    def _by_model(self, prose: str) -> Classification:
        coverage = "script and py3langid"
        written, _ = script(prose)
        if written in _SURE or not _enough(prose, written):
            return self._by_words(prose, coverage)
        scores: dict[str, float] = {}
        for code, share in _identifier().rank(prose)[:3]:
            macro = _MACRO_LANGUAGES.get(code, code)
            scores[macro] = round(scores.get(macro, 0.0) + share, 3)
        label = max(scores, key=lambda code: scores[code])
        return Classification(
            label=label,
            confidence=min(1.0, round(scores[label], 2)),
            scores={code: min(1.0, score) for code, score in scores.items()},
            coverage=coverage,
        )


_SURE = frozenset({"kana", "hangul", "el", "he", "bn", "ta", "te", "th", "ka", "hy", "han"})
"""Scripts that leave little doubt about the language."""
_LEAST_EVIDENCE = 0.08
"""Share of function words below which a text is a list of names, or of an unknown language."""


def _weigh(prose: str) -> dict[str, float]:
    """The share of words that hold a language together, and a little for letters of its own."""
    words = [word.lower().replace("’", "'") for word in _WORD.findall(prose)]
    total = max(1, len(words))
    letters = max(1, sum(map(len, words)))
    joined = "".join(words)
    scores = {
        code: 2 * sum(map(joined.count, _OWN_LETTERS.get(code, ""))) / letters
        for code in FUNCTION_WORDS
    }
    languages = _languages()
    for word in words:
        for code in languages.get(word, ()):
            # A word of several languages says less about each.
            scores[code] += 1 / len(languages[word]) ** 0.5 / total
    return scores


def _enough(prose: str, written: str) -> bool:
    least = _LEAST_OF_DENSE_SCRIPT if written in _SURE else LEAST_LETTERS
    return len(_LETTER.findall(prose)) >= least


def _sample(prose: str) -> str:
    if len(prose) <= 3 * SAMPLE:
        return prose
    middle = len(prose) // 2
    return " ".join((prose[:SAMPLE], prose[middle : middle + SAMPLE], prose[len(prose) - SAMPLE :]))


@lru_cache(maxsize=1)
def _languages() -> dict[str, tuple[str, ...]]:
    """The languages of each function word."""
    found: dict[str, tuple[str, ...]] = {}
    for code, listed in FUNCTION_WORDS.items():
        for word in set(listed.split()):
            found[word] = (*found.get(word, ()), code)
    return found


def _installed() -> bool:
    return find_spec("py3langid") is not None


@lru_cache(maxsize=1)
def _identifier() -> _Identifier:
    from py3langid import langid  # pyright: ignore[reportMissingTypeStubs]

    made = langid.LanguageIdentifier.from_model_file(  # pyright: ignore[reportUnknownMemberType]
        langid.MODEL_FILE, norm_probs=True
    )
    return cast("_Identifier", made)
