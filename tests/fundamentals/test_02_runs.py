"""Second: runs. Who writes, what is kept, and how to go on."""

from contextlib import aclosing

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka import Budget, Chain, Thought, create_pydantic_chain

pytestmark = pytest.mark.anyio

RULES = [{"type": "content", "required": ["30 days"]}]


def writer(*texts: str) -> FunctionModel:
    """A model that writes these texts one after the other."""
    script = iter(texts)

    def write(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart(next(script))])

    return FunctionModel(write)


async def test_without_a_model_the_caller_is_handed_a_brief_and_writes() -> None:
    chain = Chain(validators=RULES)

    waiting = await chain.run(text="Keep the receipt.")
    assert waiting.status == "needs_revision"
    assert waiting.brief is not None
    assert waiting.brief.failures[0].suggestions == ("mention '30 days'",)

    taken = await chain.submit(
        waiting.run_id, waiting.brief.parent_id, "Keep the receipt for 30 days."
    )
    assert (taken.accepted, taken.status) == (True, "needs_revision")
    assert taken.brief is not None
    assert taken.brief.sheet, "the first version is read once more, by these questions"

    done = await chain.submit(waiting.run_id, taken.brief.parent_id, accept=True)
    assert (done.status, done.passed, done.judged_by) == ("done", True, "caller")


async def test_a_model_writes_when_there_is_one() -> None:
    agent = Agent(writer("Keep it.", "Keep it for 30 days."))
    chain = create_pydantic_chain(agent, validators=RULES, critics=["lint"])

    result = await chain.run("Say how long to keep the receipt.")

    assert [thought.text for thought in result.run.thoughts] == ["Keep it.", "Keep it for 30 days."]
    assert (result.status, result.usage.model_calls) == ("done", 2)


async def test_a_worse_version_is_turned_down_and_the_record_says_why() -> None:
    model = writer("Keep it for a while.", "Keep it for 30 days.")
    rules = [*RULES, {"type": "length", "max_words": 4}]
    chain = Chain(model=model, validators=rules, critics=["lint"], max_iterations=1)

    result = await chain.run(text="Keep the receipt.")

    assert (result.text, result.stop_reason) == ("Keep the receipt.", "max_iterations")
    refused = result.run.thoughts[1]
    assert not result.run.decisions[refused.id].accepted
    assert "required validators failed" in result.run.decisions[refused.id].reason


async def test_what_a_run_may_spend_is_said_before() -> None:
    agent = Agent(writer("Keep it.", "Keep it for 30 days."))
    chain = create_pydantic_chain(
        agent, validators=RULES, critics=["lint"], budget=Budget(max_calls=1)
    )

    result = await chain.run("Say how long to keep the receipt.")

    assert result.stop_reason == "budget_calls"
    assert (result.text, result.usage.model_calls) == ("Keep it.", 1)


async def test_every_run_is_in_the_store_and_can_be_found() -> None:
    chain = Chain()
    run_id = (await chain.run(text="Keep the the receipt.")).run_id

    (line,) = (await chain.store.recent(limit=10)).runs
    assert (line.run_id, line.excerpt) == (run_id, "Keep the receipt.")
    hits = (await chain.store.search("receipt", limit=10)).hits
    assert {hit.thought_id for hit in hits} == {f"{run_id}.0", f"{run_id}.1"}

    run = await chain.store.load(run_id)
    assert [thought.author for thought in run.thoughts] == ["input", "editor"]
    assert Thought.model_validate_json(run.thoughts[1].model_dump_json()) == run.thoughts[1]


async def test_a_run_that_was_interrupted_goes_on_where_it_was() -> None:
    agent = Agent(writer("Keep it for 30 days."))  # it would fail if it were asked twice
    chain = create_pydantic_chain(agent, validators=RULES, critics=["lint"])

    run_id = ""
    async with aclosing(chain.stream("Say how long to keep the receipt.")) as events:
        async for event in events:
            if event.phase == "generate" and event.entry is not None:
                run_id = event.run_id
                break
    # Nobody listens any more, so the run is stopped; nothing but the store is used from now on.
    assert (await chain.store.load(run_id)).status == "cancelled"

    result = await chain.resume(run_id)

    assert (result.status, result.text) == ("done", "Keep it for 30 days.")
    assert result.usage.model_calls == 1
