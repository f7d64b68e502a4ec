"""AtomWalker: the shape of an answer recorded in the tests of OpenSift, not a real server.

https://github.com/AtomInnoLab/OpenSift, `tests/unit/adapters/test_atomwalker.py`; that of its
errors is not recorded anywhere.
"""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

from sifaka.evidence.documents import SourceDocument
from tests.sifaka.evidence.sources.kinds.source import DOCUMENTS, Remote, Source, asking
from tests.stubs.search_server import Answered, Asked, SearchServer, of_json


def source(_: Path) -> AbstractAsyncContextManager[Source]:
    server = SearchServer(_answer)
    there = Remote(
        server=server,
        refused=of_json({"detail": "unauthorized"}, 401),
        no_index=of_json({"detail": "not found"}, 404),
        broken=of_json({"detail": "internal"}, 500),
        empty=of_json(_papers("x")),
        without_text=of_json(_papers("x", {"id": "1", "title": "Skär", "abstract_text": None})),
        query_of=lambda at: server.asked[at].params["search"],
    )
    spec = f"atomwalker+http://{server.host}?strategy=comprehensive"
    return asking(there, spec, key="s3cret", sent="Bearer s3cret")


def _answer(asked: Asked) -> Answered:
    path = "/api/v1/resource/ScholarSearch/paper/atomwalker-works"
    assert (asked.method, asked.path) == ("GET", path)
    assert set(asked.params) == {"search", "search_strategy", "size"}
    assert asked.params["search_strategy"] == "comprehensive"
    rows = DOCUMENTS[: int(asked.params["size"])]
    papers = (_paper(each, 1200.5 - n) for n, each in enumerate(rows))
    return of_json(_papers(asked.params["search"], *papers))


def _paper(document: SourceDocument, score: float) -> dict[str, object]:
    assert document.published is not None
    is_first = document is DOCUMENTS[0]
    return {
        "url": document.url if is_first else None,
        "source_url": document.url,
        "year": document.published.year,
        "title": document.title,
        "authors": "Ada Lind, Bo Ek",
        "abstract_text": document.text if is_first else None,
        "abstract_contents": None if is_first else document.text,
        "id": document.id,
        "doi": "10.1000/skar" if is_first else None,
        "publication_date": document.published.date().isoformat(),
        "citation_count": 21,
        "jcr": None,
        "score": score,
    }


def _papers(query: str, *papers: dict[str, object]) -> dict[str, object]:
    return {
        "papers": list(papers),
        "pagination": {"from": 0, "size": 10, "total": len(papers), "has_more": False},
        "meta": {"query": query, "index": "atomwalker-works", "took_ms": 172},
    }
