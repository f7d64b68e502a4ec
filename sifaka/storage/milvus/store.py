"""Runs in Milvus: searched by words and, with an embedding model, by meaning."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from sifaka.embeddings.protocol import Embedder
from sifaka.errors import EmbeddingError, SifakaError
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.bm25 import query_words
from sifaka.storage.embedding import embed_query, without_meaning
from sifaka.storage.entry_json import decode_entries, replay_run
from sifaka.storage.follow import follow_by_looking
from sifaka.storage.lifetime import checked_ttl
from sifaka.storage.milvus.address import (
    DEFAULT_PREFIX,
    checked_prefix,
    parse_address,
    split_options,
)
from sifaka.storage.milvus.append import append_entries, claim_run
from sifaka.storage.milvus.catch_up import fill_vectors, fill_words
from sifaka.storage.milvus.connection import MilvusConnection
from sifaka.storage.milvus.delete import delete_run, sweep
from sifaka.storage.milvus.read import live_row, read_payloads
from sifaka.storage.milvus.recent import list_recent
from sifaka.storage.milvus.search import Meant, search_versions
from sifaka.storage.milvus.worker import MilvusWorker
from sifaka.storage.protocol import ANY, Filters, Health, Hits, RunPage


class MilvusStorage:
    """A `ThoughtStore` on a Milvus server, or in a Milvus Lite folder that one process has open.

    Milvus has no compare-and-set. Within a process every store of the same place keeps the
    contract; between processes that append to the same run at the same moment, or within the
    0.2 s or so that a server takes to show a write, a later append may replace an earlier one, and
    a claim may go unnoticed. Where several processes work on the same runs, put Redis before it.

    Lists read all runs of the tenant and sort them here: practical up to some 10,000 runs.

    Args:
        url: One of the forms in `sifaka.storage.milvus.address.FORMS`, without options.
        tenant: Whose runs are seen.
        prefix: What the names of the collections begin with.
        ttl: Seconds after its last entry that a run is forgotten; None keeps it.
        embedder: Makes vectors, when `catch_up` is called; without one, search is by words.
        worker: The connection to share, for a view of a store that is already there.

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
        self._url = url
        self._address = parse_address(url)
        self._ttl = None if ttl is None else checked_ttl(ttl)
        self._embedder = embedder
        self._owned = worker is None
        self._worker = worker or MilvusWorker(self._address, checked_prefix(prefix))

    @classmethod
    def of_url(
        cls, url: str, *, tenant: str = "default", embedder: Embedder | None = None
    ) -> "MilvusStorage":
        """The store of a URL with options: `ttl=30d` and `prefix=sifaka`.

        Raises:
            ConfigurationError: The URL or one of its options cannot be understood.
        """
        plain, prefix, ttl = split_options(url)
        return cls(plain, tenant=tenant, prefix=prefix, ttl=ttl, embedder=embedder)

    @property
    def place(self) -> str:
        """Its URL, without secrets."""
        return self._worker.place

    @property
    def degraded(self) -> tuple[str, ...]:
        """Nothing: a server that is away fails the call."""
        return ()

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        """Make entries durable, all or none; see `ThoughtStore.append`.

        Words can be found at once, vectors are made by `catch_up`.
        """
        kept = tuple(entries)
        await self._worker.run(
            lambda m: append_entries(m, self.tenant, run, kept, expected_version, fence, self._ttl)
        )

    async def claim(self, run_id: str) -> int:
        """Take a run over; see `ThoughtStore.claim`."""
        return await self._worker.run(lambda m: claim_run(m, self.tenant, run_id))

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry."""

        def read(milvus: MilvusConnection) -> Run:
            row = live_row(milvus, self.tenant, run_id)
            return replay_run(run_id, read_payloads(milvus, row))

        return await self._worker.run(read)

    async def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        """Every entry of a run, those to come included; see `ThoughtStore.follow`."""

        def look(milvus: MilvusConnection, known: int) -> Sequence[Entry]:
            row = live_row(milvus, self.tenant, run_id)
            if row.version <= known:
                return ()
            payloads = read_payloads(milvus, row)[known:]
            return tuple(decode_entries(run_id, payloads, after=known))

        async def read(known: int) -> Sequence[Entry]:
            return await self._worker.run(lambda m: look(m, known))

        async with aclosing(follow_by_looking(run_id, read, after=after)) as entries:
            async for step in entries:
                yield step

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, newest first; one that is updated meanwhile moves to the front."""
        return await self._worker.run(lambda m: list_recent(m, self.tenant, limit, cursor))

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """Versions by their words and, with an embedding model, their meaning.

        Both rankings are fused by their ranks. A server without full text is searched by meaning
        only or, without a model, by reading the latest 500 runs. When the model fails, words
        decide.
        """
        meant, failed = await self._meant(query)
        hits = await self._worker.run(
            lambda m: search_versions(m, self.tenant, query, limit, only, meant)
        )
        return hits.model_copy(update={"search": hits.search + failed}) if failed else hits

    async def size(self, run_id: str) -> int:
        """The bytes of a run's entries as JSON."""
        row = await self._worker.run(lambda m: live_row(m, self.tenant, run_id))
        return row.size

    async def delete(self, run_id: str) -> None:
        """Forget a run with all that was made of it, whatever model made it."""
        await self._worker.run(lambda m: delete_run(m, self.tenant, run_id))

    async def catch_up(self) -> int:
        """Remove runs that have expired, and index versions that an index lacks, 64 at a time.

        It is for all tenants. The first call in a process compares the indexes with what is stored.
        """
        if self._embedder is None and not self._worker.used:
            return 0  # connecting loads a large library, which only a sweep is not worth
        left = await self._worker.run(sweep)
        left += await self._worker.run(fill_words)
        if self._embedder is not None:
            left += await fill_vectors(self._worker, self._embedder)
        return left

    async def health(self) -> tuple[Health, ...]:
        """Whether the server answers, its version and what it lacks."""

        def look(milvus: MilvusConnection) -> str:
            milvus.list_names()
            lacks = "" if milvus.full_text else ", no full text: searches by words read the runs"
            return f"{milvus.version}{lacks}"

        try:
            found, works = await self._worker.run(look), True
        except SifakaError as error:
            found, works = str(error), False
        return (Health(part=self.place, works=works, found=found),)

    def scoped(self, tenant: str) -> "MilvusStorage":
        """The same runs as another tenant sees them, over the same connection."""
        return MilvusStorage(
            self._url,
            tenant=tenant,
            ttl=self._ttl,
            embedder=self._embedder,
            worker=self._worker,
        )

    async def aclose(self) -> None:
        """Disconnect, for all views; on a view that `scoped` made this does nothing."""
        if self._owned:
            await self._worker.aclose()

    async def _meant(self, query: str) -> tuple[Meant | None, str]:
        """What a query means; where that is not known, what to say about it."""
        embedder = self._embedder
        if embedder is None or not query_words(query):
            return None, ""
        try:
            vector = await embed_query(embedder, query)
        except EmbeddingError as error:
            return None, without_meaning(error)
        collection = await self._worker.run(
            lambda m: m.ensure_vectors(embedder.model_id, len(vector))
        )
        return Meant(collection, vector), ""
