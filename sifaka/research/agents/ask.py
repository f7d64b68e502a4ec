"""How an agent of research is asked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from sifaka._internal.immutable import Frozen
from sifaka.models.coercion import Form
from sifaka.models.framing import DATA_NOTICE

if TYPE_CHECKING:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model

Given = TypeVar("Given", bound=Frozen)
Output = TypeVar("Output", bound=Form)
ANSWER = "answer"
"""The tool that an agent answers with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchAgent(Generic[Given, Output]):
    """A PydanticAI agent of research, as data."""

    name: str
    instructions: str
    prompt: Callable[[Given], str]
    """What it is asked; foreign text in it is framed."""
    output: type[Output]
    plain: str | None = None
    """The field of the output that words without any form are taken for, if they may come so."""


async def consult(
    agent: ResearchAgent[Given, Output],
    model: "Model",
    given: Given,
    *,
    history: "Sequence[ModelMessage]" = (),
) -> Output:
    """Ask an agent, and ask once more when its answer cannot be read.

    One model call, at most two. A model that answers in words is read as one that calls the tool.

    Args:
        agent: Whom to ask.
        model: What it thinks with.
        given: What it works on.
        history: The user's conversation, before the question.

    Raises:
        ModelProviderError: The provider failed, or the second answer could not be read either.
        BudgetExceeded: A call would break the budget.
    """
    from pydantic_ai.exceptions import AgentRunError, UserError
    from pydantic_ai.usage import UsageLimits

    from sifaka.models.provider_errors import translate

    try:
        # The limit of PydanticAI is per run and not atomic; the ledger does that work.
        result = await _made(agent).run(
            agent.prompt(given),
            model=model,
            message_history=list(history) or None,
            usage_limits=UsageLimits(request_limit=None),
        )
    except (AgentRunError, UserError) as error:
        raise translate(error, model.model_id) from error
    return cast("Output", result.output)


@lru_cache(maxsize=32)
def _made(agent: ResearchAgent[Any, Any]) -> "Agent[object, Any]":
    """The agent, without a model."""
    from pydantic_ai import Agent, ModelRetry, RunContext, TextOutput, ToolOutput
    from pydantic_ai.messages import ModelResponse, TextPart

    from sifaka.models.reply import Unreadable, read

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

    form = ToolOutput(agent.output, name=ANSWER, description=agent.output.__doc__)
    return Agent[object, Any](
        name=agent.name,
        instructions=f"{agent.instructions} {DATA_NOTICE}",
        output_type=[form, TextOutput(of_words)],
        retries={"output": 1},
    )
