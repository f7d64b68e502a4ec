"""The record of a run: it is gone on with after whatever broke it off, and gone through again."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka import Budget, Chain, Document, Thought
from sifaka.chain import RunResult
from sifaka.errors import ConfigurationError, StorageError
from sifaka.models import Generation
from sifaka.models.prompt import PROMPTS_VERSION
from sifaka.record.entries import Called, Drafted, Entry, Started
from sifaka.record.run import Run
from sifaka.retrievers.mock import MockRetriever
from sifaka.storage import MemoryStorage, SQLiteStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka.testing import ScriptedCritic, ScriptedModel
from tests.sifaka.chain.dying_store import DyingStore
from tests.sifaka.chain.running import submit
from tests.stubs.stores import PassingStore
from tests.stubs.writer import ACCEPT, Writer

pytestmark = pytest.mark.anyio

SHORT = [{"type": "length", "max_words": 2}]
ONE_WORD = [{"type": "length", "max_words": 1}]
SHORTER = {"a b c d e f g": "a b c d e f", "a b c d e f": "a b c d e", "a b c d e": "a b c"}
TEXTS = ["first draft", "second draft", "third draft", "fourth draft"]


def shorter(thought: Thought) -> str:
    """What is written depends only on what is shown."""
    return SHORTER[thought.text]


def by_the_champion(store: ThoughtStore, model: Any = None) -> tuple[Chain, Any]:
    """A chain whose model is deterministic."""
    writer = model or ScriptedModel(lines=[shorter] * 9)
    rules = [{"type": "length", "max_words": 3}]
    critic = ScriptedCritic(objects_to=lambda text: len(text.split()) > 3)
    chain = Chain(model=writer, validators=rules, critics=[critic], store=store, max_iterations=3)
    return chain, writer


@pytest.mark.slow
async def test_a_run_killed_after_any_phase_goes_on_and_ends_the_same() -> None:
    whole = DyingStore(MemoryStorage(), 1000)
    undisturbed = await by_the_champion(whole)[0].run(text="a b c d e f g")
    assert undisturbed.text == "a b c"
    assert whole.seen > 10
    for survived in range(1, whole.seen):
        store = DyingStore(MemoryStorage(), survived, kept=True, error=ZeroDivisionError)
        chain, writer = by_the_champion(store)
        with pytest.raises(ZeroDivisionError):
            await chain.run(text="a b c d e f g")
        (summary,) = (await store.recent(limit=1)).runs
        chain, writer = by_the_champion(store.inner, writer)
        resumed = await chain.resume(summary.run_id)
        assert resumed.text == undisturbed.text
        assert resumed.stop_reason == "passed"
        texts = [t.text for t in resumed.run.thoughts]
        assert texts == [t.text for t in undisturbed.run.thoughts], survived
        assert len(writer.seen) == 3, "a version that is stored is not paid for again"


async def test_a_rival_that_is_still_at_work_is_reported() -> None:
    store = MemoryStorage()

    class Racing:
        name = "scripted"

        async def generate_with_thought(self, thought: Thought) -> Generation:
            run = await store.load(thought.run_id)
            entry = Drafted(thought=thought.next_iteration().with_text("theirs", history=()))
            await store.append(run.apply(entry), [entry], expected_version=run.version)
            return Generation(text="late")

    with pytest.raises(StorageError, match="being worked on elsewhere"):
        await by_the_champion(store, Racing())[0].run(text="a b c d e f g")


def journaled(writer: Writer, store: ThoughtStore, **settings: Any) -> Chain:
    defaults: dict[str, Any] = {
        "model": writer.model,
        "critics": ["self_refine"],
        "max_iterations": 2,
        "patience": None,
    }
    return Chain(**{**defaults, **settings}, store=store)


async def killed(store: MemoryStorage, number: int, at: type[Entry], **settings: Any) -> str:
    """The run that was worked on until the nth entry of a kind was to be stored."""
    dying = DyingStore(store, number, at=at, error=KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        await journaled(settings.pop("writer", Writer(*TEXTS)), dying, **settings).run(
            text="one two three"
        )
    (summary,) = (await store.recent(limit=1)).runs
    return summary.run_id


async def test_every_call_is_on_record_under_its_place(tmp_path: Path) -> None:
    store = SQLiteStorage(tmp_path / "runs.db")
    result = await journaled(Writer(*TEXTS), store).run(text="input")
    run = await store.load(result.run_id)
    assert [call.key for call in run.calls] == [
        "0/critics[0].self_refine#0",
        "1/write#0",
        "1/critics[0].self_refine#0",
        "2/write#0",
        "2/critics[0].self_refine#0",
    ]
    assert {call.model for call in run.calls} == {"function:stub"}
    assert run.usage.model_calls == 5
    await store.aclose()


@pytest.mark.parametrize("number", range(1, 6))
async def test_a_resume_asks_nothing_that_is_on_record(number: int) -> None:
    """The process dies right after the n-th answer came, before it was stored."""
    first, memory = Writer(*TEXTS), MemoryStorage()
    run_id = await killed(memory, number, Called, writer=first)
    assert len(first.asked) == number
    # The text that was lost with the process is written once more.
    rest = Writer(*TEXTS[(number - 1) // 2 :])
    result = await journaled(rest, memory).resume(run_id)
    undisturbed = await journaled(Writer(*TEXTS), MemoryStorage()).run(text="one two three")
    assert [t.text for t in result.run.thoughts] == [t.text for t in undisturbed.run.thoughts]
    assert result.stop_reason == undisturbed.stop_reason
    assert len(rest.asked) == 5 - (number - 1)
    assert len(result.run.calls) == 5


async def test_after_a_failure_the_question_is_asked_anew() -> None:
    one = Chain(model=Writer("", "a text").model, critics=[], validators=SHORT)
    failed = await one.run(text="one two three")
    assert (failed.status, failed.run.error_code) == ("failed", "empty")
    result = await one.resume(failed.run_id)
    assert (result.status, result.text) == ("done", "a text")
    assert [call.key for call in result.run.calls] == ["1/write#0", "1~1/write#0"]


async def test_a_changed_question_is_never_answered_from_the_record() -> None:
    memory = MemoryStorage()
    run = await memory.load(await killed(memory, 2, Drafted))
    # As if a later release asked in other words: the digest on record fits no question any more.
    write = run.calls[-1].model_copy(update={"request": "0" * 64})
    await memory.append(run.apply(write), [write], expected_version=run.version)
    result = await journaled(Writer("asked again"), memory).resume(run.run_id)
    assert result.run.thoughts[1].text == "asked again"


async def test_an_agents_tool_loop_is_taken_from_the_record_as_well() -> None:
    asked: list[int] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked.append(len(messages))
        if len(messages) == 1:
            return ModelResponse([ToolCallPart("look_up", {"word": "refund"})])
        return ModelResponse([TextPart("one two")])

    agent = Agent(FunctionModel(answer))

    @agent.tool_plain
    def look_up(word: str) -> str:  # pyright: ignore[reportUnusedFunction]
        return f"{word}: money back"

    memory = MemoryStorage()
    settings: dict[str, Any] = {"model": agent, "critics": [], "validators": SHORT}
    run_id = await killed(memory, 2, Drafted, **settings)
    result = await journaled(Writer(), memory, **settings).resume(run_id)
    assert (result.text, result.status) == ("one two", "done")
    assert asked == [1, 3], "the calls of the first try, none of the second"
    assert result.thought.tool_calls[0].result == "refund: money back"


async def test_another_configuration_is_refused_or_begins_a_branch() -> None:
    memory = MemoryStorage()
    first = await journaled(Writer(*TEXTS), memory).run(text="input")
    other = journaled(Writer("better"), memory, max_iterations=1)
    with pytest.raises(ConfigurationError, match="another configuration"):
        await other.resume(first.run_id)
    branched = await other.branch(first.run_id)
    assert branched.run.branch_of == first.run_id
    assert branched.run_id != first.run_id
    assert branched.run.thoughts[0].text == first.text
    assert (await memory.load(first.run_id)).version == first.run.version


class Flaky(PassingStore):
    """A store whose appends with these numbers fail, some of them after they were kept."""

    def __init__(self, failing: set[int] | None = None, *, kept: bool = False) -> None:
        super().__init__(MemoryStorage())
        self._failing = failing or set[int]()
        self._kept = kept
        self._appends = 0

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        self._appends += 1
        fails = self._appends in self._failing
        if not fails or self._kept:
            await super().append(run, entries, expected_version=expected_version, fence=fence)
        if fails:
            raise StorageError("the disk is full")


def shortening(store: ThoughtStore, **settings: Any) -> Chain:
    model = ScriptedModel(lines=["a b c", "a b", "a"])
    given: dict[str, Any] = {"critics": [], "max_iterations": 3, **settings}
    return Chain(model=model, validators=ONE_WORD, store=store, **given)


@pytest.mark.parametrize("kept", [False, True], ids=["lost", "kept although it failed"])
@pytest.mark.parametrize("failing", [{2}, {3, 4}, {2, 4, 6}, {5, 6, 7}])
async def test_the_run_goes_on_and_the_store_has_everything_in_the_end(
    failing: set[int], kept: bool, caplog: pytest.LogCaptureFixture
) -> None:
    store = Flaky(failing, kept=kept)
    with caplog.at_level(logging.WARNING):
        result = await shortening(store).run(text="a b c d")
    assert (result.text, result.status, result.warnings) == ("a", "done", ())
    stored = await store.load(result.run_id)
    assert stored.version == result.run.version
    assert [t.text for t in stored.thoughts] == [t.text for t in result.run.thoughts]
    assert stored.usage == result.run.usage
    assert "storage failed: the disk is full" in caplog.text
    assert "the store works again, nothing was lost" in caplog.text


async def test_a_store_that_stays_down_is_told_of_in_the_result() -> None:
    store = Flaky(set(range(3, 100)))
    result = await shortening(store).run(text="a b c d")
    assert (result.text, result.status) == ("a", "done")
    (warning,) = result.warnings
    assert "only in memory and will be lost with this process: the disk is full" in warning
    assert warning in result.degraded
    assert (await store.load(result.run_id)).version < result.run.version


async def test_a_run_that_the_store_never_held_does_not_begin() -> None:
    writer = Writer("a")
    with pytest.raises(StorageError, match="the disk is full"):
        await journaled(writer, Flaky({1})).run(text="a b")
    assert writer.asked == []


async def test_answers_that_come_at_the_same_time_are_stored_together() -> None:
    class Slow(Flaky):
        async def append(
            self,
            run: Run,
            entries: Sequence[Entry],
            *,
            expected_version: int,
            fence: int | None = None,
        ) -> None:
            sizes.append(len(entries))
            for _ in range(20):  # everything else may run while it stores
                await anyio.lowlevel.checkpoint()
            await super().append(run, entries, expected_version=expected_version, fence=fence)

    sizes: list[int] = []
    critics = [{"type": "prompt", "rubric": f"rubric {n}"} for n in range(8)]
    accepts = Writer(form=ACCEPT).model
    result = await Chain(
        model=ScriptedModel(lines=[]), critics=critics, judge_model=accepts, store=(store := Slow())
    ).run(text="a b")
    assert result.stop_reason == "passed"
    stored = await store.load(result.run_id)
    assert len(stored.calls) == 8
    assert sum(sizes) == stored.version
    assert len(sizes) < 8, "not one append for each answer"


STUB = "openai-chat:stub"
CALLS = 14
WORDS = [f"word{n}" for n in range(1, 13)]


def meant(monkeypatch: pytest.MonkeyPatch, model: FunctionModel) -> None:
    """Let `openai-chat:stub` mean this model, until the patch is undone."""

    def infer(name: Any) -> Any:
        return model if name == STUB else name

    monkeypatch.setattr("pydantic_ai.models.infer_model", infer)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Writer:
    """Writes ever shorter texts and asks for revisions."""
    texts = [" ".join(WORDS[:count]) for count in range(11, 0, -1)]
    form = {"better": "first", "reflection": "a lesson", "verdict": "revise"}
    stub = Writer(*texts, form=form)
    meant(monkeypatch, stub.model)
    return stub


async def test_a_replay_ends_at_the_budget_where_the_run_did(provider: Writer) -> None:
    chain = Chain(model=STUB, critics=["self_refine"], budget=Budget(max_calls=3), patience=None)
    result = await chain.run(text="input")
    assert result.stop_reason == "budget_calls"
    assert (await chain.replay(result.run_id)).exact


async def test_a_journal_with_another_answer_is_noticed(provider: Writer) -> None:
    store = MemoryStorage()
    chain = Chain(model=STUB, critics=["self_refine"], max_iterations=1, store=store)
    result = await chain.run(text="input")
    run = await store.load(result.run_id)
    write = next(call for call in run.calls if call.key == "1/write#0")
    assert "word1 word2" in write.response
    response = write.response.replace("word1 word2", "word2 word1")
    forged = write.model_copy(update={"response": response})
    await store.append(run.apply(forged), [forged], expected_version=run.version)
    # An entry after the end opens the run again; the same end is put back.
    reopened = await store.load(result.run_id)
    await chain.cancel(reopened.run_id)
    replay = await chain.replay(result.run_id)
    assert "version 1 has another text" in replay.differences


async def test_versions_of_callers_agents_and_own_models_are_taken_from_the_record() -> None:
    agent = Agent(Writer("one two").model)
    rules = [{"type": "length", "max_words": 2}]
    for model in (agent, ScriptedModel(lines=["one two three", "one two"])):
        chain = Chain(model=model, validators=rules, critics=[])
        result = await chain.run(text="one two three four")
        assert result.rules_met
        assert (await chain.replay(result.run_id)).exact
    chain = Chain(validators=rules, effort="quick")
    waiting = await chain.run("shorten", text="one two three four")
    with pytest.raises(ConfigurationError, match="only a finished run"):
        await chain.replay(waiting.run_id)
    done = await submit(chain, waiting, "one two")
    assert done.status == "done"
    assert (await chain.replay(done.run_id)).exact


async def test_opinions_and_documents_are_taken_from_the_record() -> None:
    heard: list[str] = []

    def objects(text: str) -> bool:
        heard.append(text)
        return text != "b"

    chain = Chain(
        model=ScriptedModel(lines=["b"]),
        critics=[ScriptedCritic(objects_to=objects)],
        retrievers=[MockRetriever(documents=(Document(text="fact"),))],
    )
    result = await chain.run(text="a")
    replay = await chain.replay(result.run_id)
    assert replay.exact
    assert heard == ["a", "b"]
    assert replay.run.thoughts[1].post_generation_context[0].text == "fact"


async def test_a_run_that_failed_and_was_resumed_is_replayed_as_it_went_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    meant(monkeypatch, Writer("", "a much longer text", "", "short").model)
    rules = [{"type": "length", "max_words": 1}]
    chain = Chain(model=STUB, critics=[], validators=rules, patience=None)
    result = await chain.run(text="a text")
    for _ in range(2):
        assert result.status == "failed"
        result = await chain.resume(result.run_id)
    assert (result.status, result.text) == ("done", "short")
    monkeypatch.undo()
    assert (await chain.replay(result.run_id)).differences == ()


def chain(store: MemoryStorage, **options: Any) -> Chain:
    given: dict[str, Any] = {"critics": ["self_refine", "reflexion"], **options}
    return Chain(model=STUB, budget=Budget(max_calls=CALLS), patience=None, store=store, **given)


async def finished(store: MemoryStorage, **options: Any) -> tuple[RunResult, list[Entry]]:
    """A finished run, and its entries as if its questions had had other words."""
    entries: list[Entry] = []
    result = await chain(store, **options).run("task", text="input")
    async for entry, run in store.follow(result.run_id):
        match entry:
            case Started():
                entries.append(entry.model_copy(update={"prompts": 1}))
            case Called():
                entries.append(entry.model_copy(update={"request": "0" * 64}))
            case _:
                entries.append(entry)
        if run.version == result.run.version:
            return result, entries
    raise AssertionError("the run ends")


async def stored(entries: list[Entry]) -> MemoryStorage:
    store = MemoryStorage()
    await store.append(Run.replay(entries), entries, expected_version=0)
    return store


@pytest.mark.parametrize("policy", ["best", "judged", "best_of_n", "last"])
async def test_a_replay_takes_the_answers_by_their_places_and_asks_nobody(
    policy: Any, provider: Writer
) -> None:
    store = MemoryStorage()
    result, entries = await finished(store, policy=policy)
    asked = len(provider.asked)
    assert asked >= 3
    own = await chain(store, policy=policy).replay(result.run_id)
    replay = await chain(await stored(entries), policy=policy).replay(result.run_id)
    assert own.exact
    assert replay.exact
    assert replay.run.usage.model_calls == own.run.usage.model_calls
    assert (own.run.prompts, replay.run.prompts) == (PROMPTS_VERSION, 1)
    assert len(provider.asked) == asked


async def test_a_replay_of_todays_prompts_takes_only_answers_to_the_same_questions(
    provider: Writer,
) -> None:
    result, entries = await finished(MemoryStorage())
    entries[0] = entries[0].model_copy(update={"prompts": PROMPTS_VERSION})
    assert not (await chain(await stored(entries)).replay(result.run_id)).exact


async def test_an_unfinished_run_asks_again_and_keeps_to_its_budget(provider: Writer) -> None:
    result, entries = await finished(MemoryStorage())
    assert result.usage.model_calls >= 9
    for cut in range(2, len(entries)):
        store = await stored(entries[:cut])
        paid = (await store.load(result.run_id)).usage.model_calls
        before = len(provider.asked)
        again = await chain(store).resume(result.run_id)
        assert again.status == "done", again.run.error
        assert again.usage.model_calls == paid + len(provider.asked) - before, cut
        assert again.usage.model_calls <= CALLS
        assert again.text
