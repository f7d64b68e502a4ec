"""A cache of classifications."""

import threading
from collections import OrderedDict
from collections.abc import Awaitable
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from inspect import isawaitable

from anyio import to_thread

from sifaka.classifiers.protocol import Classification, Classifier
from sifaka.isolation import run_limited

_OWN = "sifaka.classifiers."
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
        key = _key_of(text)
        if (known := self._known(key)) is not None:
            return known
        found = self.inner.classify(text)
        if isawaitable(found):
            return self._answered(key, found)
        return self._keep(key, found)

    async def ask(self, text: str) -> Classification:
        """The classification, made beside the event loop.

        Other code than ours is run in a thread; ours works on a long text in a worker process.

        Raises:
            TimeoutError: The text takes too long; see `sifaka.isolation.run_limited` for others.
        """
        key = _key_of(text)
        if (known := self._known(key)) is not None:
            return known
        if type(self.inner).__module__.startswith(_OWN):
            found = await run_limited(self.inner.classify, text, size=len(text))
        else:
            work = partial(self.inner.classify, text)
            found = await to_thread.run_sync(work, abandon_on_cancel=True)
        return self._keep(key, await found if isawaitable(found) else found)

    def _known(self, key: bytes) -> Classification | None:
        with self._lock:
            if key in self.known:
                self.known.move_to_end(key)
            return self.known.get(key)

    async def _answered(self, key: bytes, answer: Awaitable[Classification]) -> Classification:
        return self._keep(key, await answer)

    def _keep(self, key: bytes, found: Classification) -> Classification:
        with self._lock:
            self.known[key] = found
            self.known.move_to_end(key)
            while len(self.known) > self.limit:
                self.known.popitem(last=False)
        return found


def _key_of(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()
