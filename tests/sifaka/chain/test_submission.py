import json
from typing import Any

import anyio
import pytest

from sifaka import Chain, CriticFeedback, Thought
from sifaka.chain import Submission
from sifaka.errors import ConfigurationError, StaleRevision, ThoughtNotFound
from sifaka.storage import MemoryStorage

pytestmark = pytest.mark.anyio

RULES = [
    {"type": "length", "max_words": 6},
    {"type": "content", "required": ["refund", "Friday"]},
]
LONG = "We will send the money back to you at the end of this week."


def caller(store: MemoryStorage, **settings: Any) -> Chain:
    defaults: dict[str, Any] = {
        "model": "caller",
        "validators": RULES,
        "store": store,
        "own_review": False,
    }
    return Chain(**{**defaults, **settings})


async def test_a_run_that_only_a_writer_can_mend_waits_with_a_brief() -> None:
    result = await caller(MemoryStorage()).run(text=LONG)
    assert (result.status, result.stop_reason) == ("needs_revision", "awaiting_revision")
    brief = result.brief
    assert brief is not None
    assert brief.parent_id == result.thought.id
    assert [f.validator for f in brief.failures] == ["length", "content"]
    assert "refund" in json.dumps(brief.model_dump())
    assert "submit_revision" in brief.instructions


async def test_a_worse_revision_is_refused_with_the_reason_and_a_better_one_ends_the_run() -> None:
    store = MemoryStorage()
    waiting = await caller(store).run(text=LONG)
    assert waiting.brief is not None
    parent = waiting.brief.parent_id
    worse = await caller(store).submit(waiting.run_id, parent, f"{LONG} {LONG}")
    assert not worse.accepted
    assert "distance from passing" in worse.reason
    assert worse.status == "needs_revision"
    assert worse.text == LONG
    assert worse.brief is not None
    assert [f.validator for f in worse.brief.failures] == ["length", "content"]
    better = await caller(store).submit(waiting.run_id, parent, "Your refund arrives on Friday.")
    assert better.accepted
    assert (better.status, better.stop_reason) == ("done", "passed")


async def test_the_same_submission_twice_is_taken_once_and_answered_twice() -> None:
    store = MemoryStorage()
    waiting = await caller(store).run(text=LONG)
    assert waiting.brief is not None
    parent = waiting.brief.parent_id
    once = await caller(store).submit(waiting.run_id, parent, "Your refund arrives on Friday.")
    twice = await caller(store).submit(waiting.run_id, parent, "Your refund arrives on Friday.")
    assert (twice.accepted, twice.reason) == (once.accepted, once.reason)
    assert len(twice.run.thoughts) == len(once.run.thoughts)


async def test_a_stale_parent_is_refused_and_named() -> None:
    store = MemoryStorage()
    waiting = await caller(store).run(text=LONG)
    assert waiting.brief is not None
    first = waiting.brief.parent_id
    nearer = await caller(store).submit(waiting.run_id, first, "Your refund comes soon.")
    assert nearer.accepted
    with pytest.raises(StaleRevision) as error:
        await caller(store).submit(waiting.run_id, first, "Your refund comes on Friday.")
    assert error.value.current_id == nearer.thought.id


async def test_a_run_in_another_process_is_continued_from_its_stored_configuration() -> None:
    store = MemoryStorage()
    waiting = await caller(store).run(text=LONG)
    assert waiting.brief is not None
    stored = await store.load(waiting.run_id)
    rebuilt = Chain.of_config(stored.config, store=store)
    done = await rebuilt.submit(
        waiting.run_id, waiting.brief.parent_id, "Your refund arrives on Friday."
    )
    assert done.status == "done"


async def test_the_number_of_revisions_is_bounded() -> None:
    store = MemoryStorage()
    chain = caller(store, max_iterations=1)
    waiting = await chain.run(text=LONG)
    assert waiting.brief is not None
    last = await chain.submit(waiting.run_id, waiting.brief.parent_id, "A refund, soon.")
    assert (last.status, last.stop_reason, last.passed) == ("done", "max_iterations", False)
    with pytest.raises(ConfigurationError, match="does not wait for a revision"):
        await chain.submit(waiting.run_id, last.thought.id, "Your refund arrives on Friday.")


async def test_a_task_in_words_is_not_done_before_the_caller_has_written() -> None:
    store = MemoryStorage()
    chain = Chain(model="caller", store=store, own_review=False)
    waiting = await chain.run("make it friendly", text="The office is closed on Friday.")
    assert waiting.status == "needs_revision"
    assert waiting.brief is not None
    done = await chain.submit(
        waiting.run_id, waiting.brief.parent_id, "Come and see us any day but Friday!"
    )
    assert (done.status, done.accepted) == ("done", True)
    assert done.text == "Come and see us any day but Friday!"


async def test_a_text_can_be_written_from_a_prompt_by_the_caller() -> None:
    store = MemoryStorage()
    waiting = await caller(store, model="auto").run("announce the refund")
    assert (waiting.status, waiting.text) == ("needs_revision", "")
    assert waiting.brief is not None
    assert "announce the refund" in waiting.brief.instructions
    done = await caller(store, model="auto").submit(
        waiting.run_id, waiting.brief.parent_id, "Your refund arrives on Friday."
    )
    assert (done.status, done.accepted) == ("done", True)


async def test_unknown_runs_and_empty_revisions_are_refused() -> None:
    store = MemoryStorage()
    with pytest.raises(ThoughtNotFound):
        await caller(store).submit("run_unknown", "run_unknown.0", "text")
    waiting = await caller(store).run(text=LONG)
    assert waiting.brief is not None
    with pytest.raises(ConfigurationError, match="empty"):
        await caller(store).submit(waiting.run_id, waiting.brief.parent_id, "  ")
    assert len((await store.load(waiting.run_id)).thoughts) == len(waiting.run.thoughts)


class Gate:
    """A critic that waits until it is let through."""

    name = "gate"

    def __init__(self) -> None:
        self.reached = anyio.Event()
        self.open = anyio.Event()

    async def critique(self, thought: Thought) -> CriticFeedback:
        if thought.author == "caller":
            self.reached.set()
            await self.open.wait()
        return CriticFeedback(critic=self.name, verdict="accept", judges_task=False)


async def test_a_submission_survives_a_caller_that_leaves() -> None:
    store, gate = MemoryStorage(), Gate()
    chain = caller(store, critics=[gate])
    waiting = await chain.run(text=LONG)
    assert waiting.brief is not None
    parent, good = waiting.brief.parent_id, "Your refund arrives on Friday."
    async with anyio.create_task_group() as group:
        group.start_soon(chain.submit, waiting.run_id, parent, good)
        with anyio.fail_after(60):
            await gate.reached.wait()
        group.cancel_scope.cancel()
    gate.open.set()
    again = await chain.submit(waiting.run_id, parent, good)
    assert (again.accepted, again.status) == (True, "done")
    assert len(again.run.thoughts) == 2


async def test_equal_submissions_at_the_same_time_are_one() -> None:
    store = MemoryStorage()
    waiting = await caller(store).run(text=LONG)
    assert waiting.brief is not None
    parent = waiting.brief.parent_id
    outcomes: list[Submission] = []

    async def submit() -> None:
        outcomes.append(
            await caller(store).submit(waiting.run_id, parent, "Your refund arrives on Friday.")
        )

    async with anyio.create_task_group() as group:
        for _ in range(6):
            group.start_soon(submit)
    assert {(o.accepted, o.status, o.reason) for o in outcomes} == {
        (True, "done", outcomes[0].reason)
    }
    assert len((await store.load(waiting.run_id)).thoughts) == 2
