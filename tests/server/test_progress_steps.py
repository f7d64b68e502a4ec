"""Steps of runs of all kinds: they rise, and end at the total."""

import pytest

from sifaka import Chain, ChainEvent
from sifaka.record.entries import ChainConfig, Started
from sifaka.record.research_question import Inquiry
from sifaka.record.run import Run
from sifaka.testing import ScriptedCritic, ScriptedModel
from sifaka_mcp.tools.awaited_run import StepCounter
from tests.sifaka.chain.scripted_researcher import ScriptedResearcher

pytestmark = pytest.mark.anyio
RULES = [{"type": "length", "max_words": 1}]


def objects(text: str) -> bool:
    return len(text.split()) > 1


@pytest.mark.parametrize(
    ("chain", "text"),
    [
        (Chain(model="editor"), "It is is the the end ."),
        (Chain(model="editor", max_iterations=0), "It is is the the end ."),
        (Chain(model="auto", validators=RULES), "It is is the the end ."),
        (
            Chain(
                model=ScriptedModel(lines=["a b c", "a b", "a c", "a", "b", "c"]),
                validators=RULES,
                critics=[ScriptedCritic(objects_to=objects)],
                policy="best_of_n",
                width=3,
                max_iterations=2,
            ),
            "a b c d",
        ),
        (Chain(model=ScriptedModel(lines=["a b", "a"]), validators=RULES, critics=[]), ""),
        (
            Chain(
                model=ScriptedModel(lines=["a b", "a"]),
                validators=RULES,
                critics=[],
                inquiry=Inquiry(max_sections=1, max_iterations=1),
                researcher=ScriptedResearcher(),
            ),
            "",
        ),
    ],
    ids=[
        "editor",
        "editor without iterations",
        "auto",
        "three at a time",
        "from a prompt",
        "researched",
    ],
)
async def test_steps_rise_to_their_total(chain: Chain, text: str) -> None:
    run = (await chain.start("Write.", text=text)).run
    steps, reached = StepCounter(run), list[int]()

    async def listen(event: ChainEvent) -> None:
        value = steps.advance(event)
        if value is not None:
            reached.append(value)

    await chain.resume(run.run_id, listen=listen)

    assert reached == sorted(set(reached))
    assert reached[-1] == steps.total
    assert len(reached) > 3


async def test_a_run_that_takes_more_rounds_than_most_stays_below_the_total_until_its_end() -> None:
    model = ScriptedModel(lines=["a b c", "a b", "a"])
    chain = Chain(model=model, validators=RULES, critics=[], max_iterations=3)
    steps = StepCounter(Run.start(Started(config=ChainConfig(max_iterations=0))))
    reached: list[int] = []

    async def listen(event: ChainEvent) -> None:
        value = steps.advance(event)
        if value is not None:
            reached.append(value)

    await chain.run(text="a b c d", listen=listen)

    assert reached == sorted(set(reached))
    assert reached[-2:] == [steps.total - 1, steps.total]
