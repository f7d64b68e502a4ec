"""Two workers on one run: the later one takes it over, the earlier one is told."""

from contextlib import aclosing

import anyio
import pytest

from sifaka import Chain, Thought
from sifaka.errors import StorageError
from sifaka.models import Generation
from sifaka.storage import MemoryStorage
from sifaka.testing import ScriptedModel

pytestmark = pytest.mark.anyio
RULES = [{"type": "length", "max_words": 2}]


class Held:
    """A model that answers when it is let go."""

    name = "scripted"

    def __init__(self) -> None:
        self.asked = anyio.Event()
        self.let_go = anyio.Event()

    async def generate_with_thought(self, thought: Thought) -> Generation:
        self.asked.set()
        await self.let_go.wait()
        return Generation(text="too late", prompt_used="")


async def test_a_worker_that_wakes_up_late_changes_nothing_and_is_told() -> None:
    store, model = MemoryStorage(), Held()
    sleeper = Chain(model=model, validators=RULES, critics=[], store=store)
    other = Chain(model=ScriptedModel(lines=["in time"]), validators=RULES, critics=[], store=store)
    started = await sleeper.start(text="a b c d")
    refusals: list[StorageError] = []
    claims: list[int] = []

    async def sleep() -> None:
        try:
            await sleeper.resume(started.run_id)
        except StorageError as error:
            refusals.append(error)

    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(sleep)
            await model.asked.wait()
            claims.append(await store.claim(started.run_id))  # by one who has not written yet
            model.let_go.set()

    assert claims == [2]
    assert "worked on elsewhere" in str(refusals[0])
    assert [t.text for t in (await store.load(started.run_id)).thoughts] == ["a b c d"]
    result = await other.resume(started.run_id)
    assert (result.text, result.status) == ("in time", "done")


async def test_a_worker_whose_run_was_finished_meanwhile_gets_that_end() -> None:
    store, model = MemoryStorage(), Held()
    sleeper = Chain(model=model, validators=RULES, critics=[], store=store)
    other = Chain(model=ScriptedModel(lines=["in time"]), validators=RULES, critics=[], store=store)
    started = await sleeper.start(text="a b c d")
    ends: list[str] = []

    async def sleep() -> None:
        ends.append((await sleeper.resume(started.run_id)).text)

    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(sleep)
            await model.asked.wait()
            await other.resume(started.run_id)
            model.let_go.set()

    assert ends == ["in time"]


async def test_a_run_is_followed_live_by_somebody_who_does_not_work_on_it() -> None:
    store, model = MemoryStorage(), Held()
    worker = Chain(model=model, validators=RULES, critics=[], store=store)
    watcher = Chain(store=store)
    started = await worker.start(text="a b c d")
    seen: list[str] = []

    async def watch() -> None:
        async with aclosing(watcher.follow(started.run_id)) as events:
            async for event in events:
                assert event.entry is not None
                seen.append(event.entry.kind)
                if event.entry.kind == "decided":
                    model.let_go.set()

    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(watch)
            await worker.resume(started.run_id)

    first, second = ["validated", "decided"], ["drafted", "validated", "decided", "stopped"]
    assert seen == ["started", "drafted", *first, *second]


async def test_the_seeds_name_for_the_store_is_understood() -> None:
    store = MemoryStorage()

    result = await Chain(checkpoint_storage=store).run(text="A text.")

    assert await store.load(result.run_id) == result.run
