"""PydanticAI models and agents as writers."""

import logging
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from sifaka.calls.component import Component
from sifaka.calls.context import current_calls
from sifaka.calls.failure_log import report_failure
from sifaka.errors import ConfigurationError, ModelProviderError, SifakaError
from sifaka.models import Generation
from sifaka.models.journaled import JournaledModel, answered_by
from sifaka.models.metered import usage_of
from sifaka.models.prompt import DATA_NOTICE
from sifaka.models.structured import clean
from sifaka.models.writing import PROMPT, writing_prompt
from sifaka.record.thought import Thought, ToolCall
from sifaka.record.usage import Usage

if TYPE_CHECKING:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart, ToolReturnPart


_HALF = {
    "output_limit": (
        "cut off at the model's output limit",
        "raise max_tokens in the model's settings, or shorten the text",
    ),
    "content_filter": (
        "stopped by the provider's content filter",
        "reword the task or the text, or choose another model",
    ),
    "unfinished": ("broken off by the provider", "try again or choose another model"),
    "empty": ("empty", "try again or choose another model"),
}
"""The failure and a suggestion for answers that are no whole ones, by the code."""
_ENDS = frozenset(
    {"stop", "end_turn", "stop_sequence", "eos", "eos_token", "complete", "completed", "finished"}
)
"""Providers' words for the end of an answer that is whole."""


INSTRUCTIONS = "instructions"
"""The key in a version's metadata of the system prompt and the instructions of its agent."""
logger = logging.getLogger(__name__)


class DirectModel(Component):
    """A writer that asks a model once for each version, with no earlier conversation."""

    _calls_tools = False

    def __init__(self, model: JournaledModel) -> None:
        self.model = model

    @property
    def name(self) -> str:
        """The model's id, such as `openai:gpt-5`."""
        return self.model.model_id

    @property
    def models(self) -> tuple[Any, ...]:
        """The one that it asks."""
        return (self.model,)

    async def generate_with_thought(self, thought: Thought) -> Generation:
        """The next version; see `Model`."""
        from pydantic_ai.direct import model_request
        from pydantic_ai.messages import ModelRequest

        prompt = writing_prompt(thought)
        request = ModelRequest.user_text_prompt(prompt, instructions=PROMPT.text)
        with self._translate_errors():
            response = await model_request(self.model, [request])
        return self._read_generation(response.text or "", prompt, response, [response])

    @contextmanager
    def _translate_errors(self) -> Generator[None]:
        """Translate what PydanticAI raises."""
        from pydantic_ai.exceptions import AgentRunError, UserError

        from sifaka.models.provider_errors import translate

        try:
            yield
        except (AgentRunError, UserError) as error:
            raise translate(error, self.name) from error

    def _read_generation(
        self,
        text: str,
        prompt: str,
        response: "ModelResponse",
        messages: "Sequence[ModelMessage]",
    ) -> Generation:
        """The version that the last answer of a conversation gives.

        Raises:
            ModelProviderError: The answer is no whole one, with code `output_limit`,
                `content_filter` or `unfinished`, or `empty`.
        """
        from pydantic_ai.messages import ModelResponse, ThinkingPart

        author = answered_by(response) or self.name
        code = unfinished(response, calls_tools=self._calls_tools)
        if code is not None or not text.strip():
            failure, suggestion = _HALF[code or "empty"]
            raise ModelProviderError(
                f"{author}: the answer was {failure}",
                suggestion,
                provider=author.partition(":")[0],
                error_code=code or "empty",
            )
        if any(isinstance(part, ThinkingPart) for part in response.parts):
            text = text.lstrip("\r\n")  # the blank lines between the thoughts and the text
        answers = (usage_of(each) for each in messages if isinstance(each, ModelResponse))
        return Generation(
            text=text,
            prompt_used=prompt,
            author=author,
            usage=sum(answers, start=Usage()),
            metered=True,
            tool_calls=tuple(tool_calls(messages)),
        )


