"""Wikipedia, and every other MediaWiki, searched by words.

https://www.mediawiki.org/wiki/API:Search
"""

from collections.abc import Sequence

from sifaka.calls.breakers import Breakers
from sifaka.errors import SourceError
from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.filters import ANYTHING, SearchFilters, wanted
from sifaka.evidence.sources.http import HttpClient, Retrying, product
from sifaka.evidence.sources.network import Network
from sifaka.evidence.sources.wiki_api import WikiApi, WikiPages, mapping
from sifaka.evidence.sources.wiki_search import MOST_PAGES, each, pages_for
from sifaka.storage.protocol import Health

_UNREADABLE = frozenset({"too_large", "not_found", "malformed", "rejected"})
"""The failures that may concern one page alone."""


class MediaWikiAdapter:
    """Searches the pages of one wiki.

    Pages that have every word come first, then those that have most of the rarer words.

    Args:
        base: The URL of the wiki's `api.php`.
        name: The adapter's name.
        contact: A mail address or a page of who runs this program, which Wikimedia asks for.
        authorization: The value of the header of that name, for wikis that are not public.
        seconds: For each request with all its attempts.
        most_chars: Of the text of a page; what follows is cut off.
        largest: Bytes of an answer; pages that need more are left out.
        breakers, network, retrying: As for `HttpClient`.

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
        most_chars: int = 40_000,
        largest: int = 5_000_000,
        breakers: Breakers | None = None,
        network: Network | None = None,
        retrying: Retrying | None = None,
    ) -> None:
        headers = {"User-Agent": f"{product()} ({contact or 'no contact given'}) httpx2"}
        if authorization:
            headers["Authorization"] = authorization
        self.name = name
        self._most_chars = most_chars
        self._http = HttpClient(
            base,
            adapter=name,
            headers=headers,
            seconds=seconds,
            largest=largest,
            breakers=breakers,
            network=network,
            retrying=retrying,
        )
        self._api = WikiApi(self._http, name)
        self._pages = WikiPages(self._api, name)

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
        pages = await self._pages.described(await pages_for(self._api, query, most))
        return await self._with_text(wanted(pages, filters, limit))

    async def health(self) -> Health:
        """Ask the wiki what it is."""
        try:
            told = await self._api.ask("query", "query", meta="siteinfo", siprop="general")
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
                text = await self._pages.text(page.id)
            except SourceError as error:
                if error.code not in _UNREADABLE:
                    raise
                unreadable.append(error)
                return None
            return page.model_copy(update={"text": self._cut(text)}) if text else None

        found = tuple(page for page in await each(pages, read) if page is not None)
        if unreadable and not found:
            raise unreadable[0]
        return found

    def _cut(self, text: str) -> str:
        if len(text) <= self._most_chars:
            return text
        return text[: self._most_chars + 1].rsplit(None, 1)[0][: self._most_chars]
