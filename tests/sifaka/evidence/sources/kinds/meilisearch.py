"""Meilisearch: recorded shapes, not a real server.

https://www.meilisearch.com/docs/reference/api/search and
https://www.meilisearch.com/docs/reference/errors/error_codes
"""

import re
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from sifaka.evidence.documents import SourceDocument
from tests.sifaka.evidence.sources.kinds.source import DOCUMENTS, Remote, Source, asking
from tests.stubs.search_server import Answered, Asked, SearchServer, of_json

_CONDITION = re.compile(r"seconds (>=|<) (\d+)")


def source(_: Path) -> AbstractAsyncContextManager[Source]:
    server = SearchServer(_answer)
    there = Remote(
        server=server,
        refused=_error(403, "The provided API key is invalid.", "invalid_api_key", "auth"),
        no_index=_error(404, "Index `isles` not found.", "index_not_found", "invalid_request"),
        broken=_error(500, "An internal error has occurred.", "internal", "internal"),
        empty=of_json(_hits("x")),
        without_text=of_json(_hits("x", {"id": 1, "title": "Skär", "_rankingScore": 1.0})),
        query_of=lambda at: server.asked[at].json["q"],
    )
    spec = f"meilisearch+http://{server.host}/isles?text=body&url=link&timestamp=seconds"
    return asking(there, spec, key="s3cret", sent="Bearer s3cret")


def _answer(asked: Asked) -> Answered:
    assert (asked.method, asked.path) == ("POST", "/indexes/isles/search")
    body = asked.json
    assert set(body) <= {"q", "limit", "attributesToRetrieve", "showRankingScore", "filter"}
    fields = {"body", "title", "author", "link", "doi", "id", "seconds"}
    assert set(body["attributesToRetrieve"]) == fields
    assert body["showRankingScore"] is True
    found = list(DOCUMENTS)
    for condition in body.get("filter", []):
        told = _CONDITION.fullmatch(condition)
        assert told is not None, condition
        bound = int(told[2])
        found = [d for d in found if (_seconds(d) >= bound) == (told[1] == ">=")]
    hits = (_hit(each, 0.9 - n / 10) for n, each in enumerate(found[: body["limit"]]))
    return of_json(_hits(body["q"], *hits))


def _seconds(document: SourceDocument) -> int:
    assert document.published is not None
    return int(document.published.timestamp())


def _hit(document: SourceDocument, score: float) -> dict[str, object]:
    return {
        "id": document.id,
        "title": document.title,
        "body": document.text,
        "link": document.url,
        "seconds": _seconds(document),
        "_rankingScore": score,
    }


def _hits(query: str, *hits: dict[str, object]) -> dict[str, object]:
    return {
        "hits": list(hits),
        "query": query,
        "processingTimeMs": 1,
        "limit": 20,
        "offset": 0,
        "estimatedTotalHits": len(hits),
    }


def _error(status: int, message: str, code: str, kind: str) -> Answered:
    link = f"https://docs.meilisearch.com/errors#{code}"
    return of_json({"message": message, "code": code, "type": kind, "link": link}, status)
