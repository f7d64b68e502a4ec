"""Runs whose first version is researched: like any other in what comes after, and broken off."""

from contextlib import aclosing
from pathlib import Path

import anyio
import pytest

from sifaka import Budget, Chain, ChainEvent, Document, Thought
from sifaka.calls.host import Unreachable
from sifaka.chain import CancelEntry, is_interrupted
from sifaka.chain.cancellation import cancellation, interruption
from sifaka.errors import BudgetExceeded, ConfigurationError, ModelProviderError
from sifaka.evidence.sources.collection import Adapters
from sifaka.evidence.sources.in_process import InProcessAdapter
from sifaka.record.entries import ChainConfig, Recovered, Researched, Stopped
from sifaka.record.research_question import Inquiry
from sifaka.research.protocol import Desk
from sifaka.storage import MemoryStorage, SQLiteStorage
from sifaka.testing import ScriptedModel
from tests.sifaka.chain.dying_store import DyingStore
from tests.sifaka.chain.scripted_researcher import (
    QUESTION,
    SOURCE,
    TITLES,
    ScriptedResearcher,
    Silent,
    endings,
    finds,
    followed,
    researching,
)

pytestmark = pytest.mark.anyio


async def told(chain: Chain, question: str = QUESTION) -> list[ChainEvent]:
    return [event async for event in chain.stream(question)]


async def gas_fails(section: int, number: int) -> str:
    if TITLES[section] == "Gas":
        raise LookupError("no source answers")
    return await finds(section, number)


async def test_the_first_version_is_researched_and_then_checked_like_any_other() -> None:
    researcher = ScriptedResearcher()
    events = await told(researching(researcher, model=ScriptedModel(lines=[])))
    run = events[-1].run
    assert run is not None
    assert (run.status, run.stop_reason, len(run.thoughts)) == ("done", "rules_met", 1)
    assert (run.passed, run.judged_by) == (False, "nobody")
    assert run.original is not None
    assert (run.original.id, run.original.author) == (f"{run.run_id}.0", "research")
    assert run.original.validation_results["report"].passed
    assert len(researcher.made) == 2 * len(TITLES)
    phases = dict.fromkeys(event.phase for event in events)
    assert list(phases) == ["research", "generate", "validate", "select", "stop"]


async def test_each_step_of_research_is_told_with_one_end_and_the_durable_ones_are_on_record() -> (
    None
):
    chain = researching(ScriptedResearcher(), model=ScriptedModel(lines=[]))
    events = await told(chain)
    run = events[-1].run
    assert run is not None
    assert [entry.step for entry in run.research] == ["started", *["section_finished"] * 4]
    searching = {event.section for event in events if event.research == "searching"}
    finished = {event.section for event in events if event.research == "section_finished"}
    assert searching == finished == set(range(4))
    durable = [e for e in events if isinstance(e.entry, Researched)]
    assert [event.entry for event in durable] == list(run.research)
    assert endings(events) == ["complete"] == [events[-1].research]
    again = await followed(chain, events[-1].run_id)
    assert endings(again) == ["complete"] == [again[-1].research]


@pytest.mark.parametrize("model", ["auto", "caller"])
async def test_the_editor_does_not_touch_what_sources_say(model: str) -> None:
    async def misspells(section: int, number: int) -> str:
        return f"They recieve the the oil in {section}{number}"

    waiting = await researching(ScriptedResearcher(misspells, written=False), model=model).run(
        QUESTION
    )
    assert (waiting.status, len(waiting.run.thoughts)) == ("needs_revision", 1)
    assert "They recieve the the oil in 12" in waiting.text


async def test_every_refined_version_keeps_what_the_research_has_found() -> None:
    def writes(thought: Thought) -> str:
        assert thought.pre_generation_context == (SOURCE,)
        return thought.text.replace("_To be written._", "So it is [1].")

    researcher = ScriptedResearcher(gas_fails, written=False)
    result = await researching(researcher, model=ScriptedModel(lines=[writes])).run(QUESTION)
    assert (result.status, result.passed, result.run.iterations) == ("done", False, 1)
    assert result.research["outline"] == TITLES
    assert result.thought.metadata["research"] == result.run.thoughts[0].metadata["research"]
    assert result.degraded == ("section 'Gas' failed",), "told of the refined version too"


async def test_a_budget_that_leaves_nothing_to_write_from_is_no_complete_report() -> None:
    class Spent(ScriptedResearcher):
        async def research(self, desk: Desk) -> Thought:
            raise BudgetExceeded("calls")

    events = await told(researching(Spent(), model=ScriptedModel(lines=[])))
    assert events[-1].run is not None
    assert (events[-1].run.status, events[-1].run.stop_reason) == ("done", "budget_calls")
    assert endings(events) == ["partial"]


async def test_an_inquiry_is_part_of_the_configuration_on_record_and_its_researcher_is_not() -> (
    None
):
    inquiry = Inquiry(mode="iterative", adapters=("wiki",), section_budget=Budget(max_calls=3))
    config = researching(ScriptedResearcher(), inquiry=inquiry).config
    assert config.inquiry == inquiry
    assert ChainConfig.model_validate_json(config.model_dump_json()) == config
    assert Chain.of_config(config).config == config
    assert Chain(inquiry=inquiry, critics=[]).with_prompt("x").config.inquiry == inquiry


