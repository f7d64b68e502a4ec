"""The index of runs in Milvus, and the store that is searched in it."""

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from sifaka.embeddings.protocol import Embedder, Vector
from sifaka.errors import ConfigurationError, StorageError
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.address import MILVUS, parse_store_url
from sifaka.storage.bm25 import best_hits, hit_of, query_words
from sifaka.storage.cached import CachedStorage
from sifaka.storage.cursor import now_in_microseconds, to_microseconds
from sifaka.storage.embedding import (
    embed_documents,
    embed_words,
    embedding_failures,
    fuse,
    fused_depth,
    hybrid_name,
    meaning,
)
from sifaka.storage.entry_json import decode_version, whole_thoughts
from sifaka.storage.log import look_at
from sifaka.storage.milvus.client import (
    Row,
    joined,
    plain,
    run_key,
    tenant_key,
    thought_rows,
    word_rows,
)
from sifaka.storage.milvus.connection import MOST_ROWS, MilvusConnection, MilvusWorker
from sifaka.storage.protocol import ANY, Filters, Health, Hit, Hits, ThoughtStore
from sifaka.storage.sqlite import SQLiteStorage
from sifaka.storage.store import TenantView
from sifaka.text.search_terms import query_terms

logger = logging.getLogger(__name__)

_AT_ONCE = 64


def look_for_missing(milvus: MilvusConnection, collection: str) -> dict[str, str]:
    """The versions that a collection of vectors lacks, compared once in the life of a process.

    Afterwards every `put` of this process notes the versions that it adds.
    """
    missing = milvus.shared.missing
    if collection not in missing:
        missing[collection] = {}  # what is put meanwhile is noted already
        try:
            versions = milvus.select(milvus.thoughts, "chunk == 0", ("tenant",))
            embedded = {str(row["pk"]) for row in milvus.select(collection, 'tenant != ""', ())}
        except BaseException:
            del missing[collection]
            raise
        keys = {str(row["pk"]).removesuffix(":0"): str(row["tenant"]) for row in versions}
        missing[collection].update({key: keys[key] for key in keys if key not in embedded})
    return missing[collection].copy()


async def fill_vectors(worker: MilvusWorker, embedder: Embedder) -> int:
    """Make vectors for some versions that have none of this model; how many are left."""
    with embedding_failures():
        dimension = await embedder.dimension()
        collection = await worker.run(
            lambda m: m.ensure(m.vectors(embedder.model_id), "vectors", dimension)
        )
        names = [*await worker.run(lambda m: look_for_missing(m, collection))][:_AT_ONCE]
        rows = await worker.run(lambda m: _prepare_rows(m, names))
        embedded = await embed_documents(embedder, {name: text for name, (_, text) in rows.items()})
    vectors = [{**rows[name][0], "vector": list(vector)} for name, vector in embedded.items()]

    def keep(milvus: MilvusConnection) -> int:
        milvus.put(collection, vectors)
        missing = milvus.shared.missing[collection]
        for name in names:
            missing.pop(name, None)
        return len(missing)

    return await worker.run(keep)


def sweep(milvus: MilvusConnection) -> int:
    """Remove some of the runs that have expired, and what removed runs have left; how many stay."""
    expired = f"chunk == 0 and expires_at > 0 and expires_at <= {now_in_microseconds()}"
    rows = milvus.select(milvus.thoughts, expired, ("run",))
    runs = list(dict.fromkeys(str(row["run"]) for row in rows))
    for key in runs[:_AT_ONCE]:
        purge(milvus, key)
    while milvus.shared.purged:
        # The server writes its files again without the rows that were removed.
        milvus.compact(milvus.shared.purged.pop())
    return max(0, len(runs) - _AT_ONCE)


def purge(milvus: MilvusConnection, key: str) -> None:
    """Remove everything of a run; the versions first, so that it is gone whatever happens next."""
    others = [name for name in milvus.list_names() if milvus.is_index(name)]
    for name in (milvus.thoughts, *others):
        rows = milvus.select(name, f'run == "{key}"', ())
        milvus.remove(name, [str(row["pk"]) for row in rows])
        if rows:
            milvus.shared.purged.add(name)


