"""AtomWalker: academic papers, by the ScholarSearch API.

No public reference of that API exists. Its shape is taken from the adapter of OpenSift and the
answer recorded in that adapter's tests (https://github.com/AtomInnoLab/OpenSift,
`src/opensift/adapters/atomwalker`, `tests/unit/adapters/test_atomwalker.py`).
"""

from collections.abc import Sequence
from typing import Literal

from sifaka.evidence.filters import SearchFilters
from sifaka.evidence.sources.fields import Fields, FoundRecord, Record, records_at
from sifaka.evidence.sources.records import RecordAdapter

WORKS = "atomwalker-works"
"""The index with all papers."""
Strategy = Literal["fast", "comprehensive"]
_PATH = "api/v1/resource/ScholarSearch/paper"
_ABSTRACTS = ("abstract_text", "abstract_contents")


class AtomWalkerAdapter(RecordAdapter):
    """Searches papers; a document is an abstract, and papers without one are left out."""

    def __init__(
        self, base: str, *, index: str, name: str, strategy: Strategy, authorization: str | None
    ) -> None:
        fields = Fields(text=("abstract",), date="publication_date")
        super().__init__(base, index=index, name=name, fields=fields, authorization=authorization)
        self.strategy: Strategy = strategy

    @property
    def dated_by(self) -> str:
        """None: the service leaves no dates out."""
        return ""

    async def _found(self, query: str, size: int, filters: SearchFilters) -> Sequence[FoundRecord]:
        asked = {"search": query, "search_strategy": self.strategy, "size": str(size)}
        answer = await self._http.get_json(f"{_PATH}/{self.index}", asked)
        papers = self._listed(records_at(answer, "papers"), "papers")
        return [_found(paper) for paper in papers if _abstract(paper)]


def _abstract(paper: Record) -> object:
    """It stands in one of two fields."""
    return next((paper[name] for name in _ABSTRACTS if paper.get(name)), None)


def _found(paper: Record) -> FoundRecord:
    """A paper; it may have a date, or only a year."""
    known = {
        "abstract": _abstract(paper),
        "publication_date": paper.get("publication_date") or paper.get("year"),
        "url": paper.get("url") or paper.get("source_url"),
    }
    return FoundRecord(record={**paper, **known}, score=paper.get("score"))
