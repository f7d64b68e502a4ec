"""Documents that are at hand."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from sifaka.evidence.sources.in_process import InProcessAdapter
from tests.sifaka.evidence.sources.kinds.source import DOCUMENTS, Source


@asynccontextmanager
async def source(folder: Path) -> AsyncGenerator[Source]:
    del folder
    yield Source(adapter=InProcessAdapter(DOCUMENTS, name="tested"))
