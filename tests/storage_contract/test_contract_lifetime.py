from collections.abc import Awaitable, Callable

import anyio

from sifaka.record.run import Run
from sifaka.storage.protocol import ThoughtStore

Keep = Callable[..., Awaitable[Run]]


def test_a_store_outlives_the_event_loop_that_used_it_first(
    make_store: Callable[[], ThoughtStore], keep: Keep
) -> None:
    store = make_store()

    async def write() -> Run:
        return await keep(store, "written in one loop")

    async def read(run: Run) -> Run:
        loaded = await store.load(run.run_id)
        await keep(store, "and another")
        assert len((await store.search("another", limit=3)).hits) == 1
        await store.aclose()
        return loaded

    run = anyio.run(write)
    assert anyio.run(read, run) == run


def test_closing_twice_or_without_use_is_harmless(
    make_store: Callable[[], ThoughtStore],
) -> None:
    async def close_twice() -> None:
        store = make_store()
        await store.aclose()
        await store.aclose()

    anyio.run(close_twice)


def test_a_closed_view_leaves_the_store_open(
    make_store: Callable[[], ThoughtStore], keep: Keep
) -> None:
    async def close_view_first() -> None:
        store = make_store()
        view = store.scoped("guest")
        await keep(view, "x")
        await view.aclose()
        run = await keep(store, "still open")
        assert await store.load(run.run_id) == run
        await store.aclose()

    anyio.run(close_view_first)
