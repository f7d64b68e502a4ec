from collections.abc import Awaitable, Callable

import anyio

from sifaka.record.run import Run
from sifaka.storage.protocol import ThoughtStore

Keep = Callable[..., Awaitable[Run]]


def test_a_store_outlives_the_event_loop_that_used_it_first(
    make_log: Callable[[], ThoughtStore], keep: Keep
) -> None:
    log = make_log()

    async def write() -> Run:
        return await keep(log, "written in one loop")

    async def read(run: Run) -> Run:
        loaded = await log.load(run.run_id)
        await keep(log, "and another")
        assert len((await log.recent(limit=3)).runs) == 2
        await log.aclose()
        return loaded

    run = anyio.run(write)
    assert anyio.run(read, run) == run


def test_closing_twice_or_without_use_is_harmless(
    make_log: Callable[[], ThoughtStore],
) -> None:
    async def close_twice() -> None:
        log = make_log()
        await log.aclose()
        await log.aclose()

    anyio.run(close_twice)


def test_a_closed_view_leaves_the_store_open(
    make_log: Callable[[], ThoughtStore], keep: Keep
) -> None:
    async def close_view_first() -> None:
        log = make_log()
        view = log.scoped("guest")
        await keep(view, "x")
        await view.aclose()
        run = await keep(log, "still open")
        assert await log.load(run.run_id) == run
        await log.aclose()

    anyio.run(close_view_first)
