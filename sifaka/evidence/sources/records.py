"""The common part of the adapters that ask a search server for its records."""

import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Sequence

from sifaka.errors import SourceError
from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.filters import ANYTHING, SearchFilters, wanted
from sifaka.evidence.sources.fields import Fields, FoundRecord, Record, document_of
from sifaka.evidence.sources.http import HttpClient
from sifaka.storage.protocol import Health

MOST_RESULTS = 100
"""Of one answer, whatever is asked for."""
_SPARE = 4
"""So many times more is asked for where the server cannot filter and we do."""


class RecordAdapter(ABC):
    """Searches one index of a server.

    Args:
        base: The URL below which it is asked, without credentials.
        index: What the server calls the collection that is searched.
        name: The adapter's name.
        fields: Which fields of its records hold what.
        authorization: The value of the HTTP header of that name.
    """

    def __init__(
        self, base: str, *, index: str, name: str, fields: Fields, authorization: str | None
    ) -> None:
        self.base = base.rstrip("/")
        self.index = index
        self.fields = fields
        self.name = name
        headers = {"Authorization": authorization} if authorization else {}
        self._http = HttpClient(self.base, adapter=name, headers=headers)

    @property
    def place(self) -> str:
        """The server and the index."""
        return f"{self.base}/{self.index}"

    @property
    def dated_by(self) -> str:
        """The field by which the server itself applies the dates of the filters, if it does."""
        return self.fields.date

    async def search(
        self, query: str, *, limit: int, filters: SearchFilters = ANYTHING
    ) -> Sequence[SourceDocument]:
        """At most `limit` documents, best first; see `Adapter`. A query without words finds none.

        Raises:
            SourceError: The server cannot be reached, refuses, answers nonsense, or its records
                have no text under the configured name.
        """
        words = plain_query(query)
        if not words or limit < 1:
            return ()
        unfiltered = filters.sites or (filters.asks_for_dates and not self.dated_by)
        size = min(MOST_RESULTS, limit * _SPARE if unfiltered else limit)
        documents = await self._documents(words, size, filters)
        return wanted(documents, filters, limit)

    async def health(self) -> Health:
        """Ask for one document."""
        try:
            await self._documents("the", 1, ANYTHING)
        except SourceError as error:
            return Health(part=self.place, works=False, found=str(error))
        return Health(part=self.place, works=True, found="answers")

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    @abstractmethod
    async def _found(self, query: str, size: int, filters: SearchFilters) -> Sequence[FoundRecord]:
        """Ask the server."""

    def _listed(self, records: Sequence[Record] | None, path: str) -> Sequence[Record]:
        """The records of an answer."""
        if records is None:
            raise self._malformed(
                f"the answer of {self.place} has no {path}",
                "check that the adapter's URL is of this kind of server",
            )
        return records

    def _malformed(self, what: str, hint: str) -> SourceError:
        return SourceError(f"{self.name}: {what}", hint, adapter=self.name, code="malformed")

    async def _documents(
        self, query: str, size: int, filters: SearchFilters
    ) -> Sequence[SourceDocument]:
        try:
            found = await self._found(query, size, filters)
        except SourceError as error:
            raise self._explained(error) from error
        read = [document_of(each, self.fields, adapter=self.name) for each in found]
        documents = [each for each in read if each is not None]
        if found and not documents:
            named = " or ".join(map(repr, self.fields.text))
            raise self._malformed(
                f"no record of {self.place} has text in {named}",
                "name the field in the adapter's URL, such as ?text=body",
            )
        return documents

    def _explained(self, error: SourceError) -> SourceError:
        """The same with what is to be done about it here."""
        message, suggestion = error.message, error.suggestion
        if error.code == "not_found":
            message = f"{self.name}: there is no {self.index!r} at {self.base}"
            suggestion = "create it, or correct the adapter's URL"
        elif error.code == "authentication":
            suggestion = f"set SIFAKA_ADAPTER_KEYS={self.name}=..., or correct it"
        else:
            return error
        return SourceError(message, suggestion, adapter=self.name, code=error.code)


MOST_CHARS = 400
"""Of a query; servers bound the clauses that they make of it, and a URL has an end too."""


def plain_query(query: str) -> str:
    """The query in one line of bounded length, without characters that no server could be sent.

    Returns:
        Whole words only; empty when there is nothing to look for.
    """
    shown = "".join(c if _is_text(c) else " " for c in unicodedata.normalize("NFC", query))
    line = " ".join(shown.split())
    if len(line) > MOST_CHARS:
        cut = line[: MOST_CHARS + 1].rsplit(" ", 1)
        line = cut[0] if len(cut) > 1 else line[:MOST_CHARS]
    return line if any(c.isalnum() for c in line) else ""


def _is_text(character: str) -> bool:
    # Control characters, and halves of surrogate pairs; joiners are parts of words in some scripts.
    return unicodedata.category(character) not in {"Cc", "Cs", "Co", "Cn"}