def _prepare_rows(milvus: MilvusConnection, names: Sequence[str]) -> dict[str, tuple[Row, str]]:
    """The rows of these versions but for their vectors, with the text to embed of each."""
    return {
        name: (
            {
                "pk": name,
                "tenant": row["tenant"],
                "run": row["run"],
                "at": to_microseconds(thought.created_at),
            },
            text,
        )
        for name, row, prompt, thought in readable(milvus.versions(names, strong=True))
        if (text := meaning(prompt, thought.text))
    }


def readable(
    versions: Mapping[str, tuple[Row, str]],
) -> Iterator[tuple[str, Row, str, Thought]]:
    """The versions that can be read: the key, the first row, the task and the thought of each."""
    for key, (row, payload) in versions.items():
        try:
            prompt, drafted = decode_version(row["run_id"], payload)
        except StorageError as damage:
            logger.warning("a version is left out: %s", damage.message)
            continue
        yield key, row, prompt, drafted.thought


_NO_FULL_TEXT = "no full text on this server"
_SCANNED = 2_000
"""Versions that a search reads where the server has no full text."""
_UNRELATED = 0.0003
"""A cosine a hair above that of vectors at right angles, which have nothing in common."""
Scored = tuple[str, float]
"""The key of a version, and its score."""


Meaning = tuple[str, Vector]
"""The collection of a model's vectors, and the query's vector."""


def search_versions(
    milvus: MilvusConnection,
    tenant: str,
    query: str,
    limit: int,
    only: Filters,
    meaning: Meaning | None,
) -> Hits:
    """The best versions for a query; of two rankings, by words and by meaning, one is made."""
    words = query_words(query)
    if not words or limit < 1:
        return Hits(hits=(), search="bm25")
    if not milvus.full_text and meaning is None:
        return _scan_latest(milvus, tenant, words, limit, only)
    condition = _build_condition(tenant, only)
    depth = limit if meaning is None else fused_depth(limit)
    rankings: list[list[Scored]] = []
    search = "bm25"
    if meaning is not None:
        name, vector = meaning
        missing = look_for_missing(milvus, name)
        by_meaning = partial(milvus.nearest, name, list(vector), "vector", condition)
        rankings.append(_rank_versions(milvus, by_meaning, _UNRELATED, depth, only))
        search = hybrid_name([*missing.values()].count(tenant_key(tenant)))
        if not milvus.full_text:
            search = f"{search.replace('hybrid', 'dense', 1)} ({_NO_FULL_TEXT})"
    if milvus.full_text:
        text = " ".join(plain(form) for forms in query_terms(words) for form in sorted(forms))
        by_words = partial(milvus.nearest, milvus.words, text, "sparse", condition)
        rankings.append(_rank_versions(milvus, by_words, 0.0, depth, only))
    best = rankings[0]
    if len(rankings) > 1:
        best = fuse(*([name for name, _ in ranking] for ranking in rankings))
    return Hits(hits=_build_hits(milvus, best, words, limit), search=search)


def _build_condition(tenant: str, only: Filters) -> str:
    bounds = {">=": only.since, "<": only.until}
    times = [f"at {sign} {to_microseconds(at)}" for sign, at in bounds.items() if at is not None]
    return " and ".join([f'tenant == "{tenant_key(tenant)}"', *times])


def _rank_versions(
    milvus: MilvusConnection,
    nearest: Callable[[int], list[Scored]],
    above: float,
    depth: int,
    only: Filters,
) -> list[Scored]:
    """The first so many with such a score that are there and that these filters admit."""
    count = min(max(4 * depth, 50), MOST_ROWS)
    while True:
        scored = [(key, score) for key, score in nearest(count) if score > above]
        rows = milvus.heads([key for key, _ in scored])
        admitted = [(key, s) for key, s in scored if key in rows and _is_admitted(rows[key], only)]
        if len(admitted) >= depth or count == MOST_ROWS or len(scored) < count:
            return admitted[:depth]
        count = min(count * 8, MOST_ROWS)


def _is_admitted(row: Row, only: Filters) -> bool:
    expired = 0 < row["expires_at"] <= now_in_microseconds()
    return not expired and only.admit_run(passed=bool(row["passed"]), tags=json.loads(row["tags"]))


def _build_hits(
    milvus: MilvusConnection, best: Sequence[Scored], words: Sequence[str], limit: int
) -> tuple[Hit, ...]:
    hits: list[Hit] = []
    for begin in range(0, len(best), limit):
        top = dict(best[begin : begin + limit])
        versions = milvus.versions(list(top), strong=False)
        if len(versions) < len(top):  # put just now
            versions = milvus.versions(list(top), strong=True)
        fields = {
            key: (thought.created_at, row["run_id"], thought.id, thought.text, prompt)
            for key, row, prompt, thought in readable(versions)
        }
        hits += [hit_of(words, score, *fields[key]) for key, score in top.items() if key in fields]
        if len(hits) >= limit:
            break
    return tuple(hits[:limit])


