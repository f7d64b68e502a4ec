"""One question to a model whose answer has a known form, and the reading of its answer.

An answer is a JSON object, alone, in a fence or cut off; it is fitted into the form: what is certain
is coerced, and the rest is left out.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

from anyio import to_thread
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import ErrorDetails, from_json

from sifaka.errors import ModelProviderError
from sifaka.record.usage import Usage
from sifaka.text.model_output import answer_of

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

Answer = TypeVar("Answer", bound=BaseModel)

_UNREAD = frozenset({"malformed", "empty"})
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
    history: "Sequence[ModelMessage]" = (),
    plain: str | None = None,
) -> tuple[Answer, Usage]:
    """Ask, and ask a second time when the answer cannot be read.

    The model answers by calling an output tool, without the machinery of an agent around it.
    `read` reads the answer, as PydanticAI's own validation reads few damaged ones and takes
    contradictions and echoes for answers. The second question says what was wrong, and does not
    repeat the reply. One model call, at most two.

    Args:
        model: The model.
        instructions: What is the same for every question of this kind.
        question: The question, with the material.
        form: The form of the answer.
        settings: Of the call.
        history: A conversation before the question.
        plain: The field of the form that takes an answer in plain words, if it may be given so.

    Returns:
        The answer, and the usage of the calls for it.

    Raises:
        ModelProviderError: The provider failed, or with code `malformed` the second answer could
            not be read either.
        BudgetExceeded: A call would break the run's budget.
    """
    from pydantic_ai.direct import model_request
    from pydantic_ai.messages import ModelRequest

    spent = Usage()
    again = reason = ""
    for _ in range(2):
        try:
            request = ModelRequest.user_text_prompt(question + again, instructions=instructions)
            response = await model_request(
                model,
                [*history, request],
                model_settings=settings,
                model_request_parameters=_build_parameters(form),
            )
        except ModelProviderError as error:
            if error.error_code not in _UNREAD:
                raise
            reason = "it could not be read"
        else:
            from sifaka.models.metered import usage_of

            spent += usage_of(response)
            reading = partial(read, response, form, question)
            try:
                return await to_thread.run_sync(reading, abandon_on_cancel=True), spent
            except Unreadable as unreadable:
                reason = str(unreadable)
                if plain is not None and (response.text or "").strip():
                    return form.model_validate({plain: response.text}), spent
        again = (
            f"\n\nYour last answer was not in the form asked for: {reason}. "
            "Call the tool `answer` once, with every required field."
        )
    raise ModelProviderError(
        f"{model.model_id}: the answer was not in the form asked for: {reason}",
        "try again or choose a model with reliable structured output",
        provider=model.model_id.partition(":")[0],
        error_code="malformed",
    )


# Making a schema takes a millisecond, which critics that run in parallel would spend one by one.
@lru_cache(maxsize=64)
def _build_parameters(form: type[BaseModel]) -> "ModelRequestParameters":
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
    texts = (getattr(part, "args", None) or getattr(part, "content", "") for part in response.parts)
    return sum(len(each) if isinstance(each, str) else len(str(each)) for each in texts)


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
        for value in _read_objects(response, question):
            reason = "it is not a JSON object and nothing else"
            answer = _unwrap_object(value or {}, form)
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


def _read_objects(response: "ModelResponse", question: str) -> Iterator[dict[str, object] | None]:
    """The object of each tool call of a reply, or else the one that its text is.

    A text that stands in the question is an echo; what was sent as the answer is one all the same.
    """
    from pydantic_ai.messages import ToolCallPart

    calls = [p.args for p in response.parts if isinstance(p, ToolCallPart) and p.args]
    for sent in calls:
        yield clean(sent) if isinstance(sent, dict) else object_of(answer_of(sent).text)
    text = answer_of(response.text or "").text
    if not calls and text.strip():
        written = text[text.find("{") : text.rfind("}") + 1]
        is_echo = bool(written) and _squeeze_text(written) in _squeeze_text(question)
        yield None if is_echo else object_of(text)


def _unwrap_object(value: dict[str, object], form: type[BaseModel]) -> dict[str, object]:
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


def _squeeze_text(text: str) -> str:
    """The text without the differences of a quotation: spaces, backslashes, kinds of quotes."""
    return "".join(text.translate(_QUOTING).split()).casefold()


_ROUNDS = 12
"""Bounds the mending: forms nest less deeply than this."""
_DROP: Any = object()
_QUOTED = re.compile(r"'([^']*)'")


class Form(BaseModel):
    """An answer that a model fills in. Numbers in it are finite, and words may be numbers."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False, coerce_numbers_to_str=True)


class Unreadable(ValueError):
    """A reply is not the form; the message says why, in words that the model may be shown."""


def _refuse_boolean(value: object) -> object:
    # pydantic takes true for 1; a model that writes it has not given a number.
    if isinstance(value, bool):
        raise ValueError("true and false are not numbers")
    return value


Number = Annotated[float, BeforeValidator(_refuse_boolean)]
Whole = Annotated[int, BeforeValidator(_refuse_boolean)]


