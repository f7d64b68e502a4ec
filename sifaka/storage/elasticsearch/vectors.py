"""Vectors of versions: a field of the searched documents for each model, so none are mixed."""

from dataclasses import dataclass, field
from hashlib import sha256

from sifaka.embeddings.protocol import Embedder
from sifaka.errors import ConfigurationError
from sifaka.storage.elasticsearch.connection import Json
from sifaka.storage.elasticsearch.documents import Documents
from sifaka.storage.embedding import embed_documents, embedding_failures, meaning

_AT_ONCE = 64


@dataclass(slots=True, eq=False)
class Vectors:
    """The vectors of one model."""

    embedder: Embedder
    lack: str | None = field(default=None, init=False)
    """The reason for which the server keeps none, once that is known."""
    refused: set[str] = field(default_factory=set[str], init=False)
    """Documents that the model does not embed; another process tries them once more."""
    _ready: bool = field(default=False, init=False)

    @property
    def name(self) -> str:
        """The field they are in."""
        return f"vector_{sha256(self.embedder.model_id.encode()).hexdigest()[:16]}"

    @property
    def missing(self) -> Json:
        """The query for the versions that have none yet."""
        return {"bool": {"must_not": [{"exists": {"field": self.name}}]}}

    async def prepare(self, documents: Documents, dimension: int) -> bool:
        """Add the field to the index, once; whether the server can keep vectors at all.

        Raises:
            ConfigurationError: It has vectors of another dimension.
            StorageError: The server failed.
        """
        if self._ready or self.lack is not None:
            return self._ready
        path = f"/{documents.alias}/_mapping"
        layout = {"type": "dense_vector", "dims": dimension, "index": True, "similarity": "cosine"}
        fields: Json = {"properties": {self.name: layout}}
        answer = await documents.connection.send("PUT", path, fields)
        if answer.status == 400 and "[dims]" in answer.reason:
            raise ConfigurationError(
                f"dimension mismatch: the stored vectors of {self.embedder.model_id!r} have "
                f"another number of dimensions than the model makes, {dimension}",
                "embed with the model as it was, or give this one another id",
            )
        if answer.status == 400:
            # OpenSearch has another type for vectors, and no `knn` beside `query`.
            self.lack = answer.reason
            return False
        answer.checked()
        self._ready = True
        return True


async def embed_missing(documents: Documents, vectors: Vectors) -> int:
    """Embed some versions that have no vector yet, of all tenants; how many are left."""
    with embedding_failures():
        if not await vectors.prepare(documents, await vectors.embedder.dimension()):
            return 0
        hits = await documents.search(
            {
                "query": vectors.missing,
                "size": _AT_ONCE + len(vectors.refused),
                "_source": ["text", "prompt"],
                "track_total_hits": True,
            }
        )
        lacking = [hit for hit in hits["hits"] if hit["_id"] not in vectors.refused]
        # Of nothing there is no vector.
        found = [hit for hit in lacking if hit["_source"]["text"] or hit["_source"]["prompt"]]
        texts = [meaning(hit["_source"]["prompt"], hit["_source"]["text"]) for hit in found]
        vectors_made = await embed_documents(vectors.embedder, texts)
    made = dict(zip((hit["_id"] for hit in found), vectors_made, strict=True))
    vectors.refused |= {hit["_id"] for hit in lacking if made.get(hit["_id"]) is None}
    await documents.update(
        {
            doc_id: {"doc": {vectors.name: list(vector)}}
            for doc_id, vector in made.items()
            if vector is not None
        },
        tolerated=frozenset({404}),  # deleted meanwhile
    )
    return hits["total"]["value"] - len(hits["hits"])
