"""A run that its process has started: it is worked on without being loaded, and told about."""

import asyncio
from collections.abc import AsyncGenerator

import anyio
import pytest

from sifaka import Chain, ChainEvent, Thought
from sifaka.calls.host import Suspended
from sifaka.models import Generation, Model
from sifaka.record.run import Run
from sifaka.storage import MemoryStorage
from sifaka.testing import ScriptedModel
from tests.stubs.stores import PassingStore

pytestmark = pytest.mark.anyio
SHORT = [{"type": "length", "max_words": 2}]


class Counted(PassingStore):
    """Counts how often a run is loaded and claimed."""

    def __init__(self) -> None:
        super().__init__(MemoryStorage())
        self.loads = self.claims = 0

    async def load(self, run_id: str) -> Run:
        self.loads += 1
        return await super().load(run_id)

    async def claim(self, run_id: str) -> int:
        self.claims += 1
        return await super().claim(run_id)


class Blocked:
    """A model that is asked, never answers, and takes a while to leave."""

    name = "blocked"

    def __init__(self) -> None:
        self.asked, self.left = anyio.Event(), False

    async def generate_with_thought(self, thought: Thought) -> Generation:
        self.asked.set()
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.lowlevel.checkpoint()
            self.left = True
        raise AssertionError


def shortening(model: Model, store: MemoryStorage | PassingStore | None = None) -> Chain:
    return Chain(model=model, validators=SHORT, critics=[], store=store or MemoryStorage())


async def test_a_run_that_was_just_started_is_neither_loaded_nor_claimed() -> None:
    store = Counted()
    handle = await shortening(ScriptedModel(lines=["a b"]), store).start(text="a b c")
    assert (handle.run.status, handle.run_id) == ("running", handle.run.run_id)
    result = await handle.work()
    assert (result.status, result.text) == ("done", "a b")
    assert result.run == handle.run == handle.result.run
    assert (store.loads, store.claims) == (0, 0)
    assert await store.load(handle.run_id) == handle.run


async def test_a_run_that_another_process_may_have_started_is_claimed() -> None:
    store = Counted()
    handle = await shortening(ScriptedModel(lines=["a b"]), store).start(text="a b c")
    result = await shortening(ScriptedModel(lines=["a b"]), store).resume(handle.run_id)
    assert (result.status, store.claims) == ("done", 1)


async def test_a_run_is_cancelled_by_its_handle() -> None:
    model = Blocked()
    handle = await shortening(model).start(text="a b c")
    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(handle.work)
            await model.asked.wait()
            result = await handle.cancel()
            assert (result.status, result.stop_reason) == ("cancelled", "cancelled")
            group.cancel_scope.cancel()


async def test_events_come_one_at_a_time_and_in_the_order_of_the_record() -> None:
    heard: list[ChainEvent] = []
    at_once = 0

    async def listen(event: ChainEvent) -> None:
        nonlocal at_once
        at_once += 1
        assert at_once == 1
        await anyio.lowlevel.checkpoint()
        heard.append(event)
        at_once -= 1

    handle = await shortening(ScriptedModel(lines=["a b"])).start(text="a b c")
    before = handle.run.version
    result = await handle.work(listen)
    versions = [event.run.version for event in heard if event.run is not None]
    assert versions == list(range(before + 1, result.run.version + 1))


async def test_what_a_listener_raises_comes_out_after_the_work_has_ended() -> None:
    class Broken(Exception):
        pass

    async def listen(event: ChainEvent) -> None:
        raise Broken

    handle = await shortening(ScriptedModel(lines=["a b"])).start(text="a b c")
    with pytest.raises(Broken):
        await handle.work(listen)
    assert handle.run.status == "cancelled"


async def test_a_stream_raises_what_the_work_does_after_its_events() -> None:
    class Asking(ScriptedModel):
        async def generate_with_thought(self, thought: Thought) -> Generation:
            raise Suspended({})

    chain = shortening(Asking(lines=[]))
    events = chain.stream(text="a b c")
    event = await anext(events)
    while event.phase != "generate":
        event = await anext(events)
    with pytest.raises(Suspended):
        await anext(events)
    assert (await chain.store.load(event.run_id)).status == "running"


async def test_a_stream_may_be_closed_by_another_task_than_the_one_that_used_it() -> None:
    model = Blocked()
    chain = shortening(model)
    events = chain.stream(text="a b c")
    with anyio.fail_after(20):
        event = await asyncio.create_task(_next(events))
        while not model.asked.is_set():
            event = await asyncio.create_task(_next(events))
            await anyio.wait_all_tasks_blocked()
        await events.aclose()
    assert model.left, "nothing of it goes on"
    assert (await chain.store.load(event.run_id)).status == "cancelled"


async def test_a_stream_is_cancelled_with_its_reader() -> None:
    model = Blocked()
    chain = shortening(model)
    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:

            async def read() -> None:
                async for _ in chain.stream(text="a b c"):
                    pass

            group.start_soon(read)
            await model.asked.wait()
            group.cancel_scope.cancel()
    assert model.left
    (summary,) = (await chain.store.recent(limit=1)).runs
    assert summary.status == "cancelled"


async def _next(events: AsyncGenerator[ChainEvent]) -> ChainEvent:
    return await anext(events)
