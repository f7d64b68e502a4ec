"""Searching an index in memory: queries, BM25, nearest neighbours, sorting."""

from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from math import hypot, log
from typing import Any, cast

from tests.stubs.elasticsearch_analysis import tokens
from tests.stubs.elasticsearch_errors import ElasticError
from tests.stubs.elasticsearch_index import Index

Json = dict[str, Any]
Scores = dict[str, float]
_KEYS = {"query", "knn", "sort", "size", "search_after", "_source", "track_total_hits"}
_KNN_KEYS = {"field", "query_vector", "k", "num_candidates", "similarity", "filter"}
_WINDOW = 10_000
_MOST_CLAUSES = 1024
_K1, _B = 1.2, 0.75


def search(index: Index, body: Json) -> Json:
    _known("search", body, _KEYS, "Unknown key for a VALUE in [{}].")
    size = body.get("size", 10)
    if size > _WINDOW:
        raise _failed(f"Result window is too large, from + size must be less than [{_WINDOW}]")
    if "query" in body and "knn" in body:
        raise _failed("this stub fuses no query with knn")
    scores = _nearest(index, body["knn"]) if "knn" in body else _matches(index, body["query"])
    order = _sorted(index, scores, body)
    hits = [_hit(index, body, doc_id, scores[doc_id], key) for doc_id, key in order[:size]]
    found: Json = {"max_score": max(scores.values(), default=None), "hits": hits}
    if body.get("track_total_hits", True):
        found["total"] = {"value": len(scores), "relation": "eq"}
    shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
    return {"took": 1, "timed_out": False, "_shards": shards, "hits": found}


def _matches(index: Index, query: Json) -> Scores:
    if len(query) != 1:
        raise _unparsed("query malformed, must start with start_object")
    ((kind, body),) = query.items()
    match kind:
        case "bool":
            return _bool(index, body)
        case "term":
            ((field, value),) = body.items()
            return _where(index, lambda source: value in _values(source.get(field)))
        case "exists":
            return _where(index, lambda source: bool(_values(source.get(body["field"]))))
        case "range":
            return _range(index, body)
        case "multi_match":
            return _words(index, body)
        case _:
            raise _unparsed(f"unknown query [{kind}]")


def _bool(index: Index, body: Json) -> Scores:
    _known("bool", body, {"must", "filter", "must_not"}, "[bool] query does not support [{}]")
    found: Scores = dict.fromkeys(index.visible, 0.0)
    for query in body.get("must", []):
        scores = _matches(index, query)
        found = {doc_id: found[doc_id] + scores[doc_id] for doc_id in found if doc_id in scores}
    for query in body.get("filter", []):
        admitted = _matches(index, query)
        found = {doc_id: score for doc_id, score in found.items() if doc_id in admitted}
    for query in body.get("must_not", []):
        refused = _matches(index, query)
        found = {doc_id: score for doc_id, score in found.items() if doc_id not in refused}
    return found


def _range(index: Index, body: Json) -> Scores:
    ((field, bounds),) = body.items()
    _known("range", bounds, {"gte", "gt", "lte", "lt"}, "[range] query does not support [{}]")

    def within(source: Json) -> bool:
        return any(
            value >= bounds.get("gte", value)
            and value <= bounds.get("lte", value)
            and ("gt" not in bounds or value > bounds["gt"])
            and ("lt" not in bounds or value < bounds["lt"])
            for value in _values(source.get(field))
        )

    return _where(index, within)


def _words(index: Index, body: Json) -> Scores:
    known = {"query", "fields", "type"}
    _known("multi_match", body, known, "[multi_match] query does not support [{}]")
    if body.get("type") != "most_fields":
        raise _unparsed("this stub knows most_fields only")
    found: Scores = {}
    clauses = 0
    for field, boost in _fields(body):
        terms = _terms(index, field, body["query"])
        clauses += len(terms)
        holding = {i: d.tokens[field] for i, d in index.visible.items() if d.tokens.get(field)}
        average = sum(map(len, holding.values())) / len(holding) if holding else 0.0
        counts = {i: Counter(held) for i, held in holding.items()}
        for term in terms:
            having = [doc_id for doc_id in counts if counts[doc_id][term]]
            idf = log(1 + (len(holding) - len(having) + 0.5) / (len(having) + 0.5))
            for doc_id in having:
                count = counts[doc_id][term]
                norm = _K1 * (1 - _B + _B * len(holding[doc_id]) / average)
                found[doc_id] = found.get(doc_id, 0.0) + boost * idf * count / (count + norm)
    if clauses > _MOST_CLAUSES:
        raise _failed("too_many_nested_clauses: Query contains too many nested clauses", 500)
    return found


