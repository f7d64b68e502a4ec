"""The index of runs in Milvus."""

from collections.abc import AsyncGenerator, Sequence
from functools import partial

from sifaka.embeddings.protocol import Embedder
from sifaka.errors import EmbeddingError, SifakaError
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.bm25 import query_words
from sifaka.storage.embedding import embed_query, without_meaning
from sifaka.storage.index import ANY, Filters, Hits
from sifaka.storage.lifetime import checked_ttl
from sifaka.storage.log import Health
from sifaka.storage.milvus.address import (
    DEFAULT_PREFIX,
    checked_prefix,
    parse_address,
    split_options,
)
from sifaka.storage.milvus.catch_up import fill_vectors, purge, sweep
from sifaka.storage.milvus.connection import MilvusConnection
from sifaka.storage.milvus.former import former_entries, former_rows
from sifaka.storage.milvus.rows import (
    joined,
    run_key,
    tenant_key,
    thought_rows,
    version_key,
    whole_thoughts,
    word_rows,
)
from sifaka.storage.milvus.search import Meaning, search_versions
from sifaka.storage.milvus.worker import MilvusWorker
from sifaka.storage.timestamps import now_in_microseconds


class MilvusIndex:
    """A `SearchIndex` on a Milvus server, or in a Milvus Lite folder that one process has open.

    Args:
        url: One of the forms in `sifaka.storage.milvus.address.FORMS`, without options.
        tenant: The tenant whose runs are seen.
        prefix: The beginning of the names of the collections.
        ttl: Seconds after the last `put` of a run that it is forgotten; None keeps it.
        embedder: Makes vectors, when `catch_up` is called; without one, search is by words.
        worker: The connection to share, for a view of an index that is already there.

    Raises:
        ConfigurationError: The URL, the prefix or the ttl cannot be.
    """

    def __init__(
        self,
        url: str,
        *,
        tenant: str = "default",
        prefix: str = DEFAULT_PREFIX,
        ttl: float | None = None,
        embedder: Embedder | None = None,
        worker: MilvusWorker | None = None,
    ) -> None:
        self.tenant = tenant
        self.address = parse_address(url)
        self._url = url
        self._ttl = None if ttl is None else checked_ttl(ttl)
        self._embedder = embedder
        self._owned = worker is None
        self.worker = worker or MilvusWorker(self.address, checked_prefix(prefix))

    @classmethod
    def of_url(
        cls, url: str, *, tenant: str = "default", embedder: Embedder | None = None
    ) -> "MilvusIndex":
        """The index of a URL with options: `ttl=30d` and `prefix=sifaka`.

        Raises:
            ConfigurationError: The URL or one of its options cannot be understood.
        """
        plain, prefix, ttl = split_options(url)
        return cls(plain, tenant=tenant, prefix=prefix, ttl=ttl, embedder=embedder)

    @property
    def place(self) -> str:
        """Its URL, without secrets."""
        return self.worker.place

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
            for collection in list(milvus.shared.missing):
                milvus.shared.note_missing(collection, dict.fromkeys(names, tenant_key(tenant)))

        if run.thoughts[begin:]:
            await self.worker.run(write)

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """Versions by their words and, with an embedding model, their meaning.

        Both rankings are fused by their ranks. A server without full text is searched by meaning
        only or, without a model, by reading the latest 2000 versions. When the model fails, words
        decide.
        """
        meaning, failed = await self._meaning(query)
        hits = await self.worker.run(
            lambda m: search_versions(m, self.tenant, query, limit, only, meaning)
        )
        return hits.model_copy(update={"search": hits.search + failed}) if failed else hits

    async def thoughts(self, run_id: str) -> tuple[Thought, ...]:
        """The versions of a run that were indexed, whole and in order."""
        condition = f'run == "{run_key(self.tenant, run_id)}"'
        fields = ("run", "number", "chunk", "chunks", "payload")
        rows = await self.worker.run(lambda m: m.select(m.names.thoughts, condition, fields))
        return whole_thoughts(run_id, list(joined(rows).values()))

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

    async def former_runs(self) -> AsyncGenerator[Sequence[Entry]]:
        """The entries of each run that release 0.1 kept here; see `FormerLog`."""
        for row in await self.worker.run(lambda m: former_rows(m, self.tenant)):
            yield await self.worker.run(partial(former_entries, row=row))

    async def health(self) -> tuple[Health, ...]:
        """Whether the server answers, its version and its limits."""

        def look(milvus: MilvusConnection) -> str:
            milvus.list_names()
            lacks = "" if milvus.full_text else ", no full text: searches by words read versions"
            return f"{milvus.version}{lacks}"

        try:
            found, works = await self.worker.run(look), True
        except SifakaError as error:
            found, works = str(error), False
        return (Health(part=self.place, works=works, found=found),)

    def scoped(self, tenant: str) -> "MilvusIndex":
        """The same index as another tenant sees it, over the same connection."""
        return MilvusIndex(
            self._url, tenant=tenant, ttl=self._ttl, embedder=self._embedder, worker=self.worker
        )

    async def aclose(self) -> None:
        """Disconnect, for all views; on a view that `scoped` made this does nothing."""
        if self._owned:
            await self.worker.aclose()

    async def _meaning(self, query: str) -> tuple[Meaning | None, str]:
        """The meaning of a query; where that is not known, a note on why."""
        embedder = self._embedder
        if embedder is None or not query_words(query):
            return None, ""
        try:
            vector = await embed_query(embedder, query)
        except EmbeddingError as error:
            return None, without_meaning(error)
        collection = await self.worker.run(
            lambda m: m.ensure_vectors(embedder.model_id, len(vector))
        )
        return Meaning(collection, vector), ""
