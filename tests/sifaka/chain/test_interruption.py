"""Work that is cancelled: what is put on record of it, and how it goes on."""

from collections.abc import Sequence

import anyio
import pytest
from anyio.lowlevel import checkpoint

from sifaka import Chain, ChainEvent, Thought
from sifaka.calls.ledger import Ledger
from sifaka.chain import CancelEntry, is_interrupted
from sifaka.chain.cancellation import cancellation, interruption
from sifaka.chain.recorder import Recorder
from sifaka.models import Generation
from sifaka.record.entries import Called, Entry
from sifaka.record.run import Run
from sifaka.record.usage import Budget
from sifaka.storage import MemoryStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka.testing import ScriptedModel
from tests.stubs.stores import PassingStore

pytestmark = pytest.mark.anyio
RULES = [{"type": "length", "max_words": 2}]


class Silent:
    """A model that is asked and never answers."""

    name = "scripted"

    def __init__(self) -> None:
        self.asked = anyio.Event()

    async def generate_with_thought(self, thought: Thought) -> Generation:
        self.asked.set()
        await anyio.sleep_forever()
        raise AssertionError


@pytest.mark.parametrize(
    ("parting", "status", "interrupted"),
    [
        (cancellation, "cancelled", False),
        (interruption, "cancelled", True),
        (lambda: None, "running", False),
    ],
)
async def test_who_cancels_the_work_says_what_is_put_on_record(
    parting: CancelEntry, status: str, interrupted: bool
) -> None:
    store, model = MemoryStorage(), Silent()
    chain = Chain(model=model, validators=RULES, critics=[], store=store)
    started = (await chain.start(text="a b c")).run
    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:

            async def work() -> None:
                await chain.resume(started.run_id, parting=parting)

            group.start_soon(work)
            await model.asked.wait()
            group.cancel_scope.cancel()

    stopped = await store.load(started.run_id)
    assert (stopped.status, is_interrupted(stopped)) == (status, interrupted)
    assert (stopped.error is not None) == interrupted
    other = Chain(model=ScriptedModel(lines=["a b"]), validators=RULES, critics=[], store=store)
    ended = await other.resume(started.run_id)
    assert (ended.status, ended.text, ended.degraded) == ("done", "a b", ())


async def test_a_run_that_has_ended_is_not_cancelled_by_who_leaves_then() -> None:
    store = MemoryStorage()
    chain = Chain(model=ScriptedModel(lines=["a b"]), validators=RULES, critics=[], store=store)
    started = (await chain.start(text="a b c")).run

    async def leave(event: ChainEvent) -> None:
        if event.phase == "stop":
            scope.cancel()
            await checkpoint()

    with anyio.CancelScope() as scope:
        await chain.resume(started.run_id, listen=leave)

    assert scope.cancelled_caught
    assert (await store.load(started.run_id)).status == "done"


async def test_an_interrupted_run_that_is_cancelled_stays_so() -> None:
    store, model = MemoryStorage(), Silent()
    chain = Chain(model=model, validators=RULES, critics=[], store=store)
    started = (await chain.start(text="a b c")).run
    await store.append(
        started.apply(interruption()), [interruption()], expected_version=started.version
    )
    for _ in range(2):
        result = await chain.cancel(started.run_id)
        assert result.status == "cancelled"
        assert not is_interrupted(result.run)
        assert result.run.version == started.version + 2


class Slow(PassingStore):
    """Keeps what is appended when it is let, and tells that it was asked to."""

    def __init__(self, inner: ThoughtStore) -> None:
        super().__init__(inner)
        self.asked, self.let = anyio.Event(), anyio.Event()

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        self.asked.set()
        await self.let.wait()
        await super().append(run, entries, expected_version=expected_version, fence=fence)


async def test_an_answer_that_waits_to_be_stored_is_kept_when_whoever_asked_is_cancelled() -> None:
    inner = MemoryStorage()
    started = (await Chain(model=Silent(), critics=[], store=inner).start(text="a b c")).run
    store = Slow(inner)
    recorder = Recorder(store, started, Ledger(Budget(), started.usage), fence=0)
    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            for key in ("first", "second"):
                call = Called(key=key, request=key, model="scripted", response="{}")
                group.start_soon(recorder.record_call, call)
                await store.asked.wait()
            await anyio.wait_all_tasks_blocked()
            group.cancel_scope.cancel()
            store.let.set()
    assert [call.key for call in (await inner.load(started.run_id)).calls] == ["first", "second"]
