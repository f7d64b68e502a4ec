"""The parts of a kind of adapter for the contract."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.sources.catalogue import open_adapters
from sifaka.evidence.sources.collection import Adapter
from tests.stubs.search_server import Answered, SearchServer

DOCUMENTS = (
    SourceDocument(
        title="The lighthouse of Skär",
        text="The lighthouse of Skär is 31 metres high. It was lit in 1871. 灯台は高い。",
        url="https://isles.example/skar",
        id="skar",
        published=datetime(2024, 5, 1, tzinfo=UTC),
    ),
    SourceDocument(
        title="The lighthouse of Vik",
        text="The lighthouse of Vik has a red lamp and a keeper’s house, “Lampan”.",
        url="https://isles.example/vik",
        id="vik",
        published=datetime(2020, 1, 2, tzinfo=UTC),
    ),
    SourceDocument(
        title="The lighthouse of Nor",
        text="The lighthouse of Nor is a ruin since the storm, and no lighthouse any more.",
        url="https://elsewhere.example/nor",
        id="nor",
        published=datetime(2016, 7, 3, tzinfo=UTC),
    ),
)
"""They all match `lighthouse`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """The server behind an adapter, and how it says that something is wrong."""

    server: SearchServer
    refused: Answered
    """Its answer to a wrong key."""
    no_index: Answered
    broken: Answered
    empty: Answered
    """Nothing was found."""
    without_text: Answered
    """A record that lacks the field with the text."""
    query_of: Callable[[int], str]
    """The words that the request of this number looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """An adapter that finds `DOCUMENTS`."""

    adapter: Adapter
    remote: Remote | None = None
    ids: Sequence[str] = field(default=tuple(each.id for each in DOCUMENTS))
    """Its names for them."""
    has_links: bool = True
    break_down: Callable[[], Awaitable[None]] | None = None
    """Makes it fail from now on, where that can be done to one that is not remote."""


@asynccontextmanager
async def asking(remote: Remote, spec: str, *, key: str, sent: str) -> AsyncGenerator[Source]:
    """The adapter of a spec, which sends this header with the key, and no other."""
    (adapter,) = open_adapters([f"tested={spec}"], keys={"tested": key}).chosen()
    yield Source(adapter=adapter, remote=remote)
    assert {each.headers["authorization"] for each in remote.server.asked} <= {sent}
    remote.server.stop()
