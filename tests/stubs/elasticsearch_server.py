"""A small Elasticsearch in memory, on loopback: no server can be installed from a package index.

It is written from the shapes that the documentation of the REST API gives, and was not compared
with a real server. It knows the calls that the store makes and refuses whatever else it is asked.
Like a real one it shows a write to searches after a refresh only.

- https://www.elastic.co/docs/api/doc/elasticsearch/ (operation-create, -index, -get, -mget, -bulk,
  -delete, -delete-by-query, -search, -indices-create, -indices-put-mapping, -indices-refresh), and
  the examples in https://github.com/elastic/elasticsearch-specification/tree/main/specification
- errors as reported: version_conflict_engine_exception
  https://github.com/elastic/apm-server/issues/3688, security_exception
  https://github.com/elastic/go-elasticsearch/issues/279, es_rejected_execution_exception
  https://github.com/Smile-SA/elasticsuite/issues/2174, resource_already_exists_exception
  https://github.com/elastic/elasticsearch/issues/37020, dimensions of a vector
  https://github.com/infiniflow/ragflow/issues/1003, `knn` on another field
  https://github.com/run-llama/llama_index/issues/11784
"""

import atexit
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.stubs.elasticsearch_errors import ElasticError
from tests.stubs.elasticsearch_index import Index
from tests.stubs.elasticsearch_query import search
from tests.stubs.search_server import Answered, Asked, SearchServer, of_json

Json = dict[str, Any]
_PARAMETERS: dict[str, frozenset[str]] = {
    "_bulk": frozenset({"refresh", "require_alias"}),
    "_create": frozenset({"refresh", "require_alias"}),
    "_doc": frozenset({"if_seq_no", "if_primary_term", "refresh", "require_alias", "routing"}),
    "_delete_by_query": frozenset({"conflicts", "refresh"}),
    "_forcemerge": frozenset({"only_expunge_deletes", "max_num_segments", "flush"}),
}
_MOST_BYTES = 100_000_000


@dataclass(frozen=True, slots=True)
class Request:
    """What the server was asked."""

    method: str
    path: str
    parameters: dict[str, str]
    body: bytes

    @property
    def lines(self) -> list[Json]:
        return [json.loads(line) for line in self.body.splitlines()]

    @property
    def json(self) -> Json:
        return json.loads(self.body)


