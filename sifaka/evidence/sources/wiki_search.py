"""Which pages of a wiki a question is about.

The search of a wiki finds the pages that have every word; of the one that every MediaWiki brings
the results come in no order, and there is no `or`.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import anyio

from sifaka.errors import SourceError
from sifaka.evidence.sources.wiki_api import WikiApi, listed, mapping
from sifaka.evidence.sources.wiki_words import by_words, most_telling, named, rarest, words_of

MOST_PAGES = 50
"""That a wiki is asked about at once."""
PARALLEL = 3
"""Requests to one wiki at the same time, for one search."""
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class _Hits:
    titles: Mapping[int, str]
    """Some of the pages."""
    total: int


async def pages_for(api: WikiApi, question: str, most: int) -> list[int]:
    """The ids of pages with words of a question, best first: at most `most`.

    First those whose title it names, then those that have all its words. Where they are fewer than
    are wanted, its most telling words are searched for one by one, so that the pages follow that
    have the three rarest of them, and then those that have most of the rare ones: at most eight
    searches in all.

    Raises:
        SourceError: The wiki cannot be asked.
    """
    words = words_of(question)
    if not words:
        return []

    async def having(*wanted: str) -> _Hits:
        return await _having(api, wanted)

    titles = dict((await having(*words)).titles)
    if len(titles) < most and len(words) > 1:
        alone = most_telling(words)
        answers = dict(zip(alone, await each(alone, having), strict=True))
        totals = {word: hits.total for word, hits in answers.items()}
        rare = rarest(totals)
        if 1 < len(rare) < len(words):
            titles |= (await having(*rare)).titles
        known = {page: title for hits in answers.values() for page, title in hits.titles.items()}
        always = {page for page, title in known.items() if named(title, question)}
        pages = {word: hits.titles for word, hits in answers.items()}
        titles |= {page: known[page] for page in by_words(pages, totals, always)}
    return sorted(titles, key=lambda page: -named(titles[page], question))[:most]


async def each(items: Sequence[T], work: Callable[[T], Awaitable[R]]) -> list[R]:
    """The results in the order of the items, some at a time.

    Raises:
        SourceError: The first failure; the others are cancelled.
    """
    results: dict[int, R] = {}
    failures: list[SourceError] = []
    limiter = anyio.CapacityLimiter(PARALLEL)

    async def one(index: int, item: T) -> None:
        async with limiter:
            try:
                results[index] = await work(item)
            except SourceError as error:
                failures.append(error)
                group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        for index, item in enumerate(items):
            group.start_soon(one, index, item)
    if failures:
        raise failures[0]
    return [results[index] for index in range(len(items))]


async def _having(api: WikiApi, words: Sequence[str]) -> _Hits:
    told = await api.ask(
        "query",
        "query",
        list="search",
        srsearch=" ".join(words),
        srwhat="text",
        srlimit=MOST_PAGES,
        srinfo="totalhits",
        srprop="",
    )
    if not isinstance(told.get("search"), list):
        raise api.malformed("search")
    found = {
        hit["pageid"]: str(hit.get("title", ""))
        for hit in listed(told["search"])
        if isinstance(hit.get("pageid"), int)
    }
    total = mapping(told.get("searchinfo")).get("totalhits")
    return _Hits(found, total if isinstance(total, int) else len(found))
