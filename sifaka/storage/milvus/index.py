"""The index of runs in Milvus, and the store that is searched in it."""

from pathlib import Path

from sifaka.embeddings.protocol import Embedder
from sifaka.errors import ConfigurationError
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.address import parse_store_url
from sifaka.storage.cached import CachedStorage
from sifaka.storage.cursor import now_in_microseconds
from sifaka.storage.embedding import embed_words
from sifaka.storage.entry_json import decode_version, whole_thoughts
from sifaka.storage.log import look_at
from sifaka.storage.milvus.catch_up import fill_vectors, purge, sweep
from sifaka.storage.milvus.client import MILVUS
from sifaka.storage.milvus.connection import MilvusConnection
from sifaka.storage.milvus.rows import (
    joined,
    run_key,
    tenant_key,
    thought_rows,
    version_key,
    word_rows,
)
from sifaka.storage.milvus.search import search_versions
from sifaka.storage.milvus.worker import MilvusWorker
from sifaka.storage.protocol import ANY, Filters, Health, Hits, ThoughtStore
from sifaka.storage.sqlite import SQLiteStorage
from sifaka.storage.store import TenantView

_HEALTH_SECONDS = 60


class MilvusIndex(TenantView):
    """A `SearchIndex` on a Milvus server, or in a Milvus Lite folder that one process has open.

    Args:
        url: One of the forms of `sifaka.storage.milvus.client.MILVUS`.
        tenant: The tenant whose runs are seen.
        prefix: The beginning of the names of the collections, instead of the URL's.
        ttl: Seconds after the last `put` of a run that it is forgotten, instead of the URL's.
        embedder: Makes vectors, when `catch_up` is called; without one, search is by words.

    Raises:
        ConfigurationError: The URL, the prefix or the ttl cannot be.
    """

    def __init__(
        self,
        url: str,
        *,
        tenant: str = "default",
        prefix: str | None = None,
        ttl: float | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        self.tenant = tenant
        self.address = parse_store_url(url, MILVUS, prefix=prefix, ttl=ttl)
        self._ttl = self.address.ttl
        self._embedder = embedder
        self.worker = MilvusWorker(self.address)

    @property
    def place(self) -> str:
        """Its URL, without secrets."""
        return self.address.place

    async def put(self, run: Run, *, first: int = 0) -> None:
        """Make the versions of a run findable by their words; `catch_up` makes vectors."""
        expires_at = now_in_microseconds() + round(self._ttl * 1_000_000) if self._ttl else 0
        begin = 0 if self._ttl else first  # the whole run lives on
        tenant = self.tenant

        def write(milvus: MilvusConnection) -> None:
            milvus.put(
                milvus.names.thoughts,
                thought_rows(tenant, run, first=begin, expires_at=expires_at),
            )
            if milvus.full_text:
                milvus.put(milvus.names.words, word_rows(tenant, run, first=first))
            key = run_key(tenant, run.run_id)
            names = [version_key(key, number) for number in range(first, len(run.thoughts))]
            for collection in filter(milvus.names.is_index, [*milvus.shared.missing]):
                milvus.shared.missing[collection].update(dict.fromkeys(names, tenant_key(tenant)))

        if run.thoughts[begin:]:
            await self.worker.run(write)

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """Versions by their words and, with an embedding model, their meaning.

        Both rankings are fused by their ranks. A server without full text is searched by meaning
        only or, without a model, by reading the latest 2000 versions. When the model fails, words
        decide.
        """
        embedder, meaning = self._embedder, None
        vector, failed = await embed_words(embedder, query)
        if embedder is not None and vector is not None:
            model_id, dimension = embedder.model_id, len(vector)
            collection = await self.worker.run(lambda m: m.ensure_vectors(model_id, dimension))
            meaning = (collection, vector)
        hits = await self.worker.run(
            lambda m: search_versions(m, self.tenant, query, limit, only, meaning)
        )
        return hits.model_copy(update={"search": hits.search + failed})

    async def thoughts(self, run_id: str) -> tuple[Thought, ...]:
        """The versions of a run that were indexed, whole and in order."""
        condition = f'run == "{run_key(self.tenant, run_id)}"'
        fields = ("run", "number", "chunk", "chunks", "payload")
        rows = await self.worker.run(lambda m: m.select(m.names.thoughts, condition, fields))
        versions = [decode_version(run_id, payload) for payload in joined(rows).values()]
        return whole_thoughts(run_id, (drafted for _, drafted in versions))

    async def drop(self, run_id: str) -> None:
        """Forget a run with all that was made of it, whatever model made it."""
        await self.worker.run(lambda m: purge(m, run_key(self.tenant, run_id)))

    async def catch_up(self) -> int:
        """Remove runs that have expired, and embed versions that have no vector, 64 at a time.

        It is for all tenants. The first call in a process compares the vectors with the versions.
        """
        if self._embedder is None and not self.worker.used:
            return 0  # connecting loads a large library, which only a sweep is not worth
        left = await self.worker.run(sweep)
        if self._embedder is not None:
            left += await fill_vectors(self.worker, self._embedder)
        return left

    async def health(self) -> tuple[Health, ...]:
        """The server's version and its limits, if it answers."""

        def look(milvus: MilvusConnection) -> str:
            milvus.list_names()
            lacks = "" if milvus.full_text else ", no full text: searches by words read versions"
            return f"{milvus.version}{lacks}"

        # Its calls have time limits of their own.
        return (await look_at(self.place, lambda: self.worker.run(look), seconds=_HEALTH_SECONDS),)

    async def _release(self) -> None:
        await self.worker.aclose()


class MilvusStorage(CachedStorage):
    """A `ThoughtStore` of a log, and a `MilvusIndex` in which it is searched.

    Args:
        url: One of the forms of `sifaka.storage.milvus.client.MILVUS`.
        log: Holds the runs. Without one, those of a Milvus Lite folder are in a SQLite file beside
            it, `<folder>.log`; a server needs one.
        tenant: The tenant whose runs are seen.
        prefix: The beginning of the names of the collections, instead of the URL's.
        ttl: Seconds after its last version that the index forgets a run, instead of the URL's.
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
        prefix: str | None = None,
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
