"""Identifies the language of a text."""

from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Literal

from sifaka.classifiers.protocol import UNKNOWN, Classification
from sifaka.text.language import (
    OWN_LANGUAGES,
    SURE_SCRIPTS,
    is_enough,
    sample,
    script,
    tell_language,
)
from sifaka.text.markdown import code_spans
from sifaka.text.prose import blanked, urls

_MACRO_LANGUAGES = {"nb": "no", "nn": "no", "wuu": "zh", "yue": "zh", "arz": "ar", "ary": "ar"}
"""Varieties that are asked for by the code of the language they belong to."""


@dataclass(frozen=True)
class LanguageClassifier:
    """Tells a language by its ISO 639-1 code; a text with too few letters is `unknown`.

    Scripts of one language decide by themselves. Between languages of one script decides
    `py3langid` where it is installed (Lui and Baldwin, "langid.py: An Off-the-shelf Language
    Identification Tool", 2012), otherwise the words that hold sentences together.
    """

    engine: Literal["auto", "own"] = "auto"
    """`auto` takes `py3langid` when it is installed."""
    name: str = "language"

    @property
    def labels(self) -> tuple[str, ...]:
        """The codes it may answer, and `unknown`."""
        own = set(OWN_LANGUAGES)
        if self.engine != "own" and _is_installed():
            codes: list[str] = _load_identifier().labels
            own |= {_MACRO_LANGUAGES.get(code, code) for code in codes}
        return (*sorted(own), UNKNOWN)

    def classify(self, text: str) -> Classification:
        """The language of most of the text, code and URLs left out."""
        prose = sample(blanked(text, [*code_spans(text), *urls(text)]))
        coverage = "script and function words"
        if self.engine != "own" and _is_installed():
            coverage = "script and py3langid"
            written, _ = script(prose)
            if written not in SURE_SCRIPTS and is_enough(prose, written):
                return _classify_by_model(prose, coverage)
        detected = tell_language(prose)
        return Classification(
            label=detected.language or UNKNOWN,
            confidence=detected.confidence,
            scores=dict(detected.scores),
            coverage=f"{coverage}; too short" if detected.short else coverage,
        )


def _classify_by_model(prose: str, coverage: str) -> Classification:
    scores: dict[str, float] = {}
    ranked: list[tuple[str, float]] = _load_identifier().rank(prose)[:3]
    for code, share in ranked:
        macro = _MACRO_LANGUAGES.get(code, code)
        scores[macro] = round(scores.get(macro, 0.0) + share, 3)
    label = max(scores, key=lambda code: scores[code])
    return Classification(
        label=label,
        confidence=min(1.0, round(scores[label], 2)),
        scores={code: min(1.0, score) for code, score in scores.items()},
        coverage=coverage,
    )


def _is_installed() -> bool:
    return find_spec("py3langid") is not None


@lru_cache(maxsize=1)
def _load_identifier() -> Any:
    # It has no types.
    from py3langid import langid  # pyright: ignore[reportMissingTypeStubs]

    kind: Any = langid.LanguageIdentifier
    return kind.from_model_file(langid.MODEL_FILE, norm_probs=True)
