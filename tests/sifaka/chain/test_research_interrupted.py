"""Research that is broken off: by a kill, a cancellation, a failure, a store, a silent host."""

from contextlib import aclosing
from pathlib import Path

import anyio
import pytest

from sifaka import Chain, ChainEvent, Thought
from sifaka.calls.host import HostQuestion, Suspended
from sifaka.chain import CancelEntry, is_interrupted
from sifaka.chain.cancellation import cancellation, interruption
from sifaka.errors import ModelProviderError
from sifaka.record.entries import Recovered
from sifaka.research.protocol import Desk
from sifaka.storage import MemoryStorage, SQLiteStorage
from sifaka.testing import ScriptedModel
from tests.sifaka.chain.dying_store import DyingStore
from tests.sifaka.chain.scripted_researcher import (
    QUESTION,
    TITLES,
    ScriptedResearcher,
    Silent,
    endings,
    finds,
    followed,
    researching,
)
from tests.stubs.stores import Switch, UnreachableStore

pytestmark = pytest.mark.anyio


def writing(**settings: object) -> dict[str, object]:
    return {"model": ScriptedModel(lines=[]), **settings}


async def test_research_killed_after_any_append_is_resumed_and_repeats_no_recorded_search() -> None:
    whole = DyingStore(MemoryStorage(), 1000)
    undisturbed = await researching(ScriptedResearcher(), store=whole, **writing()).run(QUESTION)
    assert undisturbed.status == "done"
    assert whole.seen > 2 * len(TITLES)
    for survived in range(1, whole.seen):
        store = DyingStore(MemoryStorage(), survived, kept=True, error=ZeroDivisionError)
        with pytest.raises(ZeroDivisionError):
            await researching(ScriptedResearcher(), store=store, **writing()).run(QUESTION)
        (summary,) = (await store.recent(limit=1)).runs
        killed = await store.load(summary.run_id)
        again = ScriptedResearcher()
        resumed = await researching(again, store=store.inner, **writing()).resume(summary.run_id)
        assert (resumed.status, resumed.text) == ("done", undisturbed.text), survived
        assert len(again.made) == 2 * len(TITLES) - len(killed.calls), survived
        keys = [call.key for call in resumed.run.calls]
        assert len(keys) == len(set(keys)) == 2 * len(TITLES)
        assert [t.id for t in resumed.run.thoughts] == [f"{resumed.run_id}.0"]


@pytest.mark.parametrize(
    ("parting", "status", "terminal"),
    [(cancellation, "cancelled", ["cancelled"]), (interruption, "cancelled", [])],
)
async def test_cancelling_in_the_middle_stops_the_work_and_keeps_what_it_found(
    tmp_path: Path, parting: CancelEntry, status: str, terminal: list[str]
) -> None:
    store, researcher = SQLiteStorage(tmp_path / "runs.db"), Silent()
    chain = researching(researcher, store=store, **writing())
    started = await chain.start(QUESTION)

    async def work() -> None:
        await chain.resume(started.run_id, parting=parting)

    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(work)
            await researcher.waiting.wait()
            await anyio.wait_all_tasks_blocked()
            group.cancel_scope.cancel()
    assert researcher.left.is_set(), "nothing of it goes on"
    stopped = await store.load(started.run_id)
    assert (stopped.status, stopped.thoughts) == (status, ())
    assert is_interrupted(stopped) == (parting is interruption)
    assert endings(await followed(chain, started.run_id)) == terminal

    other = ScriptedResearcher()
    done = await researching(other, store=store, **writing()).resume(started.run_id)
    assert (done.status, done.rules_met) == ("done", True)
    assert other.made == [(0, 2)], "every other search was on record"
    await store.aclose()


