"""Somebody stops a run at the very moment somebody else is about to go on with it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from sifaka import Chain
from sifaka.chain import append_outside, is_interrupted
from sifaka.chain.cancellation import interruption
from sifaka.errors import ConfigurationError
from sifaka.record.entries import Entry, Stopped
from sifaka.record.run import Run
from sifaka.storage import MemoryStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka.testing import ScriptedModel
from tests.stubs.stores import PassingStore

pytestmark = pytest.mark.anyio
SHORT = [{"type": "length", "max_words": 2}]


class Claimed(PassingStore):
    """Lets something happen just before a run is claimed."""

    def __init__(self) -> None:
        super().__init__(MemoryStorage())
        self.before_claim: Callable[[str], Awaitable[Any]] | None = None

    async def claim(self, run_id: str) -> int:
        happening, self.before_claim = self.before_claim, None
        if happening is not None:
            await happening(run_id)
        return await super().claim(run_id)


async def stops(store: ThoughtStore, run_id: str) -> list[str]:
    """The statuses that a run has stopped with."""
    entries: list[Entry] = []
    with anyio.move_on_after(0.5):  # a run that waits for its caller is followed for ever
        entries.extend([entry async for entry, _ in store.follow(run_id)])
    return [entry.status for entry in entries if isinstance(entry, Stopped)]


def shortening(store: ThoughtStore) -> Chain:
    return Chain(model=ScriptedModel(lines=["a b"]), validators=SHORT, critics=[], store=store)


async def test_a_run_that_is_cancelled_before_it_is_claimed_stays_so_unless_asked_for() -> None:
    store = Claimed()
    chain = shortening(store)
    started = (await chain.start(text="a b c")).run
    store.before_claim = chain.cancel
    left = await chain.resume(started.run_id, reopen=False)
    assert (left.status, left.run.version) == ("cancelled", started.version + 1)
    assert (await chain.resume(started.run_id, reopen=False)).run == left.run
    assert (await chain.resume(started.run_id)).status == "done"


async def test_an_interrupted_run_is_gone_on_with_without_being_opened_again() -> None:
    store = MemoryStorage()
    chain = shortening(store)
    started = (await chain.start(text="a b c")).run
    await append_outside(store, started, interruption())
    assert (await chain.resume(started.run_id, reopen=False)).status == "done"


async def test_a_submission_does_not_open_a_run_that_is_cancelled_as_it_comes() -> None:
    store = Claimed()
    chain = Chain(validators=SHORT, store=store, own_review=False)
    waiting = await chain.run("shorten", text="a b c")
    assert waiting.brief is not None
    store.before_claim = chain.cancel
    with pytest.raises(ConfigurationError, match="was cancelled"):
        await chain.submit(waiting.run_id, waiting.brief.parent_id, "a b")
    assert await stops(store, waiting.run_id) == ["needs_revision", "cancelled"]


async def test_a_submission_that_somebody_else_judges_meanwhile_is_judged_once() -> None:
    store = Claimed()
    chain = Chain(validators=SHORT, store=store, own_review=False)
    waiting = await chain.run("shorten", text="a b c")
    assert waiting.brief is not None
    store.before_claim = chain.resume
    submission = await chain.submit(waiting.run_id, waiting.brief.parent_id, "a b")
    assert (submission.accepted, submission.status, submission.text) == (True, "done", "a b")
    assert await stops(store, waiting.run_id) == ["needs_revision", "done"]


async def test_a_submission_is_made_again_after_its_judging_was_interrupted() -> None:
    store = Claimed()
    chain = Chain(validators=SHORT, store=store, own_review=False)
    waiting = await chain.run("shorten", text="a b c")
    assert waiting.brief is not None

    async def interrupt(run_id: str) -> None:
        await append_outside(store, await store.load(run_id), interruption())

    store.before_claim = interrupt
    submission = await chain.submit(waiting.run_id, waiting.brief.parent_id, "a b")
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
        await shortening(store).start(text="a b c")
    assert store.scope.cancelled_caught
    (summary,) = (await store.recent(limit=2)).runs
    assert summary.status == "cancelled"
