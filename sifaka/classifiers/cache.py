"""A cache of classifications."""

import threading
from collections import OrderedDict
from collections.abc import Awaitable
from dataclasses import dataclass, field
from hashlib import sha256
from inspect import isawaitable

from sifaka.classifiers.protocol import Classification, Classifier

LIMIT = 256
"""Texts that one classifier remembers."""


class ClassificationCache:
    """The classifications of the texts that were asked for last; any thread may use it.

    It keeps a digest of each text, not the text; the evidence found in it is quoted, though.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._known: OrderedDict[bytes, Classification] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._known)

    def get(self, text: str) -> Classification | None:
        """The classification of exactly this text."""
        key = _digest(text)
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key)

    def put(self, text: str, classification: Classification) -> None:
        """Keep it, in place of the least recently used one."""
        key = _digest(text)
        with self._lock:
            self._known[key] = classification
            self._known.move_to_end(key)
            while len(self._known) > self._limit:
                self._known.popitem(last=False)


@dataclass(frozen=True)
class CachedClassifier:
    """A classifier that is asked once for each text."""

    inner: Classifier
    cache: ClassificationCache = field(
        default_factory=ClassificationCache, compare=False, repr=False
    )

    @property
    def name(self) -> str:
        """The name of the classifier that is asked."""
        return self.inner.name

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the classifier that is asked."""
        return self.inner.labels

    def classify(self, text: str) -> Classification | Awaitable[Classification]:
        """The classification; awaitable only when the classifier has to be asked."""
        known = self.cache.get(text)
        if known is not None:
            return known
        found = self.inner.classify(text)
        if isawaitable(found):
            return self._keep(text, found)
        self.cache.put(text, found)
        return found

    async def _keep(self, text: str, answer: Awaitable[Classification]) -> Classification:
        found = await answer
        self.cache.put(text, found)
        return found


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()
