import threading
from concurrent.futures import ThreadPoolExecutor
from inspect import isawaitable

import pytest

from sifaka.classifiers import (
    CLASSIFIERS,
    CachedClassifier,
    Classification,
    classifier,
)
from sifaka.errors import ConfigurationError

pytestmark = pytest.mark.anyio


class Counting:
    """A classifier that counts how often it is asked."""

    name = "counting"
    labels = ("short", "long")

    def __init__(self) -> None:
        self.asked: list[str] = []

    def classify(self, text: str) -> Classification:
        self.asked.append(text)
        return Classification(label="long" if len(text) > 3 else "short", confidence=1)


class CountingLater(Counting):
    async def classify(  # pyright: ignore[reportIncompatibleMethodOverride] # may be either
        self, text: str
    ) -> Classification:
        return super().classify(text)


async def test_a_text_is_classified_once() -> None:
    inner = Counting()
    cached = CachedClassifier(inner)
    first = cached.classify("a text")
    assert cached.classify("a text") is first
    assert cached.classify("a") != first
    assert inner.asked == ["a text", "a"]
    assert (cached.name, cached.labels) == ("counting", ("short", "long"))


async def test_two_classifiers_do_not_share_what_they_remember() -> None:
    inner = Counting()
    CachedClassifier(inner).classify("x")
    CachedClassifier(inner).classify("x")
    assert inner.asked == ["x", "x"]


async def test_an_answer_that_comes_later_is_remembered_too() -> None:
    inner = CountingLater()
    cached = CachedClassifier(inner)
    found = cached.classify("a text")
    assert isawaitable(found)
    first = await found
    assert cached.classify("a text") is first
    assert inner.asked == ["a text"]


async def test_the_text_asked_for_longest_ago_is_forgotten() -> None:
    inner = Counting()
    cached = CachedClassifier(inner, 2)
    for text in ("a", "b", "a", "c", "a", "b"):
        cached.classify(text)
    assert inner.asked == ["a", "b", "c", "b"]
    assert len(cached.known) == 2


async def test_a_broken_character_is_a_text_like_any_other() -> None:
    cached = CachedClassifier(Counting())
    assert cached.classify("\ud800") == cached.classify("\ud800")


async def test_many_threads_at_once_leave_the_cache_within_its_bounds() -> None:
    cached = CachedClassifier(Counting(), 8)
    ready = threading.Barrier(4)

    def work(offset: int) -> bool:
        ready.wait()
        for number in range(500):
            text = "x" * ((number * 7 + offset) % 30)
            found = cached.classify(text)
            assert isinstance(found, Classification)
            if found.label != ("long" if len(text) > 3 else "short"):
                return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))
    assert len(cached.known) == 8


async def test_every_classifier_of_the_catalogue_is_called_what_it_is_listed_as() -> None:
    for name in CLASSIFIERS:
        assert classifier(name).name == name
        assert classifier(name).labels
        assert classifier(name) == classifier(name)


async def test_an_unknown_classifier_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match="language, sentiment") as caught:
        classifier("mood")
    assert "'mood'" in caught.value.message
