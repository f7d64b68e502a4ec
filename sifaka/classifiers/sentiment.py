"""Classifies a text as positive, negative or neutral."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from sifaka.classifiers.english import unread
from sifaka.classifiers.protocol import UNKNOWN, Classification
from sifaka.errors import ConfigurationError
from sifaka.extras import install
from sifaka.record.results import Issue
from sifaka.text.markdown import code_spans
from sifaka.text.prose import Span, blanked, sentences, urls
from sifaka.text.tables import patterns_of

NEUTRAL_WITHIN = 0.05
"""Distance from 0 of a neutral text's mean, at most; the bound its authors give."""
EVIDENCE_LIMIT = 20
_PATTERNS = patterns_of(__file__, "sentiment")
_MOST_SYMBOLS = 30
_OFTEN_RIGHT = {"positive": 0.88, "negative": 0.88, "neutral": 0.45}
"""Share of right answers on labelled sentences: no confidence is higher."""


@dataclass(frozen=True)
class SentimentClassifier:
    """Rates English sentences by a lexicon and rules, and takes their mean.

    Hutto and Gilbert, "VADER: A Parsimonious Rule-based Model for Sentiment Analysis of Social
    Media Text", 2014.

    Raises:
        ConfigurationError: The package `vaderSentiment` is not installed.
    """

    name: str = "sentiment"

    def __post_init__(self) -> None:
        if find_spec("vaderSentiment") is None:
            raise ConfigurationError(
                "the package vaderSentiment is not installed", install("classifiers")
            )

    @property
    def labels(self) -> tuple[str, ...]:
        """The three sentiments, and `unknown` for a text that is not English."""
        return ("positive", "negative", "neutral", UNKNOWN)

    def classify(self, text: str) -> Classification:
        """The sentiment of most sentences, with the clearest of them as evidence."""
        coverage = "lexicon, English, sentence by sentence"
        if (other := unread(text, coverage)) is not None:
            return other
        prose = blanked(text, [*code_spans(text), *urls(text)])
        parts = (part for sentence in sentences(prose) for part in _split_parts(prose, sentence))
        rated = [(part, _score_part(prose, part)) for part in parts]
        if not rated:
            return Classification(label=UNKNOWN, confidence=0, coverage=f"{coverage}; no sentence")
        mean = sum(score for _, score in rated) / len(rated)
        is_neutral = abs(mean) < NEUTRAL_WITHIN
        label = "neutral" if is_neutral else ("positive" if mean > 0 else "negative")
        height = 1.0 if is_neutral else 0.4 + abs(mean) / 2
        confidence = round(min(_OFTEN_RIGHT[label], height), 2)
        return Classification(
            label=label,
            confidence=confidence,
            scores={
                "positive": round(sum(score for _, score in rated if score > 0) / len(rated), 3),
                "negative": round(sum(-score for _, score in rated if score < 0) / len(rated), 3),
                "neutral": round(1 - sum(abs(score) for _, score in rated) / len(rated), 3),
            },
            coverage=coverage,
            evidence=_rank_evidence(text, label, rated),
        )


def _rank_evidence(text: str, label: str, rated: Sequence[tuple[Span, float]]) -> tuple[Issue, ...]:
    sign = {"positive": 1, "negative": -1}.get(label, 0)
    clear = [(span, score) for span, score in rated if score * sign > NEUTRAL_WITHIN]
    clearest = sorted(clear, key=lambda rating: -abs(rating[1]))[:EVIDENCE_LIMIT]
    return tuple(
        Issue.at(
            text,
            *span,
            f"reads {label} ({score:+.2f})",
            category="sentiment",
            severity=3 if abs(score) >= 0.5 else 2,
            rule=label,
        )
        for span, score in sorted(clearest)
    )


def _split_parts(prose: str, span: Span) -> Iterator[Span]:
    for match in _PATTERNS["part"].finditer(prose, *span):
        symbols = len(_PATTERNS["symbol"].findall(match.group()))
        if symbols <= _MOST_SYMBOLS:
            yield match.span()
        else:
            yield from (each.span() for each in _PATTERNS["symbols"].finditer(prose, *match.span()))


def _score_part(prose: str, span: Span) -> float:
    """From -1, most negative, to 1; 0 where no word is in the lexicon."""
    return _load_analyzer().polarity_scores(prose[slice(*span)])["compound"]


@lru_cache(maxsize=1)
def _load_analyzer() -> Any:
    # It has no types.
    from vaderSentiment import vaderSentiment  # pyright: ignore[reportMissingTypeStubs]

    kind: Any = vaderSentiment.SentimentIntensityAnalyzer
    return kind()
