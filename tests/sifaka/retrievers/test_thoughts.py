from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from sifaka.chain import Chain
from sifaka.errors import SifakaError, StorageError
from sifaka.record.entries import (
    ChainConfig,
    Decided,
    Decision,
    Drafted,
    Entry,
    Started,
    Stopped,
    Validated,
)
from sifaka.record.results import ValidationResult
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.retrievers import ThoughtRetriever
from sifaka.storage import MemoryStorage, SQLiteStorage
from sifaka.storage.protocol import ANY, Filters, Hits, ThoughtStore
from sifaka.testing import ScriptedModel
from tests.stubs.stores import PassingStore

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[ThoughtStore]:
    memory = request.param == "memory"
    store = MemoryStorage() if memory else SQLiteStorage(tmp_path / "runs.db")
    yield store
    await store.aclose()


async def keep(
    store: ThoughtStore, *texts: str, best: int = 0, prompt: str = "", done: bool = True
) -> Run:
    started = Started(prompt=prompt, config=ChainConfig())
    run = Run.start(started)
    entries: list[Entry] = [started]
    for number, text in enumerate(texts):
        thought = Thought(run_id=run.run_id, iteration=number, prompt=prompt, text=text)
        decision = Decision(accepted=number == best, note="as written down")
        passing = {"length": ValidationResult(passed=True)}
        entries += [
            Drafted(thought=thought),
            Validated(thought_id=thought.id, results=passing),
            Decided(thought_id=thought.id, decision=decision),
        ]
    if done:
        entries.append(Stopped(status="done", stop_reason="passed"))
    run = Run.replay(entries)
    await store.append(run, entries, expected_version=0)
    return run


async def test_the_best_version_of_a_run_is_its_document(store: ThoughtStore) -> None:
    run = await keep(store, "badger draft", "badger, polished", best=1, prompt="Write of badgers")
    (document,) = await ThoughtRetriever(store).retrieve("badger", 5)
    assert (document.id, document.text) == (run.thoughts[1].id, "badger, polished")
    assert document.title == "Write of badgers"
    assert document.score is not None
    assert document.metadata == {
        "run_id": run.run_id,
        "passed": False,  # nobody judged it
        "created_at": run.thoughts[1].created_at.isoformat(),
    }


async def test_each_run_is_found_once_and_at_most_as_many_as_asked_for(
    store: ThoughtStore,
) -> None:
    for _ in range(4):
        await keep(store, "heron", "heron heron", "heron heron heron")
    found = await ThoughtRetriever(store).retrieve("heron", 3)
    assert len({document.metadata["run_id"] for document in found}) == len(found) == 3
    assert not await ThoughtRetriever(store).retrieve("heron", 0)


async def test_a_run_under_way_is_left_out(store: ThoughtStore) -> None:
    await keep(store, "otter", done=False)
    assert not await ThoughtRetriever(store).retrieve("otter", 5)


async def test_filters_are_passed_on(store: ThoughtStore) -> None:
    await keep(store, "a stoat")
    nothing = ThoughtRetriever(store, only=Filters(tags=("none-has-this",)))
    assert not await nothing.retrieve("stoat", 5)


async def test_a_long_task_is_cut_to_a_title(store: ThoughtStore) -> None:
    await keep(store, "a vole", prompt="vole " * 100)
    (document,) = await ThoughtRetriever(store).retrieve("vole", 5)
    assert len(document.title) == 80
    assert document.title.endswith("…")


async def test_a_store_that_fails_costs_a_run_its_documents_and_no_more() -> None:
    class Broken(MemoryStorage):
        async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
            raise StorageError("the index is gone", "make it again")

    retriever = ThoughtRetriever(Broken())
    with pytest.raises(SifakaError, match="past texts cannot be searched") as caught:
        await retriever.retrieve("x", 5)
    assert not isinstance(caught.value, StorageError)
    model = ScriptedModel(lines=["written"])
    chain = Chain(model=model, critics=[], retrievers=[retriever], max_iterations=1)
    result = await chain.run("write")
    assert result.text == "written"
    assert any("past texts cannot be searched" in line for line in result.degraded)


async def test_a_chain_reads_what_earlier_runs_wrote(store: ThoughtStore) -> None:
    earlier = Chain(model=ScriptedModel(lines=["Pandas eat bamboo."]), critics=[], store=store)
    await earlier.run("about pandas")
    model = ScriptedModel(lines=["More of pandas."])
    chain = Chain(model=model, critics=[], store=store, retrievers=[ThoughtRetriever(store)])
    await chain.run("pandas again")
    (document,) = model.seen[0].pre_generation_context
    assert document.text == "Pandas eat bamboo."


async def test_a_run_that_cannot_be_read_is_passed_over(store: ThoughtStore) -> None:
    class Damaged(PassingStore):
        async def load(self, run_id: str) -> Run:
            if run_id == damaged.run_id:
                raise StorageError("entry 2 cannot be read")
            return await super().load(run_id)

    damaged = await keep(store, "badger badger")
    other = await keep(store, "badger and fox")

    found = await ThoughtRetriever(Damaged(store)).retrieve("badger", 5)

    assert [document.id for document in found] == [other.thoughts[0].id]