def _fields(body: Json) -> list[tuple[str, float]]:
    return [
        (name, float(boost or 1)) for name, _, boost in (f.partition("^") for f in body["fields"])
    ]


def _terms(index: Index, field: str, text: str) -> list[str]:
    if field not in index.properties:
        return []
    return list(tokens(text))


def _nearest(index: Index, body: Json) -> Scores:
    _known("knn", body, _KNN_KEYS, "[knn] unknown field [{}]")
    field = index.properties.get(body["field"])
    if field is None or field["type"] != "dense_vector":
        raise _failed("failed to create query: [knn] queries are only supported on [dense_vector]")
    if not 1 <= body["k"] <= body["num_candidates"] <= 10_000:
        raise _failed("[num_candidates] cannot be less than [k]")
    wanted: list[float] = body["query_vector"]
    if len(wanted) != field["dims"]:
        raise _failed(
            f"failed to create query: the query vector has a different dimension [{len(wanted)}] "
            f"than the index vectors [{field['dims']}]"
        )
    admitted = _bool(index, {"filter": body.get("filter", [])})
    cosines: Scores = {}
    for doc_id in admitted:
        held: list[float] | None = index.visible[doc_id].source.get(body["field"])
        if held is not None:
            product = sum(a * b for a, b in zip(wanted, held, strict=True))
            cosines[doc_id] = product / (hypot(*wanted) * hypot(*held))
    near = sorted(cosines, key=lambda i: cosines[i], reverse=True)[: body["k"]]
    floor = body.get("similarity", -1.0)
    return {i: (1 + cosines[i]) / 2 for i in near if cosines[i] >= floor}


def _sorted(index: Index, scores: Scores, body: Json) -> list[tuple[str, list[Any]]]:
    asked: list[Json] = body.get("sort", [{"_score": "desc"}])
    keys = [next(iter(entry.items())) for entry in asked]
    for field, _ in keys:
        if field != "_score" and index.properties.get(field, {}).get("type") not in {
            "long",
            "keyword",
        }:
            raise _failed(f"No mapping found for [{field}] in order to sort on")
    rows = [
        (i, [scores[i] if f == "_score" else index.visible[i].source[f] for f, _ in keys])
        for i in sorted(scores)
    ]
    for place, (_, order) in reversed(list(enumerate(keys))):
        rows.sort(key=lambda row: row[1][place], reverse=order == "desc")
    after: list[Any] | None = body.get("search_after")
    if after is None:
        return rows
    if len(after) != len(keys) or any(order != "desc" for _, order in keys):
        raise _failed("search_after has a different number of values than sort")
    return [row for row in rows if row[1] < after]


def _hit(index: Index, body: Json, doc_id: str, score: float, key: list[Any]) -> Json:
    document = index.visible[doc_id]
    hit: Json = {"_index": index.name, "_id": doc_id, "_score": score}
    shown = body.get("_source", True)
    if shown is not False:
        source = document.source
        hit["_source"] = deepcopy(
            source if shown is True else {name: source[name] for name in shown if name in source}
        )
    if "sort" in body:
        hit["sort"] = key
    return hit


def _where(index: Index, holds: Callable[[Json], bool]) -> Scores:
    return {i: 0.0 for i, document in index.visible.items() if holds(document.source)}


def _values(value: Any) -> list[Any]:
    if value is None:
        return []
    return cast("list[Any]", value) if isinstance(value, list) else [value]


def _known(kind: str, body: Json, names: set[str], reason: str) -> None:
    for name in set(body) - names:
        raise _unparsed(reason.format(name))


def _unparsed(reason: str) -> ElasticError:
    return ElasticError(400, "parsing_exception", reason, line=1, col=2)


def _failed(reason: str, status: int = 400) -> ElasticError:
    error = ElasticError(status, "search_phase_execution_exception", "all shards failed")
    error.cause["root_cause"] = [{"type": "illegal_argument_exception", "reason": reason}]
    return error
