"""A model that judges by a script, counts its calls and knows how many of them had to wait."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka.calls.component import Binding
from sifaka.models.provider import provider_model

_TURNS = 50
"""Turns of the event loop in which every call that can be made at the same time begins."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One question to the model."""

    number: int
    question: str
    instructions: str
    fields: frozenset[str]
    """Of the form to fill in."""
    settings: Mapping[str, Any]


Answer = Mapping[str, Any] | str | Exception
Script = Callable[[Asked], Answer]


class ScriptedJudge:
    """Answers by a function of the question: a mapping, words without form, or an error."""

    def __init__(self, script: Script | Answer, *, name: str = "judge") -> None:
        self.asked: list[Asked] = []
        self.depth = 0
        """The most calls of which each was made when the one before had been answered."""
        self._script = script
        self._answered = 0
        self.model = provider_model(FunctionModel(self._answer, model_name=name))

    @property
    def binding(self) -> Binding:
        return Binding(model=self.model)

    @property
    def calls(self) -> int:
        return len(self.asked)

    async def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        depth = self._answered + 1
        self.depth = max(self.depth, depth)
        (tool,) = info.output_tools
        asked = Asked(
            number=len(self.asked),
            question="".join(
                str(getattr(part, "content", "")) for said in messages for part in said.parts
            ),
            instructions=info.instructions or "",
            fields=frozenset(tool.parameters_json_schema["properties"]),
            settings=dict(info.model_settings or {}),
        )
        self.asked.append(asked)
        await _turns(_TURNS)
        answer = self._script(asked) if callable(self._script) else self._script
        self._answered = max(self._answered, depth)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            return ModelResponse(parts=[TextPart(answer)])
        return ModelResponse(parts=[ToolCallPart("answer", dict(answer))])


async def _turns(count: int) -> None:
    """Wait for turns of the event loop, without resuming at each all that waits for the answer."""
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()

    def turn(left: int) -> None:
        if left and not over.done():
            loop.call_soon(turn, left - 1)
        elif not over.done():
            over.set_result(None)

    loop.call_soon(turn, count)
    await over


def in_turn(*answers: Answer) -> Script:
    """A script that gives these answers in the order of the questions."""
    return lambda asked: answers[asked.number]
