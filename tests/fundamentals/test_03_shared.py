"""Third: what is shared. One store for several chains, and past work for the next."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import anyio
import pytest

from sifaka import Chain
from sifaka.retrievers import ThoughtRetriever
from sifaka.storage import FileStorage, MemoryStorage, ThoughtStore, open_store
from sifaka.storage.query import parse_query
from sifaka.storage.retention import Policy, carry_out, plan
from sifaka.testing import ScriptedModel

pytestmark = pytest.mark.anyio

RULES = [{"type": "content", "required": ["30 days"]}, {"type": "length", "max_words": 8}]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[ThoughtStore]:
    """A file that any number of processes of this machine may have open."""
    store = open_store("sqlite:", home=tmp_path)
    yield store
    await store.aclose()


async def test_a_run_that_one_begins_another_finishes(store: ThoughtStore) -> None:
    one, other = (Chain(store=store, validators=RULES, effort="quick") for _ in range(2))

    waiting = await one.run(text="Keep the receipt.")
    assert waiting.brief is not None
    done = await other.submit(
        waiting.run_id, waiting.brief.parent_id, "Keep the receipt for 30 days."
    )

    assert done.status == "done"
    assert (await one.store.load(waiting.run_id)).status == "done"


async def test_whoever_looks_on_sees_every_step(store: ThoughtStore) -> None:
    worker, watcher = Chain(store=store), Chain(store=store)
    begun = await worker.start(text="Keep the the receipt.")
    seen: list[str] = []

    async def watch() -> None:
        async with aclosing(watcher.follow(begun.run_id)) as events:
            seen.extend([event.phase async for event in events])

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(watch)
            await worker.resume(begun.run_id)

    assert (seen[0], seen[-1]) == ("generate", "stop")
    assert seen.count("select") == 2, "the input, and the editor's version"


async def test_past_texts_are_found_by_words_and_filters(store: ThoughtStore) -> None:
    await Chain(store=store, tags=["shop"]).run(text="A refund takes 30 days.")
    await Chain(store=store, tags=["tax"]).run(text="A refund takes a year.")

    words, only = parse_query("refunds tag:shop since:1d")
    found = await store.search(words, limit=10, only=only)

    assert found.search == "bm25"
    assert [hit.snippet for hit in found.hits] == ["A **refund** takes 30 days."]


async def test_a_writer_is_given_what_was_written_before(store: ThoughtStore) -> None:
    await Chain(store=store).run(text="A refund takes 30 days.")
    model = ScriptedModel(lines=["You have your money within 30 days."])

    chain = Chain(store=store, model=model, critics=["lint"], retrievers=[ThoughtRetriever(store)])
    await chain.run("Say how long a refund takes.")

    (document,) = model.seen[0].pre_generation_context
    assert document.text == "A refund takes 30 days."


async def test_what_was_turned_down_is_a_lesson_for_the_next_run(store: ThoughtStore) -> None:
    chain = Chain(store=store, validators=RULES)
    waiting = await chain.run(text="A refund takes a while.")
    assert waiting.brief is not None
    worse = "A refund takes as long as it takes, and not a day more."
    await chain.submit(waiting.run_id, waiting.brief.parent_id, worse)

    next_time = await Chain(store=store, validators=RULES, remember=1).run(
        text="A refund takes time."
    )

    assert next_time.brief is not None
    (lesson,) = next_time.brief.lessons
    assert "turned down (worse in required validators failed" in lesson


async def test_old_runs_are_moved_into_files_or_forgotten(
    store: ThoughtStore, tmp_path: Path
) -> None:
    run_id = (await Chain(store=store).run(text="A refund takes 30 days.")).run_id
    archive = FileStorage(tmp_path / "archive")

    planned = await plan(store, Policy(max_runs=0))
    assert [leaving.run.run_id for leaving in planned.leaving] == [run_id]
    assert (await store.recent(limit=1)).runs, "a plan changes nothing"

    await carry_out(store, planned, archive)
    assert not (await store.recent(limit=1)).runs
    assert (await archive.load(run_id)).champion_id == f"{run_id}.0"


async def test_tenants_do_not_see_each_other() -> None:
    ann = MemoryStorage(tenant="ann")
    await Chain(store=ann).run(text="A refund takes 30 days.")

    assert (await ann.search("refund", limit=10)).hits
    assert not (await ann.scoped("bob").search("refund", limit=10)).hits
