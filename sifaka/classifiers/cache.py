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


@dataclass(frozen=True)
class CachedClassifier:
    """A classifier that is asked once for each of the last texts; any thread may use it.

    It keeps a digest of each text, not the text; the evidence found in it is quoted, though.
    """

    inner: Classifier
    limit: int = LIMIT
    known: OrderedDict[bytes, Classification] = field(
        default_factory=OrderedDict[bytes, Classification], compare=False, repr=False
    )
    _lock: threading.Lock = field(default_factory=threading.Lock, compare=False, repr=False)

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
        key = sha256(text.encode("utf-8", "surrogatepass")).digest()
        with self._lock:
            if key in self.known:
                self.known.move_to_end(key)
                return self.known[key]
        found = self.inner.classify(text)
        if isawaitable(found):
            return self._answered(key, found)
        return self._keep(key, found)

    async def _answered(self, key: bytes, answer: Awaitable[Classification]) -> Classification:
        return self._keep(key, await answer)

    def _keep(self, key: bytes, found: Classification) -> Classification:
        with self._lock:
            self.known[key] = found
            self.known.move_to_end(key)
            while len(self.known) > self.limit:
                self.known.popitem(last=False)
        return found
