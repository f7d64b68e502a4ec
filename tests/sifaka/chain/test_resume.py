from collections.abc import Sequence

import pytest

from sifaka import Chain, Thought
from sifaka.errors import ConfigurationError, StorageError
from sifaka.models import Generation
from sifaka.record.entries import Drafted, Entry
from sifaka.record.run import Run
from sifaka.storage import MemoryStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka.testing import ScriptedCritic, ScriptedModel
from tests.stubs.stores import PassingStore

pytestmark = pytest.mark.anyio

RULES = [{"type": "length", "max_words": 3}]
LINES = ["a b c d e f", "a b c d e", "a b c"]


class Dies(Exception):
    """Stands for a process that is killed: nothing after it runs."""


class DyingStorage(PassingStore):
    """A store whose process dies right after the nth append."""

    def __init__(self, survives: int) -> None:
        self.kept = MemoryStorage()
        super().__init__(self.kept)
        self.survives = survives
        self.appends = 0

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        await super().append(run, entries, expected_version=expected_version, fence=fence)
        self.appends += 1
        if self.appends == self.survives:
            raise Dies


def by_the_champion(thought: Thought) -> str:
    """A deterministic model: what it writes depends only on what it is shown."""
    return LINES[LINES.index(thought.text) + 1] if thought.text in LINES else LINES[0]


def chain(store: ThoughtStore, model: ScriptedModel) -> Chain:
    critic = ScriptedCritic(objects_to=lambda text: len(text.split()) > 3)
    return Chain(model=model, validators=RULES, critics=[critic], store=store, max_iterations=3)


def model() -> ScriptedModel:
    return ScriptedModel(lines=[by_the_champion] * 9)


@pytest.mark.slow
async def test_a_run_killed_after_any_phase_goes_on_and_ends_the_same() -> None:
    whole = DyingStorage(survives=1000)
    undisturbed = await chain(whole, model()).run(text="a b c d e f g")
    assert undisturbed.text == "a b c"
    assert whole.appends > 10
    for survived in range(1, whole.appends):
        store = DyingStorage(survived)
        writer = model()
        with pytest.raises(Dies):
            await chain(store, writer).run(text="a b c d e f g")
        (summary,) = (await store.recent(limit=1)).runs
        resumed = await chain(store, writer).resume(summary.run_id)
        assert resumed.text == undisturbed.text
        assert resumed.stop_reason == "passed"
        assert [t.text for t in resumed.run.thoughts] == [
            t.text for t in undisturbed.run.thoughts
        ], survived
        assert len(writer.seen) == 3, "a version that is stored is not paid for again"


async def test_a_finished_run_stays_as_it_is() -> None:
    store = MemoryStorage()
    done = await chain(store, model()).run(text="a b c d e f g")
    again = await chain(store, ScriptedModel(lines=[])).resume(done.run_id)
    assert again.run == done.run


async def test_a_failed_run_can_be_resumed() -> None:
    store = MemoryStorage()
    failed = await chain(store, ScriptedModel(lines=["a b c d e f"])).run(text="a b c d e f g")
    assert failed.status == "failed"
    done = await chain(store, model()).resume(failed.run_id)
    assert (done.status, done.text) == ("done", "a b c")


async def test_another_configuration_is_noticed_and_refused() -> None:
    store = MemoryStorage()
    run = (await chain(store, model()).start(text="a b c d e f g")).run
    other = Chain(model=model(), validators=[{"type": "length", "max_words": 4}], store=store)
    with pytest.raises(ConfigurationError, match="another configuration"):
        await other.resume(run.run_id)


async def test_a_run_with_code_in_it_is_not_rebuilt_from_its_record() -> None:
    run = (await chain(MemoryStorage(), model()).start(text="a b c d")).run
    with pytest.raises(ConfigurationError, match="not plain data"):
        Chain.of_config(run.config, store=MemoryStorage())


async def test_two_processes_do_not_both_work_on_a_run() -> None:
    store = MemoryStorage()

    class Racing:
        name = "scripted"

        async def generate_with_thought(self, thought: Thought) -> Generation:
            rival = chain(store, model())
            await rival.resume(thought.run_id)
            return Generation(text="late")

    critic = ScriptedCritic(objects_to=lambda text: len(text.split()) > 3)
    racing = Chain(
        model=Racing(), validators=RULES, critics=[critic], store=store, max_iterations=3
    )
    result = await racing.run(text="a b c d e f g")
    assert result.text == "a b c", "the run that the rival finished is what comes back"


async def test_a_rival_that_is_still_at_work_is_reported() -> None:
    store = MemoryStorage()

    class Racing:
        name = "scripted"

        async def generate_with_thought(self, thought: Thought) -> Generation:
            run = await store.load(thought.run_id)
            entry = Drafted(thought=thought.next_iteration().with_text("theirs", history=()))
            await store.append(run.apply(entry), [entry], expected_version=run.version)
            return Generation(text="late")

    critic = ScriptedCritic(objects_to=lambda text: len(text.split()) > 3)
    racing = Chain(
        model=Racing(), validators=RULES, critics=[critic], store=store, max_iterations=3
    )
    with pytest.raises(StorageError, match="being worked on elsewhere"):
        await racing.run(text="a b c d e f g")
