"""Elasticsearch: recorded shapes, not a real server."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from sifaka.evidence.sources.catalogue import open_adapters
from tests.sifaka.evidence.sources.kinds.index_server import remote
from tests.sifaka.evidence.sources.kinds.source import Source


@asynccontextmanager
async def source(folder: Path) -> AsyncGenerator[Source]:
    del folder
    there = remote()
    fields = "text=body&url=link&date=changed"
    spec = f"tested=elasticsearch+http://{there.server.host}/isles?{fields}"
    (adapter,) = open_adapters([spec], keys={"tested": "s3cret-key=="}).chosen()
    yield Source(adapter=adapter, remote=there)
    assert {each.headers["authorization"] for each in there.server.asked} <= {"ApiKey s3cret-key=="}
    there.server.stop()
