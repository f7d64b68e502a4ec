"""The API of a MediaWiki: its requests, its errors, and its pages.

https://www.mediawiki.org/wiki/API:Main_page
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import anyio

from sifaka.errors import SourceError
from sifaka.evidence.documents import SourceDocument, moment
from sifaka.evidence.sources.answers import Asked
from sifaka.evidence.sources.html import plain_text
from sifaka.evidence.sources.http import HttpClient

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


class WikiApi:
    """Asks the API of one wiki.

    Args:
        http: The client; its base is the URL of `api.php`.
        adapter: The name of the adapter.
    """

    def __init__(self, http: HttpClient, adapter: str) -> None:
        self._http = http
        self._asked = Asked(adapter, http.place)

    async def ask(self, wanted: str, action: str, **params: str | int) -> Mapping[str, Any]:
        """The answer of the API to an action.

        Args:
            wanted: The part of the answer that has to be there, and is returned.
            action: Such as `query`.
            params: Those of the action.

        Raises:
            SourceError: There is no answer, or it is an error.
        """
        told = {"format": "json", "formatversion": 2, "maxlag": MAXLAG}
        answer = await self._http.get_json(
            params={"action": action, **params, **told}, check=self._check
        )
        found = mapping(mapping(answer).get(wanted))
        if not found:  # of a search without results, there is at least an empty list in it
            raise self.malformed(wanted)
        return found

    def malformed(self, lacking: str) -> SourceError:
        """The error of an answer that lacks something."""
        return self._asked.failure(
            "malformed",
            f"answered without {lacking!r}",
            "check that the URL is that of the api.php of a MediaWiki",
        )

    def _check(self, answer: Any, retry_after: float | None) -> None:
        error = mapping(mapping(answer).get("error"))
        if not error:
            return
        told = str(error.get("code"))
        code = _CODES.get(told, "server" if told.startswith("internal_api_error") else "rejected")
        info = " ".join(str(error.get("info", "")).split())[:200]
        what = f"answered with the error {told[:60]}: {info}"
        raise self._asked.failure(code, what, retry_after=retry_after)


def mapping(value: object) -> Mapping[str, Any]:
    """An object of JSON; an empty one for anything else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def listed(value: object) -> Sequence[Mapping[str, Any]]:
    """The objects of an array of JSON; none for anything else."""
    return (
        [mapping(each) for each in cast("list[object]", value)] if isinstance(value, list) else []
    )


_ABOUT_EXTENSIONS: Mapping[str, str | int] = {"meta": "siteinfo", "siprop": "extensions"}


class WikiPages:
    """Reads pages.

    Wikipedia and others have the extension TextExtracts, which gives plain text; elsewhere it is
    made of the HTML. Which it is, a wiki is asked once, together with what it is asked first.

    Args:
        api: The API of the wiki.
        adapter: The name that the documents get.
    """

    def __init__(self, api: WikiApi, adapter: str) -> None:
        self._api = api
        self._adapter = adapter
        self._has_extracts: bool | None = None

    async def described(self, pages: Sequence[int]) -> list[SourceDocument]:
        """The pages of some ids without their text, in their order, each once.

        They were `published` when they were last changed. Redirects count as what they lead to;
        pages that are not there any more are left out.

        Raises:
            SourceError: The wiki cannot be asked.
        """
        if not pages:
            return []
        is_unknown = self._has_extracts is None
        told = await self._api.ask(
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

    async def text(self, page: str) -> str:
        """The running text of a page, one paragraph or heading a line.

        Raises:
            SourceError: It cannot be read.
        """
        return await self._extract(page) if self._has_extracts else await self._parsed(page)

    async def _extract(self, page: str) -> str:
        told = await self._api.ask(
            "query", "query", prop="extracts", pageids=page, explaintext=1, exsectionformat="plain"
        )
        pages = listed(told.get("pages"))
        extract = str(pages[0].get("extract") or "") if pages else ""
        lines = (line.strip() for line in extract.splitlines())
        # Of a page of nothing but lists, the extension may leave nothing.
        return "\n".join(line for line in lines if line) or await self._parsed(page)

    async def _parsed(self, page: str) -> str:
        told = await self._api.ask(
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
            raise self._api.malformed("text")
        # A page that takes long is no reason to wait beyond the deadline.
        return await anyio.to_thread.run_sync(plain_text, html, abandon_on_cancel=True)

    def _document(self, page: Mapping[str, Any]) -> SourceDocument:
        revisions = listed(page.get("revisions"))
        return SourceDocument(
            text="",
            title=str(page.get("title", "")),
            url=str(page.get("fullurl", "")),
            id=str(page["pageid"]),
            adapter=self._adapter,
            published=moment(revisions[0].get("timestamp")) if revisions else None,
        )
