"""A store whose runs are searched in Milvus."""

from pathlib import Path

from sifaka.embeddings.protocol import Embedder
from sifaka.errors import ConfigurationError
from sifaka.storage.cached import CachedStorage
from sifaka.storage.milvus.address import DEFAULT_PREFIX
from sifaka.storage.milvus.index import MilvusIndex
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.sqlite import SQLiteStorage


class MilvusStorage(CachedStorage):
    """A `ThoughtStore` of a log, and a `MilvusIndex` in which it is searched.

    Args:
        url: One of the forms in `sifaka.storage.milvus.address.FORMS`, without options.
        log: Holds the runs. Without one, those of a Milvus Lite folder are in a SQLite file beside
            it, `<folder>.log`; a server needs one.
        tenant: The tenant whose runs are seen.
        prefix: The beginning of the names of the collections.
        ttl: Seconds after its last version that the index forgets a run; None keeps it.
        embedder: Makes vectors, when `catch_up` is called; without one, search is by words.
        queue: The file in which runs wait for Milvus; without one they wait in memory.

    Raises:
        ConfigurationError: The URL, the prefix or the ttl cannot be, or a server has no log.
    """

    def __init__(
        self,
        url: str,
        *,
        log: ThoughtStore | None = None,
        tenant: str = "default",
        prefix: str = DEFAULT_PREFIX,
        ttl: float | None = None,
        embedder: Embedder | None = None,
        queue: str | Path | None = None,
    ) -> None:
        index = MilvusIndex(url, prefix=prefix, ttl=ttl, embedder=embedder)
        if log is None:
            folder = index.address.folder
            if folder is None:
                raise ConfigurationError(
                    "a Milvus server is searched, and holds no log of runs",
                    "name a log, such as MilvusStorage(url, log=SQLiteStorage('runs.db'))",
                )
            log = SQLiteStorage(folder.with_name(f"{folder.name}.log"))
        super().__init__(log, index, queue=queue, tenant=tenant)
