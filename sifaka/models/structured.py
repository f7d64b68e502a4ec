"""One question to a model whose answer has a known form."""

import json
from functools import lru_cache, partial
from typing import TYPE_CHECKING, TypeVar

from anyio import to_thread
from pydantic import BaseModel

from sifaka.errors import ModelProviderError
from sifaka.models.reply import Unreadable, read, size_of
from sifaka.record.usage import Usage

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

Answer = TypeVar("Answer", bound=BaseModel)

_UNREAD = frozenset({"malformed", "empty"})
_LONG = 50_000
"""Characters of a reply or a question from which the reply is read in a thread."""


async def ask(
    model: "Model",
    instructions: str,
    question: str,
    form: type[Answer],
    *,
    settings: "ModelSettings | None" = None,
) -> tuple[Answer, Usage]:
    """Ask, and ask a second time when the answer cannot be read.

    The model answers by calling an output tool, without the machinery of an agent around it.
    `sifaka.models.reply` reads the answer, as PydanticAI's own validation reads few damaged ones
    and takes contradictions and echoes for answers. The second question says what was wrong, and
    does not repeat the reply. One model call, at most two.

    Returns:
        The answer, and the usage of the calls for it.

    Raises:
        ModelProviderError: The provider failed, or with code `malformed` the second answer could
            not be read either.
        BudgetExceeded: A call would break the run's budget.
    """
    spent = Usage()
    again = reason = ""
    for _ in range(2):
        try:
            response = await _request(model, instructions, question + again, form, settings)
        except ModelProviderError as error:
            if error.code not in _UNREAD:
                raise
            reason = "it could not be read"
        else:
            from sifaka.models.metered import usage_of

            spent += usage_of(response)
            try:
                return await _read(response, form, question), spent
            except Unreadable as unreadable:
                reason = str(unreadable)
        again = (
            f"\n\nYour last answer was not in the form asked for: {reason}. "
            "Call the tool `answer` once, with every required field."
        )
    raise ModelProviderError(
        f"{model.model_id}: the answer was not in the form asked for: {reason}",
        "try again or choose a model with reliable structured output",
        provider=model.model_id.partition(":")[0],
        code="malformed",
    )


async def _read(response: "ModelResponse", form: type[Answer], question: str) -> Answer:
    """The answer in a reply.

    Raises:
        Unreadable: There is none.
    """
    reading = partial(read, response, form, question)
    if size_of(response) + len(question) <= _LONG:
        return reading()
    return await to_thread.run_sync(reading, abandon_on_cancel=True)


async def _request(
    model: "Model",
    instructions: str,
    question: str,
    form: type[BaseModel],
    settings: "ModelSettings | None",
) -> "ModelResponse":
    from pydantic_ai.direct import model_request
    from pydantic_ai.messages import ModelRequest
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    return await model_request(
        model,
        [ModelRequest.user_text_prompt(question, instructions=instructions)],
        model_settings=settings,
        model_request_parameters=ModelRequestParameters(
            output_mode="tool",
            output_tools=[
                ToolDefinition(
                    name="answer",
                    description=form.__doc__,
                    parameters_json_schema=json.loads(_schema(form)),
                    kind="output",
                )
            ],
            allow_text_output=False,
        ),
    )


@lru_cache(maxsize=64)
def _schema(form: type[BaseModel]) -> str:
    # Making one takes a millisecond, which critics that run in parallel would spend one by one.
    return json.dumps(form.model_json_schema())