class AgentModel(DirectModel):
    """A writer that runs a PydanticAI agent afresh for each version.

    Fresh, because earlier attempts in the message history would grow the context with each
    iteration: the agent sees the task, the best version and this round's feedback, after the
    conversation that was before the task. For one version it makes at most as many requests as
    PydanticAI allows (50), or as the budget does that limits calls.

    Args:
        agent: The agent, with its own instructions, tools and output type.
        fallbacks: Models, or their names, that take over when the agent's has failed for good.
        deps: The dependencies of its tools.
        message_history: The conversation before the task.

    Raises:
        ConfigurationError: The agent has no model.
    """

    _calls_tools = True

    def __init__(
        self,
        agent: "Agent[Any, Any]",
        fallbacks: Sequence[Any],
        *,
        deps: Any,
        message_history: "Sequence[ModelMessage]",
    ) -> None:
        from sifaka.models.provider import provider_model

        if agent.model is None:
            raise ConfigurationError("the agent has no model", "construct it as Agent(model, ...)")
        super().__init__(provider_model(agent.model, fallbacks))
        self._agent = agent
        self._deps = deps
        self._message_history = message_history

    async def generate_with_thought(self, thought: Thought) -> Generation:
        """The next version; see `Model`."""
        from pydantic_ai import capture_run_messages
        from pydantic_ai.exceptions import AgentRunError, UserError
        from pydantic_ai.usage import UsageLimits

        # Where calls are limited the ledger does that work, over all agents of a run.
        is_limited = current_calls().ledger.limits.max_calls is not None
        limits = UsageLimits(request_limit=None) if is_limited else UsageLimits()
        prompt = writing_prompt(thought, by_edits=False)
        with self._translate_errors(), capture_run_messages() as messages:
            try:
                result = await self._agent.run(
                    prompt,
                    # Beside its own: what is framed in the prompt comes from anywhere.
                    instructions=DATA_NOTICE,
                    model=self.model,
                    message_history=self._message_history,
                    deps=self._deps,
                    usage_limits=limits,
                )
            except (AgentRunError, UserError, SifakaError):
                raise
            except Exception as error:
                if (failure := self._describe_failure(error, messages)) is None:
                    raise
                raise failure from error
        output = result.output
        text = output.model_dump_json(indent=2) if isinstance(output, BaseModel) else str(output)
        generation = self._read_generation(text, prompt, result.response, result.new_messages())
        return generation.model_copy(update={"metadata": {INSTRUCTIONS: _join_prompts(messages)}})

    def _describe_failure(
        self, error: Exception, messages: "Sequence[ModelMessage]"
    ) -> ModelProviderError | None:
        """What a tool raised, with the tool's name; None if no tool was at work."""
        calls = _calls_of_tools(messages)
        if not (names := ", ".join(part.tool_name for part, returned in calls if not returned)):
            return None
        report_failure(logger, f"tool:{names}", error, source=self._agent)
        return ModelProviderError(
            f"{self.name}: the tool {names} failed with {type(error).__name__}: {error}",
            "see the log for its traceback, or raise ModelRetry for what the model can mend",
            error_code="broken",
        )


def unfinished(response: "ModelResponse", *, calls_tools: bool = False) -> str | None:
    """The code for an answer that has not come to its end by itself; None for one that has.

    A reason that PydanticAI has no word for is in the provider's details. Providers that give none
    are trusted.

    Args:
        response: The answer.
        calls_tools: True when it may end with a call of a tool.
    """
    reason = response.finish_reason
    if response.state != "complete":
        return "unfinished"
    if reason is None:
        detail = (response.provider_details or {}).get("finish_reason")
        return None if detail is None or str(detail).casefold() in _ENDS else "unfinished"
    if reason == "stop" or (reason == "tool_call" and calls_tools):
        return None
    return {"length": "output_limit"}.get(reason, reason if reason in _HALF else "unfinished")


def tool_calls(messages: "Sequence[ModelMessage]") -> list[ToolCall]:
    """The tool calls of a run in the order they were made, each with what it returned."""
    return [
        ToolCall(
            tool_name=part.tool_name,
            arguments=clean(part.args_as_dict()),
            result=clean(returned.model_response_str()),
            success=returned.outcome == "success",
            tool_call_id=part.tool_call_id,
        )
        for part, returned in _calls_of_tools(messages)
        if returned is not None
    ]


def _calls_of_tools(
    messages: "Sequence[ModelMessage]",
) -> "list[tuple[ToolCallPart, ToolReturnPart | None]]":
    """Each call of a tool, and what it returned; None while it is at work, or when it raised."""
    from pydantic_ai.messages import ToolCallPart, ToolReturnPart

    parts = [part for message in messages for part in message.parts]
    returns = {part.tool_call_id: part for part in parts if isinstance(part, ToolReturnPart)}
    return [(p, returns.get(p.tool_call_id)) for p in parts if isinstance(p, ToolCallPart)]


def _join_prompts(messages: "Sequence[ModelMessage]") -> str:
    """The system prompts of a conversation, and its last instructions."""
    from pydantic_ai.messages import SystemPromptPart

    prompts = [p.content for m in messages for p in m.parts if isinstance(p, SystemPromptPart)]
    texts = [text for each in messages if (text := getattr(each, "instructions", None))]
    return "\n\n".join([*prompts, *texts[-1:]])
