"""The client of Milvus, the collections there, and versions of runs as their rows.

Only this module imports pymilvus.
"""

import importlib
import json
import logging
import os
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Any, TypeAlias, cast

from sifaka.errors import ConfigurationError, StorageError
from sifaka.extras import install
from sifaka.record.run import Run
from sifaka.storage.address import StoreUrl
from sifaka.storage.cursor import to_microseconds
from sifaka.storage.entry_json import encode_version, run_key
from sifaka.text.search_terms import language_of, text_terms

Row = Mapping[str, Any]
"""One row of a collection, by the names of its fields."""
CONNECT_SECONDS = 3.0
CALL_SECONDS = 10.0
"""After which a call to a server that does not answer fails."""
_UNREACHABLE = re.compile(
    r"Fail connecting|server unavailable|Retry timeout|UNAVAILABLE|DEADLINE_EXCEEDED|rate limit",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\bauth|UNAUTHENTICATED|PERMISSION_DENIED|permission", re.IGNORECASE)


MilvusClient: TypeAlias = Any
"""`pymilvus.MilvusClient`, which has no types; those of its answers are `MilvusConnection`'s."""


def pymilvus() -> Any:
    """The package, imported on first use: that takes seconds and some 140 MB."""
    before = frozenset(os.environ)
    try:
        module = importlib.import_module("pymilvus")
    except ImportError as error:
        raise ConfigurationError(
            f"a Milvus store needs a package that is missing: {error}",
            install("milvus"),
        ) from error
    # While it is imported it reads a `.env` file into the environment, which is not ours to fill.
    for name in os.environ.keys() - before:
        del os.environ[name]
    # It logs every failed call with a traceback, and the call fails as well.
    for name in ("pymilvus", "pymilvus.milvus_client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return module


def login(address: StoreUrl) -> Mapping[str, str]:
    """The token of a server, and the database there."""
    return {
        "token": ":".join(part for part in (address.user, address.password) if part),
        "db_name": "" if address.folder else address.path.strip("/"),
    }


def connect(address: StoreUrl, uri: str) -> MilvusClient:
    """A client with a connection of its own, which closes with it."""
    return pymilvus().MilvusClient(uri, **login(address), timeout=CONNECT_SECONDS, dedicated=True)


def translate(name: str, error: Exception) -> StorageError | None:
    """What pymilvus or gRPC has raised; `retryable` where Milvus was away or busy."""
    raised = (pymilvus().MilvusException, importlib.import_module("grpc").RpcError)
    if not isinstance(error, raised):
        return None
    line = " ".join(str(getattr(error, "message", "") or error).split())[:300]
    # A refused connection looks like one that failed, but for its cause.
    if _DENIED.search(f"{line} {error.__cause__}"):
        return StorageError(
            f"the Milvus server {name!r} refuses the user name, the password or the token",
            "check them in SIFAKA_STORE, and that the user may use these collections",
        )
    if _UNREACHABLE.search(line):
        return StorageError(
            f"the Milvus server {name!r} cannot be reached or is too busy",
            "check that it runs and that the URL is right",
            retryable=True,
        )
    return StorageError(f"the Milvus store {name!r} failed: {line}", "look into its log")


MOST_BYTES = 65_535
"""The most that a VARCHAR holds."""
_KEY, _HASH, _TEXT = 100, 64, MOST_BYTES
_SCALARS: Mapping[str, Mapping[str, int | str]] = MappingProxyType(
    {
        "thoughts": {
            "pk": _KEY,
            "tenant": _HASH,
            "run": _HASH,
            "run_id": _TEXT,
            "number": "INT64",
            "chunk": "INT64",
            "chunks": "INT64",
            "at": "INT64",
            "expires_at": "INT64",
            "passed": "INT64",
            "tags": _TEXT,
            "payload": _TEXT,
        },
        "words": {
            "pk": _KEY,
            "tenant": _HASH,
            "run": _HASH,
            "at": "INT64",
            "words": _TEXT,
        },
        "vectors": {"pk": _KEY, "tenant": _HASH, "run": _HASH, "at": "INT64"},
    }
)
"""The fields of each collection but its vector: bytes of a text, or a type."""


def create(client: MilvusClient, name: str, kind: str, dimension: int) -> bool:
    """Make a collection; False when the server has no full text, and its kind is `words`."""
    package = pymilvus()
    types: Any = package.DataType
    schema: Any = package.MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    index: Any = package.MilvusClient.prepare_index_params()
    for field, size in _SCALARS[kind].items():
        options = {"max_length": size} if isinstance(size, int) else {}
        options |= {"pk": {"is_primary": True}, "words": {"enable_analyzer": True}}.get(field, {})
        schema.add_field(field, types[size if isinstance(size, str) else "VARCHAR"], **options)
    if kind == "words":
        schema.add_field("sparse", types.SPARSE_FLOAT_VECTOR)
        schema.add_function(
            package.Function(
                name="bm25",
                function_type=package.FunctionType.BM25,
                input_field_names=["words"],
                output_field_names=["sparse"],
            )
        )
        index.add_index("sparse", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25")
    else:
        schema.add_field(_vector_field(kind), types.FLOAT_VECTOR, dim=dimension)
        metric = "COSINE" if kind == "vectors" else "L2"
        index.add_index(_vector_field(kind), index_type="AUTOINDEX", metric_type=metric)
    try:
        client.create_collection(name, schema=schema, consistency_level="Strong")
        client.create_index(name, index, sync=False)
    except Exception as error:
        translated = translate("", error)
        if kind != "words" or translated is None or translated.retryable:
            raise
        client.drop_collection(name)
        return False
    return True


def _vector_field(kind: str) -> str:
    # Every collection needs a vector; where there is nothing to find it is a small one of zeros.
    return {"words": "sparse", "vectors": "vector"}.get(kind, "unused")


def compare(name: str, kind: str, dimension: int, layout: Mapping[str, Any]) -> None:
    """Refuse a collection that is not as its kind is laid out.

    Raises:
        ConfigurationError: It has other fields, or vectors of another dimension.
    """
    fields = {
        cast("str", field["name"]): cast("Mapping[str, object]", field.get("params", {}))
        for field in layout["fields"]
    }
    if fields.keys() != {*_SCALARS[kind], _vector_field(kind)}:
        raise ConfigurationError(
            f"the collection {name!r} is not one of Sifaka's, or of another release",
            "name another prefix with ?prefix=, or drop the collection",
        )
    if kind == "vectors" and int(str(fields["vector"]["dim"])) != dimension:
        raise ConfigurationError(
            f"the collection {name!r} holds vectors of {fields['vector']['dim']} numbers, and the "
            f"embedding model makes {dimension}",
            "use the model that filled it, name another prefix with ?prefix=, or drop it",
        )


ROW_CHARS = 16_000
"""The share of a version that a row takes: a VARCHAR holds 65,535 bytes, a character up to 4."""


def tenant_key(tenant: str) -> str:
    """A tenant's name as 64 hexadecimal digits, which need no quoting in a condition."""
    return sha256(tenant.encode("utf-8", "surrogatepass")).hexdigest()


def thought_rows(
    tenant: str, run: Run, *, first: int, expires_at: int
) -> list[Mapping[str, object]]:
    """The rows that hold the versions of a run from the nth on, whole."""
    key = run_key(tenant, run.run_id)
    rows: list[Mapping[str, object]] = []
    for number, thought in enumerate(run.thoughts[first:], first):
        text = encode_version(run, thought)
        parts = [text[begin : begin + ROW_CHARS] for begin in range(0, len(text), ROW_CHARS)]
        rows += [
            {
                "pk": f"{key}:{number}:{chunk}",
                "tenant": tenant_key(tenant),
                "run": key,
                "run_id": run.run_id,
                "number": number,
                "chunk": chunk,
                "chunks": len(parts),
                "at": to_microseconds(thought.created_at),
                "expires_at": expires_at,
                "passed": int(run.passed),
                "tags": json.dumps(run.tags),
                "payload": part,
                "unused": [0.0, 0.0],
            }
            for chunk, part in enumerate(parts)
        ]
    return rows


def word_rows(tenant: str, run: Run, *, first: int) -> list[Mapping[str, object]]:
    """The rows by which full-text search finds versions; the task counts half."""
    key = run_key(tenant, run.run_id)
    return [
        {
            "pk": f"{key}:{number}",
            "tenant": tenant_key(tenant),
            "run": key,
            "at": to_microseconds(thought.created_at),
            "words": _weighted_terms(thought.text, run.prompt),
        }
        for number, thought in enumerate(run.thoughts[first:], first)
    ]


def _weighted_terms(text: str, prompt: str) -> str:
    language = language_of(text, prompt)
    terms = text_terms(text, language)
    words = (*terms, *terms, *text_terms(prompt, language))
    return bag_of_words([plain(word) for word in words])


def joined(rows: Sequence[Row]) -> dict[str, str]:
    """The payloads of the versions of which every part is there, by key and in order."""
    parts = {(row["run"], row["number"], row["chunk"]): row for row in rows}
    whole: dict[str, str] = {}
    for run, number, chunk in sorted(parts):
        if chunk == 0:
            count = parts[run, number, 0]["chunks"]
            pieces = [parts[run, number, n] for n in range(count) if (run, number, n) in parts]
            if len(pieces) == count:
                whole[f"{run}:{number}"] = "".join(part["payload"] for part in pieces)
    return whole


def plain(term: str) -> str:
    """A term in letters and digits alone, which no server cuts: some cut words at marks."""
    return term if term.isalnum() else f"x{term.encode(errors='replace').hex()}"


def bag_of_words(words: Sequence[str]) -> str:
    """The words as one text that fits into a field.

    When they do not all fit, each is there once before any is repeated: a long text is found by
    all of its words, and how often it has them counts up to where the field is full.
    """
    text = _ended_by_spaces(words)
    if len(text) > MOST_BYTES:
        text = _ended_by_spaces([*dict.fromkeys(words), *words])
    return text[: max(0, text.rfind(b" ", 0, MOST_BYTES))].decode()


def _ended_by_spaces(words: Sequence[str]) -> bytes:
    return "".join(f"{word} " for word in words).encode()
