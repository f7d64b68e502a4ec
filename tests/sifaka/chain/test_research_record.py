"""The record of a run of research: replayed without any source, and branched from."""

import pytest

from sifaka import Thought
from sifaka.record.entries import Stopped
from sifaka.record.research_question import Inquiry
from sifaka.research.protocol import Desk
from sifaka.storage import MemoryStorage
from sifaka.testing import ScriptedModel
from tests.sifaka.chain.scripted_researcher import (
    QUESTION,
    SOURCE,
    TITLES,
    ScriptedResearcher,
    researching,
)

pytestmark = pytest.mark.anyio


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


async def test_a_replay_takes_what_the_caller_wrote_from_the_record_too() -> None:
    store = MemoryStorage()
    chain = researching(ScriptedResearcher(written=False), store=store)
    waiting = await chain.run(QUESTION)
    assert waiting.brief is not None
    done = await chain.submit(waiting.run_id, waiting.brief.parent_id, writes(waiting.thought))
    assert done.status == "done"
    assert (await chain.replay(done.run_id)).exact


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
