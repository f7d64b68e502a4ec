"""One question to a model whose answer has a known form."""

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import TYPE_CHECKING, TypeVar, cast

from anyio import to_thread
from pydantic import BaseModel

from sifaka.errors import ModelProviderError
from sifaka.models.coercion import Unreadable, fit
from sifaka.models.json_objects import clean, normal, object_of
from sifaka.record.usage import Usage
from sifaka.text.model_output import answer_of

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

Answer = TypeVar("Answer", bound=BaseModel)

_UNREAD = frozenset({"malformed", "empty"})
_LONG = 5_000
"""Characters of a reply or a question from which the reply is read in a thread."""
LONGEST_REPLY = 1_000_000
"""Characters; a longer reply is malformed and not parsed."""

_WRAPPERS = frozenset(
    {
        "answer", "args", "arguments", "data", "input", "json", "output", "parameters", "params",
        "response", "result",
    }
)  # fmt: skip
"""Keys under which models put the answer instead of giving it."""
_REFUSED = frozenset({"error", "refusal"})
"""Fields by which an object says that it is no answer."""
_QUOTING = str.maketrans(dict.fromkeys("‘’“”'`", '"') | {"\\": None})


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
    `read` reads the answer, as PydanticAI's own validation reads few damaged ones and takes
    contradictions and echoes for answers. The second question says what was wrong, and does not
    repeat the reply. One model call, at most two.

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

    return await model_request(
        model,
        [ModelRequest.user_text_prompt(question, instructions=instructions)],
        model_settings=settings,
        model_request_parameters=_parameters(form),
    )


# Making a schema takes a millisecond, which critics that run in parallel would spend one by one.
@lru_cache(maxsize=64)
def _parameters(form: type[BaseModel]) -> "ModelRequestParameters":
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    tool = ToolDefinition(
        name="answer",
        description=form.__doc__,
        parameters_json_schema=form.model_json_schema(),
        kind="output",
    )
    return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)


def size_of(response: "ModelResponse") -> int:
    """The characters of a reply, roughly."""
    said = (getattr(part, "args", None) or getattr(part, "content", "") for part in response.parts)
    return sum(len(each) if isinstance(each, str) else len(str(each)) for each in said)


def read(response: "ModelResponse", form: type[Answer], question: str) -> Answer:
    """The form that a reply amounts to.

    Reasoning is no part of the reply: neither PydanticAI's own parts for it nor sections in the
    text. An object with words around it is no answer, nor is one that stands in the question word
    for word: it is an echo of the reviewed text. Answers that contradict each other in a required
    field are none: an ambiguous verdict is no verdict.

    Raises:
        Unreadable: There is no answer in it.
    """
    from sifaka.models.agent import unfinished

    if unfinished(response, calls_tools=True) not in {None, "output_limit"}:
        raise Unreadable("it was broken off")
    if size_of(response) > LONGEST_REPLY:
        raise Unreadable(f"it has more than {LONGEST_REPLY:,} characters")
    answers: list[Answer] = []
    reason = "it is empty"
    try:
        for value in _objects(response, question):
            reason = "it is not a JSON object and nothing else"
            answer = _unwrapped(value or {}, form)
            if any(answer.get(name) for name in _REFUSED - form.model_fields.keys()):
                reason = "it refuses to answer"
            elif answer:
                answers.append(fit(answer, form))
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    if not answers:
        raise Unreadable(reason)
    required = {name for name, field in form.model_fields.items() if field.is_required()}
    decisive = [answer.model_dump(include=required) for answer in answers]
    if any(other != decisive[0] for other in decisive):
        raise Unreadable("it holds several answers that contradict each other")
    return answers[-1]


def _objects(response: "ModelResponse", question: str) -> Iterator[dict[str, object] | None]:
    """The object of each tool call of a reply, or else the one that its text is.

    A text that stands in the question is an echo; what was sent as the answer is one all the same.
    """
    from pydantic_ai.messages import TextPart, ToolCallPart

    calls = [p.args for p in response.parts if isinstance(p, ToolCallPart) and p.args]
    for sent in calls:
        yield clean(sent) if isinstance(sent, dict) else object_of(answer_of(sent).text)
    said = answer_of("".join(p.content for p in response.parts if isinstance(p, TextPart))).text
    if not calls and said.strip():
        written = said[said.find("{") : said.rfind("}") + 1]
        is_echo = bool(written) and _squeezed(written) in _squeezed(question)
        yield None if is_echo else object_of(said)


def _unwrapped(value: dict[str, object], form: type[BaseModel]) -> dict[str, object]:
    """The object itself, or the one inside it when it only wraps the answer."""
    wrappers = _WRAPPERS | {form.__name__.casefold()}
    for _ in range(3):
        inner = [item for key, item in value.items() if normal(key) in wrappers]
        if len(inner) != 1 or any(normal(key) in form.model_fields for key in value):
            break
        only = object_of(inner[0]) if isinstance(inner[0], str) else inner[0]
        if not isinstance(only, dict):
            break
        value = cast("dict[str, object]", only)
    return value


def _squeezed(text: str) -> str:
    """The text without the differences of a quotation: spaces, backslashes, kinds of quotes."""
    return "".join(text.translate(_QUOTING).split()).casefold()
