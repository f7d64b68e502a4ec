"""The collections, and what a server makes of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from types import MappingProxyType
from typing import Any, cast

from sifaka.errors import ConfigurationError, StorageError
from sifaka.storage.milvus.client import MilvusClient, failures, pymilvus

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


@dataclass(frozen=True, slots=True)
class Collections:
    """The names of the collections of an index."""

    prefix: str

    @property
    def thoughts(self) -> str:
        """A row a version with the whole of it, or several for a long one."""
        return f"{self.prefix}_thoughts"

    @property
    def words(self) -> str:
        """A row a version, for full-text search."""
        return f"{self.prefix}_thought_terms"

    def vectors(self, model_id: str) -> str:
        """A row a version that has a vector of this model: each model has a collection."""
        return f"{self.prefix}_thought_vectors_{sha256(model_id.encode()).hexdigest()[:12]}"

    def is_index(self, name: str) -> bool:
        """True for the collections of this index that are made of the thoughts."""
        vectors = f"{self.prefix}_thought_vectors_"
        return name == self.words or name.startswith(vectors)


def ensure(client: MilvusClient, shown: str, name: str, kind: str, dimension: int = 2) -> bool:
    """Make a collection unless it is there, and make it answer.

    The kind is `thoughts`, `words` or `vectors`. Another collection of this name is not changed.

    Returns:
        False when the server cannot do it, which holds for full-text search alone.
    """
    with failures(shown):
        there = name in client.list_collections()
        if not there and not _create(client, shown, name, kind, dimension):
            return False
        found = client.describe_collection(name)
        _compare(name, kind, dimension, found)
        if kind == "words" and not found.get("functions"):
            # Older servers accept the schema and drop the function.
            client.drop_collection(name)
            return False
        client.load_collection(name)
        return True


def _create(client: MilvusClient, shown: str, name: str, kind: str, dimension: int) -> bool:
    package = pymilvus()
    types: Any = package.DataType
    schema: Any = package.MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    index: Any = package.MilvusClient.prepare_index_params()
    for field, size in _SCALARS[kind].items():
        options: dict[str, object] = {"max_length": size} if isinstance(size, int) else {}
        if field == "pk":
            options["is_primary"] = True
        if field == "words":
            options["enable_analyzer"] = True
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
        schema.add_field(_vector(kind), types.FLOAT_VECTOR, dim=dimension)
        metric = "COSINE" if kind == "vectors" else "L2"
        index.add_index(_vector(kind), index_type="AUTOINDEX", metric_type=metric)
    try:
        with failures(shown):
            client.create_collection(name, schema=schema, consistency_level="Strong")
            client.create_index(name, index, sync=False)
    except StorageError as error:
        if kind != "words" or error.retryable:
            raise
        client.drop_collection(name)
        return False
    return True


def _vector(kind: str) -> str:
    # Every collection needs a vector; where there is nothing to find it is a small one of zeros.
    return {"words": "sparse", "vectors": "vector"}.get(kind, "unused")


def _compare(name: str, kind: str, dimension: int, found: Mapping[str, Any]) -> None:
    fields = {
        cast("str", field["name"]): cast("Mapping[str, object]", field.get("params", {}))
        for field in found["fields"]
    }
    if fields.keys() != {*_SCALARS[kind], _vector(kind)}:
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
