"""A run at work: told about, cancelled, interrupted, and taken over by somebody else."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.abc
import pytest
from anyio.lowlevel import checkpoint

from sifaka import Chain, ChainEvent, Thought
from sifaka.calls.host import Suspended
from sifaka.calls.ledger import Ledger
from sifaka.chain import CancelEntry, append_outside, is_interrupted
from sifaka.chain.cancellation import cancellation, interruption
from sifaka.chain.recorder import Recorder
from sifaka.errors import ConfigurationError, StorageError
from sifaka.models import Generation, Model
from sifaka.record.entries import Called, Entry, Stopped
from sifaka.record.run import Run
from sifaka.record.usage import Budget
from sifaka.storage import MemoryStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka.testing import ScriptedModel
from tests.stubs.stores import PassingStore

pytestmark = pytest.mark.anyio
SHORT = [{"type": "length", "max_words": 2}]


class Watched(PassingStore):
    """Counts how often a run is loaded and claimed, and lets something happen before a claim."""

    def __init__(self) -> None:
        super().__init__(MemoryStorage())
        self.loads = self.claims = 0
        self.before_claim: Callable[[str], Awaitable[Any]] | None = None

    async def load(self, run_id: str) -> Run:
        self.loads += 1
        return await super().load(run_id)

    async def claim(self, run_id: str) -> int:
        self.claims += 1
        happening, self.before_claim = self.before_claim, None
        if happening is not None:
            await happening(run_id)
        return await super().claim(run_id)


class Held:
    """A model that answers when it is let go, and takes a while to leave."""

    name = "scripted"

    def __init__(self) -> None:
        self.asked, self.let_go, self.left = anyio.Event(), anyio.Event(), False

    async def generate_with_thought(self, thought: Thought) -> Generation:
        self.asked.set()
        try:
            await self.let_go.wait()
        finally:
            with anyio.CancelScope(shield=True):
                await checkpoint()
            self.left = True
        return Generation(text="too late", prompt_used="")


def shortening(model: Model | None = None, store: ThoughtStore | None = None) -> Chain:
    writer = model or ScriptedModel(lines=["a b"])
    return Chain(model=writer, validators=SHORT, critics=[], store=store or MemoryStorage())


@asynccontextmanager
async def working(
    work: Callable[[], Coroutine[object, object, object]], model: Held
) -> AsyncGenerator[anyio.abc.TaskGroup]:
    """Within it the work goes on in the group, and its model has been asked."""
    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(work)
            await model.asked.wait()
            yield group


async def test_a_run_that_was_just_started_is_neither_loaded_nor_claimed() -> None:
    store = Watched()
    handle = await shortening(store=store).start(text="a b c")
    assert (handle.run.status, handle.run_id) == ("running", handle.run.run_id)
    result = await handle.work()
    assert (result.status, result.text) == ("done", "a b")
    assert result.run == handle.run == handle.result.run
    assert (store.loads, store.claims) == (0, 0)
    assert await store.load(handle.run_id) == handle.run


async def test_a_run_is_cancelled_while_it_is_worked_on() -> None:
    model = Held()
    chain = shortening(model)
    handle = await chain.start(text="a b c")
    async with working(handle.work, model) as group:
        result = await chain.cancel(handle.run_id)
        assert (result.status, result.stop_reason) == ("cancelled", "cancelled")
        group.cancel_scope.cancel()


async def test_events_come_one_at_a_time_and_in_the_order_of_the_record() -> None:
    heard: list[ChainEvent] = []
    at_once = 0

    async def listen(event: ChainEvent) -> None:
        nonlocal at_once
        at_once += 1
        assert at_once == 1
        await checkpoint()
        heard.append(event)
        at_once -= 1

    handle = await shortening().start(text="a b c")
    before = handle.run.version
    result = await handle.work(listen)
    versions = [event.run.version for event in heard if event.run is not None]
    assert versions == list(range(before + 1, result.run.version + 1))


async def test_what_a_listener_raises_comes_out_after_the_work_has_ended() -> None:
    async def listen(event: ChainEvent) -> None:
        raise ZeroDivisionError

    handle = await shortening().start(text="a b c")
    with pytest.raises(ZeroDivisionError):
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
    async def following() -> ChainEvent:
        return await anext(events)

    model = Held()
    chain = shortening(model)
    events = chain.stream(text="a b c")
    with anyio.fail_after(20):
        event = await asyncio.create_task(following())
        while not model.asked.is_set():
            event = await asyncio.create_task(following())
            await anyio.wait_all_tasks_blocked()
        await events.aclose()
    assert model.left, "nothing of it goes on"
    assert (await chain.store.load(event.run_id)).status == "cancelled"
    assert chain.get_performance_summary()["runs"] == 1


async def test_a_stream_is_cancelled_with_its_reader() -> None:
    model = Held()
    chain = shortening(model)

    async def read() -> None:
        async for _ in chain.stream(text="a b c"):
            pass

    async with working(read, model) as group:
        group.cancel_scope.cancel()
    assert model.left
    (summary,) = (await chain.store.recent(limit=1)).runs
    assert summary.status == "cancelled"


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
    model = Held()
    chain = shortening(model)
    started = (await chain.start(text="a b c")).run

    async def work() -> None:
        await chain.resume(started.run_id, parting=parting)

    async with working(work, model) as group:
        group.cancel_scope.cancel()
    stopped = await chain.store.load(started.run_id)
    assert (stopped.status, is_interrupted(stopped)) == (status, interrupted)
    assert (stopped.error is not None) == interrupted
    ended = await shortening(store=chain.store).resume(started.run_id)
    assert (ended.status, ended.text, ended.degraded) == ("done", "a b", ())


async def test_a_run_that_has_ended_is_not_cancelled_by_who_leaves_then() -> None:
    chain = shortening()
    started = (await chain.start(text="a b c")).run

    async def leave(event: ChainEvent) -> None:
        if event.phase == "stop":
            scope.cancel()
            await checkpoint()

    with anyio.CancelScope() as scope:
        await chain.resume(started.run_id, listen=leave)
    assert scope.cancelled_caught
    assert (await chain.store.load(started.run_id)).status == "done"


async def test_an_interrupted_run_is_cancelled_once_or_gone_on_with() -> None:
    chain = shortening()
    started = (await chain.start(text="a b c")).run
    await append_outside(chain.store, started, interruption())
    for _ in range(2):
        result = await chain.cancel(started.run_id)
        assert (result.status, is_interrupted(result.run)) == ("cancelled", False)
        assert result.run.version == started.version + 2
    other = (await chain.start(text="a b c")).run
    await append_outside(chain.store, other, interruption())
    assert (await chain.resume(other.run_id, reopen=False)).status == "done"


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
    started = (await shortening(store=inner).start(text="a b c")).run
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


async def test_a_run_that_is_cancelled_before_it_is_claimed_stays_so_unless_asked_for() -> None:
    store = Watched()
    chain = shortening(store=store)
    started = (await chain.start(text="a b c")).run
    store.before_claim = chain.cancel
    left = await chain.resume(started.run_id, reopen=False)
    assert (left.status, left.run.version) == ("cancelled", started.version + 1)
    assert (await chain.resume(started.run_id, reopen=False)).run == left.run
    assert (await chain.resume(started.run_id)).status == "done"


async def to_be_submitted(store: Watched) -> tuple[Chain, str, str]:
    """A run that waits for its caller, and the version that a submission is of."""
    chain = Chain(validators=SHORT, store=store, own_review=False)
    waiting = await chain.run("shorten", text="a b c")
    assert waiting.brief is not None
    return chain, waiting.run_id, waiting.brief.parent_id


async def stops(store: ThoughtStore, run_id: str) -> list[str]:
    """The statuses that a run has stopped with."""
    entries: list[Entry] = []
    with anyio.move_on_after(0.5):  # a run that waits for its caller is followed for ever
        entries.extend([entry async for entry, _ in store.follow(run_id)])
    return [entry.status for entry in entries if isinstance(entry, Stopped)]


async def test_a_submission_does_not_open_a_run_that_is_cancelled_as_it_comes() -> None:
    store = Watched()
    chain, run_id, parent = await to_be_submitted(store)
    store.before_claim = chain.cancel
    with pytest.raises(ConfigurationError, match="was cancelled"):
        await chain.submit(run_id, parent, "a b")
    assert await stops(store, run_id) == ["needs_revision", "cancelled"]


async def test_a_submission_that_somebody_else_judges_meanwhile_is_judged_once() -> None:
    store = Watched()
    chain, run_id, parent = await to_be_submitted(store)
    store.before_claim = chain.resume
    submission = await chain.submit(run_id, parent, "a b")
    assert (submission.accepted, submission.status, submission.text) == (True, "done", "a b")
    assert await stops(store, run_id) == ["needs_revision", "done"]


async def test_a_submission_is_made_again_after_its_judging_was_interrupted() -> None:
    store = Watched()
    chain, run_id, parent = await to_be_submitted(store)

    async def interrupt(run_id: str) -> None:
        await append_outside(store, await store.load(run_id), interruption())

    store.before_claim = interrupt
    submission = await chain.submit(run_id, parent, "a b")
    assert (submission.accepted, submission.status) == (True, "done")
    assert not is_interrupted(submission.run)


class Leaving(PassingStore):
    """Whoever makes a run leaves just when it is stored."""

    def __init__(self) -> None:
        super().__init__(MemoryStorage())
        self.scope = anyio.CancelScope()

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        await super().append(run, entries, expected_version=expected_version, fence=fence)
        if expected_version == 0:
            self.scope.cancel()
            await checkpoint()


async def test_a_run_that_nobody_got_to_know_of_is_not_left_open() -> None:
    store = Leaving()
    with store.scope:
        await shortening(store=store).start(text="a b c")
    assert store.scope.cancelled_caught
    (summary,) = (await store.recent(limit=2)).runs
    assert summary.status == "cancelled"


async def test_a_worker_that_wakes_up_late_changes_nothing_and_is_told() -> None:
    model = Held()
    sleeper = shortening(model)
    started = await sleeper.start(text="a b c d")
    refusals: list[StorageError] = []

    async def sleep() -> None:
        try:
            await sleeper.resume(started.run_id)
        except StorageError as error:
            refusals.append(error)

    async with working(sleep, model):
        # By one who has not written yet.
        assert await sleeper.store.claim(started.run_id) == 2
        model.let_go.set()
    assert "worked on elsewhere" in str(refusals[0])
    assert [t.text for t in (await sleeper.store.load(started.run_id)).thoughts] == ["a b c d"]
    result = await shortening(store=sleeper.store).resume(started.run_id)
    assert (result.text, result.status) == ("a b", "done")


async def test_a_worker_whose_run_was_finished_meanwhile_gets_that_end() -> None:
    model = Held()
    sleeper = shortening(model)
    started = await sleeper.start(text="a b c d")
    ends: list[str] = []

    async def sleep() -> None:
        ends.append((await sleeper.resume(started.run_id)).text)

    async with working(sleep, model):
        await shortening(store=sleeper.store).resume(started.run_id)
        model.let_go.set()
    assert ends == ["a b"]
