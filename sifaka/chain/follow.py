"""The events of a run that somebody else works on."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from sifaka.chain.messages import stored
from sifaka.record.events import ChainEvent
from sifaka.storage.protocol import ThoughtStore


async def follow_run(
    store: ThoughtStore, run_id: str, *, after: int = 0
) -> AsyncGenerator[ChainEvent]:
    """An event for each entry of a run, those to come included; see `ThoughtStore.follow`."""
    async with aclosing(store.follow(run_id, after=after)) as steps:
        async for entry, run in steps:
            yield stored(entry, run)
