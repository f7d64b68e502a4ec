"""Wikipedia, and every other MediaWiki, searched by words.

https://www.mediawiki.org/wiki/API:Main_page and https://www.mediawiki.org/wiki/API:Search
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from functools import partial
from math import log
from typing import Any, cast

import regex

from sifaka.calls.context import fan_out
from sifaka.errors import SourceError
from sifaka.evidence.documents import (
    ANYTHING,
    SearchFilters,
    SourceDocument,
    moment,
    plain_line,
    wanted,
)
from sifaka.evidence.sources.http import Endpoint, HttpClient, Retrying, product
from sifaka.evidence.sources.readers import plain_text
from sifaka.isolation import GIVEN_UP, run_limited
from sifaka.storage.protocol import Health
from sifaka.text.prose import whole_words

MAXLAG = 5
"""Seconds that the database of a wiki may lag; a wiki that lags more asks to come back later."""
_CODES = {
    "maxlag": "server",
    "readonly": "server",
    "cirrussearch-too-busy-error": "server",
    "search-backend-error": "server",
    "ratelimited": "rate_limit",
    "readapidenied": "authentication",
    "permissiondenied": "authentication",
    "mwoauth-invalid-authorization": "authentication",
    "missingtitle": "not_found",
    "nosuchpageid": "not_found",
}


async def ask(wiki: HttpClient, wanted: str, action: str, **params: str | int) -> Mapping[str, Any]:
    """The answer of the API of a wiki to an action.

    Args:
        wiki: Asks that API.
        wanted: The part of the answer that has to be there, and is returned.
        action: Such as `query`.
        params: Those of the action.

    Raises:
        SourceError: There is no answer, or it is an error.
    """
    options = {"format": "json", "formatversion": 2, "maxlag": MAXLAG}
    answer = await wiki.ask(
        params={"action": action, **params, **options}, check=partial(_check_error, wiki.endpoint)
    )
    part = mapping(mapping(answer).get(wanted))
    if not part:  # of a search without results, there is at least an empty list in it
        raise malformed(wiki, wanted)
    return part


def malformed(wiki: HttpClient, lacking: str) -> SourceError:
    """The error of an answer that lacks something."""
    return wiki.endpoint.failure(
        "malformed",
        f"answered without {lacking!r}",
        "check that the URL is that of the api.php of a MediaWiki",
    )


def _check_error(endpoint: Endpoint, answer: Any, retry_after: float | None) -> None:
    if error := mapping(mapping(answer).get("error")):
        name = str(error.get("code"))
        code = _CODES.get(name, "server" if name.startswith("internal_api_error") else "rejected")
        info = " ".join(str(error.get("info", "")).split())[:200]
        raise endpoint.failure(
            code, f"answered with the error {name[:60]}: {info}", retry_after=retry_after
        )


def mapping(value: object) -> Mapping[str, Any]:
    """An object of JSON; an empty one for anything else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def objects(value: object) -> Sequence[Mapping[str, Any]]:
    """The objects of an array of JSON; none for anything else."""
    return (
        [mapping(each) for each in cast("list[object]", value)] if isinstance(value, list) else []
    )


MOST_WORDS = 12
"""Of the first search."""
_MOST_ALONE = 6
"""Words that are searched for one by one: names, figures and long words."""
_LONGEST_WORD = 40
_LEAST_SHARE = 1 / 3
"""Of the best page's score, below which a page has too little of the question."""
_WORD = regex.compile(r"[\p{L}\p{N}][\p{L}\p{M}\p{N}]*")
_OPERATORS = frozenset({"AND", "OR", "NOT", "NEAR"})
_COMMON = frozenset(
    regex.findall(
        r"\S+",
        """a about after all also an and any are as at be been before being between both but by can
        could did do does during each for from had has have he her his how i if in into is it its
        many may more most much no not of on one only or other our over she so some such than that
        the their them then there these they this those to under until up was we were what when
        where whether which while who whom whose why will with would you your""",
    )
)
"""Words of English that no page is found by; those of other languages cost a search more."""


def words_of(question: str) -> tuple[str, ...]:
    """The words to search for, in their order, each once, without what a search engine obeys.

    Returns:
        At most `MOST_WORDS`, the most telling ones; all of them when they are common words.
    """
    words: dict[str, str] = {}
    for match in _WORD.finditer(question):
        word = match.group()[:_LONGEST_WORD]
        # The `s` of a genitive is no word of its own; a figure is.
        if len(word) > 1 or word.isdecimal() or ord(word) > 0x2E7F:
            words.setdefault(word.casefold(), word.lower() if word in _OPERATORS else word)
    telling = {key: word for key, word in words.items() if key not in _COMMON} or words
    chosen = set(sorted(telling, key=lambda key: _weigh_word(telling[key]))[:MOST_WORDS])
    return tuple(word for key, word in telling.items() if key in chosen)


def named(title: str, question: str) -> int:
    """The number of words of a title, if a question has every one of them; 0 otherwise."""
    wanted = {match.group().casefold() for match in _WORD.finditer(title)}
    there = {match.group().casefold() for match in _WORD.finditer(question)}
    return len(wanted) if wanted <= there else 0


