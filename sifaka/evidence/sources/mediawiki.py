"""Wikipedia, and every other MediaWiki, searched by words.

https://www.mediawiki.org/wiki/API:Search
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from sifaka.calls.context import fan_out
from sifaka.errors import SourceError
from sifaka.evidence.documents import ANYTHING, SearchFilters, SourceDocument, moment, wanted
from sifaka.evidence.sources.html import plain_text
from sifaka.evidence.sources.http import HttpClient, Retrying, product
from sifaka.evidence.sources.wiki_api import (
    MOST_PAGES,
    PARALLEL,
    ask,
    listed,
    malformed,
    mapping,
    pages_for,
)
from sifaka.isolation import GIVEN_UP, run_limited
from sifaka.storage.protocol import Health
from sifaka.text.prose import whole_words

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
        headers = {"User-Agent": f"{product()} ({contact or 'no contact given'}) httpx2"}
        if authorization:
            headers["Authorization"] = authorization
        self.name = name
        self._http = HttpClient(
            base,
            adapter=name,
            headers=headers,
            seconds=seconds,
            largest=LARGEST,
            retrying=retrying,
        )
        self._has_extracts: bool | None = None

    @property
    def place(self) -> str:
        """The URL of the API."""
        return self._http.place

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
        pages = await self._described(await pages_for(self._http, query, most))
        return await self._with_text(wanted(pages, filters, limit))

    async def health(self) -> Health:
        """Ask the wiki what it is."""
        try:
            told = await ask(self._http, "query", "query", meta="siteinfo", siprop="general")
        except SourceError as error:
            return Health(part=self.place, works=False, found=str(error))
        general = mapping(told.get("general"))
        found = f"{general.get('generator', 'MediaWiki')}, {general.get('sitename', 'a wiki')}"
        shown = "".join(c for c in found[:200] if c.isprintable())
        return Health(part=self.place, works=True, found=shown)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _with_text(self, pages: Sequence[SourceDocument]) -> tuple[SourceDocument, ...]:
        unreadable: list[SourceError] = []

        async def read(page: SourceDocument) -> SourceDocument | None:
            try:
                read_text = self._extract if self._has_extracts else self._parsed
                text = await read_text(page.id)
            except SourceError as error:
                if error.code not in _UNREADABLE:
                    raise
                unreadable.append(error)
                return None
            return (
                page.model_copy(update={"text": whole_words(text, _MOST_CHARS)}) if text else None
            )

        readings = {page.id: partial(read, page) for page in pages}
        read_pages = await fan_out(readings, calls_each=0, parallel=PARALLEL)
        found = tuple(page for page in read_pages if page is not None)
        if unreadable and not found:
            raise unreadable[0]
        return found

    async def _described(self, pages: Sequence[int]) -> list[SourceDocument]:
        """The pages of some ids without their text, in their order, each once.

        They were `published` when they were last changed. Redirects count as what they lead to;
        pages that are not there any more are left out.
        """
        if not pages:
            return []
        is_unknown = self._has_extracts is None
        told = await ask(
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
            names = {extension.get("name") for extension in listed(told.get("extensions"))}
            self._has_extracts = "TextExtracts" in names
        there = [
            page
            for page in listed(told.get("pages"))
            if isinstance(page.get("pageid"), int) and not page.get("missing")
        ]
        by_title = {page.get("title"): page for page in there}
        by_id = {page["pageid"]: page for page in there}
        for redirect in listed(told.get("redirects")):
            target = by_title.get(redirect.get("to"))
            if target is not None:
                by_id.setdefault(redirect.get("pageid"), target)
        ordered = {by_id[page]["pageid"]: by_id[page] for page in pages if page in by_id}
        return [self._document(page) for page in ordered.values()]

    async def _extract(self, page: str) -> str:
        """The running text of a page, one paragraph or heading a line."""
        told = await ask(
            self._http,
            "query",
            "query",
            prop="extracts",
            pageids=page,
            explaintext=1,
            exsectionformat="plain",
        )
        pages = listed(told.get("pages"))
        extract = str(pages[0].get("extract") or "") if pages else ""
        lines = (line.strip() for line in extract.splitlines())
        # Of a page of nothing but lists, the extension may leave nothing.
        return "\n".join(line for line in lines if line) or await self._parsed(page)

    async def _parsed(self, page: str) -> str:
        told = await ask(
            self._http,
            "parse",
            "parse",
            pageid=page,
            prop="text",
            disableeditsection=1,
            disablelimitreport=1,
            disabletoc=1,
        )
        html = told.get("text")
        if not isinstance(html, str):
            raise malformed(self._http, "text")
        try:
            return await run_limited(plain_text, html, size=len(html))
        except GIVEN_UP as error:
            raise malformed(self._http, "text") from error

    def _document(self, page: Mapping[str, Any]) -> SourceDocument:
        revisions = listed(page.get("revisions"))
        return SourceDocument(
            text="",
            title=str(page.get("title", "")),
            url=str(page.get("fullurl", "")),
            id=str(page["pageid"]),
            adapter=self.name,
            published=moment(revisions[0].get("timestamp")) if revisions else None,
        )
