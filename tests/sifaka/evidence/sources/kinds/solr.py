"""Solr: recorded shapes, not a real server.

https://solr.apache.org/guide/solr/latest/query-guide/response-writers.html and
https://solr.apache.org/guide/solr/latest/query-guide/edismax-query-parser.html
"""

import re
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from sifaka.evidence.documents import SourceDocument
from tests.sifaka.evidence.sources.kinds.source import DOCUMENTS, Remote, Source, asking
from tests.stubs.search_server import Answered, Asked, SearchServer, of_json

_RANGE = re.compile(r"changed:\[(\S+) TO (\S+)\}")
_MEANT = re.compile(r'[+\-&|!(){}\[\]^"~*?:\\/]|\b(?:AND|OR|NOT)\b')
_NOT_FOUND = (
    b"<html><head><title>Error 404 Not Found</title></head><body>HTTP ERROR 404</body></html>"
)


def source(_: Path) -> AbstractAsyncContextManager[Source]:
    server = SearchServer(_answer)
    there = Remote(
        server=server,
        refused=Answered(body=b"<html>require authentication</html>", status=401),
        no_index=Answered(body=_NOT_FOUND, status=404, media_type="text/html"),
        broken=of_json({"error": {"msg": "No live SolrServers", "code": 503}}, 503),
        empty=of_json(_docs()),
        without_text=of_json(_docs({"id": "1", "title": "Skär", "score": 1.0})),
        query_of=lambda at: re.sub(r"\\(.)", r"\1", server.asked[at].params["q"]),
    )
    spec = f"solr+http://{server.host}/solr/isles?text=body&url=link&date=changed"
    return asking(there, spec, key="jo:s3cret", sent="Basic am86czNjcmV0")


def _answer(asked: Asked) -> Answered:
    assert (asked.method, asked.path) == ("GET", "/solr/isles/select")
    params = asked.params
    assert (params["defType"], params["qf"], params["wt"]) == ("edismax", "body title^2", "json")
    assert params["fl"] == "body,title,author,link,doi,id,changed,score"
    assert not _MEANT.search(re.sub(r"\\.", "", params["q"])), "words, and no query language"
    found = list(DOCUMENTS)
    if "fq" in params:
        bounds = _RANGE.fullmatch(params["fq"])
        assert bounds is not None, params["fq"]
        found = [each for each in found if _is_within(each, bounds[1], bounds[2])]
    rows = found[: int(params["rows"])]
    return of_json(_docs(*(_doc(each, 4.0 - n) for n, each in enumerate(rows))))


def _is_within(document: SourceDocument, since: str, until: str) -> bool:
    assert document.published is not None
    written = document.published.strftime("%Y-%m-%dT%H:%M:%SZ")
    return since in {"*", min(since, written)} and (until == "*" or written < until)


def _doc(document: SourceDocument, score: float) -> dict[str, object]:
    assert document.published is not None
    # Fields of a core without a schema of its own are lists.
    return {
        "id": document.id,
        "title": [document.title],
        "body": [document.text],
        "link": document.url,
        "changed": document.published.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "score": score,
    }


def _docs(*docs: dict[str, object]) -> dict[str, object]:
    return {
        "response": {"numFound": len(docs), "start": 0, "numFoundExact": True, "docs": list(docs)}
    }
