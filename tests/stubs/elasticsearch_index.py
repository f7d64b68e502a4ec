"""An index in memory: mappings, documents with sequence numbers, and what searches see."""

import json
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from math import hypot
from typing import Any, cast

from tests.stubs.elasticsearch_analysis import ANALYZERS, tokens
from tests.stubs.elasticsearch_errors import ElasticError

Json = dict[str, Any]
_FIELD_OPTIONS = {
    "keyword": {"ignore_above"},
    "long": set[str](),
    "boolean": set[str](),
    "text": {"analyzer"},
    "object": {"enabled"},
    "dense_vector": {"dims", "index", "similarity"},
}
_META = {
    "index": {"_id", "if_seq_no", "if_primary_term"},
    "create": {"_id"},
    "update": {"_id", "_index", "retry_on_conflict", "if_seq_no", "if_primary_term"},
    "delete": {"_id", "if_seq_no", "if_primary_term"},
}
_TERM_BYTES = 32_766


@dataclass(frozen=True, slots=True)
class Stored:
    source: Json
    seq_no: int
    version: int


@dataclass(frozen=True, slots=True)
class Visible:
    """A document as searches see it."""

    source: Json
    tokens: dict[str, Sequence[str]]


class Index:
    def __init__(self, name: str, body: Json, *, vectors: bool) -> None:
        for key in set(body) - {"mappings"}:
            raise ElasticError(400, "parse_exception", f"unknown key [{key}] for create index")
        self.name = name
        self.uuid = f"uuid-of-{name}"
        self._vectors = vectors
        self.mappings: Json = {"dynamic": "true", "properties": {}}
        self.put_mapping(body.get("mappings", {}))
        self.visible: dict[str, Visible] = {}
        self._stored: dict[str, Stored] = {}
        self._dirty: set[str] = set()
        self._next = 0

    @property
    def properties(self) -> dict[str, Json]:
        return self.mappings["properties"]

    def put_mapping(self, body: Json) -> None:
        for key in set(body) - {"dynamic", "properties"}:
            raise _unmapped(f"Root mapping definition has unsupported parameters:  [{key}]")
        for name, field in body.get("properties", {}).items():
            self._check_field(name, field)
            known = self.properties.get(name)
            for option in field:
                if known is not None and known.get(option) != field[option]:
                    raise ElasticError(
                        400,
                        "illegal_argument_exception",
                        f"Mapper for [{name}] conflicts with existing mapper:\n\tCannot update "
                        f"parameter [{option}] from [{known.get(option)}] to [{field[option]}]",
                    )
        self.properties.update(deepcopy(body.get("properties", {})))
        self.mappings["dynamic"] = body.get("dynamic", self.mappings["dynamic"])

    def _check_field(self, name: str, field: Json) -> None:
        kind = field.get("type")
        if kind not in _FIELD_OPTIONS or (kind == "dense_vector" and not self._vectors):
            raise _unmapped(
                f"Failed to parse mapping: No handler for type [{kind}] declared on field [{name}]"
            )
        for option in set(field) - _FIELD_OPTIONS[kind] - {"type"}:
            raise _unmapped(f"unknown parameter [{option}] on mapper [{name}] of type [{kind}]")
        if kind == "text" and field.get("analyzer", "standard") not in ANALYZERS:
            raise _unmapped(f"analyzer [{field['analyzer']}] has not been configured in mappings")
        if kind == "dense_vector" and not 1 <= field.get("dims", 0) <= 4096:
            raise _unmapped(f"The number of dimensions should be in the range [1, 4096] [{name}]")

    def found(self, doc_id: str) -> Json:
        stored = self._stored.get(doc_id)
        if stored is None:
            return {"_index": self.name, "_id": doc_id, "found": False}
        return {
            "_index": self.name,
            "_id": doc_id,
            "_version": stored.version,
            "_seq_no": stored.seq_no,
            "_primary_term": 1,
            "found": True,
            "_source": deepcopy(stored.source),
        }

    def write(
        self,
        doc_id: str,
        source: Json,
        *,
        create: bool = False,
        known: dict[str, int] | None = None,
    ) -> tuple[int, Json]:
        if len(doc_id.encode()) > 512:
            raise ElasticError(
                400,
                "action_request_validation_exception",
                f"id is too long, must be no longer than 512 bytes but was: {len(doc_id)};",
            )
        old = self._stored.get(doc_id)
        if create and old is not None:
            raise self._conflict(
                f"[{doc_id}]: version conflict, document already exists "
                f"(current version [{old.version}])"
            )
        self._check(doc_id, old, known or {})
        for name, value in source.items():
            self._check_value(doc_id, name, value)
        version = old.version + 1 if old else 1
        stored = Stored(deepcopy(source), self._sequence(doc_id), version)
        self._stored[doc_id] = stored
        status, result = (201, "created") if old is None else (200, "updated")
        return status, self._written(doc_id, stored, result)

    def delete(self, doc_id: str, *, known: dict[str, int] | None = None) -> tuple[int, Json]:
        old = self._stored.get(doc_id)
        self._check(doc_id, old, known or {})
        self._stored.pop(doc_id, None)
        gone = Stored({}, self._sequence(doc_id), old.version + 1 if old else 1)
        status, result = (200, "deleted") if old else (404, "not_found")
        return status, self._written(doc_id, gone, result)

    def bulk(self, body: bytes) -> Json:
        if not body.endswith(b"\n"):
            raise ElasticError(
                400,
                "illegal_argument_exception",
                "The bulk request must be terminated by a newline [\\n]",
            )
        lines = iter(body.split(b"\n")[:-1])
        actions: list[tuple[str, Json, Json]] = []
        for number, line in enumerate(lines, 1):
            ((operation, meta),) = json.loads(line).items()
            if operation not in _META or set(meta) - _META[operation]:
                raise ElasticError(
                    400,
                    "illegal_argument_exception",
                    f"Malformed action/metadata line [{number}]: [{operation}] {sorted(meta)}",
                )
            actions.append(
                (operation, meta, {} if operation == "delete" else json.loads(next(lines)))
            )
        items = [{operation: self._carry_out(operation, *rest)} for operation, *rest in actions]
        errors = any("error" in result for item in items for result in item.values())
        return {"took": 1, "errors": errors, "items": items}

    def _carry_out(self, operation: str, meta: Json, source: Json) -> Json:
        doc_id = meta["_id"]
        known = {name: meta[name] for name in meta if name.startswith("if_")}
        try:
            match operation:
                case "delete":
                    status, result = self.delete(doc_id, known=known)
                case "update":
                    status, result = self._update(doc_id, source)
                case _:
                    status, result = self.write(
                        doc_id, source, create=operation == "create", known=known
                    )
        except ElasticError as error:
            failed = {"_index": self.name, "_id": doc_id, "status": error.status}
            return {**failed, "error": error.cause}
        return {**result, "status": status}

    def _update(self, doc_id: str, change: Json) -> tuple[int, Json]:
        for name in set(change) - {"doc", "doc_as_upsert"}:
            raise ElasticError(
                400, "x_content_parse_exception", f"[1:2] [UpdateRequest] unknown field [{name}]"
            )
        known = self._stored.get(doc_id)
        if known is None:
            if change.get("doc_as_upsert"):
                return self.write(doc_id, change["doc"])
            raise ElasticError(
                404,
                "document_missing_exception",
                f"[{doc_id}]: document missing",
                index_uuid=self.uuid,
                shard="0",
                index=self.name,
            )
        merged = {**known.source, **change["doc"]}
        if merged == known.source:
            return 200, self._written(doc_id, known, "noop")
        return self.write(doc_id, merged)

    def refresh(self) -> None:
        for doc_id in self._dirty:
            stored = self._stored.get(doc_id)
            if stored is None:
                self.visible.pop(doc_id, None)
            else:
                texts = {
                    name: tokens(stored.source.get(name, ""))
                    for name, field in self.properties.items()
                    if field["type"] == "text"
                }
                self.visible[doc_id] = Visible(stored.source, texts)
        self._dirty.clear()

    def _check(self, doc_id: str, old: Stored | None, known: dict[str, int]) -> None:
        seq_no, term = known.get("if_seq_no"), known.get("if_primary_term")
        if seq_no is None and term is None:
            return
        if seq_no is None or term is None:
            raise ElasticError(
                400,
                "action_request_validation_exception",
                "ifSeqNo is unassigned, but primary term is set, or the other way round;",
            )
        required = f"[{doc_id}]: version conflict, required seqNo [{seq_no}], primary term [{term}]"
        if old is None:
            raise self._conflict(f"{required}. but no document was found")
        if (seq_no, term) != (old.seq_no, 1):
            raise self._conflict(
                f"{required}. current document has seqNo [{old.seq_no}] and primary term [1]"
            )

    def _check_value(self, doc_id: str, name: str, value: Any) -> None:
        field = self.properties.get(name)
        if field is None:
            raise ElasticError(
                400,
                "strict_dynamic_mapping_exception",
                f"[1:2] mapping set to strict, dynamic introduction of [{name}] within [_doc] is "
                "not allowed",
            )
        match field["type"]:
            case "long":
                fits = isinstance(value, int) and -(2**63) <= value < 2**63
            case "boolean":
                fits = isinstance(value, bool)
            case "keyword":
                words = cast("list[Any]", value if isinstance(value, list) else [value])
                fits = all(isinstance(word, str) for word in words)
                limit = field.get("ignore_above", 2**31 - 1)
                fits = fits and all(
                    len(word) > limit or len(word.encode()) <= _TERM_BYTES for word in words
                )
            case "text":
                fits = isinstance(value, str)
            case "dense_vector":
                self._check_vector(doc_id, name, field, value)
                fits = True
            case _:
                fits = True
        if not fits:
            raise ElasticError(
                400,
                "document_parsing_exception",
                f"[1:2] failed to parse field [{name}] of type [{field['type']}] in document with "
                f"id '{doc_id}'",
            )

    def _check_vector(self, doc_id: str, name: str, field: Json, value: list[float]) -> None:
        where = f"[1:2] failed to parse: The [dense_vector] field [{name}] in doc [document with id"
        if len(value) != field["dims"]:
            raise ElasticError(
                400,
                "document_parsing_exception",
                f"{where} '{doc_id}'] has a different number of dimensions [{len(value)}] than "
                f"defined in the mapping [{field['dims']}]",
            )
        if not hypot(*value):
            raise ElasticError(
                400,
                "document_parsing_exception",
                "[1:2] failed to parse: The [cosine] similarity does not support vectors with zero "
                "magnitude.",
            )

    def _conflict(self, reason: str) -> ElasticError:
        return ElasticError(
            409,
            "version_conflict_engine_exception",
            reason,
            index_uuid=self.uuid,
            shard="0",
            index=self.name,
        )

    def _sequence(self, doc_id: str) -> int:
        self._dirty.add(doc_id)
        self._next += 1
        return self._next - 1

    def _written(self, doc_id: str, stored: Stored, result: str) -> Json:
        return {
            "_index": self.name,
            "_id": doc_id,
            "_version": stored.version,
            "result": result,
            "_shards": {"total": 2, "successful": 1, "failed": 0},
            "_seq_no": stored.seq_no,
            "_primary_term": 1,
        }


def _unmapped(reason: str) -> ElasticError:
    return ElasticError(400, "mapper_parsing_exception", reason)
