"""Drafts that are written at the same time: no two of them are asked for by the same request."""

import re
from typing import Any

import pytest
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka.chain import Chain

pytestmark = pytest.mark.anyio


async def asked(text: str, **settings: Any) -> list[str]:
    """The questions to the writer."""
    questions: list[str] = []

    def write(messages: list[Any], info: AgentInfo) -> ModelResponse:
        questions.append(messages[0].parts[0].content)
        return ModelResponse([TextPart(f"{'word ' * (9 - len(questions))}end")])

    chain = Chain(
        model=FunctionModel(write),
        critics=[],
        validators=[{"type": "length", "max_words": 1}],
        max_iterations=1,
        **settings,
    )
    await chain.run("" if text else "Write a word.", text=text)
    return questions


@pytest.mark.parametrize(
    ("text", "rounds"), [("a b c", 1), ("", 2)], ids=["a revision", "a first version"]
)
async def test_drafts_of_one_round_differ_in_their_last_line(text: str, rounds: int) -> None:
    questions = await asked(text, policy="best_of_n", width=3)
    assert len(questions) == 3 * rounds
    # They are asked at the same time.
    together = sorted(questions[:3], key=lambda question: "of several" in question)
    first, *others = (re.sub(r" id=\w+", "", question) for question in together)
    assert "of several" not in first
    for number, other in enumerate(sorted(others), 2):
        assert other.startswith(f"{first}\n\nThis is draft {number} of several ")


async def test_a_draft_that_is_written_alone_is_told_of_no_others() -> None:
    assert not any("of several" in question for question in await asked("a b c"))