async def test_whoever_researches_a_run_that_somebody_else_has_cancelled_stops() -> None:
    store = MemoryStorage()

    async def cancels(section: int, number: int) -> str:
        if (section, number) == (2, 1):
            (summary,) = (await store.recent(limit=1)).runs
            await Chain(store=store).cancel(summary.run_id)
        return await finds(section, number)

    chain = researching(ScriptedResearcher(cancels), store=store, **writing())
    async with aclosing(chain.stream(QUESTION)) as events:
        heard = [event async for event in events]
    assert endings(heard) == ["cancelled"] == [heard[-1].research], "whoever listened is told too"
    run = await store.load(heard[-1].run_id)
    assert (run.status, run.thoughts) == ("cancelled", ())
    assert endings(await followed(chain, run.run_id)) == ["cancelled"]


async def test_memory_takes_over_when_the_store_fails_in_the_middle_of_research() -> None:
    switch = Switch()
    store = UnreachableStore(MemoryStorage(), switch)

    async def loses_the_store(section: int, number: int) -> str:
        switch.down = (section, number) >= (1, 1) and section < 3
        return await finds(section, number)

    chain = researching(
        ScriptedResearcher(loses_the_store, titles=TITLES[:3]), store=store, **writing()
    )
    result = await chain.run(QUESTION)
    assert (result.status, result.rules_met) == ("done", True)
    assert "only in memory" in " ".join(result.warnings)
    assert len(result.run.calls) == 6


async def test_research_that_waits_for_the_host_is_gone_on_with_when_it_has_answered() -> None:
    answers: dict[str, str] = {}

    async def asks(section: int, number: int) -> str:
        question = HostQuestion(instructions="", prompt=f"{section}", max_tokens=9)
        if (section, number) in {(1, 2), (3, 1)} and f"{section}" not in answers:
            raise Suspended({f"{section}": question})
        return await finds(section, number)

    store, researcher = MemoryStorage(), ScriptedResearcher(asks)
    chain = researching(researcher, store=store, **writing())
    with pytest.raises(Suspended) as waiting:
        await chain.run(QUESTION)
    assert set(waiting.value.questions) == {"1", "3"}, "what is asked at once is asked together"
    (summary,) = (await store.recent(limit=1)).runs
    assert summary.status == "running"
    answers.update({"1": "so", "3": "so"})
    researcher.made.clear()
    done = await chain.resume(summary.run_id)
    assert (done.status, done.rules_met) == ("done", True)
    assert sorted(researcher.made) == [(1, 2), (3, 1), (3, 2)]


async def test_after_a_providers_failure_research_goes_on_and_only_its_end_is_terminal() -> None:
    failed: list[int] = []

    class Flaky(ScriptedResearcher):
        async def research(self, desk: Desk) -> Thought:
            report = await super().research(desk)
            if len(failed) < 2:
                failed.append(1)
                raise ModelProviderError("it is busy", code="malformed")
            return report

    heard: list[ChainEvent] = []

    async def listen(event: ChainEvent) -> None:
        heard.append(event)

    researcher = Flaky()
    chain = researching(researcher, **writing())
    result = await chain.run_with_recovery(QUESTION, listen=listen)
    assert (result.status, result.rules_met) == ("done", True)
    recoveries = [e.entry for e in heard if isinstance(e.entry, Recovered)]
    assert [each.error.partition(":")[0] for each in recoveries] == [
        "malformed in phase research"
    ] * 2
    assert endings(heard) == ["complete"] == [heard[-1].research]
    assert len(researcher.made) == 2 * len(TITLES), "finished sections are taken from the record"


async def test_after_a_failure_a_resume_asks_anew_what_no_finished_section_holds() -> None:
    class Once(ScriptedResearcher):
        async def research(self, desk: Desk) -> Thought:
            if desk.run.failures:
                return await super().research(desk)
            await self._found(0, 1)
            raise ModelProviderError("it broke", code="rejected")

    researcher = Once()
    chain = researching(researcher, **writing())
    failed = await chain.run(QUESTION)
    assert failed.status == "failed"
    done = await chain.resume(failed.run_id)
    assert done.status == "done"
    assert researcher.made.count((0, 1)) == 2
    assert {call.key.partition("/")[0] for call in done.run.calls} == {"research#0", "research~1"}
