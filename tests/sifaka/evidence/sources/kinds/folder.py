"""A folder of files."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from anyio import to_thread

from sifaka.evidence.sources.catalogue import open_adapters
from tests.sifaka.evidence.sources.kinds.source import DOCUMENTS, Source


@asynccontextmanager
async def source(folder: Path) -> AsyncGenerator[Source]:
    isles = folder / "isles"
    isles.mkdir()
    for document in DOCUMENTS:
        assert document.published is not None
        front = f"---\ndate: {document.published.isoformat()}\n---\n"
        text = f"{front}# {document.title}\n\n{document.text}\n"
        (isles / f"{document.id}.md").write_text(text, encoding="utf-8")
    (adapter,) = open_adapters([f"tested=folder:{isles}"]).chosen()

    async def break_down() -> None:
        await to_thread.run_sync(isles.rename, folder / "gone")

    yield Source(
        adapter=adapter,
        ids=[f"{document.id}.md" for document in DOCUMENTS],
        has_links=False,
        break_down=break_down,
    )