def rarest(hits: Mapping[str, int]) -> tuple[str, ...]:
    """The three words that the fewest pages have, but that some have, in their order."""
    present = [word for word, count in hits.items() if count > 0]
    chosen = set(sorted(present, key=lambda word: hits[word])[:3])
    return tuple(word for word in present if word in chosen)


def by_words(
    pages: Mapping[str, Iterable[int]], hits: Mapping[str, int], always: Container[int] = ()
) -> list[int]:
    """Pages that have the rarest and the most of the words first, without those that have few.

    Args:
        pages: The pages that have each word.
        hits: How many pages have each word, of which `pages` may name some.
        always: Pages that are not left out, however few they have.
    """
    most = max(hits.values(), default=0)
    scores: dict[int, float] = {}
    for word, matches in pages.items():
        for page in matches:
            scores[page] = scores.get(page, 0.0) + log(1 + most / max(1, hits[word]))
    best = max(scores.values(), default=0.0)
    kept = [
        page for page, score in scores.items() if score >= best * _LEAST_SHARE or page in always
    ]
    return sorted(kept, key=lambda page: -scores[page])


def _weigh_word(word: str) -> tuple[bool, int]:
    return not (word[0].isupper() or word.isdecimal()), -len(word)


MOST_PAGES = 50
"""That a wiki is asked about at once."""
PARALLEL = 3
"""Requests to one wiki at the same time, for one search."""


async def pages_for(wiki: HttpClient, question: str, most: int) -> list[int]:
    """The ids of pages with words of a question, best first: at most `most`.

    First those whose title it names, then those that have all its words. Where they are fewer than
    are wanted, its most telling words are searched for one by one, so that the pages follow that
    have the three rarest of them, and then those that have most of the rare ones: at most eight
    searches in all.
    """
    words = words_of(question)
    if not words:
        return []

    having = partial(_find_pages, wiki)
    titles, _ = await having(*words)
    if len(titles) < most and len(words) > 1:
        alone = sorted(words, key=_weigh_word)[:_MOST_ALONE]
        searches = {word: partial(having, word) for word in alone}
        results = await fan_out(searches, calls_each=0, parallel=PARALLEL)
        totals = {word: total for word, (_, total) in zip(alone, results, strict=True)}
        rare = rarest(totals)
        if 1 < len(rare) < len(words):
            titles |= (await having(*rare))[0]
        seen = {page: title for pages, _ in results for page, title in pages.items()}
        always = {page for page, title in seen.items() if named(title, question)}
        by_word = {word: pages for word, (pages, _) in zip(alone, results, strict=True)}
        titles |= {page: seen[page] for page in by_words(by_word, totals, always)}
    return sorted(titles, key=lambda page: -named(titles[page], question))[:most]


async def _find_pages(wiki: HttpClient, *words: str) -> tuple[dict[int, str], int]:
    """The titles of some pages that have all these words, by their ids, and how many there are."""
    answer = await ask(
        wiki,
        "query",
        "query",
        list="search",
        srsearch=" ".join(words),
        srwhat="text",
        srlimit=MOST_PAGES,
        srinfo="totalhits",
        srprop="",
    )
    if not isinstance(answer.get("search"), list):
        raise malformed(wiki, "search")
    titles: dict[int, str] = {
        hit["pageid"]: str(hit.get("title", ""))
        for hit in objects(answer["search"])
        if isinstance(hit.get("pageid"), int)
    }
    total = mapping(answer.get("searchinfo")).get("totalhits")
    return titles, total if isinstance(total, int) else len(titles)


_UNREADABLE = frozenset({"too_large", "not_found", "malformed", "rejected"})
"""The failures that may concern one page alone."""
_MOST_CHARS = 40_000
"""Of the text of a page; what follows is cut off."""
LARGEST = 5_000_000
"""Bytes of an answer; pages that need more are left out."""
_ABOUT_EXTENSIONS: Mapping[str, str | int] = {"meta": "siteinfo", "siprop": "extensions"}