class ElasticsearchServer(SearchServer):
    """The server; `requests` and `intercept` are for tests.

    Args:
        authorization: The header that it asks for, if any.
        vectors: Whether it knows `dense_vector`, which OpenSearch does not.
    """

    def __init__(self, authorization: str | None = None, *, vectors: bool = True) -> None:
        self.requests: list[Request] = []
        self.intercept: Callable[[Request], None] | None = None
        """Called before each request; what it raises is the answer."""
        self.lose: Callable[[Request], bool] | None = None
        """Called after each request; where it says so, the connection is cut."""
        self._authorization = authorization
        self._vectors = vectors
        self.indices: dict[str, Index] = {}
        self.aliases: dict[str, str] = {}
        self._lock = threading.Lock()
        super().__init__(self._answered)

    def _answered(self, asked: Asked) -> Answered:
        parts = urlsplit(asked.target)
        request = Request(asked.method, parts.path, dict(parse_qsl(parts.query)), asked.body)
        status, answer = self._answer_to(request, asked.headers)
        return of_json(answer, status, x_elastic_product="Elasticsearch")

    def _answer_to(self, request: Request, headers: dict[str, str]) -> tuple[int, Json]:
        try:
            self._admit(request, headers)
            if self.intercept is not None:
                self.intercept(request)
            with self._lock:
                self.requests.append(request)
                status, answer = self._route(request)
                lost = self.lose is not None and self.lose(request)
                return (0 if lost else status), answer
        except ElasticError as error:
            return error.status, error.body()
        except json.JSONDecodeError as error:
            refused = ElasticError(400, "parsing_exception", f"[1:{error.pos}] {error.msg}")
            return 400, refused.body()

    def _admit(self, request: Request, headers: dict[str, str]) -> None:
        if self._authorization not in {None, headers.get("authorization")}:
            reason = f"missing authentication credentials for REST request [{request.path}]"
            if "authorization" in headers:
                reason = f"unable to authenticate user for REST request [{request.path}]"
            header = {"WWW-Authenticate": ['Basic realm="security" charset="UTF-8"', "ApiKey"]}
            raise ElasticError(401, "security_exception", reason, header=header)
        if len(request.body) > _MOST_BYTES:
            raise ElasticError(413, "content_too_long_exception", "entity content is too long")
        kind = headers.get("content-type", "")
        wanted = "application/x-ndjson" if request.path.endswith("_bulk") else "application/json"
        if request.body and kind != wanted:
            raise ElasticError(406, "", f"Content-Type header [{kind}] is not supported")

    def _route(self, request: Request) -> tuple[int, Json]:
        parts = [unquote(part) for part in request.path.strip("/").split("/") if part]
        endpoint = parts[0] if parts == ["_bulk"] else parts[1] if len(parts) > 1 else ""
        unknown = sorted(set(request.parameters) - _PARAMETERS.get(endpoint, frozenset()))
        if unknown:
            raise ElasticError(
                400,
                "illegal_argument_exception",
                f"request [{request.path}] contains unrecognized parameter: [{unknown[0]}]",
            )
        match request.method, parts:
            case "GET", []:
                return 200, self._info()
            case "PUT", [name]:
                return self._create_index(name, request.json)
            case "GET", [name]:
                index = self._index(name)
                return 200, {name: {"aliases": {}, "mappings": index.mappings, "settings": {}}}
            case "PUT", [name, "_mapping"]:
                self._index(name).put_mapping(request.json)
                return 200, {"acknowledged": True}
            case "POST", [names, "_refresh"]:
                for index in self._named(names):
                    index.refresh()
                return 200, {"_shards": {"total": 2, "successful": 1, "failed": 0}}
            case "GET", [name, "_doc", doc_id]:
                found = self._index(name).found(doc_id)
                return (200 if found["found"] else 404), found
            case "PUT", [name, "_create", doc_id]:
                return self._written_to(name, request).write(doc_id, request.json, create=True)
            case "PUT", [name, "_doc", doc_id]:
                known = _known(request)
                return self._written_to(name, request).write(doc_id, request.json, known=known)
            case "DELETE", [name, "_doc", doc_id]:
                return self._index(name).delete(doc_id, known=_known(request))
            case "POST", [name, "_mget"]:
                _only(request.json, {"ids"})
                index = self._index(name)
                return 200, {"docs": [index.found(doc_id) for doc_id in request.json["ids"]]}
            case "POST", ["_bulk"]:
                (name,) = {line["update"]["_index"] for line in request.lines[::2]}
                return 200, self._written_to(name, request).bulk(request.body)
            case "POST", [name, "_search"]:
                return 200, search(self._index(name), request.json)
            case "POST", [name, "_forcemerge"]:
                self._index(name)
                return 200, {"_shards": {"total": 2, "successful": 1, "failed": 0}}
            case "POST", [names, "_delete_by_query"]:
                return 200, self._delete_by_query(names, request.json)
            case _:
                raise ElasticError(
                    400,
                    "illegal_argument_exception",
                    f"no handler found for uri [{request.path}] and method [{request.method}]",
                )

    def _info(self) -> Json:
        version: Json = {"number": "9.1.0", "build_flavor": "default", "lucene_version": "10.2.2"}
        if not self._vectors:
            version = {"distribution": "opensearch", "number": "3.1.0"}
        return {
            "name": "instance-0000000000",
            "cluster_name": "my_test_cluster",
            "version": version,
            "tagline": "You Know, for Search",
        }

    def _create_index(self, name: str, body: Json) -> tuple[int, Json]:
        if name in self.indices:
            uuid = self.indices[name].uuid
            raise ElasticError(
                400,
                "resource_already_exists_exception",
                f"index [{name}/{uuid}] already exists",
                index_uuid=uuid,
                index=name,
            )
        if name != name.lower() or name[0] in "-_+" or set(name) & set('\\/*?"<>| ,#:'):
            raise ElasticError(
                400, "invalid_index_name_exception", f"Invalid index name [{name}]", index=name
            )
        self.aliases |= dict.fromkeys(body.pop("aliases", {}), name)
        self.indices[name] = Index(name, body, vectors=self._vectors)
        return 200, {"acknowledged": True, "shards_acknowledged": True, "index": name}

    def _delete_by_query(self, names: str, body: Json) -> Json:
        _only(body, {"query"})
        deleted = 0
        for index in self._named(names):
            hits = search(index, {**body, "size": 10_000, "_source": False})["hits"]["hits"]
            for hit in hits:
                status, _ = index.delete(hit["_id"])
                deleted += status == 200
        return {"took": 1, "timed_out": False, "total": deleted, "deleted": deleted, "failures": []}

    def _named(self, names: str) -> list[Index]:
        return [self._index(name) for name in names.split(",")]

    def _index(self, name: str) -> Index:
        found = self.indices.get(self.aliases.get(name, name))
        if found is None:
            raise _no_index(name)
        return found

    def _written_to(self, name: str, request: Request) -> Index:
        if request.parameters.get("require_alias") == "true" and name not in self.aliases:
            flag = "[require_alias] request flag is [true]"
            raise _no_index(name, f" and {flag} and [{name}] is not an alias")
        if self.aliases.get(name, name) not in self.indices:
            self._create_index(name, {})  # `action.auto_create_index` is on by default
        return self._index(name)


@cache
def shared_server() -> ElasticsearchServer:
    """One server for all tests of this process."""
    server = ElasticsearchServer()
    atexit.register(server.stop)
    return server


def _known(request: Request) -> dict[str, int]:
    known = request.parameters
    return {name: int(known[name]) for name in known if name.startswith("if_")}


def _only(body: Json, allowed: set[str]) -> None:
    for name in set(body) - allowed:
        raise ElasticError(400, "parsing_exception", f"unknown key [{name}]")


def _no_index(name: str, why: str = "") -> ElasticError:
    return ElasticError(
        404,
        "index_not_found_exception",
        f"no such index [{name}]{why}",
        index=name,
        index_uuid="_na_",
    )
