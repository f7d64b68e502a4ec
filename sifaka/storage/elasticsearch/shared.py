"""What the views of one store have in common."""

from dataclasses import dataclass, field

from sifaka.embeddings.protocol import Embedder
from sifaka.storage.elasticsearch.connection import Connection
from sifaka.storage.elasticsearch.documents import Documents
from sifaka.storage.elasticsearch.indices import create_indices
from sifaka.storage.elasticsearch.vectors import Vectors


@dataclass(slots=True, eq=False)
class Shared:
    """The connection to a server and what is known of it."""

    connection: Connection
    vectors: Vectors | None
    _ready: bool = field(default=False, init=False)

    @classmethod
    def of(cls, connection: Connection, embedder: Embedder | None) -> "Shared":
        """What a store with this embedder needs."""
        return cls(connection, Vectors(embedder) if embedder else None)

    async def ready(self) -> Documents:
        """The documents, in indices that are there.

        Raises:
            ConfigurationError: httpx is not installed.
            StorageError: The server failed.
        """
        documents = Documents(self.connection)
        if not self._ready:
            # Several tasks may come here at once: creating what is there changes nothing.
            await create_indices(documents)
            self._ready = True
        return documents
