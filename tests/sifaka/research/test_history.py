"""A conversation is cut where it may be: a tool call stays with its return."""

import pytest
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka.evidence.sources.collection import Adapters
from sifaka.models.provider import provider_model
from sifaka.record.research_question import Inquiry
from sifaka.research.agents import THINKING, consult, thinking_prompt, trimmed
from sifaka.research.researcher import GraphResearcher
from tests.sifaka.critics.scripted_judge import Asked
from tests.sifaka.research.bench import USUAL, Bench, agent_of, shelf


def says(text: str) -> ModelRequest:
    return ModelRequest(parts=[UserPromptPart(text)])


def answers(text: str) -> ModelResponse:
    return ModelResponse(parts=[TextPart(text)])


def calls(name: str) -> ModelResponse:
    return ModelResponse(parts=[ToolCallPart(name, {}, tool_call_id=name)])


def returns(name: str) -> ModelRequest:
    return ModelRequest(parts=[ToolReturnPart(name, "found", tool_call_id=name)])


CONVERSATION: list[ModelMessage] = [
    says("first"), calls("look"), returns("look"), answers("so it is"),
    says("second"), calls("see"), returns("see"), answers("indeed"),
]  # fmt: skip


@pytest.mark.parametrize("most", range(9))
def test_a_tool_call_stays_with_its_return(most: int) -> None:
    kept = trimmed(CONVERSATION, most)
    assert len(kept) <= most
    ids = [part.tool_call_id for m in kept for part in m.parts if isinstance(part, ToolCallPart)]
    back = [part.tool_call_id for m in kept for part in m.parts if isinstance(part, ToolReturnPart)]
    assert ids == back


def test_as_much_is_kept_as_may_be() -> None:
    assert trimmed(CONVERSATION, 8) == CONVERSATION
    assert trimmed(CONVERSATION, 7) == trimmed(CONVERSATION, 4) == CONVERSATION[4:]
    assert trimmed(CONVERSATION, 3) == []


def test_words_that_came_with_a_return_are_no_beginning_without_its_call() -> None:
    both = ModelRequest(
        parts=[ToolReturnPart("look", "found", tool_call_id="look"), UserPromptPart("and more")]
    )
    messages = [says("first"), calls("look"), both, answers("so it is")]
    assert trimmed(messages, 2) == []
    assert trimmed(messages, 4) == messages


def test_a_call_without_an_answer_goes() -> None:
    asked = [*CONVERSATION, says("third")]
    assert trimmed([*asked, calls("look")]) == asked


def test_the_conversation_itself_is_not_changed() -> None:
    before = list(CONVERSATION)
    trimmed(CONVERSATION, 2)
    assert before == CONVERSATION


@pytest.mark.anyio
async def test_the_users_history_reaches_every_agent_apart_from_that_of_the_research() -> None:
    seen: list[tuple[str, list[ModelMessage], str]] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        *before, request = messages
        question = "".join(str(getattr(part, "content", "")) for part in request.parts)
        fields = frozenset(info.output_tools[0].parameters_json_schema["properties"])
        asked = Asked(
            number=0, question=question, instructions=info.instructions or "", fields=fields,
            settings={},
        )  # fmt: skip
        seen.append((agent_of(asked), before, question))
        said = USUAL[agent_of(asked)](asked)
        assert isinstance(said, dict)
        return ModelResponse(parts=[ToolCallPart("answer", said)])

    model = provider_model(FunctionModel(answer))
    researcher = GraphResearcher(Inquiry(mode="iterative"), Adapters([shelf()]), model)
    history = CONVERSATION[4:]
    await Bench().research(None, researcher=researcher, history=history)
    agents = [(agent, before) for agent, before, _ in seen if agent != "verifier"]
    assert {agent for agent, _ in agents} == {
        "thinking",
        "knowledge_gap",
        "should_continue",
        "tool_selector",
        "writer",
    }
    for _, before in agents:
        assert [m.parts[0].part_kind for m in before] == [m.parts[0].part_kind for m in history]
    (later,) = [question for agent, _, question in seen if agent == "thinking"]
    assert "Iteration 1" in later
    assert "indeed" not in later


@pytest.mark.anyio
async def test_without_history_an_agent_is_asked_a_single_message() -> None:
    counts: list[int] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        del info
        counts.append(len(messages))
        return ModelResponse(parts=[TextPart("Lamps.")])

    model = provider_model(FunctionModel(answer))
    prompt = thinking_prompt("Which lamps?", 1, past="", findings="")
    thought = await consult(THINKING, model, prompt)
    assert (thought.observations, counts) == ("Lamps.", [1])
