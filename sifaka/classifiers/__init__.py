"""Classifiers: the label of a text, with a confidence and the coverage."""

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import cast

from sifaka._internal.naming import did_you_mean
from sifaka.classifiers.cache import CachedClassifier
from sifaka.classifiers.protocol import NONE_FOUND, UNKNOWN, Classification, Classifier
from sifaka.errors import ConfigurationError

__all__ = [
    "CLASSIFIERS",
    "NONE_FOUND",
    "UNKNOWN",
    "CachedClassifier",
    "Classification",
    "Classifier",
    "classifier",
]

CLASSIFIERS: Mapping[str, str] = MappingProxyType(
    {
        "language": "LanguageClassifier",
        "sentiment": "SentimentClassifier",
        "readability": "ReadabilityClassifier",
        "profanity": "profanity",
        "toxicity": "toxicity",
        "bias": "bias",
        "spam": "spam",
    }
)
"""The factory of each built-in classifier, in the module of its name. A module and its tables are
loaded when its classifier is first used."""


def classifier(name: str) -> CachedClassifier:
    """A built-in classifier that remembers what it has said.

    Raises:
        ConfigurationError: There is none of that name, or its package is not installed.
    """
    if name not in CLASSIFIERS:
        raise ConfigurationError(
            f"unknown classifier {name[:40]!r}", did_you_mean(name, CLASSIFIERS)
        )
    make = getattr(import_module(f"{__name__}.{name}"), CLASSIFIERS[name])
    return CachedClassifier(cast("Callable[[], Classifier]", make)())