def fit(sent: Mapping[str, object], form: type[Answer]) -> Answer:
    """The form that was sent, as far as it can be read with certainty.

    A number in a string is a number, one object is a list of it, a word of a choice may be spelled
    in capitals. A bad item of a list is left out, and a bad field takes its default. A field that
    comes twice with different values is missing.

    Raises:
        Unreadable: A field that the form requires is missing or cannot be read.
    """
    data = unambiguous((_match_field(key, form), value) for key, value in sent.items())
    for _ in range(_ROUNDS):
        try:
            return form.model_validate(data)
        except ValidationError as error:
            details = error.errors(include_url=False)
        data = deepcopy(data)  # what was sent stays as it is
        mended: set[tuple[int | str, ...]] = set()
        for detail in reversed(details):  # from the end, as items of lists are taken out
            _mend(data, detail, form, mended)
    raise Unreadable("its fields do not fit together")


def _match_field(key: str, form: type[BaseModel]) -> str:
    name = normal(key).replace(" ", "_").replace("-", "_")
    return name if name in form.model_fields else key


def _mend(
    data: dict[str, Any],
    detail: ErrorDetails,
    form: type[BaseModel],
    mended: set[tuple[int | str, ...]],
) -> None:
    """Coerce or take out the value that one error is about.

    Raises:
        Unreadable: It is the form itself or a field that must be there.
    """
    if any(detail["loc"][:length] in mended for length in range(len(detail["loc"]) + 1)):
        return
    value: Any = data
    holder: Any = None
    path: tuple[int | str, ...] = ()
    for part in detail["loc"]:  # as far as it exists
        try:
            holder, value, path = value, value[part], (*path, part)
        except (KeyError, IndexError, TypeError):
            break
    put = _coerce_value(detail, value)
    field = form.model_fields.get(str(detail["loc"][0])) if detail["loc"] else None
    required = field is None or field.is_required()
    if not path or (len(path) == 1 and put is _DROP and required):
        where = "".join(f"{part}: " for part in detail["loc"])
        raise Unreadable((where + detail["msg"].removeprefix("Value error, "))[:200])
    mended.add(path)
    if put is _DROP:
        del holder[path[-1]]
    else:
        holder[path[-1]] = put


def _coerce_value(detail: ErrorDetails, value: object) -> object:
    """The value as the form wants it, or `_DROP` when that is not certain."""
    limits = detail.get("ctx", {})
    match detail["type"], value:
        case "list_type" | "tuple_type", str() if value.lstrip().startswith("["):
            return _decode_json(value)
        case "list_type" | "tuple_type", dict():
            return [cast("object", value)]
        case "list_type" | "tuple_type", str() if value.strip():
            return [value]
        case "dict_type" | "model_type" | "model_attributes_type", str():
            return _decode_json(value)
        case "literal_error", str():
            choices = _QUOTED.findall(str(limits.get("expected")))
            return next((c for c in choices if normal(c) == normal(value)), _DROP)
        case "greater_than_equal" | "less_than_equal", int() if not isinstance(value, bool):
            return limits.get("ge", limits.get("le", _DROP))
        case _:
            return _DROP


def _decode_json(value: str) -> object:
    """JSON that was put into a string, or `_DROP`."""
    try:
        return strict(value)
    except (ValueError, RecursionError):
        return _DROP


_FENCED = re.compile(
    r"(?P<mark>`{3,}|~{3,}|`)(?:json)?\s*(?P<text>[^`\s].*?)(?:\s*(?P=mark))?",
    re.IGNORECASE | re.DOTALL,
)
_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half of a character: no text that holds one can be encoded as UTF-8."""


def normal(word: str) -> str:
    """A word without its case and the punctuation around it; a question stays one."""
    return word.lstrip(" \t\r\n*_`'\"").rstrip(" \t\r\n.,;:!*_`'\"").casefold()


def unambiguous(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    """The members of an object, without keys that come twice with different values."""
    members: dict[str, list[object]] = {}
    for key, item in pairs:
        members.setdefault(key, []).append(item)
    return {
        key: items[-1]
        for key, items in members.items()
        if all(_is_same(items[0], other) for other in items[1:])
    }


def _is_same(one: object, other: object) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return normal(one) == normal(other)
    return type(one) is type(other) and one == other


def strict(text: str) -> object:
    """JSON as it is written, less all that has no certain meaning.

    Raises:
        ValueError: It is not JSON.
        RecursionError: It is nested too deeply.
    """
    return clean(json.loads(text, strict=False, object_pairs_hook=unambiguous))


def clean(value: object) -> Any:
    """A copy without infinite numbers and NaN, and with U+FFFD for each lone surrogate."""
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        members = cast("dict[object, object]", value).items()
        return {clean(str(key)): clean(item) for key, item in members if not _is_infinite(item)}
    if isinstance(value, list | tuple):
        return [clean(item) for item in cast("list[object]", value) if not _is_infinite(item)]
    return value


def _is_infinite(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def object_of(text: str) -> dict[str, object] | None:
    """The object that a text is, alone or in a fence, and as far as it goes when it is cut off.

    With other words around it, it may be an example or a quote, and whether it is one takes
    understanding: then it is none.
    """
    fenced = _FENCED.fullmatch(text.strip())
    body = clean((fenced["text"] if fenced else text).strip())
    try:
        value = strict(body)
    except (ValueError, RecursionError):
        value = _read_partial(body) if body.startswith("{") else None
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def _read_partial(text: str) -> object:
    """What there is of JSON that breaks off; None for what is none for another reason."""
    try:
        value = from_json(text)
    except ValueError as error:
        value = from_json(text, allow_partial=True) if "EOF" in str(error) else None
    if not isinstance(value, dict):
        return None
    # Of a key that comes twice only the last one is there.
    members = cast("dict[str, object]", value).items()
    return clean({key: item for key, item in members if text.count(json.dumps(key)) == 1})