def test_a_researcher_needs_to_be_told_how_to_research() -> None:
    with pytest.raises(ConfigurationError, match="inquiry=Inquiry"):
        researching(ScriptedResearcher(), inquiry=None)


async def test_how_a_run_ends_is_not_for_its_researcher_to_say() -> None:
    class Hasty(ScriptedResearcher):
        async def research(self, desk: Desk) -> Thought:
            await desk.tell("complete", "done already")
            return await super().research(desk)

    chain = researching(Hasty())
    with pytest.raises(ValueError, match="not for the researcher"):
        await chain.run(QUESTION)
    (summary,) = (await chain.store.recent(limit=2)).runs
    assert summary.status == "failed"


async def test_whatever_a_researcher_returns_is_the_first_version_of_its_run() -> None:
    class Foreign(ScriptedResearcher):
        async def research(self, desk: Desk) -> Thought:
            report = await super().research(desk)
            return Thought(
                text=report.text,
                iteration=4,
                pre_generation_context=(Document(text="x", title="Lamps", url=SOURCE.url),),
            )

    result = await researching(Foreign(), model=ScriptedModel(lines=[])).run(QUESTION)
    assert result.thought.id == f"{result.run_id}.0"
    assert (result.thought.prompt, result.status) == (QUESTION, "done")


class Never(ScriptedResearcher):
    """One that must not be asked."""

    async def research(self, desk: Desk) -> Thought:
        raise AssertionError("there is nothing to research")


def writes(thought: Thought) -> str:
    return thought.text.replace("_To be written._", "So it is [1].")


async def test_a_replay_takes_the_report_as_it_is_on_record_and_researches_nothing() -> None:
    store = MemoryStorage()
    model = ScriptedModel(lines=["nothing", writes])
    chain = researching(ScriptedResearcher(written=False), model=model, store=store)
    done = await chain.run(QUESTION)
    assert (done.stop_reason, len(done.run.thoughts)) == ("rules_met", 3)

    again = await researching(Never(), model=ScriptedModel(lines=[]), store=store).replay(
        done.run_id
    )
    assert again.differences == ()
    assert [t.text for t in again.run.thoughts] == [t.text for t in done.run.thoughts]
    assert again.run.thoughts[0].pre_generation_context == (SOURCE,)


async def test_a_run_that_ended_while_it_researched_has_nothing_to_replay() -> None:
    chain = researching(Never())
    started = (await chain.start(QUESTION)).run
    cancelled = Stopped(status="cancelled", stop_reason="cancelled")
    await chain.store.append(
        started.apply(cancelled), [cancelled], expected_version=started.version
    )
    assert (await chain.replay(started.run_id)).exact


async def test_a_branch_goes_on_from_the_report_and_what_it_was_written_from() -> None:
    store = MemoryStorage()
    first = await researching(ScriptedResearcher(), store=store, model=ScriptedModel(lines=[])).run(
        QUESTION
    )
    other = researching(
        Never(),
        store=store,
        model=ScriptedModel(lines=[lambda t: t.text.replace("Oil has", "Oil had")]),
        validators=[{"type": "report"}, {"type": "content", "required": ["Oil had"]}],
        inquiry=Inquiry(mode="iterative"),
    )
    branch = await other.branch(first.run_id)
    assert (branch.status, branch.run.branch_of) == ("done", first.run_id)
    assert branch.rules_met, "the outline and the references hold for the branch too"
    assert branch.thought.pre_generation_context == (SOURCE,)
    assert branch.research["outline"] == TITLES


LAMPS = Document(
    text="Oil lamps burned on the coast from 1811. Gas lamps took their place in 1884.",
    title="Lamps of the coast",
    url="https://wiki.test/Lamps",
)


@pytest.mark.parametrize("mode", ["iterative", "deep"])
async def test_where_the_model_fails_that_the_caller_stands_in_for_there_is_a_dossier(
    mode: str,
) -> None:
    chained = Chain(
        model="host",
        host=Unreachable("the client has gone"),
        fallback_models=("caller",),
        adapters=Adapters([InProcessAdapter([LAMPS])]),
        inquiry=Inquiry.model_validate({"mode": mode}),
        validators=[{"type": "report"}],
    )
    question = "How did the oil lamps of the coast become gas lamps?"
    waiting = await chained.run(question)
    assert (waiting.status, waiting.run.handed_over) == ("needs_revision", True)
    assert any("researched without a model" in line for line in waiting.degraded)
    assert "Gas lamps took their place in 1884" in waiting.text
    failed = await chained.replace(fallback_models=()).run(question)
    assert (failed.status, failed.text) == ("failed", "")


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


@pytest.mark.slow
async def test_after_a_providers_failure_research_goes_on_and_only_its_end_is_terminal() -> None:
    failed: list[int] = []

    class Flaky(ScriptedResearcher):
        async def research(self, desk: Desk) -> Thought:
            report = await super().research(desk)
            if len(failed) < 2:
                failed.append(1)
                raise ModelProviderError("it is busy", error_code="malformed")
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
