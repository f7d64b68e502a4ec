"""A model that writes texts in turn, fills in every form alike, and keeps what it was asked."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

ACCEPT: Mapping[str, object] = {"verdict": "accept"}
REVISE: Mapping[str, object] = {"verdict": "revise"}
Kind = Literal["write", "review", "compare"]


class Writer:
    """Says each of these once, and the last again and again.

    Args:
        said: Texts, errors, or functions of the prompt.
        form: What it answers where a form is to be filled in; fields that one lacks are left out.
        name: Of the model.
        response: Other fields of what it answers in words.
    """

    def __init__(
        self,
        *said: str | Exception | Callable[[str], str],
        form: Mapping[str, object] = REVISE,
        name: str = "stub",
        **response: Any,
    ) -> None:
        self.asked: list[tuple[Kind, str]] = []
        self._said = said
        self._form = form
        self._response = response
        self.model = FunctionModel(self._answer, model_name=name)

    @property
    def kinds(self) -> list[Kind]:
        return [kind for kind, _ in self.asked]

    def of(self, kind: Kind) -> list[str]:
        """The prompts of a kind."""
        return [prompt for each, prompt in self.asked if each == kind]

    # Not in a thread: answers come together, on a busy machine as well.
    async def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        prompt = "".join(str(getattr(part, "content", "")) for part in messages[-1].parts)
        if info.output_tools:
            (tool,) = info.output_tools
            fields = tool.parameters_json_schema["properties"]
            self.asked.append(("review" if "verdict" in fields else "compare", prompt))
            form = {name: value for name, value in self._form.items() if name in fields}
            return ModelResponse([ToolCallPart(tool.name, form)])
        self.asked.append(("write", prompt))
        said = self._said[min(self.kinds.count("write"), len(self._said)) - 1]
        if isinstance(said, Exception):
            raise said
        text = said if isinstance(said, str) else said(prompt)
        return ModelResponse([TextPart(text)], **self._response)
