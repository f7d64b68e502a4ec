"""One question to a model whose answer has a known form."""

from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from sifaka.errors import ModelProviderError

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse

    from sifaka.models.metered import MeteredModel

Answer = TypeVar("Answer", bound=BaseModel)


async def ask(
    model: "MeteredModel", instructions: str, question: str, form: type[Answer]
) -> tuple[Answer, "ModelResponse"]:
    """Ask once and check the answer's form.

    The model answers by calling an output tool, without the machinery of an agent around it. One
    model call, plus what the metered model repeats after transient failures.

    Returns:
        The answer, and the response it came in for its usage.

    Raises:
        ModelProviderError: The provider failed, or with code `malformed` the answer has not the
            form that was asked for.
        BudgetExceeded: The call would break the run's budget.
    """
    from pydantic_ai.direct import model_request
    from pydantic_ai.messages import ModelRequest
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    response = await model_request(
        model,
        [ModelRequest.user_text_prompt(question, instructions=instructions)],
        model_request_parameters=ModelRequestParameters(
            output_mode="tool",
            output_tools=[
                ToolDefinition(
                    name="answer",
                    description=form.__doc__,
                    parameters_json_schema=form.model_json_schema(),
                    kind="output",
                )
            ],
            allow_text_output=False,
        ),
    )
    return _parse(response, form, model.model_id), response


def _parse(response: "ModelResponse", form: type[Answer], model: str) -> Answer:
    from pydantic_ai.messages import TextPart, ToolCallPart

    for part in response.parts:
        if isinstance(part, ToolCallPart):
            arguments = part.args_as_json_str()
        elif isinstance(part, TextPart) and part.content.strip():
            # Models without tool calling answer in text; JSON is still an answer, prose is not.
            arguments = part.content.strip().removeprefix("```json").strip("`").strip()
        else:
            continue
        try:
            return form.model_validate_json(arguments)
        except ValidationError:
            continue
    raise ModelProviderError(
        f"{model}: the answer was not in the form asked for",
        "try again or choose a model with reliable structured output",
        provider=model.partition(":")[0],
        code="malformed",
    )