def _scan_latest(
    milvus: MilvusConnection, tenant: str, words: Sequence[str], limit: int, only: Filters
) -> Hits:
    condition = f"{_build_condition(tenant, only)} and chunk == 0"
    rows = milvus.select(milvus.thoughts, condition, ("at", "passed", "tags", "expires_at"))
    latest = sorted(rows, key=lambda row: row["at"], reverse=True)[:_SCANNED]
    keys = [str(row["pk"]).removesuffix(":0") for row in latest if _is_admitted(row, only)]
    versions = readable(milvus.versions(keys, strong=True))
    candidates = [(row["run_id"], task, thought) for _, row, task, thought in versions]
    return Hits(
        hits=best_hits(words, candidates, limit),
        search=f"bm25 over the latest {_SCANNED} versions ({_NO_FULL_TEXT})",
    )


class MilvusIndex(TenantView):
    """A `SearchIndex` on a Milvus server, or in a Milvus Lite folder that one process has open.

    Args:
        url: One of the forms of `sifaka.storage.address.MILVUS`.
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
        self.address = parse_store_url(url, MILVUS, prefix=prefix, ttl=ttl)
        self._embedder = embedder
        self.worker = MilvusWorker(self.address)
        super().__init__(self.address.place, tenant, self.worker.aclose)

    async def put(self, run: Run, *, first: int = 0) -> None:
        """Make the versions of a run findable by their words; `catch_up` makes vectors."""
        tenant, ttl = self.tenant, self.address.ttl
        expires_at = now_in_microseconds() + round(ttl * 1_000_000) if ttl else 0
        begin = 0 if ttl else first  # the whole run lives on

        def write(milvus: MilvusConnection) -> None:
            milvus.put(
                milvus.thoughts,
                thought_rows(tenant, run, first=begin, expires_at=expires_at),
            )
            if milvus.full_text:
                milvus.put(milvus.words, word_rows(tenant, run, first=first))
            key = run_key(tenant, run.run_id)
            names = [f"{key}:{number}" for number in range(first, len(run.thoughts))]
            for collection in filter(milvus.is_index, [*milvus.shared.missing]):
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
            collection = await self.worker.run(
                lambda m: m.ensure(m.vectors(model_id), "vectors", dimension)
            )
            meaning = (collection, vector)
        hits = await self.worker.run(
            lambda m: search_versions(m, self.tenant, query, limit, only, meaning)
        )
        return hits.model_copy(update={"search": hits.search + failed})

    async def thoughts(self, run_id: str) -> tuple[Thought, ...]:
        """The versions of a run that were indexed, whole and in order."""
        condition = f'run == "{run_key(self.tenant, run_id)}"'
        fields = ("run", "number", "chunk", "chunks", "payload")
        rows = await self.worker.run(lambda m: m.select(m.thoughts, condition, fields))
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
        return (await look_at(self.place, lambda: self.worker.run(look), seconds=60),)


class MilvusStorage(CachedStorage):
    """A `ThoughtStore` of a log, and a `MilvusIndex` in which it is searched.

    Args:
        url: One of the forms of `sifaka.storage.address.MILVUS`.
        log: Holds the runs. Without one, those of a Milvus Lite folder are in a SQLite file beside
            it, `<folder>.log`; a server needs one.
        tenant: The tenant whose runs are seen.
        collection_name: The beginning of the names of the collections, instead of the URL's.
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
        collection_name: str | None = None,
        ttl: float | None = None,
        embedder: Embedder | None = None,
        queue: str | Path | None = None,
    ) -> None:
        index = MilvusIndex(url, prefix=collection_name, ttl=ttl, embedder=embedder)
        if log is None:
            folder = index.address.folder
            if folder is None:
                raise ConfigurationError(
                    "a Milvus server is searched, and holds no log of runs",
                    "name a log, such as MilvusStorage(url, log=SQLiteStorage('runs.db'))",
                )
            log = SQLiteStorage(folder.with_name(f"{folder.name}.log"))
        super().__init__(log, index, queue=queue, tenant=tenant)
