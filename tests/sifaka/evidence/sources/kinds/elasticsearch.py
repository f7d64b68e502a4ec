"""Elasticsearch and OpenSearch: the shapes that the documentation of `_search` gives.

Recorded shapes, not a real server:
https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-search,
https://docs.opensearch.org/latest/api-reference/search-apis/search/, and for errors
https://github.com/elastic/go-elasticsearch/issues/279 (security_exception).
"""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

from sifaka.evidence.documents import SourceDocument
from tests.sifaka.evidence.sources.kinds.source import DOCUMENTS, Remote, Source, asking
from tests.stubs.search_server import Answered, Asked, SearchServer, of_json


def opensearch(place: Path) -> AbstractAsyncContextManager[Source]:
    return source(place, "opensearch", "Bearer")


def source(
    _: Path, kind: str = "elasticsearch", scheme: str = "ApiKey"
) -> AbstractAsyncContextManager[Source]:
    server = SearchServer(_answer)
    there = Remote(
        server=server,
        refused=_error(401, "security_exception", "missing authentication credentials"),
        no_index=_error(404, "index_not_found_exception", "no such index [isles]"),
        broken=_error(503, "search_phase_execution_exception", "all shards failed"),
        empty=of_json(_hits()),
        without_text=of_json(_hits({"_id": "1", "_score": 1.0, "_source": {"title": "Skär"}})),
        query_of=lambda at: server.asked[at].json["query"]["bool"]["must"][0]["multi_match"][
            "query"
        ],
    )
    spec = f"{kind}+http://{server.host}/isles?text=body&url=link&date=changed"
    return asking(there, spec, key="s3cret-key==", sent=f"{scheme} s3cret-key==")


def _answer(asked: Asked) -> Answered:
    assert (asked.method, asked.path) == ("POST", "/isles/_search")
    assert asked.headers["content-type"] == "application/json"
    body = asked.json
    assert set(body) == {"query", "size", "_source", "track_total_hits"}
    match = body["query"]["bool"]["must"][0]["multi_match"]
    assert match["fields"] == ["body", "title^2"]
    assert body["_source"] == ["body", "title", "author", "link", "doi", "id", "changed"]
    found = list(DOCUMENTS)
    for condition in body["query"]["bool"].get("filter", []):
        (bounds,) = condition["range"].values()
        assert list(condition["range"]) == ["changed"]
        found = [each for each in found if _is_within(each, bounds)]
    return of_json(_hits(*(_hit(each, 9.0 - n) for n, each in enumerate(found[: body["size"]]))))


def _is_within(document: SourceDocument, bounds: dict[str, str]) -> bool:
    assert document.published is not None
    written = document.published.isoformat()
    return bounds.get("gte", "") <= written < bounds.get("lt", "9")


def _hit(document: SourceDocument, score: float) -> dict[str, object]:
    assert document.published is not None
    return {
        "_index": "isles",
        "_id": document.id,
        "_score": score,
        "_source": {
            "title": document.title,
            "body": document.text,
            "link": document.url,
            "changed": document.published.isoformat(),
        },
    }


def _hits(*hits: dict[str, object]) -> dict[str, object]:
    return {
        "took": 5,
        "timed_out": False,
        "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
        "hits": {"max_score": 9.0 if hits else None, "hits": list(hits)},
    }


def _error(status: int, kind: str, reason: str) -> Answered:
    cause = {"type": kind, "reason": reason}
    return of_json({"error": {"root_cause": [cause], **cause}, "status": status}, status)
