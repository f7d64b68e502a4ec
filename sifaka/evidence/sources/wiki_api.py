"""The API of a MediaWiki: its requests and its errors.

https://www.mediawiki.org/wiki/API:Main_page
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from sifaka.errors import SourceError
from sifaka.evidence.sources.answers import Asked
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
    """Asks the API of one wiki."""

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
