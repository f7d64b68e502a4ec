"""PydanticAI agents, and PydanticAI models wrapped into one, as writers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from sifaka.errors import ConfigurationError, ModelProviderError
from sifaka.models.metered import MeteredModel
from sifaka.models.prompts import WRITER_INSTRUCTIONS, writing_prompt
from sifaka.models.protocol import Generation
from sifaka.thought import Thought, ToolCall

if TYPE_CHECKING:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage


class AgentModel:
    """A writer that runs a PydanticAI agent afresh for each version.

    Fresh, because earlier attempts in the message history would grow the context with each
    iteration: the agent sees the task, the best version and this round's feedback.
    """

    def __init__(
        self,
        agent: "Agent[Any, Any]",
        model: MeteredModel,
        *,
        deps: Any = None,
    ) -> None:
        self.model = model
        self._agent = agent
        self._deps = deps

    @classmethod
    def of_model(cls, model: MeteredModel) -> "AgentModel":
        """A writer that has no tools, only the model."""
        from pydantic_ai import Agent

        return cls(Agent(model, instructions=WRITER_INSTRUCTIONS), model)

    @classmethod
    def of_agent(
        cls, agent: "Agent[Any, Any]", *, deps: Any = None, call_timeout: float | None = None
    ) -> "AgentModel":
        """A writer that uses the agent's own instructions, tools and output type.

        Raises:
            ConfigurationError: The agent has no model.
        """
        from sifaka.models.provider import provider_model

        if agent.model is None:
            raise ConfigurationError("the agent has no model", "construct it as Agent(model, ...)")
        model = provider_model(agent.model, call_timeout=call_timeout)
        return cls(agent, model, deps=deps)

    @property
    def name(self) -> str:
        """The model's id, such as `openai:gpt-5`."""
        return self.model.model_id

    async def generate_with_thought(self, thought: Thought) -> Generation:
        """The next version; see `Model`."""
        from pydantic_ai.exceptions import AgentRunError, UserError
        from pydantic_ai.usage import UsageLimits

        from sifaka.models.failures import translate

        prompt = writing_prompt(thought)
        try:
            # The limit of PydanticAI is per run and not atomic; the ledger does that work.
            result = await self._agent.run(
                prompt,
                model=self.model,
                deps=self._deps,
                usage_limits=UsageLimits(request_limit=None),
            )
        except (AgentRunError, UserError) as error:
            raise translate(error, self.name) from error
        if result.response.finish_reason == "length":
            raise ModelProviderError(
                f"{self.name}: the answer was cut off at the model's output limit",
                "raise max_tokens in the model's settings, or shorten the text",
                provider=self.name.partition(":")[0],
                code="context_window",
            )
        text = _as_text(result.output)
        if not text.strip():
            raise ModelProviderError(
                f"{self.name}: the answer was empty",
                "try again or choose another model",
                provider=self.name.partition(":")[0],
                code="empty",
            )
        return Generation(
            text=text,
            prompt_used=prompt,
            tool_calls=tuple(tool_calls(result.new_messages())),
        )


def tool_calls(messages: "Sequence[ModelMessage]") -> list[ToolCall]:
    """The tool calls of a run in the order they were made, each with what it returned."""
    from pydantic_ai.messages import ToolCallPart, ToolReturnPart

    parts = [part for message in messages for part in message.parts]
    returns = {part.tool_call_id: part for part in parts if isinstance(part, ToolReturnPart)}
    calls: list[ToolCall] = []
    for part in parts:
        if not isinstance(part, ToolCallPart) or part.tool_call_id not in returns:
            continue
        returned = returns[part.tool_call_id]
        calls.append(
            ToolCall(
                tool_name=part.tool_name,
                arguments=part.args_as_dict(),
                result=returned.model_response_str(),
                success=returned.outcome == "success",
                tool_call_id=part.tool_call_id,
            )
        )
    return calls


def _as_text(output: object) -> str:
    if isinstance(output, BaseModel):
        return output.model_dump_json(indent=2)
    return str(output)
