"""A store that fails in the middle of a run: memory takes over, and nothing is lost."""

import logging
from collections.abc import Sequence

import anyio
import anyio.lowlevel
import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka import Chain
from sifaka.errors import StorageError
from sifaka.record.entries import Called, Entry
from sifaka.record.run import Run
from sifaka.storage import MemoryStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka.testing import ScriptedModel
from tests.stubs.stores import PassingStore

pytestmark = pytest.mark.anyio

RULES = [{"type": "length", "max_words": 1}]


class Flaky(PassingStore):
    """A store whose appends with these numbers fail, some of them after they were kept."""

    def __init__(self, failing: set[int], *, kept: bool = False) -> None:
        super().__init__(MemoryStorage())
        self._failing = failing
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


def chain(store: ThoughtStore) -> Chain:
    model = ScriptedModel(lines=["a b c", "a b", "a"])
    return Chain(model=model, validators=RULES, critics=[], store=store, max_iterations=3)


@pytest.mark.parametrize("kept", [False, True], ids=["lost", "kept although it failed"])
@pytest.mark.parametrize("failing", [{2}, {3, 4}, {2, 4, 6}, {5, 6, 7}])
async def test_the_run_goes_on_and_the_store_has_everything_in_the_end(
    failing: set[int], kept: bool, caplog: pytest.LogCaptureFixture
) -> None:
    store = Flaky(failing, kept=kept)
    with caplog.at_level(logging.WARNING):
        result = await chain(store).run(text="a b c d")
    assert (result.text, result.status, result.warnings) == ("a", "done", ())
    stored = await store.load(result.run_id)
    assert stored.version == result.run.version
    assert [t.text for t in stored.thoughts] == [t.text for t in result.run.thoughts]
    assert stored.usage == result.run.usage
    assert "storage failed: the disk is full" in caplog.text
    assert "the store works again, nothing was lost" in caplog.text


async def test_a_store_that_stays_down_is_told_of_in_the_result() -> None:
    store = Flaky(set(range(3, 100)))
    result = await chain(store).run(text="a b c d")
    assert (result.text, result.status) == ("a", "done")
    (warning,) = result.warnings
    assert "only in memory and will be lost with this process: the disk is full" in warning
    assert warning in result.degraded
    assert (await store.load(result.run_id)).version < result.run.version


async def test_a_run_that_the_store_never_held_does_not_begin() -> None:
    model = ScriptedModel(lines=["a"])
    with pytest.raises(StorageError, match="the disk is full"):
        await Chain(model=model, validators=RULES, critics=[], store=Flaky({1})).run(text="a b")
    assert model.seen == []


class Slow(Flaky):
    """A store that lets everything else run while it stores."""

    def __init__(self) -> None:
        super().__init__(set())
        self.sizes: list[int] = []

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        self.sizes.append(len(entries))
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        await super().append(run, entries, expected_version=expected_version, fence=fence)


def ask(verdict: str) -> FunctionModel:
    # Not in a thread: answers come together, on a busy machine as well.
    async def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse([ToolCallPart(info.output_tools[0].name, {"verdict": verdict})])

    return FunctionModel(answer)


async def test_answers_that_come_at_the_same_time_are_stored_together() -> None:
    store = Slow()
    critics = [{"type": "prompt", "rubric": f"rubric {n}"} for n in range(8)]
    result = await Chain(
        model=ScriptedModel(lines=[]), critics=critics, judge_model=ask("accept"), store=store
    ).run(text="a b")
    assert result.stop_reason == "passed"
    stored = await store.load(result.run_id)
    assert len(stored.calls) == 8
    assert sum(store.sizes) == stored.version
    assert len(store.sizes) < 8, "not one append for each answer"


async def test_a_critic_whose_time_ends_while_its_answer_is_stored_leaves_no_mess() -> None:
    class Stuck(Flaky):
        async def append(
            self,
            run: Run,
            entries: Sequence[Entry],
            *,
            expected_version: int,
            fence: int | None = None,
        ) -> None:
            await super().append(run, entries, expected_version=expected_version, fence=fence)
            if isinstance(entries[0], Called):
                with anyio.move_on_after(0.6):  # longer than the critic may take
                    await anyio.sleep_forever()

    store = Stuck(set())
    result = await Chain(
        model=ScriptedModel(lines=["a"]),
        validators=RULES,
        critics=["self_refine", "lint"],
        judge_model=ask("accept"),
        critic_deadline=0.3,
        store=store,
    ).run(text="a b")
    assert (result.status, result.text) == ("done", "a")
    stored = await store.load(result.run_id)
    assert stored.version == result.run.version
    assert stored.calls, "the answer came in time, only its storing did not"
