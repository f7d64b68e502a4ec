"""Apache Solr: a core or a collection, searched by words.

https://solr.apache.org/guide/solr/latest/query-guide/edismax-query-parser.html and
https://solr.apache.org/guide/solr/latest/query-guide/response-writers.html
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from sifaka.evidence.filters import SearchFilters
from sifaka.evidence.sources.fields import FoundRecord, records_at
from sifaka.evidence.sources.records import RecordAdapter

_OPERATORS = re.compile(r'([+\-&|!(){}\[\]^"~*?:\\/])')
_OPERATOR_WORDS = re.compile(r"\b(?:AND|OR|NOT)\b")


class SolrAdapter(RecordAdapter):
    """Searches a core or a collection of Solr; `base` is the URL that its name is appended to."""

    async def _found(self, query: str, size: int, filters: SearchFilters) -> Sequence[FoundRecord]:
        asked: dict[str, str] = {
            "q": _literal(query),
            "defType": "edismax",
            "qf": " ".join((*self.fields.text, f"{self.fields.title}^2")),
            "q.op": "OR",
            "mm": "1",
            "fl": ",".join((*self.fields.names, "score")),
            "rows": str(size),
            "omitHeader": "true",
            "wt": "json",
        }
        if self.fields.date and filters.asks_for_dates:
            since, until = _moment(filters.since), _moment(filters.until)
            asked["fq"] = f"{self.fields.date}:[{since} TO {until}}}"
        answer = await self._http.get_json(f"{self.index}/select", asked)
        docs = self._listed(records_at(answer, "response", "docs"), "response.docs")
        return [FoundRecord(record=record, score=record.get("score")) for record in docs]


def _literal(query: str) -> str:
    """The words of a query, with nothing among them that Solr takes for its own."""
    words = _OPERATOR_WORDS.sub(lambda word: word.group().lower(), query)
    return _OPERATORS.sub(r"\\\1", words)


def _moment(moment: datetime | None) -> str:
    return "*" if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
