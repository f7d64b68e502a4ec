"""The indexes that the contract of indexes holds for.

Each is made empty, in a folder; what servers it needs are started once for all tests.
"""

import atexit
import copy
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Self
from uuid import uuid4

import httpx
import pytest

from sifaka.errors import ThoughtNotFound
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.address import ELASTICSEARCH, parse_store_url
from sifaka.storage.elasticsearch import ElasticsearchIndex
from sifaka.storage.elasticsearch.connection import authorization, index_of
from sifaka.storage.files import FileStorage
from sifaka.storage.log import load_if_there
from sifaka.storage.milvus import MilvusIndex
from sifaka.storage.protocol import ANY, Filters, Health, Hits, SearchIndex, ThoughtStore
from sifaka.storage.sqlite import SQLiteStorage
from sifaka.storage.tool_backed import MilvusToolIndex
from tests.storage_contract.log_kinds import cached_redis, elasticsearch, hybrid, redis
from tests.storage_contract.runs import entries_of
from tests.stubs.embedders import ConceptEmbedder
from tests.stubs.milvus_server import lite_server, server_2_3
from tests.stubs.search_programs import search_program
from tests.stubs.tool_sessions import shared_milvus_mcp


class IndexOfLog:
    """A store as an index: what is put is appended to its log."""

    def __init__(self, store: ThoughtStore, *, catches_up: bool = True) -> None:
        self.store = store
        self._catches_up = catches_up

    @property
    def place(self) -> str:
        return self.store.place

    async def put(self, run: Run, *, first: int = 0) -> None:
        held = await load_if_there(self.store, run.run_id)
        version = held.version if held else 0
        if run.version > version:
            await self.store.append(run, entries_of(run)[version:], expected_version=version)
        while self._catches_up and await self.store.catch_up():
            pass

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        return await self.store.search(query, limit=limit, only=only)

    async def thoughts(self, run_id: str) -> tuple[Thought, ...]:
        try:
            return (await self.store.load(run_id)).thoughts
        except ThoughtNotFound:
            return ()

    async def drop(self, run_id: str) -> None:
        await self.store.delete(run_id)

    async def catch_up(self) -> int:
        return await self.store.catch_up()

    async def health(self) -> tuple[Health, ...]:
        return await self.store.health()

    def scoped(self, tenant: str) -> Self:
        view = copy.copy(self)
        view.store = self.store.scoped(tenant)
        return view

    async def aclose(self) -> None:
        await self.store.aclose()


class OwnTenants(MilvusIndex):
    """An index that seems empty: new collections take a server seconds, new tenants nothing."""

    def __init__(self, url: str, number: int, *, ttl: float | None = None) -> None:
        super().__init__(url, tenant=f"{number}/default", ttl=ttl)
        self._number = number

    def scoped(self, tenant: str) -> Self:
        return super().scoped(f"{self._number}/{tenant}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """One kind of index."""

    make: Callable[[Path, float | None], SearchIndex]
    """With seconds it forgets a run so long after it was last put."""
    expires: bool = False


_number = count()


def milvus_server(_: Path, ttl: float | None) -> MilvusIndex:
    uri = os.environ.get("MILVUS_URI")
    if not uri:
        pytest.skip("MILVUS_URI names no server; such as http://localhost:19530")
    return OwnTenants(f"milvus+{uri}", uuid4().int, ttl=ttl)


def elasticsearch_noida(*_: object) -> ElasticsearchIndex:
    """One in a server of other people that speaks Elasticsearch's protocol."""
    url = search_program("noida-db")
    return ElasticsearchIndex(f"elasticsearch+{url}?prefix=contract-{uuid4().hex}")


def elasticsearch_url(*_: object) -> ElasticsearchIndex:
    """One in a real server, such as elasticsearch+http://localhost:9200."""
    url = os.environ.get("ELASTICSEARCH_URL")
    if not url:
        pytest.skip("ELASTICSEARCH_URL names no server")
    mark = "&" if "?" in url else "?"
    whole = f"{url}{mark}prefix=contract-{uuid4().hex}"
    atexit.register(_remove, whole)
    return ElasticsearchIndex(whole)


def _remove(url: str) -> None:
    address = parse_store_url(url, ELASTICSEARCH)
    secret = authorization(address)
    name = index_of(f"{address.prefix}-versions")
    httpx.delete(
        f"{address.base}{address.path.rstrip('/')}/{name}?ignore_unavailable=true",
        headers={"Authorization": secret} if secret else {},
    )


def sqlite_hybrid(folder: Path, _: float | None) -> IndexOfLog:
    """One whose versions are embedded as soon as they are put."""
    return IndexOfLog(SQLiteStorage(folder / "runs.db", embedder=ConceptEmbedder()))


def milvus_url(_: Path, ttl: float | None) -> MilvusIndex:
    return MilvusIndex(lite_server(), prefix=f"contract_{next(_number)}", ttl=ttl)


def milvus_2_3(_: Path, ttl: float | None) -> MilvusIndex:
    return OwnTenants(server_2_3(), next(_number), ttl=ttl)


def milvus_mcp(*_: object) -> MilvusToolIndex:
    return MilvusToolIndex(shared_milvus_mcp(), prefix=f"t{uuid4().hex}")


def milvus_lite(folder: Path, ttl: float | None) -> MilvusIndex:
    return MilvusIndex(f"milvus:///{folder}.db", ttl=ttl)


INDEXES: Mapping[str, Index] = {
    "sqlite": Index(make=lambda folder, _: IndexOfLog(SQLiteStorage(folder / "runs.db"))),
    "sqlite_hybrid": Index(make=sqlite_hybrid),
    "scan": Index(make=lambda folder, _: IndexOfLog(FileStorage(folder / "runs"))),
    "scan_redis": Index(make=lambda _, ttl: IndexOfLog(redis(ttl)), expires=True),
    "hybrid_memory": Index(make=lambda folder, _: IndexOfLog(hybrid(folder))),
    "cached": Index(make=lambda folder, _: IndexOfLog(cached_redis(folder))),
    "milvus_lite": Index(make=milvus_lite, expires=True),
    "milvus_server": Index(make=milvus_server, expires=True),
    "milvus_2_3": Index(make=milvus_2_3, expires=True),
    "milvus_url": Index(make=milvus_url, expires=True),
    "elasticsearch": Index(make=lambda _, ttl: elasticsearch(ttl), expires=True),
    "elasticsearch_noida": Index(make=elasticsearch_noida),
    "elasticsearch_url": Index(make=elasticsearch_url),
    "milvus_mcp": Index(make=milvus_mcp),
}
