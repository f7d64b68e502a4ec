"""Classifiers: the label of a text, with a confidence and the coverage."""

from inspect import isawaitable

from anyio import to_thread

from sifaka._internal.naming import did_you_mean
from sifaka.classifiers.protocol import NONE_FOUND, UNKNOWN, Classification, Classifier
from sifaka.errors import ConfigurationError
from sifaka.isolation import run_limited

__all__ = [
    "CLASSIFIERS",
    "NONE_FOUND",
    "UNKNOWN",
    "Classification",
    "Classifier",
    "classified",
    "classifier",
]

CLASSIFIERS = ("language", "sentiment", "profanity", "toxicity", "bias")
"""The built-in classifiers."""
_OWN = f"{__name__}."


def classifier(name: str) -> Classifier:
    """A built-in classifier.

    Raises:
        ConfigurationError: There is none of that name, or its package is not installed.
    """
    if name not in CLASSIFIERS:
        raise ConfigurationError(
            f"unknown classifier {name[:40]!r}", did_you_mean(name, CLASSIFIERS)
        )
    # A module and its tables are loaded when its classifier is first used.
    match name:
        case "language":
            from sifaka.classifiers.language import LanguageClassifier

            return LanguageClassifier()
        case "sentiment":
            from sifaka.classifiers.sentiment import SentimentClassifier

            return SentimentClassifier()
        case _:
            from sifaka.classifiers.screen import screen

            return screen(name)


async def classified(classifier: Classifier, text: str) -> Classification:
    """The classification of a text, made beside the event loop.

    Other code than ours is run in a thread; ours works on a long text in a worker process.

    Raises:
        TimeoutError: The text takes too long; see `sifaka.isolation.run_limited` for others.
    """
    if type(classifier).__module__.startswith(_OWN):
        result = await run_limited(classifier.classify, text, size=len(text))
    else:
        result = await to_thread.run_sync(classifier.classify, text, abandon_on_cancel=True)
    return await result if isawaitable(result) else result
