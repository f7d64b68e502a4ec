"""Classifiers: the label of a text, with a confidence and the coverage."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from sifaka._internal.suggestions import did_you_mean
from sifaka.classifiers.bias import bias
from sifaka.classifiers.cache import CachedClassifier, ClassificationCache
from sifaka.classifiers.language import LanguageClassifier
from sifaka.classifiers.profanity import profanity
from sifaka.classifiers.protocol import NONE_FOUND, UNKNOWN, Classification, Classifier
from sifaka.classifiers.readability import ReadabilityClassifier
from sifaka.classifiers.sentiment import SentimentClassifier
from sifaka.classifiers.spam import spam
from sifaka.classifiers.toxicity import toxicity
from sifaka.errors import ConfigurationError

__all__ = [
    "CLASSIFIERS",
    "NONE_FOUND",
    "UNKNOWN",
    "CachedClassifier",
    "Classification",
    "ClassificationCache",
    "Classifier",
    "LanguageClassifier",
    "ReadabilityClassifier",
    "SentimentClassifier",
    "bias",
    "classifier",
    "profanity",
    "spam",
    "toxicity",
]

CLASSIFIERS: Mapping[str, Callable[[], Classifier]] = MappingProxyType(
    {
        "language": LanguageClassifier,
        "sentiment": SentimentClassifier,
        "readability": ReadabilityClassifier,
        "profanity": profanity,
        "toxicity": toxicity,
        "bias": bias,
        "spam": spam,
    }
)
"""The factory of each built-in classifier, by its name."""


def classifier(name: str) -> CachedClassifier:
    """A built-in classifier that remembers what it has said.

    Raises:
        ConfigurationError: There is none of that name, or its package is not installed.
    """
    if name not in CLASSIFIERS:
        raise ConfigurationError(
            f"unknown classifier {name[:40]!r}", did_you_mean(name, CLASSIFIERS)
        )
    return CachedClassifier(CLASSIFIERS[name]())
