"""One agent of research, and one question to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from sifaka.calls.journal import scope
from sifaka.models.coercion import Form
from sifaka.models.prompt import Prompt, frame
from sifaka.record.research_question import Turn

if TYPE_CHECKING:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model

Output = TypeVar("Output", bound=Form)
ANSWER = "answer"
"""The tool that an agent answers with."""
MOST = 20
"""Messages of the user's conversation that an agent is told."""
_LONGEST = 8_000
"""Characters of a conversation that an agent is shown."""
_ANSWERS = frozenset({"tool-return", "builtin-tool-return", "retry-prompt", "retry-feedback"})
"""Kinds of parts that answer an earlier message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchAgent(Generic[Output]):
    """A PydanticAI agent of research, as data."""

    name: str
    prompt: Prompt
    output: type[Output]
    plain: str | None = None
    """The field that takes an answer in plain words, if the agent may answer so."""


async def consult(
    agent: ResearchAgent[Output],
    model: "Model",
    prompt: str,
    *,
    history: "Sequence[ModelMessage]" = (),
) -> Output:
    """Ask an agent, and ask once more when its answer cannot be read.

    One model call, at most two, journaled under the agent's name. An answer in words is read like
    a call of the tool.

    Raises:
        ModelProviderError: The provider failed, or the second answer could not be read either.
        BudgetExceeded: A call would break the budget.
    """
    from pydantic_ai.exceptions import AgentRunError, UserError

    from sifaka.models.provider_errors import translate

    try:
        with scope(agent.name):
            result = await _made(agent).run(
                prompt, model=model, message_history=list(history) or None
            )
    except (AgentRunError, UserError) as error:
        raise translate(error, model.model_id) from error
    return cast("Output", result.output)


@lru_cache(maxsize=32)
def _made(agent: ResearchAgent[Any]) -> "Agent[object, Any]":
    """The agent, without a model."""
    from pydantic_ai import Agent, ModelRetry, RunContext, TextOutput, ToolOutput
    from pydantic_ai.messages import ModelResponse, TextPart

    from sifaka.models.structured import Unreadable, read

    def of_words(ctx: RunContext[object], text: str) -> Any:
        response = ModelResponse(parts=[TextPart(text)])
        try:
            return read(response, agent.output, str(ctx.prompt or ""))
        except Unreadable as unreadable:
            if agent.plain is not None and text.strip():
                return agent.output(**{agent.plain: text})
            raise ModelRetry(
                f"The answer was not in the form asked for: {unreadable}. Call the tool `{ANSWER}`."
            ) from unreadable

    form = ToolOutput(agent.output, name=ANSWER)  # described by its docstring
    return Agent[object, Any](
        name=agent.name,
        instructions=agent.prompt.text,
        output_type=[form, TextOutput(of_words)],
        retries={"output": 1},
    )


def conversation(turns: Sequence[Turn]) -> "list[ModelMessage]":
    """The last turns of a conversation as one message: material, in which nothing is obeyed."""
    from pydantic_ai.messages import ModelRequest

    lines: list[str] = []
    for turn in reversed(turns[-MOST:]):
        room = _LONGEST - sum(map(len, lines))
        lines.append(f"{turn.role}: {' '.join(turn.text.split())}"[: max(0, room)])
    said = "\n".join(filter(None, reversed(lines)))
    return (
        [ModelRequest.user_text_prompt(frame("conversation", said, lasting=True))] if said else []
    )


def trimmed(messages: "Sequence[ModelMessage]", most: int = MOST) -> "list[ModelMessage]":
    """The last messages of a conversation; a tool call stays with its return.

    Providers refuse a conversation that begins or ends in the middle of an exchange. So a return
    goes with the call that is cut off, and a call without an answer is dropped. The first message
    that is kept is a request with the user's words.
    """
    from pydantic_ai.messages import ModelResponse, ToolCallPart

    def is_open(message: "ModelMessage") -> bool:
        return isinstance(message, ModelResponse) and any(
            isinstance(part, ToolCallPart) for part in message.parts
        )

    def begins(message: "ModelMessage") -> bool:
        kinds = {part.part_kind for part in message.parts}
        return "user-prompt" in kinds and kinds.isdisjoint(_ANSWERS)

    end = len(messages)
    while end and is_open(messages[end - 1]):
        end -= 1
    start = max(0, end - most)
    while start < end and not begins(messages[start]):
        start += 1
    return list(messages[start:end])