class MediaWikiAdapter:
    """Searches the pages of one wiki.

    Pages that have every word come first, then those that have most of the rarer words. Wikipedia
    and others have the extension TextExtracts, which gives plain text; elsewhere it is made of the
    HTML. A wiki is asked which it is once, together with its first request.

    Args:
        base: The URL of the wiki's `api.php`.
        name: The adapter's name.
        contact: A mail address or a page of who runs this program, which Wikimedia asks for.
        authorization: The value of the header of that name, for wikis that are not public.
        seconds: For each request with all its attempts.
        retrying: The number of attempts, and the waits between them.

    Raises:
        ConfigurationError: The base is no URL of http or https.
    """

    def __init__(
        self,
        base: str,
        *,
        name: str = "wikipedia",
        contact: str = "",
        authorization: str | None = None,
        seconds: float = 10.0,
        retrying: Retrying | None = None,
    ) -> None:
        self.name = name
        self._http = HttpClient(
            base,
            adapter=name,
            headers={
                "User-Agent": f"{product()} ({contact or 'no contact given'}) httpx2",
                "Authorization": authorization or "",
            },
            seconds=seconds,
            largest=LARGEST,
            retrying=retrying,
        )
        self.place = self._http.endpoint.url
        """The URL of the API."""
        self._has_extracts: bool | None = None

    async def search(
        self, query: str, *, limit: int, filters: SearchFilters = ANYTHING
    ) -> Sequence[SourceDocument]:
        """At most `limit` pages with their text, best first; see `Adapter`.

        They were `published` when they were last changed. A query without words finds none. Pages
        that cannot be read are left out, unless none can.

        Raises:
            SourceError: The wiki cannot be reached, refuses or answers nonsense.
        """
        if limit < 1:
            return ()
        # When a page was changed is known before its text is read, so that the filters can choose.
        most = min(limit, MOST_PAGES) if filters == ANYTHING else MOST_PAGES
        pages = await self._describe_pages(await pages_for(self._http, query, most))
        return await self._add_text(wanted(pages, filters, limit))

    async def health(self) -> Health:
        """Ask the wiki what it is."""
        try:
            answer = await ask(self._http, "query", "query", meta="siteinfo", siprop="general")
        except SourceError as error:
            return Health(part=self.place, works=False, found=str(error))
        general = mapping(answer.get("general"))
        label = f"{general.get('generator', 'MediaWiki')}, {general.get('sitename', 'a wiki')}"
        return Health(part=self.place, works=True, found=plain_line(label, 200))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _add_text(self, pages: Sequence[SourceDocument]) -> tuple[SourceDocument, ...]:
        read_text = self._extract if self._has_extracts else self._parse_page

        async def read(page: SourceDocument) -> SourceDocument | SourceError:
            try:
                text = whole_words(await read_text(page.id), _MOST_CHARS)
                return page.model_copy(update={"text": text})
            except SourceError as error:
                if error.error_code not in _UNREADABLE:
                    raise
                return error

        readings = {page.id: partial(read, page) for page in pages}
        answers = await fan_out(readings, calls_each=0, parallel=PARALLEL)
        usable = tuple(each for each in answers if isinstance(each, SourceDocument) and each.text)
        if not usable and (errors := [each for each in answers if isinstance(each, SourceError)]):
            raise errors[0]
        return usable

    async def _describe_pages(self, pages: Sequence[int]) -> list[SourceDocument]:
        """The pages of some ids without their text, in their order, each once.

        They were `published` when they were last changed. Redirects count as what they lead to;
        pages that are not there any more are left out.
        """
        if not pages:
            return []
        is_unknown = self._has_extracts is None
        answer = await ask(
            self._http,
            "query",
            "query",
            prop="info|revisions",
            pageids="|".join(map(str, pages)),
            redirects=1,
            inprop="url",
            rvprop="timestamp",
            **(_ABOUT_EXTENSIONS if is_unknown else {}),
        )
        if is_unknown:
            self._has_extracts = any(
                each.get("name") == "TextExtracts" for each in objects(answer.get("extensions"))
            )
        there = [
            page
            for page in objects(answer.get("pages"))
            if isinstance(page.get("pageid"), int) and not page.get("missing")
        ]
        by_title = {page.get("title"): page for page in there}
        by_id = {page["pageid"]: page for page in there}
        for redirect in objects(answer.get("redirects")):
            target = by_title.get(redirect.get("to"))
            if target is not None:
                by_id.setdefault(redirect.get("pageid"), target)
        ordered = {by_id[page]["pageid"]: by_id[page] for page in pages if page in by_id}
        return list(map(self._make_document, ordered.values()))

    async def _extract(self, page: str) -> str:
        """The running text of a page, one paragraph or heading a line."""
        answer = await ask(
            self._http,
            "query",
            "query",
            prop="extracts",
            pageids=page,
            explaintext=1,
            exsectionformat="plain",
        )
        pages = objects(answer.get("pages"))
        lines = str(pages[0].get("extract") or "").splitlines() if pages else ()
        # Of a page of nothing but lists, the extension may leave nothing.
        return "\n".join(filter(None, map(str.strip, lines))) or await self._parse_page(page)

    async def _parse_page(self, page: str) -> str:
        answer = await ask(
            self._http,
            "parse",
            "parse",
            pageid=page,
            prop="text",
            disableeditsection=1,
            disablelimitreport=1,
            disabletoc=1,
        )
        html = answer.get("text")
        if not isinstance(html, str):
            raise malformed(self._http, "text")
        try:
            return await run_limited(plain_text, html, size=len(html))
        except GIVEN_UP as error:
            raise malformed(self._http, "text") from error

    def _make_document(self, page: Mapping[str, Any]) -> SourceDocument:
        revisions = objects(page.get("revisions"))
        return SourceDocument(
            text="",
            title=str(page.get("title", "")),
            url=str(page.get("fullurl", "")),
            id=str(page["pageid"]),
            adapter=self.name,
            published=moment(revisions[0].get("timestamp")) if revisions else None,
        )
